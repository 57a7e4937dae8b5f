"""``python -m conformance``, and the script ``iceberg-conformance``."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys

from conformance.core.failures import ExitStatus

NEW_OBJECTS = 200_000
"""The number of new objects after which the garbage collector runs (700 by default). Short commands create fewer, most
of which belong to modules and classes and stay until the process ends."""


def main() -> int:
    """Run the command line, and end the process.

    An interrupt while the command line is being imported is reported in one line, too.

    Returns:
        The exit status, if a profiler or a debugger has to see the end of the process.
    """
    gc.set_threshold(NEW_OBJECTS)
    try:
        from conformance.cli import main as command_line  # noqa: PLC0415 - importing it takes a tenth of a second

        status = command_line()
    except KeyboardInterrupt:
        print("iceberg-conformance: interrupted", file=sys.stderr)
        status = ExitStatus.INTERRUPTED
    if sys.getprofile() is None and sys.gettrace() is None:
        _end_process(status)
    return status


def _end_process(status: int) -> None:
    """End the process now: Python would free each module and object first, which takes longer than short checks."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
