"""A manifest's entries as columns, for planning (Scan Planning).

Planning looks at a file's status, sequence numbers and partition first. These are decoded at once into numpy arrays
with an item per entry. Statistics stay encoded until those of a column are needed, and no object is made for an entry
that is not needed. Nulls are a separate mask.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from spec_ref.columnar.avro_mapping.rows import read_records
from spec_ref.columnar.encodings.avro.columns import (
    DecodedColumn,
    NullColumn,
    NumberColumn,
    RecordColumn,
    Rows,
    UnionColumn,
    decode_lazy,
)
from spec_ref.columnar.manifests.encoded_entry_columns import EncodedEntryColumns
from spec_ref.columnar.manifests.encoded_fields import EntryRun
from spec_ref.columnar.manifests.nullable_arrays import Longs, Mask, Nullable
from spec_ref.columnar.manifests.reader import decoded_batches
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve, field_rules
from spec_ref.core.versions import SEQUENCE_NUMBERS
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import check_row_id, inherited_sequence_number
from spec_ref.manifests.manifest import Manifest

SAFE_ROW_IDS = float(1 << 62)
"""If the last row id may be above this limit, every row id is checked, because sums may exceed 64 bits."""

_ENTRY = field_rules(ManifestEntry)
_FILE = field_rules(DataFile)


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
        try:
            return self._entries(chosen, without)
        except SpecError as error:
            if error.violation.file is None and len(chosen) > 1:
                for row in chosen:  # one at a time, to add the entry to the error
                    self.entries(row[None], without=without)
            if error.violation.file is None:
                raise self.with_location(error, int(chosen[0])) from error.__cause__
            raise

    def _entries(self, chosen: Rows, without: Collection[str]) -> list[ManifestEntry]:
        left_out = {self._file_places.get(_FILE[attribute].id or 0) for attribute in without}
        run_of = np.searchsorted(self._ends, chosen, side="right")
        numbers = self._numbers_in_manifests(chosen, run_of).tolist()
        manifests = [self._runs[run].manifest for run in run_of.tolist()]
        made: list[ManifestEntry] = []
        for batch, mine, start in zip(self._batches, self._by_batch(chosen), self._starts(), strict=True):
            assert mine is not None
            complete = self._complete(batch, mine, start, left_out)
            together = read_records(self.manifest.row_reader, complete) if self._is_read_alike else None
            if together is not None:
                made += together
                continue
            for row in complete.to_list():  # the definition finds the entry that is wrong
                place = len(made)
                made.append(manifests[place].read_entry(row, numbers[place]))
        if not self._inherits_what_files_lack:
            return made
        return [self._inherit(entry, row) for entry, row in zip(made, chosen.tolist(), strict=True)]

    @functools.cached_property
    def _is_read_alike(self) -> bool:
        """Whether one reader makes the entries of all manifests, which may differ in their format versions."""
        return all(run.manifest.row_reader is self.manifest.row_reader for run in self._runs)

    @functools.cached_property
    def _inherits_what_files_lack(self) -> bool:
        """Whether entries inherit a number for which their manifests, such as those of v1, have no field."""
        lacking = [name for name in _INHERITED if _ENTRY[name].id not in self._places]
        lacking += ["first_row_id"] * (_FILE["first_row_id"].id not in self._file_places)
        return any(getattr(self, name).valid.any() for name in lacking)

    def _numbers_in_manifests(self, rows: Rows, run_of: Rows) -> Rows:
        starts = np.array([run.first - (end - run.count) for run, end in zip(self._runs, self._ends, strict=True)])
        numbers: Rows = rows + starts[run_of]
        return numbers

    def _starts(self) -> list[int]:
        lengths = [batch.length for batch in self._batches]
        return [sum(lengths[:place]) for place in range(len(lengths))]

    def _complete(self, batch: RecordColumn, rows: Rows, start: int, left_out: Collection[int | None]) -> RecordColumn:
        """Replace values of some entries of a batch by what they inherit, and set some fields to null."""
        at = self._places[2]
        fields: list[DecodedColumn] = []
        inherited = {self._places.get(_ENTRY[name].id or 0): name for name in _INHERITED}
        for place, field in enumerate(batch.fields):
            if place in inherited:
                fields.append(_nullable_column(getattr(self, inherited[place]), rows + start))
            elif place == at and isinstance(field, RecordColumn):
                row_id = self._file_places.get(_FILE["first_row_id"].id or 0)
                inner = [
                    NullColumn(len(rows))
                    if number in left_out
                    else _nullable_column(self.first_row_id, rows + start)
                    if number == row_id
                    else one.take(rows)
                    for number, one in enumerate(field.fields)
                ]
                fields.append(RecordColumn(inner, len(rows)))
            else:
                fields.append(field.take(rows))
        return RecordColumn(fields, len(rows))

    def _inherit(self, entry: ManifestEntry, row: int) -> ManifestEntry:
        data_file = evolve(entry.data_file, first_row_id=_value_at(self.first_row_id, row))
        return evolve(
            entry,
            snapshot_id=_value_at(self.snapshot_id, row),
            sequence_number=_value_at(self.sequence_number, row),
            file_sequence_number=_value_at(self.file_sequence_number, row),
            data_file=data_file,
        )


_INHERITED = ("snapshot_id", "sequence_number", "file_sequence_number")


def _nullable_column(numbers: Nullable, rows: Rows) -> DecodedColumn:
    """Make a column with nulls from the numbers of some rows."""
    values, valid = numbers.values[rows], numbers.valid[rows]
    if valid.all():
        return NumberColumn(values)
    known = np.nonzero(valid)[0]
    return UnionColumn([(known, NumberColumn(values[known]))], len(rows))


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


def _value_at(numbers: Nullable, row: int) -> int | None:
    return int(numbers.values[row]) if numbers.valid[row] else None
