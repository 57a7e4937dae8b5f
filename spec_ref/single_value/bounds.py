"""Bounds of columns in manifests (Appendix D, Bound serialization; Schema Evolution; Bounds for Variant).

A lower or upper bound is stored in the binary single-value form of the column's type (SVB013), except that a geometry
or geography has a corner of its bounding box, and a variant has an object of bounds by field path. A type promotion
leaves the bounds of older files as they were written, so the type at write time is inferred from the length (EVO007).

A bound need not be a value of the column: a writer may cut long strings and binaries (`truncate_lower`,
`truncate_upper`).
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.promotion import is_promotion, promote_value
from spec_ref.data_types.types import (
    BINARY,
    PLAIN_PRIMITIVES,
    STRING,
    UNKNOWN,
    GeographyType,
    GeometryType,
    Type,
    VariantType,
    kind,
)
from spec_ref.data_types.values import check_value
from spec_ref.single_value.binary import from_binary, to_binary
from spec_ref.single_value.geo_bounds import GeoPoint, check_point, decode_point, encode_point
from spec_ref.single_value.variant_bounds import decode_variant_bound, encode_variant_bound

__all__ = ["decode_bound", "encode_bound", "truncate_lower", "truncate_upper"]


_PROMOTED_LENGTH = 4
_WRITTEN: dict[Type, Type] = {
    new: old for old, new in permutations(PLAIN_PRIMITIVES.values(), 2) if old != UNKNOWN and is_promotion(old, new)
}
"""The type that a 4-byte bound was written as, by the type of the column now: int for long, float for double, date for
timestamp and timestamp_ns. A decimal has the same bytes at any precision, and unknown no bounds."""


def encode_bound(type_: Type, value: Any) -> bytes:
    """Serialize a lower or upper bound (Bound serialization).

    Args:
        type_: the type of the column.
        value: a value of the type; a `GeoPoint` for geometry and geography; for variant a dict from normalized JSON
            path to (type, value), see `spec_ref.single_value.variant_bounds`.

    Returns:
        The bytes of the bound.

    Raises:
        SpecError: SVB009 if the type has no bounds; DFL027 for NaN; BND003 for a geography outside the valid
            coordinates; SVB011 and BND005 to BND010 if the value is not a bound of a geometry or a variant; otherwise
            the code of the type.
    """
    match type_:
        case GeometryType() | GeographyType():
            if not isinstance(value, GeoPoint):
                raise spec_error("SVB011", f"the value is not a bound of {type_}", found=value, expected="a GeoPoint")
            check_point(type_, value)
            return encode_point(value)
        case VariantType():
            return encode_variant_bound(value)
    if isinstance(value, float) and math.isnan(value):
        raise spec_error("DFL027", "the bound is NaN", found=value)
    return to_binary(type_, value)


def decode_bound(type_: Type, data: bytes) -> Any:
    """Deserialize a lower or upper bound as a value of the column's current type.

    Four bytes for a column of type long, double, timestamp or timestamp_ns were written as int, float or date, and are
    promoted (EVO007). A NaN bound is returned as NaN: some old writers wrote it, and the caller decides what to do with
    it.

    Args:
        type_: the type that the column has now.
        data: the bytes of the bound.

    Returns:
        The bound, in the form that `encode_bound` accepts.

    Raises:
        SpecError: EVO006 if a promoted date is outside the range of the type; SVB001 to SVB012 if the bytes are not a
            bound of the type.
    """
    match type_:
        case GeometryType() | GeographyType():
            return decode_point(data)
        case VariantType():
            return decode_variant_bound(data)
    if isinstance(data, bytes) and len(data) == _PROMOTED_LENGTH and type_ in _WRITTEN:
        written = _WRITTEN[type_]
        return promote_value(written, type_, from_binary(written, data))
    return from_binary(type_, data)


def truncate_lower(type_: Type, value: Any, width: int) -> Any:
    """Shorten a lower bound: find the greatest value of at most ``width`` units that is not above ``value``.

    Args:
        type_: string or binary.
        value: a value of the type.
        width: the maximum length of the result, in code points (string) or bytes (binary).

    Returns:
        The first ``width`` units of the value.

    Raises:
        SpecError: DFL016 if values of the type cannot be shortened or the width is not positive; the code of the type
            if ``value`` is not a value of it.
    """
    _check_truncation("DFL016", type_, value, width)
    return value[:width]


def truncate_upper(type_: Type, value: Any, width: int) -> Any:
    """Shorten an upper bound: find the least value of at most ``width`` units above all that share the prefix.

    A value that is not longer than the width is its own bound. Otherwise the last code point or byte of the cut value
    is replaced by the next one; if it has no next one (U+10FFFF, 0xFF), it is dropped and the one before it is
    replaced.

    Args:
        type_: string or binary.
        value: a value of the type.
        width: the maximum length of the result, in code points (string) or bytes (binary).

    Returns:
        The shortened bound; None if no such value exists, so that the column has no upper bound.

    Raises:
        SpecError: DFL017 if values of the type cannot be shortened or the width is not positive; the code of the type
            if ``value`` is not a value of it.
    """
    _check_truncation("DFL017", type_, value, width)
    if len(value) <= width:
        return value
    return _next_text(value[:width]) if type_ == STRING else _next_bytes(value[:width])


def _check_truncation(requirement: str, type_: Type, value: Any, width: int) -> None:
    if type_ not in (STRING, BINARY):
        raise spec_error(
            requirement,
            f"a bound of {kind(type_)} cannot be truncated",
            found=Description(str(type_)),
            expected="string or binary",
        )
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise spec_error(
            requirement, "the width of a bound is not positive", found=width, expected="an int of at least 1"
        )
    check_value(type_, value)


def _next_text(prefix: str) -> str | None:
    """Find the least string above every string with this prefix; UTF-8 orders strings by their code points."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    # The surrogates U+D800 to U+DFFF are not characters: U+E000 follows U+D7FF.
    last = "\ue000" if kept[-1] == "\ud7ff" else chr(ord(kept[-1]) + 1)
    return kept[:-1] + last


def _next_bytes(prefix: bytes) -> bytes | None:
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
