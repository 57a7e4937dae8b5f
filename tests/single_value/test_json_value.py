import json
import math
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    TIMESTAMPTZ_NS,
    UNKNOWN,
    UUID,
    VARIANT,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.data_types.values import value_key
from spec_ref.single_value.json_value import from_json, to_json
from tools.value_strategies import types, values

STRUCT = StructType((NestedField(1, "a", True, INT), NestedField(2, "b", False, STRING)))
MAP = MapType(1, STRING, 2, INT, value_required=False)

EXAMPLES = [
    (BOOLEAN, True),
    (INT, 34),
    (LONG, 34),
    (FLOAT, 1.0),
    (DOUBLE, 1.0),
    (DecimalType(9, 2), "14.20"),
    (DecimalType(9, -20), "2E+20"),
    (DATE, "2017-11-16"),
    (TIME, "22:31:08.123456"),
    (TIMESTAMP, "2017-11-16T22:31:08.123456"),
    (TIMESTAMPTZ, "2017-11-16T22:31:08.123456+00:00"),
    (TIMESTAMP_NS, "2017-11-16T22:31:08.123456789"),
    (TIMESTAMPTZ_NS, "2017-11-16T22:31:08.123456789+00:00"),
    (STRING, "iceberg"),
    (UUID, "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    (FixedType(4), "000102ff"),
    (BINARY, "000102ff"),
    (STRUCT, {"1": 1, "2": "bar"}),
    (ListType(1, INT), [1, 2, 3]),
    (MAP, {"keys": ["a", "b"], "values": [1, 2]}),
    (GeometryType(), "POINT (30 10)"),
    (GeographyType(), "POINT (30 10)"),
]


@pytest.mark.parametrize(("type_", "example"), EXAMPLES, ids=lambda value: str(value))
def test_the_examples_of_appendix_d_are_read_and_written_as_they_stand(type_, example) -> None:
    assert to_json(type_, from_json(type_, example)) == example


@pytest.mark.parametrize(
    ("type_", "example", "expected"),
    [
        (DATE, "2017-11-16", 17486),
        (DATE, "0000-02-29", -719469),
        (DATE, "+10000-01-01", 2932897),
        (DATE, "-0001-12-31", -719529),
        (TIME, "22:31:08.123456", 81068123456),
        (TIMESTAMP, "2017-11-16T22:31:08.123456", 1510871468123456),
        (TIMESTAMPTZ_NS, "2017-11-16T22:31:08.123456789+00:00", 1510871468123456789),
        (TIMESTAMP, "1969-12-31T23:59:59.999999", -1),
        (TIMESTAMP_NS, "1969-12-31T23:59:59.999999999", -1),
        (DecimalType(9, -20), "2E+20", Decimal("2E+20")),
        (DecimalType(9, 0), "-7", Decimal(-7)),
        (DecimalType(5, 10), "0.0000012345", Decimal("0.0000012345")),
    ],
    ids=lambda value: str(value),
)
def test_what_a_text_means(type_, example, expected) -> None:
    value = from_json(type_, example)
    assert value == expected
    assert from_json(type_, to_json(type_, value)) == expected


@pytest.mark.parametrize(
    ("type_", "given_", "written"),
    [
        # contradiction B34: what others write shorter or in upper case is read; what is written is the example's form
        (TIME, "22:31:08", "22:31:08.000000"),
        (TIME, "22:31:08.1", "22:31:08.100000"),
        (TIMESTAMP, "2017-11-16T22:31:08.12", "2017-11-16T22:31:08.120000"),
        (TIMESTAMPTZ, "2017-11-16T22:31:08+00:00", "2017-11-16T22:31:08.000000+00:00"),
        (TIMESTAMP_NS, "2017-11-16T22:31:08.1234567", "2017-11-16T22:31:08.123456700"),
        (BINARY, "000102FF", "000102ff"),
        (UUID, "F79C3E09-677C-4BBD-A479-3F349CB785E7", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
        (DOUBLE, 1, 1.0),
        (FLOAT, 0.1, 0.10000000149011612),
        (STRUCT, {"1": 1}, {"1": 1, "2": None}),
        (DecimalType(3, 1), "-0.0", "0.0"),
    ],
    ids=lambda value: str(value),
)
def test_other_forms_are_read_and_written_as_the_examples(type_, given_, written) -> None:
    again = to_json(type_, from_json(type_, given_))
    assert (again, type(again)) == (written, type(written))


@given(st.data())
def test_a_value_comes_back_from_its_json(data: st.DataObject) -> None:
    type_ = data.draw(types())
    value = data.draw(values(type_))
    try:
        text = json.dumps(to_json(type_, value), allow_nan=False)
    except SpecError as error:
        assert error.violation.requirement in ("SVJ001", "SVJ010")  # noqa: PT017  NaN, or a variant
        assume(False)
    assert value_key(type_, from_json(type_, json.loads(text))) == value_key(type_, value)


@pytest.mark.parametrize(
    ("type_", "bad"),
    [
        (BOOLEAN, 1),
        (BOOLEAN, "true"),
        (INT, True),
        (INT, 1.0),
        (INT, "1"),
        (INT, 2147483648),
        (INT, -2147483649),
        (LONG, 2**63),
        (LONG, 10**5000),
        (LONG, "34"),
        (FLOAT, True),
        (FLOAT, "1.0"),
        (FLOAT, 1e39),
        (DOUBLE, 10**400),
        (DOUBLE, math.inf),
        (DOUBLE, math.nan),
        (DecimalType(9, 2), 14.2),
        (DecimalType(9, 2), "14.2"),
        (DecimalType(9, 2), "14.200"),
        (DecimalType(9, 2), "14"),
        (DecimalType(9, 2), "+14.20"),
        (DecimalType(9, 2), "014.20"),
        (DecimalType(9, 2), ".20"),
        (DecimalType(9, 2), "1.420E+1"),
        (DecimalType(9, 2), " 14.20"),
        (DecimalType(9, 2), "14.20\n"),
        (DecimalType(9, 2), "١.٢٠"),
        (DecimalType(2, 1), "99.9"),
        (DecimalType(9, 0), "1" * 100_000),
        (DecimalType(9, -20), "20E+19"),
        (DecimalType(9, -20), "2E20"),
        (DecimalType(9, -20), "200000000000000000000"),
        (DATE, 17486),
        (DATE, "2017-2-1"),
        (DATE, "2017-02-29"),
        (DATE, "20171116"),
        (DATE, "+2017-11-16"),
        (DATE, "10000-01-01"),
        (DATE, "-0000-01-01"),
        (DATE, "-00001-01-01"),
        (DATE, "+5881580-07-12"),
        (DATE, "2017-11-16T00:00:00"),
        (TIME, "24:00:00"),
        (TIME, "22:31:60"),
        (TIME, "22:60:00"),
        (TIME, "22:31"),
        (TIME, "22:31:08."),
        (TIME, "22:31:08.1234567"),
        (TIME, "22:31:08,1"),
        (TIMESTAMP, "2017-11-16 22:31:08"),
        (TIMESTAMP, "2017-11-16t22:31:08"),
        (TIMESTAMP, "2017-11-16T22:31:08Z"),
        (TIMESTAMP, "2017-11-16T22:31:08+00:00"),
        (TIMESTAMP, "2017-11-16T22:31:08.1234567"),
        (TIMESTAMP, "+294247-01-10T04:00:54.775808"),
        (TIMESTAMPTZ, "2017-11-16T22:31:08"),
        (TIMESTAMPTZ, "2017-11-16T22:31:08Z"),
        (TIMESTAMPTZ, "2017-11-16T22:31:08-00:00"),
        (TIMESTAMPTZ, "2017-11-16T22:31:08+0000"),
        (TIMESTAMPTZ, "2017-11-16T14:31:08-08:00"),
        (TIMESTAMP_NS, "2017-11-16T22:31:08.1234567890"),
        (TIMESTAMP_NS, "2262-04-11T23:47:16.854775808"),
        (TIMESTAMPTZ_NS, "1677-09-21T00:12:43.145224191+00:00"),
        (STRING, 1),
        (STRING, "\ud800"),
        (UUID, "f79c3e09677c4bbda4793f349cb785e7"),
        (UUID, "{f79c3e09-677c-4bbd-a479-3f349cb785e7}"),
        (UUID, 1),
        (FixedType(4), "000102"),
        (BINARY, "0"),
        (BINARY, "00 01"),
        (BINARY, "0x00"),
        (BINARY, "gg"),
        (UNKNOWN, 1),
        (VARIANT, 1),
        (GeometryType(), "POINT"),
        (GeometryType(), {"x": 1}),
        (STRUCT, [1, "bar"]),
        (STRUCT, {"2": "bar"}),
        (STRUCT, {"1": None}),
        (STRUCT, {"1": 1, "3": 1}),
        (STRUCT, {"01": 1}),
        (STRUCT, {"a": 1, "b": "bar"}),
        (ListType(1, INT), {"0": 1}),
        (ListType(1, INT), [1, None]),
        (MAP, {"a": 1}),
        (MAP, {"keys": ["a"]}),
        (MAP, {"keys": ["a"], "values": [1, 2]}),
        (MAP, {"keys": ["a"], "values": [1], "more": []}),
        (MAP, {"keys": ["a", "a"], "values": [1, 2]}),
        (MAP, {"keys": [None], "values": [1]}),
        (MAP, {"keys": "ab", "values": [1, 2]}),
        (MapType(1, STRING, 2, INT), {"keys": ["a"], "values": [None]}),
    ],
    ids=lambda value: (str(value) if not isinstance(value, int) else f"int{value % 1000}")[:40],
)
def test_what_is_not_of_the_form_is_refused(type_, bad) -> None:
    with pytest.raises(SpecError):
        from_json(type_, bad)


@pytest.mark.parametrize(
    ("type_", "first", "last"),
    [
        # The ends of int64 as java.time.Instant prints them.
        (TIMESTAMP, "-290308-12-21T19:59:05.224192", "+294247-01-10T04:00:54.775807"),
        (TIMESTAMP_NS, "1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"),
    ],
    ids=str,
)
def test_timestamps_reach_the_ends_of_64_bits(type_, first, last) -> None:
    assert from_json(type_, first) == -(2**63)
    assert from_json(type_, last) == 2**63 - 1
    assert to_json(type_, -(2**63)) == first
    assert to_json(type_, 2**63 - 1) == last


def test_null_is_null_of_every_type() -> None:
    for type_ in (INT, UNKNOWN, VARIANT, STRUCT, MAP):
        assert from_json(type_, None) is None
        assert to_json(type_, None) is None


def test_negative_zero_keeps_its_sign() -> None:
    assert math.copysign(1, from_json(DOUBLE, json.loads(json.dumps(to_json(DOUBLE, -0.0))))) == -1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_has_no_number_for_what_is_not_finite(value: float) -> None:
    with pytest.raises(SpecError, match="SVJ001"):
        to_json(DOUBLE, value)


def test_an_error_names_the_place_in_the_json() -> None:
    with pytest.raises(SpecError) as caught:
        from_json(MapType(1, STRING, 2, ListType(3, STRUCT)), {"keys": ["a"], "values": [[{"1": "x"}]]})
    assert caught.value.violation.path == "/values/0/0/1"


def test_deep_json_is_refused_without_running_out_of_stack() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SpecError):
        from_json(STRING, deep)
    with pytest.raises(SpecError):
        from_json(INT, [10**5000])
