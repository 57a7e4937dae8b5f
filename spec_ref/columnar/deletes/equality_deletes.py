"""Equality deletes of Arrow batches: the kernel beside `spec_ref.deletes.equality_deletes.is_deleted`.

The time is linear in the number of rows and deletes: all delete keys are hashed once, a row is looked up by its hash,
and the delete keys with that hash are compared value by value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import INTEGER_KINDS, fixed_width, is_valid
from spec_ref.columnar.hashing import hash_array
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.data_types.types import BINARY, Type, kind
from spec_ref.deletes.equality_deletes import DeleteColumn

Bools = npt.NDArray[np.bool_]


def delete_column_array(column: DeleteColumn, batch: pa.RecordBatch, place: int) -> Any:
    """Find the values of a delete column.

    Args:
        column: the column.
        batch: a batch that was projected to the column's field.
        place: the index of the field in the batch.

    Returns:
        The values; null where a parent is null.
    """
    array: Any = batch.column(place)
    for _ in column.names[1:]:
        array = pc.struct_field(array, [0])
    return array


_BUCKETS_PER_KEY = 4
"""The number of hash buckets for each key: most buckets are empty, and few have several keys."""

_FLAGS_PER_BUCKET = 4
"""The number of flags for each bucket: few rows that are not deleted have the flag of some key."""

_MAX_FLAG_BITS = 30
_BLOCK_ROWS = 1 << 17
"""The number of rows that are looked up together: intermediate results stay in the processor's cache, and each step
is long enough for other threads to run at the same time; for fewer rows, acquiring Python's lock again would take
longer than the step."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class EqualityDeleteSet:
    """The keys of equality deletes that compare the same columns, with the sequence number below which each applies."""

    def __init__(self, types: Sequence[Type], keys: Sequence[Any], sequence_numbers: npt.NDArray[np.int64]) -> None:
        """Build the index of some deletes.

        Args:
            types: the types of the delete columns.
            keys: for each column the values of all deletes, an Arrow array of the type.
            sequence_numbers: the data sequence number of the file of each delete.
        """
        self.types = tuple(types)
        columns = [_comparable(array) for array in keys]
        hashes = _hashes(self.types, columns, len(sequence_numbers))
        order = _newest_first(hashes, sequence_numbers)
        self.hashes = hashes[order]
        self.sequence_numbers = sequence_numbers[order]
        self.columns = [column.take(pa.array(order)) for column in columns]
        self._keep_newest()
        bits = min(_MAX_FLAG_BITS, max(10, (len(self.hashes) * _BUCKETS_PER_KEY).bit_length()))
        self.bucket_shift = np.uint64(64 - bits)
        buckets = np.bincount(self.hashes >> self.bucket_shift, minlength=1 << bits)
        self.firsts = np.zeros(len(buckets) + 1, np.int32 if len(self.hashes) < 1 << 31 else np.int64)
        np.cumsum(buckets, out=self.firsts[1:])
        bits = min(_MAX_FLAG_BITS, bits + (_FLAGS_PER_BUCKET - 1).bit_length())
        self.flag_shift = np.uint64(64 - bits)
        self.low_bits = np.uint64((1 << bits) - 1)
        self.flags = np.zeros(1 << bits, bool)
        self.flags[self.hashes >> self.flag_shift] = True
        self.low_flags = np.zeros(1 << bits, bool)
        self.low_flags[_low_bits(self.hashes) & self.low_bits] = True

    def _keep_newest(self) -> None:
        """Drop deletes with the same key as the previous delete, which is at least as new."""
        alike = np.flatnonzero(self.hashes[1:] == self.hashes[:-1])
        repeats = alike[self._equal(self.columns, alike + 1, alike)] + 1
        if not len(repeats):
            return
        kept = np.delete(np.arange(len(self.hashes)), repeats)
        self.hashes, self.sequence_numbers = self.hashes[kept], self.sequence_numbers[kept]
        self.columns = [column.take(pa.array(kept)) for column in self.columns]

    def deleted_mask(self, columns: Sequence[Any], rows: int, sequence_number: int) -> Bools:
        """Find the deleted rows of a data file.

        Args:
            columns: for each delete column the values of the rows, an Arrow array of the type.
            rows: the number of rows.
            sequence_number: the data sequence number of the data file; only later deletes apply (SCN010).

        Returns:
            A flag per row.
        """
        mask = np.zeros(rows, bool)
        if not len(self.hashes):
            return mask
        plain = [_comparable(column) for column in columns]
        found: list[tuple[Any, Any]] = []
        for first in range(0, rows, _BLOCK_ROWS):
            block = [column.slice(first, _BLOCK_ROWS) for column in plain]
            found += self._pairs_with_equal_hashes(_hashes(self.types, block, min(_BLOCK_ROWS, rows - first)), first)
        if found:
            places, keys = (np.concatenate(parts) for parts in zip(*found, strict=True))
            equal = self._equal(plain, places, keys) & (self.sequence_numbers[keys] > sequence_number)
            mask[places[equal]] = True
        return mask

    def _pairs_with_equal_hashes(self, hashes: npt.NDArray[np.uint64], first: int) -> Iterator[tuple[Any, Any]]:
        """Find the rows and keys with equal hashes, as pairs of indexes; the first row has the index ``first``."""
        flagged: Any = np.flatnonzero(self.flags.take((hashes >> self.flag_shift).view(np.int64)))
        wanted: Any = hashes[flagged]
        twice = self.low_flags.take((_low_bits(wanted) & self.low_bits).view(np.int64))
        places, wanted = flagged[twice] + first, wanted[twice]
        bucket = (wanted >> self.bucket_shift).view(np.int64)
        keys: Any
        ends: Any
        keys, ends = self.firsts.take(bucket).astype(np.intp), self.firsts.take(bucket + 1).astype(np.intp)
        while True:
            going = keys < ends
            places, wanted, keys, ends = (part[going] for part in (places, wanted, keys, ends))
            if not len(places):
                return
            hits = self.hashes.take(keys) == wanted
            yield places[hits], keys[hits]
            keys += 1

    def _equal(self, columns: Sequence[Any], rows: npt.NDArray[np.intp], keys: npt.NDArray[np.intp]) -> Bools:
        equal = np.ones(len(rows), bool)
        for mine, theirs in zip(columns, self.columns, strict=True):
            equal &= _same_array(mine.take(pa.array(rows)), theirs.take(pa.array(keys)))
        return equal


