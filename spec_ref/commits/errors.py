"""The ways in which a commit fails (Commit Conflict Resolution and Retry)."""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import NOT_GIVEN, SpecError, spec_error


class CommitConflict(SpecError):
    """A precondition of the change no longer holds. Retrying would not help; this commit changed nothing."""


class CommitFailed(Exception):
    """Every attempt lost the race. Nothing was changed, and the same change may be tried again."""


class CommitStateUnknown(Exception):
    """It is unknown whether the change was committed. No file that the table may need was deleted."""


class MissingFile(SpecError):
    """A file that the table lists does not exist: the table has lost it, or was replaced by another table."""


def commit_conflict(
    requirement: str, message: str, *, found: Any = NOT_GIVEN, expected: str | None = None
) -> CommitConflict:
    """Make the error for a change that a concurrent commit made impossible.

    Args:
        requirement: the code in the register.
        message: what is wrong, in words.
        found: the value that was found; it is abbreviated.
        expected: the value that the change relies on.

    Returns:
        The error.
    """
    return CommitConflict(spec_error(requirement, message, found=found, expected=expected).violation)


def missing_file(requirement: str, message: str, path: str) -> MissingFile:
    """Make the error for a file that does not exist.

    Args:
        requirement: the code of the field that names the file.
        message: what is wrong, in words.
        path: the location of the file.

    Returns:
        The error.
    """
    return MissingFile(spec_error(requirement, message, found=path).violation)
