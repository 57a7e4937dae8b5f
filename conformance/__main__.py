"""``python -m conformance``, and the script ``iceberg-conformance``."""

from __future__ import annotations

import sys

from conformance.core.failures import ExitStatus


def main() -> int:
    """Run the command line; an interrupt while it is imported is one line too.

    Returns:
        The exit status.
    """
    try:
        from conformance.cli import main as command_line  # noqa: PLC0415 - importing it takes a tenth of a second

        return command_line()
    except KeyboardInterrupt:
        print("iceberg-conformance: interrupted", file=sys.stderr)
        return ExitStatus.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
