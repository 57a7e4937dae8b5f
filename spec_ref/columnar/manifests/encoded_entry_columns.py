"""The columns of a manifest's entries as they are stored, for planning (Scan Planning; Manifest Entry Fields).

Status and content are decoded at once into numpy arrays with an item per entry. Statistics stay encoded until those of
a column are needed. Nulls are a separate mask. `spec_ref.columnar.manifests.entry_columns` adds inherited values.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spec_ref.avro_mapping.row_reader import partition_record
from spec_ref.avro_mapping.stored_types import split_optional, type_from_avro, value_reader
from spec_ref.columnar.encodings.avro.columns import (
    BytesColumn,
    DecodedColumn,
    LazyColumn,
    ListColumn,
    NumberColumn,
    RecordColumn,
    Rows,
    decode_lazy,
    split_nulls,
)
from spec_ref.columnar.manifests.encoded_fields import ENTRY_RULES, FILE_RULES, EncodedFields, EntryRun
from spec_ref.columnar.manifests.nullable_arrays import Bounds, Mask, Nullable
from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import Type
from spec_ref.encodings.avro.types import Array, Record


class EncodedEntryColumns(EncodedFields):
    """Entries in columns, without inherited values: those of a manifest, of a part of it, or of several manifests.

    Every property is an array with an item per entry, in their order.
    """

    def __init__(self, runs: Sequence[EntryRun], batches: Iterable[DecodedColumn]) -> None:
        """Read the columns of some batches, and refuse unknown values of status and content."""
        super().__init__(runs, batches)
        self._check()

    def _check(self) -> None:
        """Refuse an unknown status or content, which planning cannot handle."""
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
            name = path.rpartition("/")[2]
            message = f"{name} has an unknown value" if found.valid[number] else f"{name} is null"
            aspect = "unknown-value" if found.valid[number] else "null"
            error = spec_error(requirement, message, found=value, path=path, aspect=aspect)
            raise self.with_location(error, number)

    # Partitions

    def partition(self, field_id: int, rows: Rows | None = None) -> list[Any]:
        """List the values of a partition field.

        Args:
            field_id: the id of the partition field.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The values, None for null.

        Raises:
            SpecError: DFL004 if the manifest's partition tuples have no such field.
        """
        columns, type_ = self._partition_field(field_id)
        read = value_reader(type_, type_from_avro(type_))
        values = self._values(columns, rows)
        return values if read is None else [None if value is None else read(value) for value in values]

    def partition_type(self, field_id: int) -> Type:
        """Find the type in which the values of a partition field are stored.

        Args:
            field_id: the id of the partition field.

        Returns:
            The type.

        Raises:
            SpecError: DFL004 if the manifest's partition tuples have no such field.
        """
        return type_from_avro(self._partition_field(field_id)[1])

    def partition_numbers(self, field_id: int) -> Nullable:
        """Read the values of a partition field of a type that is stored as an integer, such as a date.

        Args:
            field_id: the id of the partition field.

        Returns:
            64-bit integers, one per file.

        Raises:
            SpecError: DFL004 if there is no such field, or its type is not stored as an integer.
        """
        columns, _ = self._partition_field(field_id)
        try:
            return self._numbers(columns)
        except AssertionError:
            raise spec_error("DFL004", "the partition values are not integers", found=field_id) from None

    def _partition_field(self, field_id: int) -> tuple[list[DecodedColumn | None], Any]:
        place = self._file_places.get(FILE_RULES["partition"].id or 0)
        assert isinstance(self._file_record, Record)
        tuples = None if place is None else split_optional(self._file_record.fields[place].type)[0]
        if isinstance(tuples, Record):
            spec = self.manifest.spec
            ids = None if spec is None else tuple(field.field_id for field in spec.fields)
            tuples = partition_record(tuples, ids)
            found = tuples.by_id().get(field_id)
            if found is not None:
                columns: list[DecodedColumn | None] = []
                for column in self._file_field("partition"):
                    assert column is not None
                    rows, inner = split_nulls(column)
                    if not isinstance(inner, RecordColumn) or (rows is not None and len(rows) < column.length):
                        raise spec_error("DFL004", "an entry has no partition tuple", found=field_id)
                    columns.append(inner.fields[found])
                return columns, split_optional(tuples.fields[found].type)[0]
        raise spec_error("DFL004", "the partition tuples do not have the field", found=field_id)

    # Statistics

    def counts(self, attribute: str, field_id: int, rows: Rows | None = None) -> Nullable:
        """Read one column's counts or sizes.

        Args:
            attribute: ``column_sizes``, ``value_counts``, ``null_value_counts`` or ``nan_value_counts``.
            field_id: the id of the column.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The counts, one per file.
        """
        length = self._length if rows is None else len(rows)
        values = np.zeros(length, np.int64)
        valid = np.zeros(length, np.bool_)
        for files, column in self._find_entries(attribute, field_id, rows):
            assert isinstance(column, NumberColumn)
            values[files], valid[files] = column.values, True
        return Nullable(values, valid)

    def lower_bounds(self, field_id: int, rows: Rows | None = None) -> Bounds:
        """Read one column's lower bounds.

        Args:
            field_id: the id of the column.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The bounds, one per file.
        """
        return self._bounds("lower_bounds", field_id, rows)

    def upper_bounds(self, field_id: int, rows: Rows | None = None) -> Bounds:
        """Read one column's upper bounds.

        Args:
            field_id: the id of the column.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The bounds, one per file.
        """
        return self._bounds("upper_bounds", field_id, rows)

    def _bounds(self, attribute: str, field_id: int, rows: Rows | None) -> Bounds:
        length = self._length if rows is None else len(rows)
        offsets = np.zeros(length, np.int64)
        lengths = np.zeros(length, np.int64)
        part = np.zeros(length, np.int64)
        valid = np.zeros(length, np.bool_)
        data: list[bytes] = []
        for files, column in self._find_entries(attribute, field_id, rows):
            assert isinstance(column, BytesColumn)
            if not data or data[-1] is not column.data:
                data.append(column.data)
            offsets[files], lengths[files] = column.offsets, column.lengths
            part[files], valid[files] = len(data) - 1, True
        return Bounds(tuple(data), part, offsets, lengths, valid)

    def _find_entries(self, attribute: str, field_id: int, rows: Rows | None) -> Iterator[tuple[Rows, DecodedColumn]]:
        """Find the entries of maps with a key: the files that have it, as indexes of ``rows``, and their values."""
        key_index = self._key_index(attribute)
        start = 0
        columns = self._file_field(attribute)
        for column, batch, mine in zip(columns, self._batches, self._by_batch(rows), strict=True):
            here = start
            start += batch.length if mine is None else len(mine)
            if column is None:
                continue
            found = column.find(field_id, key_index, mine) if isinstance(column, LazyColumn) else None
            if found is not None:
                known, values = split_nulls(found[1])
                yield (found[0] if known is None else found[0][known]) + here, values
                continue
            yield from self._find_pairs(column if mine is None else column.take(mine), field_id, key_index, here)

    def _find_pairs(
        self, column: DecodedColumn, field_id: int, key_index: int, here: int
    ) -> Iterator[tuple[Rows, DecodedColumn]]:
        holders, maps = split_nulls(column)
        if not isinstance(maps, ListColumn):
            return
        for rows, entries in maps.slots:
            inner, pairs = split_nulls(entries)
            if not isinstance(pairs, RecordColumn):
                continue
            keys, values = decode_lazy(pairs.fields[key_index]), pairs.fields[1 - key_index]
            assert isinstance(keys, NumberColumn)
            hits = np.nonzero(keys.values == field_id)[0]
            if not len(hits):
                continue
            files = hits
            for through in (inner, rows, holders):
                files = files if through is None else through[files]
            known, found = split_nulls(values.take(hits) if len(hits) < keys.length else values)
            yield (files if known is None else files[known]) + here, found

    def _key_index(self, attribute: str) -> int:
        """1 if the value is first in the records of a map, otherwise 0."""
        assert isinstance(self._file_record, Record)
        place = self._file_places.get(FILE_RULES[attribute].id or 0)
        if place is None:
            return 0
        maps = split_optional(self._file_record.fields[place].type)[0]
        entry = split_optional(maps.items)[0] if isinstance(maps, Array) else None
        wire = FILE_RULES[attribute].type
        return int(isinstance(entry, Record) and entry.fields[0].id == wire.value_id)

    # As written

    def written_values(self, attribute: str) -> Nullable:
        """Read a numeric field of the entries, or of their files, as stored: without inherited values.

        Args:
            attribute: the name of the attribute.

        Returns:
            The numbers, one per entry.
        """
        return self._numbers(self._field(attribute) if attribute in ENTRY_RULES else self._file_field(attribute))

    @functools.cached_property
    def paths(self) -> list[Any]:
        """The paths of all files, None for null; cached, because several rules use them."""
        return self._values(self._file_field("file_path"), None)

    @functools.cached_property
    def formats(self) -> list[Any]:
        """The file formats as stored, None for null; cached like `paths`."""
        return self.texts("file_format")

    def texts(self, attribute: str) -> list[Any]:
        """List the values of a string field of the files.

        Args:
            attribute: the name of the attribute.

        Returns:
            The strings, None for null.
        """
        return self._values(self._file_field(attribute), None)

    def nulls(self, attribute: str) -> Mask:
        """Find where a field of the files is null, or does not exist.

        Args:
            attribute: the name of the attribute.

        Returns:
            A flag per file.
        """
        missing = np.ones(self._length, np.bool_)
        start = 0
        for column, batch in zip(self._file_field(attribute), self._batches, strict=True):
            here = slice(start, start + batch.length)
            start += batch.length
            if column is not None:
                rows, _ = split_nulls(column)
                if rows is None:
                    missing[here] = False
                else:
                    missing[here][rows] = False
        return missing

    def items(self, attribute: str) -> Iterator[tuple[Rows, DecodedColumn]]:
        """Read the elements of a list or map of the files; for a map they are the records of its entries.

        Args:
            attribute: the name of the attribute.

        Yields:
            The numbers of the files and an element of each; the elements of a file are in their order.
        """
        start = 0
        for column, batch in zip(self._file_field(attribute), self._batches, strict=True):
            here = start
            start += batch.length
            if column is None:
                continue
            holders, lists = split_nulls(column)
            if not isinstance(lists, ListColumn):
                continue
            for rows, elements in lists.slots:
                inner, found = split_nulls(elements)
                files = np.arange(found.length, dtype=np.intp)
                for through in (inner, rows, holders):
                    files = files if through is None else through[files]
                yield files + here, found

    def maps(self, attribute: str) -> Iterator[tuple[int, Rows, DecodedColumn]]:
        """Read a map of the files, column by column. A column may be yielded several times, with different files.

        Args:
            attribute: the name of the attribute.

        Yields:
            The id of the column, the numbers of the files that have it, and their values without nulls.
        """
        key_index = self._key_index(attribute)
        for files, pairs in self.items(attribute):
            if not isinstance(pairs, RecordColumn) or not pairs.length:
                continue
            keys, values = decode_lazy(pairs.fields[key_index]), decode_lazy(pairs.fields[1 - key_index])
            assert isinstance(keys, NumberColumn)
            for key, hits in _by_key(keys.values):
                of_key = values if hits is None else values.take(hits)
                here = files if hits is None else files[hits]
                known, found = split_nulls(of_key)
                yield key, here if known is None else here[known], found

    def rows(self, rows: Rows) -> list[tuple[Any, ...]]:
        """Decode entries to the rows from which `Manifest.read_entry` makes entries.

        Args:
            rows: the numbers of the entries, ascending.

        Returns:
            The rows.
        """
        made: list[tuple[Any, ...]] = []
        for batch, mine in zip(self._batches, self._by_batch(rows), strict=True):
            assert mine is not None
            made += batch.take(mine).to_list()
        return made

    @property
    def first(self) -> int:
        """The number of entries of the manifest before these."""
        return self._runs[0].first


def _by_key(keys: npt.NDArray[Any]) -> Iterator[tuple[int, Rows | None]]:
    """Find the ids among keys, ascending, with the indexes of each, None for all; mostly there is only one id."""
    if len(keys) and (keys == keys[0]).all():
        yield int(keys[0]), None
        return
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(keys) else order
    ends = [*begins[1:].tolist(), len(keys)]
    for key, begin, end in zip(ordered[begins].tolist(), begins.tolist(), ends, strict=False):
        yield key, order[begin:end]
