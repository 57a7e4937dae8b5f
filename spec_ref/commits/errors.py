"""How a commit can end without having been done (Commit Conflict Resolution and Retry)."""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import NOT_GIVEN, SpecError, violation


class CommitConflict(SpecError):
    """What the change relies on is no longer so: trying again would not help, and the table is as others left it."""


class CommitFailed(Exception):
    """Others were faster at every attempt. Nothing was changed, and the same change may be tried again."""


class CommitStateUnknown(Exception):
    """Whether the change was done could not be found out. Nothing was removed that the table may need."""


class MissingFile(SpecError):
    """A file that the table lists is not there: the table has lost it, or is another table by now."""


def conflict(requirement: str, message: str, *, found: Any = NOT_GIVEN, expected: str | None = None) -> CommitConflict:
    """The error for a change that others made impossible."""
    return CommitConflict(violation(requirement, message, found=found, expected=expected).violation)


def missing(requirement: str, message: str, path: str) -> MissingFile:
    """The error for a file that is not there."""
    return MissingFile(violation(requirement, message, found=path).violation)
