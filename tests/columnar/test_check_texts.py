"""Strings in Arrow arrays are checked by their bytes, at any level of the type."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from arrow_layouts import layouts
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.columnar.arrow_types import check_texts
from spec_ref.core.errors import SpecError

VALUES = st.lists(st.none() | st.sampled_from([b"", b"a", "é\U0001f600".encode(), b"\xff", b"\xed\xa0\x80", b"\xc3"]))


def _text(values: list[bytes | None]) -> Any:
    return pa.array(values, pa.binary()).view(pa.string())


def _lists(values: list[bytes | None]) -> Any:
    return pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), _text(values))


def _maps(keys: Any, items: Any) -> Any:
    return pa.MapArray.from_arrays(pa.array(range(len(keys) + 1), pa.int32()), keys, items)


SHAPES: dict[str, Any] = {
    "string": _text,
    "large string": lambda values: pa.array(values, pa.large_binary()).view(pa.large_string()),
    "view": lambda values: pa.array(values, pa.binary_view()).view(pa.string_view()),
    "dictionary": lambda values: _text(values).dictionary_encode(),
    "list": _lists,
    "struct": lambda values: pa.StructArray.from_arrays([_text(values)], ["s"]),
    "list in struct": lambda values: pa.StructArray.from_arrays([_lists(values)], ["l"]),
    "values of a map": lambda values: _maps(pa.array(range(len(values)), pa.int64()), _text(values)),
    "keys of a map": lambda values: _maps(
        _text([value or b"" for value in values]), pa.array(range(len(values)), pa.int64())
    ),
}


def _is_text(value: bytes | None) -> bool:
    try:
        (value or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


@given(values=VALUES, shape=st.sampled_from(sorted(SHAPES)), cut=st.integers(0, 5), data=st.data())
def test_a_string_that_is_not_utf8_is_found_in_each_shape(
    values: list[bytes | None], shape: str, cut: int, data: st.DataObject
) -> None:
    array = SHAPES[shape](values).slice(cut)
    if shape == "string" and all(map(_is_text, values)):
        array = data.draw(layouts(array))
    if not all(map(_is_text, values[cut:])):
        with pytest.raises(SpecError) as refused:
            check_texts(array)
        assert refused.value.violation.requirement == "TYP021"
    else:
        check_texts(array)


@pytest.mark.parametrize("outer", ["list", "map"])
def test_nulls_of_lists_of_values_of_extension_types_are_read(outer: str) -> None:
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))
    inner = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), uuids)
    values = pa.ListArray.from_arrays(pa.array([0, 1, 1], pa.int32()), inner, mask=pa.array([False, True]))
    if outer == "map":
        values = _maps(pa.array(["a", "b"]), values)
    check_texts(values)
    check_texts(values.slice(1))
