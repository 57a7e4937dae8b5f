"""Read Avro's binary encoding, one value at a time (Avro 1.11 specification, Binary Encoding).

This is the definition: a schema is compiled into a function that reads one value;
`spec_ref.encodings.avro.values_writer` does the opposite. Logical types are left to the caller, so that a timestamp is
an int and a decimal bytes.

=================  ==================================================================
Avro type          value
=================  ==================================================================
null               ``None``
boolean            ``bool``
int, long          ``int``
float, double      ``float``
string, enum       ``str``
bytes, fixed       ``bytes``
record             ``tuple``, in the order of the fields
array              ``list``
map                ``list`` of (key, value) pairs, in the order written
union              the value of its branch
=================  ==================================================================
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.encodings.avro.types import Array, AvroType, Enum, Fixed, Map, Primitive, Record, Union, least_size
from spec_ref.encodings.varint import TooManyBits, read_varint, unzigzag

Decoder: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""Reads the value at an offset of a buffer; returns it with the offset after it."""

MAX_EMPTY_ITEMS = 1 << 20
"""The maximum number of items of an array whose items take no bytes, because nothing else bounds their number."""

FLOAT = struct.Struct("<f")
"""A float in Avro's byte order."""

DOUBLE = struct.Struct("<d")
"""A double in Avro's byte order."""


class MalformedValue(Exception):
    """The bytes do not encode a value of the type; converted to a `SpecError` with the place."""


def read_long(data: bytes, position: int) -> tuple[int, int]:
    """Read a variable-length zig-zag integer of at most 64 bits.

    Args:
        data: the buffer.
        position: the offset of the integer.

    Returns:
        The integer and the offset after it.

    Raises:
        MalformedValue: if it has more than 64 bits.
    """
    byte = data[position]
    if byte < 0x80:  # most integers take one byte, which needs no further call
        return (byte >> 1) ^ -(byte & 1), position + 1
    try:
        number, position = read_varint(data, position)
    except TooManyBits:
        raise MalformedValue("an integer has more than 64 bits") from None
    return unzigzag(number), position


def _read_int(data: bytes, position: int) -> tuple[int, int]:
    number, position = read_long(data, position)
    if not -0x80000000 <= number <= 0x7FFFFFFF:
        raise MalformedValue("an int has more than 32 bits")
    return number, position


def _read_boolean(data: bytes, position: int) -> tuple[bool, int]:
    byte = data[position]
    if byte > 1:
        raise MalformedValue("a boolean is neither 0 nor 1")
    return byte == 1, position + 1


def _read_bytes(data: bytes, position: int) -> tuple[bytes, int]:
    size, start = read_long(data, position)
    end = start + size
    if size < 0 or end > len(data):
        raise MalformedValue(f"a length of {size} is negative or exceeds the block")
    return data[start:end], end


def _read_string(data: bytes, position: int) -> tuple[str, int]:
    text, position = _read_bytes(data, position)
    try:
        return text.decode(), position
    except UnicodeDecodeError as error:
        raise MalformedValue(f"a string is not UTF-8: {error.reason}") from None


def _read_float(data: bytes, position: int) -> tuple[float, int]:
    return FLOAT.unpack_from(data, position)[0], position + 4


def _read_double(data: bytes, position: int) -> tuple[float, int]:
    return DOUBLE.unpack_from(data, position)[0], position + 8


_READ_PRIMITIVE: dict[str, Decoder] = {
    "null": lambda data, position: (None, position),
    "boolean": _read_boolean,
    "int": _read_int,
    "long": read_long,
    "float": _read_float,
    "double": _read_double,
    "bytes": _read_bytes,
    "string": _read_string,
}


def decoder(type_: AvroType) -> Decoder:
    """Make the function that reads values of a type.

    The function raises `MalformedValue`, `IndexError` or `struct.error` if the bytes are malformed; `decode_all`
    converts these to errors with the place.

    Args:
        type_: an Avro type.

    Returns:
        The function.
    """
    match type_:
        case Primitive(name):
            return _READ_PRIMITIVE[name]
        case Fixed(_, size):
            return _fixed_decoder(size)
        case Enum(_, symbols):
            return _choice_decoder([_constant(symbol) for symbol in symbols], "an enum")
        case Union(branches):
            return _choice_decoder([decoder(branch) for branch in branches], "a union")
        case Array(items):
            return _items_decoder(decoder(items), least_size(items))
        case Map(values):
            read_value = decoder(values)

            def entry(data: bytes, position: int) -> tuple[tuple[str, Any], int]:
                key, position = _read_string(data, position)
                value, position = read_value(data, position)
                return (key, value), position

            return _items_decoder(entry, 1)
        case Record(_, fields):
            return _record_decoder(tuple(decoder(field.type) for field in fields))


def _constant(value: Any) -> Decoder:
    return lambda data, position: (value, position)


