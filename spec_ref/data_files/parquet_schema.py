"""Iceberg types as Parquet types and back (Appendix A, Parquet; PQT001 to PQT007).

`struct_from_parquet` reads the schema of a file, and `check_parquet_schema` checks a file's columns against the table
of the appendix. `spec_ref.data_files.parquet_arrow_types` makes pyarrow write what the table requires.

Decided here: a reader accepts what older writers wrote, by Parquet's compatibility rules: milliseconds, 8- and 16-bit
integers, INT96, two-level lists, decimals of any physical type. The checks report all of these, because writers should
no longer use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from spec_ref.core.errors import Description, SpecError, Violation, error_path, spec_error
from spec_ref.core.records import record
from spec_ref.data_files.parquet_thrift import ParquetNode, annotation_text
from spec_ref.data_files.variant_shredding_schema import check_shredding
from spec_ref.data_types.decimals import decimal_size
from spec_ref.data_types.types import (
    BINARY,
    DEFAULT_CRS,
    INT,
    LONG,
    PLAIN_PRIMITIVES,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    VARIANT,
    DecimalType,
    EdgeAlgorithm,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
    Type,
    kind,
)
from spec_ref.schemas.column_ids import ColumnIds, column_ids
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField


@record
class ParquetType:
    """How Parquet stores a primitive type."""

    physical: str
    logical: str | None = None
    parameters: tuple[Any, ...] = ()
    length: int | None = None


_STORED: dict[str, ParquetType] = {
    "boolean": ParquetType("boolean"),
    "int": ParquetType("int32"),
    "long": ParquetType("int64"),
    "float": ParquetType("float"),
    "double": ParquetType("double"),
    "date": ParquetType("int32", "DATE"),
    "time": ParquetType("int64", "TIME", ("MICROS", False)),
    "timestamp": ParquetType("int64", "TIMESTAMP", ("MICROS", False)),
    "timestamptz": ParquetType("int64", "TIMESTAMP", ("MICROS", True)),
    "timestamp_ns": ParquetType("int64", "TIMESTAMP", ("NANOS", False)),
    "timestamptz_ns": ParquetType("int64", "TIMESTAMP", ("NANOS", True)),
    "string": ParquetType("byte_array", "STRING"),
    "uuid": ParquetType("fixed_len_byte_array", "UUID", length=16),
    "binary": ParquetType("byte_array"),
}

_CODES: dict[str, str] = {
    **dict.fromkeys(("int", "long", "decimal"), "PQT003"),
    **dict.fromkeys(("date", "time", "timestamp", "timestamptz", "uuid", "string"), "PQT004"),
    **dict.fromkeys(("timestamp_ns", "timestamptz_ns", "variant", "geometry", "geography"), "PQT005"),
    "unknown": "PQT006",
    **dict.fromkeys(("list", "map"), "PQT002"),
}
"""The requirement for the storage of a kind of type; PQT007 for the others."""


def type_requirement(type_: Type) -> str:
    """Find the requirement for the storage of a type in Parquet.

    Args:
        type_: any type.

    Returns:
        The code.
    """
    return _CODES.get(kind(type_), "PQT007")


def stored_type(type_: Type) -> ParquetType | None:
    """Find the storage of a type.

    Args:
        type_: any type.

    Returns:
        The storage; None for nested types, variants and unknown, which are not stored in one column.
    """
    match type_:
        case DecimalType(precision, scale):
            if precision <= 18:
                return ParquetType("int32" if precision <= 9 else "int64", "DECIMAL", (precision, scale))
            return ParquetType("fixed_len_byte_array", "DECIMAL", (precision, scale), decimal_size(precision))
        case FixedType(length):
            return ParquetType("fixed_len_byte_array", length=length)
        case GeometryType(crs):
            return ParquetType("byte_array", "GEOMETRY", (crs,))
        case GeographyType(crs, algorithm):
            return ParquetType("byte_array", "GEOGRAPHY", (crs, algorithm.value))
        case PrimitiveType(name):
            return _STORED.get(name)
        case _:
            return None


# From Parquet


def columns_from_parquet(root: ParquetNode, mapping: Sequence[MappedField] | None = None) -> FileColumns:
    """Read the columns of a file; those that cannot be read are listed separately from the struct.

    Args:
        root: the schema of the file.
        mapping: the table's name mapping, for a file without field ids; columns that it does not name are left out.

    Returns:
        The columns.

    Raises:
        SpecError: PQT001, for a file without ids of a table without a mapping.
    """
    ids = column_ids("PQT001", has_ids(root), mapping)
    struct = _struct(root.children, ids)
    return FileColumns(struct, mapped=ids.mapping is not None, unreadable=tuple(ids.left_out))


def struct_from_parquet(root: ParquetNode, mapping: Sequence[MappedField] | None = None) -> StructType:
    """Read the columns of a file as an Iceberg struct, if all of them can be read.

    Args:
        root: the schema of the file.
        mapping: the table's name mapping, for a file without field ids; columns that it does not name are left out.

    Returns:
        The struct type.

    Raises:
        SpecError: PQT001 for a column without id, PQT002 to PQT007 for a column without an Iceberg type. Paths are the
            names of the columns.
    """
    return columns_from_parquet(root, mapping).all_readable()


def has_ids(node: ParquetNode) -> bool:
    """Decide whether a file has field ids anywhere, so that no name mapping is used (B22).

    Args:
        node: a node of the schema.

    Returns:
        Whether it or a node below it has an id.
    """
    return node.field_id is not None or any(map(has_ids, node.children))


def _struct(children: Sequence[ParquetNode], ids: ColumnIds) -> StructType:
    fields = []
    for node in children:
        column = ids.column(node.name, partial(getattr, node, "field_id"), partial(_type, node))
        if column is not None:
            fields.append(NestedField(column[0], node.name, node.repetition == "required", column[1]))
    return StructType(tuple(fields))


def _type(node: ParquetNode, ids: ColumnIds) -> Type:
    if node.repetition == "repeated":
        raise spec_error(
            "PQT002", "the repeated field is not a list", found=node.name, expected="a group annotated LIST"
        )
    if node.physical is not None:
        return primitive_from_parquet(node)
    match node.logical:
        case "LIST":
            return _list(node, ids)
        case "MAP" | "MAP_KEY_VALUE":
            return _map(node, ids)
        case "VARIANT":
            check_shredding(node)
            return VARIANT
        case _:
            return _struct(node.children, ids)


def _repeated_group(node: ParquetNode) -> ParquetNode:
    if len(node.children) != 1 or node.children[0].repetition != "repeated":
        raise spec_error("PQT002", f"the group is not a {node.logical}", found=node.name, expected="one repeated group")
    return node.children[0]


def _list(node: ParquetNode, ids: ColumnIds) -> Type:
    repeated = _repeated_group(node)
    is_element = (
        repeated.physical is not None or len(repeated.children) != 1 or repeated.name in ("array", f"{node.name}_tuple")
    )
    element = repeated if is_element else repeated.children[0]
    element_id = ids.find_id("element", element.field_id)
    if element_id is None:
        raise spec_error("PQT001", "the name mapping has no id for the element of the list", found=node.name)
    with error_path("/element"):
        if not is_element:
            return ListType(element_id, _type(element, ids.child_ids("element")), element.repetition == "required")
        inner = (
            primitive_from_parquet(element) if element.physical else _struct(element.children, ids.child_ids("element"))
        )
    return ListType(element_id, inner)


def _map(node: ParquetNode, ids: ColumnIds) -> Type:
    repeated = _repeated_group(node)
    if len(repeated.children) != 2:
        raise spec_error("PQT002", "the group is not a map", found=node.name, expected="a key and a value")
    key, value = repeated.children
    key_id, value_id = ids.find_id("key", key.field_id), ids.find_id("value", value.field_id)
    if key_id is None or value_id is None:
        raise spec_error("PQT001", "the name mapping has no ids for key and value of the map", found=node.name)
    with error_path("/key"):
        key_type = _type(key, ids.child_ids("key"))
    with error_path("/value"):
        return MapType(key_id, key_type, value_id, _type(value, ids.child_ids("value")), value.repetition == "required")


_READ: dict[tuple[str, str | None, tuple[Any, ...]], Type] = {
    **{(one.physical, one.logical, one.parameters): PLAIN_PRIMITIVES[name] for name, one in _STORED.items()},
    # Other writers store these types, which the appendix does not list.
    ("int96", None, ()): TIMESTAMPTZ,
    ("byte_array", "ENUM", ()): STRING,
    ("byte_array", "JSON", ()): STRING,
    ("byte_array", "BSON", ()): BINARY,
    ("int64", "TIMESTAMP", ("MILLIS", False)): TIMESTAMP,
    ("int64", "TIMESTAMP", ("MILLIS", True)): TIMESTAMPTZ,
}
"""The types of columns, by their storage (`_STORED`)."""

_INTEGERS: dict[tuple[str, int, bool], Type] = {
    ("int32", 8, True): INT,
    ("int32", 16, True): INT,
    ("int32", 32, True): INT,
    ("int32", 8, False): INT,
    ("int32", 16, False): INT,
    ("int32", 32, False): LONG,
    ("int64", 64, True): LONG,
}


def primitive_from_parquet(node: ParquetNode) -> Type:
    """Find the Iceberg type of a column.

    Args:
        node: the column.

    Returns:
        The type.

    Raises:
        SpecError: PQT007 if Iceberg does not have the type; the code of a parameter that is out of range.
    """
    physical, logical, parameters = node.physical or "", node.logical, node.parameters
    made: Type | None = None
    match logical:
        case None:
            bare = physical != "fixed_len_byte_array"
            made = _READ[physical, None, ()] if bare else FixedType(node.length or 0)
        case "UNKNOWN":
            made = UNKNOWN
        case "DECIMAL" if physical in ("int32", "int64", "fixed_len_byte_array", "byte_array"):
            made = DecimalType(*parameters)
        case "INTEGER":
            made = _INTEGERS.get((physical, *parameters))
        case "TIME" if parameters[0] != "NANOS" and physical in ("int32", "int64"):
            made = TIME
        case "UUID" if node.length != _STORED["uuid"].length:
            made = None
        case "GEOMETRY" if physical == "byte_array":
            made = GeometryType(parameters[0] or DEFAULT_CRS)
        case "GEOGRAPHY" if physical == "byte_array":
            made = GeographyType(parameters[0] or DEFAULT_CRS, EdgeAlgorithm(parameters[1] or "spherical"))
        case str():
            made = _READ.get((physical, logical, parameters))
    if made is None:
        found = Description(f"{physical} {annotation_text(logical, parameters)}")
        raise spec_error("PQT007", "the type of the column is not an Iceberg type", found=found)
    return made


# Checks


def check_parquet_schema(root: ParquetNode) -> Iterator[Violation]:
    """Find what a writer should have stored differently, and columns that cannot be read at all.

    Args:
        root: the schema of the file.

    Yields:
        Each violation.
    """
    yield from _check_children(root.children, "")


def _check_children(children: Sequence[ParquetNode], path: str) -> Iterator[Violation]:
    for node in children:
        yield from _check_node(node, f"{path}/{node.name}")


def _check_node(node: ParquetNode, path: str) -> Iterator[Violation]:
    if node.field_id is None:
        yield spec_error("PQT001", "the column has no field id", path=path).violation
    if node.physical is not None:
        try:
            type_ = primitive_from_parquet(node)
        except SpecError:  # reported as a column that cannot be read
            return
        wanted = stored_type(type_)
        if type_ == UNKNOWN:
            yield spec_error("PQT006", "a column of type unknown is stored", path=path).violation
        elif wanted is not None and not _is_stored(node, wanted):
            message = f"the physical type is wrong for {type_}"
            yield spec_error(
                type_requirement(type_), message, found=_describe(node), expected=_describe(wanted), path=path
            ).violation
    elif node.logical == "VARIANT":
        for child in node.children:
            if child.field_id is not None:
                message = "a part of a variant has a field id"
                yield spec_error("PQT005", message, found=child.field_id, path=f"{path}/{child.name}").violation
    elif node.logical in ("LIST", "MAP", "MAP_KEY_VALUE"):
        try:
            repeated = _repeated_group(node)
        except SpecError as error:
            yield attrs.evolve(error.violation, path=path)
            return
        if repeated.physical is not None or (node.logical == "LIST" and len(repeated.children) != 1):
            yield spec_error("PQT002", "the list has two levels", found=node.name, path=path).violation
        else:
            yield from _check_children(repeated.children, path)
    else:
        yield from _check_children(node.children, path)


def _is_stored(node: ParquetNode, wanted: ParquetType) -> bool:
    parameters = node.parameters
    if node.logical in ("GEOMETRY", "GEOGRAPHY"):  # an omitted parameter has its default value
        defaults = (DEFAULT_CRS, "spherical")
        parameters = tuple(given or default for given, default in zip(parameters, defaults, strict=False))
    if node.logical == "INTEGER" and wanted.logical is None:  # an annotation that repeats the physical type
        return node.physical == wanted.physical and parameters in ((32, True), (64, True))
    is_length = wanted.length is None or wanted.length == node.length
    return is_length and (node.physical, node.logical, parameters) == (
        wanted.physical,
        wanted.logical,
        wanted.parameters,
    )


def _describe(stored: ParquetNode | ParquetType) -> Description:
    length = f"[{stored.length}]" if stored.length is not None else ""
    return Description(f"{stored.physical}{length} {annotation_text(stored.logical, stored.parameters)}".strip())
