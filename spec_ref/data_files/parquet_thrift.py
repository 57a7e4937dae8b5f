"""The schema in the footer of a Parquet file, as stored (Apache Parquet, FileMetaData and SchemaElement; Appendix A).

Libraries expose a schema through their own types and lose parts of it: field ids of groups, the annotation of a
variant, the type of decimals. The schema elements are read here from the footer's Thrift structs in the compact
protocol. The rest of the footer is skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.records import record
from spec_ref.encodings.varint import read_varint, unzigzag

MAGIC = b"PAR1"
ENCRYPTED_MAGIC = b"PARE"
MAX_FOOTER = 1 << 28
MAX_VALUES = 1 << 20
"""The maximum number of numbers, texts, lists and structs that are read for a schema; a schema of fifty thousand
columns has half as many."""

SCHEMA_ID = 2
"""The field id of the schema in a footer."""

MAX_DEPTH = 100
"""The maximum number of levels of groups in a schema, and of structs in a footer."""

PHYSICAL_TYPES = ("boolean", "int32", "int64", "int96", "float", "double", "byte_array", "fixed_len_byte_array")
REPETITIONS = ("required", "optional", "repeated")
LOGICAL_TYPES = {
    1: "STRING",
    2: "MAP",
    3: "LIST",
    4: "ENUM",
    5: "DECIMAL",
    6: "DATE",
    7: "TIME",
    8: "TIMESTAMP",
    10: "INTEGER",
    11: "UNKNOWN",
    12: "JSON",
    13: "BSON",
    14: "UUID",
    15: "FLOAT16",
    16: "VARIANT",
    17: "GEOMETRY",
    18: "GEOGRAPHY",
}
CONVERTED_TYPES = (
    "UTF8",
    "MAP",
    "MAP_KEY_VALUE",
    "LIST",
    "ENUM",
    "DECIMAL",
    "DATE",
    "TIME_MILLIS",
    "TIME_MICROS",
    "TIMESTAMP_MILLIS",
    "TIMESTAMP_MICROS",
    "UINT_8",
    "UINT_16",
    "UINT_32",
    "UINT_64",
    "INT_8",
    "INT_16",
    "INT_32",
    "INT_64",
    "JSON",
    "BSON",
    "INTERVAL",
)
_NUMBERS = frozenset({1, 2, 3, 5, 6, 7, 8, 9})
"""The fields of a schema element that are integers: all but its name and its logical type."""

TIME_UNITS = {1: "MILLIS", 2: "MICROS", 3: "NANOS"}
EDGE_ALGORITHMS = ("spherical", "vincenty", "thomas", "andoyer", "karney")


@record
class ParquetNode:
    """A node of the schema: a column, or a group of nodes."""

    name: str
    repetition: str
    """One of `REPETITIONS`; the root's has no meaning."""

    physical: str | None
    """One of `PHYSICAL_TYPES`; None for a group."""

    length: int | None
    """The number of bytes of a fixed_len_byte_array."""

    field_id: int | None
    logical: str | None
    """One of `LOGICAL_TYPES`, from the logical type or, in older files, the converted type."""

    parameters: tuple[Any, ...] = ()
    """DECIMAL has precision and scale; TIME and TIMESTAMP have the unit and whether values are adjusted to UTC; INTEGER
    has the number of bits and whether it is signed; GEOMETRY has the CRS, and GEOGRAPHY the CRS and the algorithm, if
    they are set."""

    children: tuple[ParquetNode, ...] = ()


def annotation_text(logical: str | None, parameters: Sequence[object] | None) -> str:
    """Write a logical type with its parameters for a message, such as ``TIMESTAMP(MICROS, false)``.

    Args:
        logical: the name of the logical type, if there is one.
        parameters: its parameters, if it has some.

    Returns:
        The text; empty without a logical type.
    """
    texts = [str(one).lower() if isinstance(one, bool) else str(one) for one in parameters or ()]
    return f"{logical or ''}({', '.join(texts)})" if texts else logical or ""


def read_parquet_schema(file: BinaryIO | bytes) -> ParquetNode:
    """Read the schema of a file.

    Args:
        file: the bytes, or a seekable file that is opened for reading.

    Returns:
        The root of the schema.

    Raises:
        SpecError: PQT001 if it is not a Parquet file, or its footer is encrypted or damaged.
    """
    return parse_schema(CompactReader(read_footer(file)))


def parse_schema(footer: CompactReader) -> ParquetNode:
    """Parse the schema of a footer.

    Args:
        footer: a reader at the start of the footer; `CompactReader.rest` reads the other fields afterwards.

    Returns:
        The root of the schema.

    Raises:
        SpecError: PQT001 if the footer is damaged.
    """
    try:
        elements = footer.schema()
        root, count = _tree(elements, 0, 0)
    except SpecError:
        raise
    except (IndexError, struct.error, KeyError, TypeError, AttributeError, ValueError) as error:
        raise _footer_error("the footer is damaged", type(error).__name__) from error
    if count != len(elements):
        raise _footer_error("the schema has elements outside of its root", len(elements) - count)
    return root


