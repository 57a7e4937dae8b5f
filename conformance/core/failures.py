"""Errors that end a command, each with an exit status.

The class says what is at fault: the caller's arguments or files (`UsageError`), an implementation, a file or a table
that cannot be examined (`NotExamined`), or this tool (`HarnessFault`). An implementation that answers wrongly or dies
raises none of these; that is a result.
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
    """An implementation could not be started, or a table could not be read, and nothing that was examined failed."""

    OUR_BUG = 4
    NOTHING_SELECTED = 5
    INTERRUPTED = 130


class ToolError(Exception):
    """An error that is printed as one line, with an exit status."""

    status = ExitStatus.OUR_BUG


class UsageError(ToolError):
    """An option, an argument, a name or a file that the caller gave cannot be used."""

    status = ExitStatus.USAGE


class NothingSelected(ToolError):
    """The selection is well-formed but matches no vector."""

    status = ExitStatus.NOTHING_SELECTED


class NotExamined(ToolError):
    """An implementation could not be started, or a file or table not be read: nothing is known about it."""

    status = ExitStatus.NOT_EXAMINED


class HarnessFault(ToolError):
    """A bug in this tool that it detected itself, such as lost results."""


def import_optional(module: str, extra: str) -> ModuleType:
    """Import a module of a package that only an extra of this project installs.

    Args:
        module: the name of the module.
        extra: the name of the extra.

    Returns:
        The module.

    Raises:
        UsageError: the package is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        if error.name != module.partition(".")[0]:
            raise
        command = f"pip install 'iceberg-conformance[{extra}]'"
        raise UsageError(f"{error.name} is not installed, and this needs it: {command}") from None


def suggest_names(name: str, known: Iterable[str]) -> str:
    """Suggest known names for an unknown name, as the end of a message: names with all of its words, then similar ones.

    Args:
        name: the name that is unknown, in any case.
        known: the known names.

    Returns:
        "; did you mean" and up to three names; an empty string if no name is similar.
    """
    by_lower = {one.lower(): one for one in known}
    words = name.lower().split("-")
    longer = [one for one in by_lower if len(words) > 1 and set(words) <= set(one.split("-"))]
    similar = difflib.get_close_matches(name.lower(), list(by_lower), 3)
    near = [by_lower[one] for one in dict.fromkeys([*sorted(longer, key=len), *similar])][:3]
    return f"; did you mean {', '.join(near)}?" if near else ""
