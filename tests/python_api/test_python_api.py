"""The functions that `import spec_ref` and `import conformance` offer."""

from __future__ import annotations

import datetime as dt
import math
import multiprocessing
import re
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pyarrow as pa
import pytest
from nbclient import NotebookClient

import conformance
import spec_ref
from conformance.core.failures import NotExamined
from conformance.table_io.writing import append, create_table
from spec_ref import SpecError, col
from spec_ref.data_types.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    TIMESTAMPTZ_NS,
    UUID,
    DecimalType,
    FixedType,
    NestedField,
    StructType,
)
from tools.docs.notebooks import output

CEST = dt.timezone(dt.timedelta(hours=2))
COLUMNS = (
    NestedField(1, "id", required=True, type=LONG),
    NestedField(2, "name", required=False, type=STRING),
    NestedField(3, "day", required=False, type=DATE),
    NestedField(4, "at", required=False, type=TIMESTAMPTZ),
    NestedField(5, "price", required=False, type=DecimalType(9, 2)),
    NestedField(6, "ratio", required=False, type=DOUBLE),
    NestedField(7, "place", required=False, type=StructType((NestedField(8, "city", required=False, type=STRING),))),
    NestedField(9, "local", required=False, type=TIMESTAMP),
)
ROWS = [
    {
        "id": 1,
        "name": "ab",
        "day": dt.date(2020, 1, 1),
        "price": Decimal("1.50"),
        "ratio": 0.5,
        "place": {"city": "x"},
        "at": dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC),
        "local": dt.datetime(2020, 1, 1, 12),
    },
    {
        "id": 2,
        "name": "b",
        "day": dt.date(2021, 1, 1),
        "price": Decimal("2.00"),
        "ratio": math.nan,
        "place": None,
        "at": dt.datetime(2021, 1, 1, 12, tzinfo=dt.UTC),
        "local": dt.datetime(2021, 1, 1),
    },
    {
        "id": 3,
        "name": None,
        "day": None,
        "price": None,
        "ratio": None,
        "place": {"city": None},
        "at": None,
        "local": None,
    },
]
ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("price", pa.decimal128(9, 2)),
        ("ratio", pa.float64()),
        ("place", pa.struct([("city", pa.string())])),
        ("local", pa.timestamp("us")),
    ]
)


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = tmp_path_factory.mktemp("people")
    table = create_table(str(where / "table"), COLUMNS)
    append(table, pa.Table.from_pylist(ROWS[:2], schema=ARROW))
    append(table, pa.Table.from_pylist(ROWS[2:], schema=ARROW))
    return str(where / "table")


def ids(location: str, filter: Any) -> list[int]:
    return sorted(conformance.read_table(location, select=["id"], filter=filter)["id"].to_pylist())


