"""The types of columns in random writes: a few values of each, and what the representations of a value are.

In the model a value is what Arrow makes of it in Python, but a time or timestamp is an integer, as its unit may be a
nanosecond.
"""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import attrs
import pyarrow as pa
from hypothesis import strategies as st
from row_model import EPOCH, MICROS_PER_DAY, Column, days

from spec_ref.data_types import types


def unchanged(value: Any) -> Any:
    return value


@attrs.frozen
class Kind:
    """A type of columns."""

    type: types.Type
    arrow: pa.DataType
    finite: tuple[Any, ...]
    """Few values, so that rows have equal ones."""

    transforms: frozenset[str]
    """The allowed transforms besides identity and void."""

    literal: Callable[[Any], Any] = unchanged
    """Returns the JSON single value."""

    promoted: tuple[str, ...] = ()
    version: int = 1
    """The first format version that has the type."""

    @property
    def is_float(self) -> bool:
        return isinstance(self.finite[0], float)

    @property
    def values(self) -> tuple[Any, ...]:
        return (None, *self.finite, *((math.nan, math.inf) if self.is_float else ()))


def arrow_type(column: Column) -> pa.DataType:
    children = {name: arrow_type(child) for name, child in column.children.items()}
    if column.kind == "struct":
        return pa.struct(children)
    if column.kind == "list":
        return pa.list_(children["element"])
    return pa.map_(*children.values()) if column.kind == "map" else KINDS[column.kind].arrow


def iceberg_type(column: Column) -> types.Type:
    children = {name: iceberg_type(child) for name, child in column.children.items()}
    ids = [child.number + 1 for child in column.children.values()]
    if column.kind == "struct":
        return types.StructType(tuple(map(field, column.children, column.children.values())))
    if column.kind == "list":
        return types.ListType(*ids, children["element"], element_required=False)
    if column.kind == "map":
        return types.MapType(ids[0], children["key"], ids[1], children["value"], value_required=False)
    return KINDS[column.kind].type


def field(name: str, column: Column, *, required: bool = False) -> types.NestedField:
    return types.NestedField(column.number + 1, name, required, iceberg_type(column))


def least_version(column: Column) -> int:
    """Return the first format version that has the type."""
    own = [1] if column.is_nested else [KINDS[column.kind].version]
    return max([*own, *map(least_version, column.children.values())])


def to_arrow(column: Column, values: Iterable[Any]) -> pa.Array:
    """Make an array of values of the model."""
    return pa.array(list(map(column.converted, values)), arrow_type(column))


def from_arrow(column: Column, array: pa.ChunkedArray) -> list[Any]:
    """Return the values of an array, as the model has them."""
    if column.kind == "timestamp_ns":
        return list(array.cast(pa.int64()).to_pylist())
    return [python_value(column, value) for value in array.to_pylist()]


def python_value(column: Column, value: Any) -> Any:
    """Return what Arrow makes of a value as the model has it."""
    if value is None:
        return None
    children = column.children
    if column.kind == "struct":
        return {name: python_value(children[name], own) for name, own in value.items()}
    if column.kind == "list":
        return [python_value(children["element"], one) for one in value]
    if column.kind == "map":
        return [(python_value(children["key"], key), python_value(children["value"], own)) for key, own in value]
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.time):
        parts = value.hour, value.minute, value.second
        return sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=True)) * 1_000_000 + value.microsecond
    return uuid.UUID(bytes=value) if column.kind == "uuid" and isinstance(value, bytes) else value


def encoded(column: Column, value: Any, type_: types.Type) -> Any:
    """Return a value of the model as `spec_ref` has it; the type has the ids of the table."""
    if value is None:
        return None
    children = column.children
    match type_:
        case types.StructType(fields):
            return {
                one.id: encoded(children[one.name], value.get(children[one.name].number, None), one.type)
                for one in fields
            }
        case types.ListType():
            return tuple(encoded(children["element"], one, type_.element) for one in value)
        case types.MapType():
            return tuple(
                (encoded(children["key"], key, type_.key), encoded(children["value"], own, type_.value))
                for key, own in value
            )
        case _:
            converted = column.converted(value)
            return days(converted) if isinstance(converted, datetime.date) else converted


def moment(suffix: str = "") -> Callable[[int], str]:
    """Return the function that formats microseconds since 1970."""

    def text(micros: int) -> str:
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)
        return time.isoformat(timespec="microseconds") + suffix

    return text


def nanosecond_moment(nanos: int) -> str:
    return f"{moment()(nanos // 1000)}{nanos % 1000:03d}"


def clock(micros: int) -> str:
    return moment()(micros).partition("T")[2]


BUCKET = frozenset({"bucket[2]"})
TRUNCATE = BUCKET | {"truncate[2]"}
DATE = BUCKET | {"year", "month", "day"}
TIME = DATE | {"hour"}
DAY_IN_2020 = 18_321 * MICROS_PER_DAY  # 2020-02-29
MOMENTS = (0, -1, DAY_IN_2020, DAY_IN_2020 + 3_600_000_001, -62_135_596_800_000_000)
CENTS = (Decimal("0.00"), Decimal("-0.01"), Decimal("12.34"), Decimal("99.99"), Decimal("-99.98"))
LONG_TEXT = "日" * 40


