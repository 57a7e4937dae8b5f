"""Turns of processes: the lock on a table is fair, ends with its holder, and keeps nobody from committing for long."""

from __future__ import annotations

import errno
import fcntl
import threading
import time
from pathlib import Path

import pytest

from conformance.table_io.stores import turns

NAME = "a table"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(turns.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(turns, "MAX_WAIT_S", 20.0)
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
        with turns.turn(NAME):
            order.append("the one that waits")

    with turns.turn(NAME):
        other = threading.Thread(target=waits)
        other.start()
        wait_for_queue(folder)
    with turns.turn(NAME):
        order.append("the one that held it")
    other.join()
    assert order == ["the one that waits", "the one that held it"]


def test_after_the_time_limit_there_is_no_lock_and_the_next_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with turns.turn(NAME):
        monkeypatch.setattr(turns, "MAX_WAIT_S", 0.01)
        with turns.turn(NAME):
            pass  # the lock is held by the outer block, and nobody waits for it for ever
    monkeypatch.setattr(turns, "MAX_WAIT_S", 20.0)
    began = time.monotonic()
    with turns.turn(NAME):
        assert time.monotonic() - began < 10


def test_where_there_are_no_locks_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_file: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(turns, "_take", refuse)
    began = time.monotonic()
    with turns.turn(NAME), turns.turn(NAME):
        assert time.monotonic() - began < 10
