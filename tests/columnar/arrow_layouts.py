"""Arrow arrays with the same values in any other layout that Arrow permits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

WIDER: dict[Any, list[Any]] = {
    pa.string(): [pa.string(), pa.large_string(), pa.string_view()],
    pa.binary(): [pa.binary(), pa.large_binary(), pa.binary_view()],
}


def dictionary_encoded(array: Any) -> Any:
    """Return the array dictionary-encoded; the dictionary has all values if Arrow cannot find the distinct ones."""
    try:
        return array.dictionary_encode()
    except pa.ArrowNotImplementedError:
        return pa.DictionaryArray.from_arrays(pa.array(range(len(array)), pa.int32()), array)


AWKWARD_FLOATS = st.sampled_from([None, math.nan, -math.nan, -0.0, 0.0, -1.5, 1.5])
"""Null, NaNs of different bits, both zeros, and a number of each sign."""


@st.composite
def from_a_pool(draw: st.DrawFn, elements: Any, max_size: int, min_size: int = 0) -> Any:
    """A list of few different elements, each of which may come several times, in any order."""
    pool = draw(st.lists(elements, min_size=1, max_size=4))
    return draw(st.lists(st.sampled_from(pool), min_size=min_size, max_size=max_size))


@st.composite
def layouts(
    draw: st.DrawFn, array: Any, *, dictionary: bool = False, wider: bool = False, chunked: bool = False
) -> Any:
    """An array with the same values: other values behind its nulls, and around it in its buffers.

    ``dictionary``, ``wider`` and ``chunked`` permit dictionaries, offsets of 64 bits and views, and chunks.
    """
    if draw(st.booleans()):
        array = with_values_behind_nulls(array)
    places = st.lists(st.integers(0, len(array) - 1), max_size=3) if len(array) else st.just([])
    before, after = (array.take(pa.array(draw(places), pa.int64())) for _ in range(2))
    array = pa.concat_arrays([before, array, after]).slice(len(before), len(array))
    if wider and array.type in WIDER:
        array = array.cast(draw(st.sampled_from(WIDER[array.type])))
    if wider and pa.types.is_list(array.type) and draw(st.booleans()):
        array = array.cast(pa.large_list(array.type.value_field))
    if dictionary and not pa.types.is_nested(array.type) and draw(st.booleans()):
        array = dictionary_encoded(array)
    if chunked and draw(st.booleans()):
        place = draw(st.integers(0, len(array)))
        array = pa.chunked_array([array[:place], array[place:]], array.type)
    return array


def with_values_behind_nulls(array: Any) -> Any:
    """Return an equal array in whose buffers the nulls have the bytes and the children of another of its values."""
    if array.null_count in (0, len(array)):
        return array
    if isinstance(array, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(array.type, with_values_behind_nulls(array.storage))
    valid = np.asarray(array.is_valid())
    filled: Any = array.take(pa.array(np.where(valid, np.arange(len(array)), np.flatnonzero(valid)[0])))
    bits = pa.array(valid).buffers()[1]
    if pa.types.is_struct(array.type):
        children = [with_values_behind_nulls(filled.field(place)) for place in range(array.type.num_fields)]
        return pa.StructArray.from_buffers(array.type, len(array), [bits], children=children)
    if pa.types.is_map(array.type):
        entries = pa.StructArray.from_arrays(
            [filled.keys, filled.items], fields=[array.type.key_field, array.type.item_field]
        )
        return pa.Array.from_buffers(array.type, len(array), [bits, filled.buffers()[1]], children=[entries])
    if pa.types.is_list(array.type):
        values = with_values_behind_nulls(filled.values)
        return pa.Array.from_buffers(array.type, len(array), [bits, filled.buffers()[1]], children=[values])
    return pa.Array.from_buffers(array.type, len(array), [bits, *filled.buffers()[1:]])


@st.composite
def batch_layouts(draw: st.DrawFn, /, batch: pa.RecordBatch, **options: bool) -> pa.RecordBatch:
    """A batch with the same rows: each column in another layout, and maybe cut out of a larger batch."""
    columns = [draw(layouts(column, **options)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
