"""Golden tables with a history: branches, tags, expired snapshots, upgrades, rewritten files and row lineage."""

from __future__ import annotations

import time

from tools.golden.make_tables_kit import golden
from tools.golden.make_tables_spark import JavaTable, Session, SparkTable

COLUMNS = {"id": "long", "data": "string"}
FORMATS = ("parquet", "avro", "orc")


@golden("branches-and-tags", "iceberg-java")
def _branches(session: Session) -> None:
    table = SparkTable(session, "branches-and-tags", 2, "branches, a tag, and a schema that changed after the tag")
    table.create(COLUMNS)
    table.insert((1, "a"))
    table.mark("first")
    table.sql("ALTER TABLE {t} CREATE TAG `first tag`")
    table.sql("ALTER TABLE {t} CREATE BRANCH other")
    table.insert((2, "b"), branch="other")
    other = [*table.rows, {"id": 2, "data": "b"}]
    table.mark("other branch", ref="other", rows=other, branch="other")
    table.insert((3, "c"))
    table.mark("main goes on")
    table.sql("ALTER TABLE {t} ADD COLUMN more int")
    table.record_added_column("more", "int")
    table.insert((4, "d", 4))
    table.mark("main has another column")
    table.states.append(
        {"label": "tag", "ref": "first tag", "types": dict(COLUMNS), "rows": [{"id": "1", "data": "a"}]}
    )
    table.finish()


@golden("snapshots-expired", "iceberg-java")
def _expired(session: Session) -> None:
    about = "most snapshots expired, and the files that only they had removed; one kept by a tag"
    table = SparkTable(session, "snapshots-expired", 2, about)
    table.create(COLUMNS)
    table.insert((1, "a"), (2, "b"))
    table.sql("ALTER TABLE {t} CREATE TAG kept")
    table.mark("kept by a tag")
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('write.delete.mode'='copy-on-write')")
    table.delete("id = 1", lambda row: row["id"] == 1)
    table.insert((3, "c"))
    table.insert((4, "d"))
    time.sleep(0.1)
    table.sql(
        "CALL golden.system.expire_snapshots(table => 'tables.`snapshots-expired`', retain_last => 1, "
        "older_than => TIMESTAMP '2100-01-01 00:00:00')"
    )
    table.mark("after expiry")
    table.finish()


@golden("rolled-back", "iceberg-java")
def _rolled_back(session: Session) -> None:
    about = "a table that was rolled back: the log of current snapshots and the lineage of snapshots differ"
    table = SparkTable(session, "rolled-back", 2, about)
    table.create(COLUMNS)
    table.insert((1, "a"))
    table.mark("first")
    first = table.states[-1]["snapshot"]
    table.insert((2, "b"))
    table.mark("second")
    time.sleep(0.05)
    table.sql(f"CALL golden.system.rollback_to_snapshot('tables.`rolled-back`', {first})")
    table.rows = table.rows[:1]
    time.sleep(0.05)
    table.insert((3, "c"))
    table.mark("third")
    log = [[entry["timestamp-ms"], str(entry["snapshot-id"])] for entry in table.metadata()["snapshot-log"]]
    table.finish(snapshot_log=log)


@golden("upgraded-v1-v2-v3", "iceberg-java")
def _upgraded(session: Session) -> None:
    about = "a table that began in version 1 and was upgraded twice, with rows and deletes of every version"
    table = SparkTable(session, "upgraded-v1-v2-v3", 1, about)
    table.create({"id": "long", "data": "string"}, "data")
    table.insert((1, "a"), (2, "a"), (3, "b"))
    table.insert(
        (4, None),
    )
    table.mark("version 1")
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')")
    table.version, table.sequence_number = 2, 0
    table.insert((5, "b"), (6, "b"))
    table.delete("id IN (1, 5)", lambda row: row["id"] in (1, 5))
    table.mark("version 2")
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='3')")
    table.version = 3
    # The first commit assigns row ids to all manifests: the new one first, then the older ones, from newest to oldest.
    new = table.insert((7, "c"))
    new[0]["_row_id"] = 0
    ids = {6: 2, 4: 3, 2: 5, 3: 6}
    table.next_row_id = 7
    for row in table.rows:
        if row["id"] in ids:
            row["_row_id"] = ids[row["id"]]
            row["_last_updated_sequence_number"] = 1 if row["id"] == 6 else 0
    table.finish()


def _lineage(name: str, format_: str, engine: str = "iceberg-java") -> None:
    @golden(name, engine)
    def make(session: Session) -> None:
        about = f"row lineage in {format_}: appends, updates that keep row ids, deletes, and a compaction"
        table = SparkTable(session, name, 3, about)
        table.create(COLUMNS, write_format_default=format_)
        table.insert((1, "a"), (2, "b"), (3, "c"))
        table.insert((4, "d"), (5, "e"))
        table.mark("appended")
        table.sql("UPDATE {t} SET data = 'B' WHERE id = 2")
        table.record_update(lambda row: row["id"] == 2, data="B")
        table.mark("updated")
        table.delete("id = 4", lambda row: row["id"] == 4)
        table.mark("deleted")
        table.sql(
            f"CALL golden.system.rewrite_data_files(table => 'tables.`{name}`', options => map('rewrite-all', 'true'))"
        )
        table.record_commit()
        table.next_row_id += len(table.rows)  # a new file is assigned ids, although its rows keep theirs
        table.mark("compacted")
        table.insert((6, "f"))
        table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('write.update.mode'='copy-on-write')")
        table.sql("UPDATE {t} SET data = 'E' WHERE id = 5")
        table.record_update(lambda row: row["id"] == 5, rewritten=4, data="E")
        table.finish()


