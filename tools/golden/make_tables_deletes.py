"""Golden tables with position deletes, equality deletes and deletion vectors."""

from __future__ import annotations

from tools.golden.make_tables_kit import golden
from tools.golden.make_tables_spark import JavaTable, Session, SparkTable

COLUMNS = {"id": "long", "data": "string"}


def _positions(name: str, format_: str, granularity: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        files = "data file" if granularity == "file" else granularity
        table = SparkTable(session, name, 2, f"position deletes in {format_}, a delete file for each {files}")
        table.create(
            COLUMNS,
            write_format_default=format_,
            write_delete_format_default=format_,
            **{"write.delete.granularity": granularity},
        )
        table.insert((1, "a"), (2, "b"), (3, None))
        table.insert((4, "d"), (5, "e"), (6, None))
        table.mark("inserted")
        table.delete("id IN (2, 5)", lambda row: row["id"] in (2, 5))
        table.mark("first delete")
        table.delete("data IS NULL AND id < 6", lambda row: row["data"] is None and row["id"] < 6)
        table.mark("second delete")
        table.insert((2, "again"))
        table.mark("inserted again")
        table.finish()


for _format in ("parquet", "avro", "orc"):
    _positions(f"position-deletes-{_format}", _format, "partition")
_positions("position-deletes-by-file", "parquet", "file")
_positions("java-1-10-position-deletes", "orc", "partition", "iceberg-java@1.10.2")


@golden("position-deletes-partitioned", "iceberg-java")
def _position_deletes_partitioned(session: Session) -> None:
    table = SparkTable(session, "position-deletes-partitioned", 2, "position deletes of partitions, one of them null")
    table.create({"id": "long", "p": "string"}, "p", **{"write.delete.granularity": "partition"})
    table.insert((1, "x"), (2, "x"), (3, "y"), (4, None), (5, None))
    table.insert((6, "x"), (7, None))
    table.delete("id IN (2, 5, 6)", lambda row: row["id"] in (2, 5, 6))
    table.mark("deleted")
    table.delete("p = 'x'", lambda row: row["p"] == "x")
    table.mark("partition deleted")
    table.finish()


def _equality(name: str, format_: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        about = f"equality deletes in {format_}: null keys, two sets of columns, rows that are added again"
        table = JavaTable(session, name, 2, about)
        table.make({"id": "long", "data": "string", "d": "double"})
        table.append(format_, (1, "a", 1.0), (2, "b", "NaN"), (3, None, 0.0))
        table.append(format_, (None, "a", -0.0), (None, None, None), (4, "d", 4.0))
        table.mark("appended")
        table.commit_deletes(
            table.equality_delete(format_, {"id": (1, "long")}, [{"id": 2}, {"id": None}]),
            matches=lambda row: row["id"] in (2, None),
        )
        table.mark("deleted by id")
        table.append(format_, (2, "back", None), (None, "a", None))
        by_data = table.equality_delete(
            format_, {"id": (1, "long"), "data": (2, "string")}, [{"id": 3, "data": None}, {"id": 1, "data": "b"}]
        )
        table.commit_deletes(by_data, matches=lambda row: row["id"] == 3)
        table.mark("deleted by two columns")
        table.finish()


for _format in ("parquet", "avro", "orc"):
    _equality(f"equality-deletes-{_format}", _format)
_equality("java-1-10-equality-deletes", "avro", "iceberg-java@1.10.2")


@golden("equality-deletes-types", "iceberg-java")
def _equality_deletes_types(session: Session) -> None:
    table = JavaTable(session, "equality-deletes-types", 2, "equality deletes of dates, decimals, uuids and binary")
    columns = {"n": "int", "day": "date", "dec": "decimal(9, 2)", "u": "uuid", "bin": "binary", "tz": "timestamptz"}
    table.make(columns)
    at = "1969-12-31T23:59:59.999999+00:00"
    low, high = "00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000001"
    table.append("parquet", (1, "1969-12-31", "-1.00", low, "00", at), (2, "1969-12-31", "1.00", high, "FF", at))
    table.append("parquet", (3, "2020-01-01", "1.00", high, "00", None), (4, None, None, None, None, None))
    table.commit_deletes(
        table.equality_delete("parquet", {"u": (4, "uuid")}, [{"u": high}]), matches=lambda row: row["u"] == high
    )
    table.mark("deleted by uuid")
    table.append("parquet", (5, "1969-12-31", "-1.00", low, "00", at), (6, "0001-01-01", "-1.00", low, "7F80", at))
    table.commit_deletes(
        table.equality_delete(
            "parquet",
            {"day": (2, "date"), "dec": (3, "decimal(9, 2)"), "bin": (5, "binary"), "tz": (6, "timestamptz")},
            [{"day": "1969-12-31", "dec": "-1.00", "bin": "00", "tz": at}],
        ),
        matches=lambda row: row["n"] in (1, 5),
    )
    table.mark("deleted by four columns")
    table.finish()


@golden("equality-deletes-scopes", "iceberg-java")
def _equality_deletes_scopes(session: Session) -> None:
    about = "equality deletes of one partition, and global ones of the unpartitioned spec"
    table = JavaTable(session, "equality-deletes-scopes", 2, about)
    table.make({"id": "long", "p": "string"})
    table.append("parquet", (1, "x"), (2, "y"), (3, "z"))
    table.java().updateSpec().addField("p").commit()
    table.record_statement("Java: updateSpec().addField(p)")
    table.append("parquet", (1, "x"), (2, "x"), partition={"p": "x"})
    table.append("parquet", (1, "y"), (2, "y"), partition={"p": "y"})
    table.mark("appended")
    ids, of_partition = {"id": (1, "long")}, table.rows[3]
    table.commit_deletes(
        table.equality_delete("parquet", ids, [{"id": 1}], partition={"p": "x"}),
        matches=lambda row: row is of_partition,
    )
    table.mark("deleted in one partition")
    spec = table.java().specs().get(0)
    table.commit_deletes(
        table.equality_delete("parquet", ids, [{"id": 2}], spec=spec),
        matches=lambda row: row["id"] == 2,
    )
    table.mark("deleted in all partitions")
    table.append("parquet", (2, "y"), partition={"p": "y"})
    table.mark("appended again")
    table.finish()


@golden("equality-deletes-evolved", "iceberg-java")
def _equality_deletes_evolved(session: Session) -> None:
    about = "equality deletes by a column that is dropped later, and by one that was added later than the data"
    table = JavaTable(session, "equality-deletes-evolved", 2, about)
    table.make({"id": "int", "gone": "string"})
    table.append("parquet", (1, "a"), (2, "b"))
    table.append("parquet", (3, "a"), (4, None))
    table.commit_deletes(
        table.equality_delete("parquet", {"gone": (2, "string")}, [{"gone": "a"}]),
        matches=lambda row: row["gone"] == "a",
    )
    table.mark("deleted by the column")
    table.java().updateSchema().deleteColumn("gone").addColumn(
        "late", session.iceberg.types.Types.IntegerType.get()
    ).commit()
    table.record_statement("Java: updateSchema().deleteColumn(gone).addColumn(late, int)")
    table.record_dropped_column("gone")
    table.record_added_column("late", "int")
    table.append("parquet", (5, 5), (6, None), (7, 7))
    table.mark("column dropped")
    table.commit_deletes(
        table.equality_delete("parquet", {"late": (3, "int"), "id": (1, "int")}, [{"late": None, "id": 2}]),
        table.equality_delete("parquet", {"late": (3, "int")}, [{"late": 7}]),
        matches=lambda row: row["id"] in (2, 7),
    )
    table.mark("deleted by the late column")
    table.java().updateSchema().updateColumn("id", session.iceberg.types.Types.LongType.get()).commit()
    table.record_statement("Java: updateSchema().updateColumn(id, long)")
    table.columns["id"] = "long"
    table.append("parquet", (2**40, 1))
    table.commit_deletes(
        table.equality_delete("parquet", {"id": (1, "long")}, [{"id": 2**40}, {"id": 4}]),
        matches=lambda row: row["id"] in (2**40, 4),
    )
    table.mark("deleted by the promoted column")
    table.finish()


@golden("equality-deletes-promoted", "iceberg-java")
def _equality_deletes_promoted(session: Session) -> None:
    about = "equality deletes by a column that is promoted: written as an int, and as a long over files of ints"
    table = JavaTable(session, "equality-deletes-promoted", 2, about)
    table.make({"id": "int", "data": "string"})
    table.append("parquet", (1, "a"), (2, "b"), (3, "c"))
    table.commit_deletes(
        table.equality_delete("parquet", {"id": (1, "int")}, [{"id": 1}]), matches=lambda row: row["id"] == 1
    )
    table.mark("deleted as an int")
    table.java().updateSchema().updateColumn("id", session.iceberg.types.Types.LongType.get()).commit()
    table.record_statement("Java: updateSchema().updateColumn(id, long)")
    table.columns["id"] = "long"
    table.append("parquet", (2**40, "d"), (1, "again"))
    table.mark("promoted")
    table.commit_deletes(
        table.equality_delete("parquet", {"id": (1, "long")}, [{"id": 2}, {"id": 2**40}]),
        matches=lambda row: row["id"] in (2, 2**40),
    )
    table.mark("deleted as a long")
    table.finish()


@golden("deletes-in-one-commit", "iceberg-java")
def _deletes_in_one_commit(session: Session) -> None:
    about = "rows and deletes of one commit: position deletes apply to its files, equality deletes do not"
    table = JavaTable(session, "deletes-in-one-commit", 2, about)
    table.make(COLUMNS)
    table.append("parquet", (1, "old"), (2, "old"), (3, "old"))
    rows = [{"id": 1, "data": "new"}, {"id": 2, "data": "new"}, {"id": 2, "data": "newer"}]
    file = table.data_file("parquet", rows)
    positions = table.position_delete("parquet", [(file, 1)])
    equality = table.equality_delete("parquet", {"id": (1, "long")}, [{"id": 1}, {"id": 2}])
    table.java().newRowDelta().addRows(file).addDeletes(positions).addDeletes(equality).commit()
    table.record_statement("Java: newRowDelta of the rows and both deletes")
    table.record_delete(lambda row: row["id"] in (1, 2))
    table.rows += [rows[0], rows[2]]
    table.mark("upserted")
    table.finish()


def _vectors(name: str, format_: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        table = SparkTable(session, name, 3, f"deletion vectors of files in {format_}")
        table.create(COLUMNS, write_format_default=format_)
        table.insert((1, "a"), (2, "b"), (3, "c"), (4, "d"))
        table.insert((5, "e"), (6, None))
        table.mark("inserted")
        table.delete("id = 2", lambda row: row["id"] == 2)
        table.mark("first delete")
        table.delete("id IN (1, 6)", lambda row: row["id"] in (1, 6))
        table.mark("second delete")
        table.insert((7, "g"))
        table.finish()


for _format in ("parquet", "avro", "orc"):
    _vectors(f"deletion-vectors-{_format}", _format)
_vectors("java-1-10-deletion-vectors", "parquet", "iceberg-java@1.10.2")


@golden("deletion-vectors-after-upgrade", "iceberg-java")
def _deletion_vectors_after_upgrade(session: Session) -> None:
    about = "deletion vectors over older position deletes: the vector of a file replaces them"
    table = SparkTable(session, "deletion-vectors-after-upgrade", 2, about)
    table.create(COLUMNS, **{"write.delete.granularity": "partition"})
    table.insert((1, "a"), (2, "b"), (3, "c"))
    table.insert((4, "d"), (5, "e"), (6, "f"))
    table.delete("id IN (1, 4)", lambda row: row["id"] in (1, 4))
    table.mark("deleted in v2")
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='3')")
    table.version = 3
    table.delete("id = 5", lambda row: row["id"] == 5)
    # The first commit after the upgrade assigns row ids to the manifests without ids, the newest manifest first.
    table.next_row_id = 6
    first = {2: 4, 3: 5, 6: 2}
    for row in table.rows:
        row["_row_id"] = first[row["id"]]
        row["_last_updated_sequence_number"] = 1 if row["id"] < 4 else 2
    table.mark("deleted in v3")
    table.insert((7, "g"))
    table.finish()


@golden("equality-deletes-and-vectors", "iceberg-java")
def _equality_deletes_and_vectors(session: Session) -> None:
    about = "version 3: equality deletes and deletion vectors of the same files"
    table = JavaTable(session, "equality-deletes-and-vectors", 3, about)
    table.make(COLUMNS, write_delete_mode="merge-on-read")
    table.append("parquet", (1, "a"), (2, "b"), (3, "c"))
    table.append("parquet", (1, "d"), (4, "e"))
    table.commit_deletes(
        table.equality_delete("parquet", {"id": (1, "long")}, [{"id": 1}]), matches=lambda row: row["id"] == 1
    )
    table.mark("equality delete")
    table.refresh()
    table.delete("id = 3", lambda row: row["id"] == 3)
    table.mark("deletion vector")
    table.append("parquet", (1, "back"))
    table.mark("key came back")
    table.finish()
