"""Arrays of the schema's types as the Arrow types that a file format is written from (Appendix A)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import is_valid, validity_buffer
from spec_ref.columnar.schemas.column_projection import list_ranges
from spec_ref.data_types.types import UNKNOWN, ListType, MapType, StructType, Type, VariantType, children


def to_storage_batch(struct: StructType, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Convert a batch to the types of a file's Arrow schema, without columns of type unknown, which files do not store.

    Args:
        struct: the columns of the batch, in order.
        batch: a batch in the types of `spec_ref.columnar.schemas.column_projection`.
        schema: the Arrow schema of the file.

    Returns:
        The converted batch.
    """
    kept = [(field, array) for field, array in zip(struct.fields, batch.columns, strict=True) if field.type != UNKNOWN]
    arrays = [to_storage_array(field.type, array, to.type) for (field, array), to in zip(kept, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def to_storage_array(type_: Type, array: Any, target: Any) -> Any:
    """Convert an array of a type to the Arrow type that is written.

    Args:
        type_: the type of the values.
        array: the values.
        target: the Arrow type to write.

    Returns:
        The converted array.
    """
    if array.type == target and not has_required(type_):
        return array
    match type_:
        case StructType(fields):
            kept = [(field, place) for place, field in enumerate(fields) if field.type != UNKNOWN]
            made = []
            for at, (field, place) in enumerate(kept):
                child = to_storage_array(field.type, array.field(place), target.field(at).type)
                made.append(fill_nulls(child) if field.required else child)
            return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=made)
        case VariantType():
            parts = [fill_nulls(array.field(place)) for place in range(2)]
            return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=parts)
        case ListType(_, element):
            offsets, first, count = list_ranges(array)
            values = to_storage_array(element, array.values.slice(first, count), target.value_type)
            return pa.ListArray.from_buffers(target, len(array), [validity_buffer(array), offsets], children=[values])
        case MapType(_, key, _, value):
            offsets, first, count = list_ranges(array)
            parts = [
                to_storage_array(key, array.keys.slice(first, count), target.key_type),
                to_storage_array(value, array.items.slice(first, count), target.item_type),
            ]
            entries = pa.struct([target.key_field, target.item_field])
            pairs = pa.StructArray.from_buffers(entries, count, [None], children=parts)
            return pa.Array.from_buffers(target, len(array), [validity_buffer(array), offsets], children=[pairs])
        case _:
            return _leaf(array, target)


def has_required(type_: Type) -> bool:
    """Decide whether a type has a required field in a struct, at any depth.

    Args:
        type_: any type.

    Returns:
        Whether it has.
    """
    own = isinstance(type_, StructType) and any(field.required for field in type_.fields)
    return own or any(has_required(child) for _, child in children(type_))


def fill_nulls(array: Any) -> Any:
    """Replace the nulls of a required field, which is null only where its struct is.

    Arrow's writer of Parquet refuses nulls in required fields without considering the struct that contains them.

    Args:
        array: the values of the field.

    Returns:
        The array, with arbitrary values instead of nulls.
    """
    if array.null_count == 0:
        return array
    if isinstance(array, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(array.type, fill_nulls(array.storage))
    if pa.types.is_struct(array.type):
        parts = [array.field(place) for place in range(array.type.num_fields)]
        return pa.StructArray.from_buffers(array.type, len(array), [None], children=parts)
    if pa.types.is_list(array.type):
        offsets, first, count = list_ranges(array)
        values = array.values.slice(first, count)
        return pa.ListArray.from_buffers(array.type, len(array), [None, offsets], children=[values])
    if pa.types.is_map(array.type):
        offsets, first, count = list_ranges(array)
        entries = pa.struct([array.type.key_field, array.type.item_field])
        parts = [array.keys.slice(first, count), array.items.slice(first, count)]
        pairs = pa.StructArray.from_buffers(entries, count, [None], children=parts)
        return pa.Array.from_buffers(array.type, len(array), [None, offsets], children=[pairs])
    return pa.Array.from_buffers(array.type, len(array), [None, *array.buffers()[1:]], offset=array.offset)


def propagate_nulls(array: Any, parent_valid: Any = None) -> Any:
    """Set an array to null wherever a struct that contains it is null, at every depth.

    Arrow's writer of ORC stores the values below a null struct inside another struct, although they do not belong
    there: all values after them would be read in the place of others.

    Args:
        array: an array without extension types at any depth.
        parent_valid: numpy booleans, false where a containing struct is null; None if no such struct is null.

    Returns:
        The array.
    """
    valid = is_valid(array)
    if parent_valid is not None:
        valid = parent_valid if valid is None else valid & parent_valid
    bitmap = None if valid is None else pa.array(valid).buffers()[1]
    if pa.types.is_struct(array.type):
        parts = [propagate_nulls(array.field(place), valid) for place in range(array.type.num_fields)]
        return pa.StructArray.from_buffers(array.type, len(array), [bitmap], children=parts)
    if pa.types.is_list(array.type) or pa.types.is_map(array.type):
        offsets, first, count = list_ranges(array)
        values = array.values.slice(first, count)
        if valid is not None:
            starts = np.frombuffer(offsets, np.int32, len(array) + 1)
            lengths = starts[1:] - starts[:-1]
            values = values.filter(pa.array(np.repeat(valid, lengths)))
            ends = np.append(0, np.cumsum(lengths * valid)).astype(np.int32)
            offsets = pa.array(ends).buffers()[1]
        if pa.types.is_map(array.type):
            entries = [propagate_nulls(values.field(place)) for place in range(2)]
            pairs = pa.StructArray.from_buffers(values.type, len(values), [None], children=entries)
            return pa.Array.from_buffers(array.type, len(array), [bitmap, offsets], children=[pairs])
        return pa.ListArray.from_buffers(array.type, len(array), [bitmap, offsets], children=[propagate_nulls(values)])
    return array if parent_valid is None else pc.if_else(pa.array(parent_valid), array, pa.scalar(None, array.type))


def _leaf(array: Any, target: Any) -> Any:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array.cast(target)
