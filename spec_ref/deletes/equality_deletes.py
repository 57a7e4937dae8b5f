"""Equality Delete Files: rows deleted by the values of some columns (DEL017 to DEL023).

A row is deleted when it has in every delete column the value of some row of the delete file. Null is the value of
null. Where columns of types that identify no row are named, which writers must not do and readers bear (contradiction
A13), NaN is NaN and -0.0 is 0.0.

`is_deleted` is the definition. `DeleteIndex` finds the same rows of Arrow batches in time linear in rows and deletes:
all delete keys are hashed once, a row is looked up by its hash, and what is found is compared value by value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.errors import violation
from spec_ref.formats.metrics_columnar import storage_of
from spec_ref.hashing_columnar import hash_array
from spec_ref.records import evolve, record
from spec_ref.schemas.schema import Column, Schema
from spec_ref.schemas.types import BINARY, ListType, MapType, NestedField, StructType, Type, is_primitive, kind

Bools = npt.NDArray[np.bool_]


# The columns


@record
class DeleteColumn:
    """A column that equality deletes compare."""

    id: int
    type: Type
    field: NestedField
    """The column with what is around it and nothing else, optional all along, to project data and delete files to."""

    names: tuple[str, ...]
    """The names on the way to it."""


def delete_column(field_id: int, schemas: Sequence[Schema]) -> DeleteColumn:
    """The column with an id, by the first schema that has it.

    Args:
        field_id: one of the ``equality_ids`` of a delete file.
        schemas: the schema that is read with, then those of the table from the newest on, where columns are found that
            were dropped (DEL022).

    Raises:
        SpecError: DEL017, if the table never had the column; DEL018, if it is not primitive or stands in a list or map.
    """
    column = next((found for schema in schemas if (found := schema.find(field_id)) is not None), None)
    if column is None:
        raise violation("DEL017", "no schema of the table has the field of an equality id", found=field_id)
    if not is_primitive(column.type):
        raise violation("DEL018", "deletes compare primitive columns", found=f"{column.name}: {kind(column.type)}")
    if any(isinstance(parent.type, (ListType, MapType)) for parent in column.parents):
        raise violation("DEL018", "a delete column does not stand in a list or map", found=column.name)
    return DeleteColumn(field_id, column.type, _alone(column), column.path)


def _alone(column: Column) -> NestedField:
    """The column as an optional field, inside of optional structs that have no other field."""
    assert column.field is not None
    field = evolve(column.field, required=False)
    for parent in reversed(column.parents):
        assert parent.field is not None
        field = evolve(parent.field, required=False, type=StructType((field,)))
    return field


def column_values(column: DeleteColumn, batch: pa.RecordBatch, place: int) -> Any:
    """The values of a delete column out of a batch that was projected to its field; null where a parent is null."""
    array: Any = batch.column(place)
    for _ in column.names[1:]:
        array = pc.struct_field(array, [0])
    return array


# The definition


def is_deleted(row: Sequence[Any], deletes: Iterable[Sequence[Any]]) -> bool:
    """Whether some delete has the row's value in every column.

    Args:
        row: the row's values of the delete columns.
        deletes: the values of the same columns in the rows of the delete files that apply.
    """
    return any(all(map(same, row, delete)) for delete in deletes)


def same(left: Any, right: Any) -> bool:
    """Whether two values of a column are the same to equality deletes (DEL019, DEL020)."""
    if left is None or right is None:
        return left is right
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    return bool(left == right)


# The kernel

_BUCKETS_PER_KEY = 16
"""So many flags for each key, so that few rows that are not deleted are looked at closely."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


