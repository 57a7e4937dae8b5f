"""Batches of Avro blocks decoded into columns (Appendix A, Avro).

The objects of a block are stored one after another, and the start of an object is known only when the previous one has
been decoded. Nevertheless, there are two ways to decode many objects in parallel, each object by a cursor:

- Every block has a cursor, and the cursors pass over object after object in lockstep. Then the starts of all objects
  are known, and every object gets a cursor.
- Every object has a cursor from the beginning. The caller names a string whose first characters are the same in all
  objects, the *anchor*, such as the path of a data file. Each occurrence of these characters in the buffer may be in an
  object: the cursors decode from the end of the string to the end of the object, where the next object begins, and from
  there to the next string.

The result is checked: the first object has to begin where its block does, each other object where the previous one
ends, and the last one has to end with the block. If this does not hold, or if there are few objects, the batch is
decoded one object at a time, which also reports what is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.columnar.encodings.avro.columns import BytesColumn, DecodedColumn, RecordColumn, UnionColumn, build_column
from spec_ref.columnar.encodings.avro.vectorized import compile_field, compile_type, footprint
from spec_ref.columnar.encodings.avro.vectorized_buffer import Positions, VectorizedBuffer
from spec_ref.columnar.encodings.avro.vectorized_nodes import Node
from spec_ref.encodings.avro.types import AvroType, Record, Union
from spec_ref.encodings.avro.values import BlockDecoder, Decoder, MalformedValue, decoder, read_long

BATCH_BYTES = 16 << 20
"""About how many decompressed bytes are decoded together; the memory of a batch is a small multiple of it."""

FEW_OBJECTS = 24
"""At most this many objects are decoded one at a time, because a step costs as much for one cursor as for a hundred."""

LOCKSTEP_OBJECTS = 4
"""If no block has more objects than this, every block has a cursor."""

LOCKSTEP_WIDTH = 256
"""The minimum number of blocks for which lockstep is faster than one object at a time."""

SAMPLES = 32
MIN_ANCHOR_LENGTH = 5
"""The minimum number of bytes of an anchor: those of ``/a/b/`` or ``s3://``."""

MAX_LOOKALIKES = 8
"""At most this many strings for each object may begin as anchors do; otherwise anchors are not used."""

MAX_FOOTPRINT = 1 << 20

Ints = npt.NDArray[np.intp]


@attrs.frozen
class DecompressedBlock:
    """One block, decompressed."""

    count: int
    """The number of objects that the block states."""

    payload: bytes


