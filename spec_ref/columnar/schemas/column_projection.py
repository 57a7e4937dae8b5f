"""Column projection over Arrow batches: the kernel for `spec_ref.schemas.column_projection.project_row`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import check_values, validity_buffer
from spec_ref.columnar.encodings.variant.shredding import unshred
from spec_ref.columnar.manifests.computed_metrics import comparable_array, storage_array
from spec_ref.columnar.schemas.arrow_columns import Array, ArrowType, arrow_field, arrow_type
from spec_ref.core.calendar import UNITS_PER_DAY
from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.core.records import evolve, record
from spec_ref.data_types.types import (
    DATE,
    UNKNOWN,
    UUID,
    ListType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
    Type,
    kind,
)
from spec_ref.schemas.column_projection import (
    Constants,
    FileColumns,
    check_readable,
    check_selected,
    missing_value,
    source_column,
)

Read: TypeAlias = Callable[[Array], Array]

_TIMESTAMPS = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_CHECKED_TYPES = frozenset({"string", "decimal", "time"})
"""The types for which a file may store data that is not a value, so that values are checked; WKB and variants are not
parsed."""


def constant_array(type_: Type, value: Any, length: int) -> Array:
    """Repeat one value of the spec.

    Args:
        type_: the type of the value.
        value: the value, or None.
        length: the length of the array.

    Returns:
        The Arrow array.
    """
    array = arrow_values(type_, [value])
    if type_ == UNKNOWN:
        return pa.nulls(length)
    return array.take(pa.repeat(0, length))


def arrow_values(type_: Type, values: Sequence[Any]) -> Array:
    """Convert values of the spec to an Arrow array.

    Args:
        type_: the type of the values.
        values: the values, None for null.

    Returns:
        The array, in the type that `arrow_type` returns.
    """
    return _to_arrow_type(type_, pa.array([_storage_value(type_, value) for value in values], _storage_type(type_)))


def _storage_value(type_: Type, value: Any) -> Any:
    """Convert a value to the form that Arrow accepts: structs by name, maps as pairs, counts unchanged."""
    if value is None:
        return None
    match type_:
        case StructType(fields):
            return {field.name: _storage_value(field.type, value.get(field.id)) for field in fields}
        case ListType(_, element):
            return [_storage_value(element, item) for item in value]
        case MapType(_, key, _, item_type):
            return [(_storage_value(key, one), _storage_value(item_type, item)) for one, item in value]
        case _ if kind(type_) == "variant":
            return {"metadata": value.metadata, "value": value.value}
        case _:
            return value.bytes if isinstance(value, uuid.UUID) else value


def _storage_type(type_: Type) -> ArrowType:
    """Replace the uuid extension in a type, at any depth, because Arrow cannot convert Python values to it."""
    match type_:
        case StructType(fields):
            return pa.struct([pa.field(field.name, _storage_type(field.type)) for field in fields])
        case ListType(_, element):
            return pa.list_(_storage_type(element))
        case MapType(_, key, _, value):
            return pa.map_(_storage_type(key), _storage_type(value))
        case _:
            return pa.binary(16) if type_ == UUID else arrow_type(type_)


def _to_arrow_type(type_: Type, array: Array) -> Array:
    """Convert an array of a storage type, as `_storage_type` returns it, to the Arrow type of the values."""
    return array if array.type == arrow_type(type_) else _reader(type_, type_, {}, mapped=False)(array)


def canonical_array(type_: Type, array: Array) -> Array:
    """Convert a column of a file, as the reader of a format returns it, to its Arrow type; nulls are allowed.

    Args:
        type_: the type of the column in the file.
        array: the column, in any Arrow type that the reader of a format returns for it.

    Returns:
        The values in the type that `arrow_type` returns.

    Raises:
        SpecError: the column has a value that is not of the type.
    """
    optional = optional_parts(type_)
    return _with_dictionaries(_reader(optional, optional, {}, mapped=False))(array)


def optional_parts(type_: Type) -> Type:
    """Make a type whose fields, elements and values, at any depth, may be null.

    Args:
        type_: any type.

    Returns:
        The type.
    """
    match type_:
        case StructType(fields):
            return StructType(tuple(evolve(one, type=optional_parts(one.type), required=False) for one in fields))
        case ListType(_, element):
            return evolve(type_, element=optional_parts(element), element_required=False)
        case MapType(_, key, _, value):
            return evolve(type_, key=optional_parts(key), value=optional_parts(value), value_required=False)
        case _:
            return type_


# The projection of one file


@record
class FileProjection:
    """Converts the batches of one file to batches of the schema."""

    columns: tuple[str, ...]
    """The names of the file's columns that are needed, without repetitions."""

    schema: pa.Schema
    _readers: tuple[tuple[str | None, Read | Callable[[int], Array]], ...]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Convert a batch to the schema.

        Args:
            batch: some rows of the file, with the columns that `columns` names and possibly others.

        Returns:
            The converted batch.

        Raises:
            SpecError: TYP002 to TYP004 if a required value is null; the code of the type if a value is not of it.
        """
        arrays = []
        for field, (name, make) in zip(self.schema, self._readers, strict=True):
            with error_path(f"/{field.name}"):
                arrays.append(make(batch.num_rows) if name is None else make(find_column(batch, name)))
        if not arrays:
            return batch.select([])
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def compile_projection(
    fields: Sequence[NestedField], file_columns: FileColumns, constants: Constants
) -> FileProjection:
    """Prepare the projection of a file, as `spec_ref.schemas.column_projection.project_row` defines it.

    Args:
        fields: the fields to read, of the table's schema.
        file_columns: the columns of the file.
        constants: the identity partition values of the file, by field id.

    Returns:
        The projection of its batches.

    Raises:
        SpecError: PRJ001 or PRJ005 for a field with several columns or without a value; EVO003 for a type that is not
            promoted from that of the file; the problem of a column that cannot be read.
    """
    check_selected(fields, file_columns)
    made: list[tuple[str | None, Any]] = []
    for field in fields:
        with error_path(f"/{field.name}"):
            column = source_column(field, file_columns.struct, constants, mapped=file_columns.mapped)
            if column is None:
                made.append((None, _constant(field, missing_value(field, constants))))
            else:
                made.append((column.name, _field(field, column, constants, mapped=file_columns.mapped)))
    names = tuple(dict.fromkeys(name for name, _ in made if name is not None))
    return FileProjection(names, pa.schema(list(map(arrow_field, fields))), tuple(made))


def find_column(batch: pa.RecordBatch, name: str) -> Array:
    """Find a column by its name.

    Args:
        batch: some rows.
        name: the name of one column.

    Returns:
        The column.

    Raises:
        SpecError: PRJ001, if there is none, or several.
    """
    place = batch.schema.get_field_index(name)
    if place < 0:
        raise spec_error("PRJ001", "the file does not have exactly one column with the name", found=name)
    return batch.column(place)


def _constant(field: NestedField, value: Any) -> Callable[[int], Array]:
    return lambda length: constant_array(field.type, value, length)


def _with_dictionaries(read: Read) -> Read:
    """Make a reader accept dictionary arrays; it reads each value of a dictionary once."""

    def whole(array: Array) -> Array:
        if not pa.types.is_dictionary(array.type):
            return read(array)
        try:
            return read(array.dictionary).take(array.indices)
        except SpecError:  # the dictionary may have a value that no row has
            return read(array.dictionary_decode())

    return whole


def _field(field: NestedField, column: NestedField, constants: Constants, *, mapped: bool) -> Read:
    """Read a column as a field, and refuse null if the field is required."""
    read = _with_dictionaries(_reader(field.type, column.type, constants, mapped=mapped))
    if not field.required:
        return read

    def checked(array: Array) -> Array:
        made = read(array)
        check_no_nulls(field.type, made, None, "TYP002")
        return made

    return checked


def check_no_nulls(type_: Type, array: Array, parent: Array | None, requirement: str) -> None:
    """Refuse nulls where the parent is not null.

    Args:
        type_: the type of the values.
        array: the values of a required field, element, key or value.
        parent: the struct that contains them; None if there is none.
        requirement: the code to raise.

    Raises:
        SpecError: ``requirement`` if a required value is null.
    """
    if array.null_count == 0:
        return
    if parent is None or parent.null_count == 0 or pc.any(pc.and_(parent.is_valid(), array.is_null())).as_py():
        raise spec_error(requirement, "a required value is null", expected=f"a value of {kind(type_)}")


def _reader(type_: Type, file_type: Type, constants: Constants, *, mapped: bool) -> Read:
    """Make the function that reads arrays of a type as another; all Arrow types that formats use are accepted."""
    target = arrow_type(type_)
    match type_, file_type:
        case StructType(fields), StructType():
            return _with_arrow_errors(type_, _struct_reader(fields, file_type, target, constants, mapped=mapped))
        case ListType(_, element, required), ListType(_, old, _):
            with error_path("/element"):
                inner = _reader(element, old, constants, mapped=mapped)
            return _with_arrow_errors(type_, list_reader(target, element, inner, required=required))
        case MapType(_, key, _, value, required), MapType(_, old_key, _, old_value, _):
            with error_path("/key"):
                key_reader = _reader(key, old_key, constants, mapped=mapped)
            with error_path("/value"):
                value_reader = _reader(value, old_value, constants, mapped=mapped)
            return _with_arrow_errors(type_, map_reader(target, type_, key_reader, value_reader, required=required))
        case PrimitiveType("unknown"), _:
            return lambda array: pa.nulls(len(array))
        case _:
            check_readable(file_type, type_)
            return _with_arrow_errors(type_, _primitive_reader(type_, file_type, target))


def _with_arrow_errors(type_: Type, read: Read) -> Read:
    target = arrow_type(type_)

    def read_or_explain(array: Array) -> Array:
        if pa.types.is_null(array.type):  # a column that holds only nulls
            return pa.nulls(len(array), target)
        try:
            return read(array)
        except (pa.ArrowException, AttributeError) as error:
            message = f"the column does not hold values of {type_}: {error}"
            raise spec_error("DFL005", message, found=Description(str(array.type))) from error

    return read_or_explain


def _struct_reader(
    fields: Sequence[NestedField], file_struct: StructType, target: ArrowType, constants: Constants, *, mapped: bool
) -> Read:
    children: list[tuple[str | None, NestedField, Any]] = []
    for field in fields:
        with error_path(f"/{field.name}"):
            column = source_column(field, file_struct, constants, mapped=mapped)
            if column is None:
                children.append((None, field, _constant(field, missing_value(field, constants))))
            else:
                children.append((column.name, field, _reader(field.type, column.type, constants, mapped=mapped)))

    def read(array: Array) -> Array:
        array = storage_array(array)
        made = []
        for name, field, make in children:
            with error_path(f"/{field.name}"):
                if name is None:
                    made.append(make(len(array)))
                    continue
                place = array.type.get_field_index(name)
                if place < 0:
                    raise spec_error("PRJ001", "the struct does not have exactly one field with the name", found=name)
                made.append(make(array.field(place)))
                if field.required:
                    check_no_nulls(field.type, made[-1], array, "TYP002")
        return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=made)

    return read


def list_ranges(array: Array) -> tuple[Any, int, int]:
    """Find the offsets of a list or map array, counted from 0, and the range of its values.

    An array without rows may have an empty buffer of offsets: Arrow's Java library makes such arrays, and reading the
    one offset that Arrow's format requires would read beyond the buffer.

    Args:
        array: a list or map array.

    Returns:
        The buffer of the offsets, the index of the first value, and the number of values.
    """
    offsets = np.asarray(array.offsets) if len(array) else np.zeros(1, np.int32)
    first, last = int(offsets[0]), int(offsets[-1])
    return pa.array((offsets - first).astype(np.int32)).buffers()[1], first, last - first


def _without_values_of_nulls(array: Array) -> Array:
    """Drop the items that a list or map array stores for nulls, which are not values of the column."""
    if array.null_count and np.diff(np.asarray(array.offsets))[np.asarray(array.is_null())].any():
        return array.take(pa.array(np.arange(len(array))))
    return array


def list_reader(target: ArrowType, element: Type, inner: Read, *, required: bool) -> Read:
    """Make the function that reads lists of any layout as lists of an Arrow type.

    Args:
        target: the Arrow type of the result.
        element: the type of the elements.
        inner: the function that reads the elements.
        required: whether a null element is an error.

    Returns:
        The function.
    """

    def read(array: Array) -> Array:
        array = storage_array(array)
        if not pa.types.is_list(array.type):
            array = array.cast(pa.list_(array.type.value_type))
        array = _without_values_of_nulls(array)
        offsets, first, count = list_ranges(array)
        with error_path("/element"):
            values = inner(array.values.slice(first, count))
            if required:
                check_no_nulls(element, values, None, "TYP003")
        return pa.ListArray.from_buffers(target, len(array), [validity_buffer(array), offsets], children=[values])

    return read


def map_reader(
    target: Any,
    type_: MapType,
    read_keys: Read,
    read_values: Read,
    *,
    required: bool,
    check: Callable[[Array, Any], None] | None = None,
) -> Read:
    """Make the function that reads maps of any layout as maps of an Arrow type.

    Args:
        target: the Arrow type of the result.
        type_: the type of the maps.
        read_keys: the function that reads the keys.
        read_values: the function that reads the values.
        required: whether a null value is an error.
        check: receives the keys of all maps and the offsets of each map; None for no check.

    Returns:
        The function.
    """
    entries = pa.struct([target.key_field, target.item_field])

    def read(array: Array) -> Array:
        array = _without_values_of_nulls(storage_array(array))
        offsets, first, count = list_ranges(array)
        with error_path("/key"):
            keys = read_keys(array.keys.slice(first, count))
            check_no_nulls(type_.key, keys, None, "TYP004")
            if check is not None:
                check(keys, np.frombuffer(offsets, np.int32, len(array) + 1))
        with error_path("/value"):
            values = read_values(array.items.slice(first, count))
            if required:
                check_no_nulls(type_.value, values, None, "TYP004")
        pairs = pa.StructArray.from_buffers(entries, count, [None], children=[keys, values])
        return pa.Array.from_buffers(target, len(array), [validity_buffer(array), offsets], children=[pairs])

    return read


def _primitive_reader(type_: Type, file_type: Type, target: ArrowType) -> Read:
    name = kind(type_)

    def read(array: Array) -> Array:
        if file_type == UNKNOWN:  # every value is null, whatever the Parquet type (PQT006)
            return pa.nulls(len(array), target)
        array = storage_array(array)
        if file_type == DATE and type_ != DATE:
            return _promoted_dates(type_, array, target)
        if name in _TIMESTAMPS and array.type != target:
            return comparable_array(file_type, array).cast(target)
        if name == "variant":
            return _variant(array, target)
        made = array
        if type_ == UUID:
            return pa.ExtensionArray.from_storage(target, array.cast(pa.binary(16)))
        if array.type != target:
            made = array.cast(target)
        if name in _CHECKED_TYPES:
            check_values(type_, made)
        return made

    return read


def _promoted_dates(type_: Type, array: Array, target: ArrowType) -> Array:
    """Convert days to timestamps at midnight; a day out of their range is refused, and does not wrap (EVO006)."""
    days = array.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    try:
        return pc.multiply_checked(days, UNITS_PER_DAY[kind(type_)]).cast(target)
    except pa.ArrowInvalid as error:
        raise spec_error("EVO006", f"a date is outside the range of {type_}", found=Description(str(error))) from error


def _variant(array: Array, target: Any) -> Array:
    names = [field.name for field in array.type]
    if "typed_value" in names:
        return unshred(array, target)
    metadata, value = (array.field(names.index(name)).cast(pa.binary()) for name in ("metadata", "value"))
    if value.null_count > array.null_count:  # a missing value that is required is the variant null
        return unshred(array, target)
    return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=[metadata, value])
