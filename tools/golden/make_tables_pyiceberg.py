"""Golden tables that PyIceberg writes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from tools.golden.make_tables_kit import Table, golden, list_type, map_type, struct

ENGINE = "pyiceberg"


class PyTable(Table):
    """A golden table that PyIceberg makes."""

    def __init__(self, name: str, version: int, about: str) -> None:
        import pyiceberg
        from pyiceberg.catalog.memory import InMemoryCatalog

        super().__init__(name, f"pyiceberg {pyiceberg.__version__}", version, about)
        self.catalog = InMemoryCatalog("golden", warehouse="file:///tmp/iceberg-conformance/tables")
        self.catalog.create_namespace("db")
        self.table: Any = None

    def create(self, columns: dict[str, Any], partitions: Iterable[tuple[str, str]] = (), **properties: str) -> None:
        """Create the table; partition fields are pairs of a transform and a column."""
        import json

        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import parse_transform

        self.columns = dict(columns)
        ids = {name: number for number, name in enumerate(columns, 1)}
        fields = [{"id": ids[n], "name": n, "required": False, "type": t} for n, t in columns.items()]
        schema = Schema.model_validate_json(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}))
        spec = PartitionSpec(
            *(
                PartitionField(ids[column], 1000 + number, parse_transform(transform), f"{column}_{number}")
                for number, (transform, column) in enumerate(partitions)
            )
        )
        self.table = self.catalog.create_table(
            f"db.{self.name}",
            schema,
            location=f"file://{self.location}",
            partition_spec=spec,
            properties={"format-version": str(self.version), **{n.replace("_", "."): v for n, v in properties.items()}},
        )
        self.record_statement(f"create_table of {columns}, partitioned by {list(partitions)}")

    def arrow(self, rows: Iterable[Iterable[Any]]) -> Any:
        """Return rows as an Arrow table with the table's schema."""
        import pyarrow as pa

        schema = self.table.schema().as_arrow()
        made = [
            {name: _arrow_value(type_, value) for (name, type_), value in zip(self.columns.items(), row, strict=True)}
            for row in rows
        ]
        return pa.Table.from_arrays(
            [_array([row[field.name] for row in made], field.type) for field in schema],
            schema=pa.schema([pa.field(field.name, field.type) for field in schema]),
        )

    def append(self, *rows: tuple[Any, ...]) -> None:
        """Append rows."""
        self.table.append(self.arrow(rows))
        self.record_statement(f"append of {list(rows)}")
        self.record_insert(rows)


def _array(values: list[Any], type_: Any) -> Any:
    import pyarrow as pa

    if isinstance(type_, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type_, pa.array(values, type_.storage_type))
    return pa.array(values, type_)


