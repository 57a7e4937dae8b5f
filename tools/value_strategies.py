"""Hypothesis strategies for types and values, for property tests of implementations of the spec.

This module needs hypothesis, which is only installed for development.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from hypothesis import strategies as st

from spec_ref.core.calendar import MICROS_PER_DAY
from spec_ref.core.records import evolve
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import (
    MAX_DECIMAL_PRECISION,
    PLAIN_PRIMITIVES,
    UNKNOWN,
    VARIANT,
    DecimalType,
    EdgeAlgorithm,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    Primitive,
    StructType,
    Type,
    kind,
)
from spec_ref.data_types.values import value_key
from spec_ref.encodings.variant.physical_types import Variant

_CRS = st.sampled_from(["OGC:CRS84", "EPSG:4326", "srid:4326", "SRID:0", "projjson:my-crs"])


def primitive_types() -> st.SearchStrategy[Primitive]:
    """Return any primitive type, including ``unknown``; decimals have a scale from 0 to their precision."""
    decimals = st.integers(1, MAX_DECIMAL_PRECISION).flatmap(
        lambda precision: st.builds(DecimalType, st.just(precision), st.integers(0, precision))
    )
    return st.one_of(
        st.sampled_from(list(PLAIN_PRIMITIVES.values())),
        st.builds(FixedType, st.integers(1, 20)),
        decimals,
        st.builds(GeometryType, _CRS),
        st.builds(GeographyType, _CRS, st.sampled_from(EdgeAlgorithm)),
    )


@cache  # hypothesis validates a strategy once, which takes longer than drawing an example
def types(*, max_leaves: int = 8) -> st.SearchStrategy[Type]:
    """Return any type: primitive, variant or nested, with at most about ``max_leaves`` primitive types inside.

    The field ids of a type are unique, and fields and elements of type ``unknown`` are optional.
    """
    leaves: st.SearchStrategy[Type] = st.one_of(primitive_types(), st.just(VARIANT))
    return st.recursive(leaves, _nested, max_leaves=max_leaves).map(_number_fields)


def _nested(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    keys = inner.filter(lambda type_: type_ != UNKNOWN)
    fields = st.lists(st.tuples(inner, st.booleans()), max_size=4).map(
        lambda pairs: StructType(
            tuple(NestedField(0, f"f{index}", _with_requiredness(*pair), pair[0]) for index, pair in enumerate(pairs))
        )
    )
    lists = st.builds(
        lambda item, required: ListType(0, item, _with_requiredness(item, required)), inner, st.booleans()
    )
    maps = st.builds(
        lambda key, item, required: MapType(0, key, 0, item, _with_requiredness(item, required)),
        keys,
        inner,
        st.booleans(),
    )
    return st.one_of(fields, lists, maps)


def _with_requiredness(type_: Type, required: bool) -> bool:
    return required and type_ != UNKNOWN


def _number_fields(type_: Type) -> Type:
    return _with_ids(type_, itertools.count(1))


def _with_ids(type_: Type, ids: Iterator[int]) -> Type:
    match type_:
        case StructType(fields):
            return StructType(tuple(evolve(field, id=next(ids), type=_with_ids(field.type, ids)) for field in fields))
        case ListType(_, element):
            return evolve(type_, element_id=next(ids), element=_with_ids(element, ids))
        case MapType(_, key, _, value):
            return evolve(
                type_, key_id=next(ids), key=_with_ids(key, ids), value_id=next(ids), value=_with_ids(value, ids)
            )
        case _:
            return type_


def _signed_integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


def _decimals(type_: DecimalType) -> st.SearchStrategy[Any]:
    limit: int = 10**type_.precision - 1
    return st.integers(-limit, limit).map(lambda number: decimal_from_unscaled(type_, number))


_COORDINATES = st.floats(-180, 180)
_POINTS = st.builds(lambda x, y: struct.pack("<BIdd", 1, 1, x, y), _COORDINATES, _COORDINATES)

_EMPTY_METADATA = b"\x01\x00\x00"
_VARIANTS = st.one_of(
    st.sampled_from([b"\x00", b"\x04", b"\x08"]),  # null, true, false
    st.integers(-128, 127).map(lambda number: struct.pack("<Bb", 3 << 2, number)),
    st.text(max_size=15).map(str.encode).map(lambda text: bytes([len(text) << 2 | 1]) + text),
).map(lambda value: Variant(_EMPTY_METADATA, value))

_VALUES: dict[str, Callable[[Any], st.SearchStrategy[Any]]] = {
    "unknown": lambda _: st.none(),
    "boolean": lambda _: st.booleans(),
    "int": lambda _: _signed_integers(32),
    "long": lambda _: _signed_integers(64),
    "float": lambda _: st.floats(width=32),
    "double": lambda _: st.floats(),
    "decimal": _decimals,
    "date": lambda _: _signed_integers(32),
    "time": lambda _: st.integers(0, MICROS_PER_DAY - 1),
    "timestamp": lambda _: _signed_integers(64),
    "timestamptz": lambda _: _signed_integers(64),
    "timestamp_ns": lambda _: _signed_integers(64),
    "timestamptz_ns": lambda _: _signed_integers(64),
    "string": lambda _: st.text(),
    "uuid": lambda _: st.uuids(),
    "fixed": lambda type_: st.binary(min_size=type_.length, max_size=type_.length),
    "binary": lambda _: st.binary(),
    "geometry": lambda _: _POINTS,
    "geography": lambda _: _POINTS,
    "variant": lambda _: _VARIANTS,
}


def values(type_: Type) -> st.SearchStrategy[Any]:
    """Return any value of the type, in the form of `spec_ref.data_types.values`, including NaN and infinities.

    Values of geometry and geography are points.
    """
    match type_:
        case StructType(fields):
            return st.fixed_dictionaries({field.id: _nullable(field.type, field.required) for field in fields})
        case ListType(_, element, required):
            return st.lists(_nullable(element, required), max_size=4).map(tuple)
        case MapType(_, key, _, value, required):
            return st.lists(
                st.tuples(values(key), _nullable(value, required)),
                max_size=4,
                unique_by=lambda pair: value_key(key, pair[0]),
            ).map(tuple)
        case _:
            return _VALUES[kind(type_)](type_)


def _nullable(type_: Type, required: bool) -> st.SearchStrategy[Any]:
    return values(type_) if required else st.one_of(st.none(), values(type_))
