"""Variants that are shredded in Parquet files, put together again (Appendix A, Parquet; Parquet's Variant Shredding).

A shredded variant is a group of ``metadata``, ``value`` and ``typed_value``. What fits the type of ``typed_value`` is
stored there, as a column of that type, as a list whose elements are such pairs again, or as a group of fields that are;
everything else is in ``value``, in the encoding of `spec_ref.formats.variant`. All names are in the one dictionary
``metadata``. `check_shredding` checks the schema of a file against this, `reconstruct` is the rule for one value, and
`unshredded` applies it to the rows of an Arrow array.

Decided here, because Parquet's text leaves a choice to readers (contradiction E30):

- A value beside a typed value that is not an object is refused, and so are a value that is not an object beside
  shredded fields, and one that has a field which is shredded: a reader that trusts one of the two may give either.
- An object may be in ``value`` alone, and the groups of shredded fields may be optional, though no writer should do so.
- Where nothing is there and a value is needed, in a row and in an array, it is the variant null.
- A decimal is the smallest of the three decimal types that holds the precision of its column.
"""

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

from spec_ref.columnar.arrow_types import validity
from spec_ref.data_files.parquet_thrift import ParquetNode
from spec_ref.errors import SpecError, at, violation
from spec_ref.formats.variant import (
    DECIMAL_DIGITS,
    Node,
    Physical,
    Scalar,
    decode_metadata,
    decode_value,
    encode_value,
)

REQUIREMENT = "PQT005"
NULL = Scalar(Physical.NULL, None)
ENCODED_NULL = b"\x00"

# The schema

_SHREDDED: frozenset[tuple[str, str | None, tuple[Any, ...]]] = frozenset(
    {
        ("boolean", None, ()), ("int32", "INTEGER", (8, True)), ("int32", "INTEGER", (16, True)), ("int32", None, ()),
        ("int32", "INTEGER", (32, True)), ("int64", None, ()), ("int64", "INTEGER", (64, True)), ("float", None, ()),
        ("double", None, ()), ("int32", "DATE", ()), ("int64", "TIME", ("MICROS", False)),
        ("int64", "TIMESTAMP", ("MICROS", True)), ("int64", "TIMESTAMP", ("NANOS", True)),
        ("int64", "TIMESTAMP", ("MICROS", False)), ("int64", "TIMESTAMP", ("NANOS", False)), ("byte_array", None, ()),
        ("byte_array", "STRING", ()),
    }
)  # fmt: skip
"""Physical type, annotation and its parameters of the columns that hold primitives, without decimals and UUIDs."""

_DECIMALS = frozenset({"int32", "int64", "byte_array", "fixed_len_byte_array"})
MAX_PRECISION = max(DECIMAL_DIGITS.values())
PARTS = frozenset({"value", "typed_value"})


def check_shredding(node: ParquetNode) -> None:
    """Refuse a group annotated VARIANT whose parts are not those of a variant.

    Raises:
        SpecError: PQT005; the path leads from the variant to the part.
    """
    _check_parts(node, "metadata")


def _malformed(message: str, found: str, expected: str) -> SpecError:
    return violation(REQUIREMENT, message, aspect="shredding", found=found, expected=expected)


def _check_parts(node: ParquetNode, *more: str) -> None:
    names = [child.name for child in node.children]
    given = set(names)
    if len(given) < len(names) or not PARTS & given or given - PARTS != set(more):
        expected = " and ".join([*more, "value, typed_value or both"])
        raise _malformed("the group does not have the parts of a variant", ", ".join(names), expected)
    for child in node.children:
        with at(f"/{child.name}"):
            (_check_typed if child.name == "typed_value" else _check_binary)(child)


def _check_binary(node: ParquetNode) -> None:
    if node.physical != "byte_array" or node.logical is not None or node.repetition == "repeated":
        raise _malformed("a part of a variant is not binary", _shown(node), "binary")


def _check_pair(node: ParquetNode) -> None:
    """An element of a shredded array, or a field of a shredded object."""
    if node.physical is not None or node.logical is not None or node.repetition == "repeated":
        raise _malformed("a shredded value is not a group", _shown(node), "a required group")
    _check_parts(node)


