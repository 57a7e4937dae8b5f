"""A manifest's entries as columns, for planning (Scan Planning).

What decides about a file before anything else - its status, its numbers, its partition - is decoded at once into numpy
arrays over all entries. Statistics stay encoded until a column's are asked for, and no object is made for an entry
that is not. Null is a mask beside the values.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from spec_ref.errors import violation
from spec_ref.formats.avro_columns import (
    BytesColumn,
    Column,
    ListColumn,
    NullColumn,
    NumberColumn,
    RecordColumn,
    Rows,
    forced,
    optional,
)
from spec_ref.formats.avro_rows import partition_record
from spec_ref.formats.avro_schema import from_avro, present, value_reader
from spec_ref.formats.avro_types import Array, Record
from spec_ref.manifests.column_values import Bounds, Longs, Mask, Nullable
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import check_row_id, inherited_sequence_number
from spec_ref.records import evolve, field_rules
from spec_ref.versions import V1

if TYPE_CHECKING:
    from spec_ref.manifests.manifest import Manifest


SAFE_ROW_IDS = float(1 << 62)
"""Below it no sum of row ids leaves 64 bits; above, each is looked at."""

_ENTRY = field_rules(ManifestEntry)
_FILE = field_rules(DataFile)


class ManifestColumns:
    """The entries of a manifest, or of a part of one, in columns; inheritance is applied.

    Every property is an array over the entries, in their order.
    """

    def __init__(
        self, manifest: Manifest, batches: Iterable[Column], first: int = 0, row_id: int | None = None
    ) -> None:
        """Read the columns of some batches of the manifest.

        Args:
            manifest: the manifest.
            batches: the batches, one behind the other.
            first: the number of entries before them.
            row_id: the first row id that they inherit.
        """
        self.manifest = manifest
        self._row_id = row_id
        self._first = first
        self._batches: list[RecordColumn] = []
        for batch in batches:
            root = forced(batch)
            assert isinstance(root, RecordColumn)
            self._batches.append(root)
        self._length = sum(batch.length for batch in self._batches)
        record = manifest.record
        self._places = record.by_id()
        data_file = record.fields[self._places[2]].type
        self._file_record = present(data_file)[0]
        assert isinstance(self._file_record, Record)
        self._file_places = self._file_record.by_id()
        self._check()

    def __len__(self) -> int:
        return self._length

    # Fields

    def _field(self, attribute: str) -> list[Column | None]:
        """A field of the entries in each batch; None where the file does not have it."""
        place = self._places.get(_ENTRY[attribute].id or 0)
        return [None if place is None else batch.fields[place] for batch in self._batches]

    @functools.cached_property
    def _files(self) -> list[RecordColumn]:
        made = []
        for column in self._field("data_file"):
            assert column is not None
            rows, files = optional(column)
            if not isinstance(files, RecordColumn) or (rows is not None and len(rows) < column.length):
                raise violation("MAN015", "data_file is null", path=self._missing(column, rows, "/data_file"))
            made.append(files)
        return made

    def _file_field(self, attribute: str) -> list[Column | None]:
        place = self._file_places.get(_FILE[attribute].id or 0)
        return [None if place is None else files.fields[place] for files in self._files]

    def _missing(self, column: Column, rows: Rows | None, path: str) -> str:
        first = 0 if rows is None else int(np.setdiff1d(np.arange(column.length), rows)[0])
        return f"/{self._first + first}{path}"

    def _numbers(self, columns: Sequence[Column | None]) -> Nullable:
        """A field of integers over all batches."""
        values = np.zeros(self._length, np.int64)
        valid = np.zeros(self._length, np.bool_)
        start = 0
        for column, batch in zip(columns, self._batches, strict=True):
            here = slice(start, start + batch.length)
            start += batch.length
            if column is None:
                continue
            rows, numbers = optional(column)
            if isinstance(numbers, NullColumn):
                continue
            assert isinstance(numbers, NumberColumn)
            if rows is None:
                values[here], valid[here] = numbers.values, True
            else:
                values[here][rows], valid[here][rows] = numbers.values, True
        return Nullable(values, valid)

    def _required(self, attribute: str) -> Longs:
        numbers = self._numbers(self._file_field(attribute))
        if not numbers.valid.all():
            name = _FILE[attribute].name
            at_ = f"/{self._first + int(np.argmin(numbers.valid))}/data_file/{name}"
            raise violation(_FILE[attribute].requirement, f"{name} is null", expected=f"a {name}", path=at_)
        return numbers.values

    def _check(self) -> None:
        """Refuse what planning cannot go on with: an unknown status, or content."""
        status = self._numbers(self._field("status"))
        self._refuse(~status.valid | (status.values < 0) | (status.values > 2), status, "MAN011", "/status")
        content = self._numbers(self._file_field("content"))
        self._refuse(
            content.valid & ((content.values < 0) | (content.values > 2)), content, "DFL001", "/data_file/content"
        )
        self.status: npt.NDArray[np.int8] = status.values.astype(np.int8)
        """`EntryStatus` of each entry."""

        self.content: npt.NDArray[np.int8] = np.where(content.valid, content.values, 0).astype(np.int8)
        """`FileContent` of each file."""

    def _refuse(self, wrong: Mask, found: Nullable, requirement: str, path: str) -> None:
        if wrong.any():
            number = int(np.argmax(wrong))
            value = int(found.values[number]) if found.valid[number] else None
            where = f"/{self._first + number}{path}"
            raise violation(requirement, "the value is not one of the known", found=value, path=where)

    # Scalars

    @functools.cached_property
    def live(self) -> Mask:
        """The entries that scans use."""
        live: Mask = self.status != EntryStatus.DELETED
        return live

    @functools.cached_property
    def snapshot_id(self) -> Nullable:
        """The snapshots that added or deleted the files."""
        found = self._numbers(self._field("snapshot_id"))
        listed = self.manifest.manifest_file
        return found if listed is None else _filled(found, listed.added_snapshot_id, ~found.valid)

    @functools.cached_property
    def sequence_number(self) -> Nullable:
        """The data sequence numbers."""
        return self._sequence("sequence_number")

    @functools.cached_property
    def file_sequence_number(self) -> Nullable:
        """The file sequence numbers."""
        return self._sequence("file_sequence_number")

    def _sequence(self, attribute: str) -> Nullable:
        found = self._numbers(self._field(attribute))
        listed, version = self.manifest.manifest_file, self.manifest.format_version
        if listed is None:
            return found
        inherits = ~found.valid if version is V1 else ~found.valid & (self.status == EntryStatus.ADDED)
        return _filled(found, inherited_sequence_number(listed, version), inherits)

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
        if self._row_id is None:
            return found
        counts = self._inheriting_rows
        if self._row_id + float(np.abs(counts.astype(np.float64)).sum()) > SAFE_ROW_IDS:
            following = self._row_id
            for count, inherits in zip(counts.tolist(), self._inherits_row_id.tolist(), strict=True):
                if inherits:
                    check_row_id(following)
                following += count
        return _filled(found, self._row_id + np.cumsum(counts) - counts, ~found.valid & self._inherits_row_id)

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
        """The first row id that entries behind these inherit."""
        return None if self._row_id is None else self._row_id + sum(self._inheriting_rows.tolist())

    @functools.cached_property
    def content_offset(self) -> Nullable:
        return self._numbers(self._file_field("content_offset"))

    @functools.cached_property
    def content_size_in_bytes(self) -> Nullable:
        return self._numbers(self._file_field("content_size_in_bytes"))

    def file_paths(self, rows: Rows | None = None) -> list[Any]:
        """The paths of the files, or of some of them."""
        return self._values(self._file_field("file_path"), rows)

    def referenced_data_files(self, rows: Rows | None = None) -> list[Any]:
        """The data files that delete files refer to."""
        return self._values(self._file_field("referenced_data_file"), rows)

    def _values(self, columns: Sequence[Column | None], rows: Rows | None) -> list[Any]:
        made: list[Any] = []
        for column, batch, chosen in zip(columns, self._batches, self._by_batch(rows), strict=True):
            if column is None:
                made += [None] * (batch.length if chosen is None else len(chosen))
            else:
                made += (column if chosen is None else column.take(chosen)).to_list()
        return made

    def _by_batch(self, rows: Rows | None) -> Iterator[Rows | None]:
        start = 0
        for batch in self._batches:
            end = start + batch.length
            yield None if rows is None else rows[(rows >= start) & (rows < end)] - start
            start = end

    # Partitions

    def partition(self, field_id: int) -> list[Any]:
        """The values of a partition field, by its id.

        Raises:
            SpecError: DFL004, if the manifest's partition tuples have no such field.
        """
        columns, type_ = self._partition_field(field_id)
        read = value_reader(type_, from_avro(type_))
        values = self._values(columns, None)
        return values if read is None else [None if value is None else read(value) for value in values]

    def partition_numbers(self, field_id: int) -> Nullable:
        """The values of a partition field of a type that is stored as an integer, a date say, as 64-bit integers.

        Raises:
            SpecError: DFL004, if there is no such field, or its type is another.
        """
        columns, _ = self._partition_field(field_id)
        try:
            return self._numbers(columns)
        except AssertionError:
            raise violation("DFL004", "the partition values are no integers", found=field_id) from None

    def _partition_field(self, field_id: int) -> tuple[list[Column | None], Any]:
        place = self._file_places.get(_FILE["partition"].id or 0)
        assert isinstance(self._file_record, Record)
        tuples = None if place is None else present(self._file_record.fields[place].type)[0]
        if isinstance(tuples, Record):
            spec = self.manifest.spec
            ids = None if spec is None else tuple(field.field_id for field in spec.fields)
            tuples = partition_record(tuples, ids)
            found = tuples.by_id().get(field_id)
            if found is not None:
                columns: list[Column | None] = []
                for column in self._file_field("partition"):
                    assert column is not None
                    inner = optional(column)[1]
                    assert isinstance(inner, RecordColumn)
                    columns.append(inner.fields[found])
                return columns, present(tuples.fields[found].type)[0]
        raise violation("DFL004", "the partition tuples have no such field", found=field_id)

    # Statistics

    def counts(self, attribute: str, field_id: int) -> Nullable:
        """One column's counts or sizes over all files.

        Args:
            attribute: ``column_sizes``, ``value_counts``, ``null_value_counts`` or ``nan_value_counts``.
            field_id: the id of the column.
        """
        values = np.zeros(self._length, np.int64)
        valid = np.zeros(self._length, np.bool_)
        for rows, column in self._entries_of(attribute, field_id):
            assert isinstance(column, NumberColumn)
            values[rows], valid[rows] = column.values, True
        return Nullable(values, valid)

    def lower_bounds(self, field_id: int) -> Bounds:
        """One column's lower bounds over all files."""
        return self._bounds("lower_bounds", field_id)

    def upper_bounds(self, field_id: int) -> Bounds:
        """One column's upper bounds over all files."""
        return self._bounds("upper_bounds", field_id)

    def _bounds(self, attribute: str, field_id: int) -> Bounds:
        offsets = np.zeros(self._length, np.int64)
        lengths = np.zeros(self._length, np.int64)
        part = np.zeros(self._length, np.int64)
        valid = np.zeros(self._length, np.bool_)
        data: list[bytes] = []
        for rows, column in self._entries_of(attribute, field_id):
            assert isinstance(column, BytesColumn)
            if not data or data[-1] is not column.data:
                data.append(column.data)
            offsets[rows], lengths[rows] = column.offsets, column.lengths
            part[rows], valid[rows] = len(data) - 1, True
        return Bounds(tuple(data), part, offsets, lengths, valid)

    def _entries_of(self, attribute: str, field_id: int) -> Iterator[tuple[Rows, Column]]:
        """The entries of maps with a key: the files that have it, and their values."""
        swapped = self._swapped(attribute)
        start = 0
        for column, batch in zip(self._file_field(attribute), self._batches, strict=True):
            here = start
            start += batch.length
            if column is None:
                continue
            holders, maps = optional(column)
            if not isinstance(maps, ListColumn):
                continue
            for rows, entries in maps.slots:
                inner, pairs = optional(entries)
                if not isinstance(pairs, RecordColumn):
                    continue
                keys, values = forced(pairs.fields[swapped]), pairs.fields[1 - swapped]
                assert isinstance(keys, NumberColumn)
                hits = np.nonzero(keys.values == field_id)[0]
                if not len(hits):
                    continue
                files = hits
                for through in (inner, rows, holders):
                    files = files if through is None else through[files]
                known, found = optional(values.take(hits) if len(hits) < keys.length else values)
                yield (files if known is None else files[known]) + here, found

    def _swapped(self, attribute: str) -> int:
        """1 where the records of a map have the value first."""
        assert isinstance(self._file_record, Record)
        place = self._file_places.get(_FILE[attribute].id or 0)
        if place is None:
            return 0
        maps = present(self._file_record.fields[place].type)[0]
        entry = present(maps.items)[0] if isinstance(maps, Array) else None
        wire = _FILE[attribute].type
        return int(isinstance(entry, Record) and entry.fields[0].id == wire.value_id)

    def load(self) -> ManifestColumns:
        """Decode all statistics now, and give the columns."""
        for files in self._files:
            for column in files.fields:
                forced(column)
        return self

    # Entries

    def entries(self, rows: Rows | Sequence[int]) -> list[ManifestEntry]:
        """The entries with these numbers, ascending, as objects."""
        chosen = np.asarray(rows, np.intp)
        made: list[ManifestEntry] = []
        numbers = (chosen + self._first).tolist()
        for batch, mine in zip(self._batches, self._by_batch(chosen), strict=True):
            assert mine is not None
            made += (self.manifest.entry_of(row, numbers[len(made)]) for row in batch.take(mine).to_list())
        return [self._inherited(entry, row) for entry, row in zip(made, chosen.tolist(), strict=True)]

    def _inherited(self, entry: ManifestEntry, row: int) -> ManifestEntry:
        data_file = evolve(entry.data_file, first_row_id=_at(self.first_row_id, row))
        return evolve(
            entry,
            snapshot_id=_at(self.snapshot_id, row),
            sequence_number=_at(self.sequence_number, row),
            file_sequence_number=_at(self.file_sequence_number, row),
            data_file=data_file,
        )


def column_batches(manifest: Manifest) -> Iterator[ManifestColumns]:
    """The entries in columns, a batch at a time, so that no more than one batch is held.

    Raises:
        SpecError: as `spec_ref.manifests.manifest.Manifest.batches`.
    """
    first, row_id = 0, _first_row_id(manifest)
    for batch in manifest.batches():
        columns = ManifestColumns(manifest, (batch,), first, row_id)
        yield columns
        first, row_id = first + len(columns), columns.next_row_id


def all_columns(manifest: Manifest) -> ManifestColumns:
    """All entries in columns; see `spec_ref.manifests.manifest.Manifest.columns`."""
    return ManifestColumns(manifest, list(manifest.batches()), row_id=_first_row_id(manifest))


def _first_row_id(manifest: Manifest) -> int | None:
    return None if manifest.manifest_file is None else manifest.manifest_file.first_row_id


def _filled(found: Nullable, value: Any, where: Mask) -> Nullable:
    if not where.any():
        return found
    return Nullable(np.where(where, value, found.values), found.valid | where)


def _at(numbers: Nullable, row: int) -> int | None:
    return int(numbers.values[row]) if numbers.valid[row] else None