def read_footer(file: BinaryIO | bytes) -> bytes:
    """Read the bytes of the footer's Thrift struct.

    Args:
        file: the bytes, or a seekable file that is opened for reading.

    Returns:
        The bytes.

    Raises:
        SpecError: PQT001 if it is not a Parquet file, or its footer is encrypted or does not fit the file.
    """
    if isinstance(file, bytes):
        tail, size = file[-8:], len(file)
    else:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        tail = file.read(8)
    if tail[4:] == ENCRYPTED_MAGIC:
        raise _footer_error("the footer is encrypted", tail[4:])
    if len(tail) < 8 or tail[4:] != MAGIC:
        raise _footer_error("the file is not a Parquet file", tail[4:])
    (length,) = struct.unpack("<I", tail[:4])
    if not 0 < length <= min(size - 12, MAX_FOOTER):
        raise _footer_error("the footer length exceeds the file size", length)
    if isinstance(file, bytes):
        return file[size - 8 - length : size - 8]
    file.seek(size - 8 - length)
    return file.read(length)


def _footer_error(message: str, found: object) -> SpecError:
    return spec_error("PQT001", message, found=found, aspect="format")


_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(13)
_INTEGERS = (_I16, _I32, _I64)
_BOOLEANS = (_TRUE, _FALSE)


