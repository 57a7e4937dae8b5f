"""Rows through the generic writers of Iceberg-Java: for what Spark's SQL has no statement or no type for."""

from __future__ import annotations

import uuid
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.jvm import JVM, Boxed
from conformance.core.json_types import Json

PACKAGE = "org.apache.iceberg"
PLAIN = ("boolean", "int", "long", "float", "double", "string", "decimal")
"""Types whose values generic records hold as the API's literals do."""

NANOS = {"timestamp_ns": "timestampFromNanos", "timestamptz_ns": "timestamptzFromNanos"}
"""The methods that make the objects of the types that count nanoseconds."""


class Generics:
    """Writers of files of a table, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self._iceberg = jvm.root.org.apache.iceberg
        record, mapping = f"{PACKAGE}.data.Record", "java.util.Map"
        thing = "java.lang.Object"
        self._set = jvm.method(record, "setField", "java.lang.String", thing)
        self._put = jvm.method(mapping, "put", thing, thing)
        self._convert = jvm.method(
            f"{PACKAGE}.data.IdentityPartitionConverters", "convertConstant", f"{PACKAGE}.types.Type", thing
        )
        times = f"{PACKAGE}.util.DateTimeUtil"
        self._nanos = {name: jvm.method(times, method, "long") for name, method in NANOS.items()}
        self._factory = jvm.class_(f"{PACKAGE}.data.GenericFileWriterFactory$Builder")

    def _value(self, type_: Any, json_type: Json, value: Json) -> Any:
        """A value of a generic record, in a list or as a Java object."""
        if value is None:
            return None
        name = native.kind(json_type)
        if name == "struct":
            return self._record(type_.asStructType(), json_type["fields"], value)
        if name == "list":
            made = self._jvm.root.java.util.ArrayList()
            for item in value:
                self._add(made, self._value(type_.elementType(), json_type["element"], item))
            return made
        if name == "map":
            made = self._jvm.root.java.util.LinkedHashMap()
            for key, item in zip(value["keys"], value["values"], strict=True):
                self._jvm.call(
                    self._put, made, self._value(type_.keyType(), json_type["key"], key),
                    self._value(type_.valueType(), json_type["value"], item),
                )  # fmt: skip
            return made
        read = native.read(json_type, value)
        if name == "fixed":
            return bytearray(read)
        boxed = self._jvm.box(json_type, read)
        if name in NANOS:
            return self._jvm.call(self._nanos[name], None, boxed)
        return boxed if name in PLAIN else self._jvm.call(self._convert, None, type_, boxed)

    def _add(self, to: Any, value: Any) -> None:
        if isinstance(value, Boxed):
            to.addAll(value.holder)
        else:
            to.add(value)

    def _record(self, struct: Any, fields: list[Json], row: dict[str, Json]) -> Any:
        made = self._iceberg.data.GenericRecord.create(struct)
        for field in fields:
            value = self._value(struct.fieldType(field["name"]), field["type"], row.get(field["name"]))
            self._jvm.call(self._set, made, field["name"], value)
        return made

    def _writers(self, table: Any, equality: Any = None) -> Any:
        """The factory of writers of a table; with a schema of the columns that equality deletes compare."""
        constructor = self._factory.getDeclaredConstructor(
            self._jvm.array("java.lang.Class", self._jvm.class_(f"{PACKAGE}.Table"))
        )
        constructor.setAccessible(True)
        builder = constructor.newInstance(self._jvm.array("java.lang.Object", table))
        format_ = self._iceberg.FileFormat.fromString(self._format(table))
        given = {"dataFileFormat": ("FileFormat", format_), "deleteFileFormat": ("FileFormat", format_),
                 "dataSchema": ("Schema", table.schema())}  # fmt: skip
        if equality is not None:
            given["equalityDeleteRowSchema"] = ("Schema", equality)
            ids = [field.fieldId() for field in equality.columns()]
            array = self._jvm.gateway.new_array(self._jvm.root.int, len(ids))
            for index, id_ in enumerate(ids):
                array[index] = id_
            self._invoke(builder, "equalityFieldIds", "[I", array)
        for name, (class_, value) in given.items():
            self._invoke(builder, name, f"{PACKAGE}.{class_}", value)
        return self._invoke(builder, "build")

    def _invoke(self, builder: Any, name: str, *typed: Any) -> Any:
        classes = [self._jvm.class_(typed[0])] if typed else []
        method = self._factory.getDeclaredMethod(name, self._jvm.array("java.lang.Class", *classes))
        method.setAccessible(True)
        return method.invoke(builder, self._jvm.array("java.lang.Object", *typed[1:]))

    def _format(self, table: Any) -> str:
        return str(table.properties().getOrDefault("write.format.default", "parquet"))

    def _grouped(self, table: Any, schema: Any, fields: list[Json], rows: list[Json]) -> list[tuple[Any, list[Any]]]:
        """Records by their partition; None where the table is unpartitioned."""
        struct, spec = schema.asStruct(), table.spec()
        records = [self._record(struct, fields, row) for row in rows]
        if spec.isUnpartitioned():
            return [(None, records)] if records else []
        groups: list[tuple[Any, list[Any]]] = []
        for record in records:
            key = self._iceberg.PartitionKey(spec, schema)
            key.partition(self._iceberg.data.InternalRecordWrapper(struct).wrap(record))
            own = next((records for other, records in groups if other.equals(key)), None)
            if own is None:
                groups.append((key, [record]))
            else:
                own.append(record)
        return groups

    def _out(self, table: Any, kind: str) -> Any:
        path = f"{table.location()}/data/generic-{kind}-{uuid.uuid4()}.{self._format(table)}"
        return self._iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(table.io().newOutputFile(path))

    def data_files(self, table: Any, fields: list[Json], rows: list[Json]) -> list[Any]:
        """Data files of rows of the current schema."""
        writers, made = self._writers(table), []
        for key, records in self._grouped(table, table.schema(), fields, rows):
            made.append(self._written(writers.newDataWriter(self._out(table, "data"), table.spec(), key), records))
        return [writer.toDataFile() for writer in made]

    def equality_deletes(self, table: Any, fields: list[Json], rows: list[Json]) -> list[Any]:
        """Equality-delete files by the columns that the rows have."""
        names = self._jvm.root.java.util.ArrayList()
        for name in rows[0]:
            names.add(name)
        schema = table.schema().select(names)
        chosen = [field for field in fields if field["name"] in rows[0]]
        writers, made = self._writers(table, schema), []
        for key, records in self._grouped(table, schema, chosen, rows):
            out = self._out(table, "equality")
            made.append(self._written(writers.newEqualityDeleteWriter(out, table.spec(), key), records))
        return [writer.toDeleteFile() for writer in made]

    def _written(self, writer: Any, records: list[Any]) -> Any:
        for record in records:
            writer.write(record)
        writer.close()
        return writer
