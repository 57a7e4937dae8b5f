"""The operations of Iceberg-Java on tables: its parsers, its builder of metadata, and the updates behind its API.

Answers are the JSON that Iceberg-Java writes for its own objects, with what older versions do not write and the
objects have.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.metadata_builders import (
    TABLE_MEMBERS,
    Arguments,
    evolving_table,
    file_columns,
    selected,
    sibling,
)
from conformance.adapter_sdk.serve import Unsupported
from conformance.core.json_types import JsonObject

PLACE = "s3://b/wh/data.db/table/metadata/v1.metadata.json"
PACKAGE = "org.apache.iceberg"


class Tables:
    """The operations, on one virtual machine.

    Args:
        type_of: makes Iceberg's type of the text of its JSON.
    """

    def __init__(self, jvm: JVM, type_of: Callable[[str], Any]) -> None:
        self._jvm = jvm
        self._iceberg = jvm.root.org.apache.iceberg
        self._type_of = type_of
        operations = f"{PACKAGE}.TableOperations"
        self._schema_update = self._constructor(f"{PACKAGE}.SchemaUpdate", operations)
        self._spec_update = self._constructor(f"{PACKAGE}.BaseUpdatePartitionSpec", operations)
        self._remove_snapshots = self._constructor(f"{PACKAGE}.RemoveSnapshots", operations)
        self._expired = jvm.method(f"{PACKAGE}.RemoveSnapshots", "internalApply")
        self._literal = jvm.method(f"{PACKAGE}.expressions.Expressions", "lit", "java.lang.Object")
        self._value = jvm.method(f"{PACKAGE}.SingleValueParser", "fromJson", f"{PACKAGE}.types.Type",
                                 "java.lang.String")  # fmt: skip

    def _constructor(self, owner: str, *parameters: str) -> Any:
        classes = self._jvm.array("java.lang.Class", *(self._jvm.class_(name) for name in parameters))
        found = self._jvm.class_(owner).getDeclaredConstructor(classes)
        found.setAccessible(True)
        return found

    def _new(self, constructor: Any, *arguments: Any) -> Any:
        with self._jvm.judged():
            return constructor.newInstance(self._jvm.array("java.lang.Object", *arguments))

    def _operations(self, metadata: Any) -> Any:
        """What an update asks for the table: the metadata in a file of memory, as nothing is committed."""
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        io = self._iceberg.inmemory.InMemoryFileIO()
        io.addFile(PLACE, text.encode())
        operations = self._iceberg.StaticTableOperations(PLACE, io)
        with self._jvm.judged():
            operations.current()
        return operations

    def parsed(self, metadata: Any) -> Any:
        """``TableMetadataParser.fromJson``."""
        with self._jvm.judged():
            text = metadata if isinstance(metadata, str) else json.dumps(metadata)
            return self._iceberg.TableMetadataParser.fromJson(text)

    def _upgraded(self, metadata: Any, version: int) -> Any:
        with self._jvm.judged():
            return self._iceberg.TableMetadata.buildFrom(metadata).upgradeFormatVersion(version).build()

    def _written(self, metadata: Any) -> JsonObject:
        with self._jvm.judged():
            document: JsonObject = json.loads(self._iceberg.TableMetadataParser.toJson(metadata))
        return document

    def canonical(self, metadata: Any) -> JsonObject:
        """What is written; v1 writes no sequence numbers, which the objects have."""
        form = {name: member for name, member in self._written(metadata).items() if name in TABLE_MEMBERS}
        form["last-sequence-number"] = str(metadata.lastSequenceNumber())
        if metadata.currentSnapshot() is None:
            del form["current-snapshot-id"]  # -1 before v3
        for snapshot in form.get("snapshots", ()):
            snapshot["sequence-number"] = metadata.snapshot(snapshot["snapshot-id"]).sequenceNumber()
        return form

    def read(self, args: Arguments) -> object:
        """``TableMetadataParser``."""
        return selected(args, self.canonical(self.parsed(args["metadata"])))

    def write(self, args: Arguments) -> object:
        """``TableMetadataParser.toJson``, after ``upgradeFormatVersion``."""
        return selected(args, self._written(self._upgraded(self.parsed(args["metadata"]), args["format_version"])))

    def upgrade(self, args: Arguments) -> object:
        """``TableMetadata.Builder.upgradeFormatVersion``."""
        return selected(args, self.canonical(self._upgraded(self.parsed(args["metadata"]), args["format_version"])))

    def evolve_schema(self, args: Arguments) -> object:
        """``SchemaUpdate``, once for every change."""
        operations = self._operations(evolving_table(args))
        metadata = operations.current()
        for change in args["changes"]:
            update = self._new(self._schema_update, operations)
            with self._jvm.judged():
                self.change_column(update, metadata.schema(), change)
                metadata = metadata.updateSchema(update.apply())
            operations = self._operations(self._written(metadata))
        schema = json.loads(self._iceberg.SchemaParser.toJson(metadata.schema()))
        return {"fields": schema["fields"], "last-column-id": metadata.lastColumnId()}

    def _default(self, type_: Any, default: Any) -> Any:
        if default is None:
            return None
        if type_.isNestedType():
            raise Unsupported("the API has no defaults of nested types")
        value = self._jvm.call(self._value, None, type_, json.dumps(default))
        holder = self._jvm.root.java.util.ArrayList()
        holder.add(value)
        return self._literal.invoke(None, holder.toArray())

    def change_column(self, update: Any, schema: Any, change: Arguments) -> None:
        """Tell an ``UpdateSchema`` a change."""
        name = change["name"]
        match change["op"]:
            case "add":
                type_ = self._type_of(json.dumps(change["type"]))
                add = update.addRequiredColumn if change.get("required") else update.addColumn
                default = self._default(type_, change.get("default"))
                add(change.get("parent"), name, type_, change.get("doc"), default)
            case "drop":
                update.deleteColumn(name)
            case "rename":
                update.renameColumn(name, change["to"])
            case "promote":
                type_ = self._type_of(json.dumps(change["type"]))
                if not type_.isPrimitiveType():
                    raise Unsupported("the API changes a type into primitive types only")
                update.updateColumn(name, type_)
            case "move" if change["after"] is None:
                update.moveFirst(name)
            case "move":
                update.moveAfter(name, sibling(name, change["after"]))
            case _:
                field = schema.findField(name)
                default = None if field is None else self._default(field.type(), change["default"])
                update.updateColumnDefault(name, default)

    def evolve_spec(self, args: Arguments) -> object:
        """``BaseUpdatePartitionSpec``, once for every change."""
        operations = self._operations(evolving_table(args))
        metadata = operations.current()
        for change in args["changes"]:
            update = self._new(self._spec_update, operations)
            with self._jvm.judged():
                self._change_partition_field(update, metadata.schema(), change)
                metadata = metadata.updatePartitionSpec(update.apply())
            operations = self._operations(self._written(metadata))
        spec = json.loads(self._iceberg.PartitionSpecParser.toJson(metadata.spec()))
        return {**spec, "last-partition-id": metadata.lastAssignedPartitionId()}

    def _change_partition_field(self, update: Any, schema: Any, change: Arguments) -> None:
        match change["op"]:
            case "add":
                if len(change["source"]) != 1:
                    raise Unsupported("Iceberg-Java has no transforms of several columns")
                transform = self._iceberg.transforms.Transforms.fromString(change["transform"])
                source = schema.findColumnName(change["source"][0])
                if source is None:
                    raise Unsupported("the API names the column, and no column has the id")
                update.addField(change["name"], self._iceberg.expressions.Expressions.transform(source, transform))
            case "remove":
                update.removeField(change["name"])
            case "rename":
                update.renameField(change["name"], change["to"])
            case _:
                raise Unsupported("Iceberg-Java does not move partition fields")

    def expire(self, args: Arguments) -> object:
        """``RemoveSnapshots``, whose clock is set: the two times that it takes when it is made."""
        update = self._new(self._remove_snapshots, self._operations(args["metadata"]))
        now, older = (update.getClass().getDeclaredField(name) for name in ("now", "defaultExpireOlderThan"))
        now.setAccessible(True)
        older.setAccessible(True)
        ahead = args["now_ms"] - now.getLong(update)
        older.setLong(update, older.getLong(update) + ahead)
        now.setLong(update, args["now_ms"])
        document = self._written(self._jvm.call(self._expired, update))
        return {
            "snapshots": [str(snapshot["snapshot-id"]) for snapshot in document["snapshots"]],
            "refs": list(document["refs"]),
        }

    def apply_mapping(self, args: Arguments) -> object:
        """``NameMappingParser`` and ``NameMapping.find``."""
        given = args["mapping"]
        with self._jvm.judged():
            text = given if isinstance(given, str) else json.dumps(given)
            mapping = self._iceberg.mapping.NameMappingParser.fromJson(text)
            return [
                {"path": list(path), "field-id": self._found(mapping, path)} for path in file_columns(args["columns"])
            ]

    def _found(self, mapping: Any, path: tuple[str, ...]) -> Any:
        names = self._jvm.root.java.util.ArrayList()
        for name in path:
            names.add(name)
        field = mapping.find(names)
        return None if field is None else field.id()

    def operations(self) -> dict[str, Callable[[Arguments], object]]:
        """What can be asked of Iceberg-Java about tables, by name."""
        return {
            "metadata.read": self.read,
            "metadata.write": self.write,
            "metadata.upgrade": self.upgrade,
            "schema.evolve": self.evolve_schema,
            "partition-spec.evolve": self.evolve_spec,
            "retention.expire": self.expire,
            "name-mapping.apply": self.apply_mapping,
        }
