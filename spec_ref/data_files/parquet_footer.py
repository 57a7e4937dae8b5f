"""Add logical types that pyarrow omits to the footer of a Parquet file (Appendix A, Parquet; PQT005).

pyarrow writes a variant as a group without annotation, and supports only geographies whose edges are spherical. The
footer is a Thrift struct in the compact protocol: the schema elements of these columns get their logical types, and
everything else stays the same, byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spec_ref.core.errors import Description, spec_error
from spec_ref.data_files.parquet_thrift import EDGE_ALGORITHMS, LOGICAL_TYPES, MAGIC, CompactReader, read_footer
from spec_ref.data_types.types import (
    DEFAULT_CRS,
    UNKNOWN,
    EdgeAlgorithm,
    GeographyType,
    ListType,
    MapType,
    StructType,
    Type,
    VariantType,
    children,
)
from spec_ref.encodings.varint import write_varint

SCHEMA = 2
"""The id of the footer's field with the schema elements, which are in depth-first order."""

LOGICAL_TYPE = 10
"""The id of the field of a schema element with its logical type, a union."""

VARIANT_VERSION = 1
_BYTE, _I32, _BINARY, _STRUCT = 3, 5, 8, 12
_STOP = b"\0"

Field = tuple[int, int, bytes]
"""A field of a struct: its id, its kind and the bytes of its value."""


def logical_types(type_: Type) -> Iterator[bytes | None]:
    """Find the logical types that pyarrow does not write for the schema elements of a column.

    Args:
        type_: the type of the column.

    Yields:
        The union of each element in order, None for those that are complete.
    """
    match type_:
        case StructType(fields):
            yield None
            for field in fields:
                yield from logical_types(field.type)
        case ListType() | MapType():
            yield from (None, None)  # the group, and the repeated group inside it
            for _, child in children(type_):
                yield from logical_types(child)
        case VariantType():
            yield VARIANT_UNION
            yield from (None, None)
        case GeographyType(crs, algorithm) if algorithm is not EdgeAlgorithm.SPHERICAL:
            text = crs.encode()
            edges = write_varint(EDGE_ALGORITHMS.index(algorithm.value) << 1)
            named = [] if crs == DEFAULT_CRS else [(1, _BINARY, write_varint(len(text)) + text)]
            yield _union("GEOGRAPHY", [*named, (2, _I32, edges)])
        case _ if type_ != UNKNOWN:
            yield None


def with_logical_types(tail: bytes, struct: StructType) -> bytes:
    """Add the logical types of all columns to the end of a file.

    Args:
        tail: the end of the file, starting anywhere up to its footer.
        struct: the columns.

    Returns:
        The end of the file with logical types.

    Raises:
        SpecError: PQT001, if the footer is damaged; PQT007, if it has other columns.
    """
    return add_logical_types(tail, list(logical_types(struct)))


def add_logical_types(tail: bytes, unions: Sequence[bytes | None]) -> bytes:
    """Add logical types to the footer at the end of a file.

    Args:
        tail: the end of the file, starting anywhere up to its footer.
        unions: the logical type of every schema element in depth-first order, None for those that stay unchanged.

    Returns:
        The end of the file with logical types.

    Raises:
        SpecError: PQT001, if the footer is damaged; PQT007, if it has another number of schema elements.
    """
    footer = read_footer(MAGIC + bytes(8) + tail)  # `read_footer` expects a whole file
    made = _with_logical_types(footer, unions)
    return tail[: -8 - len(footer)] + made + len(made).to_bytes(4, "little") + MAGIC


def _with_logical_types(footer: bytes, wanted: Sequence[bytes | None]) -> bytes:
    reader = CompactReader(footer)
    for field_id, kind in reader.fields():
        if field_id == SCHEMA:
            break
        reader.value(kind, 0)
    head = reader.take(1)[0]
    count = reader.varint() if head >> 4 == 15 else head >> 4
    if count != len(wanted):
        found = Description(f"{count} elements")
        raise spec_error(
            "PQT007", "the schema in the footer has different columns", found=found, expected=str(len(wanted))
        )
    parts, done = [], 0
    for logical in wanted:
        start = reader.at
        fields = list(_read_fields(reader))
        if logical is not None:
            kept = [field for field in fields if field[0] != LOGICAL_TYPE]
            parts += [footer[done:start], _struct(sorted([*kept, (LOGICAL_TYPE, _STRUCT, logical)]))]
            done = reader.at
    return b"".join([*parts, footer[done:]])


def _read_fields(reader: CompactReader) -> Iterator[Field]:
    """Read the fields of the struct at the position of a reader."""
    for field_id, kind in reader.fields():
        start = reader.at
        reader.value(kind, 0)
        yield field_id, kind, reader.data[start : reader.at]


def _struct(fields: list[Field]) -> bytes:
    """Encode a struct of fields that are sorted by their ids."""
    made, last = bytearray(), 0
    for field_id, kind, value in fields:
        step = field_id - last
        made += bytes([step << 4 | kind]) if step <= 15 else bytes([kind]) + write_varint(field_id << 1)
        made += value
        last = field_id
    return bytes(made) + _STOP


def _union(name: str, fields: list[Field]) -> bytes:
    """Encode a logical type, a union, with its fields."""
    (field_id,) = (number for number, one in LOGICAL_TYPES.items() if one == name)
    return _struct([(field_id, _STRUCT, _struct(fields))])


VARIANT_UNION = _union("VARIANT", [(1, _BYTE, bytes([VARIANT_VERSION]))])
"""The logical type of variants."""
