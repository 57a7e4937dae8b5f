"""Miniature adapters and a small folder of vectors."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.runner.process import AdapterLimits, Process

MINIATURE = Path(__file__).parent / "miniature.py"
GENEROUS = {"start": 120.0, "request": 120.0}
"""Timeouts in seconds that no miniature reaches on any machine; tests of timeouts use smaller ones."""


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Return the path of a file that a miniature leaves behind."""
    return tmp_path / "marker"


@pytest.fixture
def miniature(marker: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Process]]:
    """Makes a miniature adapter; ends all of them after the test."""
    monkeypatch.setenv("MINIATURE_MARKER", str(marker))
    made: list[Process] = []

    def make(name: str, **limits: Any) -> Process:
        process = Process(name, [sys.executable, str(MINIATURE), name], limits=AdapterLimits(**{**GENEROUS, **limits}))
        made.append(process)
        return process

    yield make
    for process in made:
        process.__exit__(None, None, None)


def write_vectors(folder: Path, rows: list[dict[str, Any]], suite: str = "mini", name: str = "types") -> Path:
    """Write a vector file of `type.parse` with these rows; missing members are filled in."""
    (folder / suite).mkdir(parents=True, exist_ok=True)
    base = {"requirements": ["TYP023"], "versions": [1, 2, 3], "origin": "spec: Appendix C"}
    content = {
        "suite": suite,
        "operation": "type.parse",
        "section": "Appendix C: JSON serialization",
        "vectors": [{**base, **row} for row in rows],
    }
    path = folder / suite / f"{name}.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def mini_vectors(tmp_path: Path) -> Path:
    """Ten vectors, ``mini-1`` to ``mini-10``, for the types fixed[1] to fixed[10]."""
    rows = [{"id": f"mini-{n}", "args": {"type": f"fixed[{n}]"}, "expect": {"ok": f"fixed[{n}]"}} for n in range(1, 11)]
    write_vectors(tmp_path / "vectors", rows)
    return tmp_path / "vectors"


@pytest.fixture
def vector_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a vector file in ``vectors`` under the test's folder."""

    def write(rows: list[dict[str, Any]], suite: str = "mini", name: str = "types") -> Path:
        return write_vectors(tmp_path / "vectors", rows, suite, name)

    return write
