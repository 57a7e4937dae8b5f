"""The parts of a shredded variant in the schema of a Parquet file (Appendix A, Parquet; Parquet's Variant Shredding).

`spec_ref.encodings.variant.shredding` reconstructs a value from them.
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import Description, SpecError, error_path, spec_error
from spec_ref.data_files.parquet_thrift import ParquetNode, annotation_text
from spec_ref.encodings.variant.physical_types import DECIMAL_DIGITS
from spec_ref.encodings.variant.shredding import REQUIREMENT

_SHREDDED: frozenset[tuple[str, str | None, tuple[Any, ...]]] = frozenset(
    {
        ("boolean", None, ()),
        ("int32", "INTEGER", (8, True)),
        ("int32", "INTEGER", (16, True)),
        ("int32", None, ()),
        ("int32", "INTEGER", (32, True)),
        ("int64", None, ()),
        ("int64", "INTEGER", (64, True)),
        ("float", None, ()),
        ("double", None, ()),
        ("int32", "DATE", ()),
        ("int64", "TIME", ("MICROS", False)),
        ("int64", "TIMESTAMP", ("MICROS", True)),
        ("int64", "TIMESTAMP", ("NANOS", True)),
        ("int64", "TIMESTAMP", ("MICROS", False)),
        ("int64", "TIMESTAMP", ("NANOS", False)),
        ("byte_array", None, ()),
        ("byte_array", "STRING", ()),
    }
)
"""Physical type, annotation and its parameters of the columns that store primitives, except for decimals and UUIDs."""

_DECIMALS = frozenset({"int32", "int64", "byte_array", "fixed_len_byte_array"})
MAX_PRECISION = max(DECIMAL_DIGITS.values())
PARTS = frozenset({"value", "typed_value"})


def check_shredding(node: ParquetNode) -> None:
    """Check that a group annotated VARIANT has the parts of a variant.

    Args:
        node: the group.

    Raises:
        SpecError: PQT005 if a part is missing, unknown or malformed; the path leads from the variant to the part.
    """
    _check_parts(node, "metadata")


def _shredding_error(message: str, found: str, expected: str) -> SpecError:
    return spec_error(REQUIREMENT, message, aspect="shredding", found=found, expected=expected)


def _check_parts(node: ParquetNode, *more: str) -> None:
    names = [child.name for child in node.children]
    given = set(names)
    if len(given) < len(names) or not PARTS & given or given - PARTS != set(more):
        expected = " and ".join([*more, "value, typed_value or both"])
        raise _shredding_error("the group does not have the parts of a variant", ", ".join(names), expected)
    for child in node.children:
        with error_path(f"/{child.name}"):
            (_check_typed if child.name == "typed_value" else _check_binary)(child)


def _check_binary(node: ParquetNode) -> None:
    if node.physical != "byte_array" or node.logical is not None or node.repetition == "repeated":
        raise _shredding_error("a part of a variant is not binary", _describe(node), "binary")


def _check_pair(node: ParquetNode) -> None:
    """Check an element of a shredded array, or a field of a shredded object."""
    if node.physical is not None or node.logical is not None or node.repetition == "repeated":
        raise _shredding_error("a shredded value is not a group", _describe(node), "a required group")
    _check_parts(node)


def _check_typed(node: ParquetNode) -> None:
    if node.repetition == "repeated":
        raise _shredding_error("a typed value is repeated", _describe(node), "an optional field")
    if node.physical is not None:
        _check_primitive(node)
    elif node.logical == "LIST":
        repeated = node.children[0] if len(node.children) == 1 else None
        if repeated is None or repeated.repetition != "repeated" or len(repeated.children) != 1:
            raise _shredding_error(
                "a shredded array does not have the levels of a list", _describe(node), "three levels"
            )
        with error_path("/element"):
            _check_pair(repeated.children[0])
    elif node.logical is None:
        names = [child.name for child in node.children]
        if len(set(names)) < len(names):
            raise _shredding_error("two shredded fields have the same name", ", ".join(names), "a field of each name")
        for child in node.children:
            with error_path(f"/{child.name}"):
                _check_pair(child)
    else:
        raise _shredding_error(
            "a shredded variant group has an unsupported annotation", _describe(node), "LIST, or no annotation"
        )


def _check_primitive(node: ParquetNode) -> None:
    shape = (node.physical, node.logical, node.parameters)
    is_decimal = node.logical == "DECIMAL" and node.physical in _DECIMALS and node.parameters[0] <= MAX_PRECISION
    is_uuid = shape == ("fixed_len_byte_array", "UUID", ()) and node.length == 16
    if shape not in _SHREDDED and not is_decimal and not is_uuid:
        message = "a shredded variant column has an unsupported type"
        raise _shredding_error(message, _describe(node), "a type of the variant primitives")


def _describe(node: ParquetNode) -> Description:
    length = f"[{node.length}]" if node.length is not None else ""
    kind = "group" if node.physical is None else f"{node.physical}{length}"
    return Description(f"{kind} {annotation_text(node.logical, node.parameters)}".strip())
