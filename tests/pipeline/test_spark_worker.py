"""What a Python worker of Spark keeps between its tasks."""

from __future__ import annotations

import gc
import importlib
import sys
import zipfile
import zipimport
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.table_io.spark_worker import prepare_worker


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An archive on the path, out of which something was imported."""
    path = str(tmp_path / "modules.zip")
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("module_of_archive.py", "VALUE = 1\n")
        made.writestr("other_module_of_archive.py", "VALUE = 2\n")
    monkeypatch.syspath_prepend(path)
    importlib.import_module("module_of_archive")
    yield path
    for name in ("module_of_archive", "other_module_of_archive"):
        sys.modules.pop(name, None)
    gc.unfreeze()


def test_archives_are_read_no_more(archive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    inner = zipimport._read_directory  # type: ignore[attr-defined]
    monkeypatch.setattr(zipimport, "_read_directory", lambda path: reads.append(path) or inner(path))
    importlib.invalidate_caches()
    assert archive in reads  # what Spark's worker does before each task
    reads.clear()
    prepare_worker()
    importlib.invalidate_caches()
    assert importlib.import_module("other_module_of_archive").VALUE == 2
    assert reads == []


def test_the_garbage_collector_looks_at_new_objects_alone(archive: str) -> None:
    prepare_worker()
    assert len(gc.get_objects()) < gc.get_freeze_count()
