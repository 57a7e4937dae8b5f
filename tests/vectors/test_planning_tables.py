"""The tables of scan planning and of races equal the results of their derivation."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tools.derive import planning
from tools.derive.cases import commit_tables
from tools.derive.cases.planning import tables

KEPT = sorted(path.parent.name for name in ("plan", "commit") for path in planning.KEPT.glob(f"{name}-*/index.json"))


def test_the_tables_are_what_the_derivation_gives(capsys: pytest.CaptureFixture[str]) -> None:
    assert planning.main(["--check"]) == 0, capsys.readouterr().err
    assert sorted(table.name for table in (*tables(), *commit_tables.tables())) == KEPT


def test_a_table_that_differs_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(planning, "KEPT", tmp_path)
    assert planning.main([]) == 0
    assert planning.main(["--check"]) == 0
    changed = tmp_path / KEPT[0] / "metadata" / "v1.metadata.json"
    changed.write_text("{}")
    (tmp_path / KEPT[1] / "more").write_text("")
    assert planning.main(["--check"]) == 1
    errors = capsys.readouterr().err
    assert f"{KEPT[0]}/metadata/v1.metadata.json" in errors
    assert f"{KEPT[1]}/more" in errors


@pytest.mark.parametrize("name", KEPT)
def test_the_index_has_the_sums_of_the_files(name: str) -> None:
    folder = planning.KEPT / name
    index = json.loads((folder / "index.json").read_text())
    for file, digest in index["files"].items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
