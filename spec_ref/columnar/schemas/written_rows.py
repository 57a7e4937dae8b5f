"""Convert rows to be written to the schema of the table (Schemas and Data Types; Default Values).

The definition, on one row, is `spec_ref.schemas.written_rows.written_row`. Here the columns of an input are found by
name; the result has every column of the schema, in its order and in the Arrow types of
`spec_ref.columnar.schemas.column_projection`, and contains only values of the types.

Decided here, because the text leaves it open: a value of a wider Arrow type is accepted if it is exactly a value of the
schema's type. For example, 5 in a 64-bit column is accepted as an int, 1.5 in a 64-bit column as a float, and
nanoseconds that are whole microseconds as a timestamp. Any other value is refused, never truncated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import check_arrow_type, check_values, validity_buffer
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.columnar.schemas.arrow_columns import arrow_field, arrow_type
from spec_ref.columnar.schemas.column_projection import check_no_nulls, constant_array, list_reader, map_reader
from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.types import (
    UNKNOWN,
    UUID,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    is_primitive,
    kind,
)
from spec_ref.data_types.values import check_unique_keys, value_requirement
from spec_ref.encodings.variant.physical_types import Variant
from spec_ref.encodings.variant.value import decode_variant
from spec_ref.schemas.default_values import effective_write_default
from spec_ref.schemas.schema import Column
from spec_ref.schemas.written_rows import check_column_names

Array: TypeAlias = Any
ArrowType: TypeAlias = Any
Convert: TypeAlias = Callable[[Array], Array]


@record
class InputRows:
    """Converts the rows of one input to rows of the schema."""

    schema: pa.Schema
    """The Arrow schema of the converted rows."""

    _converters: tuple[tuple[int | None, Callable[[Any], Array]], ...]

    def __call__(self, batch: pa.RecordBatch, first_row: int = 0) -> pa.RecordBatch:
        """Convert a batch of the input to the schema.

        Args:
            batch: some rows of the input.
            first_row: the number of the first one, for errors, whose path starts with the number of the row.

        Returns:
            The converted batch.

        Raises:
            SpecError: TYP002 to TYP004 if a required value is null; the code of the type if a value is not of it.
        """
        try:
            return self._convert(batch)
        except SpecError:
            row = self._first_invalid_row(batch)
            with error_path(f"/{first_row + row}"):
                self._convert(batch.slice(row, 1))
            raise

    def _convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = []
        for field, (place, make) in zip(self.schema, self._converters, strict=True):
            with error_path(f"/{field.name}"):
                arrays.append(make(batch.num_rows if place is None else batch.column(place)))
        if not arrays:
            return batch.select([])
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _first_invalid_row(self, batch: pa.RecordBatch) -> int:
        """Find the first row that cannot be converted, by bisection."""
        low, high = 0, batch.num_rows
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._convert(batch.slice(low, middle - low))
            except SpecError:
                high = middle
            else:
                low = middle
        return low


def compile_input(fields: Sequence[NestedField], schema: pa.Schema) -> InputRows:
    """Prepare the conversion of an input.

    Args:
        fields: the columns of the schema.
        schema: the Arrow schema of the batches.

    Returns:
        The conversion of its batches.

    Raises:
        SpecError: TYP002 for a column that the schema does not have, or that the input has twice; DEF007 for a required
            column that is missing and has no write default; the code of the type for an Arrow type that cannot hold its
            values.
    """
    check_column_names([field.name for field in fields], schema.names)
    made: list[tuple[int | None, Callable[[Any], Array]]] = []
    for field in fields:
        with error_path(f"/{field.name}"):
            place = schema.get_field_index(field.name)
            if place < 0:
                made.append((None, _default(field)))
            else:
                made.append((place, _field(field, schema.field(place).type)))
    return InputRows(pa.schema(list(map(arrow_field, fields))), tuple(made))


def column_array(batch: pa.RecordBatch, column: Column) -> Array:
    """Find the values of a column that may be inside structs.

    Args:
        batch: the rows.
        column: the column.

    Returns:
        The values; null where a struct that contains it is null.
    """
    array: Any = batch.column(column.path[0])
    for name in column.path[1:]:
        array = pc.struct_field(array, [array.type.get_field_index(name)])
    return array


def _default(field: NestedField) -> Callable[[int], Array]:
    value = effective_write_default(field)
    return lambda length: constant_array(field.type, value, length)


def _field(field: NestedField, source: ArrowType) -> Convert:
    convert = _converter(field.type, source)
    if not field.required:
        return convert

    def checked(array: Array) -> Array:
        made = convert(array)
        check_no_nulls(field.type, made, None, "TYP002")
        return made

    return checked


def _converter(type_: Type, source: ArrowType) -> Convert:
    source = _value_type(source)
    if pa.types.is_null(source):
        return lambda array: pa.nulls(len(array), arrow_type(type_))
    match type_:
        case StructType(fields):
            return _struct(type_, fields, source)
        case ListType(_, element, required):
            return _list(type_, element, source, required=required)
        case MapType():
            return _map(type_, source)
        case _ if kind(type_) == "variant":
            return _variant(type_, source)
        case _:
            return _primitive(type_, source)


def _value_type(source: ArrowType) -> ArrowType:
    if isinstance(source, pa.BaseExtensionType) and not isinstance(source, pa.UuidType):
        source = source.storage_type
    return source.value_type if pa.types.is_dictionary(source) else source


# Nested types


def _unsupported_type_error(requirement: str, type_: Type, source: ArrowType) -> SpecError:
    return spec_error(requirement, f"the Arrow type cannot hold {kind(type_)}", found=Description(str(source)))


def _struct(type_: Type, fields: Sequence[NestedField], source: ArrowType) -> Convert:
    if not pa.types.is_struct(source):
        raise _unsupported_type_error("TYP002", type_, source)
    children: list[tuple[int | None, NestedField, Any]] = []
    names = [source.field(place).name for place in range(source.num_fields)]
    check_column_names([field.name for field in fields], names)
    for field in fields:
        with error_path(f"/{field.name}"):
            place = names.index(field.name) if field.name in names else None
            make = _default(field) if place is None else _converter(field.type, source.field(place).type)
            children.append((place, field, make))
    target = arrow_type(type_)

    def convert(array: Array) -> Array:
        array = storage_array(array)
        # The child values of a null are not values of the column, and are arbitrary.
        parts = (
            array.flatten() if array.null_count else [array.field(number) for number in range(array.type.num_fields)]
        )
        made = []
        for place, field, make in children:
            with error_path(f"/{field.name}"):
                made.append(make(len(array)) if place is None else make(parts[place]))
                if field.required:
                    check_no_nulls(field.type, made[-1], array, "TYP002")
        return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=made)

    return convert


def _is_list(source: ArrowType) -> bool:
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view)
    return any(test(source) for test in tests)


def _list(type_: Type, element: Type, source: ArrowType, *, required: bool) -> Convert:
    if not _is_list(source):
        raise _unsupported_type_error("TYP003", type_, source)
    with error_path("/element"):
        inner = _converter(element, source.value_type)
    return list_reader(arrow_type(type_), element, inner, required=required)


def _map(type_: MapType, source: Any) -> Convert:
    if not pa.types.is_map(source):
        raise _unsupported_type_error("TYP004", type_, source)
    with error_path("/key"):
        read_keys = _converter(type_.key, source.key_type)
    with error_path("/value"):
        read_values = _converter(type_.value, source.item_type)
    return map_reader(
        arrow_type(type_),
        type_,
        read_keys,
        read_values,
        required=type_.value_required,
        check=functools.partial(_refuse_repeated_keys, type_),
    )


def _refuse_repeated_keys(type_: MapType, keys: Array, offsets: Any) -> None:
    """Refuse a map that repeats a key."""
    if not is_primitive(type_.key):
        values = to_python_values(type_.key, keys)
        for start, end in pairwise(offsets.tolist()):
            check_unique_keys(type_, tuple(values[start:end]))
        return
    codes = np.asarray(with_comparable_floats(storage_array(keys)).dictionary_encode().indices).astype(np.int64)
    pairs = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * max(len(keys), 1) + codes
    ordered = np.sort(pairs)
    if (ordered[1:] == ordered[:-1]).any():
        twice = int(ordered[1:][ordered[1:] == ordered[:-1]][0]) % len(keys)
        found = keys[int(np.flatnonzero(codes == twice)[0])]
        raise spec_error("TYP004", "the map has a repeated key", found=Description(str(found)))


def with_comparable_floats(array: Array) -> Array:
    """Convert an array so that Arrow finds the same values equal as the spec: floats by their bits, with one NaN.

    Args:
        array: an Arrow array.

    Returns:
        The array.
    """
    if not pa.types.is_floating(array.type):
        return array
    values = np.array(array.fill_null(0.0))
    values[np.isnan(values)] = np.nan
    integers = values.view(np.int32 if values.dtype == np.float32 else np.int64)
    return pa.array(integers, mask=np.asarray(array.is_null()))


def _variant(type_: Type, source: ArrowType) -> Convert:
    names = [source.field(place).name for place in range(source.num_fields)] if pa.types.is_struct(source) else []
    if sorted(names) != ["metadata", "value"]:
        raise spec_error("TYP006", "the variant is not a struct of metadata and value", found=Description(str(source)))
    target = arrow_type(type_)

    def convert(array: Array) -> Array:
        array = storage_array(array)
        parts = [array.field(names.index(name)).cast(pa.binary()) for name in ("metadata", "value")]
        for part in parts:
            check_no_nulls(type_, part, array, "TYP006")
        for metadata, value, valid in zip(
            *(part.to_pylist() for part in parts), array.is_valid().to_pylist(), strict=True
        ):
            if valid:
                decode_variant(Variant(metadata, value))
        return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=parts)

    return convert


# Primitive types


def _is_bytes(source: ArrowType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(source) for test in tests)


def _is_text(source: ArrowType) -> bool:
    return any(test(source) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _is_local(source: ArrowType) -> bool:
    return bool(pa.types.is_timestamp(source) and source.tz is None)


def _is_instant(source: ArrowType) -> bool:
    return bool(pa.types.is_timestamp(source) and source.tz is not None)


_WIDER: dict[str, Callable[[ArrowType], bool]] = {
    **dict.fromkeys(("int", "long"), pa.types.is_integer),
    **dict.fromkeys(("float", "double"), pa.types.is_floating),
    **dict.fromkeys(("timestamp", "timestamp_ns"), _is_local),
    **dict.fromkeys(("timestamptz", "timestamptz_ns"), _is_instant),
    **dict.fromkeys(("fixed", "binary", "geometry", "geography"), _is_bytes),
    "decimal": pa.types.is_decimal,
    "date": pa.types.is_date,
    "time": pa.types.is_time,
    "string": _is_text,
    "uuid": lambda source: isinstance(source, pa.UuidType) or _is_bytes(source),
}
"""The Arrow types, by Iceberg type, from which values may be converted; for other types, only the type's own."""