PREDICATES = [
    (col("id") < 2, "id < 2", [1]),
    (col("id") >= 2, "2 <= id", [2, 3]),
    ((col("id") > 1) & (col("name") == "b"), "id > 1 and name = 'b'", [2]),
    ((col("id") == 1) | (col("id") == 3), "id = 1 or id = 3", [1, 3]),
    (~(col("id") <= 2), "not id <= 2", [3]),
    (col("name").is_null(), "name is null", [3]),
    (col("name").not_null(), "name is not null", [1, 2]),
    (col("name") != "b", "name <> 'b'", [1, 3]),  # as the spec has it: true for null
    (col("name").starts_with("a"), "name like 'a%'", [1]),
    (col("name").starts_with("a"), "starts_with(name, 'a')", [1]),
    (col("name").not_starts_with("a"), "name not like 'a%'", [2, 3]),
    (col("name").is_in(["ab", "c"]), "name in ('ab', 'c')", [1]),
    (col("id").not_in([1, 2]), "id not in (1, 2)", [3]),
    (col("ratio").is_nan(), "is_nan(ratio)", [2]),
    (col("ratio").not_nan() & col("ratio").not_null(), "not is_nan(ratio) and ratio is not null", [1]),
    (col("ratio") < 0.75, "ratio < 0.75", [1]),
    (col("price") == Decimal("1.5"), "price = 1.5", [1]),
    (col("price") > Decimal("1.999"), "price > '1.999'", [2]),
    (col("day") == dt.date(2020, 1, 1), "day = DATE '2020-01-01'", [1]),
    (col("day") > dt.date(2020, 6, 1), "day > '2020-06-01'", [2]),
    (col("at") == dt.datetime(2020, 1, 1, 14, tzinfo=CEST), "at = TIMESTAMP '2020-01-01 12:00:00'", [1]),
    (col("at") >= dt.datetime(2020, 1, 2, tzinfo=dt.UTC), "at >= '2020-01-02'", [2]),
    (col("at") < dt.datetime(2020, 1, 2, tzinfo=dt.UTC), "at < '2020-01-02T00:00:00Z'", [1]),
    (col("local") == dt.datetime(2020, 1, 1, 12), "local = '2020-01-01 12:00:00'", [1]),
    (col("place.city") == "x", "place.city = 'x'", [1]),
    ((col("id") >= 1) & (col("id") <= 2), "id between 1 and 2", [1, 2]),
    (col("id") > -(10**99), f"id > -1{'0' * 99}", [1, 2, 3]),
    (col("ratio") < 10**400, f"ratio < 1{'0' * 400}", [1]),
    (col("ratio") <= -(10**400), f"ratio <= -1{'0' * 400}", []),
    (col("id") == -1, "id = -1", []),
    (col("id") == col("id"), "id = id", [1, 2, 3]),
]


@pytest.mark.parametrize(("predicate", "text", "expected"), PREDICATES, ids=[text for _, text, _ in PREDICATES])
def test_predicates_in_python_and_as_text_find_the_same_rows(
    predicate: Any, text: str, expected: list[int], location: str
) -> None:
    assert ids(location, predicate) == expected
    assert ids(location, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "id",
        "1",
        "id <",
        "drop table x",
        "id = (select 1)",
        "id in (select 1)",
        "name like '%a'",
        "name like 'a_%'",
        "id + 1 = 2",
        "id = null",
        "id <=> 1",
        "lower(name) = 'a'",
        "1 < 2 < 3",
        "id = 1; id = 2",
        "(" * 3000 + "id = 1" + ")" * 3000,
        "id = 1" + " and id = 1" * 20_000,
        "name is true",
        f"id > {'9' * 5000}",
        f"id in (1, -{'9' * 5000})",
        f"price < 1.{'9' * 5000}",
        f"price < 1e{'9' * 20}",
    ],
    ids=range(22),
)
def test_a_filter_that_is_no_condition_is_refused(text: str, location: str) -> None:
    with pytest.raises(conformance.UsageError, match="filter"):
        conformance.read_table(location, filter=text)


@pytest.mark.wording
@pytest.mark.parametrize("text", ["id <", "id < 1 and", "id = = 3"])
def test_a_filter_without_an_operand_says_where(text: str, location: str) -> None:
    with pytest.raises(conformance.UsageError) as raised:
        conformance.read_table(location, filter=text)
    assert "an operand is missing at" in str(raised.value)
    assert "sqlglot" not in str(raised.value)


def test_a_column_that_is_not_there_is_refused(location: str) -> None:
    with pytest.raises(SpecError) as raised:
        conformance.read_table(location, filter="idd < 1")
    assert raised.value.violation.requirement == "EXP003"


def test_names_may_be_spelled_otherwise_where_that_is_asked_for(location: str) -> None:
    found = conformance.read_table(location, select=["ID"], filter="PRICE = 1.5", case_sensitive=False)
    assert found.num_rows == 1


def test_predicates_are_not_true_or_false() -> None:
    with pytest.raises(TypeError, match="&"):
        bool(1 < col("id") < 5)  # type: ignore[operator]
    with pytest.raises(TypeError, match="&"):
        (col("id") < 1) and (col("id") > 1)
    with pytest.raises(TypeError):
        (col("id") < 1) & True


@pytest.mark.parametrize("value", [None, object(), [1], Decimal("NaN"), dt.time(1, tzinfo=dt.UTC), 1j])
def test_what_is_no_constant_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="constant"):
        col("id") == value  # noqa: B015


