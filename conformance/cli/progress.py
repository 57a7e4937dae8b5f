"""How far a long command is, told to a person who waits."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

Tell: TypeAlias = Callable[[str, int, int], None]
"""Is told what is under way, how much of it is done, and how much there is."""

OFTEN = 0.1
"""Seconds between two lines."""


@contextlib.contextmanager
def progress() -> Iterator[Tell]:
    """Tells it on one line of standard error while that is a terminal; nobody waits at anything else."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    last = 0.0

    def tell(what: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > OFTEN or done == of:
            last = now
            sys.stderr.write(f"\r\033[K{what}: {done} of {of}")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
