"""What can be wrong with a script."""

from __future__ import annotations


class ScriptError(Exception):
    """A script that is not of the language, or that makes no sense; the message begins with the place, if any."""


class RefusedByText(ScriptError):
    """An operation that the text of the spec forbids: a writer has to refuse it and leave the table as it is."""

    def __init__(self, code: str, message: str) -> None:
        """Make the error.

        Args:
            code: the requirement that forbids the operation.
            message: what is wrong.
        """
        super().__init__(message)
        self.code = code


class LeftOpen(RefusedByText):
    """An operation that a writer may refuse, or do: the text does not decide, or it depends on files."""
