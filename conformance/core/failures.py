"""What can end a command, each with the exit status that it stands for.

Blame is in the class: the caller's words or files (`UsageError`), an implementation that cannot be asked
(`NotExamined`), or this tool (`HarnessFault`). An implementation that answers wrongly or dies is none of these; that
is a result.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import difflib


class ExitStatus(enum.IntEnum):
    """The exit status of every command."""

    CONFORMANT = 0
    FAILURES = 1
    """At least one failure; for a check, at least one finding that is an error."""

    USAGE = 2
    """The command line, a configuration, a vector file or an expectation file is wrong."""

    NOT_EXAMINED = 3
    """An implementation could not be started, and nothing that was examined failed."""

    OUR_BUG = 4
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


class ToolError(Exception):
    """One line for the person at the terminal, and the exit status."""

    status = ExitStatus.OUR_BUG


class UsageError(ToolError):
    """What the caller gave cannot be used: an option, a name, a vector file, an expectation file."""

    status = ExitStatus.USAGE


class NothingSelected(ToolError):
    """The selection is well-formed and leaves no vector."""

    status = ExitStatus.NOTHING_SELECTED


class NotExamined(ToolError):
    """An implementation could not be started, so that nothing is known about it."""

    status = ExitStatus.NOT_EXAMINED


class HarnessFault(ToolError):
    """A bug of this tool that it noticed: it broke its own protocol, or lost count."""


def optional(module: str, extra: str) -> ModuleType:
    """Import a module of a package that is installed only with an extra of this one.

    Args:
        module: the module.
        extra: the name of the extra.

    Returns:
        The module.

    Raises:
        UsageError: it is not installed; says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        if error.name != module.partition(".")[0]:
            raise
        command = f"pip install 'iceberg-conformance[{extra}]'"
        raise UsageError(f"{error.name} is not installed, and this needs it: {command}") from None


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known names that are like a name that is unknown, as the end of a message.

    Args:
        name: the name that is unknown.
        known: the known names.

    Returns:
        A question that begins with a semicolon; empty if no name is like it.
    """
    near = difflib.get_close_matches(name, list(known), 3)
    return f"; did you mean {', '.join(near)}?" if near else ""
