"""Write variant values in the Parquet variant encoding, version 1 (Semi-structured Types; TYP006).

Each value has one encoding: a sorted dictionary, the smallest sizes, object values in the order of their names.
"""

from __future__ import annotations

import itertools
import struct
import uuid
from collections.abc import Mapping
from decimal import Decimal

from spec_ref.core.calendar import MICROS_PER_DAY
from spec_ref.core.decimals import unscaled_value
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.encodings.variant.physical_types import (
    CONSTANTS,
    DECIMAL_BYTES,
    DECIMAL_DIGITS,
    FLOATS,
    MAX_DEPTH,
    MAX_SCALE,
    NUMBER_FORMATS,
    PhysicalType,
    Variant,
    VariantPrimitive,
    VariantValue,
)

MAX_SHORT_STRING = 63
"""The size in bytes of the longest string whose length fits into its header."""


def encode_variant(node: VariantValue) -> Variant:
    """Encode a value in the one encoding that this module writes.

    Args:
        node: the value.

    Returns:
        The metadata and the value.

    Raises:
        SpecError: TYP006 if a primitive is not of its type, a name cannot be encoded, or the value is nested more than
            `MAX_DEPTH` levels.
    """
    names: set[str] = set()
    _collect_names(node, names, 0)
    ordered = sorted(names)
    ids = {name: id_ for id_, name in enumerate(ordered)}
    return Variant(encode_metadata(ordered), _encode_node(node, ids))


def encode_value(node: VariantValue, ids: Mapping[str, int]) -> bytes:
    """Encode a value for an existing dictionary.

    Args:
        node: the value.
        ids: the id of each name in the dictionary.

    Returns:
        The encoded value.

    Raises:
        SpecError: TYP006 if a primitive is not of its type, or the dictionary does not have the name of a field.
    """
    try:
        return _encode_node(node, ids)
    except KeyError as cause:
        message = "variant: the name of an object field is not in the dictionary"
        raise spec_error("TYP006", message, found=cause.args[0], expected="a name of the metadata") from cause


def encode_metadata(names: list[str]) -> bytes:
    """Encode a dictionary of names.

    Args:
        names: the names, unique and in the order of their UTF-8 bytes.

    Returns:
        The encoded metadata.

    Raises:
        SpecError: TYP006 if a name has a lone surrogate or there are too many names.
    """
    encoded = [_utf8(name) for name in names]
    offsets = [0, *itertools.accumulate(map(len, encoded))]
    size = _byte_count(max(offsets[-1], len(names)))
    return b"".join([bytes([1 | 1 << 4 | (size - 1) << 6]), _unsigned([len(names), *offsets], size), *encoded])


def _collect_names(node: VariantValue, names: set[str], depth: int) -> None:
    if isinstance(node, VariantPrimitive):
        return
    if depth == MAX_DEPTH:
        raise spec_error("TYP006", f"objects and arrays are nested deeper than {MAX_DEPTH}")
    if isinstance(node, dict):
        names.update(node)
    for child in node.values() if isinstance(node, dict) else node:
        _collect_names(child, names, depth + 1)


def _encode_node(node: VariantValue, ids: Mapping[str, int]) -> bytes:
    if isinstance(node, VariantPrimitive):
        return _encode_scalar(node)
    is_object = isinstance(node, dict)
    keys = sorted(node) if isinstance(node, dict) else []
    values: list[bytes] = []
    for child in [node[key] for key in keys] if isinstance(node, dict) else node:
        values.append(_encode_node(child, ids))  # noqa: PERF401 (a frame per level)
    offsets = [0, *itertools.accumulate(map(len, values))]
    offset_size = _byte_count(offsets[-1])
    is_large = len(values) > 0xFF
    field_ids = [ids[key] for key in keys]
    id_size = _byte_count(max(field_ids, default=0))
    header = offset_size - 1 | (is_large << 4 | id_size - 1 << 2 if is_object else is_large << 2)
    return b"".join(
        [
            bytes([header << 2 | (2 if is_object else 3)]),
            _unsigned([len(values)], 4 if is_large else 1),
            _unsigned(field_ids, id_size),
            _unsigned(offsets, offset_size),
            *values,
        ]
    )


def _encode_scalar(scalar: VariantPrimitive) -> bytes:
    physical, value = scalar.physical, scalar.value
    header = bytes([physical << 2])
    if physical in CONSTANTS and value is CONSTANTS[physical]:
        return header
    if physical in NUMBER_FORMATS and type(value) is (float if physical in FLOATS else int):
        if physical is PhysicalType.TIME_NTZ and not 0 <= value < MICROS_PER_DAY:
            raise _not_of_type(scalar)
        return header + _pack_number(scalar)
    if physical in DECIMAL_DIGITS and isinstance(value, Decimal) and value.is_finite():
        return header + _encode_decimal(scalar)
    if physical is PhysicalType.STRING and isinstance(value, str):
        text = _utf8(value)
        if len(text) <= MAX_SHORT_STRING:
            return bytes([len(text) << 2 | 1]) + text
        return header + _unsigned([len(text)], 4) + text
    if physical is PhysicalType.BINARY and isinstance(value, bytes):
        return header + _unsigned([len(value)], 4) + value
    if physical is PhysicalType.UUID and isinstance(value, uuid.UUID):
        return header + value.bytes
    raise _not_of_type(scalar)


def _not_of_type(scalar: VariantPrimitive) -> SpecError:
    message = f"variant value: the primitive is not a valid {scalar.physical.name.lower()}"
    return spec_error("TYP006", message, found=scalar.value)


def _pack_number(scalar: VariantPrimitive) -> bytes:
    try:
        return struct.pack(NUMBER_FORMATS[scalar.physical], scalar.value)
    except (struct.error, OverflowError) as cause:
        raise _not_of_type(scalar) from cause


def _encode_decimal(scalar: VariantPrimitive) -> bytes:
    _, digits, exponent = scalar.value.as_tuple()
    if len(digits) > DECIMAL_DIGITS[scalar.physical] or not -MAX_SCALE <= exponent <= 0:
        raise _not_of_type(scalar)
    size = DECIMAL_BYTES[scalar.physical]
    return bytes([-exponent]) + unscaled_value(scalar.value).to_bytes(size, "little", signed=True)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as cause:
        raise spec_error("TYP006", "variant: a string has a lone surrogate", found=text) from cause


def _byte_count(number: int) -> int:
    """Compute the number of bytes that an unsigned number needs, at least 1."""
    return (number.bit_length() + 7) // 8 or 1


def _unsigned(numbers: list[int], size: int) -> bytes:
    try:
        return b"".join(number.to_bytes(size, "little") for number in numbers)
    except OverflowError as cause:
        raise spec_error("TYP006", "variant: a size or count needs more than 4 bytes", found=max(numbers)) from cause
