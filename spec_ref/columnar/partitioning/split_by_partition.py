"""Split rows by partition: the partition tuple of every row of an Arrow batch, and the rows of each (Partitioning).

The definition is `spec_ref.partitioning.split_by_partition`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.columnar.schemas.written_rows import column_array, with_comparable_floats
from spec_ref.data_types.types import UNKNOWN, Type
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema

MAX_RADIX = 1 << 16
"""Codes below this number are sorted in linear time."""

Codes = npt.NDArray[np.int64]


def split_by_partition(
    spec: PartitionSpec, schema: Schema, batch: pa.RecordBatch
) -> Iterator[tuple[Mapping[int, Any], pa.RecordBatch]]:
    """Split the rows of a batch by partition, keeping their order.

    Floating-point values are distinguished by their bits, except that all NaNs are equal (SCN013).

    Args:
        spec: a spec that `spec_ref.partitioning.split_by_partition.check_spec` accepts.
        schema: the schema of the batch.
        batch: rows as `spec_ref.columnar.schemas.written_rows` makes them.

    Yields:
        The values of the partition tuple by partition field id, and the rows of the partition.

    Raises:
        SpecError: the code of a transform that has no result for a value (contradiction C6).
    """
    if not batch.num_rows:
        return
    results = partition_columns(spec, schema, batch)
    codes, count = _codes([array for _, _, array in results], batch.num_rows)
    small: Any = codes.astype(np.uint16 if count <= MAX_RADIX else np.int64, copy=False)
    if (small[1:] >= small[:-1]).all():
        order, rows = None, batch
    else:
        order = np.argsort(small, kind="stable")
        rows = batch.take(order)
    counts = np.bincount(codes, minlength=count)
    present = np.flatnonzero(counts)
    ends = np.cumsum(counts[present])
    starts = ends - counts[present]
    firsts = pa.array(starts if order is None else order[starts])
    columns = [(field_id, to_python_values(type_, array.take(firsts))) for field_id, type_, array in results]
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        partition = {field_id: values[place] for field_id, values in columns}
        yield partition, rows.slice(start, end - start)


def partition_columns(spec: PartitionSpec, schema: Schema, batch: pa.RecordBatch) -> list[tuple[int, Type, Any]]:
    """Compute the partition values of the rows of a batch.

    The batch need not have the sources of void fields.

    Args:
        spec: the partition spec.
        schema: the schema of the rows.
        batch: the rows.

    Returns:
        The id, the type and the values of every partition field.
    """
    found: list[tuple[int, Type, Any]] = []
    for field in spec.fields:
        if isinstance(field.transform, Void):
            found.append((field.field_id, UNKNOWN, pa.nulls(batch.num_rows)))
            continue
        column = schema.find(field.sources[0])
        assert column is not None
        array = transform_array(field.transform, column.type, column_array(batch, column))
        found.append((field.field_id, field.transform.result_type(column.type), storage_array(array)))
    return found


def _codes(arrays: list[Any], rows: int) -> tuple[Codes, int]:
    """Compute a code for each row, equal for rows with equal values in all columns, and the number of codes."""
    codes, count = np.zeros(rows, np.int64), 1
    for array in arrays:
        encoded = with_comparable_floats(array).dictionary_encode(null_encoding="encode")
        own = np.asarray(encoded.indices).astype(np.int64)
        codes, count = codes * len(encoded.dictionary) + own, count * len(encoded.dictionary)
        if count > MAX_RADIX:
            encoded = pa.array(codes).dictionary_encode()
            codes, count = np.asarray(encoded.indices).astype(np.int64), len(encoded.dictionary)
    return codes, count
