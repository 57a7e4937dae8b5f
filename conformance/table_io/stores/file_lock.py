"""Advisory locks on a table between the processes of one machine."""

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
"""The maximum time to wait for the lock, in seconds, so that a process that hangs does not block the others."""

PAUSE_S = 0.001
"""How long to wait before the next attempt on Windows, which cannot wait for a lock without a time limit."""


@contextmanager
def hold_file_lock(name: str) -> Iterator[None]:
    """Hold a lock with a name in a ``with`` statement; after a time limit, continue without it.

    The end of the process releases the lock. Locking is fair: a process that waits gets the lock before one that
    releases it and locks it again. Only the process that holds a second lock, the queue, waits for the lock itself.
    """
    user = getpass.getuser() if sys.platform == "win32" else os.getuid()
    directory = Path(tempfile.gettempdir()) / f"iceberg-conformance-locks-{user}"
    directory.mkdir(mode=0o700, exist_ok=True)
    path = directory / hashlib.sha256(name.encode()).hexdigest()[:32]
    queue, lock = _open(path.with_suffix(".queue")), _open(path)
    acquired, done = threading.Event(), threading.Event()
    holder = threading.Thread(target=_hold, args=(queue, lock, acquired, done), daemon=True)
    holder.start()
    try:
        acquired.wait(MAX_WAIT_S)
        yield
    finally:
        done.set()
        if acquired.is_set():
            holder.join()


def _hold(queue: BinaryIO, lock: BinaryIO, acquired: threading.Event, done: threading.Event) -> None:
    """Lock in a thread, which may wait longer than the caller, and hold the lock until `done` is set."""
    with lock:
        with queue, suppress(OSError):  # a file system without locks
            _take(queue)
            _take(lock)
        acquired.set()
        done.wait()


def _open(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_CREAT | os.O_RDWR, 0o600), "r+b", buffering=0)


def _take(file: BinaryIO) -> None:
    """Wait for the lock on a file; closing the file releases it."""
    if sys.platform == "win32":
        while True:
            with suppress(PermissionError):
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                break
            time.sleep(PAUSE_S)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)
