"""Whether rows are in an order: neighbours are compared, a batch at a time (Sorting)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_values import values_of
from spec_ref.data_types.types import Type, kind
from spec_ref.partitioning.transforms import Identity, Transform, Void
from spec_ref.sorting.comparator import float_sort_key
from spec_ref.sorting.order import NullOrder, SortDirection, SortField

_IDENTITY = Identity()


@attrs.frozen
class SortKey:
    """One field of an order."""

    source: int
    type: Type
    transform: Transform = _IDENTITY
    descending: bool = False
    nulls_first: bool = True


def sort_key(field: SortField, type_: Type) -> SortKey:
    """The key of a field of a sort order, over a column of a type."""
    return SortKey(
        field.sources[0], type_, field.transform, field.direction is SortDirection.DESC,
        field.null_order is NullOrder.NULLS_FIRST,
    )  # fmt: skip


class Ascending:
    """The rows that were seen so far, as far as their order goes."""

    def __init__(self, keys: tuple[SortKey, ...]) -> None:
        self.keys = keys
        self.rows = 0
        self.broken: int | None = None
        """The number of the first row that comes after one that it should stand before."""

        self._last: list[list[Any]] | None = None

    def add(self, columns: Sequence[Any]) -> None:
        """Look at more rows: an Arrow array for each key."""
        if self.broken is not None:
            return
        values = [_comparable(key, column) for key, column in zip(self.keys, columns, strict=True)]
        count = len(values[0])
        joined = (
            values if self._last is None else [_joined(one, two) for one, two in zip(self._last, values, strict=True)]
        )
        before = 0 if self._last is None else 1
        order = np.zeros(max(len(joined[0]) - 1, 0), np.int8)
        for key, array in zip(self.keys, joined, strict=True):
            order = np.where(order == 0, _compared(key, array), order)
        wrong = np.nonzero(order > 0)[0]
        if len(wrong):
            self.broken = self.rows - before + int(wrong[0]) + 1
        self.rows += count
        self._last = [array[len(array) - 1 :] for array in values]


def _joined(last: Any, array: Any) -> Any:
    """The values of two batches. A column that is all null in one of them may have Arrow's type of nulls there."""
    if not isinstance(array, pa.Array):
        return [*last, *array]
    if pa.types.is_null(last.type):
        last = pa.nulls(len(last), array.type)
    elif pa.types.is_null(array.type):
        array = pa.nulls(len(array), last.type)
    return pa.concat_arrays([last, array])


def _comparable(key: SortKey, column: Any) -> Any:
    """Values that compare as the spec sorts: an Arrow array where that is certain, else a list."""
    if isinstance(column, pa.Array) and isinstance(key.transform, Identity) and kind(key.type) not in _BY_VALUE:
        return column
    values = values_of(key.type, column)
    values = (
        [key.transform.apply(key.type, value) for value in values]
        if not isinstance(key.transform, Void)
        else ([None] * len(values))
    )
    return [_sortable(value) for value in values]


_BY_VALUE = frozenset({"float", "double", "boolean", "uuid", "fixed"})


def _sortable(value: Any) -> Any:
    if isinstance(value, float):
        return float_sort_key(value)
    return value.bytes if hasattr(value, "bytes") else value


def _compared(key: SortKey, array: Any) -> Any:
    """For each row but the first: 1 where the row before should come after it, -1 where it may not, 0 where equal."""
    if isinstance(array, list):
        return np.fromiter(
            (_pair(key, one, two) for one, two in itertools.pairwise(array)), np.int8, max(len(array) - 1, 0)
        )
    if pa.types.is_null(array.type):
        return np.zeros(max(len(array) - 1, 0), np.int8)
    one, two = array.slice(0, len(array) - 1), array.slice(1)
    kernels: Any = pc
    above, below = (
        kernels.fill_null(compare(one, two), fill_value=False).to_numpy(zero_copy_only=False)
        for compare in (kernels.greater, kernels.less)
    )
    codes = above.astype(np.int8) - below.astype(np.int8)
    if key.descending:
        codes = -codes
    if array.null_count:
        null = array.is_null().to_numpy(zero_copy_only=False)
        first, second = null[:-1].astype(np.int8), null[1:].astype(np.int8)
        of_nulls = second - first if key.nulls_first else first - second
        codes = np.where(null[:-1] | null[1:], of_nulls, codes)
    return np.asarray(codes, np.int8)


def _pair(key: SortKey, one: Any, two: Any) -> int:
    if one is None or two is None:
        return (int(two is None) - int(one is None)) * (1 if key.nulls_first else -1)
    order = int(one > two) - int(one < two)
    return -order if key.descending else order
