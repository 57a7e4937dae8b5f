"""Advisory locks on a table among the processes of one machine."""

from __future__ import annotations

import getpass
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

MAX_WAIT_S = 5.0
"""How many seconds to wait for the lock; a process that hangs keeps nobody from committing."""


@contextmanager
def turn(name: str) -> Iterator[None]:
    """Hold the lock with a name, or none after the time limit; it ends with the process at the latest."""
    user = getpass.getuser() if sys.platform == "win32" else os.getuid()
    directory = Path(tempfile.gettempdir()) / f"iceberg-conformance-turns-{user}"
    directory.mkdir(mode=0o700, exist_ok=True)
    file = os.open(directory / hashlib.sha256(name.encode()).hexdigest()[:32], os.O_CREAT | os.O_RDWR, 0o600)
    try:
        until = time.monotonic() + MAX_WAIT_S
        pause = 0.0002
        while not _take(file) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(pause * 1.5, 0.01)
        yield
    finally:
        os.close(file)


def _take(file: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