class ColumnDecoder:
    """Decodes blocks of objects of one Avro schema to columns."""

    def __init__(self, type_: Record, anchor: Sequence[str] = (), lazy: Collection[int] = ()) -> None:
        """Prepare to decode objects of a type.

        Args:
            type_: the type of the objects.
            anchor: the field names on the path to the anchor, a string with the same first characters in all objects;
                empty if there is none.
            lazy: the ids of the fields that are decoded on demand only.
        """
        self.type = type_
        self.anchor = tuple(anchor)
        self.lazy = lazy
        self.one_by_one = BlockDecoder(type_)
        self.least = self.one_by_one.least

    @functools.cached_property
    def footprint(self) -> int:
        """The number of bytes of an object whose bytes are all zero."""
        return footprint(self.type)

    @functools.cached_property
    def node(self) -> Node:
        """The node that decodes objects in parallel."""
        return compile_type(self.type, self.lazy)

    @functools.cached_property
    def anchor_path(self) -> _AnchorPath | None:
        """The path to the anchor, if there is one."""
        return _find_anchor_path(self.type, self.anchor, self.lazy) if self.anchor else None

    def decode(self, parts: Sequence[DecompressedBlock], requirement: str, first: int = 0) -> DecodedColumn:
        """Decode the objects of some blocks to a column of records.

        Args:
            parts: the blocks.
            requirement: the code to raise if a block does not contain the objects that it states.
            first: the number of objects in the blocks before, for paths of errors.

        Returns:
            The column.

        Raises:
            SpecError: ``requirement`` with the path of the first malformed value, such as ``/17/data_file``.
        """
        made = self._decode_vectorized(parts)
        if made is not None:
            return made
        values: list[object] = []
        for part in parts:
            values += self.one_by_one.decode_all(part.count, part.payload, requirement, first + len(values))
        return build_column(self.type, values)

    def _decode_vectorized(self, parts: Sequence[DecompressedBlock]) -> DecodedColumn | None:
        total = sum(part.count for part in parts)
        if total <= FEW_OBJECTS or not self.least or self.footprint > MAX_FOOTPRINT:
            return None
        if any(part.count * self.least > len(part.payload) for part in parts):
            return None
        parts = [part for part in parts if part.count or part.payload]
        if max(part.count for part in parts) <= LOCKSTEP_OBJECTS:
            return self._decode_in_lockstep(parts)
        made = self._decode_by_anchors(parts, total) if self.anchor_path else None
        if made is None and len(parts) >= LOCKSTEP_WIDTH:
            made = self._decode_in_lockstep(parts)
        return made

    def _decode_in_lockstep(self, parts: Sequence[DecompressedBlock]) -> DecodedColumn | None:
        """Find the objects with a cursor for each block, in lockstep; then decode with a cursor for each object."""
        buffer, starts, ends, counts = self._open_buffer(parts)
        order = np.argsort(-counts, kind="stable")
        firsts = (np.cumsum(counts) - counts)[order]
        pos, sorted_counts = starts[order], -counts[order]
        begins = np.empty(int(counts.sum()), np.intp)
        for turn in range(int(counts.max())):
            going = int(np.searchsorted(sorted_counts, -turn, side="left"))
            begins[firsts[:going] + turn] = pos[:going]
            if turn + 1 < counts.max():
                pos[:going] = self.node.skip(buffer, pos[:going])
        column, behind = self.node.decode(buffer, begins)
        return column if _are_consecutive(begins, behind, starts, ends, counts) else None

    def _decode_by_anchors(self, parts: Sequence[DecompressedBlock], total: int) -> DecodedColumn | None:
        """Decode with a cursor for each object, found by the first characters of its anchor."""
        assert self.anchor_path is not None
        buffer, starts, ends, counts = self._open_buffer(parts)
        for start in self.anchor_path.anchors(parts):
            strings, sizes = _find_occurrences(buffer, start)
            if total <= len(strings) <= MAX_LOOKALIKES * total:
                break
        else:
            return None
        after, behind = self.anchor_path.tail(buffer, strings + sizes)
        if len(strings) > total:
            chosen = self._select_anchors(buffer, starts, counts, strings, sizes, behind)
            if chosen is None:
                return None
            strings, sizes = strings[chosen], sizes[chosen]
            after, behind = self.anchor_path.tail(buffer, strings + sizes)
        begins = np.empty(len(strings), np.intp)
        begins[1:] = behind[:-1]
        begins[(np.cumsum(counts) - counts)[counts > 0]] = starts[counts > 0]
        before, found, found_sizes = self.anchor_path.head(buffer, begins)
        if (found != strings).any() or (found_sizes != sizes).any():
            return None
        if not _are_consecutive(begins, behind, starts, ends, counts):
            return None
        return self.anchor_path.join(before, BytesColumn(buffer.data, strings, sizes, text=True), after)

    def _select_anchors(
        self, buffer: VectorizedBuffer, starts: Ints, counts: Ints, strings: Ints, sizes: Ints, behind: Ints
    ) -> Ints | None:
        """Select the strings that are anchors: those that are reached from the start of a block, object by object."""
        assert self.anchor_path is not None
        _, found, found_sizes = self.anchor_path.head(buffer, np.concatenate((starts, behind)))
        place = np.minimum(np.searchsorted(strings, found), len(strings) - 1)
        sound = (strings[place] == found) & (sizes[place] == found_sizes)
        following = np.where(sound, place, -1).tolist()
        chosen: list[int] = []
        for block, count in enumerate(counts.tolist()):
            at = block
            for _ in range(count):
                string = following[at]
                if string < 0:
                    return None
                chosen.append(string)
                at = len(starts) + string
        return np.array(chosen, np.intp)

    def _open_buffer(self, parts: Sequence[DecompressedBlock]) -> tuple[VectorizedBuffer, Ints, Ints, Ints]:
        """Join the blocks: where each starts and ends, and how many objects it states."""
        sizes = np.fromiter((len(part.payload) for part in parts), np.intp, len(parts))
        ends = np.cumsum(sizes)
        counts = np.fromiter((part.count for part in parts), np.intp, len(parts))
        return VectorizedBuffer([part.payload for part in parts], self.footprint), ends - sizes, ends, counts