def test_rows_of_snapshots(location: str) -> None:
    table = conformance.load_table(location)
    first, second = table.metadata.snapshots
    assert conformance.read_table(table).num_rows == 3
    assert conformance.read_table(table, snapshot_id=first.snapshot_id).num_rows == 2
    assert conformance.read_table(table, ref="main").num_rows == 3
    at = dt.datetime.fromtimestamp(second.timestamp_ms / 1000 + 1, dt.UTC)
    assert conformance.read_table(table, as_of=at).num_rows == 3
    assert conformance.read_table(table, as_of=at.replace(tzinfo=None)).num_rows == 3
    with pytest.raises(SpecError):
        conformance.read_table(table, as_of=dt.datetime(2000, 1, 1))


def test_plans_leave_out_files_that_cannot_match(location: str) -> None:
    assert [task.data_file.record_count for task in conformance.plan(location)] == [1, 2]
    assert [task.data_file.record_count for task in conformance.plan(location, filter="id < 3")] == [2]


def test_metadata_of_a_location_and_of_bytes(location: str) -> None:
    table = conformance.load_table(Path(location))
    content = Path(table.metadata_location.removeprefix("file://")).read_bytes()
    assert conformance.read_metadata(content) == conformance.read_metadata(location) == table.metadata
    assert spec_ref.read_metadata(content) == table.metadata
    with pytest.raises(conformance.NotExamined):
        conformance.read_metadata("/no/such/table")


def test_a_table_is_validated(location: str, tmp_path: Path) -> None:
    worst = {conformance.Severity.ERROR, conformance.Severity.WARNING}
    assert not [one for one in conformance.validate(location, level="rows", snapshots="all") if one.severity in worst]
    table = create_table(str(tmp_path / "t"), COLUMNS)
    append(table, pa.Table.from_pylist(ROWS, schema=ARROW))
    for file in (tmp_path / "t" / "data").rglob("*.parquet"):
        file.unlink()
    (missing,) = (one for one in conformance.validate(tmp_path / "t", level="files") if one.severity in worst)
    assert missing.severity is conformance.Severity.ERROR
    left = conformance.validate(tmp_path / "t", level="files", ignore=[missing.check])
    assert {one.severity for one in left} == {conformance.Severity.TOLERATED}
    with pytest.raises(conformance.NotExamined):
        conformance.validate(tmp_path / "nothing")
    with pytest.raises(conformance.UsageError):
        conformance.validate(tmp_path / "t", snapshots="no-such-branch")


@pytest.mark.parametrize(
    ("function", "arguments", "says"),
    [
        (conformance.validate, {"workers": 0}, "workers=0: must be a whole number from 1 to 1024"),
        (conformance.validate, {"workers": -1}, "workers=-1"),
        (conformance.validate, {"workers": 1.5}, "workers=1.5"),
        (conformance.validate, {"workers": 1025}, "workers=1025"),
        (conformance.validate, {"level": "zz"}, "level='zz': must be one of metadata, manifests, files, rows"),
        (conformance.validate, {"level": None}, "level=None"),
        (conformance.read_table, {"ref": "main", "snapshot_id": 1}, "give at most one of snapshot_id, ref and as_of"),
        (conformance.plan, {"ref": "main", "as_of": dt.datetime(2020, 1, 1)}, "at most one"),
        (conformance.read_table, {"as_of": "2020-01-01"}, "as_of='2020-01-01': must be a datetime"),
        (conformance.plan, {"as_of": dt.date(2020, 1, 1)}, "must be a datetime"),
    ],
)
def test_wrong_arguments_are_wrong_usage_and_value_errors(
    function: Any, arguments: dict[str, Any], says: str, location: str
) -> None:
    with pytest.raises(conformance.UsageError, match=re.escape(says)) as raised:
        function(location, **arguments)
    assert isinstance(raised.value, ValueError)


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    "answer", [np.int32(2017239379), object(), CIRCLE, 10**5000, "\ud800", math.nan, b"1", {(1, 2): 3}], ids=range(8)
)
def test_an_answer_that_is_not_json_is_a_crash_and_the_other_vectors_are_run(answer: object) -> None:
    def hash_(args: dict[str, Any]) -> object:
        return answer if args["value"] == 34 else spec_ref.hash_value(args["type"], args["value"])

    results = conformance.run_vectors({"hash": hash_}, names="hash-int").results
    wrong = [result for result in results if result.status != "passed"]
    assert {result.status for result in wrong} == {"crashed"}
    assert all(result.reason.startswith("the answer is not JSON: ") for result in wrong)
    assert 0 < len(wrong) < len(results)


