"""Make the golden metadata files that engines write for tables with a history; the contents follow from statements.

    python -m tools.golden.make_metadata [ENGINE...]

Each engine makes, in a separate environment (see ``conformance/engines``), a table of each format version and one that
is upgraded from version to version. It runs the same statements on all of them, as far as it supports them. It writes
no data, only manifests of files that do not exist. The last metadata file of each table, and the first of one, is
stored in ``vectors/golden/metadata``, with an index that has the engine and the statements. The files have random ids
and times, so that a file that is made again differs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "vectors" / "golden" / "metadata"
PLACE = Path("/tmp/iceberg-conformance/metadata")
INSIDE = "ICEBERG_CONFORMANCE_MAKING_METADATA"
ENGINES = ("iceberg-java", "iceberg-java@1.10.2", "pyiceberg")

POINT = {
    "type": "struct",
    "fields": [
        {"id": 5, "name": "x", "required": True, "type": "double"},
        {"id": 6, "name": "y", "required": False, "type": "double"},
    ],
}
TAGS = {"type": "list", "element-id": 7, "element-required": True, "element": "string"}
PRICES = {"type": "map", "key-id": 8, "key": "string", "value-id": 9, "value-required": False, "value": "decimal(9, 2)"}
SCHEMA: dict[str, Any] = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "int"},
        {"id": 2, "name": "data", "required": False, "type": "string", "doc": "what there is"},
        {"id": 3, "name": "ts", "required": False, "type": "timestamptz"},
        {"id": 4, "name": "point", "required": False, "type": POINT},
        {"id": 10, "name": "tags", "required": False, "type": TAGS},
        {"id": 11, "name": "prices", "required": False, "type": PRICES},
    ],
}
"""The schema with which every table is created. Creation assigns new ids, those of a level before those inside it."""

PROPERTIES = {"owner": "golden", "write.format.default": "parquet"}
MAPPING = '[{"field-id": 1, "names": ["id", "key"]}]'


class Java:
    """Iceberg-Java, used through its API, without Spark's SQL."""

    versions = (1, 2, 3)

    def __init__(self) -> None:
        from pyspark import SparkConf
        from pyspark.java_gateway import launch_gateway

        jars = os.environ["ICEBERG_CONFORMANCE_JARS"]
        conf = SparkConf().set("spark.driver.extraClassPath", jars).set("spark.driver.memory", "512m")
        self.gateway = launch_gateway(conf)
        self.jvm = self.gateway.jvm
        self.iceberg = self.jvm.org.apache.iceberg
        self.version = str(self.iceberg.IcebergBuild.version())
        self.tables = self.iceberg.hadoop.HadoopTables(self.jvm.org.apache.hadoop.conf.Configuration())

    def close(self) -> None:
        """End the virtual machine."""
        self.gateway.shutdown()
        if process := getattr(self.gateway, "proc", None):
            process.stdin.close()

    def strings(self, values: dict[str, str]) -> Any:
        """Convert a dict to a Java map."""
        made = self.jvm.java.util.HashMap()
        for name, value in values.items():
            made.put(name, value)
        return made

    def create(self, name: str, version: int, say: Callable[[str], None]) -> Any:
        """Create a table of a format version, partitioned and sorted."""
        schema = self.iceberg.SchemaParser.fromJson(json.dumps(SCHEMA))
        spec = self.iceberg.PartitionSpec.builderFor(schema).bucket("id", 16).day("ts").build()
        ascending = self.iceberg.NullOrder.NULLS_FIRST
        order = self.iceberg.SortOrder.builderFor(schema).asc("id", ascending).build()
        properties = self.strings({**PROPERTIES, "format-version": str(version)})
        say(f"create: format version {version}, partitioned by bucket[16](id), day(ts), sorted by id, {PROPERTIES}")
        return self.tables.create(schema, spec, order, properties, f"file:{PLACE / self.version / name}")

    def append(self, table: Any, number: int, say: Callable[[str], None]) -> int:
        """Commit a snapshot with one more file of ten rows; return its id."""
        builder = self.iceberg.DataFiles.builder(table.spec()).withPath(f"{table.location()}/data/{number}.parquet")
        file = builder.withFileSizeInBytes(1000).withRecordCount(10).build()
        table.newAppend().appendFile(file).commit()
        say(f"append file {number}: 10 rows")
        return int(table.currentSnapshot().snapshotId())

    def change(self, table: Any, version: int, say: Callable[[str], None]) -> None:
        """Change the schema, the spec and the sort order."""
        types = self.iceberg.types.Types
        update = table.updateSchema().addColumn("added", types.LongType.get(), "came later")
        if version >= 3:
            literal = self.iceberg.expressions.Literal.of
            update = update.addColumn("color", types.StringType.get(), "with defaults", literal("red"))
            update = update.addColumn("nanos", types.TimestampNanoType.withZone())
            update = update.addColumn("any", types.VariantType.get())
            say("add columns color string (defaults 'red'), nanos timestamptz_ns, any variant")
        update.renameColumn("data", "text").deleteColumn("tags").commit()
        say("add column added long, rename data to text, drop tags")
        table.updateSchema().updateColumn("id", types.LongType.get()).commit()
        table.updateSchema().setIdentifierFields(self.jvm.java.util.Collections.singleton("id")).commit()
        say("promote id to long; id identifies rows")
        update = table.updateSpec().removeField("ts_day")
        update.addField("text_trunc", self.iceberg.expressions.Expressions.truncate("text", 4)).commit()
        say("remove partition field ts_day, add truncate[4](text) as text_trunc")
        order = self.iceberg.NullOrder.NULLS_LAST
        expressions = self.iceberg.expressions.Expressions
        sorted_ = table.replaceSortOrder().desc(expressions.ref("text"), order)
        sorted_.asc(expressions.bucket("id", 8), order).commit()
        say("sort by text desc nulls last, bucket[8](id) asc nulls last")

    def add_references(self, table: Any, first: int, say: Callable[[str], None]) -> None:
        """Create a branch and a tag with retention."""
        manage = table.manageSnapshots().createTag("first", first).setMaxRefAgeMs("first", 10**12)
        manage = manage.createBranch("audit", first).setMinSnapshotsToKeep("audit", 3)
        manage.setMaxSnapshotAgeMs("audit", 10**11).commit()
        say("tag first at the first snapshot, kept 10^12 ms; branch audit there, 3 snapshots, 10^11 ms")

    def add_statistics(self, table: Any, snapshot: int, say: Callable[[str], None]) -> None:
        """Add statistics and partition statistics to a snapshot, and a name mapping to the table."""
        lists = self.jvm.java.util.ArrayList
        number = table.snapshot(snapshot).sequenceNumber()
        fields, blobs = lists(), lists()
        fields.add(1)
        blob = self.iceberg.GenericBlobMetadata(
            "apache-datasketches-theta-v1", snapshot, number, fields, self.strings({"ndv": "10"})
        )
        blobs.add(blob)
        file = self.iceberg.GenericStatisticsFile(snapshot, f"{table.location()}/metadata/s.stats", 413, 42, blobs)
        table.updateStatistics().setStatistics(file).commit()
        builder = self.iceberg.ImmutableGenericPartitionStatisticsFile.builder().snapshotId(snapshot)
        part = builder.path(f"{table.location()}/metadata/p.parquet").fileSizeInBytes(43).build()
        table.updatePartitionStatistics().setPartitionStatistics(part).commit()
        table.updateProperties().set("schema.name-mapping.default", MAPPING).commit()
        say("statistics of the last snapshot: 413 bytes, footer 42, a theta sketch of id")
        say("partition statistics of the last snapshot: 43 bytes")
        say(f"schema.name-mapping.default = {MAPPING}")

    def encrypt(self, table: Any, say: Callable[[str], None]) -> None:
        """Add an encryption key."""
        data = self.jvm.java.nio.ByteBuffer.wrap(b"iceberg")
        key = self.iceberg.encryption.BaseEncryptedKey("k1", data, "master", self.strings({"rank": "1"}))
        operations = table.operations()
        before = operations.current()
        after = self.iceberg.TableMetadata.buildFrom(before).addEncryptionKey(key).build()
        operations.commit(before, after)
        table.refresh()
        say("encryption key k1, encrypted by master")

    def upgrade(self, table: Any, version: int, say: Callable[[str], None]) -> None:
        """Upgrade the table to a newer format version."""
        table.updateProperties().set("format-version", str(version)).commit()
        say(f"upgrade to {version}")

    def file(self, table: Any) -> Path:
        """Return the metadata file of a table."""
        table.refresh()
        return Path(str(table.operations().current().metadataFileLocation()).removeprefix("file:"))


