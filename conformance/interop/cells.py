"""What a matrix is made of: tables, each made by one producer, and cells, each one table as one consumer reads it."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from conformance.runner.judge import Outcome
from conformance.vectors import Vector

GOLDEN = "golden"
"""What the names of producers of golden tables begin with."""


class State(enum.Enum):
    """What became of one table with one consumer."""

    RIGHT = "right"
    """The table as it is was read as it has to be, and so was all else that could be asked."""

    WRONG = "wrong"
    """Other rows were read than there are."""

    REFUSES = "refuses"
    """It says that the table cannot be read."""

    CRASHES = "crashes"
    """It died, or did not answer."""

    CANNOT = "cannot"
    """It does not have what reading the table takes."""

    @property
    def is_bad(self) -> bool:
        """Whether the cell is a finding about the consumer."""
        return self in (State.WRONG, State.REFUSES, State.CRASHES)


_WORST_FIRST = (State.CRASHES, State.WRONG, State.REFUSES)


class Writing(enum.Enum):
    """What became of one script with one producer."""

    WRITTEN = "written"
    INVALID = "invalid"
    """The table breaks the spec, by the validator; it has the rows that it has to have."""

    WRONG = "wrong"
    """The table does not hold what the script makes, so that no consumer is asked."""

    REFUSED = "refused"
    CRASHED = "crashed"
    CANNOT = "cannot"
    """It does not have what writing the table takes."""

    @property
    def is_bad(self) -> bool:
        """Whether it is a finding about the producer."""
        return self not in (Writing.WRITTEN, Writing.CANNOT)

    @property
    def is_table(self) -> bool:
        """Whether there is a table that can be read."""
        return self in (Writing.WRITTEN, Writing.INVALID)


@frozen
class MadeTable:
    """One table of one producer, or why there is none."""

    producer: str
    """The name of the producer on the command line; of golden tables ``golden/`` and the engine with its version."""

    name: str
    """The script with its variant, or the golden table."""

    features: tuple[str, ...]
    format_version: int
    file_format: str
    about: str = ""
    writing: Writing = Writing.WRITTEN
    reason: str = ""
    """Why there is no table, or what is wrong with it."""

    metadata: str = ""
    """The metadata file."""

    findings: tuple[str, ...] = ()
    """What the validator finds to be errors, each with its code."""

    shows: tuple[str, ...] = ()
    """The codes of the requirements that it breaks, and the places where it differs from the script."""

    cases: tuple[Vector, ...] = field(default=(), hash=False, eq=False)
    """What a consumer is asked, each with what has to come."""


@frozen
class Cell:
    """One table as one consumer reads it."""

    producer: str
    consumer: str
    table: str
    state: State
    case: str = ""
    """The state of the table at which it came out so, of several the worst."""

    reason: str = ""
    differences: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    """The smallest rows that show the difference: ``path``, and ``expected`` and ``got`` where there is a value."""

    known: str = ""
    """Why the cell is as it is, where that is known."""

    @property
    def is_new(self) -> bool:
        """Whether the run fails by it."""
        return self.state.is_bad and not self.known


@frozen
class Participant:
    """One adapter that took part."""

    name: str
    implementation: str = ""
    version: str = ""
    language: str = ""
    writes: bool = False
    reads: bool = False
    not_examined: str = ""
    """Why it could not be asked; empty when it was."""

    seconds: float = 0.0

    def __str__(self) -> str:
        rest = " ".join(one for one in (self.implementation, self.version) if one and one not in self.name)
        return f"{self.name} ({rest})" if rest else self.name


@define
class Matrix:
    """All that one run found."""

    header: dict[str, Any]
    participants: list[Participant] = field(factory=list)
    tables: list[MadeTable] = field(factory=list)
    known_tables: dict[tuple[str, str], str] = field(factory=dict)
    """Why tables are known to be as they are, by producer and name."""

    cells: list[Cell] = field(factory=list)
    unmet: list[str] = field(factory=list)
    """Known deviations that did not happen, in words."""

    complete: bool = False
    exit_status: int | None = None

    @property
    def consumers(self) -> list[Participant]:
        """Those that read."""
        return [one for one in self.participants if one.reads]

    @property
    def producers(self) -> list[str]:
        """The names of those that made tables, in the order of the tables."""
        return list(dict.fromkeys(table.producer for table in self.tables))

    @property
    def new_cells(self) -> list[Cell]:
        """The cells by which the run fails."""
        return [cell for cell in self.cells if cell.is_new]

    @property
    def new_tables(self) -> list[MadeTable]:
        """The tables by which the run fails."""
        return [one for one in self.tables if one.writing.is_bad and (one.producer, one.name) not in self.known_tables]


def state_of(outcome: Outcome, got: Mapping[str, Any]) -> State:
    """What one answer says about a consumer.

    Args:
        outcome: how it was judged.
        got: the answer as JSON.
    """
    match outcome:
        case Outcome.PASSED:
            return State.RIGHT
        case Outcome.UNSUPPORTED:
            return State.CANNOT
        case Outcome.CRASHED:
            return State.CRASHES
    return State.REFUSES if got.get("error") == "invalid" else State.WRONG


def worst(states: Sequence[State], current: int = 0) -> int:
    """The place of the state that a cell gets, of those of all readings: what is bad, or that of the table as it is.

    Args:
        states: what became of each reading.
        current: the place of the reading of the table as it is.
    """
    bad = [place for place, state in enumerate(states) if state.is_bad]
    return min(bad, key=lambda place: _WORST_FIRST.index(states[place]), default=current)