def test_an_unknown_operation_is_wrong_usage() -> None:
    with pytest.raises(conformance.UsageError, match="unknown operation 'hahs'; did you mean hash") as raised:
        conformance.run_vectors({"hahs": lambda _: 0}, suite="hashing")
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("timeout", [-1, 0, math.nan, math.inf])
@pytest.mark.parametrize("adapter", ["cmd:true", {"hash": lambda _: 0}])
def test_a_timeout_that_is_not_positive_is_wrong_usage(timeout: float, adapter: Any) -> None:
    with pytest.raises(conformance.UsageError, match="timeout"):
        conformance.run_vectors(adapter, suite="hashing", timeout=timeout)


def test_a_string_is_one_name(location: str) -> None:
    def codes(**options: Any) -> set[str]:
        return {one.requirement for one in conformance.validate(location, **options)}

    assert codes(select="DFL") == codes(select=["DFL"]) == {"DFL002"}
    assert codes(ignore="DFL") == codes(ignore=["DFL"]) == codes() - {"DFL002"}
    assert conformance.read_table(location, select="id").column_names == ["id"]


def test_vectors_are_run_against_functions() -> None:
    def hash_(args: dict[str, Any]) -> int | None:
        return 0 if args["type"] == "int" else spec_ref.hash_value("long", int(args["value"]))

    found = conformance.run_vectors({"hash": hash_}, names="hash-long or hash-int")
    assert {result.status for result in found.results} == {"passed", "failed"}
    assert all("int" in result.id for result in found.failures)
    assert not conformance.run_vectors("reference", suite="hashing", requirement=["HSH001"]).failures
    with pytest.raises(conformance.NotExamined):
        conformance.run_vectors("cmd:/no/such/adapter", suite="hashing")
    with pytest.raises(conformance.UsageError):
        conformance.run_vectors("reference", suite="no-such-suite")


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [  # the values of Appendix B of the spec
        ("int", 34, 2017239379),
        ("long", 34, 2017239379),
        ("decimal(9,2)", Decimal("14.20"), -500754589),
        ("decimal(9,2)", Decimal("14.2"), -500754589),
        ("date", dt.date(2017, 11, 16), -653330422),
        ("time", dt.time(22, 31, 8), -662762989),
        ("timestamp", dt.datetime(2017, 11, 16, 22, 31, 8), -2047944441),
        ("timestamptz", dt.datetime(2017, 11, 16, 14, 31, 8, tzinfo=dt.timezone(dt.timedelta(hours=-8))), -2047944441),
        ("timestamp_ns", dt.datetime(2017, 11, 16, 22, 31, 8), -2047944441),
        ("string", "iceberg", 1210000089),
        ("uuid", uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), 1488055340),
        ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340),
        ("fixed[4]", bytes(range(4)), -188683207),
        ("binary", bytearray(range(4)), -188683207),
        ("double", 1, -142385009),
        ("long", None, None),
    ],
)
def test_hashes_take_pythons_own_objects(type_: str, value: Any, expected: int | None) -> None:
    assert spec_ref.hash_value(type_, value) == expected


