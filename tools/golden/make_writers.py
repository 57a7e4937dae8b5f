"""Make the tables that show how each engine writes: the same two statements by every engine that can.

    PYTHON tools/golden/make_writers.py ENGINE [JAR]

ENGINE is ``iceberg-java`` (PYTHON has a PySpark, JAR is the Iceberg runtime for it), ``pyiceberg``, ``polars``,
``daft``, ``chdb``, ``duckdb`` or ``sail``; PYTHON is that of the engine's environment. The tables are written at
`PLACE` and copied to ``vectors/golden/writers/ENGINE-VERSION/vN/``, without what the engine keeps beside them;
``index.json`` there tells the statements, what was refused, and the entries to expect after each, which follow from
the statements and from the way in which the engine deletes. Neither the engine nor our reader is asked for them.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

PLACE = Path("/tmp/iceberg-conformance/writers")
KEPT = Path(__file__).resolve().parents[2] / "vectors" / "golden" / "writers"

INSERT = "INSERT INTO t VALUES (1, 'a', 1.50, TIMESTAMP '2017-11-16 22:31:08 UTC'), (2, 'a', NULL, NULL)"
DELETE = "DELETE FROM t WHERE id = 2"

# What the second statement makes of the one data file with two rows, as (content, status, rows) of each entry.
DELETES = {
    "copy-on-write": [(0, 2, 2), (0, 1, 1)],  # the file is removed, and one with the other row added
    "position-deletes": [(0, 0, 2), (1, 1, 1)],
    "deletion-vector": [(0, 0, 2), (1, 1, 1)],
    "equality-deletes": [(0, 0, 2), (2, 1, 1)],
}
"""Status 0 stands for an entry that may be told as added (its manifest is kept) or existing (it is rewritten)."""


class Tables:
    """The tables of one engine."""

    def __init__(self, engine: str, version: str) -> None:
        self.name = f"{engine}-{version}"
        self.index: dict[str, Any] = {"engine": engine, "version": version, "tables": {}}
        self.place = PLACE / self.name
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir(parents=True)

    def location(self, format_version: int) -> str:
        """Where the table of a format version is written."""
        return str(self.place / f"v{format_version}")

    def record(self, format_version: int, create: str, steps: list[tuple[str, str | None]], delete: str | None) -> None:
        """Keep a table that was written.

        Args:
            format_version: of the table.
            create: how it was created.
            steps: the statements as they were given to the engine, each with what it said where it refused.
            delete: which of `DELETES` the second statement is; None where it was refused or not asked.
        """
        table = self.place / f"v{format_version}"
        kept = KEPT / self.name / table.name
        shutil.rmtree(kept, ignore_errors=True)
        files = sorted(path for path in table.rglob("*") if path.is_file() and not path.name.endswith(".crc"))
        newest = max((path for path in files if path.name.endswith(".metadata.json")), key=_age)
        for path in files:
            if path == newest or path.suffix in (".avro", ".parquet", ".puffin"):
                kept.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, kept / path.name)
        entries = [[{"content": 0, "status": 1, "record_count": 2}]]
        if delete is not None:
            names = ("content", "status", "record_count")
            entries.append([dict(zip(names, entry, strict=True)) for entry in DELETES[delete]])
        self.index["tables"][f"v{format_version}"] = {
            "metadata": newest.name,
            "create": create,
            "statements": [{"statement": text, **({"refused": said} if said else {})} for text, said in steps],
            "delete": delete,
            "entries": entries,
        }

    def close(self) -> None:
        """Write the index."""
        text = json.dumps(self.index, indent=1, ensure_ascii=True)
        (KEPT / self.name / "index.json").write_text(text + "\n", encoding="utf-8")


def _age(path: Path) -> tuple[int, str]:
    """Later metadata files have higher numbers: ``v3.metadata.json``, ``00002-UUID.metadata.json``."""
    digits = path.name.lstrip("v").split(".")[0].split("-")[0]
    return int(digits), path.name


def attempt(statement: str, action: Callable[..., object], *args: object) -> tuple[str, str | None]:
    """A statement, and what the engine said where it refused."""
    try:
        action(*args)
    except Exception as error:
        return statement, str(error).split("\n")[0][:300]
    return statement, None


def attempts(statements: tuple[str, ...], table: str, run: Callable[[str], object]) -> list[tuple[str, str | None]]:
    """Statements in SQL, of the table that is called t in them."""
    return [attempt(text, run, text.replace(" t ", f" {table} ")) for text in statements]


COLUMNS = "id bigint NOT NULL, name string, amount decimal(9, 2), at timestamp"


def iceberg_java(jar: str) -> None:
    """Spark's SQL; deletes merge on read where the format version has them."""
    from pyspark.sql import SparkSession

    made = Tables("iceberg-java", Path(jar).stem.rpartition("-")[2])
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jar).config("spark.ui.enabled", "false")
    for key, value in {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.w": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.w.type": "hadoop",
        "spark.sql.catalog.w.warehouse": f"file://{made.place}",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for version, delete in ((1, "copy-on-write"), (2, "position-deletes"), (3, "deletion-vector")):
        mode = "copy-on-write" if version == 1 else "merge-on-read"
        create = (
            f"CREATE TABLE t ({COLUMNS}) USING iceberg PARTITIONED BY (name) "
            f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='{mode}', "
            "'write.distribution-mode'='none')"
        )
        table = f"w.v{version}"  # in a hadoop catalog, a table is where its name says
        spark.sql(create.replace("TABLE t", f"TABLE {table}"))
        steps = attempts((INSERT, DELETE), table, spark.sql)
        made.record(version, create, steps, delete)
    made.close()
    spark.stop()


def arrow_rows() -> Any:
    """The two rows."""
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            ("name", pa.string()),
            ("amount", pa.decimal128(9, 2)),
            ("at", pa.timestamp("us", "UTC")),
        ]
    )
    at = datetime.datetime(2017, 11, 16, 22, 31, 8, tzinfo=datetime.UTC)
    columns: list[list[Any]] = [[1, 2], ["a", "a"], [Decimal("1.50"), None], [at, None]]
    return pa.table(
        [pa.array(values, type_) for values, type_ in zip(columns, schema.types, strict=True)], schema=schema
    )


