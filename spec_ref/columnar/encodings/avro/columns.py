"""Decoded Avro data as columns: arrays over many objects instead of an object for each (Appendix A, Avro).

A column is made by `spec_ref.columnar.encodings.avro.vectorized` or, with the same meaning, from single
values by `build_column`. Text and bytes stay in the decompressed buffer and are an offset and a length until they are
needed; a lazy column is not even decoded until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from spec_ref.core.errors import spec_error
from spec_ref.encodings.avro.types import Array, AvroType, Enum, Field, Fixed, Map, Primitive, Record, Union

Rows: TypeAlias = npt.NDArray[np.intp]
"""Row numbers, ascending."""

Values: TypeAlias = npt.NDArray[Any]


class NullColumn:
    """A column of nulls."""

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length

    def take(self, rows: Rows) -> NullColumn:
        return NullColumn(len(rows))

    def to_list(self) -> list[Any]:
        return [None] * self.length


class NumberColumn:
    """Booleans, integers or floating-point numbers."""

    __slots__ = ("length", "values")

    def __init__(self, values: Values) -> None:
        self.values = values
        self.length = len(values)

    def take(self, rows: Rows) -> NumberColumn:
        return NumberColumn(self.values[rows])

    def to_list(self) -> list[Any]:
        return self.values.tolist()  # type: ignore[no-any-return]


class EnumColumn:
    """Members of an enumeration, as indexes of its symbols."""

    __slots__ = ("length", "places", "symbols")

    def __init__(self, places: Values, symbols: tuple[str, ...]) -> None:
        self.places = places
        self.symbols = symbols
        self.length = len(places)

    def take(self, rows: Rows) -> EnumColumn:
        return EnumColumn(self.places[rows], self.symbols)

    def to_list(self) -> list[Any]:
        return [self.symbols[place] for place in self.places.tolist()]


class BytesColumn:
    """Text, bytes or fixed-size bytes: the location of each value in a buffer."""

    __slots__ = ("data", "length", "lengths", "offsets", "text")

    def __init__(self, data: bytes, offsets: Values, lengths: Values, *, text: bool) -> None:
        self.data = data
        self.offsets = offsets
        self.lengths = lengths
        self.text = text
        self.length = len(offsets)

    def take(self, rows: Rows) -> BytesColumn:
        return BytesColumn(self.data, self.offsets[rows], self.lengths[rows], text=self.text)

    def to_bytes(self) -> list[bytes]:
        """List the values as stored, text as UTF-8."""
        data, size = self.data, int(self.lengths[0]) if self.length else 0
        if size and (self.lengths == size).all():
            windows = np.ndarray((len(data) - size + 1,), f"V{size}", data, strides=(1,))
            return windows[self.offsets].tolist()  # type: ignore[no-any-return]
        ends = self.offsets + self.lengths
        return [data[start:end] for start, end in zip(self.offsets.tolist(), ends.tolist(), strict=True)]

    def to_list(self) -> list[Any]:
        values = self.to_bytes()
        if not self.text:
            return values
        try:
            return [value.decode() for value in values]
        except UnicodeDecodeError as error:
            raise spec_error("AVR014", f"a string is not UTF-8: {error.reason}", found=error.object) from None


class RecordColumn:
    """Records, as a column for each field."""

    __slots__ = ("fields", "length")

    def __init__(self, fields: Iterable[DecodedColumn], length: int) -> None:
        self.fields = tuple(fields)
        self.length = length

    def take(self, rows: Rows) -> RecordColumn:
        return RecordColumn([field.take(rows) for field in self.fields], len(rows))

    def to_list(self) -> list[Any]:
        if not self.fields:
            return [()] * self.length
        return list(zip(*(field.to_list() for field in self.fields), strict=True))


class UnionColumn:
    """Values of several types. Each branch has the rows of one type (None for all rows) and their values."""

    __slots__ = ("branches", "length")

    def __init__(self, branches: Sequence[tuple[Rows | None, DecodedColumn]], length: int) -> None:
        self.branches = tuple(branches)
        self.length = length

    def take(self, rows: Rows) -> UnionColumn:
        return UnionColumn(
            [_select_rows(chosen, column, rows, self.length) for chosen, column in self.branches], len(rows)
        )

    def to_list(self) -> list[Any]:
        made: list[Any] = [None] * self.length
        for rows, column in self.branches:
            if isinstance(column, NullColumn):
                continue
            if rows is None:
                return column.to_list()
            for row, value in zip(rows.tolist(), column.to_list(), strict=True):
                made[row] = value
        return made


class ListColumn:
    """Lists, or the entries of maps.

    A slot is a sequence of row numbers (None for every row once) and an item for each of them. The items of a row are
    those at its row number in the slots, one slot after another.
    """

    __slots__ = ("length", "slots")

    def __init__(self, slots: Sequence[tuple[Rows | None, DecodedColumn]], length: int) -> None:
        self.slots = tuple(slots)
        self.length = length

    def take(self, rows: Rows) -> ListColumn:
        slots = [_select_rows(holders, column, rows, self.length) for holders, column in self.slots]
        return ListColumn([slot for slot in slots if slot[1].length], len(rows))

    def to_list(self) -> list[Any]:
        whole = [column.to_list() for rows, column in self.slots if rows is None]
        if whole and len(whole) == len(self.slots):
            return list(map(list, zip(*whole, strict=True)))
        made: list[Any] = [[] for _ in range(self.length)]
        for rows, column in self.slots:
            places: Iterable[int] = range(self.length) if rows is None else rows.tolist()
            for row, value in zip(places, column.to_list(), strict=True):
                made[row].append(value)
        return made


class ObjectColumn:
    """Values as objects, for the unions of several types that Iceberg does not have."""

    __slots__ = ("length", "values")

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self.length = len(values)

    def take(self, rows: Rows) -> ObjectColumn:
        return ObjectColumn([self.values[row] for row in rows.tolist()])

    def to_list(self) -> list[Any]:
        return self.values


class LazyColumn:
    """A column that is decoded on first use, or only in the rows that are needed."""

    __slots__ = ("_column", "_decode", "_find", "_rows", "length")

    def __init__(
        self,
        decode: Callable[[Rows | None], DecodedColumn],
        length: int,
        find: Callable[[int, int, Rows | None], tuple[Rows, DecodedColumn] | None] | None = None,
        rows: Rows | None = None,
    ) -> None:
        """Make a column that is not decoded yet.

        Args:
            decode: decodes some rows, or all.
            length: the number of rows.
            find: finds the values of a key, for maps with integer keys; see `LazyColumn.find`.
            rows: the numbers of this column's rows among those that ``decode`` can decode.
        """
        self._decode = decode
        self._find = find
        self._rows = rows
        self._column: DecodedColumn | None = None
        self.length = length

    def get(self) -> DecodedColumn:
        """Decode the column, once."""
        if self._column is None:
            self._column = self._decode(self._rows)
        return self._column

    def find(self, key: int, key_index: int, rows: Rows | None = None) -> tuple[Rows, DecodedColumn] | None:
        """Find the values of one key of maps, without decoding the others.

        Args:
            key: the key.
            key_index: the index of the key in the records of the entries: 0, or 1 if the value is first.
            rows: the rows to search, ascending; None for all.

        Returns:
            The rows that have the key and their values; None if the whole column has to be decoded.
        """
        if self._column is not None or self._find is None:
            return None
        return self._find(key, key_index, self._resolve_rows(rows))

    def take(self, rows: Rows) -> DecodedColumn:
        if self._column is not None:
            return self._column.take(rows)
        return LazyColumn(self._decode, len(rows), self._find, self._resolve_rows(rows))

    def _resolve_rows(self, rows: Rows | None) -> Rows | None:
        if self._rows is None or rows is None:
            return self._rows if rows is None else rows
        return self._rows[rows]

    def to_list(self) -> list[Any]:
        return self.get().to_list()


DecodedColumn: TypeAlias = (
    NullColumn
    | NumberColumn
    | EnumColumn
    | BytesColumn
    | RecordColumn
    | UnionColumn
    | ListColumn
    | ObjectColumn
    | LazyColumn
)


def _select_rows(
    chosen: Rows | None, column: DecodedColumn, rows: Rows, length: int
) -> tuple[Rows | None, DecodedColumn]:
    """Select ``rows`` of a column that has values for the rows ``chosen``, and renumber them."""
    if chosen is None:
        return None, column.take(rows)
    numbers = np.full(length, -1, np.intp)
    numbers[rows] = np.arange(len(rows))
    found = numbers[chosen]
    kept = np.nonzero(found >= 0)[0]
    return found[kept], column.take(kept)


def decode_lazy(column: DecodedColumn) -> DecodedColumn:
    """Decode a lazy column.

    Args:
        column: any column.

    Returns:
        The column itself, or the decoded one if it is lazy.
    """
    return column.get() if isinstance(column, LazyColumn) else column


def detach(column: DecodedColumn) -> DecodedColumn:
    """Copy what a column refers to: the bytes of its values, instead of the buffer that they are part of.

    Args:
        column: any column.

    Returns:
        The column, decoded.
    """
    match decode_lazy(column):
        case BytesColumn(lengths=lengths, text=text) as found:
            return BytesColumn(b"".join(found.to_bytes()), np.cumsum(lengths) - lengths, lengths, text=text)
        case RecordColumn(fields=fields, length=length):
            return RecordColumn(map(detach, fields), length)
        case UnionColumn(branches=branches, length=length):
            return UnionColumn([(rows, detach(one)) for rows, one in branches], length)
        case ListColumn(slots=slots, length=length):
            return ListColumn([(rows, detach(one)) for rows, one in slots], length)
        case found:
            return found


def split_nulls(column: DecodedColumn) -> tuple[Rows | None, DecodedColumn]:
    """Separate the nulls of a column.

    Args:
        column: a column of one type and null.

    Returns:
        The rows that are not null (None for all) and their values.
    """
    column = decode_lazy(column)
    if isinstance(column, NullColumn):
        return np.zeros(0, np.intp), column
    if not isinstance(column, UnionColumn):
        return None, column
    for rows, branch in column.branches:
        if not isinstance(branch, NullColumn):
            return rows, decode_lazy(branch)
    return np.zeros(0, np.intp), NullColumn(0)


# From single values


def entry_record(values: AvroType) -> Record:
    """Make the record type that an entry of an Avro map is read as.

    Args:
        values: the type of the values of the map.

    Returns:
        The record type.
    """
    return Record("entry", (Field("key", Primitive("string")), Field("value", values)))


_DTYPES = {"boolean": np.bool_, "int": np.int64, "long": np.int64, "float": np.float32, "double": np.float64}


def build_column(type_: AvroType, values: Sequence[Any]) -> DecodedColumn:
    """Make a column from values that were decoded one at a time.

    Args:
        type_: the Avro type.
        values: the decoded values.

    Returns:
        The column.
    """
    match type_:
        case Primitive("null"):
            return NullColumn(len(values))
        case Primitive("string"):
            return _bytes_column([value.encode() for value in values], text=True)
        case Primitive("bytes") | Fixed():
            return _bytes_column(values, text=False)
        case Primitive(name):
            return NumberColumn(np.array(values, _DTYPES[name]))
        case Enum(_, symbols):
            return EnumColumn(np.array([symbols.index(value) for value in values], np.int64), symbols)
        case Union():
            return _build_union(type_, values)
        case Array(items):
            return _build_list(items, values)
        case Map(entry):
            return _build_list(entry_record(entry), values)
        case Record(_, fields):
            columns = [
                build_column(field.type, [value[place] for value in values]) for place, field in enumerate(fields)
            ]
            return RecordColumn(columns, len(values))


def _bytes_column(values: Sequence[bytes], *, text: bool) -> BytesColumn:
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    return BytesColumn(b"".join(values), np.cumsum(lengths) - lengths, lengths, text=text)


def _build_union(union: Union, values: Sequence[Any]) -> DecodedColumn:
    inner = union.optional
    if inner is None:
        if len(union.branches) == 1:
            return UnionColumn([(None, build_column(union.branches[0], values))], len(values))
        return ObjectColumn(values)
    chosen = [value for value in values if value is not None]
    if len(chosen) == len(values):
        return UnionColumn([(None, build_column(inner, values))], len(values))
    if not chosen:
        return UnionColumn([(None, NullColumn(len(values)))], len(values))
    is_null = np.array([value is None for value in values])
    absent, present = is_null.nonzero()[0], (~is_null).nonzero()[0]
    return UnionColumn([(absent, NullColumn(len(absent))), (present, build_column(inner, chosen))], len(values))


def _build_list(items: AvroType, values: Sequence[Sequence[Any]]) -> ListColumn:
    """Put all items in one slot, in which each row number is repeated for every item of the row."""
    found = [item for value in values for item in value]
    if not found:
        return ListColumn([], len(values))
    rows = np.repeat(np.arange(len(values)), np.fromiter(map(len, values), np.intp, len(values)))
    return ListColumn([(rows, build_column(items, found))], len(values))
