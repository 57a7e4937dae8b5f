"""Binary single values of Arrow arrays (Appendix D): the kernel for `spec_ref.single_value.binary.to_binary`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.columnar.arrow_types import (
    BYTE_KINDS,
    ArrowColumn,
    byte_strings,
    decimal_halves,
    fixed_bytes,
    fixed_width,
    map_chunks,
    validity_buffer,
)
from spec_ref.columnar.chunks import chunk_slices
from spec_ref.columnar.decimal128 import minimal_rows
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.types import Type, is_primitive, kind

RESULT_TYPE = pa.large_binary()
"""The Arrow type of a column of binary single values, whatever their type: its offsets cannot overflow."""


def binary_array(type_: Type, column: ArrowColumn) -> ArrowColumn:
    """Serialize every value of a column.

    The bits of a NaN are kept.

    Args:
        type_: the type of the values.
        column: an Arrow array or chunked array of values of the type.

    Returns:
        A large_binary column in the same chunks; null for null.

    Raises:
        SpecError: SVB009 for a type that has no binary form; the code of the type where the Arrow type or a value is
            not of it.
    """
    if not is_primitive(type_) or kind(type_) == "unknown":
        raise spec_error("SVB009", f"{kind(type_)} has no binary single-value form", found=Description(str(type_)))
    return map_chunks(type_, column, RESULT_TYPE, lambda array: _binary(type_, array))


def _binary(type_: Type, array: Any) -> Any:
    name = kind(type_)
    if name in BYTE_KINDS:
        return _with_offsets(array, *byte_strings(array))
    if name in ("uuid", "fixed"):
        return _fixed_length_array(array, fixed_bytes(array))
    if name == "decimal":
        return _decimals(array)
    values = fixed_width(type_, array)
    if name == "boolean":
        return _fixed_length_array(array, values.view(np.uint8).reshape(-1, 1))
    stored = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return _fixed_length_array(array, stored.view(np.uint8).reshape(len(array), stored.itemsize))


def _fixed_length_array(array: Any, rows: npt.NDArray[np.uint8]) -> Any:
    count, length = rows.shape
    offsets = np.arange(count + 1, dtype=np.int64) * length
    return _with_offsets(array, offsets, np.ascontiguousarray(rows).reshape(-1))


def _decimals(array: Any) -> Any:
    low, high = decimal_halves(array)
    lengths = np.zeros(len(array), np.uint8)
    pieces = []
    for part in chunk_slices(len(array)):
        words, lengths[part] = minimal_rows(low[part], high[part])
        rows = words.view(np.uint8)
        pieces.append(rows[np.arange(rows.shape[1]) < lengths[part, None]])
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return _with_offsets(array, offsets, np.concatenate(pieces) if pieces else np.zeros(0, np.uint8))


def _with_offsets(array: Any, offsets: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> Any:
    """Make the array of the values between the offsets, null where ``array`` is; the bytes are shared, not copied."""
    buffers = [validity_buffer(array), pa.py_buffer(offsets.astype(np.int64, copy=False).data), pa.py_buffer(data.data)]
    return pa.Array.from_buffers(RESULT_TYPE, len(array), buffers)
