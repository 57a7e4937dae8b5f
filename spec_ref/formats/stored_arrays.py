"""Arrays of the schema's types as the Arrow types that a file format is written from (Appendix A)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from spec_ref.arrow_types import validity
from spec_ref.schemas.projection_columnar import ranges
from spec_ref.schemas.types import UNKNOWN, ListType, MapType, StructType, Type


def stored_batch(struct: StructType, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch in the types of a file's Arrow schema, without the columns of type unknown, which files do not have.

    Args:
        struct: the columns of the batch, in their order.
        batch: in the types of `spec_ref.schemas.projection_columnar`.
        schema: that of the file.
    """
    kept = [(field, array) for field, array in zip(struct.fields, batch.columns, strict=True) if field.type != UNKNOWN]
    arrays = [stored(field.type, array, to.type) for (field, array), to in zip(kept, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def stored(type_: Type, array: Any, target: Any) -> Any:
    """An array of a type as one of the Arrow type that is written."""
    if array.type == target:
        return array
    match type_:
        case StructType(fields):
            kept = [(field, place) for place, field in enumerate(fields) if field.type != UNKNOWN]
            children = [
                stored(field.type, array.field(place), target.field(at).type) for at, (field, place) in enumerate(kept)
            ]
            return pa.StructArray.from_buffers(target, len(array), [validity(array)], children=children)
        case ListType(_, element):
            offsets, first, count = ranges(array)
            values = stored(element, array.values.slice(first, count), target.value_type)
            return pa.ListArray.from_buffers(target, len(array), [validity(array), offsets], children=[values])
        case MapType(_, key, _, value):
            offsets, first, count = ranges(array)
            parts = [
                stored(key, array.keys.slice(first, count), target.key_type),
                stored(value, array.items.slice(first, count), target.item_type),
            ]
            entries = pa.struct([target.key_field, target.item_field])
            pairs = pa.StructArray.from_buffers(entries, count, [None], children=parts)
            return pa.Array.from_buffers(target, len(array), [validity(array), offsets], children=[pairs])
        case _:
            return _leaf(array, target)


def _leaf(array: Any, target: Any) -> Any:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if isinstance(target, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(target, array)
    return array.cast(target)
