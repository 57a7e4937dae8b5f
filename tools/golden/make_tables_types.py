"""Golden tables of every type, with values at the limits of the types."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from tools.derive import variant
from tools.golden.make_tables_kit import golden, list_type, map_type, struct
from tools.golden.make_tables_spark import JavaTable, Session, SparkTable

PRIMITIVES: dict[str, Any] = {
    "b": "boolean",
    "i": "int",
    "l": "long",
    "f": "float",
    "d": "double",
    "d9": "decimal(9, 2)",
    "d18": "decimal(18, 4)",
    "d38": "decimal(38, 10)",
    "day": "date",
    "tod": "time",
    "ts": "timestamp",
    "tz": "timestamptz",
    "s": "string",
    "u": "uuid",
    "fx": "fixed[3]",
    "bin": "binary",
}
NANOS = {"tsn": "timestamp_ns", "tzn": "timestamptz_ns"}

LEAST = (
    False,
    -(2**31),
    -(2**63),
    "-Infinity",
    "-Infinity",
    "-9999999.99",
    "-99999999999999.9999",
    "-9999999999999999999999999999.9999999999",
    "0001-01-01",
    "00:00:00.000000",
    "0001-01-01T00:00:00.000000",
    "0001-01-01T00:00:00.000000+00:00",
    "",
    "00000000-0000-0000-0000-000000000000",
    "000000",
    "",
)
MOST = (
    True,
    2**31 - 1,
    2**63 - 1,
    "Infinity",
    "Infinity",
    "9999999.99",
    "99999999999999.9999",
    "9999999999999999999999999999.9999999999",
    "9999-12-31",
    "23:59:59.999999",
    "9999-12-31T23:59:59.999999",
    "9999-12-31T23:59:59.999999+00:00",
    "\U0010ffff\U0010ffff",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "FFFFFF",
    "FFFFFFFF",
)
ODD = (
    True,
    -1,
    -1,
    "NaN",
    "NaN",
    "-0.01",
    "-0.0001",
    "-0.0000000001",
    "1969-12-31",
    "12:34:56.000001",
    "1969-12-31T23:59:59.999999",
    "1969-12-31T23:59:59.999999+00:00",
    "\u00e9\u4e2d\U0001f600'\"\\",
    "80000000-0000-0000-8000-000000000000",
    "0080FF",
    "00",
)
ZERO = (
    False,
    0,
    0,
    -0.0,
    -0.0,
    "0.00",
    "0.0000",
    "0.0000000000",
    "1970-01-01",
    "00:00:00.000001",
    "1970-01-01T00:00:00.000000",
    "1970-01-01T00:00:00.000000+00:00",
    "a\u0000b",
    "7fffffff-ffff-ffff-7fff-ffffffffffff",
    "7F8081",
    "7F80",
)
NULLS = (None,) * len(PRIMITIVES)

NANO_ROWS = (
    ("1677-09-21T00:12:43.145224193", "1677-09-21T00:12:43.145224193+00:00"),
    ("2262-04-11T23:47:16.854775807", "2262-04-11T23:47:16.854775807+00:00"),
    ("1969-12-31T23:59:59.999999999", "1969-12-31T23:59:59.999999999+00:00"),
    ("1970-01-01T00:00:00.000000001", "1970-01-01T00:00:00.000000001+00:00"),
    (None, None),
)


# Iceberg-Java writes 1970 to ORC for instants of the last second before it. Timestamps beyond the range of nanoseconds
# are in a separate table.
FOR_ORC: dict[Any, Any] = {
    "1969-12-31T23:59:59.999999": "1969-12-31T23:59:58.999999",
    "1969-12-31T23:59:59.999999+00:00": "1969-12-31T23:59:58.999999+00:00",
    "0001-01-01T00:00:00.000000": "1677-09-21T00:12:44.000001",
    "0001-01-01T00:00:00.000000+00:00": "1677-09-21T00:12:44.000001+00:00",
    "9999-12-31T23:59:59.999999": "2262-04-11T23:47:16.854775",
    "9999-12-31T23:59:59.999999+00:00": "2262-04-11T23:47:16.854775+00:00",
}


def _types(name: str, version: int, format_: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        table = JavaTable(session, name, version, f"every primitive type in {format_}, version {version}")
        columns = {"n": "int", **PRIMITIVES}
        rows = [(number, *row) for number, row in enumerate((LEAST, MOST, ODD, ZERO, NULLS), 1)]
        if format_ == "orc":
            rows = [tuple(FOR_ORC.get(value, value) for value in row) for row in rows]
        if version == 3 and format_ != "orc":
            columns |= NANOS
            rows = [(*row, *nanos) for row, nanos in zip(rows, NANO_ROWS, strict=True)]
        table.make(columns)
        table.append(format_, *rows[:2])
        table.append(format_, *rows[2:])
        table.mark("all rows")
        table.finish()


for _version in (1, 2, 3):
    for _format in ("parquet", "avro", "orc"):
        _types(f"types-v{_version}-{_format}", _version, _format)
_types("java-1-10-types", 2, "parquet", "iceberg-java@1.10.2")


POINT = struct((5, "x", "double"), (6, "y", "long"))
NESTED = {
    "id": "long",
    "point": POINT,
    "tags": list_type(7, "string"),
    "props": map_type(8, "string", 9, "int"),
}
DEEP = list_type(10, struct((11, "name", "string"), (12, "counts", map_type(13, "int", 14, list_type(15, "long")))))


def _nested(name: str, version: int, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = SparkTable(session, name, version, f"structs, lists and maps in {format_}: null, empty, of nulls")
        table.create({**NESTED, "deep": _renumbered()}, write_format_default=format_)
        table.insert(
            (
                1,
                {"x": 1.5, "y": 2},
                ["a", None, ""],
                [("k", 1), ("", None)],
                [{"name": "n", "counts": [(1, [2, None])]}],
            ),
            (2, {"x": None, "y": None}, [], [], []),
            (3, None, None, None, None),
            (4, {"x": -0.0, "y": None}, [None], [("\u00e9", 0)], [None, {"name": None, "counts": None}]),
        )
        table.insert((5, {"x": "NaN", "y": -1}, ["b"], [("z", -1)], [{"name": "m", "counts": [(0, [])]}]))
        table.mark("all rows")
        table.finish()


def _renumbered() -> Any:
    """Return the deep column with the ids that a new table assigns: columns first, then nested fields, in order."""
    return list_type(11, struct((12, "name", "string"), (13, "counts", map_type(14, "int", 15, list_type(16, "long")))))


_NESTED_IDS = {
    "point": struct((6, "x", "double"), (7, "y", "long")),
    "tags": list_type(8, "string"),
    "props": map_type(9, "string", 10, "int"),
}
NESTED |= _NESTED_IDS

for _format in ("parquet", "avro", "orc"):
    _nested(f"nested-{_format}", 2, _format)


@golden("types-far-orc", "iceberg-java")
def _far(session: Session) -> None:
    table = JavaTable(session, "types-far-orc", 2, "dates and timestamps of the years 1 and 9999 in ORC")
    table.make({"n": "int", "day": "date", "ts": "timestamp", "tz": "timestamptz"})
    far = [[row[list(PRIMITIVES).index(name)] for name in ("day", "ts", "tz")] for row in (LEAST, MOST)]
    table.append("orc", *((number, *row) for number, row in enumerate(far, 1)))
    table.mark("all rows")
    table.finish()


def _variant(metadata: str, value: str) -> dict[str, str]:
    return {"metadata": metadata, "value": value}


EMPTY_METADATA = "010000"
"""Empty variant metadata: version 1, no names, the offset of their end."""


@golden("variant-parquet", "iceberg-java")
def _variants(session: Session) -> None:
    table = SparkTable(session, "variant-parquet", 3, "variants: null, a number, a text, an array and an object")
    table.columns = {"id": "long", "v": "variant"}
    table.sql("CREATE TABLE {t} (id BIGINT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version'='3')")
    table.sql(
        "INSERT INTO {t} VALUES (1, parse_json('1')), (2, parse_json('\"ab\"')), (3, NULL), (4, parse_json('null')), "
        "(5, parse_json('[1, true]')), (6, parse_json('{{\"a\": 1}}'))"
    )
    table.record_insert(
        [
            (1, _variant(EMPTY_METADATA, "0C01")),  # int8
            (2, _variant(EMPTY_METADATA, "096162")),  # a short string of two bytes
            (3, None),
            (4, _variant(EMPTY_METADATA, "00")),  # the variant null
            (5, _variant(EMPTY_METADATA, "0302000203" + "0C01" + "04")),  # an array of two, offsets 0, 2 and 3
            (6, _variant("0101000161", "020100" + "0002" + "0C01")),  # the name a; an object of one field
        ]
    )
    table.mark("all rows")
    table.finish()


SHREDDED: dict[str, list[Any]] = {
    "objects": [
        {"n": 1, "s": "a", "o": {"x": Decimal("1.5"), "y": True}, "t": ["p", "q"], "m": 1},
        {"n": 100000, "s": None, "o": {"x": Decimal("2.5")}, "t": [], "m": "two"},
        {"n": 100001, "s": "c", "o": {"y": False, "z": 0}, "t": ["p", None], "m": [3]},
        {"n": 100002, "o": None, "t": None, "m": None},
        {"s": "e", "o": {}, "t": [None, None], "m": {"x": 5}},
        {},
        *(
            {"n": 100000 + number, "s": "more", "o": {"x": Decimal("0.5")}, "t": ["r"], "m": number}
            for number in range(7, 12)
        ),
        {"n": 100012, "s": "l", "o": {"x": Decimal("0.5")}, "t": ["r"], "m": 12, "rare": "one of twelve"},
    ],
    "numbers": [70000, 70001, -70002, 3, None],
    "arrays": [[1000, 2000], [], [3000, None, 4000]],
    "nested arrays": [[["a"], []], [["b", "c"]]],
    "mixed": [1, "a", {"a": 1}, None],
}
"""The rows that Spark inserts, one file each, so that Iceberg infers different shredding schemas; the last has none."""

TYPED = {
    "bool": ("true", True),
    "byte": ("CAST(-128 AS TINYINT)", -128),
    "short": ("CAST(32767 AS SMALLINT)", 32767),
    "int": ("CAST(-2147483648 AS INT)", -(1 << 31)),
    "long": ("9223372036854775807", (1 << 63) - 1),
    "float": ("CAST(1.5 AS FLOAT)", ("float", 1.5)),
    "double": ("0.1D", 0.1),
    "dec4": ("CAST(-12.34 AS DECIMAL(9, 2))", Decimal("-12.34")),
    "dec8": ("CAST(12345678901.2345 AS DECIMAL(18, 4))", Decimal("12345678901.2345")),
    "dec16": ("CAST(1234567890123456789012345678.01 AS DECIMAL(38, 2))", Decimal("1234567890123456789012345678.01")),
    "date": ("DATE'1969-12-31'", ("date", -1)),
    "ts": ("TIMESTAMP'1969-12-31 23:59:59.999999+00:00'", ("timestamp", -1)),
    "ntz": ("TIMESTAMP_NTZ'1970-01-01 00:00:00.000001'", ("timestamp_ntz", 1)),
    "bin": ("X'00FF'", b"\x00\xff"),
    "text": ("repeat('x', 70)", "x" * 70),
}
"""A field of every type of Spark's variants, in SQL and as a value."""


