"""The templates of adapters in other languages: they build with the compiler alone, and answer as the one in Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance import vectors
from conformance.adapters.process import Limits
from conformance.cli.targets import target
from conformance.results import Writer
from conformance.runner import Plan, execute

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATES = {
    "adapter.go": ["go", "build", "-o"],
    "adapter.rs": ["rustc", "--edition", "2021", "-o"],
}


def outcomes(command: str) -> list[tuple[str, str]]:
    """The id of each vector of hashes and what came of it."""
    chosen = vectors.Selection(suites=("hashing",)).choose(vectors.load(vectors.shipped()))
    found = execute(Plan((target(command, Limits()),), chosen), {}, Writer(None))
    return [(result.id, result.outcome.value) for result in found.results]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_builds_and_answers_as_the_adapter_in_python(name: str, tmp_path: Path) -> None:
    command = TEMPLATES[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} on the path")
    program = tmp_path / "adapter"
    source = DOCS / "adapter-templates" / name
    subprocess.run([*command, str(program), str(source)], check=True, capture_output=True, cwd=tmp_path)
    told = outcomes(str(program))
    assert told == outcomes(f"{sys.executable} {DOCS / 'minimal_adapter.py'}")
    assert {outcome for _, outcome in told} == {"passed", "unsupported"}
    assert sum(outcome == "passed" for _, outcome in told) > 50