def batches(parts: Iterable[DecompressedBlock], size: int = BATCH_BYTES) -> Iterator[list[DecompressedBlock]]:
    """Group blocks into batches, with at least one block in each.

    Args:
        parts: the blocks.
        size: about how many decompressed bytes a batch has.

    Yields:
        The blocks of each batch.
    """
    batch: list[DecompressedBlock] = []
    held = 0
    for part in parts:
        if batch and held + len(part.payload) > size:
            yield batch
            batch, held = [], 0
        batch.append(part)
        held += len(part.payload)
    if batch:
        yield batch


def _are_consecutive(begins: Ints, behind: Ints, starts: Ints, ends: Ints, counts: Ints) -> bool:
    """Decide whether the objects follow each other in their blocks, from the start of each block to its end."""
    filled = counts > 0
    lasts = np.cumsum(counts)[filled] - 1
    expected = np.empty(len(begins), np.intp)
    expected[:-1] = begins[1:]
    expected[lasts] = ends[filled]
    return bool((behind == expected).all() and (starts[~filled] == ends[~filled]).all())


def _find_occurrences(buffer: VectorizedBuffer, start: bytes) -> tuple[Ints, Ints]:
    """Find where strings that begin with ``start`` may be, and the lengths that the bytes before them encode."""
    gaps = buffer.data.split(start)
    lengths = np.fromiter(map(len, gaps), np.intp, len(gaps))[:-1]
    strings = np.cumsum(lengths + len(start)) - len(start)
    last = buffer.bytes[np.maximum(strings - 1, 0)].astype(np.intp)
    first = buffer.bytes[np.maximum(strings - 2, 0)].astype(np.intp)
    # The first of two bytes of a length has its high bit set. If that byte belongs to another value, decoding the
    # object up to its anchor fails.
    sizes = np.where(first > 0x7F, (first & 0x7F) | (last << 7), last) >> 1
    fits = (sizes >= len(start)) & (strings + sizes <= buffer.end) & (strings > 0)
    return strings[fits], sizes[fits]


# The path to the anchor


@attrs.frozen
class _Level:
    """A record on the path to the anchor, and its fields before and after the field on the path."""

    branch: int | None
    """The branch of the union that contains the record, if there is one."""

    before: tuple[Node, ...]
    before_decoders: tuple[Decoder, ...]
    after: tuple[Node, ...]


