"""Interrupts at a terminal: they reach every process of the group, but only the parent process should handle them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from conformance.core.drives import WINDOWS


@contextlib.contextmanager
def block_interrupts() -> Iterator[None]:
    """Block interrupts in a ``with`` statement that starts processes, which inherit the blocked signals."""
    if WINDOWS:  # Windows has no signals to block
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