def decimal(precision: int, *promoted: str) -> Kind:
    type_ = types.DecimalType(precision, 2)
    return Kind(type_, pa.decimal128(precision, 2), CENTS, TRUNCATE, literal=str, promoted=promoted)


KINDS: Mapping[str, Kind] = {
    "int": Kind(types.INT, pa.int32(), (0, 1, 2, 3, -(2**31)), TRUNCATE, promoted=("long",)),
    "long": Kind(types.LONG, pa.int64(), (0, 1, 2, 3, -(2**63)), TRUNCATE),
    "float": Kind(types.FLOAT, pa.float32(), (0.0, -0.0, 1.5), frozenset(), promoted=("double",)),
    "double": Kind(types.DOUBLE, pa.float64(), (0.0, -0.0, 1.5), frozenset()),
    "string": Kind(
        types.STRING,
        pa.string(),
        ("", "a", "ab", "null", "c/ d=%é?#", LONG_TEXT, LONG_TEXT + "a", "\U0001f600\0"),
        TRUNCATE,
    ),
    "boolean": Kind(types.BOOLEAN, pa.bool_(), (False, True), frozenset()),
    "decimal(4, 2)": decimal(4, "decimal(9, 2)", "decimal(38, 2)"),
    "decimal(9, 2)": decimal(9, "decimal(38, 2)"),
    "decimal(38, 2)": decimal(38),
    "date": Kind(
        types.DATE,
        pa.date32(),
        (EPOCH, datetime.date(1969, 12, 31), datetime.date(2020, 2, 29)),
        DATE,
        literal=datetime.date.isoformat,
        promoted=("timestamp", "timestamp_ns"),
    ),
    "time": Kind(
        types.TIME,
        pa.time64("us"),
        (0, 3_600_000_001, MICROS_PER_DAY - 1),
        BUCKET,
        literal=clock,
    ),
    "timestamp": Kind(
        types.TIMESTAMP,
        pa.timestamp("us"),
        MOMENTS,
        TIME,
        literal=moment(),
    ),
    "timestamptz": Kind(
        types.TIMESTAMPTZ,
        pa.timestamp("us", "UTC"),
        MOMENTS,
        TIME,
        literal=moment("+00:00"),
    ),
    "timestamp_ns": Kind(
        types.TIMESTAMP_NS,
        pa.timestamp("ns"),
        (0, -1, DAY_IN_2020 * 1000, DAY_IN_2020 * 1000 + 3_600_000_000_001),
        TIME,
        literal=nanosecond_moment,
        version=3,
    ),
    "uuid": Kind(
        types.UUID,
        pa.binary(16),
        (uuid.UUID(int=0), uuid.UUID(int=2**127 + 5), uuid.UUID(int=2**128 - 1)),
        BUCKET,
        literal=str,
    ),
    "fixed": Kind(types.FixedType(3), pa.binary(3), (b"\0\0\0", b"\xff\0\1", b"abc"), BUCKET, literal=bytes.hex),
    "binary": Kind(types.BINARY, pa.binary(), (b"", b"a", b"ab\0", b"\xff" * 20), TRUNCATE, literal=bytes.hex),
}

NESTED_KINDS = ("int", "long", "float", "string", "date", "decimal(4, 2)", "uuid", "binary")
"""The kinds of values in nested columns."""


def nested(numbers: Iterator[int], depth: int) -> st.SearchStrategy[Column]:
    """Make columns of types that may be nested."""
    scalar = st.sampled_from(NESTED_KINDS).map(lambda kind: Column(next(numbers), kind))
    if not depth:
        return scalar
    inner = nested(numbers, depth - 1)

    def with_children(kind: str, *names: str) -> Callable[..., Column]:
        return lambda *children: Column(next(numbers), kind, children=dict(zip(names, children, strict=True)))

    return st.one_of(
        st.builds(with_children("struct", "a"), inner),
        st.builds(with_children("struct", "a", "b"), inner, scalar),
        st.builds(with_children("list", "element"), inner),
        st.builds(
            with_children("map", "key", "value"), st.just("string").map(lambda kind: Column(next(numbers), kind)), inner
        ),
    )


def values(column: Column) -> st.SearchStrategy[Any]:
    """Make values of a column, null too."""
    if column.kind == "struct":
        own = st.fixed_dictionaries({child.number: values(child) for child in column.children.values()})
        return st.none() | own | own
    if column.kind == "list":
        return st.none() | st.lists(values(column.children["element"]), max_size=2)
    if column.kind == "map":
        key, of_key = column.children.values()
        pairs = st.tuples(st.sampled_from(KINDS[key.kind].finite), values(of_key))
        return st.none() | st.lists(pairs, max_size=2, unique_by=lambda pair: pair[0])
    return st.sampled_from(KINDS[column.kind].values)