for _format in FORMATS:
    _lineage(f"row-lineage-{_format}", _format)
_lineage("java-1-10-row-lineage", "parquet", "iceberg-java@1.10.2")


def _empty(name: str, version: int) -> None:
    @golden(name, "iceberg-java")
    def make(session: Session) -> None:
        table = SparkTable(session, name, version, "a table without any snapshot")
        table.create({"id": "long", "data": "string"}, "data")
        table.finish()


for _version in (1, 2, 3):
    _empty(f"empty-v{_version}", _version)


@golden("empty-emptied", "iceberg-java")
def _emptied(session: Session) -> None:
    table = SparkTable(session, "empty-emptied", 2, "a table whose rows were all deleted: no manifest has a live file")
    table.create(COLUMNS)
    table.insert((1, "a"))
    table.mark("one row")
    table.delete("true", lambda _row: True)
    table.mark("no rows")
    table.finish()


@golden("metadata-gzip", "iceberg-java")
def _gzip(session: Session) -> None:
    table = SparkTable(session, "metadata-gzip", 2, "metadata compressed with gzip")
    table.create(COLUMNS, **{"write.metadata.compression-codec": "gzip"})
    table.insert((1, "a"), (2, None))
    table.mark("all rows")
    table.finish()


@golden("manifests-rewritten", "iceberg-java")
def _rewritten(session: Session) -> None:
    about = "manifests rewritten into one, whose existing entries keep their sequence numbers and row ids"
    table = SparkTable(session, "manifests-rewritten", 3, about)
    table.create(COLUMNS)
    table.insert((1, "a"), (2, "b"))
    table.insert((3, "c"))
    table.delete("id = 1", lambda row: row["id"] == 1)
    table.mark("before")
    table.sql("CALL golden.system.rewrite_manifests('tables.`manifests-rewritten`')")
    table.record_commit()
    table.next_row_id += 3  # the new manifest is assigned ids for its existing rows, which keep their ids
    table.mark("after")
    table.insert((4, "d"))
    table.finish()


@golden("manifests-rewritten-v2", "iceberg-java")
def _rewritten_v2(session: Session) -> None:
    about = "manifests rewritten into one: equality deletes still apply to the older files alone"
    table = JavaTable(session, "manifests-rewritten-v2", 2, about)
    table.make(COLUMNS)
    table.append("parquet", (1, "a"), (2, "b"))
    table.commit_deletes(
        table.equality_delete("parquet", {"id": (1, "long")}, [{"id": 1}]), matches=lambda row: row["id"] == 1
    )
    table.append("parquet", (1, "back"))
    table.mark("before")
    table.refresh()
    table.sql("CALL golden.system.rewrite_manifests('tables.`manifests-rewritten-v2`')")
    table.record_commit()
    table.mark("after")
    table.finish()


@golden("bounds-truncated", "iceberg-java")
def _bounds(session: Session) -> None:
    about = "strings and bytes longer than their bounds, which are truncated to 16 characters or bytes"
    table = SparkTable(session, "bounds-truncated", 2, about)
    table.create({"n": "int", "s": "string", "bin": "binary"})
    long = "sixteen letters." + "x" * 40
    astral = "\U0001f600" * 15 + "\U0010ffff" * 5
    table.insert((1, long + "a", "00" * 15 + "FF" * 5), (2, long + "c", "00" * 20))
    table.insert((3, long + "b", "FF" * 20), (4, "sixteen letters.", "00" * 16))
    table.insert((5, astral, "0F" * 17), (6, "\U0010ffff" * 20, "FF" * 17), (7, None, None))
    table.mark("all rows")
    table.finish()


@golden("float-metrics", "iceberg-java")
def _float_metrics(session: Session) -> None:
    about = "files of floats: only NaN, only nulls, both zeros, infinities, and some of each"
    table = SparkTable(session, "float-metrics", 2, about)
    table.create({"n": "int", "f": "float", "d": "double"})
    table.insert((1, "NaN", "NaN"), (2, "NaN", "NaN"))
    table.insert((3, None, None), (4, None, "NaN"))
    table.insert((5, -0.0, -0.0))
    table.insert((6, 0.0, 0.0), (7, "NaN", None))
    table.insert((8, "-Infinity", "Infinity"), (9, 1.5, -1.5))
    table.mark("all rows")
    table.finish()


@golden("metrics-none", "iceberg-java")
def _metrics_none(session: Session) -> None:
    about = "files without counts and bounds of their columns"
    table = SparkTable(session, "metrics-none", 2, about)
    table.create({"n": "int", "s": "string"}, **{"write.metadata.metrics.default": "none"})
    table.insert((1, "a"), (2, None))
    table.insert((3, "c"))
    table.mark("all rows")
    table.finish()
