"""The process of a command, beyond what the command does."""

from __future__ import annotations

import cProfile
import subprocess
import sys
from pathlib import Path

COUNTING = """
import atexit, gc, sys
from conformance.__main__ import main
atexit.register(lambda: print(gc.get_stats()[0]["collections"], file=sys.stderr))
sys.exit(main())
"""


def test_a_short_command_looks_for_no_cycles_among_modules() -> None:
    command = [sys.executable, "-c", COUNTING, "explain", "TRN010"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stderr) < 50  # Python starts with 16 of them, and makes over 100 with its own threshold


FREEING = """
import sys
from conformance.__main__ import main
class Noisy:
    def __del__(self): print("freed", file=sys.stderr)
noisy = Noisy()
sys.exit(main())
"""


def test_modules_are_not_freed_at_the_end() -> None:
    command = [sys.executable, "-c", FREEING, "explain", "TRN010"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout
    assert done.stderr == ""


def test_a_profiler_sees_the_end(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    command = [sys.executable, "-m", cProfile.__name__, "-o", str(profile), "-m", "conformance", "explain", "TRN010"]
    subprocess.run(command, capture_output=True, check=True)
    assert profile.stat().st_size > 0
