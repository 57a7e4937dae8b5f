import datetime
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spec_ref.core.decimals import unscaled_value
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
    StructType,
    Type,
)
from spec_ref.data_types.values import value_key
from spec_ref.partitioning.transforms import (
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Truncate,
    UnknownTransform,
    Void,
    Year,
    parse_transform,
)
from spec_ref.single_value.json_value import from_json, to_json
from tools.value_strategies import primitive_types, types, values

MONEY = DecimalType(9, 2)
TIMESTAMPS = (TIMESTAMP, TIMESTAMPTZ, TIMESTAMP_NS, TIMESTAMPTZ_NS)
DATES = (DATE, *TIMESTAMPS)
ALL = (
    UNKNOWN,
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    MONEY,
    DATE,
    TIME,
    *TIMESTAMPS,
    STRING,
    UUID,
    FixedType(4),
    BINARY,
    GeometryType(),
    GeographyType(),
    VARIANT,
    StructType(()),
    ListType(1, INT),
    MapType(1, INT, 2, INT),
)

ALLOWED: dict[Any, tuple[Type, ...]] = {
    Identity(): ALL[: ALL.index(GeometryType())],
    Bucket(16): (INT, LONG, MONEY, DATE, TIME, *TIMESTAMPS, STRING, UUID, FixedType(4), BINARY),
    Truncate(3): (INT, LONG, MONEY, STRING, BINARY),
    Year(): DATES,
    Month(): DATES,
    Day(): DATES,
    Hour(): TIMESTAMPS,
    Void(): ALL,
    UnknownTransform("zorder"): (),
}
"""The source types of the table of transforms."""

RESULTS: dict[str, Type] = {"bucket[16]": INT, "year": INT, "month": INT, "day": DATE, "hour": INT}


@pytest.mark.parametrize("source", ALL, ids=str)
@pytest.mark.parametrize("transform", ALLOWED, ids=str)
def test_the_table_of_source_and_result_types(transform, source) -> None:
    if source in ALLOWED[transform]:
        assert transform.result_type(source) == RESULTS.get(str(transform), source)
        assert transform.apply(source, None) is None
    else:
        for call in (lambda: transform.result_type(source), lambda: transform.apply(source, None)):
            with pytest.raises(SpecError):
                call()


