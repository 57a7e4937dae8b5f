"""The exchange form of manifests and manifest lists: records with the spec's field names, 64-bit numbers as strings.

A manifest is ``{"header": {...}, "entries": [...]}``, a manifest list ``{"manifests": [...]}``. Status and content are
the numbers of the file, a file format is in lower case, bytes are hexadecimal, and a map is an object from column id.
The partition tuple is an object of values by partition field id. Nulls are left out.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.avro_mapping.rows import NeverWritten
from spec_ref.core.errors import spec_error
from spec_ref.core.records import field_rules
from spec_ref.core.versions import V3
from spec_ref.data_types.types import BINARY, INT, LONG, ListType, MapType, StructType
from spec_ref.json.reading import reader
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestContent, ManifestFile
from spec_ref.manifests import DataFile, EntryStatus, FileContent, FileFormat, Manifest, ManifestEntry
from spec_ref.partitioning.spec import SPEC, PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema

Form = dict[str, Any]

LEFT_OUT = frozenset({"block_size_in_bytes", "file_ordinal", "sort_columns", "distinct_counts"})
"""Deprecated fields, which nothing reads."""


def _value(wire: Any, value: Any) -> Any:
    """Return the wire form of a value of a field that is not a record."""
    if isinstance(value, enum.Enum):
        return value.value
    match wire:
        case MapType(_, _, _, inner):
            return {str(key): _value(inner, item) for key, item in sorted(value.items())}
        case ListType(_, element):
            return [_value(element, item) for item in value]
    if wire == LONG:
        return str(value)
    return value.hex().upper() if isinstance(value, bytes) else value


def _record(row: Any) -> Form:
    rules = {name: rule for name, rule in field_rules(type(row)).items() if name not in LEFT_OUT}
    given = ((rule, getattr(row, attribute)) for attribute, rule in rules.items())
    return {rule.name: _value(rule.type, value) for rule, value in given if value is not None}


def entry_form(entry: ManifestEntry, partition: StructType | None) -> Form:
    """Return the wire form of an entry; without ``partition``, which has the types, values are not converted."""
    form = _record(entry)
    data_file = _record(entry.data_file)
    types = {field.id: field.type for field in partition.fields} if partition else {}
    values = sorted((field_id, value) for field_id, value in entry.data_file.partition.items() if value is not None)
    data_file["partition"] = {
        str(field_id): to_exchange(types[field_id], value) if field_id in types else str(value)
        for field_id, value in values
    }
    return {**form, "data_file": data_file}


def manifest_form(manifest: Manifest, entries: Iterable[ManifestEntry], partition: StructType | None) -> Form:
    """Return the wire form of a manifest that was read, and of its entries with inherited values."""
    header = {
        "format_version": int(manifest.format_version),
        "content": int(manifest.content),
        "partition_spec_id": manifest.spec_id,
    }
    return {"header": header, "entries": [entry_form(entry, partition) for entry in entries]}


def listed_form(manifest: ManifestFile) -> Form:
    """Return the wire form of a manifest's entry in a manifest list."""
    form = _record(manifest)
    if manifest.partitions is not None:
        form["partitions"] = [_record(summary) for summary in manifest.partitions]
    return form


# Parsing requests


def _read(wire: Any, value: Any) -> Any:
    match wire:
        case NeverWritten(inner):
            return _read(inner, value)
        case MapType(_, _, _, inner):
            return {int(key): _read(inner, item) for key, item in value.items()}
        case ListType(_, element):
            return tuple(_read(element, item) for item in value)
    if wire in (LONG, INT):
        return int(value)
    return bytes.fromhex(value) if wire == BINARY else value


def _values(cls: type, form: Mapping[str, Any]) -> dict[str, Any]:
    rules = {rule.name: (attribute, rule) for attribute, rule in field_rules(cls).items()}
    known = {name: value for name, value in form.items() if value is not None}
    return {rules[name][0]: _read(rules[name][1].type, value) for name, value in known.items()}


def listed_from_form(form: Form, **defaults: Any) -> ManifestFile:
    """Parse a manifest of a manifest list; ``defaults`` replace missing members."""
    values = {**defaults, **_values(ManifestFile, form)}
    if "content" in form:
        values["content"] = ManifestContent(form["content"])
    if form.get("partitions") is not None:
        values["partitions"] = tuple(FieldSummary(**_values(FieldSummary, one)) for one in form["partitions"])
    made: ManifestFile = _make_record(ManifestFile, values)
    return made


def _make_record(cls: type, values: dict[str, Any]) -> Any:
    for attribute, rule in field_rules(cls).items():
        if rule.missing is attrs.NOTHING and attribute not in values:
            raise spec_error(rule.requirement, f"{rule.name} is missing", expected=f"a {rule.name}")
    return cls(**values)


def entry_from_form(form: Form, partition: StructType) -> ManifestEntry:
    """Parse an entry to write.

    Raises:
        SpecError: a partition value is not of its field's type, or a field that every version requires is missing.
    """
    data_file = form["data_file"]
    types = {str(field.id): field.type for field in partition.fields}
    given = data_file.get("partition", {})
    values = _values(DataFile, {name: value for name, value in data_file.items() if name != "partition"})
    values["content"] = FileContent(data_file.get("content", 0))
    values["file_format"] = FileFormat(data_file["file_format"])
    values["partition"] = {int(key): from_exchange(type_, given.get(key)) for key, type_ in types.items()}
    rest = {name: value for name, value in form.items() if name != "data_file"}
    entry = {**_values(ManifestEntry, rest), "status": EntryStatus(form["status"])}
    made: ManifestEntry = _make_record(ManifestEntry, {**entry, "data_file": _make_record(DataFile, values)})
    return made


def read_table_schema(schema: Form, specs: list[Form]) -> tuple[Schema, dict[int, PartitionSpec]]:
    """Return the schema, and the specs by id, of a request."""
    read = (reader(SPEC, V3)(spec) for spec in specs)
    return reader(SCHEMA, V3)({"type": "struct", "schema-id": 0, **schema}), {spec.spec_id: spec for spec in read}
