"""Golden tables partitioned by every transform, with evolving specs, and with names that are difficult in paths."""

from __future__ import annotations

from tools.golden.make_tables_kit import golden
from tools.golden.make_tables_spark import JavaTable, Session, SparkTable
from tools.golden.make_tables_types import FOR_ORC

UUIDS = ("00000000-0000-0000-0000-000000000001", "f79c3e09-677c-4bbd-a479-3f349cb785e7")

IDENTITIES = {
    "b": "boolean",
    "i": "int",
    "l": "long",
    "dec": "decimal(9, 2)",
    "day": "date",
    "ts": "timestamp",
    "tz": "timestamptz",
    "s": "string",
    "u": "uuid",
    "bin": "binary",
}
IDENTITY_ROWS = (
    (
        1,
        True,
        -1,
        2**62,
        "-14.20",
        "1969-12-31",
        "1969-12-31T23:59:59.999999",
        "1969-12-31T23:59:59.999999+00:00",
        "a",
        UUIDS[1],
        "00FF",
    ),
    (
        2,
        False,
        0,
        0,
        "0.00",
        "1970-01-01",
        "1970-01-01T00:00:00.000000",
        "1970-01-01T00:00:00.000000+00:00",
        "",
        UUIDS[0],
        "",
    ),
    (3, *[None] * len(IDENTITIES)),
)


def _identity(name: str, version: int, format_: str) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = JavaTable(session, name, version, f"identity partitions of every type, {format_}")
        table.make({"n": "int", **IDENTITIES}, [("identity", column) for column in IDENTITIES])
        rows = [
            tuple(FOR_ORC.get(value, value) if format_ == "orc" else value for value in row) for row in IDENTITY_ROWS
        ]
        table.append_partitioned(format_, *rows)
        table.mark("all rows")
        table.finish()


_identity("partition-identity-v1", 1, "parquet")
_identity("partition-identity-v2", 2, "avro")
_identity("partition-identity-v3", 3, "orc")

BUCKETS = {name: type_ for name, type_ in IDENTITIES.items() if name != "b"}


@golden("partition-bucket", "iceberg-java")
def _bucket(session: Session) -> None:
    table = JavaTable(session, "partition-bucket", 2, "bucket partitions of every type that has a hash")
    table.make({"n": "int", **BUCKETS}, [("bucket[16]", column) for column in BUCKETS])
    table.append_partitioned("parquet", *((row[0], *row[2:]) for row in IDENTITY_ROWS))
    table.mark("all rows")
    table.finish()


@golden("partition-bucket-uuid", "iceberg-java")
def _bucket_uuid(session: Session) -> None:
    about = "uuids with and without the top bit, in buckets"
    table = JavaTable(session, "partition-bucket-uuid", 2, about)
    table.make({"u": "uuid", "n": "int"}, [("bucket[4]", "u")])
    table.append_partitioned("parquet", (UUIDS[0], 1), (UUIDS[1], 2), ("80000000-0000-0000-0000-000000000000", 3))
    table.append_partitioned("parquet", ("7fffffff-ffff-ffff-ffff-ffffffffffff", 4), (None, 5))
    table.mark("all rows")
    table.finish()


@golden("partition-truncate", "iceberg-java")
def _truncate(session: Session) -> None:
    table = JavaTable(session, "partition-truncate", 2, "truncate partitions of every type that has them")
    columns = {"n": "int", "i": "int", "l": "long", "dec": "decimal(9, 2)", "s": "string", "bin": "binary"}
    widths = {"i": 10, "l": 1000, "dec": 50, "s": 3, "bin": 2}
    table.make(columns, [(f"truncate[{width}]", column) for column, width in widths.items()])
    table.append_partitioned(
        "parquet",
        (1, -1, -1, "-0.01", "\u00e9\u4e2d\U0001f600tail", "00FF01"),
        (2, 9, 999, "0.49", "\u00e9\u4e2d\U0001f600", "00FF"),
        (3, 10, 1000, "0.50", "ab", "00"),
        (4, None, None, None, None, None),
    )
    table.append_partitioned("parquet", (5, -10, -1000, "-0.50", "", ""), (6, -11, -1001, "-0.51", "abc", "00FF02"))
    table.mark("all rows")
    table.finish()


