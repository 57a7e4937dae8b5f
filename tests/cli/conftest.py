"""The command line as a person runs it: a process, its two outputs and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MINIATURE = Path(__file__).parent.parent / "conformance_unit" / "miniature.py"

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def cli_in(folder: Path) -> Cli:
    """Return a function that runs ``iceberg-conformance`` in a folder."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance", *map(str, arguments)],
            cwd=folder,
            env={**os.environ, "MINIATURE_MARKER": str(folder / "marker"), **environment},
            capture_output=True,
            text=True,
            timeout=1800,  # all vectors take a minute of processor time, far more of the clock on a busy machine
        )

    return run


@pytest.fixture(scope="session")
def run_in() -> Callable[[Path], Cli]:
    """Returns what runs ``iceberg-conformance`` in a given folder, for fixtures that several tests share."""
    return cli_in


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs ``iceberg-conformance`` in a separate folder."""
    return cli_in(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of ten vectors, ``mini-1`` to ``mini-10``, for the types fixed[1] to fixed[10]."""
    rows = [
        {
            "id": f"mini-{n}",
            "requirements": ["TYP023"],
            "versions": [1, 2, 3],
            "args": {"type": f"fixed[{n}]"},
            "expect": {"ok": f"fixed[{n}]"},
            "origin": "spec: Appendix C",
        }
        for n in range(1, 11)
    ]
    content = {"suite": "mini", "operation": "type.parse", "section": "Appendix C: JSON serialization", "vectors": rows}
    (tmp_path / "mini vectors" / "mini").mkdir(parents=True)
    (tmp_path / "mini vectors" / "mini" / "types.json").write_text(json.dumps(content))
    return tmp_path / "mini vectors"


def miniature(name: str) -> str:
    """Return the value of ``--adapter`` for a miniature."""
    return f"{sys.executable} {MINIATURE} {name}"


@pytest.fixture
def adapter() -> Callable[[str], str]:
    """Returns the option that selects a miniature on the command line."""
    return miniature
