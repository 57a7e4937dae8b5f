"""The operations of the reference implementation on tables: metadata, evolution, retention, name mappings."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.adapter_sdk.metadata_builders import file_columns
from conformance.adapter_sdk.serve import Arguments
from conformance.operations.forms import Functions
from conformance.operations.table_metadata.changes import column_change, place_after
from conformance.operations.table_metadata.wire import LONGS
from spec_ref.core.json_types import JsonObject
from spec_ref.core.records import field_rules
from spec_ref.core.versions import V3, FormatVersion
from spec_ref.json.reading import reader
from spec_ref.json.writing import writer
from spec_ref.partitioning.evolution import (
    AddPartitionField,
    MovePartitionField,
    PartitionChange,
    RemovePartitionField,
    RenamePartitionField,
    SpecEvolutionContext,
    check_schema_change,
    evolve_spec,
)
from spec_ref.partitioning.spec import FIELDS as PARTITION_FIELDS
from spec_ref.partitioning.spec import SPEC
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.evolution import (
    SchemaEvolutionContext,
    evolve_schema,
)
from spec_ref.schemas.name_mapping import MappedField, find_mapped_field, read_name_mapping
from spec_ref.schemas.schema import FIELDS, SCHEMA
from spec_ref.snapshots.retention import find_retained, read_retention_policy
from spec_ref.sorting.order import ORDER
from spec_ref.table_metadata import TableMetadata, check_metadata, read_metadata, upgrade, write_metadata

WRITTEN = {"schemas": writer(SCHEMA, V3), "partition_specs": writer(SPEC, V3), "sort_orders": writer(ORDER, V3)}
"""Functions that write the items of these lists in the form of v3, which is the complete one."""

DEPRECATED = frozenset({"schema", "partition-spec"})
"""The members that v1 keeps for older readers, and that only repeat part of the lists."""


def _canonical_value(value: Any, name: str = "") -> Any:
    """Convert a value of a record to the canonical form."""
    if isinstance(value, enum.Enum):
        return value.value
    if type(value) is int and name in LONGS:
        return str(value)
    if isinstance(value, Mapping):
        return {key: _canonical_value(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_canonical_value(item) for item in value]
    if hasattr(type(value), "__attrs_attrs__"):
        rules = field_rules(type(value))
        members = {
            rule.name: _canonical_value(getattr(value, attribute), rule.name) for attribute, rule in rules.items()
        }
        return {key: item for key, item in members.items() if item is not None}
    return value


def canonical(metadata: TableMetadata, names: Sequence[str] | None = None) -> JsonObject:
    """Return the canonical form of a table, or only the members ``names``."""
    form: JsonObject = {}
    for attribute, rule in field_rules(TableMetadata).items():
        value = getattr(metadata, attribute)
        if rule.name in DEPRECATED or value is None or (names is not None and rule.name not in names):
            continue
        if attribute in WRITTEN:
            form[rule.name] = [WRITTEN[attribute](item) for item in value]
        else:
            form[rule.name] = _canonical_value(metadata.references if attribute == "refs" else value, rule.name)
    return form


def _read(args: Arguments) -> JsonObject:
    return canonical(read_metadata(args["metadata"]), args.get("select"))


def _write(args: Arguments) -> JsonObject:
    document = write_metadata(read_metadata(args["metadata"]), args["format_version"])
    names = args.get("select")
    return {name: member for name, member in document.items() if names is None or name in names}


def _upgrade(args: Arguments) -> JsonObject:
    return canonical(upgrade(read_metadata(args["metadata"]), args["format_version"]), args.get("select"))


def _check(args: Arguments) -> list[str]:
    return sorted({finding.requirement for finding in check_metadata(args["metadata"])})


# Evolution


def _evolve_schema(args: Arguments) -> JsonObject:
    version = FormatVersion(args["format_version"])
    schema = reader(SCHEMA, version)(args["schema"])
    fields = reader(PARTITION_FIELDS, version)(args.get("partition_fields", []))
    last = args["last_column_id"]
    for change in args["changes"]:
        # One at a time, because the place to which a field moves depends on the changes before.
        one = column_change(schema, change)
        made, last = evolve_schema(schema, [one], SchemaEvolutionContext(version, last), schema_id=schema.schema_id)
        check_schema_change(schema, made, fields)
        schema = made
    return {"fields": writer(FIELDS, version)(schema.fields), "last-column-id": last}


def _spec_change(names: Sequence[str], change: Arguments) -> PartitionChange:
    match change["op"]:
        case "add":
            return AddPartitionField(tuple(change["source"]), parse_transform(change["transform"]), change["name"])
        case "remove":
            return RemovePartitionField(change["name"])
        case "rename":
            return RenamePartitionField(change["name"], change["to"])
        case _:
            return MovePartitionField(change["name"], place_after(names, change["name"], change["after"], "PAR010"))


def _evolve_spec(args: Arguments) -> JsonObject:
    version = FormatVersion(args["format_version"])
    specs = tuple(reader(SPEC, version)(spec) for spec in args["partition_specs"])
    spec = next(spec for spec in specs if spec.spec_id == args["default_spec_id"])
    schema = reader(SCHEMA, version)(args["schema"])
    history = SpecEvolutionContext(version, schema, specs, args["last_partition_id"])
    names = [field.name for field in spec.fields]
    made, last = evolve_spec(spec, [_spec_change(names, change) for change in args["changes"]], history)
    return {**writer(SPEC, V3)(made), "last-partition-id": last}


# Retention and name mappings


def _expire(args: Arguments) -> JsonObject:
    metadata = read_metadata(args["metadata"])
    stays = find_retained(
        metadata.snapshots, metadata.references, read_retention_policy(metadata.properties), args["now_ms"]
    )
    return {"snapshots": sorted(map(str, stays.snapshot_ids)), "refs": sorted(stays.refs)}


def _apply_mapping(args: Arguments) -> list[JsonObject]:
    mapping: tuple[MappedField, ...] = read_name_mapping(args["mapping"])
    found = [(path, find_mapped_field(mapping, path)) for path in file_columns(args["columns"])]
    return [{"path": list(path), "field-id": field.field_id if field else None} for path, field in found]


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "metadata.read": _read,
        "metadata.write": _write,
        "metadata.upgrade": _upgrade,
        "metadata.check": _check,
        "schema.evolve": _evolve_schema,
        "partition-spec.evolve": _evolve_spec,
        "retention.expire": _expire,
        "name-mapping.apply": _apply_mapping,
    }