VALUES = [
    # the text
    ("truncate[10]", INT, 1, 0),
    ("truncate[10]", INT, -1, -10),
    ("truncate[10]", LONG, 1, 0),
    ("truncate[10]", LONG, -1, -10),
    ("truncate[50]", MONEY, "10.65", "10.50"),
    ("truncate[3]", STRING, "iceberg", "ice"),
    ("truncate[3]", BINARY, "0102030405", "010203"),
    # a multiple of the width stays
    ("truncate[10]", INT, -10, -10),
    ("truncate[10]", MONEY, "-0.01", "-0.10"),
    ("truncate[10]", MONEY, "0.00", "0.00"),
    # the mathematical value where machine arithmetic wraps (contradiction C6)
    ("truncate[2147483647]", INT, 2147483646, 0),
    ("truncate[2000000000]", INT, 1999999999, 0),
    ("truncate[1]", INT, -2147483648, -2147483648),
    # code points, not bytes or UTF-16 units
    ("truncate[3]", STRING, "イロハニ", "イロハ"),
    ("truncate[3]", STRING, "💰💰💰💰", "💰💰💰"),
    ("truncate[1]", STRING, "e\u0301", "e"),
    ("truncate[2147483647]", STRING, "ice", "ice"),
    # buckets of the test values of Appendix B: (hash & 0x7FFFFFFF) % 16
    ("bucket[16]", INT, 34, 3),
    ("bucket[16]", LONG, 34, 3),
    ("bucket[16]", MONEY, "14.20", 3),
    ("bucket[16]", DATE, "2017-11-16", 10),
    ("bucket[16]", TIME, "22:31:08", 3),
    ("bucket[16]", TIMESTAMP, "2017-11-16T22:31:08", 7),
    ("bucket[16]", TIMESTAMP_NS, "2017-11-16T22:31:08.000001001", 6),
    ("bucket[16]", STRING, "iceberg", 9),
    ("bucket[16]", UUID, "f79c3e09-677c-4bbd-a479-3f349cb785e7", 12),
    ("bucket[16]", FixedType(4), "00010203", 9),
    ("bucket[32]", STRING, "💰", 12),
    # falsy values are not null
    ("bucket[16]", INT, 0, 1669671676 % 16),
    ("bucket[16]", STRING, "", 0),
    ("identity", INT, 0, 0),
    ("truncate[3]", STRING, "", ""),
    # 48 years from 1970, as the expressions spec has it
    ("year", DATE, "2018-05-13", 48),
    ("month", DATE, "2018-05-13", 48 * 12 + 4),
    ("day", TIMESTAMP, "2017-11-16T22:31:08", "2017-11-16"),
    ("hour", TIMESTAMP, "2017-11-16T22:31:08", 17486 * 24 + 22),
    # before 1970: the year, month, day and hour that the time lies in
    ("year", DATE, "1969-12-31", -1),
    ("month", DATE, "1969-12-31", -1),
    ("month", DATE, "1969-12-01", -1),
    ("month", DATE, "1969-11-30", -2),
    ("day", DATE, "1969-12-25", "1969-12-25"),
    ("day", TIMESTAMP, "1969-12-31T23:59:59.999999", "1969-12-31"),
    ("day", TIMESTAMP_NS, "1969-12-31T23:59:59.999999999", "1969-12-31"),
    ("hour", TIMESTAMP, "1969-12-31T00:00:00.999999", -24),
    ("hour", TIMESTAMP_NS, "1969-12-31T23:59:59.999999999", -1),
    ("day", TIMESTAMP, "1969-12-31T00:00:00.999999", "1969-12-31"),
    ("month", TIMESTAMPTZ, "1969-12-01T00:00:00.999999+00:00", -1),
    ("year", TIMESTAMPTZ_NS, "1969-01-01T00:00:00.999999+00:00", -1),
    ("year", DATE, "-0001-12-31", -1971),
    ("void", STRING, "iceberg", None),
]


@pytest.mark.parametrize(("text", "source", "json", "expected"), VALUES, ids=lambda value: str(value))
def test_values_of_transforms(text, source, json, expected) -> None:
    transform = parse_transform(text)
    result = transform.apply(source, from_json(source, json))
    assert to_json(transform.result_type(source), result) == expected


@pytest.mark.parametrize(
    ("text", "source", "value"),
    [
        # the mathematical value does not fit: -2147483650, -9223372036854775810, -10.0000, -100
        ("truncate[10]", INT, -(2**31)),
        ("truncate[10]", LONG, -(2**63)),
        ("truncate[10000]", DecimalType(5, 4), Decimal("-9.9991")),
        ("truncate[10]", DecimalType(2, 0), Decimal(-99)),
        # 2562047788 hours
        ("hour", TIMESTAMP, 2**63 - 1),
    ],
)
def test_a_result_beyond_its_type_is_refused(text, source, value) -> None:
    transform = parse_transform(text)
    with pytest.raises(SpecError, match=rf"^{transform.requirement}: .*; found {re.escape(str(value))}$"):
        transform.apply(source, value)


def test_what_is_not_a_value_of_the_source_is_refused() -> None:
    for value in ("34", True, 2**31):
        with pytest.raises(SpecError, match="TYP009"):
            Bucket(16).apply(INT, value)


@given(st.data(), st.integers(1, 2**31 - 1))
def test_a_bucket_is_from_0_to_n(data: st.DataObject, count: int) -> None:
    source = data.draw(st.sampled_from(ALLOWED[Bucket(16)]))
    assert 0 <= Bucket(count).apply(source, data.draw(values(source))) < count


