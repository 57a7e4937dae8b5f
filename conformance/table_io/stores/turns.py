"""Advisory locks on a table among the processes of one machine."""

from __future__ import annotations

import getpass
import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

MAX_WAIT_S = 5.0
"""How many seconds to wait for the lock; a process that hangs keeps nobody from committing."""

PAUSE_S = 0.001
"""How long to wait before the next attempt on Windows, which cannot wait for a lock without a time limit."""


@contextmanager
def turn(name: str) -> Iterator[None]:
    """Hold the lock with a name, or none after the time limit; it ends with the process at the latest.

    A process that waits gets the lock before one that releases it and wants it again: only the first in the queue,
    which is a lock as well, waits for the lock itself.
    """
    user = getpass.getuser() if sys.platform == "win32" else os.getuid()
    directory = Path(tempfile.gettempdir()) / f"iceberg-conformance-turns-{user}"
    directory.mkdir(mode=0o700, exist_ok=True)
    path = directory / hashlib.sha256(name.encode()).hexdigest()[:32]
    queue, lock = _open(path.with_suffix(".queue")), _open(path)
    taken, done = threading.Event(), threading.Event()
    holder = threading.Thread(target=_hold, args=(queue, lock, taken, done), daemon=True)
    holder.start()
    try:
        taken.wait(MAX_WAIT_S)
        yield
    finally:
        done.set()
        if taken.is_set():
            holder.join()


def _hold(queue: BinaryIO, lock: BinaryIO, taken: threading.Event, done: threading.Event) -> None:
    """Take the lock in a thread, which can wait for it longer than the caller does, and hold it until `done`."""
    with lock:
        with queue, suppress(OSError):  # where the file system has no locks, there are no turns
            _take(queue)
            _take(lock)
        taken.set()
        done.wait()


def _open(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_CREAT | os.O_RDWR, 0o600), "r+b", buffering=0)


def _take(file: BinaryIO) -> None:
    """Wait for the lock on a file, which ends when the file is closed."""
    if sys.platform == "win32":
        while True:
            with suppress(PermissionError):
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                break
            time.sleep(PAUSE_S)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)
