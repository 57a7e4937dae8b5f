"""Golden tables made with Spark's SQL and with Iceberg's Java API."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from tools.golden.make_tables_kit import PLACE, Row, Table, exchange

SQL_TYPES = {"timestamptz": "TIMESTAMP", "timestamp": "TIMESTAMP_NTZ", "long": "BIGINT", "uuid": "STRING"}


def sql_type(type_: Any) -> str:
    """Return the name of a type in Spark's SQL."""
    if isinstance(type_, dict):
        if type_["type"] == "struct":
            parts = ("`{}`: {}".format(field["name"], sql_type(field["type"])) for field in type_["fields"])
            return f"STRUCT<{', '.join(parts)}>"
        if type_["type"] == "list":
            return f"ARRAY<{sql_type(type_['element'])}>"
        return f"MAP<{sql_type(type_['key'])}, {sql_type(type_['value'])}>"
    if type_.startswith("fixed"):
        return "BINARY"
    return SQL_TYPES.get(type_, str(type_).upper())


def literal(type_: Any, value: Any) -> str:
    """Format a value as a literal in Spark's SQL."""
    if value is None:
        return f"CAST(NULL AS {sql_type(type_)})"
    if isinstance(type_, dict):
        if type_["type"] == "struct":
            parts = (f"'{f['name']}', {literal(f['type'], value[f['name']])}" for f in type_["fields"])
            return f"named_struct({', '.join(parts)})"
        if type_["type"] == "list":
            made = f"array({', '.join(literal(type_['element'], item) for item in value)})"
        else:
            parts = (f"{literal(type_['key'], key)}, {literal(type_['value'], item)}" for key, item in value)
            made = f"map({', '.join(parts)})"
        return f"CAST({made} AS {sql_type(type_)})"
    if type_ in ("string", "uuid"):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    if type_ == "binary" or type_.startswith("fixed"):
        return f"X'{value}'"
    if type_ == "timestamptz" or type_ == "timestamp":
        return f"{sql_type(type_)}'{value.replace('T', ' ')}'"
    if type_ == "date":
        return f"DATE'{value}'"
    if type_ == "boolean":
        return str(value).lower()
    return f"CAST('{value}' AS {sql_type(type_)})"


class SparkTable(Table):
    """A golden table that Spark's SQL makes."""

    def __init__(self, session: Session, name: str, version: int, about: str) -> None:
        super().__init__(name, f"iceberg-java {session.version}", version, about)
        self.session = session
        self.spark = session.spark
        self.t = f"golden.tables.`{name}`"

    def sql(self, statement: str) -> Any:
        """Run a statement; ``{t}`` is the table."""
        self.record_statement(statement.format(t="t"))
        return self.spark.sql(statement.format(t=self.t))

    def create(self, columns: dict[str, Any], partitions: str = "", **properties: str) -> None:
        """Create the table with columns and partition fields; in names of properties, ``_`` replaces ``.``."""
        self.columns = dict(columns)
        columns_sql = ", ".join(f"`{name}` {sql_type(type_)}" for name, type_ in columns.items())
        every = {
            "format-version": str(self.version),
            "write.distribution-mode": "none",
            "write.delete.mode": "merge-on-read",
            "write.update.mode": "merge-on-read",
            "write.merge.mode": "merge-on-read",
            "write.metadata.previous-versions-max": "1",
            "commit.manifest-merge.enabled": "false",
            **{name.replace("_", "."): value for name, value in properties.items()},
        }
        if self.version == 1:
            every = {name: value for name, value in every.items() if not name.endswith(".mode") or "dist" in name}
        options = ", ".join(f"'{name}'='{value}'" for name, value in every.items())
        by = f" PARTITIONED BY ({partitions})" if partitions else ""
        self.sql(f"CREATE TABLE {{t}} ({columns_sql}) USING iceberg{by} TBLPROPERTIES ({options})")

    def values(self, rows: Iterable[Iterable[Any]]) -> str:
        """Format rows as the VALUES of a statement."""
        types = list(self.columns.values())
        return (
            ", ".join(
                f"({', '.join(literal(type_, value) for type_, value in zip(types, row, strict=True))})" for row in rows
            )
            .replace("{", "{{")
            .replace("}", "}}")
        )

    def insert(self, *rows: tuple[Any, ...], branch: str = "") -> list[Row]:
        """Run INSERT INTO, and record its effect."""
        target = "{t}" + (f".branch_{branch}" if branch else "")
        self.sql(f"INSERT INTO {target} VALUES {self.values(rows)}")
        if branch:
            self.record_commit()
            return []
        return self.record_insert(rows)

    def delete(self, where: str, matches: Callable[[Row], bool]) -> None:
        """Run DELETE FROM, and record its effect."""
        before = len(self.rows)
        self.sql(f"DELETE FROM {{t}} WHERE {where}")
        self.record_delete(matches)
        assert len(self.rows) < before, where

    def java(self) -> Any:
        """Return the current state of the table in the Java API."""
        return self.session.catalog.loadTable(self.session.identifier(self.name))

    def refresh(self) -> None:
        """Make Spark see changes that were made through the Java API."""
        self.spark.sql(f"REFRESH TABLE {self.t}")