def pyiceberg_table(made: Tables, version: int) -> tuple[Any, str]:
    """A new table of PyIceberg, and how it was created."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform
    from pyiceberg.types import DecimalType, LongType, NestedField, StringType, TimestamptzType

    # In a file, as Polars commits in another thread, where a SQLite in memory would be another one.
    catalog = SqlCatalog("c", uri=f"sqlite:///{made.place}/v{version}.db", warehouse=f"file://{made.place}")
    catalog.create_namespace("n")
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "name", StringType(), required=False),
        NestedField(3, "amount", DecimalType(9, 2), required=False),
        NestedField(4, "at", TimestamptzType(), required=False),
    )
    table = catalog.create_table(
        "n.t", schema, location=f"file://{made.location(version)}",
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name")),
        properties={"format-version": str(version)},
    )  # fmt: skip
    return table, f"SqlCatalog.create_table(format-version={version}, partition identity(name))"


def pyiceberg() -> None:
    """Appends and deletes of PyIceberg."""
    made = Tables("pyiceberg", version_of("pyiceberg"))
    for version in (1, 2):
        table, create = pyiceberg_table(made, version)
        steps = [
            attempt("table.append(two rows)", table.append, arrow_rows()),
            attempt("table.delete('id = 2')", table.delete, "id = 2"),
        ]
        made.record(version, create, steps, "copy-on-write")
    made.close()


def polars() -> None:
    """Polars writes data files; PyIceberg commits them."""
    import polars as engine

    made = Tables("polars", version_of("polars"))
    for version in (1, 2):
        table, create = pyiceberg_table(made, version)
        frame = engine.LazyFrame(engine.from_arrow(arrow_rows()))
        step = attempt(
            "LazyFrame.sink_iceberg(table, mode='append')", partial(frame.sink_iceberg, mode="append"), table
        )
        made.record(version, create, [step], None)
    made.close()


def daft() -> None:
    """Daft writes data files; PyIceberg commits them."""
    import daft as engine

    made = Tables("daft", version_of("daft"))
    for version in (1, 2):
        table, create = pyiceberg_table(made, version)
        frame = engine.from_arrow(arrow_rows())
        step = attempt("DataFrame.write_iceberg(table)", frame.write_iceberg, table)
        made.record(version, create, [step], None)
    made.close()


def chdb() -> None:
    """ClickHouse's engine ``IcebergLocal``."""
    from chdb import session

    made = Tables("chdb", version_of("chdb"))
    os.chdir("/")  # ClickHouse writes below the working directory only
    run = session.Session().query
    for setting in ("allow_insert_into_iceberg", "allow_experimental_insert_into_iceberg", "mutations_sync"):
        run(f"SET {setting} = 1")
    columns = "id Int64, name Nullable(String), amount Nullable(Decimal(9, 2)), at Nullable(DateTime64(6, 'UTC'))"
    for version in (1, 2, 3):
        create = (
            f"CREATE TABLE t ({columns}) ENGINE = IcebergLocal('{made.location(version)}') PARTITION BY name "
            f"SETTINGS iceberg_format_version = {version}"
        )
        run(create.replace("TABLE t", f"TABLE t{version}"))
        insert = "INSERT INTO t VALUES (1, 'a', 1.50, '2017-11-16 22:31:08'), (2, 'a', NULL, NULL)"
        delete = "ALTER TABLE t DELETE WHERE id = 2"
        steps = attempts((insert, delete), f"t{version}", run)
        made.record(version, create, steps, None if steps[1][1] else "position-deletes")
    made.close()


