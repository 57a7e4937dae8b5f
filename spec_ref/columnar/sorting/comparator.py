"""Sort Arrow batches by a sort order (Sorting): the kernels for `spec_ref.sorting.comparator`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.columnar.schemas.written_rows import column_array
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema
from spec_ref.sorting.order import NullOrder, SortDirection, SortField, SortOrder

_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


def sort_indices(order: SortOrder, schema: Schema, batch: pa.RecordBatch) -> Any:
    """Compute the indexes that sort the rows of a batch; equal rows keep their order (SRT003 to SRT005).

    Args:
        order: an order for which `spec_ref.sorting.comparator.is_sortable` is true.
        schema: the schema of the batch.
        batch: rows as `spec_ref.columnar.schemas.written_rows` makes them.

    Returns:
        The indexes of the rows, sorted.
    """
    keys: list[Any] = []
    directions: list[Any] = []
    for field in order.fields:
        column = schema.find(field.sources[0])
        if isinstance(field.transform, Void) or column is None:
            continue
        array = _key(storage_array(transform_array(field.transform, column.type, column_array(batch, column))))
        if array.null_count:
            # Each sort field places nulls first or last, whatever its direction; Arrow has one placement for all keys.
            keys.append(array.is_null().cast(pa.int8()))
            directions.append("descending" if field.null_order is NullOrder.NULLS_FIRST else "ascending")
        keys.append(array)
        directions.append("ascending" if field.direction is SortDirection.ASC else "descending")
    if not keys:
        return pa.array(np.arange(batch.num_rows))
    names = [str(place) for place in range(len(keys))]
    return pc.sort_indices(pa.table(keys, names), sort_keys=list(zip(names, directions, strict=True)))


def sort_batch(order: SortOrder, schema: Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Sort the rows of a batch.

    Args:
        order: an order for which `spec_ref.sorting.comparator.is_sortable` is true.
        schema: the schema of the batch.
        batch: rows as `spec_ref.columnar.schemas.written_rows` makes them.

    Returns:
        The sorted batch.
    """
    return batch.take(sort_indices(order, schema, batch))


def compare_neighbours(field: SortField, array: Any) -> Any:
    """Compare each value of a column with the next one: the kernel for `spec_ref.sorting.comparator.compare_values`.

    Args:
        field: a field of a sort order.
        array: an Arrow array of sort values that Arrow compares as the spec sorts: no floats, and not of the type bool.

    Returns:
        The results for all values but the last, as 8-bit integers.
    """
    pairs = max(len(array) - 1, 0)
    if pa.types.is_null(array.type):
        return np.zeros(pairs, np.int8)
    one, two = array.slice(0, pairs), array.slice(1)
    kernels: Any = pc
    above, below = (
        kernels.fill_null(compare(one, two), fill_value=False).to_numpy(zero_copy_only=False)
        for compare in (kernels.greater, kernels.less)
    )
    results = above.astype(np.int8) - below.astype(np.int8)
    if field.direction is SortDirection.DESC:
        results = -results
    if array.null_count:
        null = array.is_null().to_numpy(zero_copy_only=False)
        first, second = null[:-1].astype(np.int8), null[1:].astype(np.int8)
        of_nulls = second - first if field.null_order is NullOrder.NULLS_FIRST else first - second
        results = np.where(null[:-1] | null[1:], of_nulls, results)
    return np.asarray(results, np.int8)


def _key(array: Any) -> Any:
    """Convert values so that Arrow compares them as the spec sorts."""
    if pa.types.is_floating(array.type):
        return pa.array(float_sort_keys(array.fill_null(0.0)), mask=np.asarray(array.is_null()))
    return array.cast(pa.int8()) if pa.types.is_boolean(array.type) else array


def float_sort_keys(array: Any) -> Any:
    """Compute `float_sort_key` for the values of an array.

    Args:
        array: an Arrow array of floats or doubles without nulls.

    Returns:
        64-bit integers, one per value.
    """
    values = np.asarray(array.cast(pa.float64()))
    values = np.where(np.isnan(values), np.copysign(np.nan, values), values)
    bits = values.view(np.int64)
    return np.where(bits >= 0, bits, -(bits & _MAGNITUDE) - 1)
