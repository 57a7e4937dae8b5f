"""A check in Spark has the same findings as a local one."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clusters import installed
from stalled import STALLED, TABLE, stalled_store, stalled_table  # noqa: F401 - a fixture

import conformance
from conformance.core.failures import NotExamined
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.remote import RemoteSpark
from conformance.validator.run import SnapshotSelection, UnreadableTable, validate
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import index, materialize, table_names
from tests.validate.corruptions.statistics import PARTITIONED, partition_statistics
from tools.grid.workbench import Workbench

pytestmark = pytest.mark.engine

FEW = ("row-lineage-parquet", "broken-dv-checksum", "broken-manifest-missing", "equality-deletes-scopes")
ALL = SnapshotSelection("all")

SECONDS = 12.0
"""How long the file of a store that never answers is waited for."""


def test_spark_and_this_machine_find_the_same(store: socket.socket, tmp_path: Path) -> None:
    wanted = (
        [name for name in table_names() if "engine" in index(name)]
        if os.environ.get("VALIDATE_SPARK") == "all"
        else FEW
    )
    materialize([*wanted, TABLE])
    made = _with_partition_statistics(tmp_path)
    stalled = stalled_table(tmp_path)
    nothing = str(tmp_path / "nothing")
    with RemoteSpark(Level.ROWS, "local[1]", SECONDS) as there:
        for location in (*(str(PLACE / name) for name in wanted), made, stalled):
            here = validate(location, Level.ROWS, LocalBackend(), ALL, SECONDS)
            assert there.check(location, ALL) == here
            assert here.findings
            assert location != stalled or any(one.violation.found == repr(STALLED) for one in here.findings)
            assert location != made or "STA020" in {finding.requirement for finding in here.findings}
        for check in (lambda: there.check(nothing, ALL), lambda: validate(nothing, Level.ROWS, LocalBackend(), ALL)):
            with pytest.raises(UnreadableTable, match="no such file"):
                check()


def test_spark_is_interrupted_and_reports_what_it_found(store: socket.socket, tmp_path: Path) -> None:
    materialize([TABLE])
    command = [
        sys.executable,
        "-m",
        "conformance",
        "validate",
        stalled_table(tmp_path),
        "--engine",
        "spark",
        "--master",
        "local[1]",
        "--level",
        "files",
        "--format",
        "json",
    ]
    store.settimeout(300)
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0) as process,
        store.accept()[0],  # the file is asked for
    ):
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert errors == b"iceberg-conformance: interrupted: the report is not complete\n"
    (table,) = json.loads(out)["tables"]
    assert table["complete"] is False
    assert "NOT005" in {one["code"] for one in table["findings"]}


@pytest.mark.parametrize(
    ("master", "reason"),
    [
        ("nosuch://x", "SparkException: Master must either be yarn or start with spark, k8s, or local"),
        ("local[x]", "SparkException: Could not parse Master URL: 'local[x]'"),
    ],
)
def test_a_master_that_spark_does_not_accept_is_the_reason(master: str, reason: str) -> None:
    materialize([FEW[0]])
    with RemoteSpark(Level.METADATA, master) as there, pytest.raises(NotExamined, match=re.escape(reason)):
        there.check(str(PLACE / FEW[0]), ALL)


def test_a_session_in_the_process_of_the_tool_that_does_not_start_has_a_reason() -> None:
    spark = installed()
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "validate", ".", "--engine", "spark", "--master", "nosuch://x"],
        env={**spark.env, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(Path(spark.home).parent)])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "iceberg-conformance: Spark did not start: " in done.stderr
    assert "SparkException: Master must either be yarn or start with spark, k8s, or local" in done.stderr


def _with_partition_statistics(folder: Path) -> str:
    """A version of a table with partition statistics that count a file too many."""
    materialize([PARTITIONED])
    bench = Workbench(PARTITIONED, folder)
    statistics = partition_statistics(bench, lambda rows: rows[0].update(data_file_count=9))
    stored = folder / "statistics.parquet"
    stored.write_bytes(bench.replaced[statistics["statistics-path"]] or b"")
    statistics["statistics-path"] = f"file://{stored}"
    version = folder / "v9.metadata.json"
    version.write_text(json.dumps(bench.metadata))
    return str(version)


def submitted(tables: list[str], *conf: str) -> tuple[list[str], dict[str, str]]:
    """The command of `spark-submit` with one worker on this machine, and its environment."""
    spark = installed()
    tool = str(Path(conformance.__file__).with_name("__main__.py"))
    options = ["--master", "local[1]", "--driver-memory", "512m", *conf]
    command = [f"{spark.home}/bin/spark-submit", *options, tool, "validate", "--engine", "spark", "--level", "files"]
    return [*command, "--format", "json", *tables], {**spark.env, "PYSPARK_DRIVER_PYTHON": sys.executable}


def test_an_interrupt_of_spark_submit_leaves_a_report_and_no_process(store: socket.socket, tmp_path: Path) -> None:
    materialize([TABLE])
    command, env = submitted([stalled_table(tmp_path)])
    given = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    store.settimeout(300)
    with (
        subprocess.Popen(
            command, env=env | given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
        ) as process,
        store.accept()[0],  # the file is asked for
    ):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the JVM too
        out, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    report, end = json.JSONDecoder().raw_decode(out)
    assert "NOT005" in {one["code"] for one in report["tables"][0]["findings"]}
    assert report["tables"][0]["complete"] is False
    # spark-submit puts what Python writes to standard error behind it
    assert out[end:].strip() == "iceberg-conformance: interrupted: the report is not complete"
    until = time.monotonic() + 300
    while _lives(process.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _lives(process.pid)


def _lives(group: int) -> bool:
    """Whether a group of processes has any left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_job_that_fails_is_reported_with_the_reason_and_what_was_found(tmp_path: Path) -> None:
    materialize([TABLE])
    command, env = submitted([str(PLACE / TABLE)], "--conf", "spark.driver.maxResultSize=1")
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 3, done.stderr[-1000:]
    (table,) = json.loads(done.stdout)["tables"]
    assert "Spark failed" in table["reason"]
    assert "maxResultSize" in table["reason"]
    assert "LOC001" in {one["code"] for one in table["findings"]}
