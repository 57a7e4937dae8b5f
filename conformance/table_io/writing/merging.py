"""Merging rows into a table: existing rows are updated or deleted, and new rows are added."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from conformance.table_io.read_tasks import read_task
from conformance.table_io.writing.matching import PLACE, MatchedFile, TargetRows, drop_position_column, position_column
from conformance.table_io.writing.operations import THREADS, Summary, open_sink, operation_files, to_position_mode
from conformance.table_io.writing.plans import plan_write
from conformance.table_io.writing.row_changes import Mode, change_rows, replace_columns, resolve_mode
from conformance.table_io.writing.tables import WritableTable
from conformance.table_io.writing.write_tasks import batch_without_rows
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.columnar.schemas.written_rows import compile_input, with_comparable_floats
from spec_ref.commits import CommitResult
from spec_ref.commits.changes import Isolation
from spec_ref.core.errors import Description, spec_error
from spec_ref.expressions.predicates import TRUE
from spec_ref.scan_planning import FileScanTask
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import MAIN

Indexes = npt.NDArray[np.int64]


class WhenMatched(enum.Enum):
    """What to do with rows of the table that match a row of the source."""

    UPDATE = "update"
    DELETE = "delete"
    KEEP = "keep"


def merge(
    table: WritableTable,
    source: pa.Table,
    on: Sequence[str],
    *,
    matched: WhenMatched = WhenMatched.UPDATE,
    assignments: Mapping[str, str] | None = None,
    insert: bool = True,
    mode: Mode | None = None,
    branch: str = MAIN,
    isolation: Isolation | None = Isolation.SERIALIZABLE,
    threads: int = THREADS,
    summary: Summary = (),
) -> CommitResult:
    """Change the rows of the table that have the keys of rows of a source, and add the other rows of the source.

    Args:
        table: the table, as it was last read.
        source: the rows to merge, with columns by name.
        on: the key columns, with the same names in both; null equals nothing.
        matched: what to do with matched rows of the table.
        assignments: the column of the source for each column of the table, for updated and for added rows; by default
            all columns of the source, by name.
        insert: whether to add rows of the source that match no row.
        mode: as in `conformance.table_io.writing.operations.delete`, by the property ``write.merge.mode``.
        branch: the branch.
        isolation: which concurrent changes are conflicts.
        threads: how many files are read, and written, at once.
        summary: additional entries of the snapshot's summary.

    Raises:
        SpecError: TYP002, for an unknown column, or if two rows of the source match one row of the table; and the
            errors of `conformance.table_io.writing.operations.delete`.
    """
    metadata = table.metadata
    merging = Merging(metadata.current_schema, source, on, assignments)
    with operation_files() as files:
        target = TargetRows(table.table, branch, threads)
        found = merging.find(target)
        mode = to_position_mode(resolve_mode(metadata, "merge", mode))
        plan = plan_write(metadata, lineage=True)
        with open_sink(plan, files, threads) as sink:
            changed = found if matched is not WhenMatched.KEEP else []
            make = merging.update_matched if matched is WhenMatched.UPDATE else None
            pieces = change_rows(target, changed, mode, plan, files, sink, make)
            for batch in merging.unmatched_rows().to_batches() if insert else ():
                sink.add(batch)
            pieces.added += sink.finish()
        return table.commit(pieces.change(branch, TRUE, isolation, summary))


class Merging:
    """Finds the rows of a table, or of some of its files, that match the rows of a source."""

    def __init__(
        self, schema: Schema, source: pa.Table, on: Sequence[str], assignments: Mapping[str, str] | None = None
    ) -> None:
        """Prepare the source; arguments and errors are those of `merge`."""
        taken = dict(assignments) if assignments is not None else {name: name for name in source.schema.names}
        check_source(schema, source.schema.names, on, taken)
        self._rows = source.combine_chunks()
        self._taken = taken
        self._on = tuple(on)
        self._keys = _Keys(schema, self._rows, on)
        self._partners: dict[str, tuple[Indexes, Indexes]] = {}

    @property
    def matched(self) -> npt.NDArray[np.bool_]:
        """A mask of the rows of the source that match a row that `find` read."""
        return self._keys.matched

    def find(self, target: TargetRows) -> list[MatchedFile]:
        """Return the matched rows of the table.

        Raises:
            SpecError: TYP002, if two rows of the source match one.
        """
        matched = []
        read_plan = target.plan_read(self._on, PLACE)
        for task in target.tasks():
            positions, indexes = [], []
            for batch in read_task(task, read_plan, target.deletes):
                found = self._keys.find(drop_position_column(batch))
                hits = found >= 0
                positions.append(position_column(batch)[hits])
                indexes.append(found[hits])
            if sum(map(len, positions)):
                self._partners[task.data_file.file_path] = np.concatenate(positions), np.concatenate(indexes)
                matched.append(MatchedFile(task, np.concatenate(positions)))
        return matched

    def update_matched(self, task: FileScanTask, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return matched rows with the values of the source's rows."""
        positions, indexes = self._partners[task.data_file.file_path]
        wanted = indexes[np.searchsorted(positions, position_column(batch))]
        picked = self._rows.select(list(dict.fromkeys(self._taken.values()))).take(wanted).combine_chunks()
        return replace_columns(batch, {name: _one(picked.column(of)) for name, of in self._taken.items()})

    def unmatched_rows(self, matched: npt.NDArray[np.bool_] | None = None) -> pa.Table:
        """Return the rows of the source that match no row, with the names of the table.

        By default, all matches that `find` has found count.
        """
        fresh = self._rows.filter(pa.array(~(self.matched if matched is None else matched)))
        return pa.table([fresh.column(of) for of in self._taken.values()], list(self._taken)).combine_chunks()


