"""Tables read in Spark have the same rows as those read locally, with columns and filters pushed into planning."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pyarrow as pa
import pytest

from conformance.engine_setup import launch
from conformance.operations.reading.comparators import compare_rows
from conformance.table_io.encryption import KEY_ID, load_key_file
from conformance.table_io.local import plan_read, read_table
from conformance.table_io.spark_types import spark_batch, spark_schema
from conformance.table_io.tables import load_table
from conformance.table_io.writing import append, create_table
from conformance.vectors import golden_tables
from conformance.vectors.golden_places import PLACE
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation

pytestmark = pytest.mark.engine

TABLES = (
    "types-v2-parquet",
    "nested-avro",
    "position-deletes-orc",
    "equality-deletes-scopes",
    "deletion-vectors-parquet",
)
BROKEN = "broken-dv-checksum"

SCRIPT = """
import json, sys
from conformance.adapter_sdk.arrow_rows import answer
from conformance.engines.spark_reference.adapter import start_spark
from conformance.table_io.spark import read_dataframe
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation

def collect_arrow(frame):
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema
    return pyarrow.Table.from_batches(frame._collect_as_arrow(), schema=to_arrow_schema(frame.schema))

place, types, broken, encrypted, keys = json.loads(sys.argv[1])
spark = start_spark()
results = {"rows": {}, "partitions": {}}
for name in types:
    frame = read_dataframe(spark, f"{place}/{name}", select=list(types[name]))
    results["partitions"][name] = frame.rdd.getNumPartitions()
    results["rows"][name] = answer(collect_arrow(frame), types[name])["rows"]
import conformance.table_io.spark as reading
limit, reading.MAX_SENT_BYTES = reading.MAX_SENT_BYTES, 1
name = "equality-deletes-scopes"
frame = read_dataframe(spark, f"{place}/{name}", select=list(types[name]), partitions=2)
results["divided"] = [answer(collect_arrow(frame), types[name])["rows"], frame.rdd.getNumPartitions()]
plan = frame._jdf.queryExecution().sparkPlan()
while plan.nodeName() != "Union":
    plan = plan.children().head()
results["divided_parts"] = plan.execute().getNumPartitions()
reading.MAX_SENT_BYTES = limit
first = Comparison(Operation.EQ, NamedReference("id"), Literal(1))
frame = read_dataframe(spark, f"{place}/position-deletes-orc", select=["_pos", "id"], filter=first, partitions=1)
results["selected"] = [row.asDict() for row in frame.collect()]
try:
    read_dataframe(spark, f"{place}/{broken}").collect()
except Exception as error:
    results["broken"] = str(error)
from conformance.table_io.encryption import load_key_file
from conformance.table_io.writing import open_table, spark as on_spark
service = load_key_file(keys)
table = open_table(encrypted, keys=service)
on_spark.append(table, spark.createDataFrame([(2, "secret"), (3, None)], "id long, s string"))
on_spark.delete(spark, table, Comparison(Operation.EQ, NamedReference("id"), Literal(3)))
frame = read_dataframe(spark, encrypted, select=["id", "s"], key_service=service)
results["encrypted"] = sorted([row.id, row.s] for row in frame.collect())
if hasattr(spark, "dataSource"):
    from conformance.table_io.spark_source import IcebergReference
    spark.dataSource.register(IcebergReference)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    reader = spark.read.format("iceberg-reference").option("columns", "id,_file")
    found = reader.load(f"{place}/position-deletes-orc").where("id >= 4 and id in (4, 6) and id is not null")
    results["source"] = sorted(row.id for row in found.collect())
    opened = spark.read.format("iceberg-reference").option("columns", "id,s").option("keys", keys).load(encrypted)
    results["encrypted_source"] = sorted([row.id, row.s] for row in opened.collect())
    results["source_tasks"] = found.rdd.getNumPartitions()
    results["plan"] = found._jdf.queryExecution().executedPlan().toString()
spark.stop()
print(json.dumps(results))
"""


def current(name: str) -> tuple[dict[str, Any], list[Any]]:
    """The types and rows of a golden table's current state; rows of v3 tables have the columns of row lineage too."""
    state = next(one for one in golden_tables.index(name)["states"] if one["label"] == "current")
    return {**state["types"], **dict.fromkeys(state["rows"][0].keys() - state["types"].keys(), "long")}, state["rows"]


