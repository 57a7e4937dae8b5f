"""Checking that rows are sorted: each row is compared with the next, one batch at a time (Sorting)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.sorting.comparator import compare_neighbours
from spec_ref.data_types.types import Type, kind
from spec_ref.partitioning.transforms import Identity, Void
from spec_ref.sorting.comparator import compare_values
from spec_ref.sorting.order import SortField


@attrs.frozen
class SortKey:
    """One field of a sort order, and the type of its source column."""

    field: SortField
    type: Type

    @property
    def source(self) -> int:
        """The id of the source column."""
        return self.field.sources[0]


def ascending(source: int, type_: Type) -> SortKey:
    """Return the key of a column in ascending order."""
    return SortKey(SortField(transform=Identity(), source_id=source), type_)


class SortOrderCheck:
    """Checks that rows are in order, batch by batch."""

    def __init__(self, keys: tuple[SortKey, ...]) -> None:
        self.keys = keys
        self.rows = 0
        self.broken: int | None = None
        """The number of the first row that should be before its predecessor."""

        self.values: tuple[Any, Any] = (None, None)
        """The sort values of that row and of its predecessor in the first field that puts them in the wrong order."""

        self._last: list[list[Any]] | None = None

    def add(self, columns: Sequence[Any]) -> None:
        """Add more rows: an Arrow array for each key."""
        if self.broken is not None:
            return
        values = [_comparable(key, column) for key, column in zip(self.keys, columns, strict=True)]
        count = len(values[0])
        joined = (
            values if self._last is None else [_join(one, two) for one, two in zip(self._last, values, strict=True)]
        )
        before = 0 if self._last is None else 1
        order = np.zeros(max(len(joined[0]) - 1, 0), np.int8)
        orders = []
        for key, array in zip(self.keys, joined, strict=True):
            orders.append(_compare(key, array))
            order = np.where(order == 0, orders[-1], order)
        wrong = np.nonzero(order > 0)[0]
        if len(wrong):
            row = int(wrong[0])
            place = next(place for place, found in enumerate(orders) if found[row])
            self.broken = self.rows - before + row + 1
            self.values = _value(self.keys[place], joined[place], row + 1), _value(self.keys[place], joined[place], row)
        self.rows += count
        self._last = [array[len(array) - 1 :] for array in values]


def _join(last: Any, array: Any) -> Any:
    """Join the values of two batches. A column that is all null in one of them may have Arrow's null type there."""
    if not isinstance(array, pa.Array):
        return [*last, *array]
    if pa.types.is_null(last.type):
        last = pa.nulls(len(last), array.type)
    elif pa.types.is_null(array.type):
        array = pa.nulls(len(array), last.type)
    return pa.concat_arrays([last, array])


def _value(key: SortKey, array: Any, row: int) -> Any:
    """Return the sort value of a row."""
    return array[row] if isinstance(array, list) else to_python_values(key.type, array.slice(row, 1))[0]


def _comparable(key: SortKey, column: Any) -> Any:
    """Return values to compare: an Arrow array if Arrow orders them as the spec does, else a list of sort values."""
    transform = key.field.transform
    if isinstance(column, pa.Array) and isinstance(transform, Identity) and kind(key.type) not in _BY_VALUE:
        return column
    values = to_python_values(key.type, column)
    if isinstance(transform, Void):
        return [None] * len(values)
    return [transform.apply(key.type, value) for value in values]


_BY_VALUE = frozenset({"float", "double", "boolean", "uuid", "fixed"})


def _compare(key: SortKey, array: Any) -> Any:
    """Compare each row with the row before: 1 if they are in the wrong order, -1 if in the right order, 0 if equal."""
    if isinstance(array, list):
        pairs = (compare_values(key.field, one, two) for one, two in itertools.pairwise(array))
        return np.fromiter(pairs, np.int8, max(len(array) - 1, 0))
    return compare_neighbours(key.field, array)
