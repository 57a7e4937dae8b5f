"""Adapters pass values to engines with the meaning of the exchange form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped_vectors import shipped_vectors

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Unsupported
from conformance.operations.wire import from_exchange, to_exchange, values_equal
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import DATE, TIME, TIMESTAMP, TIMESTAMP_NS, TIMESTAMPTZ, TIMESTAMPTZ_NS, Type
from spec_ref.schemas.type_json import type_from_json

DAY_MICROS = 86_400_000_000
COUNTS: list[tuple[Type, int, int]] = [
    (DATE, -(2**31), 2**31 - 1),
    (TIME, 0, DAY_MICROS - 1),
    (TIMESTAMP, -(2**63), 2**63 - 1),
    (TIMESTAMPTZ, -(2**63), 2**63 - 1),
    (TIMESTAMP_NS, -(2**63), 2**63 - 1),
    (TIMESTAMPTZ_NS, -(2**63), 2**63 - 1),
]


@pytest.mark.parametrize(("type_", "low", "high"), COUNTS, ids=str)
@given(data=st.data())
def test_dates_and_times_are_read_and_written_as_the_reference_does(
    type_: Type, low: int, high: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(low, high) | st.sampled_from([low, high]))
    text = to_exchange(type_, count)
    assert native.read(str(type_), text) == count
    assert native.write(str(type_), count) == text


def values() -> list[tuple[Any, Any]]:
    found = {}
    for vector in shipped_vectors():
        type_ = vector.args.get("type")
        if vector.operation.name in ("hash", "transform", "single-value.encode") and isinstance(type_, str):
            found[str((type_, vector.args["value"]))] = (type_, vector.args["value"])
    return [*found.values()]


def test_every_value_of_the_vectors_is_read_and_written_back_as_the_same_value() -> None:
    checked = set()
    for type_json, value in values():
        try:
            type_ = type_from_json(type_json)
            expected = from_exchange(type_, value)
        except SpecError:
            continue  # an engine may accept what the reference refuses
        if native.kind(type_json) in ("geometry", "geography", "variant", "unknown"):
            continue
        again = from_exchange(type_, native.write(type_json, native.read(type_json, value)))
        assert values_equal(type_, again, expected), (type_json, value)
        checked.add(native.kind(type_json))
    assert checked == {
        *("boolean", "int", "long", "float", "double", "decimal", "date", "time", "timestamp", "timestamptz"),
        *("timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed", "binary"),
    }


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("date", "2017-02-30"),
        ("date", "yesterday"),
        ("time", "24:00:00"),
        ("timestamp", "2017-11-16T22:31:08+00:00"),
        ("timestamptz", "2017-11-16T22:31:08"),
        ("uuid", "f79c3e09"),
        ("binary", "0g"),
        ("int", True),
        ("int", "34"),
        ("boolean", 1),
        ("decimal(9, 2)", "fourteen"),
        ("geometry", "POINT (30 10)"),
        ({"type": "list", "element-id": 1, "element-required": True, "element": "int"}, [1]),
    ],
)
def test_what_stands_for_no_value_counts_neither_for_nor_against_an_engine(type_: Any, value: Any) -> None:
    with pytest.raises(Unsupported):
        native.read(type_, value)


@pytest.mark.parametrize(
    ("type_", "value"), [("int", 2**31), ("fixed[4]", "000102"), ("decimal(2, 1)", "99.9"), ("long", str(2**63))]
)
def test_values_outside_the_type_are_left_to_the_engine(type_: str, value: Any) -> None:
    assert native.read(type_, value) is not None


def test_an_answer_of_another_kind_is_reported_as_it_is() -> None:
    assert native.write("uuid", b"\x01\x02") == "0102"
    assert native.write("time", -1) == -1
    assert native.write("int", 2**40) == 2**40
