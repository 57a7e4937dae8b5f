"""Convert rows that engines return as Arrow tables to the exchange form of the columns' Iceberg types.

Values are read from the Arrow columns directly and not through Python's dates and times, which are limited to the years
1 to 9999, have no nanoseconds and need the machine's time zones. Nothing is validated: a value of the wrong type (a
number in a string column) is returned as it is, and does not compare equal.

This module runs in the environment of any engine, so it imports only pyarrow, the standard library and `native`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Unsupported
from spec_ref.core.json_types import Json

Column = Any
"""An Arrow array, of any type."""

Rows = Any
"""An Arrow table; untyped, as the libraries of engines have no types."""

DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""The number of digits after the decimal point of a second in each Arrow unit."""


def answer(table: Rows, types: dict[str, Json], names: list[str] | None = None) -> dict[str, Json]:
    """Return the answer of ``table.read``.

    Args:
        table: the rows; a column that is not in ``types`` is converted by its Arrow type.
        types: the Iceberg type of each column of the answer.
        names: the columns' names, if the engine uses different ones, such as for metadata columns.

    Raises:
        Unsupported: the engine cannot return values of a type exactly.
    """
    columns = [
        values(types.get(name), _whole(table.column(index))) for index, name in enumerate(names or table.column_names)
    ]
    keys = names or table.column_names
    return {"rows": [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]}


def _whole(column: Column) -> Column:
    chunks = column.combine_chunks()
    if isinstance(chunks, pa.ChunkedArray):  # too large for one array, or without chunks
        return chunks.chunk(0) if chunks.num_chunks else pa.array([], chunks.type)
    return chunks


