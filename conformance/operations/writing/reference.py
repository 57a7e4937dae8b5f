"""Run scripts with the reference implementation: `conformance.table_io.writing`, with an in-memory catalog."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.adapter_sdk import script_steps
from conformance.adapter_sdk.script_steps import MAIN, same_columns
from conformance.adapter_sdk.serve import Arguments, Invalid
from conformance.core.failures import NotExamined
from conformance.operations.forms import FAST, Functions, functions
from conformance.operations.protocol import message_violation
from conformance.operations.table_metadata.changes import column_changes
from conformance.operations.writing.literals import read_literal
from conformance.table_io.stores import RegisteredTable
from conformance.table_io.writing import Mode, WritableTable, create_table, open_stored, rewrite_manifests
from spec_ref.commits import CommitConflict, CommitFailed
from spec_ref.commits.changes import (
    Change,
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    ExpireSnapshots,
    SetProperties,
    SetReference,
    UpgradeFormatVersion,
)
from spec_ref.core.errors import spec_error
from spec_ref.core.json_types import Json
from spec_ref.core.versions import FormatVersion
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.json.reading import reader
from spec_ref.partitioning.evolution import (
    AddPartitionField,
    PartitionChange,
    RemovePartitionField,
    RenamePartitionField,
)
from spec_ref.partitioning.spec import FIRST_FIELD_ID, UNPARTITIONED, PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.evolution import SchemaEvolutionContext
from spec_ref.schemas.schema import SCHEMA, Schema
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.snapshots.retention import ancestors
from spec_ref.sorting.order import UNSORTED, NullOrder, SortDirection, SortField, SortOrder

NAME = "the reference"
MODES = {"copy-on-write": Mode.COPY_ON_WRITE, "merge-on-read": Mode.MERGE_ON_READ}
AGES = 400 * 86_400_000
"""The age in milliseconds of snapshots when they expire: longer than any retention policy keeps them."""


class ReferenceWriter:
    """A table that a script writes; see `script_steps.follow`.

    Args:
        location: the folder of the table that ``create`` makes; None to open a table.
        form_functions: the functions of the form that writes; those of `FAST` by default.
    """

    def __init__(self, location: str | None, form_functions: Functions | None = None) -> None:
        self._location = location
        self._functions = functions(FAST) if form_functions is None else form_functions
        self._made: WritableTable | None = None

    @property
    def table(self) -> WritableTable:
        """The table that ``create`` made or ``open`` loaded."""
        assert self._made is not None, "a script begins with create"
        return self._made

    def open(self, location: str) -> None:
        self._made = open_stored(RegisteredTable(location))

    @property
    def _schema(self) -> Schema:
        return self.table.metadata.current_schema

    def _commit(self, change: Change) -> None:
        self.table.commit(change)

    def snapshot(self, ref: str) -> int | None:
        metadata = self.table.metadata
        if ref == MAIN:
            return metadata.current_snapshot_id
        return metadata.refs[ref].snapshot_id if ref in metadata.refs else None

    def metadata(self) -> str:
        return self.table.base.location

    # The table

    def create(self, operation: Json) -> None:
        version = FormatVersion(operation["format_version"])
        schema: Schema = reader(SCHEMA, version)({"schema-id": 0, **operation["schema"]})
        fields = tuple(
            PartitionField(
                source_id=_source(schema, part["source"]),
                field_id=FIRST_FIELD_ID + index,
                name=part["name"],
                transform=parse_transform(part["transform"]),
            )
            for index, part in enumerate(operation.get("partition", ()))
        )
        sort = _sort_fields(schema, operation.get("sort", ()))
        assert self._location is not None, "create is an operation of new tables"
        self._made = create_table(
            RegisteredTable(),
            schema,
            location=self._location,
            spec=PartitionSpec(spec_id=0, fields=fields) if fields else UNPARTITIONED,
            order=SortOrder(order_id=1, fields=sort) if sort else UNSORTED,
            version=version,
            properties=operation.get("properties", {}),
        )

    def alter_schema(self, operation: Json) -> None:
        metadata = self.table.metadata
        table = SchemaEvolutionContext(
            metadata.format_version, max(metadata.last_column_id, self._schema.highest_field_id())
        )
        # All changes are one commit, so that a refused change undoes the earlier ones.
        self._commit(ChangeSchema(column_changes(self._schema, operation["changes"], table)))

    def alter_spec(self, operation: Json) -> None:
        self._commit(ChangeSpec(tuple(_partition_change(self._schema, change) for change in operation["changes"])))

    def sort(self, operation: Json) -> None:
        self._commit(ChangeSortOrder(_sort_fields(self._schema, operation["fields"])))

    def upgrade(self, operation: Json) -> None:
        self._commit(UpgradeFormatVersion(FormatVersion(operation["format_version"])))

    def properties(self, operation: Json) -> None:
        self._commit(SetProperties(operation.get("set", {}), frozenset(operation.get("remove", ()))))

    # Rows

    def rows(self, rows: list[Json], names: list[str] | None = None) -> Any:
        """Return rows for the functions of this form; a column without a write default is null, unless the columns
        are named.
        """
        fields = {field.name: field for field in self._schema.fields}
        if names is None:
            blank = {name: None for name, field in fields.items() if field.write_default is None}
            rows = [{**blank, **row} for row in rows]
            names = same_columns(rows) if rows else list(fields)
        for name in names:
            if name not in fields:
                raise spec_error("TYP002", "the schema does not have the column", found=name)
        values = [{name: read_literal(fields[name].type, row[name]) for name in names} for row in rows]
        return self._functions["rows to write"]([fields[name] for name in names], values)

    def append(self, operation: Json) -> None:
        self._functions["append"](self.table, self.rows(operation["rows"]), branch=target_branch(operation))

    def overwrite(self, operation: Json) -> None:
        where = predicate_from_json(operation["filter"])
        self._functions["overwrite"](self.table, self.rows(operation["rows"]), where, branch=target_branch(operation))

    def delete(self, operation: Json) -> None:
        where = predicate_from_json(operation["filter"])
        self._functions["delete"](self.table, where, mode=requested_mode(operation), branch=target_branch(operation))

    def update(self, operation: Json) -> None:
        where = predicate_from_json(operation["filter"])
        values = self.assigned_values(operation)
        self._functions["update"](
            self.table, values, where, mode=requested_mode(operation), branch=target_branch(operation)
        )

    def assigned_values(self, operation: Json) -> dict[str, Any]:
        """Return the values that ``update`` sets, by column."""
        fields = {field.name: field for field in self._schema.fields}
        for name in operation["set"]:
            if name not in fields:
                raise spec_error("TYP002", "the schema does not have the column", found=name)
        return {name: read_literal(fields[name].type, value) for name, value in operation["set"].items()}

    def merge_rows(self, operation: Json) -> Any:
        """Return the rows that ``merge`` merges."""
        return self.rows(operation["rows"], same_columns(operation["rows"]) or operation["on"])

    def merge(self, operation: Json) -> None:
        rows = self.merge_rows(operation)
        self._functions["merge"](
            self.table, rows, operation["on"], mode=requested_mode(operation), branch=target_branch(operation)
        )

    def delete_equal(self, operation: Json) -> None:
        rows = operation["rows"]
        self._functions["delete keys"](self.table, self.rows(rows, list(rows[0])), branch=target_branch(operation))

    def upsert(self, operation: Json) -> None:
        rows = operation["rows"]
        keys = self.rows(rows, operation["on"])
        self._functions["delete keys"](self.table, keys, rows=self.rows(rows), branch=target_branch(operation))

    def compact(self, operation: Json) -> None:
        self._functions["compact"](self.table, branch=target_branch(operation))

    def rewrite_manifests(self, operation: Json) -> None:
        rewrite_manifests(self.table, branch=target_branch(operation))

    # References

    def _set(self, name: str, kind: RefType, snapshot: int | None) -> None:
        if snapshot is None:
            raise Invalid(f"{name}: there is no snapshot for it")
        self._commit(SetReference(name, SnapshotRef(snapshot_id=snapshot, type=kind)))

    def branch(self, operation: Json) -> None:
        self._set(operation["name"], RefType.BRANCH, operation.get("snapshot", self.snapshot(MAIN)))

    def tag(self, operation: Json) -> None:
        self._set(operation["name"], RefType.TAG, operation.get("snapshot", self.snapshot(MAIN)))

    def fast_forward(self, operation: Json) -> None:
        to = operation["to"]
        snapshot = self.snapshot(to)
        if snapshot is None:
            raise Invalid(f"there is no branch {to!r}, or it has no snapshot")
        known = {one.snapshot_id: one for one in self.table.metadata.snapshots}
        main = self.snapshot(MAIN)
        if main is not None and main not in (one.snapshot_id for one in ancestors(known, snapshot)):
            raise Invalid(f"main is at snapshot {main}, which is not an ancestor of the branch {to!r}")
        self._set(MAIN, RefType.BRANCH, snapshot)

    def rollback(self, operation: Json) -> None:
        self._set(MAIN, RefType.BRANCH, operation["snapshot"])

    def expire(self, _: Json) -> None:
        self._commit(ExpireSnapshots(int(time.time() * 1000) + AGES, clean_files=True))


def target_branch(operation: Json) -> str:
    """Return the branch that an operation writes to."""
    name: str = operation.get("branch", MAIN)
    return name


def requested_mode(operation: Json) -> Mode | None:
    """Return the mode in which an operation changes rows; None if the operation does not name one."""
    return MODES[operation["mode"]] if "mode" in operation else None


def _source(schema: Schema, name: str) -> int:
    column = schema.find_name(name)
    if column is None:
        raise spec_error("TYP002", "the schema does not have the column", found=name)
    return column.id


def _partition_change(schema: Schema, change: Json) -> PartitionChange:
    match change["op"]:
        case "add":
            source = _source(schema, change["source"])
            return AddPartitionField((source,), parse_transform(change["transform"]), change["name"])
        case "remove":
            return RemovePartitionField(change["name"])
        case _:
            return RenamePartitionField(change["name"], change["to"])


def _sort_fields(schema: Schema, parts: Any) -> tuple[SortField, ...]:
    return tuple(
        SortField(
            source_id=_source(schema, part["source"]),
            transform=parse_transform(part.get("transform", "identity")),
            direction=SortDirection(part.get("direction", "asc")),
            null_order=NullOrder(part.get("null_order", "nulls-first")),
        )
        for part in parts
    )


def writing_operations(
    make: Callable[[str | None], ReferenceWriter], name: str
) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations that write tables; ``make`` returns a writer for a folder, or for None to open a table.

    They raise `SpecError` or `Invalid` if an operation is refused.
    """

    @contextmanager
    def writing(location: str | None, steps: Sequence[Json]) -> Iterator[ReferenceWriter]:
        _check_operations(steps, new=location is not None)
        try:
            yield make(location)
        except (NotExamined, CommitConflict, CommitFailed, OSError) as error:
            raise Invalid(f"{type(error).__name__}: {error}") from None

    return script_steps.operations(writing, name)


def _check_operations(given: Sequence[Json], *, new: bool) -> None:
    """Check the form of the operations of a request, so that none of them is done if one is wrong.

    Raises:
        Invalid: an operation does not exist, has a wrong form, or is ``create`` in the wrong place.
    """
    for index, operation in enumerate(given):
        place, name = f"{'/script' if new else ''}/operations/{index}", operation.get("op")
        if name not in script_steps.OPERATIONS:
            raise Invalid(
                f"{place}: no operation {name!r}; expected one of {', '.join(sorted(script_steps.OPERATIONS))}"
            )
        if (name == "create") != (new and index == 0):
            raise Invalid(f"{place}: create is the first operation on a new table, and no other")
        wrong = message_violation(f"script.{name}", operation)
        if wrong is not None:
            raise Invalid(f"{place}{'' if wrong.startswith('/') else ': '}{wrong}")


def operations(functions: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return writing_operations(lambda location: ReferenceWriter(location, functions), NAME)
