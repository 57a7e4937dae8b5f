"""The action for GitHub: its inputs and outputs, and the script that does its work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "action.sh"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def action(tmp_path: Path) -> Run:
    """Runs the script with inputs like those of the action, in an existing environment."""
    (tmp_path / "mine.py").write_text((ROOT / "tests" / "conformance_unit" / "miniature.py").read_text())

    def run(adapter: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        files = {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
        env = {**os.environ, "ICEBERG_CONFORMANCE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT), **files}
        return subprocess.run(
            [SCRIPT],
            cwd=tmp_path,
            env={**env, "ADAPTER": adapter, **inputs},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def test_each_input_reaches_the_script_as_a_variable_and_each_output_comes_of_it() -> None:
    steps = ACTION["runs"]["steps"]
    text = SCRIPT.read_text(encoding="utf-8")
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(steps)))
    assert used == set(ACTION["inputs"])
    for name in steps[-1]["env"]:
        assert re.search(rf"\$\{{?{name}\b", text), name
    assert "${{" not in steps[-1]["run"]
    written = set(re.findall(r'echo "([a-z]+)=', text))
    assert written == set(ACTION["outputs"])
    assert all(f"steps.run.outputs.{name} " in one["value"] for name, one in ACTION["outputs"].items())
    assert os.access(SCRIPT, os.X_OK)


def test_the_documentation_names_all_inputs_and_outputs() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in (*ACTION["inputs"], *ACTION["outputs"]))


def test_a_run_leaves_a_summary_outputs_and_reports(action: Run, tmp_path: Path) -> None:
    done = action(f"{sys.executable} mine.py good", ARGUMENTS="--suite types -k 'struct or map'", REPORTS="my reports")
    assert done.returncode == 1, done.stdout + done.stderr  # a miniature answers with its argument
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith("## Iceberg conformance\n")
    assert "| types |" in summary
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert set(outputs) == set(ACTION["outputs"])
    for name, file in outputs.items():
        assert file.startswith("my reports/")
        assert ("20 passed" if name == "badge" else "types") in (tmp_path / file).read_text(encoding="utf-8"), name
    run = json.loads((tmp_path / outputs["sarif"]).read_text())["runs"][0]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "mine.py"
    header = json.loads((tmp_path / outputs["results"]).read_text().splitlines()[0])
    assert "struct or map" in header["command"]


def test_known_failures_make_it_green(action: Run, tmp_path: Path) -> None:
    adapter = f"{sys.executable} mine.py good"
    chosen = "--suite types -k struct"
    (tmp_path / "known.toml").write_text("")
    assert action(adapter, ARGUMENTS=chosen, EXPECT="known.toml").returncode == 1
    assert action(adapter, ARGUMENTS=f"{chosen} --update-expected", EXPECT="known.toml").returncode == 0
    assert action(adapter, ARGUMENTS=chosen, EXPECT="known.toml").returncode == 0


def test_nothing_of_an_input_is_run(action: Run, tmp_path: Path) -> None:
    trap = "$(touch trapped); `touch trapped`"
    done = action(f"{sys.executable} mine.py good", ARGUMENTS=f"-k '{trap}'", EXPECT="")
    assert done.returncode == 2
    assert not (tmp_path / "trapped").exists()
    assert action(f"no-such-adapter/{trap}").returncode in (2, 3)
    assert not (tmp_path / "trapped").exists()


def test_an_adapter_that_does_not_start_ends_it_with_3_and_reports_why(action: Run, tmp_path: Path) -> None:
    done = action(f"{sys.executable} mine.py refuses-start", ARGUMENTS="--suite types")
    assert done.returncode == 3
    assert "not run: it refused to start: no licence" in (tmp_path / "summary").read_text()


def test_what_it_installs_is_a_part_of_what_is_tested() -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"(?m)^([^ ;\\]+==[^ ;\\]+)", (ROOT / name).read_text(encoding="utf-8")))

    assert any(one.startswith("pyarrow==") for one in pins("requirements-run.lock"))
    assert pins("requirements-run.lock") < pins("requirements.lock")
    assert not {one for one in pins("requirements-run.lock") if one.startswith(("pytest", "sphinx", "moto"))}
    with (ROOT / "requirements-run.lock").open() as file:
        assert not [line for line in file if "http" in line or "index-url" in line]