class Session:
    """Spark with a catalog of golden tables, and the Java API behind it."""

    def __init__(self, warehouse: str) -> None:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]")
        for key, value in {
            "spark.driver.extraClassPath": os.environ["ICEBERG_CONFORMANCE_JARS"],
            "spark.driver.memory": "1g",
            "spark.ui.enabled": "false",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.golden": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.golden.type": "hadoop",
            "spark.sql.catalog.golden.cache-enabled": "false",
            "spark.sql.catalog.golden.warehouse": warehouse,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.iceberg.handle-timestamp-without-timezone": "true",
        }.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.jvm = self.spark._jvm
        self.iceberg = self.jvm.org.apache.iceberg
        self.version = str(self.iceberg.IcebergBuild.version())
        conf = self.spark._jsc.hadoopConfiguration()
        self.catalog = self.iceberg.hadoop.HadoopCatalog(conf, warehouse)
        self._holders()

    def identifier(self, name: str) -> Any:
        """Return the identifier of a golden table."""
        return self.iceberg.catalog.TableIdentifier.parse(f"tables.{name}")

    # Values of Java's generic records. Py4J converts ints to Integers, and unboxes the objects that it gets. Therefore,
    # a Long or Float stays in Java lists, and methods that take one are called by reflection.

    def _holders(self) -> None:
        java = self.jvm.java
        self._lookup = java.lang.invoke.MethodHandles.lookup()
        self._operator = java.lang.Class.forName("java.util.function.UnaryOperator")
        string = java.lang.Class.forName("java.lang.String")
        self._parsers = {}
        for name in ("Integer", "Long", "Float", "Double", "Boolean"):
            owner = java.lang.Class.forName(f"java.lang.{name}")
            handle = self._lookup.unreflect(owner.getMethod("valueOf", self.array("java.lang.Class", string)))
            self._parsers[name] = java.lang.invoke.MethodHandleProxies.asInterfaceInstance(self._operator, handle)
        record = java.lang.Class.forName("org.apache.iceberg.data.Record")
        mapping = java.lang.Class.forName("java.util.Map")
        thing = java.lang.Class.forName("java.lang.Object")
        self._set_field = record.getMethod("setField", self.array("java.lang.Class", string, thing))
        self._put = mapping.getMethod("put", self.array("java.lang.Class", thing, thing))

    def array(self, class_: str, *items: Any) -> Any:
        """Convert a list to a Java array."""
        owner = self.jvm
        for part in class_.split("."):
            owner = getattr(owner, part)
        made = self.spark.sparkContext._gateway.new_array(owner, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made

    def ints(self, items: list[int]) -> Any:
        """Convert ints to a Java array."""
        made = self.spark.sparkContext._gateway.new_array(self.jvm.int, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made

    def box(self, type_: Any, value: Any) -> Any:
        """Convert a value for Java's generic records, wrapped in a list of one."""
        java = self.jvm.java
        holder = java.util.ArrayList()
        if value is None:
            holder.add(None)
            return holder
        if isinstance(type_, dict):
            holder.add(self._nested(type_, value))
            return holder
        boxes = {"int": "Integer", "long": "Long", "float": "Float", "double": "Double", "boolean": "Boolean"}
        if type_ in boxes:
            holder.add(str(value).lower() if type_ == "boolean" else str(value))
            holder.replaceAll(self._parsers[boxes[type_]])
            return holder
        if type_ in ("timestamp", "timestamp_ns"):
            made = java.time.LocalDateTime.parse(value)
        elif type_ in ("timestamptz", "timestamptz_ns"):
            made = java.time.OffsetDateTime.parse(value)
        elif type_ == "date":
            made = java.time.LocalDate.parse(value)
        elif type_ == "time":
            made = java.time.LocalTime.parse(value)
        elif type_ == "uuid":
            made = java.util.UUID.fromString(value)
        elif type_.startswith("decimal"):
            made = java.math.BigDecimal(value)
        elif type_.startswith("fixed"):
            made = bytearray(bytes.fromhex(value))
        elif type_ == "binary":
            made = java.nio.ByteBuffer.wrap(bytearray(bytes.fromhex(value)))
        else:
            made = value
        holder.add(made)
        return holder

    def literal(self, type_: Any, value: Any) -> Any:
        """Return a literal of the Java API."""
        literals = self.iceberg.expressions.Literal
        if type_ in ("int", "boolean", "double", "string"):
            return literals.of(value)
        if type_ in ("long", "float"):
            return literals.of(value).to(self.iceberg.types.Types.fromPrimitiveString(type_))
        if type_ == "binary" or type_.startswith("fixed"):
            buffer = self.jvm.java.nio.ByteBuffer.wrap(bytearray(bytes.fromhex(value)))
            return literals.of(buffer).to(self.iceberg.types.Types.fromPrimitiveString(type_))
        return literals.of(value).to(self.iceberg.types.Types.fromPrimitiveString(type_))

    def _invoke(self, method: Any, target: Any, *holders: Any) -> None:
        arguments = self.jvm.java.util.ArrayList()
        for holder in holders:
            arguments.addAll(holder)
        method.invoke(target, arguments.toArray())

    def _nested(self, type_: Any, value: Any) -> Any:
        if type_["type"] == "struct":
            struct = self.iceberg.types.Types.StructType.of(self._fields(type_))
            return self.record(struct, {f["name"]: f["type"] for f in type_["fields"]}, value)
        if type_["type"] == "list":
            made = self.jvm.java.util.ArrayList()
            for item in value:
                made.addAll(self.box(type_["element"], item))
            return made
        made = self.jvm.java.util.LinkedHashMap()
        for key, item in value:
            self._invoke(self._put, made, self.box(type_["key"], key), self.box(type_["value"], item))
        return made

    def _fields(self, type_: Any) -> Any:
        schema = self.schema({f["name"]: f["type"] for f in type_["fields"]}, [f["id"] for f in type_["fields"]])
        return schema.columns()

    def record(self, struct: Any, types: dict[str, Any], row: dict[str, Any]) -> Any:
        """Make a generic record."""
        made = self.iceberg.data.GenericRecord.create(struct)
        for name, type_ in types.items():
            key = self.jvm.java.util.ArrayList()
            key.add(name)
            self._invoke(self._set_field, made, key, self.box(type_, row[name]))
        return made

    def schema(self, columns: dict[str, Any], ids: Iterable[int] | None = None) -> Any:
        """Make a schema of the Java API."""
        import json

        numbers = list(ids) if ids is not None else list(range(1, len(columns) + 1))
        fields = [
            {"id": id_, "name": name, "required": False, "type": type_}
            for id_, (name, type_) in zip(numbers, columns.items(), strict=True)
        ]
        return self.iceberg.SchemaParser.fromJson(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}))


