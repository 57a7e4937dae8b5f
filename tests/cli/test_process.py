"""The process of a command, beyond what the command does."""

from __future__ import annotations

import subprocess
import sys

COUNTING = """
import atexit, gc, sys
from conformance.__main__ import main
atexit.register(lambda: print(gc.get_stats()[0]["collections"], gc.get_freeze_count(), file=sys.stderr))
sys.exit(main())
"""


def test_a_short_command_looks_for_no_cycles_among_modules() -> None:
    command = [sys.executable, "-c", COUNTING, "explain", "TRN010"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    collections, frozen = map(int, done.stderr.split())
    assert collections < 50  # Python starts with 16 of them, and makes over 100 with its own threshold
    assert frozen > 10_000
