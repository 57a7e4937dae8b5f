"""The harness of metamorphic properties: one adapter writes tables by scripts, another (or the same) reads them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve, field, frozen

from conformance.adapter_sdk.table_requests import columns
from conformance.operations.comparison import Undecodable, read_type
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.operations.registry import OPERATIONS
from conformance.operations.wire import from_exchange
from conformance.operations.writing.comparators import without_ids
from conformance.operations.writing.literals import with_ids, with_names
from conformance.properties.errors import Broken, NotSupported
from conformance.properties.scenario_tables import ScriptedTable, write_script
from conformance.runner.adapter_interface import Adapter, Request
from spec_ref.core.json_types import Json
from spec_ref.core.versions import V3
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.json.reading import reader as json_reader
from spec_ref.schemas.schema import SCHEMA, Schema

Row = dict[str, Json]

VIOLATED = "property violated"
"""The kind of all failures: a smaller script may break the property in a different way."""

LINEAGE = {"_row_id": "long", "_last_updated_sequence_number": "long"}
READ = OPERATIONS["table.read"]


@frozen
class TableReading:
    """The rows of one state of a table, with everything that is needed to compare them."""

    fields: tuple[Json, ...]
    """The schema of the rows, in JSON."""

    rows: tuple[Row, ...]
    """The rows, in exchange form."""

    lineage: bool = False
    """Whether the rows include row ids and last updated sequence numbers."""

    @property
    def types(self) -> dict[str, Json]:
        """Return the types of the columns by name."""
        types = {one["name"]: one["type"] for one in self.fields}
        return {**types, **LINEAGE} if self.lineage else types

    def only(self, rows: Sequence[Row]) -> TableReading:
        """Return a reading with only some rows."""
        return evolve(self, rows=tuple(rows))

    def matching(self, predicate: Json) -> tuple[list[Row], list[Row]]:
        """Return the rows that match a predicate, and the others."""
        fields = [{key: one[key] for key in ("id", "name", "required", "type")} for one in self.fields]
        schema: Schema = json_reader(SCHEMA, V3, "JSC006")({"type": "struct", "schema-id": 0, "fields": fields})
        bound = bind(predicate_from_json(predicate), schema)
        sides: tuple[list[Row], list[Row]] = ([], [])
        for row in self.rows:
            values = {one.id: from_exchange(one.type, row[one.name]) for one in schema.fields}
            sides[not evaluate(bound, values)].append(row)
        return sides


@frozen
class Harness:
    """An adapter that writes, one that reads, and a folder for the tables."""

    writer: Adapter
    reader: Adapter
    folder: Path
    _numbers: Iterator[int] = field(factory=itertools.count, eq=False)

    def write(self, operations: Sequence[Json]) -> ScriptedTable:
        """Write the table of a script.

        Raises:
            NotSupported: the writer does not support what the script needs.
            Broken: the writer refuses the script, or dies.
        """
        place = self.folder / f"table-{next(self._numbers)}"
        made = write_script(self.writer, {"operations": list(operations)}, place)
        if isinstance(made, ScriptedTable):
            return made
        raise _trouble(made, "the script")

    def read(
        self, table: ScriptedTable, *, ref: str | None = None, snapshot: str | None = None, lineage: bool = False
    ) -> TableReading:
        """Read a branch, tag or snapshot; the current table if none is named.

        Raises:
            NotSupported: as for `write`; or row lineage is requested, and a column of the table has one of its names.
            Broken: as for `write`.
        """
        args = table.reading(ref=ref, snapshot=snapshot)
        if lineage:
            same = sorted(LINEAGE.keys() & args["types"].keys())
            if same:
                raise NotSupported(f"{same[0]} is a column of the table, and row lineage is read by that name")
            args = {**args, "select": [*args["types"], *LINEAGE], "types": {**args["types"], **LINEAGE}}
        (answer,) = self.reader.ask([Request("table.read", args)])
        if not isinstance(answer, Ok):
            raise _trouble(answer, f"reading {snapshot or ref or 'the table'}")
        wrong = READ.answer_violation(answer.value)
        if wrong is not None:
            raise Broken(VIOLATED, f"the answer does not have the form of table.read: {wrong}")
        return TableReading(tuple(columns(args)), tuple(answer.value["rows"]), lineage)

    def heads(self, table: ScriptedTable) -> Iterator[tuple[str | None, TableReading]]:
        """Read the current table, and each branch and tag."""
        yield None, self.read(table)
        for name in table.states[-1].refs:
            if name != "main":
                yield name, self.read(table, ref=name)


def _trouble(answer: Answer, what: str) -> Exception:
    match answer:
        case Unsupported(message):
            return NotSupported(message)
        case Refused(kind, message):
            return Broken(VIOLATED, f"it refuses {what} ({kind}): {message}")
        case Crashed(reason):
            return Broken(VIOLATED, f"it crashed on {what}: {reason}")
    raise AssertionError(answer)


def check_same_reading(expected: TableReading, found: TableReading, what: str) -> None:
    """Check that two readings have the same columns and rows; the ids of nested fields may differ.

    Raises:
        Broken: they differ; the message has ``what`` and the difference.
    """
    wanted, types = expected.types, found.types
    if [*wanted] != [*types] or any(without_ids(wanted[name]) != without_ids(types[name]) for name in wanted):
        raise Broken(VIOLATED, f"{what}: the columns are {types}, expected {wanted}")
    read = {name: (read_type(wanted[name]), read_type(types[name])) for name in wanted}
    rows = [
        {name: with_ids(new, with_names(old, row[name])) for name, (old, new) in read.items()} for row in expected.rows
    ]
    try:
        differences = READ.compare({"types": types}, {"rows": rows}, {"rows": list(found.rows)})
    except Undecodable as error:
        raise Broken(VIOLATED, f"{what}: {error}") from None
    if differences:
        raise Broken(VIOLATED, f"{what}: {'; '.join(map(str, differences[:3]))}")