def _json(value: Any) -> str:
    return json.dumps(value, default=float).replace("{", "{{").replace("}", "}}")


@golden("variant-shredded", "iceberg-java")
def _shredded(session: Session) -> None:
    about = "variants that are shredded: objects, numbers, arrays, mixed ones, and a field of every type"
    table = SparkTable(session, "variant-shredded", 3, about)
    table.columns = {"id": "long", "v": "variant"}
    table.sql(
        "CREATE TABLE {t} (id BIGINT, v VARIANT) USING iceberg "
        "TBLPROPERTIES ('format-version'='3', 'write.parquet.shred-variants'='true')"
    )
    number = 0
    for label, given in SHREDDED.items():
        rows = list(enumerate(given, number + 1))
        number += len(rows)
        table.sql("INSERT INTO {t} VALUES " + ", ".join(f"({id_}, parse_json('{_json(one)}'))" for id_, one in rows))
        table.record_insert([(id_, _hex(one)) for id_, one in rows])
        table.mark(label)
    fields = ", ".join(f"'{name}', {sql}" for name, (sql, _) in TYPED.items())
    table.sql(f"INSERT INTO {{t}} VALUES (98, NULL), (99, to_variant_object(named_struct({fields})))")
    table.record_insert([(98, None), (99, _hex({name: value for name, (_, value) in TYPED.items()}))])
    table.mark("every type")
    table.finish()


def _hex(value: Any) -> dict[str, str]:
    return _variant(*(part.hex().upper() for part in variant.encoded(value)))


def _unknown(name: str, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = JavaTable(session, name, 3, f"a column of type unknown, {format_} files")
        table.make({"id": "long", "nothing": "unknown", "data": "string"})
        table.append(format_, (1, None, "a"), (2, None, None))
        table.mark("all rows")
        table.finish()


for _format in ("parquet", "avro", "orc"):
    _unknown(f"unknown-{_format}", _format)
