"""The parts of a matrix: tables, each written by one producer, and cells, each one table read by one consumer."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from conformance.runner.judge import Outcome
from conformance.vectors import Vector

GOLDEN = "golden"
"""The prefix of producers of golden tables."""


class TableOutcome(enum.Enum):
    """The outcome of one script with one producer, or of one table with one consumer."""

    PASSED = "passed"
    """The table is valid and has the expected rows; the consumer read the current rows and all others correctly."""

    INVALID = "invalid"
    """The validator finds errors in the table, but its rows are right; only for producers."""

    FAILED = "failed"
    """The rows of the table, or those that were read, differ from the expected rows."""

    REJECTED = "rejected"
    """The engine refused the script or the table."""

    CRASHED = "crashed"
    """The engine died, or did not answer."""

    UNSUPPORTED = "unsupported"
    """The engine does not support the script or the table."""

    @property
    def is_bad(self) -> bool:
        """Whether the outcome is a fault of the engine."""
        return self not in (TableOutcome.PASSED, TableOutcome.UNSUPPORTED)

    @property
    def is_table(self) -> bool:
        """Whether there is a table for consumers to read."""
        return self in (TableOutcome.PASSED, TableOutcome.INVALID)


_WORST_FIRST = (TableOutcome.CRASHED, TableOutcome.FAILED, TableOutcome.REJECTED)


@frozen
class ProducedTable:
    """One table of one producer, or the reason why there is none."""

    producer: str
    """The name of the producer on the command line; for golden tables ``golden/`` and the engine with its version."""

    name: str
    """The script with its variant, or the golden table."""

    features: tuple[str, ...]
    format_version: int
    file_format: str
    about: str = ""
    outcome: TableOutcome = TableOutcome.PASSED
    reason: str = ""
    """Why there is no table, or the fault in it."""

    metadata: str = ""
    """The metadata file."""

    findings: tuple[str, ...] = ()
    """The errors that the validator finds, each with its code."""

    shows: tuple[str, ...] = ()
    """The codes of the requirements that the table breaks, and the places where it differs from the script."""

    known: str = ""
    """The known reason for the fault, if any."""

    known_id: str = ""
    """The id of the known deviation, if it has one."""

    cases: tuple[Vector, ...] = field(default=(), hash=False, eq=False)
    """The requests for consumers, each with the expected answer."""

    @property
    def is_new(self) -> bool:
        """Whether the table makes the run fail."""
        return self.outcome.is_bad and not self.known


@frozen
class Cell:
    """One table, read by one consumer."""

    producer: str
    consumer: str
    table: str
    outcome: TableOutcome
    case: str = ""
    """The state of the table with the worst outcome."""

    reason: str = ""
    differences: tuple[dict[str, Any], ...] = field(default=(), hash=False)
    """The smallest rows that show the difference: ``path``, and ``expected`` and ``got`` if there is a value."""

    known: str = ""
    """The known reason for the outcome, if any."""

    known_id: str = ""
    """The id of the known deviation, if it has one."""

    @property
    def is_new(self) -> bool:
        """Whether the cell makes the run fail."""
        return self.outcome.is_bad and not self.known


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
    """Why it could not be run; empty if it ran."""

    seconds: float = 0.0

    def __str__(self) -> str:
        rest = " ".join(one for one in (self.implementation, self.version) if one and one not in self.name)
        return f"{self.name} ({rest})" if rest else self.name


@define
class Matrix:
    """The results of one run."""

    header: dict[str, Any]
    participants: list[Participant] = field(factory=list)
    tables: list[ProducedTable] = field(factory=list)
    cells: list[Cell] = field(factory=list)
    unmet: list[str] = field(factory=list)
    """Messages about known deviations that were not observed."""

    complete: bool = False
    exit_status: int | None = None

    @property
    def consumers(self) -> list[Participant]:
        """The participants that read tables."""
        return [one for one in self.participants if one.reads]

    @property
    def producers(self) -> list[str]:
        """The names of the producers, in the order of the tables."""
        return list(dict.fromkeys(table.producer for table in self.tables))

    @property
    def new_cells(self) -> list[Cell]:
        """The cells that make the run fail."""
        return [cell for cell in self.cells if cell.is_new]

    @property
    def new_tables(self) -> list[ProducedTable]:
        """The tables that make the run fail."""
        return [one for one in self.tables if one.is_new]


def reading_outcome(outcome: Outcome, got: Mapping[str, Any]) -> TableOutcome:
    """Return the outcome of a table that one answer of a consumer implies.

    Args:
        outcome: the outcome of the answer.
        got: the answer as JSON.
    """
    match outcome:
        case Outcome.PASSED:
            return TableOutcome.PASSED
        case Outcome.UNSUPPORTED:
            return TableOutcome.UNSUPPORTED
        case Outcome.CRASHED:
            return TableOutcome.CRASHED
    return TableOutcome.REJECTED if got.get("error") == "invalid" else TableOutcome.FAILED


def worst_index(outcomes: Sequence[TableOutcome], current: int = 0) -> int:
    """Return the index of the reading that decides a cell: a bad one, else that of the current table.

    Args:
        outcomes: the outcome of each reading.
        current: the index of the reading of the current table.
    """
    bad = [place for place, one in enumerate(outcomes) if one.is_bad]
    return min(bad, key=lambda place: _WORST_FIRST.index(outcomes[place]), default=current)