class CompactReader:
    """A reader of the Thrift compact protocol; structs become dicts by field id.

    Damaged bytes raise IndexError, KeyError, TypeError or ValueError; more than `remaining` values raise a `SpecError`.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.remaining = MAX_VALUES
        self._before_schema: dict[int, Any] = {}

    def schema(self) -> list[dict[int, Any]]:
        """Read the list of schema elements: field `SCHEMA_ID` of the first struct, after the version.

        Returns:
            The elements.

        Raises:
            SpecError: PQT001 if the footer has no schema.
        """
        for field_id, kind in self.fields():
            value = self.value(kind, 0)
            if field_id == SCHEMA_ID:
                if not isinstance(value, list) or not value:
                    break
                return value
            self._before_schema[field_id] = value
        raise _footer_error("the footer has no schema", self.at)

    def skip_schema(self, known: bytes) -> bool:
        """Skip the schema where it is known: that of a footer which begins with the same bytes.

        Args:
            known: the bytes of another footer up to the end of its schema.

        Returns:
            Whether this footer begins with them; if not, nothing was read.
        """
        if not self.data.startswith(known):
            return False
        for field_id, kind in self.fields():
            if field_id == SCHEMA_ID:
                break
            self._before_schema[field_id] = self.value(kind, 0)
        self.at = len(known)
        return True

    def rest(self) -> dict[int, Any]:
        """Read the fields of the first struct after `schema`.

        Returns:
            All fields of the struct but the schema, by id.
        """
        return {**self._before_schema, **self._struct(0, SCHEMA_ID)}

    def fields(self, field_id: int = 0) -> Any:
        """Read the field ids and kinds of a struct, whose values the caller reads in between.

        Args:
            field_id: the id of the field before, if some fields were read.

        Yields:
            The id and the kind of each field.
        """  # noqa: DOC201 - ruff takes a bare return in a generator for a value
        while True:
            head = self.data[self.at]
            self.at += 1
            if head & 0x0F == _STOP:
                return
            field_id = field_id + (head >> 4) if head >> 4 else self.integer()
            yield field_id, head & 0x0F

    def value(self, kind: int, depth: int) -> Any:
        """Read a value.

        Args:
            kind: the kind of the value in the protocol.
            depth: how many structs and lists contain it.

        Returns:
            The value.

        Raises:
            SpecError: PQT001 if the footer has too many values, is nested too deeply or is damaged.
        """
        self.remaining -= 1
        if self.remaining < 0:
            raise _footer_error("the schema is too large", Description(f"over {MAX_VALUES} values"))
        if kind in _INTEGERS:
            return self.integer()
        if kind == _BINARY:
            return self.take(self.varint())
        if kind in _BOOLEANS:
            return kind == _TRUE
        if kind == _BYTE:
            return int.from_bytes(self.take(1), "little", signed=True)
        if kind == _DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        if depth >= MAX_DEPTH:
            raise _footer_error("the footer is nested too deeply", depth)
        if kind == _STRUCT:
            return self._struct(depth + 1)
        if kind in (_LIST, _SET):
            head = self.take(1)[0]
            count = self.varint() if head >> 4 == 15 else head >> 4
            return [self.element(head & 0x0F, depth) for _ in range(self.check_count(count))]
        if kind == _MAP:
            count = self.check_count(self.varint())
            kinds = self.take(1)[0] if count else 0
            return [(self.element(kinds >> 4, depth), self.element(kinds & 0x0F, depth)) for _ in range(count)]
        raise _footer_error("the footer is damaged", f"type {kind}")

    def _struct(self, depth: int, field_id: int = 0) -> dict[int, Any]:
        """Read the fields of a struct, as `fields` does, without suspending it for each."""
        data, members = self.data, dict[int, Any]()
        while True:
            head = data[self.at]
            self.at += 1
            kind = head & 0x0F
            if kind == _STOP:
                return members
            field_id = field_id + (head >> 4) if head >> 4 else self.integer()
            members[field_id] = self.value(kind, depth)

    def element(self, kind: int, depth: int) -> Any:
        """Read a value in a list, where a boolean takes a byte.

        Args:
            kind: the kind of the value in the protocol.
            depth: how many structs and lists contain it.

        Returns:
            The value.

        Raises:
            SpecError: PQT001, as `value`.
        """
        return self.take(1)[0] == _TRUE if kind in _BOOLEANS else self.value(kind, depth + 1)

    def check_count(self, count: int) -> int:
        """Check that a count of elements fits into the rest of the footer.

        Args:
            count: the count.

        Returns:
            The count.

        Raises:
            SpecError: PQT001 if it does not.
        """
        if count > len(self.data) - self.at:
            raise _footer_error("a list of the footer is longer than the footer", count)
        return count

    def take(self, count: int) -> bytes:
        """Read bytes.

        Args:
            count: the number of bytes.

        Returns:
            The bytes.

        Raises:
            SpecError: PQT001 if the footer is truncated.
        """
        if count > len(self.data) - self.at:
            raise _footer_error("the footer is truncated", count)
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self) -> int:
        """Read an unsigned number in groups of seven bits.

        Returns:
            The number.

        Raises:
            SpecError: PQT001 if it is too long.
        """
        try:
            octet = self.data[self.at]
            if octet < 0x80:  # most numbers have one byte
                self.at += 1
                return octet
            value, self.at = read_varint(self.data, self.at)
        except IndexError as error:
            raise _footer_error("a variable-length integer of the footer is not terminated", self.at) from error
        return value

    def integer(self) -> int:
        """Read a zig-zag integer."""
        return unzigzag(self.varint())


def _tree(elements: list[dict[int, Any]], place: int, depth: int) -> tuple[ParquetNode, int]:
    """Make the node at an index of the list, which is in depth-first order, and the index after it."""
    if depth > MAX_DEPTH:
        raise _footer_error("the schema is nested too deeply", depth)
    element = elements[place]
    for key in _NUMBERS & element.keys():
        _number(element[key])
    place += 1
    children = []
    for _ in range(_children(element, len(elements) - place)):
        child, place = _tree(elements, place, depth + 1)
        children.append(child)
    logical, parameters = _annotation(element)
    is_group = element.get(1) is None
    return ParquetNode(
        name=element[4].decode(),
        repetition=REPETITIONS[element.get(3, 0)],
        physical=None if is_group else PHYSICAL_TYPES[element[1]],
        length=element.get(2),
        field_id=element.get(9),
        logical=logical,
        parameters=parameters,
        children=tuple(children),
    ), place


def _number(value: Any) -> int:
    if type(value) is not int:
        raise _footer_error("the footer is damaged", value)
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _footer_error("the footer is damaged", value)
    return value


def _children(element: dict[int, Any], left: int) -> int:
    count = element.get(5) or 0
    if not 0 <= count <= left:
        raise _footer_error("a group of the schema has more children than there are elements", count)
    return int(count)


def _annotation(element: dict[int, Any]) -> tuple[str | None, tuple[Any, ...]]:
    for key, members in (element.get(10) or {}).items():
        name = LOGICAL_TYPES.get(key)
        if name is None:
            raise _footer_error("the logical type is unknown", key)
        if not isinstance(members, dict):
            raise _footer_error("the footer is damaged", name)
        return name, _parameters(name, members)
    converted = element.get(6)
    return (None, ()) if converted is None else _converted(CONVERTED_TYPES[converted], element)


def _parameters(name: str, members: dict[int, Any]) -> tuple[Any, ...]:
    match name:
        case "DECIMAL":
            return _number(members[2]), _number(members[1])
        case "TIME" | "TIMESTAMP":
            (unit,) = members[2]
            return TIME_UNITS[unit], _flag(members[1])
        case "INTEGER":
            return _number(members[1]), _flag(members[2])
        case "GEOMETRY":
            return (_text(members.get(1)),)
        case "GEOGRAPHY":
            algorithm = members.get(2)
            return _text(members.get(1)), None if algorithm is None else EDGE_ALGORITHMS[algorithm]
        case _:
            return ()


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _converted(name: str, element: dict[int, Any]) -> tuple[str, tuple[Any, ...]]:
    """Find the logical type that a converted type represents (Parquet, LogicalTypes, compatibility)."""
    match name.partition("_"):
        case "UTF8", _, _:
            return "STRING", ()
        case "MAP", _, _:
            return "MAP", ()
        case "DECIMAL", _, _:
            return "DECIMAL", (element[8], element.get(7, 0))
        case ("TIME" | "TIMESTAMP") as kind, _, unit:
            return kind, (unit, True)
        case ("INT" | "UINT") as kind, _, bits:
            return "INTEGER", (int(bits), kind == "INT")
        case _:
            return name, ()
