"""The golden tables of the matrix: tables that engines wrote, each state with the rows that its statements produce.

Consumers get the vectors of the suite ``reading`` that read whole states, so the known deviations of these vectors
apply here, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.interop.cells import GOLDEN, ProducedTable
from conformance.interop.features import data_file_formats, table_features
from conformance.operations.protocol import Refused
from conformance.table_io.tables import load_table
from conformance.vectors import Vector
from conformance.vectors.golden_places import PLACE, absolute_location
from conformance.vectors.golden_tables import index, materialize, tables_folder

PREFIX = "read-"
"""The prefix of the ids of vectors that read a whole state."""


def golden_cases(vectors: Sequence[Vector]) -> dict[str, list[Vector]]:
    """Return the vectors that read whole states of valid golden tables, by table."""
    found: dict[str, list[Vector]] = defaultdict(list)
    for vector in vectors:
        if vector.operation.name == "table.read" and vector.id.startswith(PREFIX):
            name = Path(vector.args["table"]).relative_to(PLACE).parts[0]
            found[name].append(vector)
    broken = [n for n, cases in found.items() if any(isinstance(o, Refused) for one in cases for o in one.permitted)]
    return {name: cases for name, cases in found.items() if name not in broken}


def golden_tables(vectors: Sequence[Vector], wanted: Sequence[str] | None = None) -> Iterator[ProducedTable]:
    """Copy the golden tables to the folder from which a run reads them, and yield them.

    Args:
        vectors: the vectors that come with the tool.
        wanted: the names of tables; all valid ones by default.
    """
    cases = golden_cases(vectors)
    names = [name for name in cases if wanted is None or name in wanted]
    indexes = {name: known for name in names if "engine" in (known := index(name))}  # no engine wrote the others
    place = tables_folder()
    materialize(indexes, place=place)
    for name in sorted(indexes, key=lambda one: (indexes[one]["engine"], indexes[one]["version"], one)):
        known = indexes[name]
        table = load_table(f"{absolute_location(place)}/{name}/{known['metadata']}")
        yield ProducedTable(
            producer=f"{GOLDEN}/{known['engine']}@{known['version']}",
            name=name,
            features=tuple(sorted(table_features(table))),
            format_version=int(table.metadata.format_version),
            file_format="+".join(data_file_formats(table)) or "none",
            about=known.get("about", ""),
            metadata=table.metadata_location,
            cases=tuple(cases[name]),
        )
