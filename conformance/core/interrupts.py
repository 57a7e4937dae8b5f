"""Interrupts at a terminal: they reach every process of the group, but only the parent process should handle them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def kept_from_children() -> Iterator[None]:
    """Block interrupts while the block starts processes: child processes inherit the blocked signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
