"""Partition transforms of Arrow arrays: the kernels for `spec_ref.partitioning.transforms`.

If a value has no result in the result type, the kernel finds the first such value and calls the scalar definition with
it, so that both raise the same error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import (
    ArrowColumn,
    byte_strings,
    check_values,
    column_type,
    decimal_halves,
    first_flagged,
    fixed_width,
    map_chunks,
    validity_buffer,
    with_same_nulls,
)
from spec_ref.columnar.chunks import CHUNK_SIZE, chunk_slices
from spec_ref.columnar.decimal128 import exceeds, floor_multiples, join_halves, to_python_int
from spec_ref.columnar.hashing import plain_hashes
from spec_ref.columnar.utf8_vectorized import is_ascii
from spec_ref.core.calendar import CYCLE_DAYS, CYCLE_YEARS, EPOCH, UNITS_PER_DAY
from spec_ref.data_types.decimals import decimal_from_unscaled
from spec_ref.data_types.types import Type, kind
from spec_ref.partitioning.transforms import (
    HOURS_PER_DAY,
    MONTHS_PER_YEAR,
    Bucket,
    Day,
    Hour,
    Identity,
    Month,
    Transform,
    Truncate,
    Void,
    Year,
)

Longs: TypeAlias = npt.NDArray[np.int64]

_MIN_INT, _MAX_INT = -(2**31), 2**31 - 1
_SIGN_MASK = np.uint32(_MAX_INT)

# The calendar is counted from 0000-03-01, so that a leap day is the last day of a year, of 4 years and of 400.
_MARCH_0000 = -719_468
"""The day 0000-03-01, from 1970-01-01."""
_DAYS_PER_YEAR = 365
_DAYS_PER_4_YEARS = 4 * _DAYS_PER_YEAR + 1
_DAYS_PER_CENTURY = 25 * _DAYS_PER_4_YEARS - 1
_MONTHS_TO_MARCH = 2
_DAYS_PER_5_MONTHS = 153
"""From March on, the months have 31, 30, 31, 30 and 31 days, and then these lengths again."""


def transform_array(transform: Transform, type_: Type, column: ArrowColumn) -> ArrowColumn:
    """Apply a transform to every value of a column; null gives null (TRN001).

    The result is int32 for bucket, year, month and hour, date32 for day, and the Arrow type of the values for truncate
    and void, without a dictionary encoding. Identity returns the column itself.

    Args:
        transform: the transform.
        type_: the source type.
        column: an Arrow array or chunked array that holds values of the type.

    Returns:
        The results, in the same chunks.

    Raises:
        SpecError: what `transform.apply` raises for the type or for the first value that has no result; the code of
            the type where the Arrow type or a value is not of it.
    """
    transform.result_type(type_)
    if isinstance(transform, Void):
        return _all_null(column)
    source_type = column_type(column)
    match transform:
        case Identity():
            check_values(type_, column)
            return column
        case Bucket(num_buckets):
            return map_chunks(type_, column, pa.int32(), lambda array: _bucket(type_, array, num_buckets))
        case Truncate():
            return map_chunks(type_, column, source_type, _truncation(transform, type_))
        case _:
            result_type = pa.date32() if isinstance(transform, Day) else pa.int32()
            return map_chunks(
                type_, column, result_type, lambda array: _count_units(transform, type_, array, result_type)
            )


def _all_null(column: ArrowColumn) -> ArrowColumn:
    type_ = column_type(column)
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([pa.nulls(len(chunk), type_) for chunk in column.chunks], type=type_)
    return pa.nulls(len(column), type_)


def _bucket(type_: Type, array: Any, num_buckets: int) -> Any:
    hashes = plain_hashes(type_, array)
    if num_buckets & (num_buckets - 1) == 0:
        hashes &= _SIGN_MASK & np.uint32(num_buckets - 1)
        return with_same_nulls(array, hashes.view(np.int32), pa.int32())
    count = np.uint32(num_buckets)
    for part in chunk_slices(len(hashes)):
        chunk = hashes[part]
        chunk &= _SIGN_MASK
        chunk -= chunk // count * count  # numpy's division by a single number is many times faster than its remainder
    return with_same_nulls(array, hashes.view(np.int32), pa.int32())


def _refuse(transform: Transform, type_: Type, value: Any) -> NoReturn:
    transform.apply(type_, value)
    raise AssertionError(f"{transform} of {value} has a result, yet its kernel found none")


def _truncation(transform: Truncate, type_: Type) -> Callable[[Any], Any]:
    width = transform.width
    match kind(type_):
        case "string":
            return lambda array: _truncate_text(array, width)
        case "binary":
            return lambda array: pc.binary_slice(array, 0, width)
        case "decimal":
            return lambda array: _truncate_decimals(transform, type_, array)
        case _:
            return lambda array: _truncate_integers(transform, type_, array)


def _truncate_text(array: Any, width: int) -> Any:
    offsets, data = byte_strings(array)
    if not is_ascii(data[int(offsets[0]) : int(offsets[-1])]):
        return pc.utf8_slice_codeunits(array, 0, width)
    # Slicing bytes takes a third of the time of slicing characters.
    as_bytes = pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary()
    return pc.binary_slice(array.view(as_bytes), 0, width).view(array.type)


def _truncate_integers(transform: Truncate, type_: Type, array: Any) -> Any:
    values = fixed_width(type_, array)
    multiples = np.empty_like(values)
    width = values.dtype.type(transform.width)
    for part in chunk_slices(len(values)):
        chunk = values[part]
        np.floor_divide(chunk, width, out=multiples[part])
        multiples[part] *= width
        wrapped = multiples[part] > chunk  # the multiple is below the least integer and wrapped around
        if wrapped.any():
            index = first_flagged(array, wrapped, part.start)
            if index is not None:
                _refuse(transform, type_, int(values[index]))
    return with_same_nulls(array, multiples, array.type)


def _truncate_decimals(transform: Truncate, type_: Any, array: Any) -> Any:
    low, high = decimal_halves(array)
    pairs = np.empty((len(array), 2), np.uint64)
    for part in chunk_slices(len(array)):
        multiples = floor_multiples(low[part], high[part], transform.width)
        flags = exceeds(*multiples, type_.precision)
        if flags.any():
            index = first_flagged(array, flags, part.start)
            if index is not None:
                _refuse(transform, type_, decimal_from_unscaled(type_, to_python_int(low[index], high[index])))
        pairs[part] = join_halves(*multiples)
    return pa.Array.from_buffers(array.type, len(array), [validity_buffer(array), pa.py_buffer(pairs.data)])


def _count_units(transform: Transform, type_: Type, array: Any, arrow_type: Any) -> Any:
    """Compute the years, months, days or hours since the epoch."""
    of_days = _CALENDAR_FUNCTIONS.get(type(transform))
    unit = UNITS_PER_DAY[kind(type_)]
    if isinstance(transform, Hour):
        unit //= HOURS_PER_DAY
    values = fixed_width(type_, array)
    counts = np.empty(len(values), np.int32)
    quotients = np.empty(min(len(values), CHUNK_SIZE), np.int64)
    for part in chunk_slices(len(values)):
        chunk = values[part].astype(np.int64, copy=False)
        # Negative if some value is negative; otherwise at least as large as every value.
        every_bit = int(np.bitwise_or.reduce(chunk))
        wide = _floor_divide(chunk, unit, quotients[: len(chunk)], negative=every_bit < 0)
        if of_days is not None:
            wide = of_days(wide)
        counts[part] = wide
        # Hours of the earliest and latest microseconds need 33 bits; the values are checked only if that is possible.
        if 0 <= every_bit // unit <= _MAX_INT or (wide.min() >= _MIN_INT and wide.max() <= _MAX_INT):
            continue
        index = first_flagged(array, counts[part] != wide, part.start)
        if index is not None:
            _refuse(transform, type_, int(values[index]))
    return with_same_nulls(array, counts, arrow_type)


def _floor_divide(values: Longs, unit: int, quotients: Longs, *, negative: bool) -> Longs:
    """Divide and round down, into the memory ``quotients``."""
    if unit == 1:
        return values
    if negative:
        return np.floor_divide(values, unit, out=quotients)
    # Unsigned division is faster.
    np.floor_divide(values.view(np.uint64), np.uint64(unit), out=quotients.view(np.uint64))
    return quotients


def _months(days: Longs) -> Longs:
    """Convert days since 1970-01-01 to months since 1970-01, which fit in 64 bits for every count of days."""
    days = days - _MARCH_0000
    cycles = days // CYCLE_DAYS
    day = (days - cycles * CYCLE_DAYS).astype(np.uint32)  # the day of the cycle of 400 years
    # After subtracting the leap days before a day, every year has 365 days.
    leap_days = day // (_DAYS_PER_4_YEARS - 1) - day // _DAYS_PER_CENTURY + day // (CYCLE_DAYS - 1)
    year = (day - leap_days) // _DAYS_PER_YEAR
    day -= year * _DAYS_PER_YEAR + year // 4 - year // 100  # the day of the year
    month = (5 * day + 2) // _DAYS_PER_5_MONTHS
    first = _MONTHS_TO_MARCH - EPOCH.year * MONTHS_PER_YEAR
    return np.asarray((cycles * CYCLE_YEARS + year) * MONTHS_PER_YEAR + month + first, np.int64)


def _years(days: Longs) -> Longs:
    return _months(days) // MONTHS_PER_YEAR


_CALENDAR_FUNCTIONS: dict[type, Callable[[Longs], Longs]] = {Year: _years, Month: _months}
"""The calendar function of days, by transform."""
