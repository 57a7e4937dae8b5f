"""Metrics of ORC files (Data File Fields; Appendix A, ORC).

Counts and bounds are computed from the values; sizes are those of the streams of the stripes, and files can be split at
stripes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc

from spec_ref.columnar.manifests.computed_metrics import compute_batch_metrics
from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve
from spec_ref.data_files.orc_footer import Content, check_types, read_stripes
from spec_ref.data_files.orc_schema import child_fields, struct_from_orc
from spec_ref.data_types.types import ListType, MapType, NestedField, StructType, Type
from spec_ref.manifests.computed_metrics import TRUNCATED, FileMetrics, MetricsMode
from spec_ref.schemas.name_mapping import MappedField


def orc_metrics(
    data: bytes, mode: MetricsMode = TRUNCATED, mapping: Sequence[MappedField] | None = None
) -> FileMetrics:
    """Compute the metrics of a file, as its entry in a manifest has them (DFL012 to DFL017).

    Args:
        data: the bytes of the file.
        mode: the metrics to keep for every column.
        mapping: the table's name mapping, for a file without ids; None if it has none.

    Returns:
        The metrics.

    Raises:
        SpecError: a column has no Iceberg type (`struct_from_orc`); ORC008 for a file that is damaged, or has
            timestamps outside of 1677 to 2262, which pyarrow does not read.
    """
    read_stripes(data)
    check_types(io.BytesIO(data))
    try:
        file = orc.ORCFile(io.BytesIO(data))
        struct = struct_from_orc(file.schema, mapping)
        made = compute_batch_metrics(struct, map(file.read_stripe, range(file.nstripes)), mode)
    except (pa.ArrowException, OSError) as error:
        raise spec_error("ORC008", f"the file cannot be read: {error}") from error
    sizes, offsets = orc_layout(data, file.schema, struct)
    return evolve(made, file_size_in_bytes=len(data), column_sizes=sizes if mode.counts else {}, split_offsets=offsets)


def orc_layout(data: Content, schema: pa.Schema, struct: StructType) -> tuple[dict[int, int], tuple[int, ...]]:
    """Find the size of each column, and the split offsets.

    Args:
        data: the content of the file, or the parts with its footers.
        schema: the Arrow schema of the file.
        struct: its columns.

    Returns:
        The number of bytes of each column by its id, and the offsets of the stripes, ascending.

    Raises:
        SpecError: ORC008 if the file is damaged.
    """
    stripes = read_stripes(data)
    sizes: dict[int, int] = {}
    for column, field_id in _columns(schema, struct):
        size = sum(stripe.column_sizes.get(column, 0) for stripe in stripes)
        sizes[field_id] = sizes.get(field_id, 0) + size
    return sizes, tuple(sorted(stripe.offset for stripe in stripes))


def _columns(schema: pa.Schema, struct: StructType) -> Iterator[tuple[int, int]]:
    """Find the ORC column ids with their field ids; the root has column id 0."""
    yield from _child_column_ids(list(schema), struct, None, 1)


def _child_column_ids(
    fields: Sequence[Any], type_: Type | None, parent_id: int | None, column: int
) -> Iterator[tuple[int, int]]:
    """Walk the children of a type; ``parent_id`` is the id of their parent, for children without ids."""
    known = _fields_by_name(type_)
    for place, field in enumerate(fields):
        inner = known.get(field.name) if isinstance(type_, StructType) else known.get(str(place))
        field_id = inner.id if inner is not None else parent_id
        if field_id is not None:
            yield column, field_id
        yield from _child_column_ids(
            child_fields(field.type), None if inner is None else inner.type, field_id, column + 1
        )
        column += count_orc_columns(field)


def _fields_by_name(type_: Type | None) -> dict[str, NestedField]:
    match type_:
        case StructType(fields):
            return {field.name: field for field in fields}
        case ListType(element_id, element):
            return {"0": NestedField(element_id, "element", required=False, type=element)}
        case MapType(key_id, key, value_id, value):
            parts = (
                NestedField(key_id, "key", required=True, type=key),
                NestedField(value_id, "value", required=False, type=value),
            )
            return {str(place): part for place, part in enumerate(parts)}
        case _:
            return {}


def count_orc_columns(field: Any) -> int:
    """Count the ORC columns of a field.

    Args:
        field: an Arrow field.

    Returns:
        The number of columns, including that of the field itself.
    """
    return 1 + sum(map(count_orc_columns, child_fields(field.type)))
