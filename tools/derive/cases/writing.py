"""Scripts that writers follow, and what tables are after them; the rows are derived in `tools.derive.writing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.cases.writing_changes import CHANGES, DELETES, EQUALITY, LINEAGE
from tools.derive.cases.writing_kit import Case
from tools.derive.cases.writing_rows import NESTED_TYPES, PARTITIONS, SORTED, TYPES
from tools.derive.cases.writing_tables import EVOLUTION, OLD_ROWS, REFERENCES, SPECS, UPGRADED_DELETES, UPGRADES
from tools.derive.vector import Vector, VectorFile, ok
from tools.derive.writing import expectation

TOPICS: dict[str, tuple[str, tuple[Case, ...]]] = {
    "types": ("Primitive Types", TYPES),
    "nested-types": ("Nested Types", NESTED_TYPES),
    "partitions": ("Partitioning", PARTITIONS),
    "sorting": ("Sorting", SORTED),
    "changes": ("Snapshots", CHANGES),
    "deletes": ("Delete Formats", (*DELETES, *UPGRADED_DELETES)),
    "equality-deletes": ("Equality Delete Files", (*EQUALITY, *OLD_ROWS)),
    "row-lineage": ("Row Lineage", LINEAGE),
    "upgrades": ("Row Lineage for Upgraded Tables", UPGRADES),
    "schema-evolution": ("Schema Evolution", EVOLUTION),
    "partition-evolution": ("Partition Evolution", SPECS),
    "references": ("Snapshot References", REFERENCES),
}
ORIGIN = "derivation: the rows that the statements make, by Column Projection, Default values and Row Lineage"


def files() -> Iterator[VectorFile]:
    """The vector files of writing."""
    for topic, (section, cases) in TOPICS.items():
        vectors = tuple(_vector(case) for case in cases)
        yield VectorFile(f"writing/{topic}.json", "table.write", section, vectors)


def _vector(case: Case) -> Vector:
    operations: list[Any] = list(case.operations)
    expect = ok(expectation(operations))
    codes = tuple(dict.fromkeys(case.requirements))
    script = {"script": {"operations": operations}}
    return Vector(f"write-{case.name}", codes, script, expect, ORIGIN, case.note, only=case.versions)
