"""Tables written in Spark have the same rows as those written locally, and failed writes leave no files."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conformance.engine_setup import launch
from conformance.table_io import writing
from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.table_io.writing import Mode, WhenMatched
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.core.versions import V2, V3, FormatVersion
from spec_ref.data_types.types import (
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    UUID,
    DecimalType,
    FixedType,
    ListType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket

pytestmark = pytest.mark.engine

SCRIPT = """
import json, os, pathlib, sys
import pyarrow as pa
from conformance.engines.spark_reference.adapter import start_spark
from conformance.table_io.writing import Mode, WhenMatched, delete_keys, open_table, spark as on_spark
from spec_ref.core.errors import SpecError
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation

spark = start_spark()
ROW = "id long, s string, u string, d decimal(9,2), t long, w timestamp_ntz, f binary, "
ROW += "st struct<a: int, u: string>, l array<int>, m map<string, bigint>"

def rows(ids, text):
    made = [(n, text, f"00000000-0000-0000-0000-{n:012x}", None, n * 1000, None, bytes([n, 0, 1]), (n, None), [n, None],
             {"k": n}) for n in ids]
    return spark.createDataFrame(made, ROW).repartition(2)

def below(number):
    return Comparison(Operation.LT, NamedReference("id"), Literal(number))

def files(place):
    return sorted(str(path) for path in pathlib.Path(place).rglob("*") if path.is_file())

def kill(batches):
    for batch in batches:
        yield batch
        os._exit(9)

results = {}
for place, mode in json.loads(sys.argv[1]):
    table, mode = open_table(place), Mode(mode)
    on_spark.append(table, rows(range(20), "first"))
    on_spark.delete(spark, table, below(3), mode=mode)
    delete_keys(table, pa.table({"id": [9, 10, 11, 12]}))
    on_spark.update(spark, table, {"s": "updated"}, below(6), mode=mode)
    source = pa.table({"id": [5, 7, 90], "s": ["merged"] * 3})
    on_spark.merge(spark, table, source, ["id"], mode=mode)
    on_spark.merge(spark, table, pa.table({"id": [8]}), ["id"], matched=WhenMatched.DELETE, insert=False, mode=mode)
    on_spark.overwrite(table, rows([1, 2], "overwritten"), below(5), mode=mode)
    on_spark.compact(spark, table, min_files=1)
    on_spark.overwrite_partitions(table, rows([1], "partition"))
    before, head = files(place), table.metadata.current_snapshot_id
    wrong = spark.createDataFrame([(1, "x"), (None, "y")], "id long, s string")
    short = spark.createDataFrame([(1, bytearray(b"1"))], "id long, f binary")
    killed = rows(range(40), "killed").coalesce(1).mapInArrow(kill, ROW)
    errors = []
    for frame in (wrong, short, spark.range(2).select(), killed):
        try:
            on_spark.append(table, frame)
            errors.append("nothing was wrong")
        except SpecError as error:
            errors.append(str(error))
        except Exception as error:
            errors.append(type(error).__name__)
    results[place] = {"errors": errors, "left": [path for path in files(place) if path not in before],
                   "gone": [path for path in before if path not in files(place)],
                   "head": table.refresh().metadata.current_snapshot_id == head}
by_dots = spark.range(3).toDF("a.b")
on_spark.append(open_table(sys.argv[2]), by_dots.select("`a.b`", (by_dots["`a.b`"] + 10).alias("A.B")))
bounds = []
for own in (None, "1000000"):
    if own is not None:
        spark.conf.set(on_spark.BATCH_BYTES, own)
    with on_spark._rows_counted(spark):
        bounds.append(spark.conf.get(on_spark.BATCH_BYTES))
    bounds.append(spark.conf.get(on_spark.BATCH_BYTES, None))
