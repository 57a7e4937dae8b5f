"""Load, validate and read tables that scripts wrote, with the reference."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
from attrs import Factory, frozen

from conformance.core.json_text import dump_json
from conformance.operations.writing.literals import read_literal, write_literal
from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.local import plan_read
from conformance.table_io.read_tasks import read_task
from conformance.table_io.tables import Table, load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.core.errors import Violation
from spec_ref.core.json_types import Json
from spec_ref.core.versions import ROW_LINEAGE
from spec_ref.data_types.types import ListType, MapType, StructType, Type
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.scan_planning import table_state
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.type_json import type_from_json, type_to_json

LINEAGE = ("_row_id", "_last_updated_sequence_number")


@attrs.frozen(slots=False)
class CanonicalRows:
    """The rows of a snapshot as canonical text, equal if and only if the rows are equal, and their row ids."""

    columns: dict[str, Json]
    """The types of the columns, by name."""

    keys: tuple[str, ...]
    row_ids: tuple[int | None, ...] | None
    """None in versions without row ids."""

    last_updated: tuple[int | None, ...]
    assigns_row_ids: bool
    """Whether the format version of the snapshot assigns an id to every row."""

    def canonical(self, types: dict[str, Json], rows: Sequence[dict[str, Json]]) -> list[str]:
        """Return the canonical texts of literal rows."""
        parsed = {name: type_from_json(type_) for name, type_ in types.items()}
        return [_text(parsed, row) for row in rows]

    @cached_property
    def _by_row(self) -> dict[str, list[tuple[int, int | None]]]:
        grouped: dict[str, list[tuple[int, int | None]]] = {}
        for row, row_id, updated in zip(self.keys, self.row_ids or (), self.last_updated, strict=True):
            assert row_id is not None
            grouped.setdefault(row, []).append((row_id, updated))
        return grouped

    def lineage(self, row: str) -> list[tuple[int, int | None]]:
        """Return the row ids and last updates of the rows with these values."""
        return self._by_row.get(row, [])


def _text(types: dict[str, Type], row: dict[str, Json]) -> str:
    values = {name: write_literal(type_, read_literal(type_, row.get(name))) for name, type_ in types.items()}
    return dump_json({name: _sort_map_entries(types[name], value) for name, value in values.items()})


def _sort_map_entries(type_: Type, value: Json) -> Json:
    """Return a literal with the entries of maps sorted."""
    match type_, value:
        case StructType(fields), dict():
            return {field.name: _sort_map_entries(field.type, value[field.name]) for field in fields}
        case ListType(_, element), list():
            return [_sort_map_entries(element, item) for item in value]
        case MapType(_, key, _, item_type), {"keys": keys, "values": values}:
            entries = zip(keys, values, strict=True)
            return sorted(
                ([_sort_map_entries(key, one), _sort_map_entries(item_type, item)] for one, item in entries),
                key=lambda entry: json.dumps(entry[0]),
            )
        case _:
            return value


@frozen
class OperationNumbers:
    """The sequence numbers and ids that the operations of a script may give to rows."""

    spans: Mapping[int, tuple[int, int]] = Factory(dict)
    """The sequence numbers that the rows of each operation may have: greater than the first, at most the second."""

    before_lineage: frozenset[int] = frozenset()
    """The operations from before row lineage."""

    beginnings: int = 0
    """How many snapshots assigned ids to rows from before row lineage: the first of each branch after the upgrade.

    A row that several branches share gets one id for each branch (LIN016).
    """

    @classmethod
    def with_upgrade(
        cls, spans: Mapping[int, tuple[int, int]], before: int, beginnings: Collection[int]
    ) -> OperationNumbers:
        """Return the numbers of operations, some of which may be from before row lineage.

        Rows of such operations have the sequence number of their file, which may be any up to the upgrade (LIN007).
        Rows that the first commit of a branch after the upgrade moves get its number, as they have no earlier number to
        keep (LIN011, contradiction B3).

        Args:
            spans: the sequence numbers of each operation's snapshots: greater than the first, at most the second.
            before: the last sequence number before row lineage; 0 if the table had it from the beginning.
            beginnings: the sequence numbers of the snapshots with which row lineage began on a branch.
        """
        old = {index for index, (_, high) in spans.items() if high <= before}
        last = max([before, *beginnings])
        return cls(
            {
                index: (min(low, high - 1), last) if index in old else (low, high)
                for index, (low, high) in spans.items()
            },
            frozenset(old),
            len(beginnings),
        )


@frozen
class WrittenTable:
    """A table that a script wrote."""

    table: Table
    place: str
    """The folder that must contain it."""

    @classmethod
    def load(cls, location: str, place: str) -> WrittenTable:
        """Load the table of a metadata file.

        Raises:
            NotExamined, SpecError: there is no table, or it must be refused.
        """
        return cls(load_table(location), place)

    @property
    def format_version(self) -> int:
        """The format version."""
        return int(self.table.metadata.format_version)

    def schema_json(self) -> Json:
        """Return the current schema."""
        return type_to_json(self._schema.as_struct())

    @property
    def _schema(self) -> Schema:
        return table_state(self.table.metadata).schema

    def broken_rules(self) -> Iterator[Violation]:
        """Yield each rule that the validator finds broken, at all levels and in all snapshots."""
        report = validate(self.table.metadata_location, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
        for finding in report.findings:
            if finding.severity is Severity.ERROR:
                yield finding.violation

    def partition(self) -> list[Json]:
        """Return the default partition spec, with the names of its source columns."""
        metadata = self.table.metadata
        spec = next(spec for spec in metadata.partition_specs if spec.spec_id == metadata.default_spec_id)
        return [
            {"source": self._name(field.sources[0]), "transform": str(field.transform), "name": field.name}
            for field in spec.fields
        ]

    def _name(self, field_id: int) -> str:
        column = self._schema.find(field_id)
        return "" if column is None else column.name

    def sort(self) -> list[Json]:
        """Return the default sort order, with the names of its source columns."""
        metadata = self.table.metadata
        order = next(order for order in metadata.sort_orders if order.order_id == metadata.default_sort_order_id)
        return [
            {
                "source": self._name(field.sources[0]),
                "transform": str(field.transform),
                "direction": field.direction.value,
                "null_order": field.null_order.value,
            }
            for field in order.fields
        ]

    def refs(self) -> list[str]:
        """Return the names of branches and tags."""
        return list(self.table.metadata.refs)

    def has_snapshot(self, snapshot_id: int) -> bool:
        """Return whether the table has a snapshot."""
        return any(snapshot.snapshot_id == snapshot_id for snapshot in self.table.metadata.snapshots)

    def operation_numbers(self, snapshots: Sequence[str | None]) -> OperationNumbers:
        """Return the numbers that operations may have assigned, given the current snapshot after each."""
        known = self.table.metadata.snapshots
        numbers = {str(one.snapshot_id): one.sequence_number for one in known}
        before = min((one.sequence_number for one in known if one.first_row_id is not None), default=1) - 1
        spans, low = {}, 0
        for index, snapshot in enumerate(snapshots):
            if snapshot in numbers:
                spans[index] = (low, numbers[snapshot])
                low = max(low, numbers[snapshot])
        return OperationNumbers.with_upgrade(spans, before, self.lineage_beginnings().values())

    def lineage_beginnings(self) -> dict[int, int]:
        """Return the sequence numbers of the snapshots with which row lineage begins on a branch, by id."""
        known = self.table.metadata.snapshots
        with_ids = {one.snapshot_id for one in known if one.first_row_id is not None}
        return {
            one.snapshot_id: one.sequence_number
            for one in known
            if one.snapshot_id in with_ids and one.parent_snapshot_id not in with_ids
        }

    def reading_inputs(self, *, snapshot_id: int | None = None, ref: str | None = None) -> Any:
        """Return what the rows of a snapshot depend on besides the content of its files; same arguments as `read`.

        While these are equal and no file changed, reading gives the same rows.
        """
        metadata = self.table.metadata
        which: dict[str, Any] = {"snapshot_id": snapshot_id}
        if ref is not None:
            which = {"ref": ref} if ref in metadata.refs else {}
        state = table_state(metadata, **which)
        return (
            state.snapshot,
            state.schema,
            metadata.format_version,
            metadata.schemas,
            metadata.partition_specs,
            metadata.properties.get(NAME_MAPPING_PROPERTY),
        )

    def read(self, *, snapshot_id: int | None = None, ref: str | None = None, filter: Json = True) -> CanonicalRows:
        """Read a snapshot by its id, or a branch or tag; the branch main exists even without a snapshot.

        Args:
            snapshot_id: the snapshot.
            ref: the branch or tag.
            filter: a predicate in JSON; only rows that match it are read.

        Raises:
            NotExamined, SpecError: it cannot be read.
        """
        metadata = self.table.metadata
        which: dict[str, Any] = {"snapshot_id": snapshot_id}
        if ref is not None:
            which = {"ref": ref} if ref in metadata.refs else {}
        state = table_state(metadata, **which)
        types = {column.name: column.type for column in state.schema.fields}
        lineage = LINEAGE if ROW_LINEAGE.is_supported(metadata.format_version) else ()
        reading, planned = plan_read(self.table, filter=predicate_from_json(filter), **which)
        # Selected by id, not by name: columns of the table may have the names of row lineage.
        reading, tasks = attrs.evolve(reading, metadata_columns=lineage), list(planned)
        deletes = DeleteFiles(reading, tasks)
        columns: dict[str, list[Any]] = {name: [] for name in types}
        known: dict[str, list[Any]] = {name: [] for name in lineage}
        count = 0  # a table may have rows without columns
        for batch in itertools.chain.from_iterable(read_task(task, reading, deletes) for task in tasks):
            count += batch.num_rows
            for (name, type_), array in zip(types.items(), batch.columns[: len(types)], strict=True):
                columns[name] += to_python_values(type_, array)
            for name, array in zip(lineage, batch.columns[len(types) :], strict=True):
                known[name] += array.to_pylist()
        rows = [
            {name: write_literal(type_, columns[name][place]) for name, type_ in types.items()}
            for place in range(count)
        ]
        snapshot = state.snapshot
        return CanonicalRows(
            columns={name: type_to_json(type_) for name, type_ in types.items()},
            keys=tuple(_text(types, row) for row in rows),
            row_ids=tuple(known["_row_id"]) if lineage else None,
            last_updated=tuple(known["_last_updated_sequence_number"]) if lineage else (),
            assigns_row_ids=snapshot is not None and snapshot.first_row_id is not None,
        )
