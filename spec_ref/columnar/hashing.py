"""32-bit hashes of Arrow arrays (Appendix B): the kernel beside `spec_ref.hashing.hash_value`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mmh3
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.columnar.arrow_types import (
    ArrowColumn,
    byte_strings,
    decimal_halves,
    fixed_bytes,
    fixed_width,
    map_chunks,
    with_same_nulls,
)
from spec_ref.columnar.chunks import chunk_slices
from spec_ref.columnar.decimal128 import High, Low, minimal_rows, to_int32, wide_rows
from spec_ref.columnar.murmur3_vectorized import (
    LONG_BYTES,
    WORD,
    Hasher,
    Words,
    hash_strings,
)
from spec_ref.core.calendar import NANOS_PER_MICRO
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.types import DecimalType, Type, kind

MAX_SHORTER_SHARE = 0.25
"""If a larger share of the decimals needs fewer bytes than the others, all are hashed as values of any length."""

CANONICAL_NAN_BITS = np.int64(0x7FF8_0000_0000_0000)


def _widen(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return values.astype(np.int64, copy=False)


def _to_micros(nanos: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return nanos // NANOS_PER_MICRO  # numpy rounds down, as Python does


def _double_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN like any other here
        doubles = values.astype(np.float64) + 0.0  # -0.0 + 0.0 is 0.0
    bits = doubles.view(np.int64)
    bits[np.isnan(doubles)] = CANONICAL_NAN_BITS
    return bits


_LONGS: dict[str, Callable[[npt.NDArray[Any]], npt.NDArray[np.int64]]] = {
    "boolean": _widen,
    "int": _widen,
    "long": _widen,
    "float": _double_bits,
    "double": _double_bits,
    "date": _widen,
    "time": _widen,
    "timestamp": _widen,
    "timestamptz": _widen,
    "timestamp_ns": _to_micros,
    "timestamptz_ns": _to_micros,
}
"""The integer that is hashed instead of a value, by type."""


def _hash_fixed(rows: npt.NDArray[np.uint8]) -> Words:
    """Hash values of one length: a row of bytes each."""
    count, length = rows.shape
    hashes = np.empty(count, np.uint32)
    if length > LONG_BYTES:
        view = rows.reshape(-1).data
        hashes[:] = [mmh3.mmh3_32_uintdigest(view[start : start + length]) for start in range(0, len(view), length)]
        return hashes
    words = -(-length // WORD)
    hasher = Hasher(count)
    for part in chunk_slices(count):
        padded = np.zeros((part.stop - part.start, words * WORD), np.uint8)
        padded[:, :length] = rows[part]
        hasher.hash_rows(padded.view("<u4"), length, hashes[part])
    return hashes


def _hash_decimals(precision: int, low: Low, high: High) -> Words:
    """Hash unscaled values: the fewest bytes in big-endian two's complement that hold them."""
    hashes = np.empty(len(low), np.uint32)
    hasher = Hasher(len(low))
    others = []
    for part in chunk_slices(len(low)):
        integers = to_int32(low[part], high[part], precision)
        if integers is not None:
            hasher.hash_shortest(integers, hashes[part])
            continue
        rows, is_shorter = wide_rows(low[part], high[part], precision)
        shorter = np.flatnonzero(is_shorter)
        if len(shorter) > MAX_SHORTER_SHARE * len(rows):
            shorter = np.arange(len(rows))
        else:
            hasher.hash_rows(rows, WORD * rows.shape[1], hashes[part])
        others.append(shorter + part.start)
    remaining = np.concatenate(others or [np.empty(0, np.intp)])
    for part in chunk_slices(len(remaining)):
        among = remaining[part]
        found = np.empty(len(among), np.uint32)
        hasher.hash_padded_rows(*minimal_rows(low[among], high[among]), found)
        hashes[among] = found
    return hashes


def plain_hashes(type_: Type, array: Any) -> Words:
    """Hash the values of a plain array.

    Args:
        type_: the type of the values.
        array: a plain array, as `map_chunks` passes it.

    Returns:
        The hashes, one per value; any number for null.
    """
    name = kind(type_)
    if name in ("string", "binary"):
        offsets, data = byte_strings(array)
        return hash_strings(data, offsets)
    if name in ("uuid", "fixed"):
        return _hash_fixed(fixed_bytes(array))
    if name == "decimal":
        assert isinstance(type_, DecimalType)
        return _hash_decimals(type_.precision, *decimal_halves(array))
    hashes = np.empty(len(array), np.uint32)
    values, longs = fixed_width(type_, array), _LONGS[name]
    hasher = Hasher(len(values))
    for part in chunk_slices(len(array)):
        if longs is _widen and values.dtype == np.int32:
            hasher.hash_ints(values[part], hashes[part])
        else:
            hasher.hash_longs(longs(values[part]), hashes[part])
    return hashes


def hash_array(type_: Type, column: ArrowColumn) -> ArrowColumn:
    """Compute the 32-bit hash of every value of a column.

    Args:
        type_: the type of the values.
        column: an Arrow array or chunked array of values of the type.

    Returns:
        An int32 column in the same chunks; null for null.

    Raises:
        SpecError: HSH009 for a type that has no hash; the code of the type where the Arrow type or a value is not of
            it.
    """
    name = kind(type_)
    if name == "unknown":
        return map_chunks(type_, column, pa.int32(), lambda array: pa.nulls(len(array), pa.int32()))
    if name not in _LONGS and name not in ("decimal", "string", "uuid", "fixed", "binary"):
        raise spec_error("HSH009", "the type has no 32-bit hash", found=Description(str(type_)))

    def kernel(array: Any) -> Any:
        return with_same_nulls(array, plain_hashes(type_, array).view(np.int32), pa.int32())

    return map_chunks(type_, column, pa.int32(), kernel)
