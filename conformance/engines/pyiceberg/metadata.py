"""The operations of PyIceberg on tables: its models of metadata, its transactions, its name mappings.

Answers come from PyIceberg's objects, as the JSON that their models dump, so anything that a model drops, fills in or
changes is visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.conversions import from_json
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table, Transaction
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.table.name_mapping import apply_name_mapping, parse_mapping_from_json
from pyiceberg.transforms import parse_transform
from pyiceberg.types import ListType, MapType, StructType

from conformance.adapter_sdk.metadata_builders import (
    TABLE_MEMBERS,
    evolving_table,
    select_members,
    sibling_name,
    with_placeholder_ids,
)
from conformance.adapter_sdk.serve import Arguments, Unsupported
from spec_ref.core.json_types import JsonObject

WRITTEN_VERSIONS = (1, 2)
MISSING_TYPE = re.compile(r'"(?:type|element|key|value)": "variant"')


def parse_metadata(metadata: Any) -> Any:
    """Parse table metadata as PyIceberg parses it from a file."""
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    if MISSING_TYPE.search(text):
        raise Unsupported("PyIceberg has no type variant")
    return TableMetadataUtil.parse_raw(text)


def _dump(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def canonical(metadata: Any) -> JsonObject:
    """Return the contents of the objects, with sequence numbers in v1, too, which their models do not dump."""
    form = {name: member for name, member in _dump(metadata).items() if name in TABLE_MEMBERS}
    form["last-sequence-number"] = str(getattr(metadata, "last_sequence_number", 0))
    for snapshot, dumped in zip(metadata.snapshots, form.get("snapshots", ()), strict=True):
        dumped["sequence-number"] = snapshot.sequence_number
    return form


def _transaction(metadata: Any) -> Transaction:
    table = Table(("db", "table"), metadata, "metadata.json", None, NoopCatalog("none"))
    return Transaction(table)


def _upgrade_metadata(metadata: Any, version: int) -> Any:
    if version == metadata.format_version:
        return metadata
    if version not in WRITTEN_VERSIONS:
        raise Unsupported(f"PyIceberg does not upgrade tables to v{version}")
    return _transaction(metadata).upgrade_table_version(version).table_metadata


def _read(args: Arguments) -> JsonObject:
    return select_members(args, canonical(parse_metadata(args["metadata"])))


def _upgrade(args: Arguments) -> JsonObject:
    return select_members(args, canonical(_upgrade_metadata(parse_metadata(args["metadata"]), args["format_version"])))


def _write(args: Arguments) -> JsonObject:
    metadata = parse_metadata(args["metadata"])
    if args["format_version"] not in WRITTEN_VERSIONS:
        raise Unsupported(f"PyIceberg does not write metadata of v{args['format_version']}")
    document: JsonObject = json.loads(_upgrade_metadata(metadata, args["format_version"]).model_dump_json())
    return select_members(args, document)


def _evolve_schema(args: Arguments, engine_type: Callable[[Any], Any]) -> JsonObject:
    transaction = _transaction(parse_metadata(evolving_table(args)))
    for change in args["changes"]:
        update: Any = transaction.update_schema()
        change_column(update, transaction.table_metadata.schema(), change, engine_type)
        update.commit()
    metadata = transaction.table_metadata
    return {"fields": _dump(metadata.schema())["fields"], "last-column-id": metadata.last_column_id}


def _default(type_: Any, default: Any) -> Any:
    if default is None:
        return None
    if type(type_) not in from_json.registry:
        raise Unsupported(f"PyIceberg has no JSON form of {type_}")
    return from_json(type_, default)


def change_column(update: Any, schema: Any, change: Arguments, engine_type: Callable[[Any], Any]) -> None:
    """Pass a change to an ``UpdateSchema``."""
    path = tuple(change["name"].split("."))
    match change["op"]:
        case "add":
            type_ = engine_type(change["type"])
            parent = change.get("parent")
            update.add_column(
                (*(parent.split(".") if parent else ()), change["name"]),
                type_,
                doc=change.get("doc"),
                required=change.get("required", False),
                default_value=_default(type_, change.get("default")),
            )
        case "drop":
            update.delete_column(path)
        case "rename":
            update.rename_column(path, change["to"])
        case "promote":
            update.update_column(path, field_type=engine_type(change["type"]))
        case "move" if change["after"] is None:
            update.move_first(path)
        case "move":
            update.move_after(path, tuple(sibling_name(change["name"], change["after"]).split(".")))
        case _:
            update.set_default_value(path, _default(schema.find_field(change["name"]).field_type, change["default"]))


def _evolve_spec(args: Arguments) -> JsonObject:
    transaction = _transaction(parse_metadata(evolving_table(args)))
    schema = transaction.table_metadata.schema()
    for change in args["changes"]:
        update: Any = transaction.update_spec()
        match change["op"]:
            case "add":
                _add_partition_field(update, schema, change)
            case "remove":
                update.remove_field(change["name"])
            case "rename":
                update.rename_field(change["name"], change["to"])
            case _:
                raise Unsupported("PyIceberg does not move partition fields")
        update.commit()
    metadata = transaction.table_metadata
    spec: PartitionSpec = metadata.spec()
    return {**_dump(spec), "last-partition-id": metadata.last_partition_id}


def _add_partition_field(update: Any, schema: Schema, change: Arguments) -> None:
    if len(change["source"]) != 1:
        raise Unsupported("PyIceberg has no transforms of several columns")
    source = schema.find_column_name(change["source"][0])
    if source is None:
        raise Unsupported("the API takes the name of a column, and no column has the id")
    update.add_field(source, parse_transform(change["transform"]), change["name"])


def _apply_mapping(args: Arguments) -> list[JsonObject]:
    given = args["mapping"]
    mapping = parse_mapping_from_json(given if isinstance(given, str) else json.dumps(given))
    columns = json.dumps({"type": "struct", "schema-id": 0, "fields": with_placeholder_ids(args["columns"])})
    schema = apply_name_mapping(Schema.model_validate_json(columns), mapping)
    return [{"path": list(path), "field-id": found} for path, found in _paths(schema.as_struct(), ())]


def _paths(type_: Any, around: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    match type_:
        case StructType():
            parts = [(field.name, field.field_id, field.field_type) for field in type_.fields]
        case ListType():
            parts = [("element", type_.element_id, type_.element_type)]
        case MapType():
            parts = [("key", type_.key_id, type_.key_type), ("value", type_.value_id, type_.value_type)]
        case _:
            parts = []
    for name, found, inner in parts:
        yield (*around, name), found
        yield from _paths(inner, (*around, name))


def _expire(_args: Arguments) -> object:
    raise Unsupported("PyIceberg expires the snapshots that a caller names, and reads no retention policy")


def operations(engine_type: Callable[[Any], Any]) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name.

    Args:
        engine_type: converts a type in JSON to PyIceberg's type, or raises `Unsupported`.
    """
    return {
        "metadata.read": _read,
        "metadata.write": _write,
        "metadata.upgrade": _upgrade,
        "schema.evolve": lambda args: _evolve_schema(args, engine_type),
        "partition-spec.evolve": _evolve_spec,
        "retention.expire": _expire,
        "name-mapping.apply": _apply_mapping,
    }