def _arrow_value(type_: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(type_, dict):
        if type_["type"] == "struct":
            return {field["name"]: _arrow_value(field["type"], value[field["name"]]) for field in type_["fields"]}
        if type_["type"] == "list":
            return [_arrow_value(type_["element"], item) for item in value]
        return [(_arrow_value(type_["key"], key), _arrow_value(type_["value"], item)) for key, item in value]
    if type_ in ("float", "double"):
        return float(value)
    if type_.startswith("decimal"):
        return Decimal(value)
    if type_ == "uuid":
        return uuid.UUID(value).bytes
    if type_ == "binary" or type_.startswith("fixed"):
        return bytes.fromhex(value)
    if type_ in ("date", "time", "timestamp", "timestamptz"):
        return _instant(type_, value)
    return value


def _instant(type_: str, value: str) -> int:
    """Convert a date or timestamp to days or microseconds for Arrow."""
    from conformance.adapter_sdk import lenient_values as native

    read = native.read(type_, value)
    assert isinstance(read, int)
    return read


def _py_types(name: str, version: int) -> None:
    @golden(name, ENGINE)
    def make(_session: None) -> None:
        from tools.golden.make_tables_types import LEAST, MOST, NULLS, ODD, PRIMITIVES, ZERO

        table = PyTable(name, version, f"every primitive type, version {version}")
        table.create({"n": "int", **PRIMITIVES})
        table.append((1, *LEAST), (2, *MOST))
        table.append((3, *ODD), (4, *ZERO), (5, *NULLS))
        table.mark("all rows")
        table.finish()


_py_types("pyiceberg-types-v1", 1)
_py_types("pyiceberg-types-v2", 2)


@golden("pyiceberg-nested", ENGINE)
def _py_nested(_session: None) -> None:
    table = PyTable("pyiceberg-nested", 2, "structs, lists and maps: null, empty, of nulls")
    table.create(
        {
            "id": "long",
            "point": struct((5, "x", "double"), (6, "y", "long")),
            "tags": list_type(7, "string"),
            "props": map_type(8, "string", 9, "int"),
        }
    )
    table.append(
        (1, {"x": 1.5, "y": 2}, ["a", None, ""], [("k", 1), ("", None)]),
        (2, {"x": None, "y": None}, [], []),
        (3, None, None, None),
    )
    table.mark("all rows")
    table.finish()


@golden("pyiceberg-partitioned", ENGINE)
def _py_partitioned(_session: None) -> None:
    about = "partitions by identity, bucket, truncate, year, month, day and hour, null and before 1970"
    table = PyTable("pyiceberg-partitioned", 2, about)
    columns = {
        "n": "int",
        "s": "string",
        "l": "long",
        "t": "string",
        "y": "date",
        "m": "timestamptz",
        "d": "timestamp",
        "h": "timestamptz",
    }
    table.create(
        columns,
        [
            ("identity", "s"),
            ("bucket[4]", "l"),
            ("truncate[2]", "t"),
            ("year", "y"),
            ("month", "m"),
            ("day", "d"),
            ("hour", "h"),
        ],
    )
    z = "+00:00"
    table.append(
        (
            1,
            "a/b c",
            34,
            "\u00e9\u4e2d\U0001f600",
            "1969-12-31",
            f"1969-12-31T23:59:59.999999{z}",
            "1969-12-31T23:59:59.999999",
            f"1969-12-31T23:59:59.999999{z}",
        ),
        (
            2,
            "",
            -1,
            "",
            "1970-01-01",
            f"1970-01-01T00:00:00.000000{z}",
            "1970-01-01T00:00:00.000000",
            f"1970-01-01T00:00:00.000000{z}",
        ),
        (3, None, None, None, None, None, None, None),
    )
    table.mark("all rows")
    table.finish()


@golden("pyiceberg-changes", ENGINE)
def _py_changes(_session: None) -> None:
    about = "rows deleted and overwritten by rewriting files; a partition overwritten"
    table = PyTable("pyiceberg-changes", 2, about)
    table.create({"id": "long", "p": "string"}, [("identity", "p")])
    table.append((1, "x"), (2, "x"), (3, "y"), (4, None))
    table.mark("appended")
    table.table.delete("id = 1")
    table.record_statement("delete('id = 1')")
    table.record_delete(lambda row: row["id"] == 1)
    table.mark("deleted")
    table.table.overwrite(table.arrow([(5, "y"), (6, "z")]), overwrite_filter="p = 'y'")
    table.record_statement("overwrite of [(5, 'y'), (6, 'z')] where p = 'y'")
    table.rows = [row for row in table.rows if row["p"] != "y"]
    table.sequence_number = table.metadata()["last-sequence-number"]
    table.rows += [{"id": 5, "p": "y"}, {"id": 6, "p": "z"}]
    table.mark("overwritten")
    table.table.dynamic_partition_overwrite(table.arrow([(7, "x")]))
    table.record_statement("dynamic_partition_overwrite of [(7, 'x')]")
    table.rows = [row for row in table.rows if row["p"] != "x"] + [{"id": 7, "p": "x"}]
    table.sequence_number = table.metadata()["last-sequence-number"]
    table.finish()


@golden("pyiceberg-evolution", ENGINE)
def _py_evolution(_session: None) -> None:
    about = "columns added, renamed, promoted, moved and dropped; the spec evolved"
    table = PyTable("pyiceberg-evolution", 2, about)
    table.create({"id": "int", "data": "string", "f": "float", "gone": "int"})
    table.append((1, "a", 0.5, 1), (2, None, "NaN", None))
    table.mark("first schema")
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DoubleType, LongType, StringType

    with table.table.update_schema() as update:
        update.update_column("id", LongType())
        update.update_column("f", DoubleType())
        update.rename_column("data", "label")
        update.delete_column("gone")
        update.add_column("extra", StringType())
        update.move_first("extra")
    table.record_statement(
        "update_schema: id to long, f to double, data renamed to label, gone dropped, extra string added as first"
    )
    table.columns = {"id": "long", "data": "string", "f": "double", "gone": "int"}
    table.record_renamed_column("data", "label")
    table.record_dropped_column("gone")
    table.record_added_column("extra", "string", after="")
    table.append(("e", 2**40, "b", 1e300))
    with table.table.update_spec() as update:
        update.add_field("label", IdentityTransform(), "label")
    table.record_statement("update_spec: identity of label added")
    table.append(("e", 3, "c", None), (None, 4, None, -0.0))
    table.mark("second schema")
    table.finish()


@golden("pyiceberg-add-files", ENGINE)
def _py_add_files(_session: None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = "plain Parquet files without ids, added as they are; a column that the files do not have"
    table = PyTable("pyiceberg-add-files", 2, about)
    table.create({"id": "long", "p": "int", "late": "string"}, [("identity", "p")])
    folder = table.location / "imported"
    folder.mkdir()
    paths = []
    for number, rows in enumerate(([(1, 10), (2, 10)], [(3, 20)]), 1):
        columns = {
            "id": pa.array([row[0] for row in rows], pa.int64()),
            "p": pa.array([row[1] for row in rows], pa.int32()),
        }
        paths.append(f"{folder}/plain-{number}.parquet")
        pq.write_table(pa.table(columns), paths[-1])
        table.record_statement(f"plain Parquet file of {rows} as id, p")
    table.table.add_files([f"file://{path}" for path in paths])
    table.record_statement("add_files of them")
    table.record_insert([(1, 10, None), (2, 10, None), (3, 20, None)])
    table.append((4, 10, "x"))
    table.mark("all rows")
    table.finish()
