"""Known outcomes of cells and tables.

Sections of ``deviations.toml`` of an engine, or of a file that ``matrix --expect`` names::

    [[cell]]
    id = "duckdb-loses-deletes"         # optional: a stable name, unique among all files
    kind = "deviation"                  # optional: one of `expectations.DeviationKind`; deviation by default
    requirements = ["SCN010"]           # optional: the requirements that it breaks or concerns
    points = ["C25"]                    # optional: contradictions of the spec that it concerns
    consumer = "duckdb"                 # an adapter's name, without @version
    versions = ["1.5.5"]                # the affected versions; any by default
    producers = ["iceberg-java@1.12.0"] # names, possibly with *; any by default
    tables = ["evolution-*"]            # scripts with their variants, possibly with *
    outcome = "rejected"                # failed, rejected or crashed
    says = "not yet"                    # optional: a part of the engine's message; other messages are new differences
    reason = "why it is wrong, and what breaks"
    counter = "why it may be right"     # optional: the best argument for the engine's behaviour
    evidence = "where it can be seen"
    upstream = ["https://..."]          # optional: reports of it to the engine's project
    sometimes = true                    # optional: depends on chance; the outcome "unsupported" is accepted, too

    [[table]]
    producer = "pyiceberg"              # a producer of scripts, whose outcome is invalid, failed, rejected or crashed
    shows = "DFL012"                    # optional, if invalid or failed: a requirement that it breaks, or
                                        # a place where it differs from the script
    ...

Golden tables need no entries: their deviations are those of the vectors that read them. If a table that an entry names
was run, its outcome must be the one in the entry. ``state``, with the values of the previous release, is a deprecated
form of ``outcome``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import rtoml
from attrs import evolve, frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import pointer_prefix, shorten
from conformance.engine_setup.deviations import shipped_entries
from conformance.interop.cells import GOLDEN, Matrix, Participant, TableOutcome
from conformance.interop.results import FORMER_OUTCOMES
from conformance.runner.expectations import DeviationKind

WORDED_BY_THIS_TOOL = (TableOutcome.INVALID, TableOutcome.FAILED)
"""Outcomes whose reason is worded by this tool, not by the engine, so that it may change."""


@frozen
class KnownOutcome:
    """One known deviation of a consumer, or of a producer."""

    role: str
    """``cell`` or ``table``."""

    adapter: str
    tables: tuple[str, ...]
    outcome: TableOutcome
    reason: str
    versions: tuple[str, ...] = ()
    producers: tuple[str, ...] = ("*",)
    says: str = ""
    shows: str = ""
    evidence: str = ""
    sometimes: bool = False
    number: int = 0
    id: str = ""
    kind: DeviationKind = DeviationKind.DEVIATION
    requirements: tuple[str, ...] = ()
    """The requirements that it breaks, or, for kinds other than a deviation, that it concerns."""

    points: tuple[str, ...] = ()
    """The contradictions of the spec that it concerns."""

    counter: str = ""
    """The best argument for the engine's behaviour."""

    upstream: tuple[str, ...] = ()
    """Reports of it to the engine's project."""

    @property
    def label(self) -> str:
        """The id, or the place in the file if there is none."""
        return self.id or f"/{self.role}/{self.number}"

    def applies_to(self, participant: Participant) -> bool:
        """Return whether the entry applies to an adapter at its version."""
        names = (participant.name, participant.name.partition("@")[0], participant.implementation)
        return self.adapter in names and (not self.versions or participant.version in self.versions)

    def names(self, producer: str, table: str) -> bool:
        """Return whether the entry applies to a table."""
        return any(fnmatchcase(producer, one) for one in self.producers) and any(
            fnmatchcase(table, one) for one in self.tables
        )

    def matches(self, outcome: TableOutcome, reason: str, shows: Collection[str] = ()) -> bool:
        """Return whether the observed outcome is the one in the entry.

        Args:
            outcome: the outcome of the cell or the table.
            reason: the engine's message.
            shows: the codes and places of a table's faults.
        """
        return outcome is self.outcome and self.says in reason and (not self.shows or self.shows in shows)


def load_known(path: Path | None = None, names: Collection[str] = ()) -> tuple[KnownOutcome, ...]:
    """Load the known deviations of a file; by default, of the files that come with the tool.

    Args:
        path: the file.
        names: all tables that scripts make; each pattern must match one.

    Raises:
        UsageError: the file is malformed, or a pattern matches no table.
    """
    if path is None:
        of_engines = shipped_entries("cell", "table")
        return tuple(one for file, content in of_engines for one in _parse_content(file, content, names))
    try:
        content = rtoml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: known deviations cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: broken known deviations: {error}") from None
    return _parse_content(path, content, names)


