"""The kinds of JSON value that the field tables name (Appendix C): the form of a property on the wire.

A kind is data. For each format version, `spec_ref.json.reading` and `spec_ref.json.writing` make readers and writers of
kinds, and `spec_ref.table_metadata.json_schemas` makes JSON Schemas from them.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.core.errors import spec_error
from spec_ref.core.versions import FormatVersion

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1


@attrs.frozen(eq=False)
class ScalarKind:
    """A value that is the same in JSON and in a record."""

    name: str
    """The name in messages."""

    accepts: Callable[[Any], bool]
    """Decides whether a value is of the kind."""

    json_schema: Mapping[str, Any]


def _integer(bits: int, least: int, most: int) -> ScalarKind:
    def accepts(value: Any) -> bool:
        return type(value) is int and least <= value <= most

    return ScalarKind(f"a {bits}-bit integer", accepts, {"type": "integer", "minimum": least, "maximum": most})


def _is_string_map(value: Any) -> bool:
    try:
        "".join(value.values())  # the one loop over the values that runs in C and stops at the first other type
    except (AttributeError, TypeError):
        return False
    return type(value) is dict or isinstance(value, Mapping)


JSON_TYPES = (str, int, float, bool, dict, list)

INT = _integer(32, INT_MIN, INT_MAX)
LONG = _integer(64, LONG_MIN, LONG_MAX)
STRING = ScalarKind("a string", lambda value: type(value) is str, {"type": "string"})
BOOLEAN = ScalarKind("a boolean", lambda value: type(value) is bool, {"type": "boolean"})
STRING_MAP = ScalarKind(
    "an object of strings", _is_string_map, {"type": "object", "additionalProperties": {"type": "string"}}
)
ANY = ScalarKind("a JSON value", lambda value: type(value) in JSON_TYPES, {})


@attrs.frozen(eq=False)
class ListOf:
    """A JSON list; a tuple in the record."""

    item: Kind


@attrs.frozen(eq=False)
class MapOf:
    """A JSON object whose names are data; a ``dict`` in the record."""

    value: Kind


@attrs.frozen(eq=False)
class Converted:
    """A value with different forms in the record and on the wire.

    ``read`` converts what ``kind`` has read and ``write`` converts to what ``kind`` writes; both receive the format
    version, for forms that depend on it, and raise a `SpecError` for a value without a counterpart.
    """

    kind: Kind
    read: Callable[[Any, FormatVersion], Any]
    write: Callable[[Any, FormatVersion], Any]
    json_schema: Mapping[str, Any] = attrs.field(factory=dict)
    """The restrictions of the JSON Schema in addition to ``kind``."""


@attrs.frozen(eq=False)
class RecordOf:
    """A JSON object that is represented by a record, by the rules of the record's fields."""

    cls: type
    title: str
    """The name of the object in messages."""

    constants: Mapping[str, str] = attrs.field(factory=dict)
    """Properties that every such object has, with their only value, and their requirement."""

    requirement: str = "TMD029"
    """The code for a value that is not such an object, or whose constants differ."""

    kinds: Mapping[str, Kind] = attrs.field(factory=dict)
    """The kinds of attributes whose rule has no type."""

    post_read: Callable[[Any, FormatVersion], Any] | None = None
    """Post-processes a decoded record, if the meaning of a field depends on other fields."""


Kind: TypeAlias = ScalarKind | ListOf | MapOf | Converted | RecordOf


def enum_kind(choices: type[enum.Enum], requirement: str) -> Converted:
    """Make the kind of the strings of an enumeration.

    Args:
        choices: the enumeration, whose values are the strings.
        requirement: the code for another string.

    Returns:
        The kind.
    """
    expected = ", ".join(str(choice.value) for choice in choices)

    def read(value: str, _: FormatVersion) -> enum.Enum:
        try:
            return choices(value)
        except ValueError:
            raise spec_error(
                requirement, "the value is unknown", found=value, expected=expected, aspect="unknown-value"
            ) from None

    def write(value: enum.Enum, _: FormatVersion) -> Any:
        return value.value

    return Converted(STRING, read, write, {"enum": [choice.value for choice in choices]})
