"""A second engine reads written tables, and its differences are reported separately from the vectors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
import pytest

from conformance.cli import main
from conformance.operations.protocol import Answer, Ok, StartAnswer
from conformance.operations.registry import OPERATIONS
from conformance.properties.second_reader import second_readings
from conformance.runner import results
from conformance.runner.adapter_interface import Request
from conformance.runner.judge import Outcome
from conformance.vectors import Vector

ASKED = ["run", "--adapter", "reference", "-k", "write-merge-mor-v2 or change-merge-mor-v2 or puffin-write-no-blobs"]


def test_a_reader_that_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--second-reader", "reference"]) == 0
    out, err = capsys.readouterr()
    assert "3 passed" in out
    first, *others = err.splitlines()[-1:]
    assert first.startswith("second reader reference: 3 written, ")
    assert "failed" not in first
    assert others == []


def test_a_reader_that_loses_a_row_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    faulty = f"{sys.executable} -m tests.faulty_adapters rows-one-lost"
    assert main([*ASKED, "--second-reader", faulty]) == 0
    out, err = capsys.readouterr()
    assert "3 passed" in out
    assert "write-merge-mor-v2 by reference, current: failed: /rows" in err
    assert "change-merge-mor-v2 by reference, current: failed: /rows" in err


def test_what_a_reader_reads_differently_is_in_results_and_reports(tmp_path: Path) -> None:
    faulty = f"{sys.executable} -m tests.faulty_adapters rows-one-lost"
    asked = ["run", "--adapter", "reference", "-k", "change-merge-mor-v2", "--second-reader", faulty]
    file, page = tmp_path / "run.jsonl", tmp_path / "run.html"
    assert main([*asked, "--results", str(file), "--report", f"html:{page}"]) == 0
    found = results.read(file).second_readings
    assert {(one.writer, one.id, one.reader) for one in found} == {("reference", "change-merge-mor-v2", faulty)}
    (wrong,) = [one for one in found if one.label == "current"]
    assert (wrong.outcome, wrong.is_difference) == (Outcome.FAILED, True)
    assert "<br>/rows/1: expected" in page.read_text(encoding="utf-8")
    for form in ("json", "markdown"):
        assert main(["report", str(file), "--report", f"{form}:{tmp_path / form}"]) == 0
    document = json.loads((tmp_path / "json").read_text(encoding="utf-8"))
    schema = json.loads((files("conformance") / "schemas" / "report.json").read_text(encoding="utf-8"))
    assert [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(document)] == []
    assert [one["label"] for one in document["second_readings"]] == [one.label for one in found]
    text = (tmp_path / "markdown").read_text(encoding="utf-8")
    assert "### Second reader" in text
    assert "change-merge-mor-v2 by reference, current" in text


def test_a_reader_of_puffin_files_that_loses_properties_is_reported() -> None:
    derived, written = {"blobs": [], "properties": {"a": "b"}}, {"blobs": [], "properties": {}}

    class Reader:
        def ask(self, requests: list[Request]) -> Iterator[Answer]:
            return (Ok(derived if request.args["bytes"] == "00" else written) for request in requests)

    vector = Vector("x", "puffin", OPERATIONS["puffin.write"], "", (), (3,), {}, (Ok("00"),), {"ok": "00"})
    started = StartAnswer("reader", "1", frozenset({"puffin.read"}))
    (same,) = second_readings("writer", vector, Ok("00"), Reader(), started)  # type: ignore[arg-type]
    (other,) = second_readings("writer", vector, Ok("01"), Reader(), started)  # type: ignore[arg-type]
    assert (same.outcome, other.outcome) == (Outcome.PASSED, Outcome.FAILED)
