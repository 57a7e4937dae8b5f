"""Avro's binary encoding decoded for many values of one type at once, each at its own position (Appendix A, Avro).

A cursor is a position in one buffer. Every step - a length, an integer, the branch of a union - is taken by all cursors
in one numpy call, so that the cost per step is that of the interpreter and the cost per value that of memory. The nodes
of `compile_type` mirror those of `spec_ref.encodings.avro.values.decoder`, which is the definition. A cursor that reads
malformed data becomes *invalid*: it is set to a position after the end of the buffer, where no valid cursor can end.
The caller compares the ends with the expected ones, and then decodes the data one value at a time to report what is
wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from spec_ref.columnar.encodings.avro.columns import (
    DecodedColumn,
    LazyColumn,
    ListColumn,
    Rows,
    UnionColumn,
    build_column,
    entry_record,
)
from spec_ref.columnar.encodings.avro.vectorized_buffer import ONE64, STOPS64, Longs, Positions, VectorizedBuffer
from spec_ref.columnar.encodings.avro.vectorized_nodes import (
    BooleanNode,
    BytesNode,
    DoubleNode,
    EnumNode,
    FixedNode,
    FloatNode,
    IntNode,
    LongNode,
    Mask,
    Node,
    NullNode,
    RecordNode,
)
from spec_ref.core.errors import spec_error
from spec_ref.encodings.avro.types import Array, AvroType, Enum, Field, Fixed, Map, Primitive, Record, Union, least_size
from spec_ref.encodings.avro.values import MAX_EMPTY_ITEMS, MalformedValue, decoder

LONG_LIST = 64
MIN_VECTORIZED = 64


def _too_few(active: int, count: int, steps: int) -> bool:
    """Decide whether the positions that are still in a long list are too few to be decoded together."""
    return steps >= LONG_LIST and active * MIN_VECTORIZED < max(count, steps)


class _UnionNode(Node):
    def __init__(self, branches: Sequence[Node]) -> None:
        self.branches = branches

    def _choices(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[int | None, Any, Positions]:
        """Read the branch at each position: one number if all are equal, otherwise None and an array."""
        first = buffer.byte(pos)
        low, high = int(first.min()), int(first.max())
        if low == high and not low & 1 and low >> 1 < len(self.branches) and low < 0x80:
            return low >> 1, None, pos + 1
        choice, after = buffer.long(pos)
        wrong = (choice < 0) | (choice >= len(self.branches))
        return None, np.where(wrong, 0, choice), buffer.invalidate(after, wrong)

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        count = len(pos)
        if not count:
            return UnionColumn((), 0), pos
        one, choices, pos = self._choices(buffer, pos)
        if one is not None:
            column, pos = self.branches[one].decode(buffer, pos)
            return UnionColumn([(None, column)], count), pos
        made: list[tuple[Rows | None, DecodedColumn]] = []
        after = pos.copy()
        for number, branch in enumerate(self.branches):
            rows = np.nonzero(choices == number)[0]
            if len(rows):
                column, after[rows] = branch.decode(buffer, pos[rows])
                made.append((rows, column))
        return UnionColumn(made, count), after

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        if not len(pos):
            return pos
        one, choices, pos = self._choices(buffer, pos)
        if one is not None:
            return self.branches[one].skip(buffer, pos)
        after = pos.copy()
        for number, branch in enumerate(self.branches):
            rows = np.nonzero(choices == number)[0]
            if len(rows):
                after[rows] = branch.skip(buffer, pos[rows])
        return after

    def find(
        self, buffer: VectorizedBuffer, pos: Positions, key: int, key_index: int
    ) -> tuple[Rows, DecodedColumn] | None:
        choices, after = buffer.long(pos)
        maps = [number for number, branch in enumerate(self.branches) if isinstance(branch, _ItemsNode)]
        if len(maps) != 1:
            return None
        rows = np.nonzero(choices == maps[0])[0]
        found = self.branches[maps[0]].find(buffer, after[rows], key, key_index)
        return None if found is None else (rows[found[0]], found[1])


class _ItemsNode(Node):
    """An array or map: blocks of items, each after the number of its items; an empty block is the last."""

    def __init__(self, item: Node, least: int) -> None:
        self.item = item
        self.least = least

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        slots: list[tuple[Rows | None, DecodedColumn]] = []

        def decode(rows: Rows | None, pos: Positions) -> Positions:
            column, pos = self.item.decode(buffer, pos)
            slots.append((rows, column))
            return pos

        after = self._blocks(buffer, pos, lambda count, rows, pos: self._each(buffer, count, rows, pos, decode))
        return ListColumn(slots, len(pos)), after

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        return self._blocks(buffer, pos, lambda count, rows, pos: self._pass(buffer, count, pos))

    def _blocks(
        self,
        buffer: VectorizedBuffer,
        pos: Positions,
        items: Callable[[Longs, Rows | None, Positions], Positions],
    ) -> Positions:
        """Pass over the blocks; ``items`` passes over the items of one block, at the positions that have this block."""
        rows: Rows | None = None  # the positions before the end of their blocks; None for all
        after = pos
        while True:
            count, at = buffer.long(after if rows is None else after[rows])
            stated = None
            if len(count) and count.min() < 0:
                stated = np.full(len(count), -1, np.intp)
                sized = np.nonzero(count < 0)[0]
                size, behind = buffer.size(at[sized])
                count[sized] = -count[sized]
                at[sized] = behind
                stated[sized] = behind + size
            room = np.int64(MAX_EMPTY_ITEMS) if self.least == 0 else (buffer.end - at) // self.least
            wrong = (count > room) | (count < 0)
            if wrong.any():
                count, at = np.where(wrong, 0, count), np.where(wrong, buffer.invalid, at)
            more = count > 0
            if more.all():
                at = items(count, rows, at)
                if stated is not None:
                    at = buffer.invalidate(at, (stated >= 0) & (stated != at))
                if rows is None:
                    after = at
                else:
                    after[rows] = at
                if not len(at):
                    return after
                continue
            if rows is None:
                after, rows = at, np.arange(len(at))
            else:
                after[rows] = at
            going = np.nonzero(more)[0]
            if not len(going):
                return after
            rows = rows[going]
            at = items(count[going], rows, at[going])
            if stated is not None:
                stated = stated[going]
                at = buffer.invalidate(at, (stated >= 0) & (stated != at))
            after[rows] = at

    def _each(
        self,
        buffer: VectorizedBuffer,
        count: Longs,
        rows: Rows | None,
        pos: Positions,
        step: Callable[[Rows | None, Positions], Positions],
    ) -> Positions:
        least, most = int(count.min()), int(count.max())
        for place in range(most):
            if place < least:
                if _too_few(len(count), len(count), place):
                    return np.full(len(pos), buffer.invalid)
                pos = np.minimum(step(rows, pos), buffer.invalid)
                continue
            active = np.nonzero(count > place)[0]
            if _too_few(len(active), len(count), place):
                pos[active] = buffer.invalid
                break
            pos = pos.copy() if place == least else pos
            pos[active] = np.minimum(step(active if rows is None else rows[active], pos[active]), buffer.invalid)
        return pos

    def _pass(self, buffer: VectorizedBuffer, count: Longs, pos: Positions) -> Positions:
        return self._each(buffer, count, None, pos, lambda _, pos: self.item.skip(buffer, pos))

    def find(
        self, buffer: VectorizedBuffer, pos: Positions, key: int, key_index: int
    ) -> tuple[Rows, DecodedColumn] | None:
        if not isinstance(self.item, RecordNode) or not self.item.is_entry(key_index):
            return None
        count, at = buffer.long(pos)
        sized = np.nonzero(count < 0)[0]
        if len(sized):
            count[sized] = -count[sized]
            at[sized] = buffer.size(at[sized])[1]
        rows = np.nonzero(count > 0)[0]
        left, at = count[rows], at[rows]
        hit_rows: list[Rows] = []
        hits: list[Positions] = []
        while len(rows):
            hit, values, at = self.item.entry(buffer, at, key, key_index)
            if hit.any():
                hit_rows.append(rows[hit])
                hits.append(values[hit])
                rows, left, at = rows[~hit], left[~hit], at[~hit]
            left = left - 1
            if len(left) and not left.min():
                done = left == 0
                if buffer.byte(at[done]).any():  # another block
                    return None
                rows, left, at = rows[~done], left[~done], at[~done]
        found = np.concatenate(hit_rows) if hit_rows else np.zeros(0, np.intp)
        values = np.concatenate(hits) if hits else np.zeros(0, np.intp)
        return found, self.item.fields[1 - key_index].decode(buffer, values)[0]


class _IntegersNode(_ItemsNode):
    """An array whose items are one or more integers each: passed over by counting the last bytes of integers."""

    def __init__(self, item: Node, integers: int) -> None:
        super().__init__(item, integers)
        self.integers = integers

    def _pass(self, buffer: VectorizedBuffer, count: Longs, pos: Positions) -> Positions:
        left = (count * self.integers).astype(np.intp)  # integers still to pass
        steps = 0
        while True:
            stops = ~buffer.eights[pos] & STOPS64
            inside = np.bitwise_count(stops)
            if int(left.min()) > int(inside.max()):
                pos = np.minimum(pos + 8, buffer.invalid)
                left = left - inside
            else:
                whole = left > inside
                if not whole.any():
                    break
                pos = np.minimum(pos + 8 * whole, buffer.invalid)
                left = left - inside * whole
            steps += 1
            if steps > LONG_LIST and _too_few(int(np.count_nonzero(left > 8)), len(left), steps):
                return np.where(left > 8, buffer.invalid, pos)
        for _ in range(int(left.max()) - 1):
            stops = np.where(left > 1, stops & (stops - ONE64), stops)
            left = left - 1
        below = (stops & (~stops + ONE64)) - ONE64
        return pos + ((np.bitwise_count(below) + 1) >> 3)


class _IntegerBytesNode(RecordNode):
    """An integer and bytes, such as the entries of bounds: passed over in one step if both are short."""

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        both = buffer.halves[pos]
        if (both & np.uint16(0x8180)).any():  # a second byte of the integer, or of the length, or a negative length
            return super().skip(buffer, pos)
        return pos + ((both >> np.uint16(9)) + np.uint16(2))

    def entry(
        self, buffer: VectorizedBuffer, pos: Positions, key: int, key_index: int
    ) -> tuple[Mask, Positions, Positions]:
        both = buffer.halves[pos]
        if key_index or not 0 <= key < 64 or (both & np.uint16(0x8180)).any():
            return super().entry(buffer, pos, key, key_index)
        return both & np.uint16(0xFF) == np.uint16(2 * key), pos + 1, pos + ((both >> np.uint16(9)) + np.uint16(2))


class _LazyNode(Node):
    """Passes over values and decodes them on demand."""

    def __init__(self, node: Node, type_: AvroType) -> None:
        self.node = node
        self.type = type_

    def decode(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[DecodedColumn, Positions]:
        after = self.node.skip(buffer, pos)

        def decode(rows: Rows | None) -> DecodedColumn:
            start, end = (pos, after) if rows is None else (pos[rows], after[rows])
            column, behind = self.node.decode(buffer, start)
            if (behind == end).all():
                return column
            # The cursors can pass over a few long lists, but not decode them, so these are decoded one by one.
            one = decoder(self.type)
            try:
                return build_column(self.type, [one(buffer.data, position)[0] for position in start.tolist()])
            except (MalformedValue, IndexError, struct.error):
                raise spec_error("AVR014", "a value cannot be decoded as its type") from None

        def find(key: int, place: int, rows: Rows | None) -> tuple[Rows, DecodedColumn] | None:
            return self.node.find(buffer, pos if rows is None else pos[rows], key, place)

        return LazyColumn(decode, len(pos), find), after

    def skip(self, buffer: VectorizedBuffer, pos: Positions) -> Positions:
        return self.node.skip(buffer, pos)


_PRIMITIVES: dict[str, Callable[[], Node]] = {
    "null": NullNode,
    "boolean": BooleanNode,
    "int": IntNode,
    "long": LongNode,
    "float": FloatNode,
    "double": DoubleNode,
    "bytes": lambda: BytesNode(text=False),
    "string": lambda: BytesNode(text=True),
}


def compile_type(type_: AvroType, lazy: Collection[int] = ()) -> Node:
    """Make the node that decodes a type.

    Args:
        type_: the Avro type.
        lazy: the ids of the fields that are decoded on demand only.

    Returns:
        The node.
    """
    match type_:
        case Primitive(name):
            return _PRIMITIVES[name]()
        case Fixed(_, size):
            return FixedNode(size)
        case Enum(_, symbols):
            return EnumNode(symbols)
        case Union(branches):
            return _UnionNode([compile_type(branch, lazy) for branch in branches])
        case Map(values):
            return _items(entry_record(values), lazy)
        case Array(items):
            return _items(items, lazy)
        case Record(_, fields):
            nodes = [compile_field(field, lazy) for field in fields]
            short = len(nodes) == 2 and isinstance(nodes[0], LongNode) and isinstance(nodes[1], BytesNode)
            return _IntegerBytesNode(nodes) if short else RecordNode(nodes)


def compile_field(field: Field, lazy: Collection[int] = ()) -> Node:
    """Make the node that decodes a field of a record.

    Args:
        field: the field.
        lazy: the ids of the fields that are decoded on demand only.

    Returns:
        The node.
    """
    node = compile_type(field.type, lazy)
    return _LazyNode(node, field.type) if field.id in lazy else node


def _items(item: AvroType, lazy: Collection[int]) -> Node:
    node = compile_type(item, lazy)
    parts = node.fields if isinstance(node, RecordNode) else [node]
    if parts and all(isinstance(part, LongNode) for part in parts):
        return _IntegersNode(node, len(parts))
    return _ItemsNode(node, least_size(item))


def footprint(type_: AvroType) -> int:
    """Compute the number of bytes of a value of a type whose bytes are all zero.

    Args:
        type_: the Avro type.

    Returns:
        The number of bytes.
    """
    match type_:
        case Union(branches):
            return 1 + footprint(branches[0])
        case Record(_, fields):
            return sum(footprint(field.type) for field in fields)
        case _:
            return least_size(type_)
