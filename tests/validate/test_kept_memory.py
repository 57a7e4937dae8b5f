"""Freed memory is reused without requests to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
if sys.argv[1] == "kept":
    from conformance.validator.memory import keep_freed_memory
    keep_freed_memory()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    arrays = [np.ones(size, np.uint8) for size in (1 << 20, 2 << 20, 3 << 20)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
PAGES = 6 << 8
"""Of the arrays of a round."""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only the C library of Linux has the setting")
def test_pages_are_taken_once() -> None:
    kept = faults("kept")
    assert kept < 2 * PAGES
    assert faults("given back") > 10 * PAGES
