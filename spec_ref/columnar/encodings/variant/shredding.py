"""Convert Arrow arrays of shredded variants: the kernel for `spec_ref.encodings.variant.shredding`."""

from __future__ import annotations

import functools
import itertools
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import validity_buffer
from spec_ref.core.errors import error_path, spec_error
from spec_ref.encodings.variant.physical_types import DECIMAL_DIGITS, PhysicalType, VariantPrimitive, VariantValue
from spec_ref.encodings.variant.shredding import NULL, REQUIREMENT, reconstruct
from spec_ref.encodings.variant.value import decode_metadata, decode_value
from spec_ref.encodings.variant.value_writer import encode_value

ENCODED_NULL = b"\x00"

Array: TypeAlias = Any


def unshred(array: Array, target: Any) -> Array:
    """Reconstruct a column of shredded variants, which keep their dictionaries of names.

    Args:
        array: structs with the fields metadata and at least one of value and typed_value.
        target: the Arrow type of the result, a struct of metadata and value.

    Returns:
        The column of variants.

    Raises:
        SpecError: PQT005 if a row has no metadata, or the two values of a variant conflict; TYP006 if a part is not in
            the variant encoding.
    """
    parts = _parts(array)
    metadata = parts["metadata"].cast(pa.binary())
    if metadata.null_count > array.null_count:
        message = "a variant has no metadata"
        raise spec_error(REQUIREMENT, message, aspect="no-metadata", expected="a dictionary of names")
    made = _binaries(parts.get("value"), len(array))
    typed = parts.get("typed_value", pa.nulls(len(array)))
    if typed.null_count < len(typed):
        rows: Any = pa.array(np.flatnonzero(typed.is_valid()))
        dictionaries = [_dictionary(one) for one in metadata.take(rows).to_pylist()]
        nodes = _pairs(array.take(rows), dictionaries, 0)
        for row, node, dictionary in zip(rows.to_pylist(), nodes, dictionaries, strict=True):
            made[row] = encode_value(_needed(node), dictionary.ids)
    empty = np.asarray(array.is_valid()) & np.array([value is None for value in made], bool)
    for row in np.flatnonzero(empty).tolist():
        made[row] = ENCODED_NULL
    children = [metadata, pa.array(made, pa.binary())]
    return pa.StructArray.from_buffers(target, len(array), [validity_buffer(array)], children=children)


@attrs.frozen
class _Dictionary:
    """The names of a variant by id, and the ids by name."""

    names: tuple[str, ...]
    ids: Mapping[str, int]


@functools.lru_cache(maxsize=1024)
def _dictionary(metadata: bytes) -> _Dictionary:
    names = decode_metadata(metadata)
    return _Dictionary(names, {name: id_ for id_, name in enumerate(names)})


def _parts(array: Array) -> dict[str, Array]:
    """Find the fields of structs, which are null where the struct is."""
    return dict(zip((field.name for field in array.type), array.flatten(), strict=True))


def _needed(node: VariantValue | None) -> VariantValue:
    """Return the value, or the variant null if it is missing where a value is needed."""
    return NULL if node is None else node


def _binaries(array: Array | None, length: int) -> list[bytes | None]:
    return [None] * length if array is None else array.cast(pa.binary()).to_pylist()


def _pairs(array: Array, dictionaries: Sequence[_Dictionary], depth: int) -> list[VariantValue | None]:
    """Reconstruct the values of ``value`` and ``typed_value``, `depth` objects and arrays below the root."""
    parts = _parts(array)
    values = _binaries(parts.get("value"), len(array))
    typed, shredded = _typed(parts.get("typed_value"), dictionaries, depth)
    return [
        reconstruct(None if value is None else decode_value(value, dictionary.names, depth), other, shredded)
        for value, other, dictionary in zip(values, typed, dictionaries, strict=True)
    ]


def _typed(
    array: Array | None, dictionaries: Sequence[_Dictionary], depth: int
) -> tuple[Sequence[VariantValue | None], frozenset[str]]:
    """Read the values of ``typed_value``, and the names of the fields that it has columns for."""
    if array is None:
        return [None] * len(dictionaries), frozenset()
    valid = array.is_valid().to_pylist()
    if isinstance(array.type, pa.StructType):
        fields = {}
        for name, child in _parts(array).items():
            with error_path(f"/{name}"):
                fields[name] = _pairs(child, dictionaries, depth + 1)
        objects = [
            {name: node for name, nodes in fields.items() if (node := nodes[row]) is not None} if here else None
            for row, here in enumerate(valid)
        ]
        return objects, frozenset(fields)
    if isinstance(array.type, pa.ListType):
        lengths = [length or 0 for length in pc.list_value_length(array).to_pylist()]
        inside = [one for one, length in zip(dictionaries, lengths, strict=True) for _ in range(length)]
        with error_path("/element"):
            elements = iter(_pairs(array.flatten(), inside, depth + 1))
        return [
            tuple(_needed(node) for node in itertools.islice(elements, length)) if here else None
            for here, length in zip(valid, lengths, strict=True)
        ], frozenset()
    return [None if one is None else _scalar(array.type, one) for one in _plain(array)], frozenset()


_PHYSICAL: dict[Any, PhysicalType] = {
    pa.int8(): PhysicalType.INT8,
    pa.int16(): PhysicalType.INT16,
    pa.int32(): PhysicalType.INT32,
    pa.int64(): PhysicalType.INT64,
    pa.float32(): PhysicalType.FLOAT,
    pa.float64(): PhysicalType.DOUBLE,
    pa.date32(): PhysicalType.DATE,
    pa.time64("us"): PhysicalType.TIME_NTZ,
    pa.binary(): PhysicalType.BINARY,
    pa.string(): PhysicalType.STRING,
    pa.uuid(): PhysicalType.UUID,
    pa.timestamp("us"): PhysicalType.TIMESTAMP_NTZ,
    pa.timestamp("us", "UTC"): PhysicalType.TIMESTAMP,
    pa.timestamp("ns"): PhysicalType.TIMESTAMP_NTZ_NANOS,
    pa.timestamp("ns", "UTC"): PhysicalType.TIMESTAMP_NANOS,
}
"""The Arrow types that Parquet's columns are read as, except for booleans and decimals."""

_COUNTS: tuple[tuple[Callable[[Any], bool], Any], ...] = (
    (pa.types.is_date32, pa.int32()),
    (pa.types.is_time64, pa.int64()),
    (pa.types.is_timestamp, pa.int64()),
    (pa.types.is_string, pa.binary()),
)
"""The integer types that Arrow converts to the values of a `VariantPrimitive`."""


def _plain(array: Array) -> list[Any]:
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    target = next((target for fits, target in _COUNTS if fits(array.type)), array.type)
    return array.cast(target).to_pylist()  # type: ignore[no-any-return]


def _scalar(arrow: Any, value: Any) -> VariantPrimitive:
    if pa.types.is_boolean(arrow):
        return VariantPrimitive(PhysicalType.TRUE if value else PhysicalType.FALSE, value)
    if pa.types.is_decimal(arrow):
        return VariantPrimitive(next(one for one, digits in DECIMAL_DIGITS.items() if arrow.precision <= digits), value)
    physical = _PHYSICAL[arrow]
    if physical is PhysicalType.UUID:
        return VariantPrimitive(physical, uuid.UUID(bytes=value))
    if physical is PhysicalType.STRING:
        try:
            return VariantPrimitive(physical, value.decode())
        except UnicodeDecodeError as cause:
            raise spec_error("TYP006", "variant value: a string is not UTF-8", found=value) from cause
    return VariantPrimitive(physical, value)
