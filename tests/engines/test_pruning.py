"""``engines prune``: the files that it removes and those that it keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.engine_setup.built import engine_build
from conformance.engine_setup.catalog import catalog, lock_names
from conformance.engine_setup.environments import MARKER, environment
from conformance.engine_setup.java import classes_path
from conformance.engine_setup.pruning import prune


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with all environments of this version, one of an older lock, and what is none."""
    monkeypatch.setenv("ICEBERG_CONFORMANCE_HOME", str(tmp_path))
    folders = [environment(lock).path for lock in lock_names()]
    folders += [engine_build(engine).path for engine in catalog().engines if engine.sources]
    folders += [classes_path(engine) for engine in catalog().engines if engine.classes and engine.lock]
    folders += [tmp_path / "built" / "mine"]
    folders += [tmp_path / "engines" / name for name in ("pyiceberg-0_11-0123456789abcdef", "mine", "x-0123")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / MARKER).write_text("12345")
    (tmp_path / "engines" / "pyiceberg-0_11-0123456789abcdef.lock").touch()
    return tmp_path / "engines"


def test_environments_of_older_locks_go_and_all_else_stays(place: Path) -> None:
    before = set(place.iterdir())
    (gone,) = prune(dry_run=True)
    assert (gone.path.name, gone.size) == ("pyiceberg-0_11-0123456789abcdef", 5)
    assert set(place.iterdir()) == before
    assert prune() == [gone]
    assert set(place.iterdir()) == before - {gone.path}
    assert prune() == []


def test_builds_of_older_sources_go(place: Path) -> None:
    old = place.parent / "built" / "iceberg-go-0123456789abcdef"
    old.mkdir()
    kept = set(old.parent.iterdir()) - {old}
    assert kept
    assert old in [one.path for one in prune()]
    assert {path for path in old.parent.iterdir() if path.is_dir()} == kept


def test_the_command_reports_what_it_removes(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = place / "pyiceberg-0_11-0123456789abcdef"
    assert main(["engines", "prune", "--dry-run"]) == 0
    assert capsys.readouterr().out == f"would remove {old}, 0 MiB\n"
    assert old.exists()
    assert main(["engines", "prune", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"path": str(old), "bytes": 5, "removed": True}]
    assert not old.exists()
    assert main(["engines", "prune"]) == 0
    assert capsys.readouterr().out == "nothing to remove\n"


def test_a_home_that_is_not_there_is_nothing_to_prune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICEBERG_CONFORMANCE_HOME", str(tmp_path / "none"))
    assert prune() == []
