"""Unsigned integers in groups of seven bits, the lowest first, as Thrift, Protocol Buffers and ORC store them."""

from __future__ import annotations

MOST_BITS = 70
"""Ten groups, which hold every number of 64 bits."""


def read_varint(data: bytes | memoryview, position: int) -> tuple[int, int]:
    """Read a number.

    Args:
        data: the bytes around it.
        position: where it begins.

    Returns:
        The number, and the position after it.

    Raises:
        IndexError: the number does not end within the bytes or within ten groups.
    """
    value = 0
    for shift in range(0, MOST_BITS, 7):
        octet = data[position]
        position += 1
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            return value, position
    raise IndexError("a number does not end within ten groups of seven bits")


def write_varint(value: int) -> bytes:
    """Encode a number.

    Args:
        value: from 0.

    Returns:
        The bytes.
    """
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