def _fixed_decoder(size: int) -> Decoder:
    def read(data: bytes, position: int) -> tuple[bytes, int]:
        end = position + size
        if end > len(data):
            raise MalformedValue("a fixed extends beyond the end of the block")
        return data[position:end], end

    return read


def _choice_decoder(choices: list[Decoder], what: str) -> Decoder:
    def read(data: bytes, position: int) -> tuple[Any, int]:
        index, position = read_long(data, position)
        if not 0 <= index < len(choices):
            raise MalformedValue(f"{what} has no branch {index}")
        return choices[index](data, position)

    return read


def _items_decoder(item: Decoder, least: int) -> Decoder:
    def read(data: bytes, position: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            count, position = read_long(data, position)
            if count == 0:
                return items, position
            stated = None
            if count < 0:
                count = -count
                size, position = read_long(data, position)
                stated = position + size
            room = MAX_EMPTY_ITEMS - len(items) if least == 0 else (len(data) - position) // least
            if count > room:
                raise MalformedValue(f"an array or map has {count} items, but the block has room for {room}")
            for _ in range(count):
                value, position = item(data, position)
                items.append(value)
            if stated is not None and stated != position:
                raise MalformedValue("the stated size of a block of items differs from the size of its items")

    return read


def _record_decoder(fields: tuple[Decoder, ...]) -> Decoder:
    def read(data: bytes, position: int) -> tuple[tuple[Any, ...], int]:
        values = []
        for field in fields:
            value, position = field(data, position)
            values.append(value)
        return tuple(values), position

    return read


class BlockDecoder:
    """Decodes blocks of objects of one type."""

    def __init__(self, type_: AvroType) -> None:
        """Make a decoder of objects of a type."""
        self.type = type_
        self.least = least_size(type_)

    @functools.cached_property
    def _decoder(self) -> Decoder:
        return decoder(self.type)

    def decode_all(self, count: int, data: bytes, requirement: str, first: int = 0) -> list[Any]:
        """Decode the objects of one block.

        Args:
            count: the number of objects that the block states.
            data: the decompressed bytes of the block.
            requirement: the code to raise if the bytes are not that many objects.
            first: the number of objects in the blocks before, for the path in an error.

        Returns:
            The objects.

        Raises:
            SpecError: ``requirement`` if an object is malformed or truncated, or bytes are left over. The path is that
                of the object, ``/17``, and for a record that of the field, ``/17/data_file/file_path``.
        """
        room = MAX_EMPTY_ITEMS if self.least == 0 else len(data) // self.least
        if count > room:
            raise spec_error(
                requirement, "a block is too short for its number of objects", found=count, expected=f"at most {room}"
            )
        read = self._decoder
        objects: list[Any] = []
        position = 0
        try:
            for _ in range(count):
                start = position
                value, position = read(data, position)
                objects.append(value)
        except (MalformedValue, IndexError, struct.error):
            raise locate_error(self.type, data, start, requirement, f"/{first + len(objects)}") from None
        if position != len(data):
            left = len(data) - position
            raise spec_error(
                requirement,
                "the block has bytes after its last object",
                found=Description(f"{left} bytes"),
                expected=f"no bytes after {count} objects",
                path=f"/{first + count}",
            )
        return objects


def decode_all(type_: AvroType, count: int, data: bytes, requirement: str, first: int = 0) -> list[Any]:
    """Decode the objects of one block of a type; see `BlockDecoder.decode_all`.

    Args:
        type_: the Avro type of the objects.
        count: the number of objects that the block states.
        data: the decompressed bytes of the block.
        requirement: the code to raise if the bytes are not that many objects.
        first: the number of objects in the blocks before, for the path in an error.

    Returns:
        The objects.

    Raises:
        SpecError: ``requirement``, as `BlockDecoder.decode_all`.
    """
    return BlockDecoder(type_).decode_all(count, data, requirement, first)


def locate_error(type_: AvroType, data: bytes, position: int, requirement: str, path: str) -> SpecError:
    """Make the error for a value that could not be read, with the path of the innermost record field.

    Args:
        type_: the Avro type of the value.
        data: the buffer.
        position: the offset of the value.
        requirement: the code of the error.
        path: the path of the value.

    Returns:
        The error.
    """
    while True:
        inner = type_
        if isinstance(type_, Union):
            try:
                index, after = read_long(data, position)
                inner, position = type_.branches[index], after
                if index < 0:
                    raise MalformedValue("a union has no negative branch")
            except (MalformedValue, IndexError):
                break
        if not isinstance(inner, Record):
            type_ = inner
            break
        for field in inner.fields:
            try:
                _, after = decoder(field.type)(data, position)
            except (MalformedValue, IndexError, struct.error):
                path += f"/{field.name}"
                type_ = field.type
                break
            position = after
        else:
            break
    try:
        decoder(type_)(data, position)
        reason = "it is malformed"
    except MalformedValue as error:
        reason = str(error)
    except (IndexError, struct.error):
        reason = "the block ends inside it"
    return spec_error(requirement, f"a value cannot be decoded: {reason}", path=path)
