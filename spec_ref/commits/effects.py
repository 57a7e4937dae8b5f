"""The steps of a commit that others can see, and what flows in from outside (Optimistic Concurrency).

Each effect is a record; its docstring says what answer the one who runs the commit sends back. A runner that cannot
perform an effect raises what it likes into the commit, which lets it pass and removes nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from spec_ref.commits.payloads import Content, FileKind
from spec_ref.core.records import record


@record
class ReadPointer:
    """Which metadata file is the table's now. The answer is its location; None where there is no table.

    The answer may be one that was right some time ago.
    """


@record
class ReadFile:
    """Read a file. The answer is its content; None where there is no file."""

    path: str
    kind: FileKind


@record
class WriteFile:
    """Write a file at a place that nobody else writes to, once (FIO001). The answer is its length in bytes."""

    path: str
    content: Content


class Swap(enum.Enum):
    """The answer to `SwapPointer`."""

    DONE = "done"
    REFUSED = "refused"
    """The pointer was not at ``expected``. Where a request can be sent twice on the way, the one that was refused may
    be the second, after the first was done."""

    UNKNOWN = "unknown"
    """No answer came. The request may have been done, may be done later, or never."""


@record
class SwapPointer:
    """Atomically set the pointer from one metadata file to another, or do nothing (OCC001). The answer is a `Swap`."""

    expected: str | None
    """Where the pointer has to be; None for a table that is not there yet."""

    new: str
    """The new metadata file, which has been written."""


@record
class DeleteFile:
    """Delete a file, if it is there. There is no answer."""

    path: str


@record
class Wait:
    """Wait for a time, or for a random part of it, so that writers that collided come again one by one."""

    ms: int


class Draw(enum.Enum):
    """What a commit takes from outside; nobody else sees it."""

    NAME = "name"
    """A text that no other file of the table has in its name."""

    SNAPSHOT_ID = "snapshot-id"
    """A positive long that is probably no other snapshot's (NOT007)."""

    NOW = "now"
    """The time in milliseconds from the Unix epoch."""


Effect: TypeAlias = ReadPointer | ReadFile | WriteFile | SwapPointer | DeleteFile | Wait | Draw

T = TypeVar("T")
Steps: TypeAlias = Generator[Effect, Any, T]
"""A part of a commit: it yields effects, is sent their answers, and returns something."""
