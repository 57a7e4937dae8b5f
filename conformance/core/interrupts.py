"""Interrupts at a terminal: they reach every process of the group, but only the parent process should handle them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from conformance.core.drives import WINDOWS


@contextlib.contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block interrupts while the block starts processes: child processes inherit the blocked signals."""
    if WINDOWS:  # which has no signals to block
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
