"""Structs of the Thrift compact protocol as trees; unchanged trees are written back to the same bytes."""

from __future__ import annotations

from typing import Any

from conformance.vectors.relocation.avro import RelocationError, long, unsigned
from conformance.vectors.relocation.avro import ValueReader as Bytes

BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)


class Struct:
    """The fields of a struct in order, by id: kind and value."""

    def __init__(self, fields: dict[int, list[Any]]) -> None:
        """Initialize from [kind, value] by field id."""
        self.fields = fields

    def __getitem__(self, field: int) -> Any:
        """Return the value of a field."""
        return self.fields[field][1]

    def __setitem__(self, field: int, value: Any) -> None:
        """Change the value of an existing field."""
        self.fields[field][1] = value

    def __contains__(self, field: int) -> bool:
        """Return whether a field exists."""
        return field in self.fields

    def get(self, field: int, default: Any = None) -> Any:
        """Return the value of a field, or a default."""
        return self.fields[field][1] if field in self.fields else default


class Elements(list[Any]):
    """A list with the kind of its elements."""

    kind: int = 0


def _unsigned(reader: Bytes) -> int:
    value = shift = 0
    while True:
        (octet,) = reader.take(1)
        value |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            return value


def _value(reader: Bytes, kind: int) -> Any:
    if kind in INTEGERS:
        return reader.long()
    if kind == BINARY:
        return reader.take(_unsigned(reader))
    if kind in (BYTE, 1, 2):
        return reader.take(1)
    if kind == DOUBLE:
        return reader.take(8)
    if kind in (LIST, SET):
        (head,) = reader.take(1)
        count = head >> 4 if head >> 4 < 15 else _unsigned(reader)
        made = Elements(_value(reader, head & 15) for _ in range(count))
        made.kind = head & 15
        return made
    if kind == STRUCT:
        return _struct(reader)
    raise RelocationError(f"a Thrift value of kind {kind}")


def _struct(reader: Bytes) -> Struct:
    fields: dict[int, list[Any]] = {}
    last = 0
    while head := reader.take(1)[0]:
        last = last + (head >> 4) if head >> 4 else reader.long()
        kind = head & 15
        fields[last] = [kind, None if kind in (1, 2) else _value(reader, kind)]
    return Struct(fields)


def _encode(kind: int, value: Any) -> bytes:
    if kind in INTEGERS:
        return long(value)
    if kind == BINARY:
        text: bytes = value
        return unsigned(len(text)) + text
    if kind in (LIST, SET):
        few = len(value) < 15
        head = bytes([(len(value) if few else 15) << 4 | value.kind]) + (b"" if few else unsigned(len(value)))
        return head + b"".join(_encode(value.kind, one) for one in value)
    made: bytes = encode(value) if kind == STRUCT else value
    return made


def encode(struct: Struct) -> bytes:
    """Encode a struct."""
    made, last = [], 0
    for field, (kind, value) in struct.fields.items():
        step = field - last
        made.append(bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + long(field))
        if value is not None:
            made.append(_encode(kind, value))
        last = field
    return b"".join((*made, b"\0"))


def read(data: bytes) -> tuple[Struct, int]:
    """Decode the struct at the beginning of bytes; return it and its length.

    Raises:
        RelocationError: it is damaged, or would not be written back to the same bytes.
    """
    reader = Bytes(data)
    struct = _struct(reader)
    if encode(struct) != data[: reader.at]:
        raise RelocationError("a Thrift struct would be written in a different form")
    return struct, reader.at
