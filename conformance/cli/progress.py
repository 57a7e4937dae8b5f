"""The progress line of long commands."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

ReportProgress: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of what is processed, the number done, and the total."""

INTERVAL_S = 0.1
"""The minimum time between two updates of the line, in seconds."""


@contextlib.contextmanager
def progress() -> Iterator[ReportProgress]:
    """Yield a function that updates a line of standard error if that is a terminal, and does nothing otherwise."""
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    last = 0.0

    def report_progress(what: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > INTERVAL_S or done == of:
            last = now
            sys.stderr.write(f"\r\033[K{what}: {done} of {of}")
            sys.stderr.flush()

    try:
        yield report_progress
    finally:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
