"""Sort Arrow batches by a sort order (Sorting): the kernel for `spec_ref.sorting.comparator.compare_rows`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.manifests.computed_metrics import storage_of
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.columnar.schemas.written_rows import column_array
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema
from spec_ref.sorting.order import NullOrder, SortDirection, SortOrder

_MAGNITUDE = np.int64(0x7FFF_FFFF_FFFF_FFFF)


def sort_indices(order: SortOrder, schema: Schema, batch: pa.RecordBatch) -> Any:
    """Find the order of the rows of a batch by a sort order; equal rows keep their order (SRT003 to SRT005).

    Args:
        order: an order for which `spec_ref.sorting.comparator.sortable` is true.
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
        array = _key(storage_of(transform_array(field.transform, column.type, column_array(batch, column))))
        if array.null_count:
            # The direction does not turn the nulls round, and Arrow has one place of nulls for all keys.
            keys.append(array.is_null().cast(pa.int8()))
            directions.append("descending" if field.null_order is NullOrder.NULLS_FIRST else "ascending")
        keys.append(array)
        directions.append("ascending" if field.direction is SortDirection.ASC else "descending")
    if not keys:
        return pa.array(np.arange(batch.num_rows))
    names = [str(place) for place in range(len(keys))]
    return pc.sort_indices(pa.table(keys, names), sort_keys=list(zip(names, directions, strict=True)))


def sorted_batch(order: SortOrder, schema: Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Sort the rows of a batch.

    Args:
        order: an order for which `spec_ref.sorting.comparator.sortable` is true.
        schema: the schema of the batch.
        batch: rows as `spec_ref.columnar.schemas.written_rows` makes them.

    Returns:
        The sorted batch.
    """
    return batch.take(sort_indices(order, schema, batch))


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