def values(type_: Json, array: Column) -> list[Json]:
    """Convert the values of an Arrow array to the exchange form of the Iceberg type."""
    array = _plain(array)
    read = _NESTED.get(native.kind(type_))
    if read is not None:
        return read(type_, array)
    name = native.kind(type_)
    arrow = array.type
    if pat.is_nested(arrow):  # the Iceberg type is not nested: this text is unequal to any value
        return [None if value is None else str(value) for value in array.to_pylist()]
    if pat.is_integer(arrow) or pat.is_date32(arrow):
        return [native.write(type_, value) for value in _integers(array)]
    if pat.is_timestamp(arrow) or pat.is_time(arrow):
        return [_format_time(type_, name, arrow.unit, value) for value in _integers(array)]
    if pat.is_date64(arrow):
        return [None if value is None else native.write(type_, value // 86_400_000) for value in _integers(array)]
    return [_exchange_value(type_, name, value) for value in array.to_pylist()]


def _plain(array: Column) -> Column:
    """Return the array without extension types, dictionaries and views."""
    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage)
    if pat.is_dictionary(array.type):
        return _plain(array.dictionary_decode())
    return array


def _integers(array: Column) -> list[int | None]:
    """Return integers of any width, and dates, times and timestamps as integers."""
    found: list[int | None] = (
        array if pat.is_integer(array.type) else array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    ).to_pylist()
    return found


def _format_time(type_: Json, name: str, unit: str, value: int | None) -> Json:
    """Format a time or timestamp; a unit that is finer than the type's keeps all its digits."""
    if value is None:
        return None
    have, wanted = DIGITS[unit], 6 if name == "time" else native.UNITS.get(name, DIGITS[unit])
    if name == "date":
        days, rest = divmod(value, native.DAY * 10**have)
        return native.write("timestamp_ns", value * 10 ** (9 - have)) if rest else native.write(type_, days)
    if have > wanted:
        value, rest = divmod(value, 10 ** (have - wanted))
        if rest:
            return f"{native.write(type_, value)} and {rest} of {unit}"
    else:
        value *= 10 ** (wanted - have)
    return native.write(type_, value)


def _exchange_value(type_: Json, name: str, value: Any) -> Json:
    """Convert a value of a primitive type from pyarrow's Python value."""
    if isinstance(value, bytes) and name == "string":
        return value.decode(errors="backslashreplace")
    if isinstance(value, str) and name in ("fixed", "binary", "geometry", "geography"):
        return value.encode().hex().upper()
    if isinstance(value, bytes) and name == "uuid" and len(value) == 16:
        return str(uuid.UUID(bytes=value))
    if isinstance(value, float) and name not in ("float", "double"):
        return native.write("double", value)
    if isinstance(value, Decimal):
        return native.write("decimal", value)
    return native.write(type_, value)


def _struct(type_: Json, array: Column) -> list[Json]:
    """Convert structs to objects of values by field id; fields that the engine's struct does not have are left out."""
    if not pat.is_struct(array.type):
        return _strange(array)
    children = dict(zip((field.name for field in array.type), array.flatten(), strict=True))
    columns = {
        str(field["id"]): values(field["type"], children.pop(field["name"]))
        for field in type_["fields"]
        if field["name"] in children
    }
    columns |= {name: values(None, child) for name, child in children.items()}
    return [
        {name: column[index] for name, column in columns.items()} if there else None
        for index, there in enumerate(array.is_valid().to_pylist())
    ]


def _list(type_: Json, array: Column) -> list[Json]:
    ranges = _ranges(array)
    if ranges is None:
        return _strange(array)
    elements = values(type_["element"], array.values)
    return [None if place is None else elements[place[0] : place[1]] for place in ranges]


def _map(type_: Json, array: Column) -> list[Json]:
    """Convert maps to keys and values; a list of pairs is accepted as a map, too."""
    ranges = _ranges(array)
    if ranges is None:
        return _strange(array)
    if pat.is_map(array.type):
        keys, items = array.keys, array.items
    elif pat.is_struct(array.values.type) and array.values.type.num_fields == 2:
        keys, items = array.values.flatten()
    else:
        return _strange(array)
    entries = values(type_["key"], keys), values(type_["value"], items)
    return [
        None if place is None else {"keys": entries[0][place[0] : place[1]], "values": entries[1][place[0] : place[1]]}
        for place in ranges
    ]


def _ranges(array: Column) -> list[tuple[int, int] | None] | None:
    """Return the start and end of each list's elements, None for nulls; None if the array holds no lists."""
    if pat.is_list(array.type) or pat.is_large_list(array.type) or pat.is_map(array.type):
        ends = array.offsets.to_pylist() if len(array) else []  # without rows, the buffer of offsets may be empty
        ranges = list(pairwise(ends))
    elif pat.is_list_view(array.type) or pat.is_large_list_view(array.type):
        sizes = zip(array.offsets.to_pylist(), array.sizes.to_pylist(), strict=True)
        ranges = [(at, at + size) for at, size in sizes]
    else:
        return None
    return [place if there else None for place, there in zip(ranges, array.is_valid().to_pylist(), strict=True)]


def _variant(_: Json, array: Column) -> list[Json]:
    """Convert variants to their metadata and value buffers.

    Raises:
        Unsupported: the engine returns variants in its own form.
    """
    if pat.is_null(array.type):
        return [None] * len(array)
    if not pat.is_struct(array.type) or {field.name for field in array.type} != {"metadata", "value"}:
        raise Unsupported(f"variants are returned as {array.type}, not as their bytes")
    parts = {field.name: values("binary", child) for field, child in zip(array.type, array.flatten(), strict=True)}
    return [
        {name: part[index] for name, part in parts.items()} if there else None
        for index, there in enumerate(array.is_valid().to_pylist())
    ]


def _untyped(_: Json, array: Column) -> list[Json]:
    return _strange(array)


def _strange(array: Column) -> list[Json]:
    """Convert values without an Iceberg type to JSON by their Arrow type."""
    return [None if value is None else json.loads(json.dumps(value, default=str)) for value in array.to_pylist()]


_NESTED: dict[str, Callable[[Json, Column], list[Json]]] = {
    "struct": _struct,
    "list": _list,
    "map": _map,
    "variant": _variant,
    "None": _untyped,
}
