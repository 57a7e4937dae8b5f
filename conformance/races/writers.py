"""Writers whose steps are remembered: what a writer does next depends on the answers it was given, and on nothing else.

Exploring every order of steps comes to the same points again and again. Each point is a node, made once; to go on from
one another way, the writer is run again from its beginning with the answers that lead there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from spec_ref.commits.commit import load
from spec_ref.commits.effects import Effect, NonDeterministic, Steps, Swap, SwapPointer, WriteFile
from spec_ref.commits.errors import CommitStateUnknown
from spec_ref.commits.tables import Table
from spec_ref.table_metadata.metadata import TableMetadata


@frozen
class ReplaceTable:
    """Put another table in the place of the one that is there, as dropping and making a table of one name does."""

    metadata: TableMetadata


def replace_table(change: ReplaceTable, table: Table) -> Steps[str]:
    """Replace a table whatever it is by now.

    Raises:
        CommitStateUnknown: no answer came, or a refusal: others were faster, or the request arrived twice.
    """
    unique = yield NonDeterministic.NAME
    current = yield from load(1)
    assert current is not None
    location = table.new_metadata_location((current.location, current.metadata), change.metadata, unique)
    yield WriteFile(location, change.metadata)
    answer = yield SwapPointer(current.location, location)
    if answer is not Swap.DONE:
        message = f"the swap was answered {answer.name}"
        raise CommitStateUnknown(message)
    return location


class Node:
    """A writer that waits for the answer to an effect, or has ended."""

    __slots__ = ("_running", "answers", "children", "effect", "error", "number", "result", "start", "writer")

    def __init__(self, writer: int, start: Callable[[], Steps[Any]], answers: tuple[Any, ...], running: Any) -> None:
        self.writer = writer
        self.start = start
        self.answers = answers
        self.children: dict[Any, Node] = {}
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
        """Whether there is nothing more to do."""
        return self.effect is None

    def after(self, answer: Any, key: Any = None) -> Node:
        """The node after an answer; equal keys are for equal answers."""
        key = answer if key is None else key
        found = self.children.get(key)
        if found is None:
            running, self._running = self._running, None
            if running is None:
                running = self.start()
                running.send(None)
                for given in self.answers:
                    running.send(given)
            found = Node(self.writer, self.start, (*self.answers, answer), running)
            self.children[key] = found
        return found


class Source:
    """What a writer draws: names and snapshot ids that are its own, and a clock that is not the others'."""

    def __init__(self, writer: int) -> None:
        self.writer = writer

    def draw(self, what: NonDeterministic, drawn: int) -> Any:
        """What the writer draws when it has drawn a number of times before."""
        match what:
            case NonDeterministic.NAME:
                return f"w{self.writer}-{drawn}"
            case NonDeterministic.SNAPSHOT_ID:
                return 1000 * (self.writer + 1) + drawn
            case NonDeterministic.NOW:
                # The clocks differ, so that time would go back if writers did not look at the table's.
                return 10_000 - 1000 * self.writer + drawn