_CHECKED_TYPES = frozenset({"string", "decimal", "time", "geometry", "geography"})
"""The types that have fewer values than their Arrow types."""


def _primitive(type_: Type, source: ArrowType) -> Convert:
    name = kind(type_)
    if name not in _WIDER or not _WIDER[name](source):
        check_arrow_type(type_, source)
    target = arrow_type(type_)
    stored = pa.binary(16) if type_ == UUID else target

    def convert(array: Array) -> Array:
        if type_ == UNKNOWN:
            return pa.nulls(len(array))
        array = storage_array(array)
        if pa.types.is_null(array.type):
            return pa.nulls(len(array), target)
        made = array if array.type == stored else _cast(type_, array, stored)
        if name in _CHECKED_TYPES:
            check_values(type_, made)
        return pa.ExtensionArray.from_storage(target, made) if type_ == UUID else made

    return convert


def _cast(type_: Type, array: Array, stored: Any) -> Array:
    """Convert the values to the Arrow type in which they are stored, if it can represent all of them."""
    if pa.types.is_fixed_size_binary(stored):
        if pa.types.is_binary_view(array.type):
            array = array.cast(pa.large_binary())
        kernels: Any = pc
        lengths = np.asarray(kernels.binary_length(array).drop_null())
        if (lengths != stored.byte_width).any():
            found = Description(f"{lengths[lengths != stored.byte_width][0]} bytes")
            raise spec_error(value_requirement(type_), f"the value is not a valid {type_}", found=found)
    try:
        made = array.cast(stored)
    except pa.ArrowInvalid as error:
        raise spec_error(
            value_requirement(type_), f"the value is not a valid {type_}", found=Description(str(error))
        ) from error
    if pa.types.is_float32(stored) and pa.types.is_float64(array.type):
        back, before = (np.asarray(one.drop_null()) for one in (made.cast(pa.float64()), array))
        wrong = (back != before) & ~np.isnan(before)
        if wrong.any():
            value = float(before[wrong][0])
            raise spec_error(
                value_requirement(type_), f"the value is not a valid {type_}", found=value, expected="32 bits"
            )
    return made
