"""JSON Schemas of table metadata, generated from the field rules (Appendix C).

A schema states what single fields have to be: names, kinds and ranges, and what a writer of the version has to write.
`check_metadata` checks fields together. Properties that the version does not define or omits are allowed, because
readers tolerate them. JSON Schema accepts 1.0 as an integer; readers do not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spec_ref.core.versions import FormatVersion, Presence
from spec_ref.json.reading import FieldTableRow, field_table
from spec_ref.json.wire_types import Converted, Kind, ListOf, MapOf, RecordOf, ScalarKind
from spec_ref.partitioning.spec import FIELD as PARTITION_FIELD
from spec_ref.schemas.type_json import FIELD, TYPE
from spec_ref.sorting.order import SORT_FIELD
from spec_ref.table_metadata.metadata import METADATA

DIALECT = "https://json-schema.org/draft/2020-12/schema"

SCHEMA_FILE_NAMES = {version: f"table-metadata-v{version}.schema.json" for version in FormatVersion}
"""The names of the files that are shipped with the package, in `spec_ref.table_metadata`."""

PRIMITIVE = (
    r"^(boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary"
    r"|unknown|variant|fixed\[\s*[0-9]+\s*\]|decimal\(\s*[0-9]+\s*,\s*-?[0-9]+\s*\)"
    r"|geometry(\([^)]*\))?|geography(\(.*\))?)$"
)
"""The type strings of Appendix C, with the whitespace that readers accept (JSC005)."""


def _type_schemas() -> dict[str, Any]:
    """Make the schema of a type: a string, or an object for each nested type (JSC003, JSC006, JSC007)."""
    type_, flag = {"$ref": "#/$defs/type"}, {"type": "boolean"}
    number = {"type": "integer"}
    nested: dict[str, dict[str, Any]] = {
        "struct": {"fields": {"type": "array", "items": {"$ref": "#/$defs/field"}}},
        "list": {"element-id": number, "element-required": flag, "element": type_},
        "map": {"key-id": number, "key": type_, "value-id": number, "value-required": flag, "value": type_},
    }
    objects = [
        {"type": "object", "properties": {"type": {"const": name}, **members}, "required": ["type", *members]}
        for name, members in nested.items()
    ]
    return {"anyOf": [{"type": "string", "pattern": PRIMITIVE}, *objects]}


ONE_SOURCE = {"oneOf": [{"required": ["source-id"]}, {"required": ["source-ids"]}]}
"""Exactly one of ``source-id`` and ``source-ids`` is present (PAR022, SRT008)."""

CROSS_PROPERTY_CONDITIONS: Mapping[RecordOf, Mapping[str, Any]] = {PARTITION_FIELD: ONE_SOURCE, SORT_FIELD: ONE_SOURCE}
"""The conditions over several properties of a record that JSON Schema can express."""


def metadata_schema(version: FormatVersion) -> dict[str, Any]:
    """Generate the JSON Schema of table metadata.

    Args:
        version: the format version.

    Returns:
        The JSON Schema.
    """
    definitions: dict[str, Any] = {"type": _type_schemas()}
    _schema(FIELD, version, definitions)
    schema = _object(METADATA, version, definitions)
    schema["properties"]["format-version"] = {"const": int(version)}
    title = f"Iceberg table metadata, format version {version}"
    return {"$schema": DIALECT, "title": title, **schema, "$defs": dict(sorted(definitions.items()))}


def _schema(kind: Kind, version: FormatVersion, definitions: dict[str, Any]) -> dict[str, Any]:
    match kind:
        case ScalarKind():
            return dict(kind.json_schema)
        case ListOf(item):
            return {"type": "array", "items": _schema(item, version, definitions)}
        case MapOf(value):
            return {"type": "object", "additionalProperties": _schema(value, version, definitions)}
        case Converted() if kind is TYPE:
            return {"$ref": "#/$defs/type"}
        case Converted(inner):
            return {**_schema(inner, version, definitions), **kind.json_schema}
        case RecordOf():
            name = kind.title.removeprefix("a ").removeprefix("an ").removeprefix("the ").replace(" ", "-")
            if name not in definitions:
                definitions[name] = {}  # a placeholder, for records that contain themselves
                definitions[name] = _object(kind, version, definitions)
            return {"$ref": f"#/$defs/{name}"}


def _object(kind: RecordOf, version: FormatVersion, definitions: dict[str, Any]) -> dict[str, Any]:
    known = [row for row in field_table(kind, version) if row.reader_presence is not Presence.OMITTED]
    properties: dict[str, Any] = {name: {"const": value} for name, value in kind.constants.items()}
    properties |= {row.rule.name: _property(row, version, definitions) for row in known}
    required = [*kind.constants, *(row.rule.name for row in known if row.reader_presence is Presence.REQUIRED)]
    beyond = CROSS_PROPERTY_CONDITIONS.get(kind, {})
    return {"type": "object", "properties": properties, **({"required": required} if required else {}), **beyond}


def _property(row: FieldTableRow, version: FormatVersion, definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _schema(row.kind, version, definitions)
    if row.reader_presence is not Presence.REQUIRED and schema:
        schema = {"anyOf": [schema, {"type": "null"}]}  # null is the same as absent
    return {**schema, "$comment": row.rule.requirement}


def schema_text(version: FormatVersion) -> str:
    """Generate the expected text of the shipped file.

    Args:
        version: the format version.

    Returns:
        The JSON text.
    """
    return json.dumps(metadata_schema(version), indent=2) + "\n"
