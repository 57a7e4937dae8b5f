"""Locks between processes: the lock on a table is fair, ends with its holder, and blocks nobody for long."""

from __future__ import annotations

import errno
import fcntl
import threading
import time
from pathlib import Path

import pytest

from conformance.table_io.stores import file_lock

NAME = "a table"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(file_lock.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(file_lock, "MAX_WAIT_S", 20.0)
    return tmp_path


def wait_for_queue(folder: Path) -> None:
    """Wait until a thread is the first in the queue."""
    (path,) = folder.rglob("*.queue")
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
        time.sleep(0.001)
    raise AssertionError("nobody waits")


def test_one_that_waits_is_before_one_that_releases_the_lock_and_wants_it_again(folder: Path) -> None:
    order = []

    def waits() -> None:
        with file_lock.hold_file_lock(NAME):
            order.append("the one that waits")

    with file_lock.hold_file_lock(NAME):
        other = threading.Thread(target=waits)
        other.start()
        wait_for_queue(folder)
    with file_lock.hold_file_lock(NAME):
        order.append("the one that held it")
    other.join()
    assert order == ["the one that waits", "the one that held it"]


def test_after_the_time_limit_there_is_no_lock_and_the_next_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with file_lock.hold_file_lock(NAME):
        monkeypatch.setattr(file_lock, "MAX_WAIT_S", 0.01)
        with file_lock.hold_file_lock(NAME):
            pass  # the lock is held by the outer block, and nobody waits for it for ever
    monkeypatch.setattr(file_lock, "MAX_WAIT_S", 20.0)
    began = time.monotonic()
    with file_lock.hold_file_lock(NAME):
        assert time.monotonic() - began < 10


def test_where_there_are_no_locks_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_file: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(file_lock, "_take", refuse)
    began = time.monotonic()
    with file_lock.hold_file_lock(NAME), file_lock.hold_file_lock(NAME):
        assert time.monotonic() - began < 10
