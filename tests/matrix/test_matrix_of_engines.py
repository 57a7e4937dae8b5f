"""Real engines in the matrix: known outcomes are distinguished from new ones, and properties run with one engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main

pytestmark = pytest.mark.engine

SCRIPTS = ("types-v2-orc", "overwrite-v2-parquet", "branches-v2-parquet")


def test_engines_read_what_others_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["matrix", "--producer", "reference", "--producer", "pyiceberg", "--results", str(tmp_path / "m.jsonl")]
    asked += ["--consumer", "pyiceberg", "--consumer", "duckdb", *(f"--script={name}" for name in SCRIPTS)]
    assert main([*asked, "--timeout", "300", "--start-timeout", "600"]) == 0, capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text(encoding="utf-8").splitlines()]
    tables = {(line["producer"], line["name"]): line["outcome"] for line in lines if line["kind"] == "table"}
    assert tables["pyiceberg", "overwrite-v2-parquet"] == "passed"
    assert tables["pyiceberg", "types-v2-orc"] == "unsupported"
    cells = {(one["producer"], one["table"], one["consumer"]): one for one in lines if one["kind"] == "cell"}
    assert cells["pyiceberg", "overwrite-v2-parquet", "duckdb"]["outcome"] == "passed"
    assert cells["reference", "overwrite-v2-parquet", "pyiceberg"]["outcome"] == "passed"
    known = cells["reference", "types-v2-orc", "pyiceberg"]
    assert known["outcome"] == "failed"
    assert "ORC002" in known["known"]


def test_what_is_known_is_new_without_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["matrix", "--producer", "reference", "--consumer", "pyiceberg", "--script", "types-v2-orc"]
    assert main([*asked, "--expect", "none", "--timeout", "300", "--start-timeout", "600"]) == 1
    output = capsys.readouterr().out
    assert "Cannot promote long to time" in output
    assert "iceberg-conformance matrix --producer reference --script types-v2-orc --consumer pyiceberg" in output


def test_a_property_holds_for_an_engine(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["metamorphic", "--adapter", "pyiceberg", "--property", "appends-commute", "--seed", "0", "--examples", "3"]
    words = ("v3", "orc", "avro", "merge-on-read", "delete-equal", "upsert", "nested", "nan")
    exclude = [f"--exclude={word}" for word in words]
    assert main([*asked, *exclude, "--timeout", "300", "--start-timeout", "600"]) == 0
    assert "1 property" in capsys.readouterr().err