def check_source(schema: Schema, names: Sequence[str], on: Sequence[str], taken: Mapping[str, str]) -> None:
    """Check the columns of a source, whose names are given; the other arguments are those of `merge`.

    Raises:
        SpecError: TYP002, for a column that the schema or the source does not have, or that the source has twice.
    """
    known = {field.name for field in schema.fields}
    for name in (*on, *taken):
        if name not in known:
            raise spec_error(
                "TYP002", "the schema does not have the column", found=name, expected=", ".join(sorted(known))
            )
    for name in (*on, *taken.values()):
        if names.count(name) != 1:
            raise spec_error("TYP002", "the source does not have exactly one column with the name", found=name)


def _one(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else pa.nulls(0, column.type)


class _Keys:
    """The keys of the rows of the source, for looking up other rows."""

    def __init__(self, schema: Schema, rows: pa.Table, on: Sequence[str]) -> None:
        fields = [attrs.evolve(field, required=False) for field in schema.fields if field.name in on]  # type: ignore[misc]
        self._types = {field.name: field.type for field in fields}
        self._names = list(self._types)
        keys = rows.select(self._names).combine_chunks()
        batches = keys.to_batches() or [batch_without_rows(keys.schema)]
        batch = compile_input(fields, keys.schema)(batches[0])
        self._columns = [with_comparable_floats(storage_array(array)).unique() for array in batch.columns]
        self._steps: list[Indexes] = []
        self.matched = np.zeros(rows.num_rows, bool)
        codes, valid = self._codes(batch, learn=True)
        places = np.flatnonzero(valid)
        order = places[np.argsort(codes[places], kind="stable")]
        self._sorted, self._order = codes[order], order

    def _codes(self, batch: pa.RecordBatch, *, learn: bool = False) -> tuple[Indexes, npt.NDArray[np.bool_]]:
        """Return a number for the key of each row, and whether it may match: no part is null or new to the source.

        The numbers are renumbered after each column, so that they stay less than the number of rows of the source.
        """
        codes, valid = np.zeros(batch.num_rows, np.int64), np.ones(batch.num_rows, bool)
        kernels: Any = pc
        for step, (column, name) in enumerate(zip(self._columns, self._names, strict=True)):
            array = with_comparable_floats(storage_array(batch.column(name)))
            found = kernels.index_in(array, value_set=column)
            valid &= np.asarray(found.is_valid()) & np.asarray(array.is_valid())
            codes = codes * (len(column) + 1) + np.asarray(found.fill_null(0)).astype(np.int64)
            if learn:
                self._steps.append(np.unique(codes[valid]))
            known = self._steps[step]
            places = np.minimum(np.searchsorted(known, codes), max(len(known) - 1, 0))
            valid &= known[places] == codes if len(known) else np.zeros(batch.num_rows, bool)
            codes = places
        return codes, valid

    def find(self, batch: pa.RecordBatch) -> Indexes:
        """Return the row of the source that each row matches; -1 for none.

        Raises:
            SpecError: TYP002, if two rows of the source match one row.
        """
        codes, valid = self._codes(batch)
        first = np.searchsorted(self._sorted, codes, "left")
        last = np.searchsorted(self._sorted, codes, "right")
        hits = valid & (last > first)
        if (hits & (last - first > 1)).any():
            row = batch.slice(int(np.flatnonzero(hits & (last - first > 1))[0]), 1)
            key = {name: to_python_values(type_, row.column(name))[0] for name, type_ in self._types.items()}
            raise spec_error("TYP002", "two rows of the source match one row of the table", found=Description(str(key)))
        found = np.full(batch.num_rows, -1, np.int64)
        found[hits] = self._order[first[hits]]
        self.matched[found[hits]] = True
        return found
