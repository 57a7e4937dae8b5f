"""Write Avro's binary encoding, one value at a time (Avro 1.11 specification, Binary Encoding).

A schema is compiled into a function that writes one value. `spec_ref.encodings.avro.values` reads, and lists the Python
value of each Avro type.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.encodings.avro.container import long_bytes
from spec_ref.encodings.avro.types import Array, AvroType, Enum, Fixed, Map, Primitive, Record, Union
from spec_ref.encodings.avro.values import DOUBLE, FLOAT

Encoder: TypeAlias = Callable[[Any, bytearray], None]
"""Appends the encoding of a value."""


def encoder(type_: AvroType) -> Encoder:
    """Make the function that writes values of a type.

    Args:
        type_: an Avro type.

    Returns:
        The function; it raises a `SpecError` for a value that the type cannot represent.

    Raises:
        SpecError: AVR001 for a union that is not of null and one type.
    """
    match type_:
        case Primitive(name):
            return _WRITE_PRIMITIVE[name]
        case Fixed(_, size):
            return _fixed_encoder(size)
        case Enum(_, symbols):
            places = {symbol: long_bytes(place) for place, symbol in enumerate(symbols)}

            def write_symbol(value: Any, out: bytearray) -> None:
                if value not in places:
                    raise _unfit("one of the symbols", value)
                out += places[value]

            return write_symbol
        case Union(branches):
            return _union_encoder(type_, branches)
        case Array(items):
            return _items_encoder(encoder(items))
        case Map(values):
            write_value = encoder(values)

            def write_entry(pair: Any, out: bytearray) -> None:
                _write_string(pair[0], out)
                write_value(pair[1], out)

            return _items_encoder(write_entry)
        case Record(_, fields):
            return _record_encoder(tuple((field.name, encoder(field.type)) for field in fields))


def _unfit(expected: str, value: Any) -> SpecError:
    return spec_error("AVR014", "the value cannot be written as its Avro type", found=value, expected=expected)


def _integer_encoder(bits: int) -> Encoder:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def write(value: Any, out: bytearray) -> None:
        if type(value) is bool or not isinstance(value, int) or not low <= value <= high:
            raise _unfit(f"an integer of {bits} bits", value)
        if 0 <= value < 64:
            out.append(value << 1)
        else:
            out += long_bytes(value)

    return write


def _write_null(value: Any, out: bytearray) -> None:
    if value is not None:
        raise _unfit("null", value)


def _write_boolean(value: Any, out: bytearray) -> None:
    if type(value) is not bool:
        raise _unfit("a boolean", value)
    out.append(value)


def _float_encoder(form: struct.Struct) -> Encoder:
    def write(value: Any, out: bytearray) -> None:
        try:
            out += form.pack(value)
        except (struct.error, OverflowError):
            raise _unfit("a floating-point number in range", value) from None

    return write


def _write_bytes(value: Any, out: bytearray) -> None:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _unfit("bytes", value)
    out += long_bytes(len(value))
    out += value


def _write_string(value: Any, out: bytearray) -> None:
    if not isinstance(value, str):
        raise _unfit("a string", value)
    try:
        text = value.encode()
    except UnicodeEncodeError:
        raise _unfit("a string without lone surrogates", value) from None
    out += long_bytes(len(text))
    out += text


_WRITE_PRIMITIVE: dict[str, Encoder] = {
    "null": _write_null,
    "boolean": _write_boolean,
    "int": _integer_encoder(32),
    "long": _integer_encoder(64),
    "float": _float_encoder(FLOAT),
    "double": _float_encoder(DOUBLE),
    "bytes": _write_bytes,
    "string": _write_string,
}


def _fixed_encoder(size: int) -> Encoder:
    def write(value: Any, out: bytearray) -> None:
        if not isinstance(value, bytes) or len(value) != size:
            raise _unfit(f"{size} bytes", value)
        out += value

    return write


def _union_encoder(union: Union, branches: tuple[AvroType, ...]) -> Encoder:
    """Make the function that writes an optional value; Iceberg has no other unions (AVR001)."""
    inner = union.optional
    if inner is None:
        raise spec_error("AVR001", "the union is not of null and one other type", found=Description(str(union)))
    place = branches.index(inner)
    null, chosen = long_bytes(1 - place), long_bytes(place)
    write = encoder(inner)

    def write_optional(value: Any, out: bytearray) -> None:
        if value is None:
            out += null
        else:
            out += chosen
            write(value, out)

    return write_optional


def _items_encoder(item: Encoder) -> Encoder:
    def write(values: Any, out: bytearray) -> None:
        count = 0
        if values:
            out += long_bytes(len(values))
            for value in values:
                with error_path(f"/{count}"):
                    item(value, out)
                count += 1
        out.append(0)

    return write


def _record_encoder(fields: tuple[tuple[str, Encoder], ...]) -> Encoder:
    def write(values: Any, out: bytearray) -> None:
        for (name, field), value in zip(fields, values, strict=True):
            try:
                field(value, out)
            except SpecError:
                with error_path(f"/{name}"):
                    raise

    return write
