"""A manifest's entries as columns, for planning (Scan Planning).

Planning looks at a file's status, sequence numbers and partition first. These are decoded at once into numpy arrays
with an item per entry. Statistics stay encoded until those of a column are needed, and no object is made for an entry
that is not needed. Nulls are a separate mask.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from spec_ref.avro_mapping.row_reader import RowReader
from spec_ref.columnar.avro_mapping.rows import make_records
from spec_ref.columnar.encodings.avro.columns import (
    NullColumn,
    RecordColumn,
    Rows,
    decode_lazy,
)
from spec_ref.columnar.manifests.data_file_columns import DataFileColumns, Places
from spec_ref.columnar.manifests.encoded_entry_columns import EncodedEntryColumns
from spec_ref.columnar.manifests.encoded_fields import FILE_RULES, EntryRun
from spec_ref.columnar.manifests.nullable_arrays import Longs, Mask, Nullable
from spec_ref.columnar.manifests.reader import decoded_batches
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import SEQUENCE_NUMBERS
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import check_row_id, inherited_sequence_number
from spec_ref.manifests.manifest import Manifest

SAFE_ROW_IDS = float(1 << 62)
"""If the last row id may be above this limit, every row id is checked, because sums may exceed 64 bits."""


class ManifestColumns(EncodedEntryColumns):
    """Entries in columns, with inherited values: those of a manifest, of a part of it, or of several manifests.

    Every property is an array with an item per entry, in their order.
    """

    # Scalars

    @functools.cached_property
    def live(self) -> Mask:
        """Which entries scans use."""
        live: Mask = self.status != EntryStatus.DELETED
        return live

    @functools.cached_property
    def snapshot_id(self) -> Nullable:
        """The snapshots that added or deleted the files."""
        found = self._numbers(self._field("snapshot_id"))
        if self.manifest.manifest_file is None:
            return found
        return _fill(found, self._by_run(_inherited_snapshot), ~found.valid)

    @functools.cached_property
    def sequence_number(self) -> Nullable:
        """The data sequence numbers."""
        return self._sequence("sequence_number")

    @functools.cached_property
    def file_sequence_number(self) -> Nullable:
        """The file sequence numbers."""
        return self._sequence("file_sequence_number")

    @functools.cached_property
    def greatest_sequence_number(self) -> Longs:
        """The greatest sequence number that a live entry can have: that of its manifest in the list."""
        return self._by_run(_sequence_number)

    def _sequence(self, attribute: str) -> Nullable:
        found = self._numbers(self._field(attribute))
        if self.manifest.manifest_file is None or found.valid.all():
            return found
        always = self._by_run(lambda run: not SEQUENCE_NUMBERS.is_supported(run.manifest.format_version))
        inherits = ~found.valid & (always | (self.status == EntryStatus.ADDED))
        return _fill(found, self._by_run(_inherited_number), inherits)

    @functools.cached_property
    def record_count(self) -> Longs:
        return self._required("record_count")

    @functools.cached_property
    def file_size_in_bytes(self) -> Longs:
        return self._required("file_size_in_bytes")

    @functools.cached_property
    def sort_order_id(self) -> Nullable:
        """The sort orders; those of position deletes are ignored (DFL029)."""
        found = self._numbers(self._file_field("sort_order_id"))
        return Nullable(found.values, found.valid & (self.content != FileContent.POSITION_DELETES))

    @functools.cached_property
    def first_row_id(self) -> Nullable:
        """The first row ids of the data files."""
        found = self._numbers(self._file_field("first_row_id"))
        found = Nullable(found.values, found.valid & (self.content == FileContent.DATA))
        inherited = Nullable(np.zeros(self._length, np.int64), np.zeros(self._length, np.bool_))
        for run, end in zip(self._runs, self._ends.tolist(), strict=True):
            if run.row_id is not None:
                here = slice(end - run.count, end)
                self._number_rows(run.row_id, here, inherited.values[here])
                inherited.valid[here] = self._inherits_row_id[here]
        return _fill(found, inherited.values, ~found.valid & inherited.valid)

    def _number_rows(self, row_id: int, here: slice, target: Longs) -> None:
        """Compute the first row ids of the entries of one run."""
        counts = self._inheriting_rows[here]
        if row_id + float(np.abs(counts.astype(np.float64)).sum()) > SAFE_ROW_IDS:
            following = row_id
            for count, inherits in zip(counts.tolist(), self._inherits_row_id[here].tolist(), strict=True):
                if inherits:
                    check_row_id(following)
                following += count
        target[:] = row_id + np.cumsum(counts) - counts

    @functools.cached_property
    def _inherits_row_id(self) -> Mask:
        given = self._numbers(self._file_field("first_row_id")).valid
        inherits: Mask = ~given & self.live & (self.content == FileContent.DATA)
        return inherits

    @property
    def _inheriting_rows(self) -> Longs:
        return np.where(self._inherits_row_id, self.record_count, 0)

    @property
    def next_row_id(self) -> int | None:
        """The first row id that the entries after these, in the last manifest, inherit."""
        run = self._runs[-1]
        here = slice(self._length - run.count, self._length)
        return None if run.row_id is None else run.row_id + sum(self._inheriting_rows[here].tolist())

    @functools.cached_property
    def content_offset(self) -> Nullable:
        return self._numbers(self._file_field("content_offset"))

    @functools.cached_property
    def content_size_in_bytes(self) -> Nullable:
        return self._numbers(self._file_field("content_size_in_bytes"))

    def load(self) -> ManifestColumns:
        """Decode all statistics now, and return the columns."""
        for files in self._files:
            for column in files.fields:
                decode_lazy(column)
        return self

    # Entries

    def entries(self, rows: Rows | Sequence[int], *, without: Collection[str] = ()) -> list[ManifestEntry]:
        """Make the records of some entries.

        Args:
            rows: the numbers of the entries, ascending.
            without: attributes of the files that are left None instead of being decoded.

        Returns:
            The entries.

        Raises:
            SpecError: the code of a malformed or missing value, with the manifest and the number of the entry.
        """
        chosen = np.asarray(rows, np.intp)
        numbers = [getattr(self, name).take(chosen).to_list() for name in _INHERITED]
        attributes: dict[str, Iterable[Any]] = {
            "status": map(_STATUSES.__getitem__, self.status[chosen].tolist()),
            "data_file": [file for files in self.data_files(chosen, without=without) for file in files.records()],
            **dict(zip(_INHERITED, numbers, strict=True)),
        }
        return make_records(ManifestEntry, len(chosen), attributes)

    def data_files(self, rows: Rows, *, without: Collection[str] = ()) -> Iterator[DataFileColumns]:
        """Select the data files of some entries.

        Args:
            rows: the numbers of the entries, ascending.
            without: attributes that are left None.

        Yields:
            The files, in their order: those of several manifests together, except where format versions differ.
        """
        start = 0
        for files, here in zip(self._files, self._by_batch(rows), strict=True):
            assert here is not None
            run_of = np.searchsorted(self._ends, here + start, side="right")
            readers = [id(run.manifest.row_reader) for run in self._runs]
            changes = np.flatnonzero(np.diff(np.array(readers)[run_of])) + 1
            for chosen, runs in zip(np.split(here, changes), np.split(run_of, changes), strict=True):
                if len(chosen):
                    yield self._select_files(files, chosen, start, runs, without)
            start += files.length

    def _select_files(
        self, files: RecordColumn, rows: Rows, start: int, runs: Rows, without: Collection[str]
    ) -> DataFileColumns:
        reader = next(
            field.convert
            for field in self._runs[int(runs[0])].manifest.row_reader.fields
            if isinstance(field.convert, RowReader)
        )
        left_out = {self._file_places.get(FILE_RULES[name].id or 0) for name in (*without, "first_row_id")}
        columns = [
            NullColumn(len(rows)) if place in left_out else column.take(rows)
            for place, column in enumerate(files.fields)
        ]
        ids = self.first_row_id.take(rows + start)
        firsts = np.array([run.first - (end - run.count) for run, end in zip(self._runs, self._ends, strict=True)])
        places = Places(tuple(run.manifest.file for run in self._runs), runs, rows + start + firsts[runs])
        return DataFileColumns(reader, RecordColumn(columns, len(rows)), ids if ids.valid.any() else None, places)


_INHERITED = ("snapshot_id", "sequence_number", "file_sequence_number")
_STATUSES = {int(status): status for status in EntryStatus}

ENTRIES_AT_ONCE = 1000
"""How many entries are made into objects together, so that a whole batch is never held as objects."""


def entries(manifest: Manifest) -> Iterator[ManifestEntry]:
    """Decode the entries, as `Manifest.entries` does, with the same errors.

    Args:
        manifest: the manifest.

    Yields:
        The entries, with inherited values.
    """
    made = 0
    try:
        for columns in column_batches(manifest, eager=True):
            for start in range(0, len(columns), ENTRIES_AT_ONCE):
                for entry in columns.entries(np.arange(start, min(start + ENTRIES_AT_ONCE, len(columns)))):
                    made += 1
                    yield entry
    except SpecError:
        yield from itertools.islice(manifest.entries(), made, None)  # the definition finds the first error


def column_batches(manifest: Manifest, *, eager: bool = False) -> Iterator[ManifestColumns]:
    """Decode the entries to columns, a batch at a time, so that no more than one batch is held.

    Args:
        manifest: the manifest.
        eager: whether every value will be used, as for `decoded_batches`.

    Yields:
        The columns of each batch.

    Raises:
        SpecError: as `decoded_batches`.
    """
    first, row_id = 0, inherited_first_row_id(manifest)
    for batch in decoded_batches(manifest, eager=eager):
        columns = ManifestColumns((EntryRun(manifest, first, batch.length, row_id),), (batch,))
        yield columns
        first, row_id = first + len(columns), columns.next_row_id


def _sequence_number(run: EntryRun) -> int:
    listed = run.manifest.manifest_file
    return np.iinfo(np.int64).max if listed is None else listed.sequence_number


def _inherited_snapshot(run: EntryRun) -> int:
    listed = run.manifest.manifest_file
    assert listed is not None
    return listed.added_snapshot_id


def _inherited_number(run: EntryRun) -> int:
    listed = run.manifest.manifest_file
    assert listed is not None
    return inherited_sequence_number(listed, run.manifest.format_version)


def inherited_first_row_id(manifest: Manifest) -> int | None:
    """Find the first row id that the first data file of a manifest inherits.

    Args:
        manifest: the manifest.

    Returns:
        The id; None if there is none.
    """
    return None if manifest.manifest_file is None else manifest.manifest_file.first_row_id


def _fill(found: Nullable, value: Any, where: Mask) -> Nullable:
    if not where.any():
        return found
    return Nullable(np.where(where, value, found.values), found.valid | where)
