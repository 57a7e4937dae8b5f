"""The effects of a commit: its visible steps, and input from outside (Optimistic Concurrency).

Each effect is a record; its docstring defines the answer that the runner of the commit sends back. A runner that cannot
perform an effect raises any exception into the commit, which propagates it and removes nothing.

Files are written once, read, and deleted. No other operation of the storage is used, except the rename of `SwapPointer`
in a file-system table (FIO002).
"""

from __future__ import annotations

import enum
from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from spec_ref.commits.payloads import FileKind, Payload
from spec_ref.core.records import record


@record
class ReadPointer:
    """Read which metadata file is current. The answer is its location; None if there is no table.

    The answer may be outdated.
    """


@record
class ReadFile:
    """Read a file. The answer is its content; None if there is no file."""

    path: str
    kind: FileKind


@record
class WriteFile:
    """Write a file once, to a location that no other writer uses (FIO001). The answer is its length in bytes."""

    path: str
    content: Payload


class SwapResult(enum.Enum):
    """The answer to `SwapPointer`."""

    DONE = "done"
    REFUSED = "refused"
    """The pointer was not at ``expected``. If the network can deliver a request twice, the refused one may be the
    second, after the first succeeded."""

    UNKNOWN = "unknown"
    """No answer arrived. The request may have been done, may be done later, or never."""


@record
class SwapPointer:
    """Atomically set the pointer from one file to another, or do nothing (OCC001). The answer is a `SwapResult`."""

    expected: str | None
    """The current metadata file; None for a table that does not exist yet."""

    new: str
    """The new metadata file, which has been written."""


@record
class DeleteFile:
    """Delete a file, if it exists. There is no answer."""

    path: str


@record
class Wait:
    """Wait for a time, or for a random part of it, so that writers that collided retry at different times."""

    ms: int


class NonDeterministic(enum.Enum):
    """Input of a commit that differs from run to run; it has no visible effect."""

    NAME = "name"
    """A text that no other file of the table has in its name."""

    SNAPSHOT_ID = "snapshot-id"
    """A positive long that is probably not the id of another snapshot (NOT007)."""

    NOW = "now"
    """The time in milliseconds from the Unix epoch."""


Effect: TypeAlias = ReadPointer | ReadFile | WriteFile | SwapPointer | DeleteFile | Wait | NonDeterministic

T = TypeVar("T")
Steps: TypeAlias = Generator[Effect, Any, T]
"""A part of a commit: it yields effects, receives their answers, and returns a result."""