results["bounds"] = bounds
spark.stop()
print(json.dumps(results))
"""

INNER = StructType((NestedField(9, "a", False, INT), NestedField(10, "u", False, UUID)))
FIELDS = (
    NestedField(1, "id", True, LONG),
    NestedField(2, "s", False, STRING),
    NestedField(3, "u", False, UUID),
    NestedField(4, "d", False, DecimalType(9, 2)),
    NestedField(5, "t", False, TIME),
    NestedField(6, "w", False, TIMESTAMP),
    NestedField(7, "f", False, FixedType(3)),
    NestedField(8, "st", False, INNER),
    NestedField(11, "l", False, ListType(12, INT, element_required=False)),
    NestedField(13, "m", False, MapType(14, STRING, 15, LONG, value_required=False)),
)
SPEC = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="b", transform=Bucket(4)),))
TABLES = {
    "spark-reference": [(V2, Mode.MERGE_ON_READ), (V3, Mode.MERGE_ON_READ)],
    "spark-reference@3.5.9": [(V3, Mode.COPY_ON_WRITE)],
}
CASES = [
    pytest.param(engine, *table, id=f"{engine}-v{table[0]}-{table[1].value}")
    for engine, tables in TABLES.items()
    for table in tables
]
every_table = pytest.mark.parametrize(("engine", "version", "mode"), CASES)


def rows(ids: Any, text: str) -> pa.Table:
    listed = list(ids)
    return pa.table(
        {
            "id": listed,
            "s": [text] * len(listed),
            "u": pa.array([n.to_bytes(16) for n in listed], pa.binary(16)),
            "t": pa.array([n * 1000 for n in listed], pa.time64("us")),
            "f": [bytes([n, 0, 1]) for n in listed],
            "st": [{"a": n, "u": None} for n in listed],
            "l": [[n, None] for n in listed],
            "m": pa.array([[("k", n)] for n in listed], pa.map_(pa.string(), pa.int64())),
        }
    )


def below(number: int) -> Comparison:
    return Comparison(Operation.LT, NamedReference("id"), Literal(number))


def table_path(folder: Path, version: FormatVersion, mode: Mode) -> str:
    return f"{folder}/v{version}-{mode.value}"


Written = dict[str, tuple[Path, dict[str, Any]]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """By engine: the folder of its tables, and its results."""
    return {engine: write(engine, tmp_path_factory.mktemp("tables")) for engine in TABLES}


def write(engine: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    asked = []
    for version, mode in TABLES[engine]:
        place = table_path(folder, version, mode)
        writing.create_table(place, FIELDS, spec=SPEC, version=version)
        asked.append([place, mode.value])
    odd = f"{folder}/odd-names"
    writing.create_table(odd, (NestedField(1, "A.B", False, LONG), NestedField(2, "a.b", False, LONG)))
    started = launch(engine)
    command = [started.command[0], "-c", SCRIPT, json.dumps(asked), odd]
    ended = subprocess.run(command, env=started.env, capture_output=True, text=True, timeout=600, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    document: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return folder, document


def here(place: str, version: FormatVersion, mode: Mode) -> writing.WritableTable:
    """A table of the same operations, done here."""
    table = writing.create_table(place, FIELDS, spec=SPEC, version=version)
    writing.append(table, rows(range(20), "first"))
    writing.delete(table, below(3), mode=mode)
    writing.delete_keys(table, pa.table({"id": [9, 10, 11, 12]}))
    writing.update(table, {"s": "updated"}, below(6), mode=mode)
    writing.merge(table, pa.table({"id": [5, 7, 90], "s": ["merged"] * 3}), ["id"], mode=mode)
    matched = WhenMatched.DELETE
    writing.merge(table, pa.table({"id": [8]}), ["id"], matched=matched, insert=False, mode=mode)
    writing.overwrite(table, rows([1, 2], "overwritten"), below(5), mode=mode)
    writing.compact(table, min_files=1)
    writing.overwrite_partitions(table, rows([1], "partition"))
    return table


def sorted_rows(table: Any, snapshot_id: int, *names: str) -> list[dict[str, Any]]:
    select = None if not names else list(names)
    read = read_table(table, snapshot_id=snapshot_id, select=select).read_all()
    return sorted(read.to_pylist(), key=lambda row: row["id"])


@every_table
def test_every_snapshot_has_the_rows_of_the_same_operations_here(
    written: Written, tmp_path: Path, engine: str, version: FormatVersion, mode: Mode
) -> None:
    there = load_table(table_path(written[engine][0], version, mode))
    ours = here(f"{tmp_path}/t", version, mode).table
    logs = [[one.snapshot_id for one in table.metadata.snapshot_log] for table in (there, ours)]
    assert len(logs[0]) == len(logs[1]) == 9
    for theirs, mine in zip(*logs, strict=True):
        assert sorted_rows(there, theirs) == sorted_rows(ours, mine)


@pytest.mark.parametrize("engine", TABLES)
def test_columns_may_have_names_with_dots_that_differ_by_case(written: Written, engine: str) -> None:
    read = read_table(load_table(f"{written[engine][0]}/odd-names")).read_all()
    assert sorted(read.to_pylist(), key=lambda row: row["a.b"]) == [{"A.B": n + 10, "a.b": n} for n in range(3)]


@pytest.mark.parametrize("engine", TABLES)
def test_batches_end_by_rows_unless_the_session_bounds_their_bytes(written: Written, engine: str) -> None:
    assert written[engine][1]["bounds"] == [str((1 << 31) - 1), None, "1000000", "1000000"]


@every_table
def test_tables_are_valid(written: Written, engine: str, version: FormatVersion, mode: Mode) -> None:
    report = validate(table_path(written[engine][0], version, mode), Level.ROWS, LocalBackend())
    assert [one for one in report.findings if one.severity.value == "error"] == []


@pytest.mark.parametrize(("engine", "version", "mode"), [case for case in CASES if case.values[1] is V3])
def test_rows_that_stay_keep_their_ids(written: Written, engine: str, version: FormatVersion, mode: Mode) -> None:
    table = load_table(table_path(written[engine][0], version, mode))
    log = [one.snapshot_id for one in table.metadata.snapshot_log]
    ids = [{row["id"]: row["_row_id"] for row in sorted_rows(table, one, "id", "_row_id")} for one in log]
    assert sorted(ids[0].values()) == list(range(20))
    for before, after in pairwise(ids[:6]):  # deleted, deleted by keys, updated, merged, deleted
        assert all(before[key] == number for key, number in after.items() if key in before)
    assert ids[7] == ids[6]  # compacted


@every_table
def test_writes_that_fail_leave_nothing(written: Written, engine: str, version: FormatVersion, mode: Mode) -> None:
    folder, answers = written[engine]
    answer = answers[table_path(folder, version, mode)]
    null, fixed, no_columns, killed = answer["errors"]
    assert "TYP002" in null
    assert "/id" in null
    assert "/f" in fixed
    assert "TYP002" in no_columns
    assert "2 rows" in no_columns
    assert killed in ("PythonException", "Py4JJavaError")
    assert (answer["left"], answer["gone"], answer["head"]) == ([], [], True)