def _check_typed(node: ParquetNode) -> None:
    if node.repetition == "repeated":
        raise _malformed("a typed value is repeated", _shown(node), "an optional field")
    if node.physical is not None:
        _check_primitive(node)
    elif node.logical == "LIST":
        repeated = node.children[0] if len(node.children) == 1 else None
        if repeated is None or repeated.repetition != "repeated" or len(repeated.children) != 1:
            raise _malformed("a shredded array does not have the levels of a list", _shown(node), "three levels")
        with at("/element"):
            _check_pair(repeated.children[0])
    elif node.logical is None:
        names = [child.name for child in node.children]
        if len(set(names)) < len(names):
            raise _malformed("two shredded fields have one name", ", ".join(names), "a field of each name")
        for child in node.children:
            with at(f"/{child.name}"):
                _check_pair(child)
    else:
        raise _malformed("a variant is not shredded as such a group", _shown(node), "LIST, or no annotation")


def _check_primitive(node: ParquetNode) -> None:
    shape = (node.physical, node.logical, node.parameters)
    is_decimal = node.logical == "DECIMAL" and node.physical in _DECIMALS and node.parameters[0] <= MAX_PRECISION
    is_uuid = shape == ("fixed_len_byte_array", "UUID", ()) and node.length == 16
    if shape not in _SHREDDED and not is_decimal and not is_uuid:
        message = "a variant is not shredded as a column of this type"
        raise _malformed(message, _shown(node), "a type of a variant's primitives")


def _shown(node: ParquetNode) -> str:
    length = f"[{node.length}]" if node.length is not None else ""
    kind = "group" if node.physical is None else f"{node.physical}{length}"
    return f"{kind} {node.logical or ''}{node.parameters or ''}".strip()


# One value


def reconstruct(value: Node | None, typed: Node | None, shredded: frozenset[str] = frozenset()) -> Node | None:
    """A value from the two fields that it is stored in.

    Args:
        value: what ``value`` holds; None for null.
        typed: what ``typed_value`` holds; of an object the fields that are not missing. None for null.
        shredded: the names of the fields that ``typed_value`` has columns for.

    Returns:
        None where the value is missing.

    Raises:
        SpecError: PQT005, if both hold something, other than the fields of one object.
    """
    if typed is None or value is None:
        return value if typed is None else typed
    if not isinstance(typed, dict):
        message = "a variant has a value and a typed value"
        raise violation(REQUIREMENT, message, aspect="two-values", expected="one of them, or an object")
    if not isinstance(value, dict):
        message = "a variant has shredded fields and a value that is not an object"
        raise violation(REQUIREMENT, message, aspect="value-not-object", expected="an object")
    if both := shredded & value.keys():
        message = "a field of a variant is shredded, and in the value too"
        raise violation(REQUIREMENT, message, aspect="field-twice", found=min(both), expected="either")
    return {**value, **typed}


# Arrow arrays

Array: TypeAlias = Any


def unshredded(array: Array, target: Any) -> Array:
    """A column of shredded variants as one of variants, with the dictionaries that the file has.

    Args:
        array: structs with the fields metadata and, of value and typed_value, at least one.
        target: the Arrow type of variants: a struct of metadata and value.

    Raises:
        SpecError: PQT005 for values that are shredded as none should be, TYP006 for parts that are not of the encoding.
    """
    parts = _parts(array)
    metadata = parts["metadata"].cast(pa.binary())
    if metadata.null_count > array.null_count:
        message = "a variant has no metadata"
        raise violation(REQUIREMENT, message, aspect="no-metadata", expected="a dictionary of names")
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
    return pa.StructArray.from_buffers(target, len(array), [validity(array)], children=children)


@attrs.frozen
class _Dictionary:
    """The names of a variant, by id and the other way round."""

    names: tuple[str, ...]
    ids: Mapping[str, int]


@functools.lru_cache(maxsize=1024)
def _dictionary(metadata: bytes) -> _Dictionary:
    names = decode_metadata(metadata)
    return _Dictionary(names, {name: id_ for id_, name in enumerate(names)})


def _parts(array: Array) -> dict[str, Array]:
    """The fields of structs, which are null where the struct is."""
    return dict(zip((field.name for field in array.type), array.flatten(), strict=True))


def _needed(node: Node | None) -> Node:
    """What stands for a value that cannot be missing."""
    return NULL if node is None else node


