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


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Runs ``iceberg-conformance`` in a separate folder."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "MINIATURE_MARKER": str(tmp_path / "marker"), **environment},
            capture_output=True,
            text=True,
            timeout=600,  # all vectors take half a minute of processor time, more on a busy machine
        )

    return run


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
