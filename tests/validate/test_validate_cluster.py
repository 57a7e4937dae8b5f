"""Spark's standalone cluster, by `spark-submit` as in `docs/validate.md`: it finds what this machine finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import installed, standalone
from reword import without_messages

import conformance
from conformance.reports.validation import finding_json
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize

pytestmark = pytest.mark.engine

TABLES = ("row-lineage-parquet", "broken-dv-checksum")


def test_a_standalone_cluster_finds_what_this_machine_finds(tmp_path: Path) -> None:
    materialize(TABLES)
    spark = installed()
    conf = [word for name, value in spark.settings.items() for word in ("--conf", f"{name}={value}")]
    with standalone(spark, tmp_path) as master:
        tool = str(Path(conformance.__file__).with_name("__main__.py"))
        submit = [
            f"{spark.home}/bin/spark-submit",
            "--master",
            master,
            "--driver-memory",
            "512m",
            "--executor-memory",
            "512m",
            *conf,
            tool,
            "validate",
            "--engine",
            "spark",
            "--level",
            "rows",
            "--format",
            "json",
            *(str(PLACE / name) for name in TABLES),
        ]
        done = subprocess.run(
            submit,
            env={**spark.env, "PYSPARK_DRIVER_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    assert done.returncode == 1, done.stderr[-2000:]
    found = {table["location"]: table["findings"] for table in json.loads(done.stdout)["tables"]}
    assert "Connected to Spark cluster" in done.stderr
    for name in TABLES:
        here = validate(str(PLACE / name), Level.ROWS, LocalBackend())
        assert here.findings
        expected = json.loads(json.dumps([finding_json(one) for one in here.findings]))
        assert without_messages(found[str(PLACE / name)]) == without_messages(expected)
    assert os.listdir(tmp_path / "work")
