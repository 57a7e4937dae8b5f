"""``iceberg-conformance relay`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main

FIELDS = [{"id": 1, "name": "id", "required": False, "type": "long"}]
CREATE = {"op": "create", "format_version": 2, "schema": {"type": "struct", "fields": FIELDS}}
REFERENCE = ("relay", "--adapter", "reference")


def test_a_page_is_written_and_the_steps_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "pages" / "relay.html"
    assert main([*REFERENCE, "--seed", "3", "--examples", "1", "--report", f"html:{page}"]) == 0
    assert "Order of engines" in page.read_text()
    assert "1 script, steps done: reference " in capsys.readouterr().err


def test_a_relay_in_a_file_is_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "relay.json"
    file.write_text(json.dumps({"relay": [{"engine": "reference", "operation": CREATE}]}))
    assert main([*REFERENCE, "--replay", str(file)]) == 0
    assert "the last of 1 steps does not fail" in capsys.readouterr().out


WRONG = {
    ("relay",): "--adapter is missing",
    (*REFERENCE, "--report", "pdf:x"): "expected html:FILE",
    (*REFERENCE, "--exclude", "nonsense"): "--exclude nonsense",
    (*REFERENCE, "--exclude", "v1", "--exclude", "v2", "--exclude", "v3"): "leaves no format version",
    (*REFERENCE, "--examples", "0"): "at least 1",
    (*REFERENCE, "--adapter", "reference"): "given twice",
    (*REFERENCE, "--expect", "/nowhere.toml"): "cannot be read",
    (*REFERENCE, "--replay", "/nowhere.json"): "cannot be read",
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_is_said(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(list(arguments)) == 2
    assert WRONG[arguments] in capsys.readouterr().err
