"""``python -m conformance``, and the script ``iceberg-conformance``."""

from __future__ import annotations

import gc
import sys

from conformance.core.failures import ExitStatus

NEW_OBJECTS = 50_000
"""The number of new objects after which the garbage collector runs (700 by default). Most objects that a command
creates belong to modules and classes, which stay until the process ends."""


def main() -> int:
    """Run the command line; an interrupt while it is being imported is also reported in one line.

    The process must end after this function, because the garbage collector stays changed.

    Returns:
        The exit status.
    """
    gc.set_threshold(NEW_OBJECTS)
    try:
        from conformance.cli import main as command_line  # noqa: PLC0415 - importing it takes a tenth of a second

        return command_line()
    except KeyboardInterrupt:
        print("iceberg-conformance: interrupted", file=sys.stderr)
        return ExitStatus.INTERRUPTED
    finally:
        gc.freeze()  # otherwise the garbage collector examines all modules at exit


if __name__ == "__main__":
    sys.exit(main())