def duckdb() -> None:
    """DuckDB, which writes through a REST catalog only: metadata is that of `catalog_server`, all else is DuckDB's.

    Besides the packages of the engine's lock, it needs the one of its extension httpfs, duckdb-extension-httpfs.
    """
    import duckdb as engine
    from catalog_server import NAMESPACE, Table, empty_metadata, serving

    made = Tables("duckdb", version_of("duckdb"))
    types = {"id": "long", "name": "string", "amount": "decimal(9, 2)", "at": "timestamptz"}
    fields = [
        {"id": id_, "name": name, "required": name == "id", "type": type_}
        for id_, (name, type_) in enumerate(types.items(), 1)
    ]
    partition = [{"source-id": 2, "field-id": 1000, "name": "name", "transform": "identity"}]
    tables = {
        f"v{version}": Table(made.place / f"v{version}", empty_metadata(version, fields, partition))
        for version in (1, 2, 3)
    }
    connection = engine.connect(config={"allow_unsigned_extensions": "true", "autoinstall_known_extensions": "false"})
    for extension in ("icu", "httpfs", "avro", "iceberg"):
        package = Path(str(import_module(f"duckdb_extension_{extension}").__file__)).parent
        connection.execute(f"LOAD '{next(package.glob('extensions/*/*.duckdb_extension'))}'")
    with serving(tables) as address:
        connection.execute(f"ATTACH 'w' AS c (TYPE iceberg, ENDPOINT '{address}', AUTHORIZATION_TYPE 'none')")
        for version, delete in ((1, None), (2, "position-deletes"), (3, "deletion-vector")):
            insert = (
                "INSERT INTO t VALUES (1, 'a', 1.50, TIMESTAMPTZ '2017-11-16 22:31:08+00:00'), (2, 'a', NULL, NULL)"
            )
            steps = attempts((insert, DELETE), f"c.{NAMESPACE}.v{version}", connection.execute)
            made.record(
                version,
                f"a table of a REST catalog (format-version={version}, partition identity(name))",
                steps,
                delete,
            )
    made.close()


@contextmanager
def sail_session() -> Iterator[Any]:
    """A session with a server of Sail."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    yield session
    session.stop()
    server.stop()


def sail() -> None:
    """Sail's SQL; deletes merge on read. In v2 these are equality deletes, which it writes without partitions only."""
    made = Tables("sail", version_of("pysail"))
    with sail_session() as session:
        for version, delete in ((1, "equality-deletes"), (2, "equality-deletes"), (3, "deletion-vector")):
            create = (
                f"CREATE TABLE t ({COLUMNS}) USING iceberg {'' if version == 2 else 'PARTITIONED BY (name) '}"
                f"LOCATION 'file://{made.location(version)}' "
                f"TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='merge-on-read')"
            )
            session.sql(create.replace("TABLE t", f"TABLE t{version}")).toArrow()
            steps = attempts((INSERT, DELETE), f"t{version}", lambda text: session.sql(text).toArrow())
            made.record(version, create, steps, None if steps[1][1] else delete)
    made.close()


if __name__ == "__main__":
    makers = (iceberg_java, pyiceberg, polars, daft, chdb, duckdb, sail)
    {maker.__name__.replace("_", "-"): maker for maker in makers}[sys.argv[1]](*sys.argv[2:])