def test_transforms_take_pythons_own_objects() -> None:
    assert spec_ref.apply_transform("month", "date", dt.date(1970, 3, 1)) == 2
    assert spec_ref.apply_transform(spec_ref.parse_transform("truncate[10]"), spec_ref.parse_type("int"), -1) == -10
    assert spec_ref.apply_transform("truncate[50]", "decimal(9,2)", Decimal("10.65")) == Decimal("10.50")


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (DATE, dt.datetime(2020, 1, 1)),
        (TIMESTAMP, dt.datetime(2020, 1, 1, tzinfo=dt.UTC)),
        (TIMESTAMPTZ, dt.datetime(2020, 1, 1)),
        (TIMESTAMP_NS, dt.date(2020, 1, 1)),
        (TIMESTAMPTZ_NS, dt.datetime(2500, 1, 1, tzinfo=dt.UTC)),
        (TIME, dt.time(1, tzinfo=dt.UTC)),
        (DecimalType(3, 1), Decimal("1.25")),
        (DecimalType(3, 1), Decimal("1e9")),
        (DecimalType(3, 1), Decimal("NaN")),
        (UUID, "no uuid"),
        (FixedType(2), b"abc"),
        (BINARY, "text"),
        (BOOLEAN, 1),
        (INT, True),
        (FLOAT, 0.1),
        (DOUBLE, 2**60),
    ],
)
def test_what_is_no_value_of_the_type_is_refused(type_: Any, value: Any) -> None:
    with pytest.raises(SpecError):
        spec_ref.hash_value(type_, value)


@pytest.mark.parametrize("module", [spec_ref, conformance])
def test_every_name_is_there_and_documented(module: Any) -> None:
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
    assert set(module.__all__) <= set(dir(module))
    with pytest.raises(AttributeError, match="nothing"):
        module.nothing  # noqa: B018


def test_an_import_imports_nothing_until_a_name_is_used() -> None:
    program = (
        "import sys, spec_ref, conformance; print([one for one in ('attrs', 'numpy', 'pyarrow') if one in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.wording
def test_the_notebook_shows_what_it_prints() -> None:
    path = Path(__file__).parents[2] / "docs" / "from-python.ipynb"
    stored, run = (nbformat.read(path, as_version=4) for _ in range(2))
    NotebookClient(run, timeout=300, kernel_name="python3").execute()
    code = [index for index, cell in enumerate(stored.cells) if cell.cell_type == "code"]
    assert [output(run.cells[index]) for index in code] == [output(stored.cells[index]) for index in code]
    assert any(output(stored.cells[index]) for index in code)


def test_a_script_may_check_tables_with_several_workers_outside_of_a_main_block(tmp_path: Path) -> None:
    location = (tmp_path / "t").as_uri()
    append(create_table(location, COLUMNS), pa.Table.from_pylist(ROWS, schema=ARROW))
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, conformance\nprint(conformance.validate(sys.argv[1], level='rows', workers=2))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "t")], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("()\n", "")


def test_a_daemon_that_may_start_no_process_checks_tables_with_one_worker_only(tmp_path: Path) -> None:
    location = (tmp_path / "t").as_uri()
    append(create_table(location, COLUMNS), pa.Table.from_pylist(ROWS, schema=ARROW))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(conformance.validate, (location,), {"level": "rows"}) == ()
        with pytest.raises(NotExamined, match="daemons of multiprocessing"):
            pool.apply(conformance.validate, (location,), {"level": "rows", "workers": 2})


def test_threads_check_tables_with_several_workers_at_once(tmp_path: Path) -> None:
    location = (tmp_path / "t").as_uri()
    append(create_table(location, COLUMNS), pa.Table.from_pylist(ROWS, schema=ARROW))
    main = sys.modules["__main__"]
    with ThreadPoolExecutor(4) as threads:
        checks = [threads.submit(conformance.validate, location, level="rows", workers=2) for _ in range(8)]
        assert {check.result() for check in checks} == {()}
    assert sys.modules["__main__"] is main


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: spec_ref.read_metadata(5), "not int"),  # type: ignore[arg-type]
        (lambda: spec_ref.read_metadata(Path("v1.metadata.json")), "not .*Path"),  # type: ignore[arg-type]
        (lambda: spec_ref.check_metadata(None), "not NoneType"),  # type: ignore[arg-type]
        (lambda: spec_ref.hash_value(None, 1), "not NoneType"),  # type: ignore[arg-type]
        (lambda: spec_ref.apply_transform("bucket[4]", 7, 1), "not int"),  # type: ignore[arg-type]
        (lambda: spec_ref.apply_transform(None, "int", 1), "not NoneType"),  # type: ignore[arg-type]
        (lambda: col(5), "not int"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_a_wrong_python_type_are_refused_by_name(call: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        call()
