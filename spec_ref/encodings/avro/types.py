"""Avro schemas as values (Avro 1.11 specification, Schema Declaration; Appendix A, Avro).

A schema is parsed into a tree of the records below, which keep what Iceberg stores in it: ``field-id``, ``element-id``,
``key-id``, ``value-id``, ``logicalType`` and ``adjust-to-utc``. A reference to a named type is the same node as its
definition; a type that refers to itself is refused, because no Iceberg type is recursive. The size of the tree, with
every reference followed, is bounded, so that a short schema cannot describe a huge one.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.core.errors import SpecError, error_path, spec_error
from spec_ref.json import documents

MAX_SCHEMA_BYTES = 32 << 20
MAX_NODES = 500_000
MAX_DEPTH = 250
"""The maximum number of nested types; an Iceberg level takes two, as an optional field is a union."""

MAX_FIXED = 1 << 24
"""The maximum size of a fixed type that is read, in bytes."""

FIELD_ID = "field-id"
ELEMENT_ID = "element-id"
KEY_ID = "key-id"
VALUE_ID = "value-id"
ADJUST_TO_UTC = "adjust-to-utc"

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


@attrs.frozen
class LogicalType:
    """The annotation of a logical type."""

    name: str
    precision: int | None = None
    scale: int = 0
    adjust_to_utc: bool = False
    """Whether timestamps are adjusted to UTC; false if it is absent (AVR009)."""


@attrs.frozen
class Primitive:
    """One of Avro's primitive types."""

    name: str
    logical: LogicalType | None = None


@attrs.frozen
class Fixed:
    """A byte array of a fixed size."""

    name: str
    size: int
    logical: LogicalType | None = None


@attrs.frozen
class Enum:
    """An enumeration of names."""

    name: str
    symbols: tuple[str, ...]


@attrs.frozen
class Array:
    """A list; or, with the logical type ``map``, a map as a list of records of a key and a value (AVR004)."""

    items: AvroType
    element_id: int | None = None
    logical_map: bool = False


@attrs.frozen
class Map:
    """A map from strings."""

    values: AvroType
    key_id: int | None = None
    value_id: int | None = None


@attrs.frozen(slots=False)
class Union:
    """A value of one of several types; with null, an optional value."""

    branches: tuple[AvroType, ...]

    @functools.cached_property
    def optional(self) -> AvroType | None:
        """The other type of a union of null and one type, in either order (contradiction C10); otherwise None."""
        others = [branch for branch in self.branches if branch != NULL]
        return others[0] if len(others) == 1 and len(self.branches) == 2 else None


@attrs.frozen
class Field:
    """A field of a record."""

    name: str
    type: AvroType
    id: int | None = None


@attrs.frozen
class Record:
    """Named fields, in the order in which they are stored."""

    name: str
    fields: tuple[Field, ...]

    def by_id(self) -> dict[int, int]:
        """Map the ids of the fields to their indexes."""
        return {field.id: place for place, field in enumerate(self.fields) if field.id is not None}


AvroType: TypeAlias = Primitive | Fixed | Enum | Array | Map | Union | Record

NULL = Primitive("null")


def parse_schema(text: bytes | str, requirement: str) -> AvroType:
    """Parse the JSON of an Avro schema.

    Args:
        text: the JSON, as stored under ``avro.schema``.
        requirement: the code to raise if it is not an Avro schema.

    Returns:
        The Avro type.

    Raises:
        SpecError: ``requirement`` if the text is not JSON or not an Avro schema, or too large; AVR013 for an id that is
            not an integer.
    """
    if len(text) > MAX_SCHEMA_BYTES:
        raise spec_error(requirement, "the Avro schema is too long", found=len(text), expected=f"{MAX_SCHEMA_BYTES}")
    try:
        json = documents.loads(text)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, requirement=requirement)) from error.__cause__
    return from_json(json, requirement)


