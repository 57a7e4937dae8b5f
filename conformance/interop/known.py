"""Cells that are known to be as they are.

Sections of ``deviations.toml`` of an engine, or of a file that ``matrix --known`` names::

    [[cell]]
    id = "duckdb-loses-deletes"         # optional: a stable name, unique among all files
    kind = "deviation"                  # optional: one of `expectations.Kind`; deviation where it is left out
    requirements = ["SCN010"]           # optional: what it breaks, or is about
    points = ["C25"]                    # optional: contradictions of the texts that it is about
    consumer = "duckdb"                 # an adapter's name, without @version
    versions = ["1.5.5"]                # the versions it was seen in; any where left out
    producers = ["iceberg-java@1.12.0"] # names, which may have * in them; any where left out
    tables = ["evolution-*"]            # scripts with their variants, which may have * in them
    state = "refuses"                   # wrong, refuses or crashes
    says = "not yet"                    # optional: a part of what the engine says, so that another is a difference
    reason = "why it is wrong, and what breaks"
    counter = "what speaks for it"      # optional: the best argument that the engine is right
    evidence = "where it can be seen"
    upstream = ["https://..."]          # optional: reports of it to the engine's project
    sometimes = true                    # optional: it depends on chance, and on another day the consumer cannot

    [[table]]
    producer = "pyiceberg"              # what a producer makes of a script: invalid, wrong, refused or crashed
    shows = "DFL012"                    # optional, of one that is invalid or wrong: a requirement that it breaks, or a
                                        # place where it differs from the script
    ...

Golden tables need no entries: their deviations are those of the vectors that read them. Every table that an entry
names and that ran has to be as it says.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
from attrs import evolve, frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import place, shorten
from conformance.engine_setup.deviations import shipped_entries
from conformance.interop.cells import GOLDEN, Matrix, Participant, Writing
from conformance.runner.expectations import Kind

OF_TABLES = (Writing.INVALID.value, Writing.WRONG.value)
"""States of tables that were written and are not as they should be: this tool says why, in words that may change."""


@frozen
class Known:
    """One known deviation of a consumer, or of a producer."""

    role: str
    """``cell`` or ``table``."""

    who: str
    tables: tuple[str, ...]
    state: str
    reason: str
    versions: tuple[str, ...] = ()
    producers: tuple[str, ...] = ("*",)
    says: str = ""
    shows: str = ""
    evidence: str = ""
    sometimes: bool = False
    number: int = 0
    id: str = ""
    kind: Kind = Kind.DEVIATION
    requirements: tuple[str, ...] = ()
    """The requirements that it breaks; for other kinds than a deviation, those that it is about."""

    points: tuple[str, ...] = ()
    """The contradictions of the texts that it is about."""

    counter: str = ""
    """The best argument that the engine is right."""

    upstream: tuple[str, ...] = ()
    """Reports of it to the engine's project."""

    @property
    def label(self) -> str:
        """Its id, or its place in the file where it has none."""
        return self.id or f"/{self.role}/{self.number}"

    def is_of(self, who: Participant) -> bool:
        """Whether it speaks of an adapter, at its version."""
        names = (who.name, who.name.partition("@")[0], who.implementation)
        return self.who in names and (not self.versions or who.version in self.versions)

    def names(self, producer: str, table: str) -> bool:
        """Whether it speaks of a table."""
        return any(fnmatchcase(producer, one) for one in self.producers) and any(
            fnmatchcase(table, one) for one in self.tables
        )

    def happened(self, state: str, reason: str, shows: Collection[str] = ()) -> bool:
        """Whether what was seen is what it says.

        Args:
            state: how the cell or table ended.
            reason: what the engine says.
            shows: the codes and places of a table that is not as it should be.
        """
        return state == self.state and self.says in reason and (not self.shows or self.shows in shows)


def load_known(path: Path | None = None, names: Collection[str] = ()) -> tuple[Known, ...]:
    """The known deviations of a file; of those that come with the tool where none is given.

    Args:
        path: the file.
        names: all tables that scripts make; each pattern has to fit one.

    Raises:
        UsageError: the file is not of the form, or names no table.
    """
    if path is None:
        of_engines = shipped_entries("cell", "table")
        return tuple(one for file, content in of_engines for one in _of_content(file, content, names))
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: known deviations cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: broken known deviations: {error}") from None
    return _of_content(path, content, names)


