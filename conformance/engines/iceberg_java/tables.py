"""The operations of Iceberg-Java on tables: its scans, and the rows that ``IcebergGenerics`` reads.

A table is loaded from its metadata file alone. ``IcebergGenerics`` is the reader of the library itself, which engines
without readers of their own use; filters are applied by it, so that rows are those of the filter, not of its files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.predicates import older_form
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.engines.iceberg_java.expressions import NULL_CONSTANT

Arguments = dict[str, Any]

PACKAGE = "org.apache.iceberg"

REFUSALS = (
    "org.apache.iceberg.exceptions.",  # NotFoundException, RuntimeIOException and their like
    "java.io.",
    "java.lang.RuntimeException: file:",  # "... is not a Parquet file"
    "org.apache.iceberg.shaded.org.apache.orc.FileFormatException",
    "org.apache.iceberg.shaded.org.apache.avro.AvroRuntimeException",
    "Invalid",
)
"""Beginnings of what exceptions say that tell that a file cannot be read, beside those that `JVM.judged` knows."""

METADATA_COLUMNS = {
    "_file": "FILE_PATH",
    "_pos": "ROW_POSITION",
    "_row_id": "ROW_ID",
    "_last_updated_sequence_number": "LAST_UPDATED_SEQUENCE_NUMBER",
}


class TableReads:
    """The operations, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self._iceberg = jvm.root.org.apache.iceberg
        self._io: Any = None
        self._generics_read = jvm.method(f"{PACKAGE}.data.IcebergGenerics", "read", f"{PACKAGE}.Table")

    def _table(self, args: Arguments) -> Any:
        if self._io is None:
            self._io = self._iceberg.hadoop.HadoopFileIO(self._jvm.root.org.apache.hadoop.conf.Configuration())
        location = args["table"]
        if not os.path.exists(location):
            raise Invalid(f"{location}: no such file")
        operations = self._iceberg.StaticTableOperations(location, self._io)
        return self._iceberg.BaseTable(operations, "table")

    def _at(self, table: Any, args: Arguments) -> tuple[Any, Any]:
        """The id of the snapshot (None: the current one) and the schema that it is read with."""
        util = self._iceberg.util.SnapshotUtil
        if "ref" in args:
            found = table.refs().get(args["ref"])
            if found is None:
                raise Invalid(f"no reference {args['ref']}")
            return found.snapshotId(), util.schemaFor(table, args["ref"])
        if "timestamp_ms" in args:
            id_ = util.snapshotIdAsOfTime(table, args["timestamp_ms"])
            return id_, util.schemaFor(table, id_)
        if "snapshot" in args:
            id_ = int(args["snapshot"])
            if table.snapshot(id_) is None:
                raise Invalid(f"no snapshot {id_}")
            return id_, util.schemaFor(table, id_)
        return None, table.schema()

    def _predicate(self, args: Arguments, schema: Any) -> Any:
        if "filter" not in args:
            return self._iceberg.expressions.Expressions.alwaysTrue()
        fields = json.loads(self._iceberg.SchemaParser.toJson(schema))["fields"]
        try:
            return self._iceberg.expressions.ExpressionParser.fromJson(
                json.dumps(older_form(args["filter"], fields)), schema
            )
        except RuntimeError as error:
            if NULL_CONSTANT in str(error):
                raise Invalid(str(error)) from None
            raise

    def _judged(self, work: Callable[[], Any]) -> Any:
        try:
            with self._jvm.judged():
                return work()
        except RuntimeError as error:
            if str(error).startswith(REFUSALS):
                raise Invalid(str(error)) from None
            raise

    def plan(self, args: Arguments) -> object:
        """``TableScan.planFiles``."""

        def work() -> object:
            table = self._table(args)
            snapshot, schema = self._at(table, args)
            scan = table.newScan()
            if snapshot is not None:
                scan = scan.useSnapshot(snapshot)
            tasks = scan.filter(self._predicate(args, schema)).planFiles()
            try:
                return {"files": [self._planned(task) for task in self._items(tasks)]}
            finally:
                tasks.close()

        return self._judged(work)

    def _items(self, iterable: Any) -> Any:
        # Py4J's own iterators take every exception of Java for the end.
        return self._jvm.root.org.apache.iceberg.relocated.com.google.common.collect.Lists.newArrayList(iterable)

    def _planned(self, task: Any) -> dict[str, Any]:
        deletes = []
        for delete in task.deletes():
            told = {"path": str(delete.location())}
            offset = delete.contentOffset()
            deletes.append(told if offset is None else {**told, "content_offset": str(offset)})
        return {"data_file": str(task.file().location()), "delete_files": deletes}

    def read(self, args: Arguments) -> object:
        """``IcebergGenerics``."""
        if "variant" in json.dumps(args["types"]) and not self._reads_variants():
            raise Unsupported("the Commons Lang beside Spark has not what variants are read with")

        def work() -> object:
            table = self._table(args)
            snapshot, schema = self._at(table, args)
            if snapshot is None and table.currentSnapshot() is None:
                return {"rows": []}
            types = args["types"]
            names = args.get("select", list(types))
            builder = self._generics_read.invoke(None, self._jvm.array("java.lang.Object", table))
            if snapshot is not None:
                builder = builder.useSnapshot(snapshot)
            builder = builder.where(self._predicate(args, schema)).project(self._projection(schema, names))
            rows = builder.build()
            try:
                return {"rows": [self._row(record, names, types) for record in self._items(rows)]}
            finally:
                rows.close()

        return self._judged(work)

    def _reads_variants(self) -> bool:
        methods = self._jvm.class_("org.apache.commons.lang3.stream.Streams").getMethods()
        return any(str(one.toString()).endswith("Streams.of(java.lang.Iterable)") for one in methods)

    def _projection(self, schema: Any, names: list[str]) -> Any:
        fields = self._jvm.root.java.util.ArrayList()
        for name in names:
            if name in METADATA_COLUMNS:
                fields.add(self._metadata_column(name))
            else:
                found = next((field for field in schema.columns() if field.name() == name), None)
                if found is None:
                    raise Invalid(f"no column {name}")
                fields.add(found)
        return self._iceberg.Schema(fields)

    def _metadata_column(self, name: str) -> Any:
        columns = self._jvm.class_(f"{PACKAGE}.MetadataColumns")
        known = {str(field.getName()) for field in columns.getFields()}
        if METADATA_COLUMNS[name] not in known:
            raise Unsupported(f"this version has no column {name}")
        return columns.getField(METADATA_COLUMNS[name]).get(None)

    def _row(self, record: Any, names: list[str], types: Arguments) -> Arguments:
        return {name: self._value(types[name], record.get(place)) for place, name in enumerate(names)}

    def _value(self, type_: Any, value: Any) -> Any:
        if value is None:
            return None
        name = native.kind(type_)
        match name:
            case "struct":
                pairs = enumerate(type_["fields"])
                return {str(field["id"]): self._value(field["type"], value.get(place)) for place, field in pairs}
            case "list":
                return [self._value(type_["element"], item) for item in self._items(value)]
            case "map":
                entries = [(entry.getKey(), entry.getValue()) for entry in self._items(value.entrySet())]
                return {
                    "keys": [self._value(type_["key"], key) for key, _ in entries],
                    "values": [self._value(type_["value"], item) for _, item in entries],
                }
            case "variant":
                return {"metadata": self._serialized(value.metadata()), "value": self._serialized(value.value())}
            case "date":
                return native.write(type_, value.toEpochDay())
            case "time":
                return native.write(type_, value.toNanoOfDay() // 1000)
            case "timestamp" | "timestamp_ns":
                if value.getClass().getSimpleName() == "OffsetDateTime":  # what INT96 is read as, whatever the column
                    value = value.toLocalDateTime()
                seconds = value.toEpochSecond(self._jvm.root.java.time.ZoneOffset.UTC)
                return native.write(type_, _count(name, seconds, value.getNano()))
            case "timestamptz" | "timestamptz_ns":
                return native.write(type_, _count(name, value.toEpochSecond(), value.getNano()))
        return native.write(type_, self._jvm.plain(value))

    def _serialized(self, part: Any) -> str:
        """A part of a variant, as a file would have it."""
        nio = self._jvm.root.java.nio
        room = nio.ByteBuffer.allocate(part.sizeInBytes()).order(nio.ByteOrder.LITTLE_ENDIAN)
        part.writeTo(room, 0)
        return bytes(room.array()).hex().upper()

    def operations(self) -> dict[str, Callable[[Arguments], object]]:
        """What can be asked of tables, by name."""
        return {"table.read": self.read, "scan.plan": self.plan}


def _count(name: str, seconds: int, nanos: int) -> int:
    digits = native.UNITS[name]
    return int(seconds * 10**digits + nanos // 10 ** (9 - digits))
