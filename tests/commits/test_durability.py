"""Acknowledged commits are on the disk: files and their names, before anything points to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.table_io.stores.local_files import LocalFiles


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the synced files and directories, in order."""
    names: list[str] = []
    real = os.fsync

    def recorded(descriptor: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    return names


def test_a_written_file_and_its_name_are_on_the_disk(tmp_path: Path, synced: list[str]) -> None:
    LocalFiles().write(str(tmp_path / "metadata" / "m.json"), b"{}")
    content, folder = synced
    assert (content.startswith(".m.json."), folder) == (True, "metadata")
    assert (tmp_path / "metadata" / "m.json").read_bytes() == b"{}"


def test_a_name_that_was_won_is_on_the_disk(tmp_path: Path, synced: list[str]) -> None:
    files = LocalFiles()
    (tmp_path / "new").write_bytes(b"{}")
    assert files.create(str(tmp_path / "new"), str(tmp_path / "v1"))
    assert synced == [tmp_path.name]


def test_a_name_that_was_lost_leaves_what_is_there(tmp_path: Path, synced: list[str]) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "v1").write_bytes(b"old")
    assert not LocalFiles().create(str(tmp_path / "new"), str(tmp_path / "v1"))
    assert ((tmp_path / "v1").read_bytes(), synced) == (b"old", [])