def _of_content(chosen: Path, content: dict[str, Any], names: Collection[str]) -> tuple[Known, ...]:
    wrong = next(iter(_schema().iter_errors(content)), None)
    if wrong is not None:
        raise UsageError(f"{chosen}: broken known deviations: {place(wrong.instance_path)}{shorten(wrong.message)}")
    found = tuple(
        _known(role, index, row) for role in ("cell", "table") for index, row in enumerate(content.get(role, ()))
    )
    for known in found:
        words, facts = ("says", "shows") if known.state in OF_TABLES else ("shows", "says")
        if known.role == "table" and getattr(known, words):
            raise UsageError(f"{chosen}: /table/{known.number}/{words}: what is {known.state} has {facts}")
        for pattern in known.tables:
            if names and not any(fnmatchcase(name, pattern) for name in names):
                raise UsageError(f"{chosen}: /{known.role}/{known.number}/tables: no script makes {pattern!r}")
    return found


def _known(role: str, number: int, row: dict[str, Any]) -> Known:
    return Known(
        role=role,
        who=row["consumer" if role == "cell" else "producer"],
        tables=tuple(row["tables"]),
        state=row["state"],
        reason=row["reason"],
        versions=tuple(row.get("versions", ())),
        producers=tuple(row.get("producers", ("*",))),
        says=row.get("says", ""),
        shows=row.get("shows", ""),
        evidence=row.get("evidence", ""),
        sometimes=row.get("sometimes", False),
        number=number,
        id=row.get("id", ""),
        kind=Kind(row.get("kind", Kind.DEVIATION.value)),
        requirements=tuple(row.get("requirements", ())),
        points=tuple(row.get("points", ())),
        counter=row.get("counter", ""),
        upstream=tuple(row.get("upstream", ())),
    )


@cache
def _schema() -> jsonschema_rs.Validator:
    text = (files("conformance") / "schemas" / "matrix_deviations.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def apply_known(matrix: Matrix, known: Iterable[Known]) -> None:
    """Mark what is known in a matrix, and note what was said and is not so.

    An entry that speaks of several cells has to be right about each that could be read, and about one at least.

    Raises:
        UsageError: two entries speak of one cell.
    """
    entries = tuple(known)
    who = {one.name: one for one in matrix.participants}
    seen: dict[Known, list[str]] = {}
    for place_, cell in enumerate(matrix.cells):
        if not cell.producer.startswith(GOLDEN):
            entry = _entry(entries, "cell", who[cell.consumer], cell.producer, cell.table)
            if entry is not None:
                told = f"{cell.consumer} and {cell.table} of {cell.producer}"
                if _happened(entry, told, cell.state.value, cell.reason, seen):
                    matrix.cells[place_] = evolve(cell, known=entry.reason)
    for table in matrix.tables:
        entry = _entry(entries, "table", who[table.producer], "", table.name) if table.producer in who else None
        if entry is not None:
            told = f"{table.producer} and {table.name}"
            if _happened(entry, told, table.writing.value, table.reason, seen, table.shows):
                matrix.known_tables[table.producer, table.name] = entry.reason
    for entry, states in seen.items():
        if not entry.sometimes and all(state == CANNOT for state in states):
            states.append(f"{entry.label}: {', '.join(entry.tables)}, {entry.state}: it cannot be seen now")
        matrix.unmet += [state for state in states if state not in (CANNOT, HAPPENED)]


CANNOT, HAPPENED = "cannot", "happened"


def _happened(
    entry: Known, told: str, state: str, reason: str, seen: dict[Known, list[str]], shows: Collection[str] = ()
) -> bool:
    """Whether what was seen is what an entry says; noted either way."""
    if entry.happened(state, reason, shows):
        note = HAPPENED
    elif state == CANNOT:
        note = CANNOT
    else:
        note = f"{entry.label}: {told}, {entry.state}: it is {state} now{f': {reason}' if reason else ''}"
    seen.setdefault(entry, []).append(note)
    return note == HAPPENED


def _entry(entries: tuple[Known, ...], role: str, who: Participant, producer: str, table: str) -> Known | None:
    found = [
        one
        for one in entries
        if one.role == role and one.is_of(who) and (role == "table" or one.names(producer, table))
        if any(fnmatchcase(table, pattern) for pattern in one.tables)
    ]
    if len(found) > 1:
        numbers = " and ".join(one.label for one in found)
        raise UsageError(f"known deviations: {numbers} both speak of {who} and {table}")
    return found[0] if found else None