def _binaries(array: Array | None, length: int) -> list[bytes | None]:
    return [None] * length if array is None else array.cast(pa.binary()).to_pylist()


def _pairs(array: Array, dictionaries: Sequence[_Dictionary], depth: int) -> list[Node | None]:
    """The values that ``value`` and ``typed_value`` hold, `depth` objects and arrays below the root."""
    parts = _parts(array)
    values = _binaries(parts.get("value"), len(array))
    typed, shredded = _typed(parts.get("typed_value"), dictionaries, depth)
    return [
        reconstruct(None if value is None else decode_value(value, dictionary.names, depth), other, shredded)
        for value, other, dictionary in zip(values, typed, dictionaries, strict=True)
    ]


def _typed(
    array: Array | None, dictionaries: Sequence[_Dictionary], depth: int
) -> tuple[Sequence[Node | None], frozenset[str]]:
    """What ``typed_value`` holds, and the names of the fields that it has columns for."""
    if array is None:
        return [None] * len(dictionaries), frozenset()
    valid = array.is_valid().to_pylist()
    if isinstance(array.type, pa.StructType):
        fields = {}
        for name, child in _parts(array).items():
            with at(f"/{name}"):
                fields[name] = _pairs(child, dictionaries, depth + 1)
        objects = [
            {name: node for name, nodes in fields.items() if (node := nodes[row]) is not None} if here else None
            for row, here in enumerate(valid)
        ]
        return objects, frozenset(fields)
    if isinstance(array.type, pa.ListType):
        lengths = [length or 0 for length in pc.list_value_length(array).to_pylist()]
        inside = [one for one, length in zip(dictionaries, lengths, strict=True) for _ in range(length)]
        with at("/element"):
            elements = iter(_pairs(array.flatten(), inside, depth + 1))
        return [
            tuple(_needed(node) for node in itertools.islice(elements, length)) if here else None
            for here, length in zip(valid, lengths, strict=True)
        ], frozenset()
    return [None if one is None else _scalar(array.type, one) for one in _plain(array)], frozenset()


_PHYSICAL: dict[Any, Physical] = {
    pa.int8(): Physical.INT8, pa.int16(): Physical.INT16, pa.int32(): Physical.INT32, pa.int64(): Physical.INT64,
    pa.float32(): Physical.FLOAT, pa.float64(): Physical.DOUBLE, pa.date32(): Physical.DATE,
    pa.time64("us"): Physical.TIME_NTZ, pa.binary(): Physical.BINARY, pa.string(): Physical.STRING,
    pa.uuid(): Physical.UUID, pa.timestamp("us"): Physical.TIMESTAMP_NTZ, pa.timestamp("us", "UTC"): Physical.TIMESTAMP,
    pa.timestamp("ns"): Physical.TIMESTAMP_NTZ_NANOS, pa.timestamp("ns", "UTC"): Physical.TIMESTAMP_NANOS,
}  # fmt: skip
"""The Arrow types that Parquet's columns are read as, without booleans and decimals."""

_COUNTS: tuple[tuple[Callable[[Any], bool], Any], ...] = (
    (pa.types.is_date32, pa.int32()), (pa.types.is_time64, pa.int64()), (pa.types.is_timestamp, pa.int64()),
    (pa.types.is_string, pa.binary()),
)  # fmt: skip
"""As what Arrow gives the values that a `Scalar` has."""


def _plain(array: Array) -> list[Any]:
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    target = next((target for fits, target in _COUNTS if fits(array.type)), array.type)
    return array.cast(target).to_pylist()  # type: ignore[no-any-return]


def _scalar(arrow: Any, value: Any) -> Scalar:
    if pa.types.is_boolean(arrow):
        return Scalar(Physical.TRUE if value else Physical.FALSE, value)
    if pa.types.is_decimal(arrow):
        return Scalar(next(one for one, digits in DECIMAL_DIGITS.items() if arrow.precision <= digits), value)
    physical = _PHYSICAL[arrow]
    if physical is Physical.UUID:
        return Scalar(physical, uuid.UUID(bytes=value))
    if physical is Physical.STRING:
        try:
            return Scalar(physical, value.decode())
        except UnicodeDecodeError as cause:
            raise violation("TYP006", "variant value: a string is not UTF-8", found=value) from cause
    return Scalar(physical, value)
