"""The imports of the reference and of the tool are those of their layers (`[tool.importlinter]` of pyproject.toml)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "pyproject.toml"
NOT_DEFINITIONS = {"columnar", "data_files"}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the packages of a folder by the project's contracts."""
    command = [Path(sys.executable).with_name("lint-imports"), "--config", CONFIGURATION, "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the reference and of the tool."""
    folder = tmp_path_factory.mktemp("layers")
    for package in ("spec_ref", "conformance"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_reference_has_its_layers(reference: Path) -> None:
    done = lint(reference)
    assert done.returncode == 0, done.stdout


def test_every_package_is_a_definition_or_none() -> None:
    contracts = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (definitions,) = (one["source_modules"] for one in contracts if one["id"] == "definitions")
    here = {
        path.stem for path in (ROOT / "spec_ref").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert {f"spec_ref.{name}" for name in here - NOT_DEFINITIONS - {"__init__"}} == set(definitions)


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("core/calendar.py", "import numpy", "spec_ref.core is not allowed to import numpy"),
        ("sorting/order.py", "from pyarrow import compute", "spec_ref.sorting is not allowed to import pyarrow"),
        (
            "hashing.py",
            "import spec_ref.columnar.hashing",
            "spec_ref.hashing is not allowed to import spec_ref.columnar",
        ),
        ("columnar/hashing.py", "import spec_ref.data_files.reader", "to import spec_ref.data_files"),
        (
            "core/errors.py",
            "def f():\n    import spec_ref.checks.findings",
            "spec_ref.core is not allowed to import spec_ref.checks",
        ),
        ("sorting/order.py", "import spec_ref.expressions.bound", "spec_ref.sorting is not allowed to import"),
        ("schemas/schema.py", "import spec_ref.schemas.evolution", "No cycles are allowed in spec_ref.schemas"),
        ("core/errors.py", "import conformance.core.failures", "spec_ref is not allowed to import conformance"),
        (
            "conformance/validator/run.py",
            "def f():\n    import conformance.cli.validate",
            "conformance.validator is not allowed to import conformance.cli",
        ),
        (
            "conformance/races/rows.py",
            "import conformance.properties.metamorphic_properties",
            "conformance.races is not allowed to import",
        ),
        ("conformance/adapter_sdk/serve.py", "import attrs", "conformance.adapter_sdk is not allowed to import attrs"),
    ],
    ids=[
        "numpy",
        "pyarrow",
        "kernel",
        "data-files",
        "inside-a-function",
        "same-layer",
        "circle",
        "tool",
        "cli",
        "other-job",
        "sdk",
    ],
)
def test_an_import_over_a_layer_is_found(reference: Path, module: str, line: str, broken: str) -> None:
    path = reference / module if module.startswith("conformance") else reference / "spec_ref" / module
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}\n{line}\n", encoding="utf-8")
    try:
        done = lint(reference)
    finally:
        path.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert broken in " ".join(done.stdout.split())