class DeleteIndex:
    """The keys of equality deletes that compare the same columns, and up to which sequence number each deletes."""

    def __init__(self, types: Sequence[Type], keys: Sequence[Any], sequence_numbers: npt.NDArray[np.int64]) -> None:
        """Index some deletes.

        Args:
            types: the types of the delete columns.
            keys: for each column the values of all deletes, an Arrow array of the type.
            sequence_numbers: the data sequence number of the file of each delete.
        """
        self.types = tuple(types)
        columns = [_comparable(array) for array in keys]
        hashes = _hashes(self.types, columns, len(sequence_numbers))
        # Of equal hashes the newest delete comes first, so that it decides about equal keys.
        order = np.lexsort((-sequence_numbers, hashes))
        self.hashes = hashes[order]
        self.sequence_numbers = sequence_numbers[order]
        self.columns = [column.take(pa.array(order)) for column in columns]
        self._keep_newest()
        starts = np.flatnonzero(np.concatenate(([True], self.hashes[1:] != self.hashes[:-1]))[: len(self.hashes)])
        self.starts, self.distinct = starts, self.hashes[starts]
        self.lengths = np.diff(np.append(starts, len(self.hashes)))
        bits = max(10, (_BUCKETS_PER_KEY * len(starts) - 1).bit_length())
        self.shift = np.uint64(64 - min(bits, 30))
        self.flags = np.zeros(1 << min(bits, 30), bool)
        self.flags[self.distinct >> self.shift] = True

    def _keep_newest(self) -> None:
        """Drop deletes that the one before, as new or newer, has the same key as."""
        if len(self.hashes) < 2:
            return
        repeats = self._equal(self.columns, np.arange(1, len(self.hashes)), np.arange(len(self.hashes) - 1))
        kept = np.flatnonzero(np.concatenate(([True], ~repeats)))
        self.hashes, self.sequence_numbers = self.hashes[kept], self.sequence_numbers[kept]
        self.columns = [column.take(pa.array(kept)) for column in self.columns]

    def deleted(self, columns: Sequence[Any], rows: int, sequence_number: int) -> Bools:
        """Which rows of a data file are deleted.

        Args:
            columns: for each delete column the values of the rows, an Arrow array of the type.
            rows: how many rows there are.
            sequence_number: the data sequence number of the data file; only later deletes apply (SCN010).
        """
        mask = np.zeros(rows, bool)
        if not len(self.hashes):
            return mask
        plain = [_comparable(column) for column in columns]
        hashes = _hashes(self.types, plain, rows)
        candidates = np.flatnonzero(self.flags[hashes >> self.shift])
        wanted = hashes[candidates]
        place = np.minimum(np.searchsorted(self.distinct, wanted), len(self.distinct) - 1)
        found = self.distinct[place] == wanted
        candidates, place = candidates[found], place[found]
        # Different keys of one hash stand behind each other; there are hardly ever two.
        for step in range(int(self.lengths.max())):
            going = self.lengths[place] > step
            candidates, place = candidates[going], place[going]
            if not len(candidates):
                break
            keys = self.starts[place] + step
            hits = self._equal(plain, candidates, keys) & (self.sequence_numbers[keys] > sequence_number)
            mask[candidates[hits]] = True
        return mask

    def _equal(self, columns: Sequence[Any], rows: npt.NDArray[np.intp], keys: npt.NDArray[np.intp]) -> Bools:
        equal = np.ones(len(rows), bool)
        for mine, theirs in zip(columns, self.columns, strict=True):
            equal &= _same_array(mine.take(pa.array(rows)), theirs.take(pa.array(keys)))
        return equal


def _comparable(array: Any) -> Any:
    """The array in a form that Arrow compares, with one NaN and one zero."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = storage_of(array)
    if pa.types.is_floating(array.type):
        nan = pa.scalar(math.nan, array.type)
        return pc.if_else(pc.is_nan(array), nan, pc.add(array, pa.scalar(0.0, array.type)))
    return array


def _same_array(left: Any, right: Any) -> Bools:
    if pa.types.is_null(left.type):
        return np.ones(len(left), bool)
    equal: Any = pc.fill_null(pc.equal(left, right), False)  # noqa: FBT003
    if pa.types.is_floating(left.type):
        equal = pc.or_(equal, pc.fill_null(pc.and_(pc.is_nan(left), pc.is_nan(right)), False))  # noqa: FBT003
    if left.null_count or right.null_count:
        equal = pc.or_(equal, pc.and_(pc.is_null(left), pc.is_null(right)))
    return np.asarray(equal.to_numpy(zero_copy_only=False))


def _hashes(types: Sequence[Type], columns: Sequence[Any], rows: int) -> npt.NDArray[np.uint64]:
    """A number for each row that rows of the same values share; all of its bits depend on all values."""
    mixed = np.zeros(rows, np.uint64)
    for type_, column in zip(types, columns, strict=True):
        # WKB is hashed as the bytes that it is.
        hashed: Any = hash_array(BINARY if kind(type_) in ("geometry", "geography") else type_, column)
        codes = np.asarray(hashed.fill_null(0)).view(np.uint32).astype(np.uint64)
        mixed = (mixed ^ codes) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed * _MIX


def deleted_by(
    indexes: Collection[tuple[Sequence[int], DeleteIndex]],
    values: Mapping[int, Any],
    rows: int,
    sequence_number: int,
) -> Bools:
    """Which rows are deleted by any of several indexes, each with the ids of its columns.

    Args:
        indexes: ids of delete columns, and the deletes that compare them.
        values: the rows' values of all these columns by id.
        rows: how many rows there are.
        sequence_number: the data sequence number of the data file.
    """
    mask = np.zeros(rows, bool)
    for ids, index in indexes:
        mask |= index.deleted([values[field_id] for field_id in ids], rows, sequence_number)
    return mask