@given(st.data(), st.integers(1, 2**31 - 1) | st.integers(1, 20))
def test_truncate_is_monotone_idempotent_and_never_above(data: st.DataObject, width: int) -> None:
    source = data.draw(st.sampled_from(ALLOWED[Truncate(3)]))
    small, large = sorted((data.draw(values(source)), data.draw(values(source))))
    transform = Truncate(width)
    try:
        cut = transform.apply(source, small)
        cut_large = transform.apply(source, large)
    except SpecError:
        assume(False)
    assert cut <= small
    assert cut <= cut_large
    assert transform.apply(source, cut) == cut
    if isinstance(small, (str, bytes)):
        assert small.startswith(cut)  # type: ignore[arg-type]
        assert len(cut) == min(width, len(small))
    else:
        number, whole = (unscaled_value(n) if isinstance(n, Decimal) else n for n in (small, cut))
        assert whole % width == 0
        assert 0 <= number - whole < width


@given(st.data())
def test_time_transforms_are_monotone_and_nest(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(DATES))
    small, large = sorted((data.draw(values(source)), data.draw(values(source))))
    for transform in (Year(), Month(), Day()):
        assert transform.apply(source, small) <= transform.apply(source, large)
    month, day = Month().apply(source, small), Day().apply(source, small)
    assert Year().apply(source, small) == month // 12
    assert Month().apply(DATE, day) == month


@given(st.datetimes())
def test_time_transforms_agree_with_the_standard_library(moment: datetime.datetime) -> None:
    since = moment - datetime.datetime(1970, 1, 1)
    micros = since // datetime.timedelta(microseconds=1)
    for source, value in ((TIMESTAMP, micros), (TIMESTAMPTZ, micros)):
        assert Year().apply(source, value) == moment.year - 1970
        assert Month().apply(source, value) == (moment.year - 1970) * 12 + moment.month - 1
        assert Day().apply(source, value) == since // datetime.timedelta(days=1)
        assert Hour().apply(source, value) == since // datetime.timedelta(hours=1)


@given(values(TIMESTAMP_NS))
def test_nanoseconds_lie_in_the_same_hour_and_day_as_their_microsecond(nanos: int) -> None:
    for transform in (Year(), Month(), Day(), Hour()):
        assert transform.apply(TIMESTAMP_NS, nanos) == transform.apply(TIMESTAMP, nanos // 1000)


@given(st.data())
def test_identity_keeps_and_void_drops_every_value(data: st.DataObject) -> None:
    source = data.draw(primitive_types().filter(lambda type_: not isinstance(type_, GeometryType | GeographyType)))
    value = data.draw(values(source))
    assert value_key(source, Identity().apply(source, value)) == value_key(source, value)
    any_type = data.draw(types())
    assert Void().apply(any_type, data.draw(values(any_type))) is None


@pytest.mark.parametrize(
    "text", ["identity", "bucket[16]", "truncate[20]", "year", "month", "day", "hour", "void", "bucket[2147483647]"]
)
def test_the_texts_of_appendix_c_are_read_and_written(text: str) -> None:
    transform = parse_transform(text)
    assert not isinstance(transform, UnknownTransform)
    assert str(transform) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bucket",
        "bucket[]",
        "bucket[0]",
        "bucket[-1]",
        "bucket[+1]",
        "bucket[016]",
        "bucket[ 16 ]",
        "bucket[16",
        "bucket[16]]",
        "bucket[16] ",
        "bucket[16]\n",
        "bucket[1.5]",
        "bucket[١٦]",
        "bucket[2147483648]",
        "bucket[" + "9" * 10_000 + "]",
        "truncate",
        "truncate[0]",
        "truncate[-1]",
        "truncate[2147483648]",
        "identity[1]",
        "day[]",
    ],
)
def test_malformed_transforms_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        parse_transform(text)


@pytest.mark.parametrize(
    "text", ["zorder", "zorder[1,2]", "Bucket[16]", "DAY", "bucket(16)", "days", " day", "bucket [16]"]
)
def test_any_other_text_is_an_unknown_transform(text: str) -> None:
    transform = parse_transform(text)
    assert transform == UnknownTransform(text)
    assert str(transform) == text


@pytest.mark.parametrize("number", [0, -1, 2**31, True, 1.0, "16", None])
def test_parameters_are_positive_ints(number) -> None:
    for make in (Bucket, Truncate):
        with pytest.raises(SpecError):
            make(number)
