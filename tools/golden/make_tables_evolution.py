"""Golden tables whose schema changed: promoted, renamed, dropped, added and defaulted columns, and files without ids."""

# ruff: noqa: E501 - each row is on one line

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tools.golden.make_tables_kit import golden, list_type, map_type, struct
from tools.golden.make_tables_spark import JavaTable, Session, SparkTable
from tools.golden.make_tables_types import FOR_ORC

FORMATS = ("parquet", "avro", "orc")


def _evolved(name: str, format_: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        about = f"columns of {format_} files promoted, renamed, moved, dropped, and added again under an old name"
        table = SparkTable(session, name, 2, about)
        table.create(
            {"id": "int", "data": "string", "price": "float", "dec": "decimal(9, 2)", "gone": "string"},
            write_format_default=format_,
        )
        table.insert(
            (1, "a", 0.1, "1.00", "x"), (-(2**31), None, "NaN", "-9999999.99", None), (3, "c", None, None, "z")
        )
        table.mark("first schema")
        table.sql("ALTER TABLE {t} ALTER COLUMN id TYPE bigint")
        table.columns["id"] = "long"
        table.sql("ALTER TABLE {t} ALTER COLUMN price TYPE double")
        table.columns["price"] = "double"
        for row in table.rows:
            if row["price"] == 0.1:
                row["price"] = 13421773 / 2**27  # the float nearest to 0.1
        table.sql("ALTER TABLE {t} ALTER COLUMN dec TYPE decimal(18, 2)")
        table.columns["dec"] = "decimal(18, 2)"
        table.sql("ALTER TABLE {t} RENAME COLUMN data TO label")
        table.record_renamed_column("data", "label")
        table.sql("ALTER TABLE {t} ADD COLUMN data int AFTER id")
        table.record_added_column("data", "int", after="id")
        table.sql("ALTER TABLE {t} DROP COLUMN gone")
        table.record_dropped_column("gone")
        table.sql("ALTER TABLE {t} ADD COLUMN gone int")
        table.record_added_column("gone", "int")
        table.sql("ALTER TABLE {t} ALTER COLUMN label FIRST")
        table.columns = {"label": table.columns.pop("label"), **table.columns}
        table.insert(("n", 2**40, 7, 1e300, "9999999999999999.99", 5), ("m", 1, None, 0.5, None, None))
        table.mark("second schema")
        table.sql("ALTER TABLE {t} RENAME COLUMN gone TO last")
        table.record_renamed_column("gone", "last")
        table.finish()


def _nested_evolved(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        about = f"fields inside structs, lists and maps of {format_} files added, renamed, promoted, dropped and moved"
        table = SparkTable(session, name, 2, about)
        table.create(
            {
                "id": "long",
                "point": struct((5, "x", "int"), (6, "y", "int"), (7, "z", "int")),
                "items": list_type(8, struct((9, "name", "string"), (10, "n", "int"))),
                "props": map_type(11, "string", 12, struct((13, "v", "float"))),
            },
            write_format_default=format_,
        )
        table.insert(
            (1, {"x": 1, "y": 2, "z": 3}, [{"name": "a", "n": 1}, {"name": None, "n": None}], [("k", {"v": 0.5})]),
            (2, {"x": None, "y": None, "z": None}, [], [("", {"v": None}), ("l", None)]),
            (3, None, [None], None),
        )
        table.mark("first schema")
        for statement in (
            "ALTER COLUMN point.x TYPE bigint",
            "RENAME COLUMN point.y TO why",
            "DROP COLUMN point.z",
            "ADD COLUMN point.z string FIRST",
            "ADD COLUMN items.element.more double",
            "ALTER COLUMN items.element.n TYPE bigint",
            "ALTER COLUMN props.value.v TYPE double",
            "ADD COLUMN props.value.w boolean",
        ):
            table.sql(f"ALTER TABLE {{t}} {statement}")
        table.columns["point"] = struct((14, "z", "string"), (5, "x", "long"), (6, "why", "int"))
        table.columns["items"] = list_type(8, struct((9, "name", "string"), (10, "n", "long"), (15, "more", "double")))
        table.columns["props"] = map_type(11, "string", 12, struct((13, "v", "double"), (16, "w", "boolean")))
        for row in table.rows:
            if row["point"] is not None:
                row["point"] = {"z": None, "x": row["point"]["x"], "why": row["point"]["y"]}
            row["items"] = [item and {**item, "more": None} for item in row["items"]]
            row["props"] = row["props"] and [(key, value and {**value, "w": None}) for key, value in row["props"]]
        table.insert(
            (
                4,
                {"z": "new", "x": 2**40, "why": -1},
                [{"name": "b", "n": 2**40, "more": 1.5}],
                [("k", {"v": 1e300, "w": True})],
            )
        )
        table.mark("second schema")
        table.finish()


def _new_struct(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        about = f"{format_} files that lack a whole struct, list and map, and all selected fields of another struct"
        table = SparkTable(session, name, 2, about)
        table.create({"id": "long", "point": struct((3, "x", "int"))}, write_format_default=format_)
        table.insert((1, {"x": 1}), (2, None), (3, {"x": None}))
        table.sql("ALTER TABLE {t} ADD COLUMN point.y int")
        table.sql("ALTER TABLE {t} DROP COLUMN point.x")
        table.columns["point"] = struct((4, "y", "int"))
        for row in table.rows:
            row["point"] = row["point"] and {"y": None}
        table.sql("ALTER TABLE {t} ADD COLUMNS (whole struct<a: int>, some array<int>, pairs map<string, int>)")
        table.record_added_column("whole", struct((6, "a", "int")))
        table.record_added_column("some", list_type(8, "int"))
        table.record_added_column("pairs", map_type(10, "string", 11, "int"))
        made = session.spark.table(table.t).schema.fieldNames()
        assert made == list(table.columns), made
        table.insert((4, {"y": 4}, {"a": 5}, [6], [("k", 7)]))
        table.mark("all rows")
        table.finish()


for _format in FORMATS:
    _evolved(f"schema-evolution-{_format}", _format)
    _nested_evolved(f"nested-evolution-{_format}", _format)
    _new_struct(f"nested-missing-{_format}", _format)


_evolved("java-1-10-schema-evolution", "parquet", "iceberg-java@1.10.2")


DEFAULTS: dict[str, tuple[Any, Any]] = {
    "b": ("boolean", True),
    "i": ("int", 34),
    "l": ("long", -34),
    "f": ("float", 0.5),
    "d": ("double", -0.0),
    "dec": ("decimal(9, 2)", "14.20"),
    "day": ("date", "1969-12-31"),
    "ts": ("timestamp", "1969-12-31T23:59:59.999999"),
    "tz": ("timestamptz", "1969-12-31T23:59:59.999999+00:00"),
    "s": ("string", "\u00e9 default"),
    "u": ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7"),
    "fx": ("fixed[3]", "000FFF"),
    "bin": ("binary", "00"),
}


def _with_defaults(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        about = f"columns with default values that {format_} files do not have; a default that changes later"
        defaults = {
            name: (type_, FOR_ORC.get(value, value) if format_ == "orc" else value)
            for name, (type_, value) in DEFAULTS.items()
        }
        table = JavaTable(session, name, 3, about)
        table.make({"id": "long"})
        table.append(format_, (1,), (2,))
        table.mark("before the defaults")
        update = table.java().updateSchema()
        for column, (type_, value) in defaults.items():
            parsed = session.iceberg.types.Types.fromPrimitiveString(type_)
            literal = session.literal(type_, value)
            update = update.addColumn(column, parsed, None, literal)
        update = update.addColumn("plain", session.iceberg.types.Types.StringType.get())
        update.commit()
        table.record_statement(f"Java: updateSchema().addColumn of {defaults} with defaults, and of plain string")
        for column, (type_, value) in defaults.items():
            table.record_added_column(column, type_, value=value)
        table.record_added_column("plain", "string")
        table.append(format_, (3, *(None for _ in defaults), "p"))
        other = (
            4,
            False,
            0,
            0,
            0.0,
            0.0,
            "0.00",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-01-01T00:00:00+00:00",
            "",
            "00000000-0000-0000-0000-000000000000",
            "000000",
            "",
            None,
        )
        table.append(format_, other)
        table.mark("with defaults")
        table.java().updateSchema().updateColumnDefault("i", session.literal("int", 35)).commit()
        table.record_statement("Java: updateSchema().updateColumnDefault(i, 35)")
        table.append(format_, (5, *(value for _, value in defaults.values()), "q"))
        table.mark("with another write default")
        table.finish()


def _nested_defaults(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        about = f"default values inside structs, lists and maps that {format_} files do not have; required columns"
        table = JavaTable(session, name, 3, about)
        columns = {
            "id": "long",
            "point": struct((4, "x", "int")),
            "items": list_type(5, struct((6, "n", "int"))),
        }
        table.make(columns)
        table.append(format_, (1, {"x": 1}, [{"n": 1}, None]), (2, None, []), (3, {"x": None}, None))
        update = table.java().updateSchema()
        integer = session.iceberg.types.Types.IntegerType.get()
        update = update.addColumn("point", "y", integer, None, session.literal("int", 7))
        update = update.addColumn("items", "m", integer, None, session.literal("int", 8))
        update = update.addRequiredColumn("must", integer, None, session.literal("int", 9))
        update.commit()
        table.record_statement(
            "Java: updateSchema().addColumn of point.y with 7, items.m with 8, addRequiredColumn must with 9"
        )
        for row in table.rows:
            row["point"] = row["point"] and {**row["point"], "y": 7}
            row["items"] = row["items"] and [item and {**item, "m": 8} for item in row["items"]]
        table.columns["point"] = struct((4, "x", "int"), (7, "y", "int"))
        table.columns["items"] = list_type(5, struct((6, "n", "int"), (8, "m", "int")))
        table.record_added_column("must", "int", value=9)
        table.append(format_, (4, {"x": 4, "y": None}, [{"n": 4, "m": None}], 4))
        table.mark("with defaults")
        table.finish()


for _format in FORMATS:
    _with_defaults(f"defaults-{_format}", _format)
    _nested_defaults(f"defaults-nested-{_format}", _format)


def _imported(table: SparkTable, format_: str, query: str, part: str = "") -> str:
    """Write plain files without field ids below the table: Spark's, or those of a plain Avro writer."""
    place = f"{table.location}/imported{len(table.statements)}"
    shutil.rmtree(place, ignore_errors=True)
    rows = table.spark.sql(query).coalesce(1)
    if format_ == "avro":
        _plain_avro(Path(place), [row.asDict(recursive=True) for row in rows.collect()], part)
    elif part:
        rows.write.format(format_).partitionBy(part).save(place)
    else:
        rows.write.format(format_).save(place)
    table.record_statement(f"plain {format_} files of {query}" + (f" in folders by {part}" if part else ""))
    return place


AVRO_TYPES: dict[str, Any] = {
    "id": "long",
    "p": "int",
    "data": "string",
    "q": "string",
    "point": {
        "type": "record",
        "name": "point",
        "fields": [{"name": "x", "type": ["null", "int"]}, {"name": "y", "type": ["null", "string"]}],
    },
    "items": {"type": "array", "items": ["null", "int"]},
    "props": {"type": "map", "values": ["null", "int"]},
}


def _plain_avro(place: Path, rows: list[dict[str, Any]], part: str) -> None:
    """Write Avro files without field ids, one for each value of ``part``."""
    import fastavro

    for value in dict.fromkeys(row[part] for row in rows) if part else [None]:
        chosen = [row for row in rows if not part or row[part] == value]
        names = [name for name in rows[0] if name != part]
        types = {name: "int" if name == "id" and not part else AVRO_TYPES[name] for name in names}
        fields = [{"name": name, "type": ["null", type_]} for name, type_ in types.items()]
        shown = "__HIVE_DEFAULT_PARTITION__" if value is None else value
        folder = place / f"{part}={shown}" if part else place
        folder.mkdir(parents=True)
        with (folder / "part-0.avro").open("wb") as file:
            schema = {"type": "record", "name": "row", "fields": fields}
            fastavro.writer(file, schema, [{name: row[name] for name in names} for row in chosen])


def _mapped(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        about = f"plain {format_} files without ids, read by a name mapping; columns renamed and added afterwards"
        table = SparkTable(session, name, 2, about)
        inside = struct((6, "x", "int"), (7, "y", "string"))
        table.create(
            {
                "id": "int",
                "data": "string",
                "point": inside,
                "items": list_type(8, "int"),
                "props": map_type(9, "string", 10, "int"),
            },
            write_format_default=format_,
        )
        place = _imported(
            table,
            format_,
            "SELECT * FROM VALUES (1, 'a', named_struct('x', 1, 'y', 'b'), array(1, null), map('k', 1)), "
            "(2, CAST(NULL AS STRING), CAST(NULL AS STRUCT<x: INT, y: STRING>), CAST(array() AS ARRAY<INT>), "
            "CAST(NULL AS MAP<STRING, INT>)) AS t(id, data, point, items, props)",
        )
        table.sql(f"CALL golden.system.add_files(table => 'tables.`{name}`', source_table => '`{format_}`.`{place}`')")
        table.record_insert(
            [(1, "a", {"x": 1, "y": "b"}, [1, None], [("k", 1)]), (2, None, None, [], None)],
        )
        table.mark("imported")
        table.insert((3, "c", {"x": 3, "y": None}, [3], []))
        table.sql("ALTER TABLE {t} RENAME COLUMN data TO label")
        table.record_renamed_column("data", "label")
        table.sql("ALTER TABLE {t} ALTER COLUMN id TYPE bigint")
        table.columns["id"] = "long"
        table.sql("ALTER TABLE {t} ADD COLUMN point.z int")
        table.columns["point"] = struct((6, "x", "int"), (7, "y", "string"), (11, "z", "int"))
        for row in table.rows:
            row["point"] = row["point"] and {**row["point"], "z": None}
        table.insert((2**40, "d", {"x": 4, "y": "e", "z": 5}, None, [("l", None)]))
        table.mark("renamed")
        table.finish()


for _format in FORMATS:
    _mapped(f"name-mapping-{_format}", _format)


def _in_folders(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        about = f"{format_} files that lack their identity partition columns: the values are in the metadata alone"
        table = SparkTable(session, name, 2, about)
        table.create({"id": "long", "p": "int", "q": "string"}, "p", write_format_default=format_)
        place = _imported(
            table,
            format_,
            "SELECT * FROM VALUES (1L, 10, 'a'), (2L, 10, 'b'), (3L, 20, 'c'), (4L, CAST(NULL AS INT), 'd') "
            "AS t(id, p, q)",
            "p",
        )
        table.sql(f"CALL golden.system.add_files(table => 'tables.`{name}`', source_table => '`{format_}`.`{place}`')")
        table.record_insert([(1, 10, "a"), (2, 10, "b"), (3, 20, "c"), (4, None, "d")])
        table.mark("imported")
        table.insert((5, 30, "e"), (6, 10, "f"))
        table.mark("inserted")
        table.delete("id = 2", lambda row: row["id"] == 2)
        table.finish()


for _format in FORMATS:
    _in_folders(f"partition-values-missing-{_format}", _format)
