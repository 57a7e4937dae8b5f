"""Make records of decoded columns, field by field: the kernel for `spec_ref.avro_mapping.rows.RowReader`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spec_ref.avro_mapping.rows import ReadField, RowReader
from spec_ref.columnar.encodings.avro.columns import (
    DecodedColumn,
    ListColumn,
    NumberColumn,
    RecordColumn,
    split_nulls,
)
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import MapType
from spec_ref.table_metadata.reader import gc_disabled


class _NullError(Exception):
    """A value is null though required."""


def read_records(reader: RowReader, column: DecodedColumn) -> list[Any] | None:
    """Make the record of each row of a column.

    Args:
        reader: the definition, which makes the record of one row.
        column: the column of the file's record.

    Returns:
        The records; None if the definition refuses a row.
    """
    try:
        with gc_disabled():
            return _records(reader, column)
    except (SpecError, _NullError):
        return None


def _records(reader: RowReader, column: DecodedColumn) -> list[Any]:
    rows, records = split_nulls(column)
    if rows is not None and len(rows) < column.length:
        raise _NullError
    assert isinstance(records, RecordColumn)
    names = [field.attribute for field in reader.fields]
    columns = [_values(field, records.fields[field.place]) for field in reader.fields]
    return [reader.cls(**dict(zip(names, row, strict=True)), **reader.missing) for row in zip(*columns, strict=True)]


def _values(field: ReadField, column: DecodedColumn) -> Iterable[Any]:
    if isinstance(field.convert, RowReader):
        return _records(field.convert, column)
    pairs = _pairs(column) if isinstance(field.rule.type, MapType) else None
    values = column.to_list() if pairs is None else pairs
    convert, missing = field.convert, field.rule.missing
    if isinstance(values, list) and None in values:
        if field.required:
            raise _NullError
        return [missing if value is None else value if convert is None else convert(value) for value in values]
    return values if convert is None else map(convert, values)


def _pairs(column: DecodedColumn) -> Iterator[Any] | None:
    """Zip the keys and values of each map, without an object for a pair; None unless all maps are equally long."""
    rows, maps = split_nulls(column)
    if not isinstance(maps, ListColumn) or (rows is not None and len(rows) < column.length):
        return None
    slots = [slot for rows, slot in maps.slots if rows is None and isinstance(slot, RecordColumn)]
    if not slots or len(slots) < len(maps.slots):
        return None
    keys, values = (_tuples([slot.fields[place] for slot in slots]) for place in (0, 1))
    return map(zip, keys, values)


def _tuples(columns: Sequence[DecodedColumn]) -> Iterator[tuple[Any, ...]]:
    """Make the tuple of each row; a single one if all are equal, as the keys of maps mostly are."""
    numbers = [column.values for column in columns if isinstance(column, NumberColumn) and column.length]
    if len(numbers) == len(columns) and all((values == values[0]).all() for values in numbers):
        return itertools.repeat(tuple(values[0].item() for values in numbers), columns[0].length)
    return zip(*(column.to_list() for column in columns), strict=True)