class Python:
    """PyIceberg, which cannot write v3."""

    versions = (1, 2)

    def __init__(self) -> None:
        import pyiceberg
        from pyiceberg.catalog.memory import InMemoryCatalog

        self.version = pyiceberg.__version__
        self.catalog = InMemoryCatalog("golden", warehouse=f"file://{PLACE}")
        self.catalog.create_namespace("db")

    def close(self) -> None:
        """Do nothing."""

    def create(self, name: str, version: int, say: Callable[[str], None]) -> Any:
        """Create a table of a format version, partitioned and sorted."""
        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
        from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform

        schema = Schema.model_validate_json(json.dumps(SCHEMA))
        spec = PartitionSpec(
            PartitionField(1, 1000, BucketTransform(16), "id_bucket"), PartitionField(3, 1001, DayTransform(), "ts_day")
        )
        order = SortOrder(
            SortField(1, IdentityTransform(), direction=SortDirection.ASC, null_order=NullOrder.NULLS_FIRST)
        )
        properties = {**PROPERTIES, "format-version": str(version)}
        say(f"create: format version {version}, partitioned by bucket[16](id), day(ts), sorted by id, {PROPERTIES}")
        location = f"file://{PLACE / self.version / name}"
        return self.catalog.create_table(f"db.{name}", schema, location, spec, order, properties)

    def append(self, table: Any, number: int, say: Callable[[str], None]) -> int:
        """Commit a snapshot with one more file of ten rows; return its id."""
        from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
        from pyiceberg.typedef import Record

        spec = table.spec()
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            file = DataFile.from_args(
                content=DataFileContent.DATA,
                file_path=f"{table.location()}/data/{number}.parquet",
                file_format=FileFormat.PARQUET,
                partition=Record(3, *[None] * (len(spec.fields) - 1)),
                record_count=10,
                file_size_in_bytes=1000,
            )
            file.spec_id = spec.spec_id
            append.append_data_file(file)
        say(f"append file {number}: 10 rows")
        return int(table.current_snapshot().snapshot_id)

    def change(self, table: Any, version: int, say: Callable[[str], None]) -> None:
        """Change the schema, the spec and the sort order."""
        from pyiceberg.table.sorting import NullOrder
        from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
        from pyiceberg.types import LongType

        with table.update_schema() as update:
            update.add_column("added", LongType(), "came later")
            update.rename_column("data", "text")
            update.delete_column("tags")
        say("add column added long, rename data to text, drop tags")
        with table.update_schema() as update:
            update.update_column("id", LongType())
        with table.update_schema() as update:
            update.set_identifier_fields("id")
        say("promote id to long; id identifies rows")
        with table.update_spec() as update:
            update.remove_field("ts_day")
            update.add_field("text", TruncateTransform(4), "text_trunc")
        say("remove partition field ts_day, add truncate[4](text) as text_trunc")
        with table.update_sort_order() as update:
            update.desc("text", IdentityTransform(), NullOrder.NULLS_LAST)
            update.asc("id", BucketTransform(8), NullOrder.NULLS_LAST)
        say("sort by text desc nulls last, bucket[8](id) asc nulls last")

    def add_references(self, table: Any, first: int, say: Callable[[str], None]) -> None:
        """Create a branch and a tag with retention."""
        with table.manage_snapshots() as manage:
            manage.create_tag(first, "first", 10**12)
            manage.create_branch(first, "audit", max_snapshot_age_ms=10**11, min_snapshots_to_keep=3)
        say("tag first at the first snapshot, kept 10^12 ms; branch audit there, 3 snapshots, 10^11 ms")

    def add_statistics(self, table: Any, snapshot: int, say: Callable[[str], None]) -> None:
        """Add statistics to a snapshot, and a name mapping to the table."""
        from pyiceberg.table.statistics import BlobMetadata, StatisticsFile

        number = table.snapshot_by_id(snapshot).sequence_number or 0
        blob = BlobMetadata(
            type="apache-datasketches-theta-v1",
            snapshot_id=snapshot,
            sequence_number=number,
            fields=[1],
            properties={"ndv": "10"},
        )
        path = f"{table.location()}/metadata/s.stats"
        file = StatisticsFile(
            snapshot_id=snapshot,
            statistics_path=path,
            file_size_in_bytes=413,
            file_footer_size_in_bytes=42,
            blob_metadata=[blob],
        )
        with table.update_statistics() as update:
            update.set_statistics(file)
        with table.transaction() as transaction:
            transaction.set_properties({"schema.name-mapping.default": MAPPING})
        say("statistics of the last snapshot: 413 bytes, footer 42, a theta sketch of id")
        say(f"schema.name-mapping.default = {MAPPING}")

    def upgrade(self, table: Any, version: int, say: Callable[[str], None]) -> None:
        """Upgrade the table to a newer format version."""
        with table.transaction() as transaction:
            transaction.upgrade_table_version(format_version=version)
        say(f"upgrade to {version}")

    def file(self, table: Any) -> Path:
        """Return the metadata file of a table."""
        return Path(table.refresh().metadata_location.removeprefix("file://"))


