"""``python -m conformance``, and the script ``iceberg-conformance``."""

from __future__ import annotations

import gc
import sys

from conformance.core.failures import ExitStatus

NEW_OBJECTS = 50_000
"""How many objects are made before Python looks for cycles among them (700 by default): most of those that a command
makes are of modules and classes, which stay."""


def main() -> int:
    """Run the command line; an interrupt while it is imported is one line too.

    This is the main function of a process, which ends after it.

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
        gc.freeze()  # else Python looks for cycles in all modules before it ends


if __name__ == "__main__":
    sys.exit(main())
