"""``iceberg-conformance engines``."""

from __future__ import annotations

import sys
from typing import Literal

from cyclopts import App

from conformance.failures import ExitStatus, UsageError

app = App(name="engines", help="List and install the engines that come with an adapter.", help_format="plaintext")


@app.command(name="list")
def list_(*, format: Literal["text", "json"] = "text") -> int:
    """List the engines, and whether each is ready.

    Args:
        format: Text for people, or JSON.
    """
    from conformance.cli.listing import show_engines

    return show_engines(format)


@app.command(name="install")
def install_(*names: str, all: bool = False) -> int:
    """Install engines, each in an environment of its own.

    Exit status: 3 if one cannot be installed.

    Args:
        names: The engines, as list shows them.
        all: Every engine.
    """
    from conformance.engines import EngineError, install, list_engines

    labels = [engine.label for engine in list_engines()]
    for name in names:
        if name not in labels:
            raise UsageError(f"unknown engine {name!r}; there are {', '.join(labels)}")
    if not names and not all:
        raise UsageError("name an engine, or give --all")
    status = ExitStatus.CONFORMANT
    for label in labels if all else names:
        try:
            done = install(label, _tell)
        except EngineError as error:
            print(f"iceberg-conformance: {error}", file=sys.stderr)
            status = ExitStatus.NOT_EXAMINED
        else:
            print(f"{label}: ready, in {done.path}")
    return status


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