def _newest_first(hashes: npt.NDArray[np.uint64], sequence_numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Sort deletes by their hashes, and the newest first among equal hashes: of equal keys only the newest matters."""
    if np.all(sequence_numbers == sequence_numbers[:1]):
        return np.argsort(hashes)  # uses vector instructions, unlike the sort by two keys
    return np.lexsort((-sequence_numbers, hashes))


def _comparable(array: Any) -> Any:
    """Convert an array to a form that Arrow compares, with one NaN and one zero."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = storage_array(array)
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
    """Compute a hash for each row; its high bits depend on all bits of the values."""
    mixed: Any = None
    for type_, column in zip(types, columns, strict=True):
        codes = _codes(type_, column)
        mixed = codes * _MIX if mixed is None else (mixed ^ (mixed >> _HALF) ^ codes) * _MIX
    return np.zeros(rows, np.uint64) if mixed is None else mixed


def _low_bits(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Compute numbers whose low bits distinguish hashes that share their high bits."""
    return (hashes ^ (hashes >> _HALF)) * _MIX >> _HALF


def _codes(type_: Type, column: Any) -> npt.NDArray[np.uint64]:
    """Compute a number for each value, the same for equal values; 0 for null."""
    name = kind(type_)
    if name in INTEGER_KINDS:  # distinct integers need no other hash
        codes = fixed_width(type_, column).astype(np.int64, copy=False).view(np.uint64)
        valid = is_valid(column)
        return codes if valid is None else np.where(valid, codes, np.uint64(0))
    # WKB is hashed as binary.
    hashed: Any = hash_array(BINARY if name in ("geometry", "geography") else type_, column)
    return np.asarray(hashed.fill_null(0)).view(np.uint32).astype(np.uint64)