def _times(name: str, format_: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        about = f"year, month, day and hour partitions before and after 1970, {format_}"
        table = SparkTable(session, name, 2, about)
        columns = {"n": "int", "y": "date", "m": "timestamptz", "d": "timestamp", "h": "timestamptz"}
        table.create(columns, "years(y), months(m), days(d), hours(h)", write_format_default=format_)
        z = "+00:00"
        rows = [
            (
                1,
                "1969-12-31",
                f"1969-12-31T23:59:59.999999{z}",
                "1969-12-31T23:59:59.999999",
                f"1969-12-31T23:59:59.999999{z}",
            ),
            (
                2,
                "1970-01-01",
                f"1970-01-01T00:00:00.000000{z}",
                "1970-01-01T00:00:00.000000",
                f"1970-01-01T00:00:00.000000{z}",
            ),
            (
                3,
                "1969-01-01",
                f"1969-11-30T23:59:59.999999{z}",
                "1969-12-30T23:59:59.999999",
                f"1969-12-31T22:59:59.999999{z}",
            ),
            (
                4,
                "1968-12-31",
                f"1969-12-01T00:00:00.000000{z}",
                "1969-12-31T00:00:00.000000",
                f"1969-12-31T23:00:00.000000{z}",
            ),
            (
                5,
                "2017-11-16",
                f"2017-11-16T22:31:08.000000{z}",
                "2017-11-16T22:31:08.000000",
                f"2017-11-16T22:31:08.000001{z}",
            ),
            (
                6,
                "1583-01-01",
                f"1600-02-29T12:00:00.000000{z}",
                "1600-02-29T12:00:00.000000",
                f"1600-02-29T12:00:00.000000{z}",
            ),
            (7, None, None, None, None),
        ]
        if format_ == "orc":
            far = {"1600-02-29T12:00:00.000000": "1700-02-28T12:00:00.000000"}
            changes = {**FOR_ORC, **far, **{key + z: value + z for key, value in far.items()}}
            table.insert(*[tuple(changes.get(value, value) for value in row) for row in rows])
        else:
            table.insert(*rows)
        table.mark("all rows")
        table.finish()


for _format in ("parquet", "avro", "orc"):
    _times(f"partition-time-{_format}", _format)
_times("java-1-10-partition-time", "parquet", "iceberg-java@1.10.2")


@golden("partition-floats", "iceberg-java")
def _floats(session: Session) -> None:
    about = "identity partitions of floats: NaN, both zeros and infinities"
    table = JavaTable(session, "partition-floats", 2, about)
    table.make({"n": "int", "f": "float", "d": "double"}, [("identity", "f"), ("identity", "d")])
    table.append_partitioned(
        "parquet",
        (1, "NaN", "NaN"),
        (2, -0.0, -0.0),
        (3, 0.0, 0.0),
        (4, "Infinity", "-Infinity"),
        (5, 1.5, -1.5),
        (6, None, None),
    )
    table.mark("all rows")
    table.finish()


@golden("partition-evolution-v1", "iceberg-java")
def _evolution_v1(session: Session) -> None:
    about = "a version 1 table whose partition fields were added, replaced and dropped: dropped fields become void"
    table = SparkTable(session, "partition-evolution-v1", 1, about)
    table.create({"id": "int", "data": "string", "day": "date"}, "data, bucket(4, id)")
    table.insert((1, "a", "1969-12-31"), (2, "b", None), (3, None, "2020-01-01"))
    table.mark("first spec")
    table.sql("ALTER TABLE {t} DROP PARTITION FIELD data")
    table.insert((4, "a", "1969-12-31"), (5, None, "1970-01-01"))
    table.mark("without data")
    table.sql("ALTER TABLE {t} ADD PARTITION FIELD days(day)")
    table.insert((6, "a", "1969-12-31"), (7, "b", None))
    table.mark("by day")
    table.sql("ALTER TABLE {t} DROP PARTITION FIELD bucket(4, id)")
    table.sql("ALTER TABLE {t} ALTER COLUMN id TYPE bigint")
    table.columns["id"] = "long"
    table.insert((2**40, "a", "1969-12-31"))
    table.mark("all dropped but day")
    table.finish()


@golden("partition-evolution-v2", "iceberg-java")
def _evolution_v2(session: Session) -> None:
    about = "a table whose partition spec changed: unpartitioned, by day, by hour, by bucket, fields renamed"
    table = SparkTable(session, "partition-evolution-v2", 2, about)
    table.create({"id": "long", "ts": "timestamptz", "data": "string"})
    old, new = "1969-12-31T23:30:00.000000+00:00", "2020-01-01T01:30:00.000000+00:00"
    table.insert((1, old, "a"), (2, new, "b"), (3, None, None))
    table.mark("unpartitioned")
    table.sql("ALTER TABLE {t} ADD PARTITION FIELD days(ts) AS day")
    table.insert((4, old, "a"), (5, new, None))
    table.mark("by day")
    table.sql("ALTER TABLE {t} REPLACE PARTITION FIELD day WITH hours(ts)")
    table.insert((6, old, "c"), (7, None, "c"))
    table.mark("by hour")
    table.sql("ALTER TABLE {t} ADD PARTITION FIELD truncate(1, data) AS first")
    table.sql("ALTER TABLE {t} ADD PARTITION FIELD bucket(8, id)")
    table.insert((8, new, "\u00e9\u00e9"), (9, old, ""))
    table.mark("by three fields")
    table.delete("id IN (2, 5, 9)", lambda row: row["id"] in (2, 5, 9))
    table.mark("deleted")
    table.sql("ALTER TABLE {t} DROP PARTITION FIELD first")
    table.sql("ALTER TABLE {t} RENAME COLUMN data TO label")
    table.record_renamed_column("data", "label")
    table.insert((10, old, "z"))
    table.mark("renamed source")
    table.finish()


@golden("partition-source-dropped", "iceberg-java")
def _source_dropped(session: Session) -> None:
    about = "a partition field whose source column was dropped after the field was removed from the spec"
    table = SparkTable(session, "partition-source-dropped", 2, about)
    table.create({"id": "long", "p": "string"}, "p")
    table.insert((1, "x"), (2, None))
    table.sql("ALTER TABLE {t} DROP PARTITION FIELD p")
    table.insert((3, "x"))
    table.sql("ALTER TABLE {t} DROP COLUMN p")
    table.record_dropped_column("p")
    table.insert((4,))
    table.mark("dropped")
    table.finish()


@golden("names-special", "iceberg-java")
def _names(session: Session) -> None:
    about = "names that Avro does not allow, and partition values that paths have to escape"
    table = SparkTable(session, "names-special", 2, about)
    names = ["a b", "\u00e9\u4e2d", "1st", "per%cent", "q'uote", "x=y", "_", "A_x20B"]
    table.create(dict.fromkeys(names, "string"), "`a b`, `\u00e9\u4e2d`, truncate(2, `1st`)")
    values = [
        "a/b",
        "a=b&c%20d",
        "",
        " ",
        "\u00e9\u4e2d\U0001f600",
        "null",
        "__HIVE_DEFAULT_PARTITION__",
        ".",
        "..",
        "a\\b",
        "#?:",
        "x\ty\n",
        None,
    ]
    table.insert(*((value, value, value, "p", value, None, str(n), "q") for n, value in enumerate(values)))
    table.mark("all rows")
    table.finish()


@golden("names-avro", "iceberg-java")
def _names_avro(session: Session) -> None:
    from tools.golden.make_tables_kit import struct

    about = "names that Avro does not allow, in Avro data files, and names with a dot"
    table = SparkTable(session, "names-avro", 2, about)
    inside = struct((6, "in side", "int"), (7, "9", "string"))
    table.create(
        {"a b": "int", "\u00e9\u4e2d": "long", "1st": "string", "x.y": "int", "s-t": inside},
        write_format_default="avro",
    )
    table.insert((1, 2, "a", 3, {"in side": 4, "9": "b"}), (None, None, None, None, None))
    table.mark("all rows")
    table.finish()
