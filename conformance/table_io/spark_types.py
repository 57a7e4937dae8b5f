"""Conversion between the Arrow types of tables and those that Spark supports. Nothing here needs Spark."""

from __future__ import annotations

import uuid
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from spec_ref.columnar.arrow_types import validity_buffer
from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import UUID
from spec_ref.data_types.values import value_requirement

Array: TypeAlias = Any
ArrowType: TypeAlias = Any


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema of batches for Spark."""
    return pa.schema([_field(field) for field in schema])


def _field(field: Any) -> Any:
    type_ = spark_type(field.type)
    return pa.field(field.name, type_, nullable=field.nullable or pa.types.is_null(type_))


def spark_type(type_: ArrowType) -> ArrowType:
    """Return the Arrow type of values for Spark; see `conformance.table_io.spark`."""
    if isinstance(type_, pa.UuidType):
        return pa.string()
    if pa.types.is_fixed_size_binary(type_):
        return pa.binary()
    if pa.types.is_time(type_) or (pa.types.is_timestamp(type_) and type_.unit == "ns"):
        return pa.int64()
    if pa.types.is_struct(type_):
        if type_.num_fields == 0:  # the partition of an unpartitioned table, which Spark has no type for
            return pa.null()
        return pa.struct([field.with_type(spark_type(field.type)) for field in type_])
    if pa.types.is_map(type_):
        return pa.map_(*(field.with_type(spark_type(field.type)) for field in (type_.key_field, type_.item_field)))
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(spark_type(type_.value_type)))
    return type_


def spark_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Convert a batch to `spark_schema`."""
    schema = spark_schema(batch.schema)
    if schema == batch.schema:
        return batch
    return pa.RecordBatch.from_arrays([_array(column) for column in batch.columns], schema=schema)


def _array(array: Array) -> Array:
    target = spark_type(array.type)
    if target == array.type:
        return array
    if pa.types.is_null(target):
        return pa.nulls(len(array))
    if isinstance(array.type, pa.UuidType):
        texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in array.storage.to_pylist()]
        return pa.array(texts, pa.string())
    if pa.types.is_struct(array.type):
        children = [_array(array.field(place)) for place in range(array.type.num_fields)]
        return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=children)
    if pa.types.is_list(array.type) or pa.types.is_map(array.type):
        offsets = np.array(array.offsets)
        first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        buffers = [validity_buffer(array), pa.array(offsets - first).buffers()[1]]
        if pa.types.is_list(array.type):
            inner = _array(array.values.slice(first, count))
        else:
            entries = pa.struct([target.key_field, target.item_field])
            parts = [_array(part.slice(first, count)) for part in (array.keys, array.items)]
            inner = pa.StructArray.from_buffers(entries, count, [None], children=parts)
        return pa.Array.from_buffers(target, len(array), buffers, children=[inner])
    return array.cast(target)


def table_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Convert a batch from Spark to the Arrow types of a table.

    Args:
        batch: columns by name.
        schema: the schema of the table; columns that it does not have, and types other than those of `spark_type`, are
            left as they are.
    """
    arrays = []
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        place = schema.get_field_index(name)
        arrays.append(array if place < 0 else _to_table_type(array, schema.field(place).type))
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _to_table_type(array: Array, target: ArrowType) -> Array:
    if array.type == target:
        return array
    if isinstance(target, pa.UuidType) and pa.types.is_string(array.type):
        values = [None if text is None else _uuid(text) for text in array.to_pylist()]
        return pa.ExtensionArray.from_storage(target, pa.array(values, pa.binary(16)))
    if pa.types.is_int64(array.type) and (pa.types.is_time(target) or pa.types.is_timestamp(target)):
        return array.cast(target)
    if pa.types.is_struct(array.type) and pa.types.is_struct(target):
        names = [field.name for field in array.type]
        known = {field.name: field.type for field in target}
        children = [
            _to_table_type(array.field(place), known.get(name, array.type.field(place).type))
            for place, name in enumerate(names)
        ]
        made: Any = pa.struct([pa.field(name, child.type) for name, child in zip(names, children, strict=True)])
        return pa.StructArray.from_buffers(made, len(array), [validity_buffer(array)], children=children)
    if pa.types.is_list(array.type) and pa.types.is_list(target):
        values = _to_table_type(array.values, target.value_type)
        made = pa.list_(pa.field("element", values.type))
        return pa.Array.from_buffers(
            made, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[values]
        )
    if pa.types.is_map(array.type) and pa.types.is_map(target):
        keys, items = _to_table_type(array.keys, target.key_type), _to_table_type(array.items, target.item_type)
        entries = pa.struct([pa.field("key", keys.type, nullable=False), pa.field("value", items.type)])
        inner = pa.StructArray.from_buffers(entries, len(keys), [None], children=[keys, items])
        arrow: Any = pa
        made = arrow.map_(entries.field(0), entries.field(1))
        return pa.Array.from_buffers(
            made, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[inner]
        )
    return array


def _uuid(text: str) -> bytes:
    try:
        return uuid.UUID(text).bytes
    except ValueError:
        raise spec_error(value_requirement(UUID), "the value is not a valid uuid", found=text) from None
