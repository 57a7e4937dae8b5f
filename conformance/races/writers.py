"""Writers as trees of steps: the next step of a writer depends only on the answers that it received.

Exploring every order of steps reaches the same points repeatedly. Each point is a node that is created once. To
continue from it with a different answer, the writer is run again from its beginning with the answers that lead there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from spec_ref.commits.commit import load
from spec_ref.commits.effects import Effect, NonDeterministic, Steps, SwapPointer, SwapResult, WriteFile
from spec_ref.commits.errors import CommitStateUnknown
from spec_ref.commits.tables import TableKind
from spec_ref.table_metadata.metadata import TableMetadata


@frozen
class ReplaceTable:
    """Replace the table with a new one, as dropping and creating a table of the same name does."""

    metadata: TableMetadata


def replace_table(change: ReplaceTable, table: TableKind) -> Steps[str]:
    """Replace a table whatever its current state is.

    Raises:
        CommitStateUnknown: there was no answer, or the swap was refused: another writer was first, or the request
            arrived twice.
    """
    unique = yield NonDeterministic.NAME
    current = yield from load(1)
    assert current is not None
    location = table.new_metadata_location((current.location, current.metadata), change.metadata, unique)
    yield WriteFile(location, change.metadata)
    answer = yield SwapPointer(current.location, location)
    if answer is not SwapResult.DONE:
        message = f"the swap was answered {answer.name}"
        raise CommitStateUnknown(message)
    return location


class WriterNode:
    """A writer that waits for the answer to an effect, or has ended."""

    __slots__ = ("_running", "answers", "children", "effect", "error", "number", "result", "start", "writer")

    def __init__(self, writer: int, start: Callable[[], Steps[Any]], answers: tuple[Any, ...], running: Any) -> None:
        self.writer = writer
        self.start = start
        self.answers = answers
        self.children: dict[Any, WriterNode] = {}
        self.number = 0
        self.effect: Effect | None = None
        self.result: Any = None
        self.error: Exception | None = None
        self._running: Any = None
        self._advance(running)

    def _advance(self, running: Any) -> None:
        try:
            self.effect = running.send(self.answers[-1] if self.answers else None)
            self._running = running
        except StopIteration as stop:
            self.result = stop.value
        except Exception as error:
            self.error = error

    @property
    def ended(self) -> bool:
        """Whether the writer has ended."""
        return self.effect is None

    def after(self, answer: Any, key: Any = None) -> WriterNode:
        """Return the node after an answer; equal keys mean equal answers."""
        key = answer if key is None else key
        found = self.children.get(key)
        if found is None:
            running, self._running = self._running, None
            if running is None:
                running = self.start()
                running.send(None)
                for given in self.answers:
                    running.send(given)
            found = WriterNode(self.writer, self.start, (*self.answers, answer), running)
            self.children[key] = found
        return found


class NondeterministicValues:
    """The nondeterministic values of a writer: unique names and snapshot ids, and a separate clock."""

    def __init__(self, writer: int) -> None:
        self.writer = writer

    def draw(self, what: NonDeterministic, drawn: int) -> Any:
        """Return the writer's next value, given how many it has drawn before."""
        match what:
            case NonDeterministic.NAME:
                return f"w{self.writer}-{drawn}"
            case NonDeterministic.SNAPSHOT_ID:
                return 1000 * (self.writer + 1) + drawn
            case NonDeterministic.NOW:
                # Only the first clock is ahead of the table's timestamps: time would go back if writers ignored them.
                return 10_000 // (1 + 3 * self.writer) + drawn
