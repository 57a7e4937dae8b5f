"""Interrupts at a terminal: they reach every process of its group, and are for the one that began the others."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def kept_from_children() -> Iterator[None]:
    """Start processes that no interrupt reaches, not even in their first moment: they have what is blocked here."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
