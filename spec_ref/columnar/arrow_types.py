"""Arrow arrays that hold the values of a primitive type, and how the columnar kernels read them (Primitive Types).

The Arrow type has to be the one that the Iceberg type maps to, in its unit: microseconds are never read as nanoseconds,
and an int column is never read as a long. Text and bytes may be in any of Arrow's layouts, decimals in any of its
widths, and every array may be dictionary-encoded, sliced or chunked. A time zone changes only how Arrow shows an
instant; its presence distinguishes timestamptz from timestamp.

Buffers are read directly: an array from an untrusted source has to have passed ``Array.validate()``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.chunks import chunk_slices
from spec_ref.columnar.decimal128 import High, Low, exceeds, split_halves, to_python_int
from spec_ref.columnar.utf8_vectorized import are_utf8
from spec_ref.core.calendar import MICROS_PER_DAY
from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import STRING, DecimalType, Type, kind
from spec_ref.data_types.values import check_value

ArrowColumn: TypeAlias = Any
"""A `pyarrow.Array` or `pyarrow.ChunkedArray`."""

Kernel: TypeAlias = Callable[[Any], Any]
"""Makes an array from a plain array: one without dictionary, extension, views or decimals of other than 128 bits."""

UUID_LENGTH = 16


@record
class _Carrier:
    """The Arrow types whose arrays hold the values of one type."""

    requirement: str
    expected: str
    carries: Callable[[Any, Any], bool]
    """Decides, from the Iceberg type and the Arrow type, whether the arrays hold its values."""

    dtype: str | None = None
    """The numpy type of the values, for types of a fixed width."""


def _exact_carrier(requirement: str, name: str, dtype: str | None = None) -> _Carrier:
    arrow_type = ARROW_TYPES[name]
    return _Carrier(requirement, str(arrow_type), lambda _, found: bool(found == arrow_type), dtype)


def _timestamp_carrier(requirement: str, name: str) -> _Carrier:
    unit, zoned = ARROW_TYPES[name].unit, ARROW_TYPES[name].tz is not None

    def carries(_: Type, found: Any) -> bool:
        return pa.types.is_timestamp(found) and found.unit == unit and (found.tz is not None) is zoned

    zone = "with" if zoned else "without"
    return _Carrier(requirement, f"timestamp[{unit}] {zone} a time zone", carries, "i8")


def _is_binary(_: Type, found: Any) -> bool:
    return pa.types.is_binary(found) or pa.types.is_large_binary(found) or pa.types.is_binary_view(found)


def _is_text(_: Type, found: Any) -> bool:
    return pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)


def _is_decimal(type_: Any, found: Any) -> bool:
    return pa.types.is_decimal(found) and (found.precision, found.scale) == (type_.precision, type_.scale)


def _is_uuid(_: Type, found: Any) -> bool:
    return isinstance(found, pa.UuidType) or bool(found == pa.binary(UUID_LENGTH))


_BINARY = "binary, large_binary or binary_view"

ARROW_TYPES: dict[str, Any] = {
    "unknown": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"),
    "string": pa.string(),
    "uuid": pa.uuid(),
    "binary": pa.binary(),
    "geometry": pa.binary(),
    "geography": pa.binary(),
}
"""The Arrow types of results, for types without parameters; input may have any of the types in `_CARRIERS`."""

_CARRIERS: dict[str, _Carrier] = {
    "unknown": _exact_carrier("TYP025", "unknown"),
    "boolean": _exact_carrier("TYP008", "boolean"),
    "int": _exact_carrier("TYP009", "int", "i4"),
    "long": _exact_carrier("TYP010", "long", "i8"),
    "float": _exact_carrier("TYP011", "float", "f4"),
    "double": _exact_carrier("TYP012", "double", "f8"),
    "decimal": _Carrier("TYP013", "a decimal of the same precision and scale", _is_decimal),
    "date": _exact_carrier("TYP015", "date", "i4"),
    "time": _exact_carrier("TYP016", "time", "i8"),
    "timestamp": _timestamp_carrier("TYP017", "timestamp"),
    "timestamptz": _timestamp_carrier("TYP018", "timestamptz"),
    "timestamp_ns": _timestamp_carrier("TYP019", "timestamp_ns"),
    "timestamptz_ns": _timestamp_carrier("TYP020", "timestamptz_ns"),
    "string": _Carrier("TYP021", "string, large_string or string_view", _is_text),
    "uuid": _Carrier("TYP022", "uuid or fixed_size_binary[16]", _is_uuid),
    "fixed": _Carrier(
        "TYP023",
        "fixed_size_binary of the type's length",
        lambda type_, found: pa.types.is_fixed_size_binary(found) and found.byte_width == type_.length,
    ),
    "binary": _Carrier("TYP024", _BINARY, _is_binary),
    "geometry": _Carrier("TYP027", _BINARY, _is_binary),
    "geography": _Carrier("TYP028", _BINARY, _is_binary),
}
"""The Arrow types by type; variant and nested types have no columnar kernels."""

INTEGER_KINDS = frozenset(name for name, carrier in _CARRIERS.items() if carrier.dtype in ("i4", "i8"))
"""The types whose values are integers: numbers, and counts of days and of parts of a second."""

BYTE_KINDS = frozenset({"string", "binary", "geometry", "geography"})
"""The types whose plain arrays have offsets; kernels run once on the dictionary of such values, not on every index."""


def check_arrow_type(type_: Type, arrow_type: Any) -> None:
    """Check that an Arrow type holds the values of a type without conversion.

    Args:
        type_: the Iceberg type.
        arrow_type: a `pyarrow.DataType`.

    Raises:
        SpecError: TYP001 for variant and nested types; the code of the type for another Arrow type.
    """
    carrier = _CARRIERS.get(kind(type_))
    if carrier is None:
        raise spec_error("TYP001", "the type is not primitive and has no columnar form", found=Description(str(type_)))
    if not carrier.carries(type_, arrow_type):
        message = f"the Arrow type cannot hold {type_}"
        raise spec_error(carrier.requirement, message, found=Description(str(arrow_type)), expected=carrier.expected)


def column_type(column: ArrowColumn) -> Any:
    """Find the Arrow type of the values of a column: that of the dictionary if it is dictionary-encoded.

    Args:
        column: an Arrow array or chunked array.

    Returns:
        The `pyarrow.DataType` of the values.

    Raises:
        SpecError: TYP001 if it is not an Arrow array or chunked array.
    """
    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        raise spec_error(
            "TYP001", "the object is not a column", found=type(column).__name__, expected="an Array or ChunkedArray"
        )
    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def map_chunks(type_: Type, column: ArrowColumn, result_type: Any, kernel: Kernel) -> ArrowColumn:
    """Apply a kernel to every chunk of an array or chunked array.

    Args:
        type_: the type of the values.
        column: the values.
        result_type: the Arrow type of the result; the kernel's results are cast to it if they differ.
        kernel: receives arrays without extension types, whose values were checked to be of the type.

    Returns:
        The results, in the same chunks.

    Raises:
        SpecError: as `check_arrow_type`; the code of the type if a value is not of it; the errors of the kernel.
    """
    check_arrow_type(type_, column_type(column))
    if isinstance(column, pa.ChunkedArray):
        chunks = [_apply(type_, chunk, result_type, kernel) for chunk in column.chunks]
        return pa.chunked_array(chunks, type=result_type)
    return _apply(type_, column, result_type, kernel)


def check_values(type_: Type, column: ArrowColumn) -> None:
    """Check that a column has the right Arrow type and only values of a type.

    Args:
        type_: the type of the values.
        column: an Arrow array or chunked array.

    Raises:
        SpecError: as `map_chunks`.
    """
    map_chunks(type_, column, pa.null(), lambda array: pa.nulls(len(array)))


def _apply(type_: Type, array: Any, result_type: Any, kernel: Kernel) -> Any:
    if not pa.types.is_dictionary(array.type):
        result = kernel(_check_array(type_, _to_plain(type_, array)))
    else:
        dictionary, indices = _to_plain(type_, array.dictionary), array.indices
        if kind(type_) in BYTE_KINDS and len(dictionary) <= len(indices):
            result = kernel(_check_array(type_, dictionary)).take(indices)
        else:
            # Only values that are referenced are checked, as an unused value of the dictionary must not raise an error.
            result = kernel(_check_array(type_, dictionary.take(indices)))
    return result if result.type == result_type else result.cast(result_type)


def _to_plain(type_: Type, array: Any) -> Any:
    """Convert an array to a layout that the kernels read: storage of extensions, no views, decimals of 128 bits."""
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(array.type):
        return array.cast(pa.large_binary())
    if isinstance(type_, DecimalType) and not pa.types.is_decimal128(array.type):
        try:
            return array.cast(pa.decimal128(type_.precision, type_.scale))
        except pa.ArrowInvalid as error:
            raise spec_error("TYP013", f"the value is not a valid {type_}", found=Description(str(error))) from error
    return array


def _check_array(type_: Type, array: Any) -> Any:
    """Check that every value of a plain array is of the type, such as times within a day and strings in UTF-8."""
    check = _VALUE_CHECKS.get(kind(type_))
    if check is not None:
        check(type_, array)
    return array


def _check_times(type_: Type, array: Any) -> None:
    range_ = pc.min_max(array.view(pa.int64()))
    for value in (range_["min"].as_py(), range_["max"].as_py()):
        if value is not None and not 0 <= value < MICROS_PER_DAY:
            check_value(type_, value)


def check_texts(array: Any) -> None:
    """Check that every string of an array is UTF-8, at any level of its type.

    Args:
        array: an array of any type and layout.

    Raises:
        SpecError: TYP021, with the first string that is not UTF-8.
    """
    type_ = array.type
    if isinstance(array, pa.ExtensionArray):
        check_texts(array.storage)
    elif pa.types.is_dictionary(type_):
        check_texts(array.dictionary_decode())
    elif pa.types.is_struct(type_):
        for child in array.flatten():
            check_texts(child)
    elif pa.types.is_map(type_) or pa.types.is_list(type_) or pa.types.is_large_list(type_):
        first, end = (array.offsets[place].as_py() for place in (0, -1))
        # `flatten` fails for lists of lists of uuids if one of the lists is null.
        for part in (array.keys, array.items) if pa.types.is_map(type_) else (array.values,):
            check_texts(part.slice(first, end - first))
    elif pa.types.is_string(type_) or pa.types.is_large_string(type_):
        _check_text(STRING, array)
    elif pa.types.is_string_view(type_):
        check_texts(array.cast(pa.large_binary()).view(pa.large_string()))


def _check_text(type_: Type, array: Any) -> None:
    if are_utf8(*byte_strings(array)):
        return
    # The bytes of a null need not be UTF-8.
    binary = array.cast(pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary())
    try:
        binary.cast(array.type)
    except pa.ArrowInvalid as error:
        found = next(value for value in binary.to_pylist() if value is not None and not _is_utf8(value))
        raise spec_error("TYP021", f"the value is not a valid {type_}", found=found, expected="UTF-8") from error


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_digits(type_: Any, array: Any) -> None:
    low, high = decimal_halves(array)
    for part in chunk_slices(len(array)):
        flags = exceeds(low[part], high[part], type_.precision)
        if flags.any():
            index = first_flagged(array, flags, part.start)
            if index is not None:
                decimal_from_unscaled(type_, to_python_int(low[index], high[index]))


def _check_each(type_: Type, array: Any) -> None:
    for value in array.to_pylist():
        if value is not None:
            check_value(type_, value)


_VALUE_CHECKS: dict[str, Callable[[Type, Any], None]] = {
    "time": _check_times,
    "string": _check_text,
    "decimal": _check_digits,
    "geometry": _check_each,  # well-known binary has to be checked value by value
    "geography": _check_each,
}
"""The checks for types that do not allow every value of their Arrow types."""


def first_flagged(array: Any, flags: npt.NDArray[np.bool_], start: int) -> int | None:
    """Find the first value that is flagged and not null.

    Args:
        array: a plain array.
        flags: numpy booleans, for the values from the index ``start`` on.
        start: the index of the first value that the flags are for.

    Returns:
        The index in the array; None if there is none.
    """
    valid = is_valid(array.slice(start, len(flags)))
    found = np.flatnonzero(flags if valid is None else flags & valid)
    return start + int(found[0]) if len(found) else None


def is_valid(array: Any) -> npt.NDArray[np.bool_] | None:
    """Find the values that are not null.

    Args:
        array: an Arrow array.

    Returns:
        Numpy booleans, one per value; None if no value is null.
    """
    if array.null_count == 0:
        return None
    valid: npt.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def validity_buffer(array: Any) -> Any:
    """Make a validity buffer, without offset, that has the nulls of an array.

    Args:
        array: an Arrow array.

    Returns:
        The buffer; None if no value is null.
    """
    valid = is_valid(array)
    return None if valid is None else pa.array(valid).buffers()[1]


def with_same_nulls(array: Any, values: npt.NDArray[Any], arrow_type: Any) -> Any:
    """Make an Arrow array from numpy values, with the nulls of another array.

    Args:
        array: the array that has the nulls.
        values: the values, as many as the array has.
        arrow_type: the type of the result.

    Returns:
        The Arrow array.
    """
    valid = is_valid(array)
    return pa.array(values, arrow_type, mask=None if valid is None else ~valid)


def _buffer(array: Any, index: int) -> Any:
    found = array.buffers()[index]
    return b"" if found is None else found  # an array without values may have no buffer


def fixed_width(type_: Type, array: Any) -> npt.NDArray[Any]:
    """Read the values of a plain array of a fixed-width type, without a copy; the values of nulls are arbitrary.

    Args:
        type_: the type of the values.
        array: a plain array.

    Returns:
        A numpy array, one element per value.
    """
    carrier = _CARRIERS[kind(type_)]
    if carrier.dtype is None:
        # A boolean is stored in a bit. For an array with nulls, numpy would make Python objects.
        return np.asarray(pc.coalesce(array, pa.scalar(value=False)).to_numpy(zero_copy_only=False))
    width = np.dtype(carrier.dtype).itemsize
    return np.frombuffer(_buffer(array, 1), carrier.dtype, len(array), array.offset * width)


def decimal_halves(array: Any) -> tuple[Low, High]:
    """Read the unscaled values of a plain array of decimals, without a copy (see `spec_ref.columnar.decimal128`).

    Args:
        array: a plain array of 128-bit decimals.

    Returns:
        The low and the high halves.
    """
    return split_halves(_buffer(array, 1), array.offset, len(array))


def fixed_bytes(array: Any) -> npt.NDArray[np.uint8]:
    """Read the bytes of a plain array of fixed-size binary values.

    Args:
        array: a plain array.

    Returns:
        A two-dimensional array with a row per value.
    """
    width = array.type.byte_width
    data = np.frombuffer(_buffer(array, 1), np.uint8, len(array) * width, array.offset * width)
    return data.reshape(len(array), width)


def byte_strings(array: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8]]:
    """Read the offsets and the bytes of a plain array of text or binary values.

    Args:
        array: a plain array of n values.

    Returns:
        n + 1 offsets in bytes, and the bytes of all values.
    """
    large = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    dtype = np.dtype(np.int64 if large else np.int32)
    offsets = _buffer(array, 1)
    if len(offsets) == 0:
        return np.zeros(len(array) + 1, dtype), np.zeros(0, np.uint8)
    starts = np.frombuffer(offsets, dtype, len(array) + 1, array.offset * dtype.itemsize)
    return starts, np.frombuffer(_buffer(array, 2), np.uint8)