def spawn(engine: str) -> None:
    """Make the files of an engine in its environment."""
    from conformance.engine_setup import launch

    started = launch(engine)
    path = os.pathsep.join([started.env["PYTHONPATH"], str(ROOT)])
    env = {**started.env, "PYTHONPATH": path, INSIDE: engine}
    subprocess.run([started.command[0], "-m", "tools.golden.make_metadata"], env=env, check=True, cwd=ROOT)


def make(engine: str) -> list[dict[str, Any]]:
    """Make the files of the engine of this environment, and return their index."""
    maker: Any = Python() if engine == "pyiceberg" else Java()
    label = f"{engine.partition('@')[0]}-{maker.version}"
    files: list[dict[str, Any]] = []

    def keep(name: str, table: Any, statements: list[str]) -> None:
        file = f"{label}-{name}.metadata.json"
        shutil.copy(maker.file(table), KEPT / file)
        files.append(
            {"file": file, "engine": engine.partition("@")[0], "version": maker.version, "statements": [*statements]}
        )

    def history(name: str, version: int, *upgrades: int) -> None:
        statements: list[str] = []
        table = maker.create(name, version, statements.append)
        if name == "v2":
            keep("v2-created", table, statements)
        first = maker.append(table, 1, statements.append)
        for newer in upgrades:
            maker.upgrade(table, newer, statements.append)
            maker.append(table, newer, statements.append)
        newest = max(version, *upgrades, 1)
        maker.change(table, newest, statements.append)
        last = maker.append(table, 9, statements.append)
        maker.add_references(table, first, statements.append)
        maker.add_statistics(table, last, statements.append)
        if newest >= 3 and hasattr(maker, "encrypt"):
            maker.encrypt(table, statements.append)
        keep(name, table, statements)

    try:
        for version in maker.versions:
            history(f"v{version}", version)
        history("upgraded", *maker.versions)
    finally:
        maker.close()
    return files


def main() -> None:
    """Make the files of the given engines, or of all."""
    inside = os.environ.get(INSIDE)
    if inside is None:
        shutil.rmtree(PLACE, ignore_errors=True)
        for engine in sys.argv[1:] or ENGINES:
            spawn(engine)
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    index = KEPT / "index.json"
    known = json.loads(index.read_text()) if index.exists() else []
    made = make(inside)
    files = {one["file"]: one for one in [*known, *made]}
    index.write_text(json.dumps([files[name] for name in sorted(files)], indent=1) + "\n")


if __name__ == "__main__":
    run_without_parser(main)
