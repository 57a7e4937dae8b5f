"""The templates of ``new-adapter``: the commands of each README build and run it, and all answer hashes alike.

A template whose toolchain is not there is skipped with that reason; in CI it fails, as all of them are there.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patient import PATIENT
from shipped_vectors import shipped_vectors

from conformance import vectors
from conformance.cli import main
from conformance.cli.new_adapter import TEMPLATES
from conformance.runner.execution import RunPlan, execute
from conformance.runner.results import ResultsWriter
from conformance.runner.targets import target

ROOT = Path(__file__).parents[2]
NEEDS = {"python": "python3", "go": "go", "rust": "rustc", "java": "javac", "javascript": "node"}


def outcomes(command: str) -> list[tuple[str, str]]:
    """The id of each vector of hashes and what came of it."""
    chosen = vectors.Selection(suites=("hashing",)).choose(shipped_vectors())
    found = execute(RunPlan((target(command, PATIENT),), chosen), {}, ResultsWriter(None))
    return [(result.id, result.outcome.value) for result in found.results]


def test_all_templates_are_tested() -> None:
    assert set(NEEDS) == set(TEMPLATES)


@pytest.mark.parametrize("language", TEMPLATES)
def test_a_template_runs_from_its_first_minute(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which(NEEDS[language]) is None:
        reason = f"there is no {NEEDS[language]} on the path, which the template of {language} needs"
        assert "CI" not in os.environ, reason
        pytest.skip(reason)
    template = TEMPLATES[language]
    monkeypatch.chdir(tmp_path)
    assert main(["new-adapter", "mine", "--language", language]) == 0
    assert template.run in capsys.readouterr().out
    monkeypatch.chdir(tmp_path / "mine")
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path().iterdir()}
    assert set(texts) == {template.file, "README.md", "known.toml", "conformance.yml"}
    assert [name for name, text in texts.items() if re.search("@[A-Z]+@", text)] == []
    assert template.run in texts["conformance.yml"]
    (commands,) = re.findall(r"(?s)```console\n(.*?)```", texts["README.md"])
    assert len(commands.splitlines()) == 3
    for command in commands.splitlines():
        program, *arguments = shlex.split(command)
        if program == "iceberg-conformance":
            assert main([*arguments, "--timeout", "120"]) == 0, command
        else:
            done = subprocess.run([program, *arguments], check=False, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
    shown = capsys.readouterr().out
    assert re.search(r"mine 0\.0|mine \(0\.0\)|^ +0\.0$", shown, re.MULTILINE), shown
    if template.suite == "hashing":
        answered = outcomes(template.run)
        assert answered == outcomes(f"{sys.executable} {ROOT / 'docs' / 'minimal_adapter.py'}")
        assert {outcome for _, outcome in answered} == {"passed", "unsupported"}


def test_malformed_values_can_be_left_out() -> None:
    every = shipped_vectors()
    malformed = [vector for vector in every if "malformed-value" in vector.tags]
    assert all(vector.expect == {"error": "invalid"} for vector in malformed)
    values: dict[str, set[str]] = {}
    for vector in malformed:
        value = json.dumps([vector.args["type"], vector.args["value"]])
        values.setdefault(vector.operation.name, set()).add(value)
    assert set(values) == {"hash", "transform", "bound.encode", "single-value.encode"}
    assert values["hash"] == values["bound.encode"] == values["single-value.encode"] >= values["transform"]
    marked = {vector.id for vector in malformed}
    left = vectors.Selection(names="not malformed-value").choose(every)
    assert marked.isdisjoint(vector.id for vector in left)
    assert len(left) == len(every) - len(marked)
