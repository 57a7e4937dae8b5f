"""Memory of the processes that run checks: memory that one manifest frees is kept for the next one.

Every manifest needs arrays of some megabytes, which the C library would return to the system as soon as they are
freed. Allocating them again costs a page fault for every 4 KiB: a tenth of the processor time, and more on virtual
machines whose hosts reclaim free pages.
"""

from __future__ import annotations

from contextlib import suppress

from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import ctypes

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""The parameter numbers of ``mallopt``, from ``malloc.h``."""

MMAP_THRESHOLD = 32 << 20
"""The largest block in bytes that is allocated on the heap; the maximum that glibc allows."""

TRIM_THRESHOLD = 256 << 20
"""The maximum number of free bytes at the end of the heap that the process does not return to the system."""


def keep_freed_memory() -> None:
    """Let this process keep the memory that it frees. If the C library is not glibc, nothing changes."""
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD)
