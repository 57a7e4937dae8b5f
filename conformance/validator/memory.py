"""Memory of the processes that check: what is freed after one manifest is kept for the next one.

Every manifest needs arrays of some megabytes, which the C library would give back to the system as soon as they are
freed. Taking them again costs a page fault for every 4 KiB: a tenth of the processor time, and more on virtual machines
whose hosts take free pages away.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Numbers of the parameters, from ``malloc.h``."""

LARGEST = 32 << 20
"""Blocks up to so many bytes are taken from what is kept; glibc allows no more."""

KEPT = 256 << 20
"""Bytes that are kept at most at the end of the heap."""


def keep_freed_memory() -> None:
    """Have this process keep what it frees. Where the C library is not glibc, nothing changes."""
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, LARGEST)
        mallopt(_M_TRIM_THRESHOLD, KEPT)
