"""Make records from decoded columns, field by field: the kernel for `spec_ref.avro_mapping.row_reader.RowReader`."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs
from immutabledict import immutabledict

from spec_ref.avro_mapping.row_reader import MapReader, ReadField, RowReader
from spec_ref.columnar.encodings.avro.columns import (
    BytesColumn,
    DecodedColumn,
    EnumColumn,
    ListColumn,
    NullColumn,
    NumberColumn,
    RecordColumn,
    UnionColumn,
    decode_lazy,
    split_nulls,
)
from spec_ref.core.errors import SpecError
from spec_ref.core.records import EMPTY, freeze
from spec_ref.table_metadata.reader import gc_disabled

T = TypeVar("T")


class _NullError(Exception):
    """A required value is null."""


def read_records(
    reader: RowReader, column: DecodedColumn, values: Mapping[str, Iterable[Any]] = EMPTY
) -> list[Any] | None:
    """Make the record of each row of a column.

    Args:
        reader: the definition, which makes the record of one row.
        column: the column of the file's record.
        values: the values of some attributes, such as inherited ones, instead of those in the column.

    Returns:
        The records; None if the definition refuses a row.
    """
    try:
        with gc_disabled():
            return _records(reader, column, values)
    except (SpecError, _NullError):
        return None


def _records(reader: RowReader, column: DecodedColumn, values: Mapping[str, Iterable[Any]] = EMPTY) -> list[Any]:
    rows, records = split_nulls(column)
    if rows is not None and len(rows) < column.length:
        raise _NullError
    assert isinstance(records, RecordColumn)
    present = [field for field in reader.fields if not isinstance(records.fields[field.place], NullColumn)]
    columns = {field.attribute: _values(field, records.fields[field.place]) for field in present}
    if any(field.required and field.attribute not in columns for field in reader.fields):
        raise _NullError
    nulls = {field.attribute: field.rule.missing for field in reader.fields if field.attribute not in columns}
    return make_records(reader.cls, records.length, {**columns, **values}, reader.missing | nulls)


def make_records(
    cls: type[T], count: int, columns: Mapping[str, Iterable[Any]], constants: Mapping[str, Any] = EMPTY
) -> list[T]:
    """Make records from the values of each attribute.

    The slots are set an attribute at a time, which takes less than half of the time of calling the class for each
    record.

    Args:
        cls: the record class, which has no validators and calculates nothing at construction but immutable mappings.
        count: how many records to make.
        columns: the values of each attribute, one per record; mappings are immutable.
        constants: the attributes that have one value in all records.

    Returns:
        The records.
    """
    made = list(map(object.__new__, itertools.repeat(cls, count)))
    for attribute in attrs.fields(cls):  # type: ignore[arg-type]  # a record is an attrs class
        values = columns.get(attribute.name)
        if values is None:
            values = itertools.repeat(freeze(constants[attribute.name]), count)
        assign = getattr(cls, attribute.name).__set__
        collections.deque(itertools.starmap(assign, zip(made, values, strict=True)), maxlen=0)
    return made


def _values(field: ReadField, column: DecodedColumn) -> Iterable[Any]:
    if isinstance(field.convert, RowReader):
        return _records(field.convert, column)
    pairs = _pairs(column, field.convert) if isinstance(field.convert, MapReader) else None
    if pairs is not None:
        return pairs
    values: Iterable[Any] = column.to_list()
    convert, missing = field.convert, field.rule.missing
    if isinstance(values, list) and None in values:
        if field.required:
            raise _NullError
        return [missing if value is None else value if convert is None else convert(value) for value in values]
    if convert is None:
        return values
    if isinstance(values, list) and _is_exact(column):
        distinct = dict.fromkeys(values)
        if 2 * len(distinct) <= len(values):
            known = {value: convert(value) for value in distinct}
            return map(known.__getitem__, values)
    return map(convert, values)


def _is_exact(column: DecodedColumn) -> bool:
    """Return whether equal values of a column are the same: 0.0 and -0.0 are equal, and so are True and 1."""
    match decode_lazy(column):
        case NumberColumn(values=values):
            return bool(values.dtype.kind != "f")
        case BytesColumn() | EnumColumn() | NullColumn():
            return True
        case RecordColumn(fields=fields):
            return all(map(_is_exact, fields))
        case UnionColumn(branches=branches):
            types = [one for _, one in branches if not isinstance(one, NullColumn)]
            return len(types) < 2 and all(map(_is_exact, types))
        case _:
            return False


def _pairs(column: DecodedColumn, reader: MapReader) -> Iterable[Any] | None:
    """Make maps without an object for an entry, if all have one length and no nulls; otherwise return None."""
    rows, maps = split_nulls(column)
    if not isinstance(maps, ListColumn) or (rows is not None and len(rows) < column.length):
        return None
    slots = [slot for rows, slot in maps.slots if rows is None and isinstance(slot, RecordColumn)]
    fields = [field for slot in slots for field in slot.fields]
    if (
        not slots
        or len(slots) < len(maps.slots)
        or not all(isinstance(field, (NumberColumn, BytesColumn)) for field in fields)
    ):
        return None
    keys, values = (_tuples([slot.fields[place] for slot in slots]) for place in (0, 1))
    pairs = map(zip, keys, values)
    make: Any = reader  # which takes any iterable, as no entry is null
    if isinstance(keys, itertools.repeat) and isinstance(values, itertools.repeat):  # one map for all rows
        return itertools.repeat(make(next(pairs)), column.length)
    return _immutable_maps(pairs, column.length) if reader.is_plain else map(make, pairs)


_HAS_KNOWN_STATE = getattr(immutabledict({0: 1}), "__dict__", None) == {"_dict": {0: 1}, "_hash": None}


def _immutable_maps(maps: Iterable[Iterable[tuple[Any, Any]]], count: int) -> Iterable[Any]:
    """Make immutable mappings of pairs; calling the class, which is written in Python, takes half as long again."""
    if not _HAS_KNOWN_STATE:  # of a different version of the library
        return map(immutabledict, maps)
    made = list(map(object.__new__, itertools.repeat(immutabledict, count)))
    for name, values in {"_dict": map(dict, maps), "_hash": itertools.repeat(None, count)}.items():
        collections.deque(map(setattr, made, itertools.repeat(name), values), maxlen=0)
    return made


def _tuples(columns: Sequence[DecodedColumn]) -> Iterator[tuple[Any, ...]]:
    """Make the tuple of each row; equal rows share one tuple if all are equal, as the keys of maps mostly are."""
    numbers = [column.values for column in columns if isinstance(column, NumberColumn) and column.length]
    if len(numbers) == len(columns) and all((values == values[0]).all() for values in numbers):
        return itertools.repeat(tuple(values[0].item() for values in numbers), columns[0].length)
    return zip(*(column.to_list() for column in columns), strict=True)
