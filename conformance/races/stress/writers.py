"""The work of one writer: random changes of the rows that it wrote, each logged before and after.

This module runs in the environment of the client, so it imports only what every such environment has.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import attrs

from conformance.races.stress.journal import DONE, MAYBE, Entry, note

ROWS = 3
"""The number of rows that each append adds."""

PER_WRITER = 1_000_000
"""The first operation number of each writer is its number times this."""

BRANCH = "audit"
PAUSE_AFTER_ERROR_S = 0.2
EXPIRE_EVERY_S = 2.0
OBSERVE_EVERY = 4


@attrs.frozen(kw_only=True)
class Work:
    """The settings of writers, which are passed as JSON."""

    client: str
    """The client: reference or pyiceberg."""

    catalog: str
    """The URL of one of our stores, or the name of a catalog in PyIceberg's configuration."""

    table: str = ""
    """The table's identifier, in PyIceberg's catalog."""

    location: str = ""
    """The location of the table's files; by default, the catalog chooses it."""

    journals: str
    max_commits: int
    """The maximum number of commits of each writer."""

    version: int = 2
    seed: int = 0
    allow_remote: bool = False
    """Whether the catalog may be on another machine."""

    properties: dict[str, str] = attrs.field(factory=dict)
    """The properties of the catalog, instead of PyIceberg's configuration."""


class CatalogClient(Protocol):
    """A client of a catalog, which commits to one table."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of operations besides appends that the client can run on the created table."""

    def create(self) -> Entry:
        """Create the table; return the description of the client and the catalog."""

    def locate(self) -> str | None:
        """Return the location of the current metadata file; None if there is no table."""

    def drop(self) -> None:
        """Remove the table from the catalog."""

    def commit(self, entry: Entry) -> None:
        """Run an operation; `outcome` interprets any exception."""

    def outcome(self, error: Exception) -> str:
        """Return ``refused`` if an error means that nothing was committed, else ``maybe``."""

    def observe(self) -> Entry:
        """Observe the table: the last sequence number, the properties and the columns."""

    def contradictions(self) -> list[str]:
        """Return the contradictions between the catalog's answers since the last call."""


def work(client: CatalogClient, writer: int, plan: Work, until: float) -> None:
    """Commit changes until a time of the monotonic clock, and log them in the journal."""
    chance = random.Random(f"{plan.seed} {writer}")
    mine: list[int] = []
    kinds = _kinds(client, until)
    expired = time.monotonic()
    with (Path(plan.journals) / f"{writer}.jsonl").open("a", encoding="utf-8") as journal:
        for number in range(1, plan.max_commits + 1):
            if number > 1 and time.monotonic() > until:  # each writer commits at least once, however slow the machine
                return
            entry = {"writer": writer, "number": number, **_choose_operation(kinds, chance, writer, number, mine)}
            if entry["kind"] == "property" and writer == 0 and time.monotonic() - expired > EXPIRE_EVERY_S:
                expired = time.monotonic()
                if "expire" in kinds:
                    entry["kind"] = "expire"
            note(journal, {**entry, "t": time.monotonic()})
            end = _attempt(client.commit, client, entry)
            note(journal, {"number": number, **end, "t": time.monotonic(), "contradictions": client.contradictions()})
            if entry.get("old") in mine and end["outcome"] != "refused":
                mine.remove(entry["old"])
            if end["outcome"] == DONE:
                mine += [entry["op"]] if "op" in entry and entry.get("ref") != BRANCH else []
            else:
                time.sleep(PAUSE_AFTER_ERROR_S)
            if number % OBSERVE_EVERY == 0:
                _observe(client, journal, writer, -number)


def _kinds(client: CatalogClient, until: float) -> tuple[str, ...]:
    """Return the further kinds of operations, with retries while the server is down; none if it stays down."""
    while True:
        try:
            return client.kinds
        except Exception:
            if time.monotonic() > until:
                return ()
            time.sleep(PAUSE_AFTER_ERROR_S)


def _observe(client: CatalogClient, journal: Any, writer: int, number: int) -> None:
    note(journal, {"writer": writer, "number": number, "kind": "observe", "t": time.monotonic()})
    end = _attempt(lambda _: client.observe(), client, {})
    note(journal, {"number": number, **end, "t": time.monotonic()})


def _attempt(do: Callable[[Entry], Entry | None], client: CatalogClient, entry: Entry) -> Entry:
    try:
        seen = do(entry)
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        return {"outcome": client.outcome(error), "error": f"{type(error).__name__}: {text}"}
    return {"outcome": DONE, "seen": seen or {}}


def _choose_operation(
    kinds: tuple[str, ...], chance: random.Random, writer: int, number: int, mine: list[int]
) -> Entry:
    op = writer * PER_WRITER + number
    roll = chance.random()
    if len(mine) > 8 or (mine and roll < 0.2):
        return {"kind": "delete", "old": chance.choice(mine)}
    if mine and roll < 0.35:
        return {"kind": "overwrite", "old": chance.choice(mine), "op": op}
    if roll < 0.5:
        return {"kind": "property"}
    if roll < 0.53:
        return {"kind": "column"}
    if roll < 0.6 and "branch" in kinds:
        return {"kind": "append", "op": op, "ref": BRANCH}
    return {"kind": "append", "op": op}


def writer_property(writer: int) -> str:
    """Return the property that a writer sets to the number of its operation."""
    return f"stress.{writer}"


def column_name(writer: int, number: int) -> str:
    """Return the name of the column that an operation adds."""
    return f"c_{writer}_{number}"


__all__ = [
    "BRANCH",
    "DONE",
    "MAYBE",
    "PER_WRITER",
    "ROWS",
    "CatalogClient",
    "Work",
    "column_name",
    "work",
    "writer_property",
]