def root_record(schema: bytes, requirement: str) -> Record:
    """Parse the Avro schema of a file whose objects are records.

    Args:
        schema: the text of the schema.
        requirement: the code of the errors.

    Returns:
        The record that the schema describes.

    Raises:
        SpecError: ``requirement`` if the schema is malformed or describes another type.
    """
    type_ = parse_schema(schema, requirement)
    if not isinstance(type_, Record):
        raise spec_error(requirement, "the objects of the file are not records")
    return type_


def from_json(json: Any, requirement: str) -> AvroType:
    """Build the type from the parsed JSON of an Avro schema.

    Args:
        json: the parsed JSON.
        requirement: the code to raise if it is not an Avro schema.

    Returns:
        The Avro type.

    Raises:
        SpecError: as `parse_schema`.
    """
    return _Parser(requirement).type(json, MAX_DEPTH, "")


class _Parser:
    """Parses one schema; keeps the named types that were defined so far."""

    def __init__(self, requirement: str) -> None:
        self.requirement = requirement
        self.named: dict[str, tuple[AvroType, int] | None] = {}
        self.nodes = 0

    def error(self, message: str, **details: Any) -> SpecError:
        return spec_error(self.requirement, f"the Avro schema is malformed: {message}", **details)

    def grow(self, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise self.error("it defines too many types", expected=f"at most {MAX_NODES}")

    def type(self, json: Any, depth: int, namespace: str) -> AvroType:
        if depth == 0:
            raise self.error("types are nested too deeply", expected=f"at most {MAX_DEPTH} levels")
        self.grow(1)
        if isinstance(json, str):
            return self.reference(json, namespace)
        if isinstance(json, list):
            branches = []
            for place, branch in enumerate(json):
                with error_path(f"/{place}"):
                    branches.append(self.type(branch, depth - 1, namespace))
            if not branches:
                raise self.error("a union has no branches")
            return Union(tuple(branches))
        if not isinstance(json, dict):
            raise self.error("a type is not a string, an object or a list", found=json)
        name = json.get("type")
        if isinstance(name, str):
            if name in PRIMITIVES:
                return Primitive(name, self.logical(json))
            read = _COMPLEX.get(name)
            return read(self, json, depth - 1, namespace) if read else self.reference(name, namespace)
        with error_path("/type"):
            return self.type(name, depth - 1, namespace)

    def reference(self, name: str, namespace: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(name)
        for full in (f"{namespace}.{name}" if namespace and "." not in name else name, name):
            if full in self.named:
                known = self.named[full]
                if known is None:
                    raise self.error("a type is nested in itself", found=name)
                self.grow(known[1])
                return known[0]
        raise self.error("the type is unknown", found=name)

    def logical(self, json: dict[str, Any]) -> LogicalType | None:
        name = json.get("logicalType")
        if not isinstance(name, str):
            return None
        precision, scale = json.get("precision"), json.get("scale", 0)
        if name == "decimal" and not (_is_int(precision) and _is_int(scale)):
            return None  # Avro requires readers to ignore an invalid logical type
        adjust = json.get(ADJUST_TO_UTC, False)
        return LogicalType(
            name, precision if _is_int(precision) else None, scale if _is_int(scale) else 0, adjust is True
        )

    def id(self, json: dict[str, Any], name: str) -> int | None:
        value = json.get(name)
        if value is not None and not (_is_int(value) and abs(value) < 1 << 31):
            raise spec_error("AVR013", f"{name} is not an integer", found=value, path=f"/{name}")
        return value

    def name(self, json: dict[str, Any], namespace: str) -> tuple[str, str]:
        """Find the full name of a named type, and the namespace of the names inside it."""
        name = json.get("name")
        if not isinstance(name, str) or not name:
            raise self.error("a named type has no name", found=name, path="/name")
        if "." in name:
            return name, name.rpartition(".")[0]
        given = json.get("namespace", namespace)
        if not isinstance(given, str):
            raise self.error("the namespace is not a string", found=given, path="/namespace")
        return (f"{given}.{name}" if given else name), given

    def define(self, name: str, made: AvroType | None, nodes: int = 1) -> None:
        if made is None and name in self.named:
            raise self.error("a name is defined twice", found=name)
        self.named[name] = None if made is None else (made, nodes)

    def record(self, json: dict[str, Any], depth: int, namespace: str) -> Record:
        name, inside = self.name(json, namespace)
        self.define(name, None)
        before = self.nodes
        fields = []
        for place, field in enumerate(self.members(json, "fields")):
            with error_path(f"/fields/{place}"):
                fields.append(self.field(field, depth, inside))
        record = Record(name, tuple(fields))
        self.check_fields(record)
        self.define(name, record, self.nodes - before + 1)
        return record

    def field(self, json: Any, depth: int, namespace: str) -> Field:
        if not isinstance(json, dict) or not isinstance(json.get("name"), str):
            raise self.error("a field is not an object with a name", found=json)
        with error_path("/type"):
            type_ = self.type(json.get("type"), depth, namespace)
        return Field(json["name"], type_, self.id(json, FIELD_ID))

    def check_fields(self, record: Record) -> None:
        for what, values in (
            ("a name", [field.name for field in record.fields]),
            ("a field id", [field.id for field in record.fields if field.id is not None]),
        ):
            if len(set(values)) != len(values):
                repeated = next(value for place, value in enumerate(values) if value in values[:place])
                raise self.error(f"{what} is repeated in {record.name}", found=repeated, path="/fields")

    def members(self, json: dict[str, Any], name: str) -> list[Any]:
        members = json.get(name)
        if not isinstance(members, list):
            raise self.error(f"{name} is not a list", found=members, path=f"/{name}")
        return members

    def enum(self, json: dict[str, Any], depth: int, namespace: str) -> Enum:
        name, _ = self.name(json, namespace)
        symbols = self.members(json, "symbols")
        if not symbols or not all(isinstance(symbol, str) for symbol in symbols):
            raise self.error("a symbol is not a string", found=symbols, path="/symbols")
        self.define(name, None)
        made = Enum(name, tuple(symbols))
        self.define(name, made)
        return made

    def fixed(self, json: dict[str, Any], depth: int, namespace: str) -> Fixed:
        name, _ = self.name(json, namespace)
        size = json.get("size")
        if type(size) is not int or not 0 <= size <= MAX_FIXED:
            raise self.error(
                "the size of a fixed is out of range", found=size, expected=f"0 to {MAX_FIXED}", path="/size"
            )
        self.define(name, None)
        made = Fixed(name, size, self.logical(json))
        self.define(name, made)
        return made

    def array(self, json: dict[str, Any], depth: int, namespace: str) -> Array:
        with error_path("/items"):
            items = self.type(json.get("items"), depth, namespace)
        return Array(items, self.id(json, ELEMENT_ID), json.get("logicalType") == "map")

    def map(self, json: dict[str, Any], depth: int, namespace: str) -> Map:
        with error_path("/values"):
            values = self.type(json.get("values"), depth, namespace)
        return Map(values, self.id(json, KEY_ID), self.id(json, VALUE_ID))


_COMPLEX: Mapping[str, Any] = {
    "record": _Parser.record,
    "error": _Parser.record,
    "enum": _Parser.enum,
    "fixed": _Parser.fixed,
    "array": _Parser.array,
    "map": _Parser.map,
}


def _is_int(value: Any) -> bool:
    return type(value) is int


def least_size(type_: AvroType) -> int:
    """Compute the fewest bytes that a value of a type takes.

    Args:
        type_: an Avro type.

    Returns:
        The number of bytes.
    """
    match type_:
        case Primitive("null"):
            return 0
        case Primitive("float"):
            return 4
        case Primitive("double"):
            return 8
        case Fixed(_, size):
            return size
        case Union(branches):
            return 1 + min(least_size(branch) for branch in branches)
        case Record(_, fields):
            return sum(least_size(field.type) for field in fields)
        case _:
            return 1