def _parse_content(chosen: Path, content: dict[str, Any], names: Collection[str]) -> tuple[KnownOutcome, ...]:
    wrong = next(iter(_schema().iter_errors(content)), None)
    if wrong is not None:
        raise UsageError(
            f"{chosen}: broken known deviations: {pointer_prefix(wrong.instance_path)}{shorten(wrong.message)}"
        )
    found = tuple(
        _parse_known(role, index, row) for role in ("cell", "table") for index, row in enumerate(content.get(role, ()))
    )
    for known in found:
        words, facts = ("says", "shows") if known.outcome in WORDED_BY_THIS_TOOL else ("shows", "says")
        if known.role == "table" and getattr(known, words):
            raise UsageError(
                f"{chosen}: /table/{known.number}/{words}: an entry for the outcome {known.outcome.value} has {facts}"
            )
        for pattern in known.tables:
            if names and not any(fnmatchcase(name, pattern) for name in names):
                raise UsageError(f"{chosen}: /{known.role}/{known.number}/tables: no script makes {pattern!r}")
    return found


def _outcome(role: str, row: dict[str, Any]) -> TableOutcome:
    if "state" in row:
        return FORMER_OUTCOMES["state" if role == "cell" else "writing"][row["state"]]
    return TableOutcome(row["outcome"])


def _parse_known(role: str, number: int, row: dict[str, Any]) -> KnownOutcome:
    return KnownOutcome(
        role=role,
        adapter=row["consumer" if role == "cell" else "producer"],
        tables=tuple(row["tables"]),
        outcome=_outcome(role, row),
        reason=row["reason"],
        versions=tuple(row.get("versions", ())),
        producers=tuple(row.get("producers", ("*",))),
        says=row.get("says", ""),
        shows=row.get("shows", ""),
        evidence=row.get("evidence", ""),
        sometimes=row.get("sometimes", False),
        number=number,
        id=row.get("id", ""),
        kind=DeviationKind(row.get("kind", DeviationKind.DEVIATION.value)),
        requirements=tuple(row.get("requirements", ())),
        points=tuple(row.get("points", ())),
        counter=row.get("counter", ""),
        upstream=tuple(row.get("upstream", ())),
    )


@cache
def _schema() -> jsonschema_rs.Validator:
    text = (Path(__file__).parents[1] / "schemas" / "matrix_deviations.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def apply_known(matrix: Matrix, known: Iterable[KnownOutcome]) -> None:
    """Mark the known outcomes in a matrix, and note entries that do not match the outcomes.

    An entry for several cells must match each of them that could be read, and at least one.

    Raises:
        UsageError: two entries apply to the same cell.
    """
    entries = tuple(known)
    who = {one.name: one for one in matrix.participants}
    seen: dict[KnownOutcome, list[str]] = {}
    for place_, cell in enumerate(matrix.cells):
        if not cell.producer.startswith(GOLDEN):
            entry = _entry(entries, "cell", who[cell.consumer], cell.producer, cell.table)
            if entry is not None:
                subject = f"{cell.consumer} and {cell.table} of {cell.producer}"
                if _check_outcome(entry, subject, cell.outcome, cell.reason, seen):
                    matrix.cells[place_] = evolve(cell, known=entry.reason, known_id=entry.id)
    for place_, table in enumerate(matrix.tables):
        entry = _entry(entries, "table", who[table.producer], "", table.name) if table.producer in who else None
        if entry is not None:
            subject = f"{table.producer} and {table.name}"
            if _check_outcome(entry, subject, table.outcome, table.reason, seen, table.shows):
                matrix.tables[place_] = evolve(table, known=entry.reason, known_id=entry.id)
    for entry, notes in seen.items():
        if not entry.sometimes and all(note == UNSUPPORTED for note in notes):
            notes.append(
                f"{entry.label}: {', '.join(entry.tables)}: expected {entry.outcome.value}, got unsupported everywhere"
            )
        matrix.unmet += [note for note in notes if note not in (UNSUPPORTED, HAPPENED)]


UNSUPPORTED, HAPPENED = "unsupported", "happened"


def _check_outcome(
    entry: KnownOutcome,
    subject: str,
    outcome: TableOutcome,
    reason: str,
    seen: dict[KnownOutcome, list[str]],
    shows: Collection[str] = (),
) -> bool:
    """Return whether the observed outcome is the one in an entry; a mismatch is noted."""
    if entry.matches(outcome, reason, shows):
        note = HAPPENED
    elif outcome is TableOutcome.UNSUPPORTED:
        note = UNSUPPORTED
    else:
        because = f": {reason}" if reason else ""
        note = f"{entry.label}: {subject}: expected {entry.outcome.value}, got {outcome.value}{because}"
    seen.setdefault(entry, []).append(note)
    return note == HAPPENED


def _entry(
    entries: tuple[KnownOutcome, ...], role: str, who: Participant, producer: str, table: str
) -> KnownOutcome | None:
    found = [
        one
        for one in entries
        if one.role == role and one.applies_to(who) and (role == "table" or one.names(producer, table))
        if any(fnmatchcase(table, pattern) for pattern in one.tables)
    ]
    if len(found) > 1:
        numbers = " and ".join(one.label for one in found)
        raise UsageError(f"known deviations: {numbers} both name {who} and {table}")
    return found[0] if found else None
