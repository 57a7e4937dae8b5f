"""Nodes that decode Avro's primitive types, enums and records at many positions together (Appendix A, Avro)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.encodings.avro.columns import (
    BytesColumn,
    DecodedColumn,
    EnumColumn,
    NullColumn,
    NumberColumn,
    RecordColumn,
    Rows,
)
from spec_ref.columnar.encodings.avro.vectorized_buffer import Positions, VectorizedBuffer

Mask: TypeAlias = npt.NDArray[np.bool_]


class Node:
    """Decodes a type at many positions together."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        """Decode a value at each cursor.

        Args:
            buffer: the buffer.
            pos: the position of each cursor.

        Returns:
            The values as a column, and the positions after them.
        """
        raise NotImplementedError

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        """Pass over a value at each cursor, with only the checks that this needs.

        Args:
            buffer: the buffer.
            pos: the position of each cursor.

        Returns:
            The positions after the values.
        """
        return self.decode(buffer, pos)[1]

    def find(
        self, buffer: VectorizedBuffer, pos: Positions, key: int, key_index: int
    ) -> tuple[Rows, DecodedColumn] | None:
        """Find the positions whose map has a key, and the values of the key.

        The positions have been passed over before and are valid. If a map repeats the key, its first value counts.

        Args:
            buffer: the buffer.
            pos: the position of each cursor.
            key: the key.
            key_index: the index of the key in the records of the entries: 0, or 1 if the value is first.

        Returns:
            The indices of the positions and the values; None if this node cannot find keys.
        """
        return None


class NullNode(Node):
    """Nulls, which take no bytes."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        return NullColumn(len(pos)), pos


class BooleanNode(Node):
    """Booleans, a byte each."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        value = buffer.byte(pos)
        return NumberColumn(value == 1), buffer.invalidate(pos + 1, value > 1)

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        return pos + 1


class LongNode(Node):
    """Longs, of up to ten bytes each."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        value, pos = buffer.long(pos)
        return NumberColumn(value), pos

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        return buffer.skip_long(pos)


class IntNode(LongNode):
    """Ints; a number that needs more than 32 bits is invalid."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        value, pos = buffer.long(pos)
        if len(value) and (value.max() > 0x7FFFFFFF or value.min() < -0x80000000):
            pos = buffer.invalidate(pos, (value > 0x7FFFFFFF) | (value < -0x80000000))
        return NumberColumn(value), pos


class FloatNode(Node):
    """Floats, four bytes each."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        return NumberColumn(buffer.fours[pos].view("<f4")), pos + 4


class DoubleNode(Node):
    """Doubles, eight bytes each."""

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        return NumberColumn(buffer.eights[pos].view("<f8")), pos + 8


class BytesNode(Node):
    """Strings or bytes: a length and as many bytes."""

    def __init__(self, *, text: bool) -> None:
        self.text = text

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        size, pos = buffer.size(pos)
        return BytesColumn(buffer.data, pos, size, text=self.text), pos + size

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        size, pos = buffer.size(pos)
        return pos + size


class FixedNode(Node):
    """Fixed byte strings of one length."""

    def __init__(self, size: int) -> None:
        self.size = size

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        sizes = np.full(len(pos), self.size, np.int64)
        return BytesColumn(buffer.data, pos, sizes, text=False), pos + self.size


class EnumNode(Node):
    """Enums, each as the index of a symbol."""

    def __init__(self, symbols: tuple[str, ...]) -> None:
        self.symbols = symbols

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        place, pos = buffer.long(pos)
        wrong = (place < 0) | (place >= len(self.symbols))
        return EnumColumn(np.where(wrong, 0, place), self.symbols), buffer.invalidate(pos, wrong)


class RecordNode(Node):
    """Records: their fields one after another."""

    def __init__(self, fields: Sequence[Node]) -> None:
        self.fields = fields

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        count = len(pos)
        columns = []
        for field in self.fields:
            column, pos = field.decode(buffer, pos)
            columns.append(column)
        return RecordColumn(columns, count), pos

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        for field in self.fields:
            pos = field.skip(buffer, pos)
        return pos

    def is_entry(self, key_index: int) -> bool:
        """Decide whether the record is an entry of a map with integer keys, and has the key at an index.

        Args:
            key_index: the index of the key in the record.

        Returns:
            Whether it is such an entry.
        """
        return len(self.fields) == 2 and isinstance(self.fields[key_index], LongNode)

    def entry(
        self, buffer: VectorizedBuffer, pos: Positions, key: int, key_index: int
    ) -> tuple[Mask, Positions, Positions]:
        """Pass over an entry of a map.

        Args:
            buffer: the buffer.
            pos: the position of each cursor.
            key: the key to search for.
            key_index: the index of the key in the record: 0, or 1 if the value is first.

        Returns:
            Which positions have the key, where their values are, and the positions after the entries.
        """
        if key_index:
            behind = self.fields[0].skip(buffer, pos)
            keys, after = buffer.long(behind)
            return keys == key, pos, after
        keys, values = buffer.long(pos)
        return keys == key, values, self.fields[1].skip(buffer, values)
