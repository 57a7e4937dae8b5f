"""The journals of writers: each commit before it starts, and its outcome.

A journal is a file with one JSON object per line. A killed writer leaves an entry without an outcome, or an incomplete
line; everything else is complete.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

import attrs

Entry = dict[str, Any]

DONE, REFUSED, MAYBE = "done", "refused", "maybe"
"""The outcomes of a commit: acknowledged; refused; unknown."""


@attrs.frozen(kw_only=True)
class JournalEntry:
    """One commit, or observation, of a writer."""

    writer: int
    number: int
    kind: str
    """append, delete, overwrite, property, column, expire, or observe, which does not commit."""

    op: int | None = None
    """The number in the column ``op`` of the rows that it adds."""

    old: int | None = None
    """The number in the column ``op`` of the rows that it deletes."""

    ref: str = "main"
    started: float
    """The start time by the machine's monotonic clock, which all processes share."""

    ended: float = float("inf")
    outcome: str = MAYBE
    error: str = ""
    """The error that the client raised, if any."""

    seen: Entry = attrs.field(factory=dict)
    """What an observation saw."""

    contradictions: tuple[str, ...] = ()
    """Contradictions between answers of the catalog that the client noticed."""


def note(file: TextIO, entry: Entry) -> None:
    """Write an entry and flush it."""
    file.write(json.dumps(entry) + "\n")
    file.flush()


def read_journals(directory: Path) -> list[JournalEntry]:
    """Read all operations in the writers' journals."""
    return [one for path in sorted(directory.glob("*.jsonl")) for one in _read(path)]


def _read(path: Path) -> list[JournalEntry]:
    operations: dict[int, JournalEntry] = {}
    for line in path.read_text().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the writer was killed while it wrote the line
            continue
        number = entry["number"]
        if number in operations:
            operations[number] = attrs.evolve(
                operations[number],
                ended=entry["t"],
                outcome=entry["outcome"],
                error=entry.get("error", ""),
                seen=entry.get("seen", {}),
                contradictions=tuple(entry.get("contradictions", ())),
            )
        else:
            members = {name: entry[name] for name in ("writer", "number", "kind", "op", "old", "ref") if name in entry}
            operations[number] = JournalEntry(**members, started=entry["t"])
    return list(operations.values())
