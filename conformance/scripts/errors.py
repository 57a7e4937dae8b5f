"""Errors of scripts."""

from __future__ import annotations

from typing import Any


class ScriptError(Exception):
    """A script is malformed, or an operation is not valid in its place; the message starts with the place, if any."""


class ForbiddenOperation(ScriptError):
    """An operation that the spec forbids: a writer must refuse it and leave the table unchanged."""

    def __init__(self, code: str, message: str) -> None:
        """Make the error.

        Args:
            code: the requirement that forbids the operation.
            message: the reason.
        """
        super().__init__(message)
        self.code = code


class UnspecifiedOperation(ForbiddenOperation):
    """An operation that a writer may do or refuse: the spec leaves it open, or it depends on the data files."""

    def __init__(self, code: str, message: str, after: Any = None) -> None:
        """Make the error.

        Args:
            code: the most closely related requirement.
            message: the reason.
            after: the table if a writer does the operation; None if the table may then have any state.
        """
        super().__init__(code, message)
        self.after = after