@pytest.fixture(scope="module", params=["spark-reference", "spark-reference@3.5.9"])
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    golden_tables.materialize([*TABLES, BROKEN])
    engine = launch(request.param)
    folder = tmp_path_factory.mktemp("encrypted")
    keys, table = folder / "keys.json", folder / "table"
    keys.write_text(json.dumps({"master": b"0123456789012345".hex()}), encoding="utf-8")
    fields = (NestedField(1, "id", required=True, type=LONG), NestedField(2, "s", required=False, type=STRING))
    service, properties = load_key_file(keys), {KEY_ID: "master", "write.delete.mode": "merge-on-read"}
    first = create_table(str(table), fields, version=V3, properties=properties, keys=service)
    append(first, pa.table({"id": [1], "s": ["secret"]}))
    types = {name: current(name)[0] for name in TABLES}
    asked = json.dumps([str(PLACE), types, BROKEN, str(table), str(keys)])
    command = [engine.command[0], "-c", SCRIPT, asked]
    ended = subprocess.run(command, env=engine.env, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    answer["plain"] = [path.name for path in table.rglob("*.*") if b"secret" in path.read_bytes()]
    return answer


def test_every_data_file_is_a_partition(results: dict[str, Any]) -> None:
    for name in TABLES:
        _, tasks = plan_read(load_table(f"{PLACE}/{name}"))
        assert results["partitions"][name] == len(list(tasks)), name


def test_many_tasks_are_sent_in_parts(results: dict[str, Any]) -> None:
    name = "equality-deletes-scopes"
    types, rows = current(name)
    found, partitions = results["divided"]
    assert compare_rows({"types": types}, {"rows": rows}, {"rows": found}) == ()
    assert partitions == 2
    assert results["divided_parts"] >= 2


def test_rows_are_those_that_the_statements_made(results: dict[str, Any]) -> None:
    for name in TABLES:
        types, rows = current(name)
        assert compare_rows({"types": types}, {"rows": rows}, {"rows": results["rows"][name]}) == (), name


def test_columns_and_filter_are_pushed_into_the_planning(results: dict[str, Any]) -> None:
    table = load_table(f"{PLACE}/position-deletes-orc")
    first = Comparison(Operation.EQ, NamedReference("id"), Literal(1))
    here = read_table(table, select=["_pos", "id"], filter=first).read_all().to_pylist()
    assert results["selected"] == here


def test_broken_file_fails_the_job_with_its_code_and_location(results: dict[str, Any]) -> None:
    assert "PUF018" in results["broken"]
    assert f"{PLACE}/{BROKEN}/" in results["broken"]


def test_source_takes_filters_that_mean_the_same(results: dict[str, Any]) -> None:
    if "source" not in results:
        assert "plan" not in results  # Spark 3.5 has no sources in Python
        return
    table = load_table(f"{PLACE}/position-deletes-orc")
    here = read_table(table, select=["id"]).read_all().column("id").to_pylist()
    assert results["source"] == sorted(value for value in here if value in (4, 6))
    assert "Filter (" not in results["plan"]


def test_an_encrypted_table_is_written_and_read_with_its_keys(results: dict[str, Any]) -> None:
    assert results["encrypted"] == [[1, "secret"], [2, "secret"]]
    assert results["plain"] == []
    if "source" in results:
        assert results["encrypted_source"] == results["encrypted"]


def test_batches_for_spark_keep_values_that_it_has_no_types_for() -> None:
    golden_tables.materialize(["types-v3-parquet"])
    read = read_table(load_table(f"{PLACE}/types-v3-parquet"), threads=1).read_all().combine_chunks()
    (batch,) = read.to_batches()
    made = spark_batch(batch)
    assert made.schema == spark_schema(batch.schema)
    kinds = {name: str(made.schema.field(name).type) for name in ("u", "fx", "tod", "tsn", "tzn", "ts", "tz")}
    assert kinds == {
        "u": "string",
        "fx": "binary",
        "tod": "int64",
        "tsn": "int64",
        "tzn": "int64",
        "ts": "timestamp[us]",
        "tz": "timestamp[us, tz=UTC]",
    }
    assert made.column("u").to_pylist() == [None if one is None else str(one) for one in batch.column("u").to_pylist()]
