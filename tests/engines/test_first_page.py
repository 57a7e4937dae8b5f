"""The output of an engine that the first page shows is what the command prints today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

README = Path(__file__).parents[2] / "README.md"
COMMAND = "iceberg-conformance run --adapter pyiceberg --suite transforms"


def test_the_first_page_shows_what_a_run_of_pyiceberg_prints() -> None:
    shown = re.search(rf"\$ {COMMAND}\n```\n\n```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    command = [sys.executable, "-m", "conformance", *COMMAND.split()[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    printed = iter(done.stdout.splitlines())
    for line in shown[1].splitlines():
        start = line.removesuffix("...").rstrip()
        assert any(one.startswith(start) if line != start else one == start for one in printed), line
