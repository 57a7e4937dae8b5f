"""Integers in groups of seven bits, the lowest first, as Avro, Thrift, Protocol Buffers and ORC store them."""

from __future__ import annotations

from typing import Protocol

MAX_BITS = 70
"""Ten groups, which hold every number of 64 bits."""


class TooManyBits(IndexError):
    """A number does not end within ten groups, or has more than 64 bits."""


class Octets(Protocol):
    """Bytes, or an object that reads them from a file."""

    def __getitem__(self, position: int, /) -> int: ...


def read_varint(data: Octets, position: int) -> tuple[int, int]:
    """Read a number.

    Args:
        data: the buffer that holds the number.
        position: the offset of the number.

    Returns:
        The number, from 0 to 2**64 - 1, and the position after it.

    Raises:
        TooManyBits: the number does not end within ten groups, or has more than 64 bits.
        IndexError: the buffer ends before the number does.
    """
    value = 0
    for shift in range(0, MAX_BITS, 7):
        octet = data[position]
        position += 1
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            if value >= 1 << 64:
                break
            return value, position
    raise TooManyBits("a number has more than 64 bits")


def write_varint(value: int) -> bytes:
    """Encode a number.

    Args:
        value: the number, 0 or more.

    Returns:
        The bytes.
    """
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def unzigzag(value: int) -> int:
    """Convert a number to the integer whose sign it stores in its lowest bit: 0, -1, 1, -2 for 0, 1, 2, 3.

    Args:
        value: a number from 0 to 2**64 - 1.

    Returns:
        The integer, of at most 64 bits.
    """
    return (value >> 1) ^ -(value & 1)


def zigzag(value: int) -> int:
    """Convert an integer to the number that stores it, as `unzigzag` reads it.

    Args:
        value: an integer of at most 64 bits.

    Returns:
        The number, from 0 to 2**64 - 1.
    """
    return (value << 1) ^ (value >> 63)
