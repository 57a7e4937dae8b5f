"""The templates of adapters in other languages: they build with the compiler alone, and answer as the one in Python.

Go, Rust and a JDK have to be on the path: a template that nothing builds is not shown to build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patient import PATIENT

from conformance import vectors
from conformance.runner.execution import Plan, execute
from conformance.runner.results import Writer
from conformance.runner.targets import target

DOCS = Path(__file__).parents[2] / "docs"
TEMPLATES = {
    "adapter.go": (["go", "build", "-o", "{made}", "{source}"], "{made}"),
    "adapter.rs": (["rustc", "--edition", "2021", "-o", "{made}", "{source}"], "{made}"),
    "Adapter.java": (["javac", "-Xlint:all", "-Werror", "-d", "{made}", "{source}"], "java -cp {made} Adapter"),
}
"""How each is built, and how what was made is started."""


def outcomes(command: str) -> list[tuple[str, str]]:
    """The id of each vector of hashes and what came of it."""
    chosen = vectors.Selection(suites=("hashing",)).choose(vectors.load(vectors.shipped()))
    found = execute(Plan((target(command, PATIENT),), chosen), {}, Writer(None))
    return [(result.id, result.outcome.value) for result in found.results]


def test_all_templates_are_tested() -> None:
    assert {path.name for path in (DOCS / "adapter-templates").iterdir()} == set(TEMPLATES)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_builds_and_answers_as_the_adapter_in_python(name: str, tmp_path: Path) -> None:
    build, start = TEMPLATES[name]
    assert shutil.which(build[0]), f"there is no {build[0]} on the path, which builds {name}"
    places = {"made": str(tmp_path / "adapter"), "source": str(DOCS / "adapter-templates" / name)}
    command = [part.format(**places) for part in build]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    told = outcomes(start.format(**places))
    assert told == outcomes(f"{sys.executable} {DOCS / 'minimal_adapter.py'}")
    assert {outcome for _, outcome in told} == {"passed", "unsupported"}
    assert sum(outcome == "passed" for _, outcome in told) > 50
