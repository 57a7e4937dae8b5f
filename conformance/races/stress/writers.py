"""The work of one writer: random changes of the rows that it wrote, each logged before and after.

Runs in the environment of the client, so it imports what every such environment has.
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
"""How many rows each append adds."""

PER_WRITER = 1_000_000
"""Operations of a writer have the numbers from its own times this on."""

BRANCH = "audit"
PAUSE_AFTER_ERROR_S = 0.2
EXPIRE_EVERY_S = 2.0
OBSERVE_EVERY = 4


@attrs.frozen(kw_only=True)
class Work:
    """What writers are to do; travels as JSON."""

    client: str
    """reference or pyiceberg."""

    catalog: str
    """The URL of a store of ours, or the name of a catalog in PyIceberg's configuration."""

    table: str = ""
    """The table's identifier, in PyIceberg's catalog."""

    location: str = ""
    """Where the table's files are; the catalog decides where not given."""

    journals: str
    most_commits: int
    """Of each writer."""

    version: int = 2
    seed: int = 0
    allow_remote: bool = False
    """Whether the catalog may be on another machine."""

    properties: dict[str, str] = attrs.field(factory=dict)
    """Of the catalog, in place of a configuration of PyIceberg's."""


class Client(Protocol):
    """A client of a catalog, which commits to one table."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of operations that it can do besides appends, on the table that was made."""

    def create(self) -> Entry:
        """Make the table; return the description of the client and the catalog."""

    def locate(self) -> str | None:
        """Where the table's metadata is now; None where there is no table."""

    def drop(self) -> None:
        """Remove the table from the catalog."""

    def commit(self, entry: Entry) -> None:
        """Do an operation; whatever is raised, `outcome` says what it means."""

    def outcome(self, error: Exception) -> str:
        """``refused`` where an error says that nothing was committed, else ``maybe``."""

    def observe(self) -> Entry:
        """What the table shows: the last sequence number, the properties and the columns."""

    def contradictions(self) -> list[str]:
        """Where the catalog has contradicted itself since the last call."""


def work(client: Client, writer: int, plan: Work, until: float) -> None:
    """Commit changes until a time by the monotonic clock, and note them."""
    chance = random.Random(f"{plan.seed} {writer}")
    mine: list[int] = []
    kinds = _kinds(client, until)
    expired = time.monotonic()
    with (Path(plan.journals) / f"{writer}.jsonl").open("a", encoding="utf-8") as journal:
        for number in range(1, plan.most_commits + 1):
            if number > 1 and time.monotonic() > until:  # each commits, however slow the machine
                return
            entry = {"writer": writer, "number": number, **_chosen(kinds, chance, writer, number, mine)}
            if entry["kind"] == "property" and writer == 0 and time.monotonic() - expired > EXPIRE_EVERY_S:
                expired = time.monotonic()
                if "expire" in kinds:
                    entry["kind"] = "expire"
            note(journal, {**entry, "t": time.monotonic()})
            end = _tried(client.commit, client, entry)
            note(journal, {"number": number, **end, "t": time.monotonic(), "contradictions": client.contradictions()})
            if entry.get("old") in mine and end["outcome"] != "refused":
                mine.remove(entry["old"])
            if end["outcome"] == DONE:
                mine += [entry["op"]] if "op" in entry and entry.get("ref") != BRANCH else []
            else:
                time.sleep(PAUSE_AFTER_ERROR_S)
            if number % OBSERVE_EVERY == 0:
                _observe(client, journal, writer, -number)


def _kinds(client: Client, until: float) -> tuple[str, ...]:
    """The further kinds of operations, asked for again while the server is away; none where it stays away."""
    while True:
        try:
            return client.kinds
        except Exception:
            if time.monotonic() > until:
                return ()
            time.sleep(PAUSE_AFTER_ERROR_S)


def _observe(client: Client, journal: Any, writer: int, number: int) -> None:
    note(journal, {"writer": writer, "number": number, "kind": "observe", "t": time.monotonic()})
    end = _tried(lambda _: client.observe(), client, {})
    note(journal, {"number": number, **end, "t": time.monotonic()})


def _tried(do: Callable[[Entry], Entry | None], client: Client, entry: Entry) -> Entry:
    try:
        seen = do(entry)
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        return {"outcome": client.outcome(error), "error": f"{type(error).__name__}: {text}"}
    return {"outcome": DONE, "seen": seen or {}}


def _chosen(kinds: tuple[str, ...], chance: random.Random, writer: int, number: int, mine: list[int]) -> Entry:
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


def property_of(writer: int) -> str:
    """The property that a writer sets, to the number of its operation."""
    return f"stress.{writer}"


def column_of(writer: int, number: int) -> str:
    """The column that an operation adds."""
    return f"c_{writer}_{number}"


__all__ = ["BRANCH", "DONE", "MAYBE", "PER_WRITER", "ROWS", "Client", "Work", "column_of", "property_of", "work"]
