"""A second engine reads what was written, and what it reads otherwise is reported apart from the vectors."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from conformance.cli import main
from conformance.operations.protocol import Answer, Ok, Started
from conformance.operations.registry import OPERATIONS
from conformance.properties.second_reader import second_readings
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


def test_a_reader_of_puffin_files_that_loses_properties_is_reported() -> None:
    derived, written = {"blobs": [], "properties": {"a": "b"}}, {"blobs": [], "properties": {}}

    class Reader:
        def ask(self, requests: list[Request]) -> Iterator[Answer]:
            return (Ok(derived if request.args["bytes"] == "00" else written) for request in requests)

    vector = Vector("x", "puffin", OPERATIONS["puffin.write"], "", (), (3,), {}, (Ok("00"),), {"ok": "00"})
    started = Started("reader", "1", frozenset({"puffin.read"}))
    (same,) = second_readings("writer", vector, Ok("00"), Reader(), started)  # type: ignore[arg-type]
    (other,) = second_readings("writer", vector, Ok("01"), Reader(), started)  # type: ignore[arg-type]
    assert (same.outcome, other.outcome) == (Outcome.PASSED, Outcome.FAILED)