class JavaTable(SparkTable):
    """A golden table that is made with the Java API and its generic writers."""

    def make(self, columns: dict[str, Any], partitions: list[tuple[str, str]] = (), **properties: str) -> None:  # type: ignore[assignment]
        """Create the table; partition fields are pairs of a transform's name and a column."""
        self.columns = dict(columns)
        every = {
            "format-version": str(self.version),
            "write.metadata.previous-versions-max": "1",
            "commit.manifest-merge.enabled": "false",
            **{name.replace("_", "."): value for name, value in properties.items()},
        }
        schema = self.session.schema(columns)
        builder = self.session.iceberg.PartitionSpec.builderFor(schema)
        for transform, column in partitions:
            word, _, width = transform.partition("[")
            builder = getattr(builder, word)(column, int(width[:-1])) if width else getattr(builder, word)(column)
        options = self.session.jvm.java.util.HashMap()
        for key, value in every.items():
            options.put(key, value)
        self.session.catalog.createTable(self.session.identifier(self.name), schema, builder.build(), None, options)
        types = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
        by = f" partitioned by {', '.join(f'{t}({c})' for t, c in partitions)}" if partitions else ""
        self.record_statement(f"Java: Catalog.createTable t ({types}){by} {every}")

    def _out(self, kind: str, format_: str) -> tuple[Any, Any]:
        number = len(self.statements)
        path = f"{self.java().location()}/data/{kind}-{number}.{format_}"
        file = self.java().io().newOutputFile(path)
        return self.session.iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(file), path

    def partition(self, spec: Any, values: dict[str, Any] | None) -> Any:
        """Make a partition tuple of a spec from strings, as in paths."""
        if not values:
            return None
        data = self.session.iceberg.PartitionData(spec.partitionType())
        types = {str(field.name()): field.type() for field in spec.partitionType().fields()}
        convert = self.session.iceberg.types.Conversions.fromPartitionString
        setter = data.getClass().getMethod(
            "put",
            self.session.array(
                "java.lang.Class",
                self.session.jvm.java.lang.Integer.TYPE,
                self.session.jvm.java.lang.Class.forName("java.lang.Object"),
            ),
        )
        for index, (name, type_) in enumerate(types.items()):
            value = values[name]
            holder = self.session.jvm.java.util.ArrayList()
            holder.add(index)
            if value is None:
                holder.add(None)
            elif str(type_) == "long":
                holder.addAll(self.session.box("long", value))
            else:
                holder.add(convert(type_, str(value)))
            setter.invoke(data, holder.toArray())
        return data

    def factory(self, format_: str, equality: list[int] | None = None, equality_columns: Any = None) -> Any:
        """Return the factory of the generic writers."""
        table = self.java()
        formats = self.session.iceberg.FileFormat
        chosen = formats.fromString(format_)
        class_ = self.session.jvm.java.lang.Class.forName("org.apache.iceberg.data.GenericFileWriterFactory$Builder")
        table_class = self.session.jvm.java.lang.Class.forName("org.apache.iceberg.Table")
        constructor = class_.getDeclaredConstructor(self.session.array("java.lang.Class", table_class))
        constructor.setAccessible(True)
        builder = constructor.newInstance(self.session.array("java.lang.Object", table))

        def set_(name: str, parameter: str, value: Any) -> None:
            method = class_.getDeclaredMethod(
                name, self.session.array("java.lang.Class", self.session.jvm.java.lang.Class.forName(parameter))
            )
            method.setAccessible(True)
            method.invoke(builder, self.session.array("java.lang.Object", value))

        set_("dataFileFormat", "org.apache.iceberg.FileFormat", chosen)
        set_("deleteFileFormat", "org.apache.iceberg.FileFormat", chosen)
        set_("dataSchema", "org.apache.iceberg.Schema", table.schema())
        if equality is not None:
            set_("equalityFieldIds", "[I", self.session.ints(equality))
            set_("equalityDeleteRowSchema", "org.apache.iceberg.Schema", equality_columns)
        build = class_.getDeclaredMethod("build", self.session.array("java.lang.Class"))
        build.setAccessible(True)
        return build.invoke(builder, self.session.array("java.lang.Object"))

    def data_file(self, format_: str, rows: list[Row], spec: Any = None, partition: Any = None) -> Any:
        """Write a data file of rows of the current schema."""
        table = self.java()
        spec = spec or table.spec()
        out, path = self._out("data", format_)
        writer = self.factory(format_).newDataWriter(out, spec, self.partition(spec, partition))
        struct = table.schema().asStruct()
        for row in rows:
            writer.write(self.session.record(struct, self.columns, row))
        writer.close()
        exchanged = [{n: exchange(t, row[n]) for n, t in self.columns.items()} for row in rows]
        self.record_file(path, exchanged, f"{partition or ''}")
        return writer.toDataFile()

    def append(self, format_: str, *rows: tuple[Any, ...], partition: Any = None) -> Any:
        """Write a data file and append it."""
        made = [dict(zip(self.columns, row, strict=True)) for row in rows]
        file = self.data_file(format_, made, partition=partition)
        self.java().newAppend().appendFile(file).commit()
        self.record_statement("Java: newAppend of it")
        self.record_insert(rows)
        return file

    def append_partitioned(self, format_: str, *rows: tuple[Any, ...]) -> list[Any]:
        """Write each row to a data file in the partition that the Java API computes, and append all in one commit."""
        table = self.java()
        struct, append, files = table.schema().asStruct(), self.java().newAppend(), []
        for number, row in enumerate(rows):
            values = dict(zip(self.columns, row, strict=True))
            record = self.session.record(struct, self.columns, values)
            key = self.session.iceberg.PartitionKey(table.spec(), table.schema())
            key.partition(self.session.iceberg.data.InternalRecordWrapper(struct).wrap(record))
            out, path = self._out(f"data-{number}", format_)
            writer = self.factory(format_).newDataWriter(out, table.spec(), key)
            writer.write(record)
            writer.close()
            files.append(writer.toDataFile())
            append = append.appendFile(files[-1])
            exchanged = {name: exchange(type_, values[name]) for name, type_ in self.columns.items()}
            self.record_file(path, [exchanged], "the partition that PartitionKey makes")
        append.commit()
        self.record_statement("Java: newAppend of them")
        self.record_insert(rows)
        return files

    def equality_delete(
        self,
        format_: str,
        columns: dict[str, tuple[int, Any]],
        rows: list[Row],
        spec: Any = None,
        partition: Any = None,
    ) -> Any:
        """Write an equality delete file; columns are given by id and type."""
        table = self.java()
        spec = spec or table.spec()
        types = {name: type_ for name, (_, type_) in columns.items()}
        schema = self.session.schema(types, [id_ for id_, _ in columns.values()])
        out, path = self._out("equality", format_)
        factory = self.factory(format_, [id_ for id_, _ in columns.values()], schema)
        writer = factory.newEqualityDeleteWriter(out, spec, self.partition(spec, partition))
        for row in rows:
            writer.write(self.session.record(schema.asStruct(), types, row))
        writer.close()
        self.record_statement(
            f"Java: write the equality-delete file {path} of {rows} by {columns} in {partition or 'no partition'}"
        )
        return writer.toDeleteFile()

    def position_delete(self, format_: str, positions: list[tuple[Any, int]]) -> Any:
        """Write a position delete file; positions are pairs of a data file and a position."""
        table = self.java()
        out, path = self._out("position", format_)
        writer = self.factory(format_).newPositionDeleteWriter(out, table.spec(), None)
        class_ = self.session.iceberg.deletes.PositionDelete
        for file, position in positions:
            delete = class_.create()
            delete.set(file.location() if hasattr(file, "location") else file, position)
            writer.write(delete)
        writer.close()
        positions_found = [(str(file.location()).rpartition("/")[2], position) for file, position in positions]
        self.record_statement(f"Java: write the position-delete file {path} of {positions_found}")
        return writer.toDeleteFile()

    def commit_deletes(self, *files: Any, matches: Callable[[Row], bool]) -> None:
        """Commit delete files, and record their effect."""
        delta = self.java().newRowDelta()
        for file in files:
            delta = delta.addDeletes(file)
        delta.commit()
        self.record_statement(f"Java: newRowDelta of {'it' if len(files) == 1 else 'them'}")
        self.record_delete(matches)


__all__ = ["PLACE", "JavaTable", "Session", "SparkTable", "literal", "sql_type"]