@attrs.frozen
class _AnchorPath:
    """The records on the path to the anchor, outermost first."""

    levels: tuple[_Level, ...]
    branch: int | None
    """The branch of the union that contains the anchor, if there is one."""

    decode_object: Decoder

    def head(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[list[list[DecodedColumn]], Positions, Ints]:
        """Decode objects up to their anchors: the columns of each level, and the anchors' positions and lengths."""
        made = []
        for level in self.levels:
            pos = _enter_branch(buffer, pos, level.branch)
            columns, pos = _decode_fields(level.before, buffer, pos)
            made.append(columns)
        pos = _enter_branch(buffer, pos, self.branch)
        sizes, pos = buffer.size(pos)
        return made, pos, sizes

    def tail(self, buffer: VectorizedBuffer, pos: Positions) -> tuple[list[list[DecodedColumn]], Positions]:
        """Decode objects from after their anchors to their ends: the columns of each level, and the ends."""
        made = []
        for level in reversed(self.levels):
            columns, pos = _decode_fields(level.after, buffer, pos)
            made.append(columns)
        return made[::-1], pos

    def join(
        self, before: list[list[DecodedColumn]], anchor: BytesColumn, after: list[list[DecodedColumn]]
    ) -> DecodedColumn:
        """Build the column of the objects from the columns before, at and after their anchors."""
        column: DecodedColumn = _in_union(anchor, self.branch)
        for level, head, tail in zip(reversed(self.levels), reversed(before), reversed(after), strict=True):
            column = _in_union(RecordColumn([*head, column, *tail], anchor.length), level.branch)
        return column

    def anchors(self, parts: Sequence[DecompressedBlock]) -> Iterator[bytes]:
        """Yield the prefixes, up to a slash, that the strings of some objects have in common, the longest first."""
        samples = self._samples(parts)
        if not samples:
            return
        low, high = min(samples), max(samples)
        same = next((place for place, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
        start = low[:same]
        start = start[: start.rfind(b"/") + 1] or start
        while len(start) >= MIN_ANCHOR_LENGTH:
            yield start
            start = start[: start.rfind(b"/", 0, len(start) - 1) + 1]

    def _samples(self, parts: Sequence[DecompressedBlock]) -> list[bytes]:
        """Read the strings of some objects: the first of some blocks, and some of one block."""
        found = []
        filled = [part for part in parts if part.count]
        try:
            for part in filled[:: max(1, len(filled) // SAMPLES)]:
                found.append(self._read_anchor(part.payload, 0))  # noqa: PERF401 - an error ends it
            position = 0
            for _ in range(min(4, filled[0].count)):
                found.append(self._read_anchor(filled[0].payload, position))
                _, position = self.decode_object(filled[0].payload, position)
        except (MalformedValue, IndexError):
            return []
        return found

    def _read_anchor(self, data: bytes, position: int) -> bytes:
        for level in self.levels:
            if level.branch is not None:
                _, position = read_long(data, position)
            for decode in level.before_decoders:
                _, position = decode(data, position)
        if self.branch is not None:
            _, position = read_long(data, position)
        size, position = read_long(data, position)
        return data[position : position + max(size, 0)]


def _decode_fields(
    nodes: Iterable[Node], buffer: VectorizedBuffer, pos: Positions
) -> tuple[list[DecodedColumn], Positions]:
    columns = []
    for node in nodes:
        column, pos = node.decode(buffer, pos)
        columns.append(column)
    return columns, pos


def _enter_branch(buffer: VectorizedBuffer, pos: Positions, branch: int | None) -> Positions:
    """Enter a branch of a union; cursors at another one become invalid."""
    return pos if branch is None else buffer.invalidate(pos + 1, buffer.byte(pos) != branch << 1)


def _in_union(column: DecodedColumn, branch: int | None) -> DecodedColumn:
    return column if branch is None else UnionColumn([(None, column)], column.length)


def _find_anchor_path(type_: AvroType, anchor: tuple[str, ...], lazy: Collection[int]) -> _AnchorPath | None:
    """Find the path through the fields named ``anchor``, the last one a string; None if there is no such path."""
    levels: list[_Level] = []
    at = type_
    for name in anchor:
        record, branch = _without_null(at)
        names = [field.name for field in record.fields] if isinstance(record, Record) else []
        if not isinstance(record, Record) or name not in names:
            return None
        place = names.index(name)
        before, after = record.fields[:place], record.fields[place + 1 :]
        levels.append(
            _Level(
                branch,
                tuple(compile_field(field, lazy) for field in before),
                tuple(decoder(field.type) for field in before),
                tuple(compile_field(field, lazy) for field in after),
            )
        )
        at = record.fields[place].type
    _, branch = _without_null(at)
    return _AnchorPath(tuple(levels), branch, decoder(type_))


def _without_null(type_: AvroType) -> tuple[AvroType | None, int | None]:
    """Find the type other than null and its branch; the type itself if it is not a union."""
    if not isinstance(type_, Union):
        return type_, None
    inner = type_.optional
    return inner, None if inner is None else type_.branches.index(inner)
