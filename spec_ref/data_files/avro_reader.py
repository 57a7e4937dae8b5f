"""Rows of Avro files as Arrow batches (Appendix A, Avro; AVR001 to AVR014).

Blocks are read, decompressed and decoded a few at a time. All types are supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from spec_ref.avro_mapping.stored_types import entry_fields, split_optional, type_from_avro
from spec_ref.columnar.arrow_types import ArrowColumn
from spec_ref.columnar.encodings.avro.batches import ColumnDecoder, DecompressedBlock
from spec_ref.columnar.encodings.avro.batches import batches as grouped
from spec_ref.columnar.encodings.avro.columns import (
    DecodedColumn,
    ListColumn,
    NullColumn,
    RecordColumn,
    decode_lazy,
    entry_record,
    split_nulls,
)
from spec_ref.columnar.schemas.arrow_columns import arrow_type
from spec_ref.core.errors import error_path, spec_error
from spec_ref.data_files.batches import empty_batch, slice_batch
from spec_ref.data_types.types import (
    STRING,
    UUID,
    VARIANT,
    DecimalType,
    FixedType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    kind,
)
from spec_ref.encodings.avro.container import LIMITS, SCHEMA_KEY, open_container
from spec_ref.encodings.avro.types import Array, AvroType, Map, Record, Union, parse_schema
from spec_ref.encodings.random_access_bytes import open_source
from spec_ref.schemas.column_ids import ColumnIds, column_ids
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField

REQUIREMENT = "AVR014"
FILE_LIMITS = attrs.evolve(LIMITS, total_bytes=1 << 40)
"""Blocks are released as soon as their rows are read, so that only the size of each block matters."""


def open_avro(file: Any, mapping: Sequence[MappedField] | None) -> tuple[FileColumns, Any]:
    """Open an Avro file; see `spec_ref.data_files.reader.open_rows`.

    Args:
        file: a seekable binary file object.
        mapping: the table's name mapping; None if it has none.

    Returns:
        The columns of the file, and the function that reads its batches.

    Raises:
        SpecError: the code `REQUIREMENT` of this module if it is not an Avro file of records; AVR001 to AVR014 if the
            columns have no ids or are malformed.
    """
    container = open_container(open_source(file), REQUIREMENT, FILE_LIMITS)
    schema = parse_schema(container.metadata[SCHEMA_KEY], REQUIREMENT)
    if not isinstance(schema, Record):
        found = type(schema).__name__
        raise spec_error(REQUIREMENT, "the objects of the data file are not records", found=found, expected="a record")
    own = _has_ids(schema)
    ids = column_ids("AVR013", own, mapping)
    struct, places = _columns(schema, ids)
    written = FileColumns(struct, mapped=ids.mapping is not None, unreadable=tuple(ids.left_out))

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        wanted = [(field, places[field.id]) for field in struct.fields if field.name in columns]
        skipped = {field.id for field in struct.fields if field.name not in columns}
        column_decoder = ColumnDecoder(schema, lazy=skipped if own else ())
        first = 0
        for parts in grouped(DecompressedBlock(count, payload) for count, payload in container.payloads()):
            column = column_decoder.decode(parts, REQUIREMENT, first)
            first += column.length
            yield from slice_batch(_batch(schema, wanted, column), rows)

    return written, batches


def _batch(schema: Record, wanted: Sequence[tuple[NestedField, int]], column: DecodedColumn) -> pa.RecordBatch:
    record = decode_lazy(column)
    if not wanted:
        made: pa.RecordBatch = empty_batch(record.length)
        return made
    assert isinstance(record, RecordColumn)
    arrays = []
    for field, place in wanted:
        with error_path(f"/{field.name}"):
            arrays.append(_array(schema.fields[place].type, field.type, record.fields[place]))
    return pa.RecordBatch.from_arrays(arrays, [field.name for field, _ in wanted])


# Types with ids


def _has_ids(type_: AvroType) -> bool:
    match type_:
        case Record(_, fields):
            return any(field.id is not None or _has_ids(field.type) for field in fields)
        case Array(items, element_id):
            return element_id is not None or _has_ids(items)
        case Map(values, key_id, value_id):
            return key_id is not None or value_id is not None or _has_ids(values)
        case Union(branches):
            return any(map(_has_ids, branches))
        case _:
            return False


def _columns(record: Record, ids: ColumnIds) -> tuple[StructType, dict[int, int]]:
    """Find the fields of a record that have ids, and the index of each."""
    fields, places = [], {}
    for place, field in enumerate(record.fields):
        column = ids.column(field.name, partial(getattr, field, "id"), partial(_present_type, field.type))
        if column is not None:
            fields.append(NestedField(column[0], field.name, split_optional(field.type)[1], column[1]))
            places[column[0]] = place
    return StructType(tuple(fields)), places


def _present_type(type_: AvroType, ids: ColumnIds) -> Type:
    return _type(split_optional(type_)[0], ids)


def _type(type_: AvroType, ids: ColumnIds) -> Type:
    match type_:
        case Record():
            if ids.mapping is None and _is_variant(type_):
                return VARIANT
            return _columns(type_, ids)[0]
        case Array(items, element_id, logical_map):
            if logical_map:
                key, value = entry_fields(items)
                return _map((key.id, key.type), (value.id, value.type), ids)
            part_id, part, required = _part("element", element_id, items, ids)
            return ListType(part_id, part, required)
        case Map(values, key_id, value_id):
            return _map((key_id, None), (value_id, values), ids)
        case _:
            return type_from_avro(type_)


def _is_variant(record: Record) -> bool:
    """Decide whether a record is a variant: metadata and value without ids (AVR011)."""
    names = [field.name for field in record.fields]
    return names == ["metadata", "value"] and all(field.id is None for field in record.fields)


def _part(name: str, stored_id: int | None, type_: AvroType, ids: ColumnIds) -> tuple[int, Type, bool]:
    with error_path(f"/{name}"):
        part_id = ids.find_id(name, stored_id)
        if part_id is None:
            raise spec_error("AVR013", f"the name mapping has no id for {name}")
        inner, required = split_optional(type_)
        return part_id, _type(inner, ids.child_ids(name)), required


def _map(key: tuple[int | None, AvroType | None], value: tuple[int | None, AvroType], ids: ColumnIds) -> MapType:
    if key[1] is None:
        key_id, key_type = ids.find_id("key", key[0]), STRING
        if key_id is None:
            raise spec_error("AVR013", "the name mapping has no id for the key")
        return MapType(key_id, key_type, *_part("value", *value, ids))
    key_id, made, _ = _part("key", key[0], key[1], ids)
    return MapType(key_id, made, *_part("value", *value, ids))


# Values


def _array(type_: AvroType, as_type: Type, column: DecodedColumn) -> ArrowColumn:
    """Convert a decoded column to an Arrow array of the Iceberg type that it is read as."""
    length = column.length
    rows, values = split_nulls(column)
    if isinstance(values, NullColumn):
        return pa.nulls(length)
    made = _values(split_optional(type_)[0], as_type, values)
    if rows is None:
        return made
    places = np.full(length, -1, np.int64)
    places[rows] = np.arange(len(rows))
    return made.take(pa.array(places, mask=places < 0))


def _values(type_: AvroType, as_type: Type, column: Any) -> ArrowColumn:
    match as_type, type_:
        case StructType(fields), Record():
            places = {field.name: place for place, field in enumerate(type_.fields)}
            arrays = []
            for field in fields:
                with error_path(f"/{field.name}"):
                    place = places[field.name]
                    arrays.append(_array(type_.fields[place].type, field.type, column.fields[place]))
            return _struct([field.name for field in fields], arrays, column.length)
        case _, Record():  # a variant
            parts = [
                _array(field.type, type_from_avro(field.type), part)
                for field, part in zip(type_.fields, column.fields, strict=True)
            ]
            return _struct(["metadata", "value"], parts, column.length)
        case ListType(_, element), Array(items):
            made, offsets = _items(items, element, column)
            return pa.ListArray.from_arrays(offsets, made)
        case MapType(), _:
            return _entries(type_, as_type, column)
        case DecimalType(precision, scale), _:
            return _decimals(precision, scale, column.to_bytes())
        case FixedType(length), _:
            return pa.array(column.to_bytes(), pa.binary(length))
        case _ if as_type == UUID:
            return pa.array(column.to_bytes(), pa.binary(16))
        case _ if as_type == STRING:
            return pa.array(column.to_list(), pa.string())
        case _ if kind(as_type) == "binary":
            return pa.array(column.to_bytes(), pa.binary())
        case _:
            return _numbers(as_type, column.values)


_NUMBERS: dict[str, Any] = {
    "boolean": np.bool_,
    "int": np.int32,
    "long": np.int64,
    "float": np.float32,
    "double": np.float64,
    "date": np.int32,
    "time": np.int64,
    "timestamp": np.int64,
    "timestamptz": np.int64,
    "timestamp_ns": np.int64,
    "timestamptz_ns": np.int64,
}


def _numbers(as_type: Type, values: Any) -> ArrowColumn:
    """Make an array of the stored numbers; those of dates and times stay integers, which their readers accept."""
    return pa.array(values.astype(_NUMBERS[kind(as_type)]))


def _struct(names: Sequence[str], arrays: Sequence[Any], length: int) -> ArrowColumn:
    type_ = pa.struct([pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)])
    return pa.StructArray.from_buffers(type_, length, [None], children=list(arrays))


def _items(items: AvroType, element: Type, column: ListColumn) -> tuple[ArrowColumn, ArrowColumn]:
    """Read the items of all lists one after another, and the offsets of the lists."""
    owners, arrays = [np.zeros(0, np.intp)], []
    for rows, part in column.slots:
        owners.append(np.arange(column.length) if rows is None else rows)
        arrays.append(_array(items, element, part))
    owner = np.concatenate(owners)
    offsets = np.zeros(column.length + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=column.length), out=offsets[1:])
    typed = [array for array in arrays if not pa.types.is_null(array.type)]
    if not typed:
        return pa.nulls(len(owner)), pa.array(offsets)
    joined = pa.concat_arrays([array.cast(typed[0].type) if array.type != typed[0].type else array for array in arrays])
    return joined.take(pa.array(np.argsort(owner, kind="stable"))), pa.array(offsets)


def _entries(type_: AvroType, as_type: MapType, column: ListColumn) -> ArrowColumn:
    record = split_optional(type_.items)[0] if isinstance(type_, Array) else entry_record(type_.values)  # type: ignore[union-attr]
    assert isinstance(record, Record)
    key, value = record.fields
    struct = StructType(
        (
            NestedField(as_type.key_id, key.name, required=True, type=as_type.key),
            NestedField(as_type.value_id, value.name, required=as_type.value_required, type=as_type.value),
        )
    )
    made, offsets = _items(record, struct, column)
    if pa.types.is_null(made.type):
        if len(made):
            return pa.nulls(column.length)
        nothing = [pa.nulls(0, arrow_type(inner)) for inner in (as_type.key, as_type.value)]
        return pa.MapArray.from_arrays(offsets, *nothing)
    return pa.MapArray.from_arrays(offsets, made.field(0), made.field(1))


def _decimals(precision: int, scale: int, values: Sequence[bytes]) -> ArrowColumn:
    """Make decimals from their unscaled values in big-endian two's complement."""
    numbers = [int.from_bytes(value, "big", signed=True) for value in values]
    limit = 10**precision
    for number in numbers:
        if abs(number) >= limit:
            raise spec_error("TYP013", f"the value is not a valid decimal({precision}, {scale})", found=number)
    data = b"".join(number.to_bytes(16, "little", signed=True) for number in numbers)
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(values), [None, pa.py_buffer(data)])
