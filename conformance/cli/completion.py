"""``iceberg-conformance completion``."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from conformance.failures import ExitStatus


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(name="SHELL")], /) -> int:
    """Write the script with which a shell completes commands and options; put it where the shell looks for such.

    Args:
        shell: bash, zsh or fish.
    """
    from conformance.cli import make_app

    sys.stdout.write(make_app().generate_completion(shell=shell))
    return ExitStatus.CONFORMANT
