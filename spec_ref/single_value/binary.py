"""Binary single-value serialization (Appendix D).

Bounds of columns and statistics store single values in this form. Nested types, unknown and variant do not have it;
bounds of geometry, geography and variant have other forms, see `spec_ref.single_value.bounds`.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from typing import Any, NoReturn

from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import Type, kind
from spec_ref.data_types.values import check_value


@record
class _Form:
    """The binary form of one type."""

    requirement: str
    encode: Callable[[Any], bytes]
    decode: Callable[[Any, bytes], Any]
    """From the type and bytes; the value is checked against the type afterwards."""


def minimal_twos_complement(number: int) -> bytes:
    """Write an integer as big-endian two's complement in the fewest bytes that hold it.

    Args:
        number: an integer of any size.

    Returns:
        The bytes; one byte for zero.
    """
    # A non-negative number needs its own bits and a sign bit; a negative number -n needs as many as n - 1, or ~(-n).
    bits = (number if number >= 0 else ~number).bit_length() + 1
    return number.to_bytes((bits + 7) // 8, "big", signed=True)


def _wrong_length(requirement: str, type_: Type, data: bytes, expected: str) -> NoReturn:
    message = f"the length does not fit the type {type_}"
    raise spec_error(requirement, message, found=_bytes(len(data)), expected=expected)


def _bytes(count: int) -> Description:
    return Description("1 byte" if count == 1 else f"{count} bytes")


def _layout(requirement: str, format_: str) -> _Form:
    layout = struct.Struct(format_)

    def decode(type_: Type, data: bytes) -> Any:
        if len(data) != layout.size:
            _wrong_length(requirement, type_, data, _bytes(layout.size))
        return layout.unpack(data)[0]

    return _Form(requirement, layout.pack, decode)


def _boolean(type_: Type, data: bytes) -> bool:
    if len(data) != 1:
        _wrong_length("SVB001", type_, data, "1 byte")
    return data != b"\x00"


def _string(type_: Type, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise spec_error("SVB005", "a string is not UTF-8", found=data) from error


def _uuid(type_: Type, data: bytes) -> uuid.UUID:
    if len(data) != 16:
        _wrong_length("SVB006", type_, data, "16 bytes")
    return uuid.UUID(bytes=data)


def _decimal(type_: Any, data: bytes) -> Any:
    # Only writers have to use the fewest bytes; a reader accepts more, because padding with the sign keeps the value.
    if not data:
        _wrong_length("SVB008", type_, data, "at least 1 byte")
    return decimal_from_unscaled(type_, int.from_bytes(data, "big", signed=True))


_INT = _layout("SVB002", "<i")
_LONG = _layout("SVB003", "<q")
_RAW = _Form("SVB007", lambda value: value, lambda _, data: data)
_WKB = _Form("SVB010", lambda value: value, lambda _, data: data)

_FORMS: dict[str, _Form] = {
    "boolean": _Form("SVB001", lambda value: b"\x01" if value else b"\x00", _boolean),
    "int": _INT,
    "long": _LONG,
    "float": _layout("SVB004", "<f"),
    "double": _layout("SVB004", "<d"),
    "date": _INT,
    "time": _LONG,
    "timestamp": _LONG,
    "timestamptz": _LONG,
    "timestamp_ns": _LONG,
    "timestamptz_ns": _LONG,
    "string": _Form("SVB005", str.encode, _string),
    "uuid": _Form("SVB006", lambda value: value.bytes, _uuid),
    "fixed": _RAW,
    "binary": _RAW,
    "decimal": _Form("SVB008", lambda value: minimal_twos_complement(unscaled_value(value)), _decimal),
    "geometry": _WKB,
    "geography": _WKB,
}


def _form(type_: Type) -> _Form:
    form = _FORMS.get(kind(type_))
    if form is None:
        raise spec_error("SVB009", f"{kind(type_)} has no binary single-value form", found=Description(str(type_)))
    return form


def to_binary(type_: Type, value: Any) -> bytes:
    """Serialize a value (Binary single-value serialization).

    Args:
        type_: a type with a binary form: any primitive but ``unknown``.
        value: a value of the type, not None.

    Returns:
        The bytes of the value.

    Raises:
        SpecError: SVB009 if the type has no binary form; the code of the type if ``value`` is not a value of it.
    """
    form = _form(type_)
    check_value(type_, value)
    return form.encode(value)


def from_binary(type_: Type, data: bytes) -> Any:
    """Deserialize a value (Binary single-value serialization).

    Args:
        type_: the type of the value.
        data: the bytes of the value.

    Returns:
        The value, as `spec_ref.data_types.values` represents it.

    Raises:
        SpecError: SVB009 if the type has no binary form; SVB001 to SVB010 if the bytes do not have the form of the
            type; the code of the type if they hold something that is not a value of it (a time of 24 hours).
    """
    form = _form(type_)
    if not isinstance(data, bytes):
        raise spec_error(form.requirement, "the binary single value is not bytes", found=data, expected="bytes")
    value = form.decode(type_, data)
    check_value(type_, value)
    return value
