"""What writers note: each commit before it is begun, and what came of it.

A journal is a file of JSON objects, a line each. A writer that is killed leaves an entry without an end, or half a
line; everything else is known.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

import attrs

Entry = dict[str, Any]

DONE, REFUSED, MAYBE = "done", "refused", "maybe"
"""What came of a commit: acknowledged; answered as not done; may have been done or not."""


@attrs.frozen(kw_only=True)
class Operation:
    """One commit, or observation, of a writer."""

    writer: int
    number: int
    kind: str
    """append, delete, overwrite, property, column, expire, or observe, which commits nothing."""

    op: int | None = None
    """The number that the rows have which it adds, in the column ``op``."""

    old: int | None = None
    """The number of the rows that it deletes."""

    ref: str = "main"
    started: float
    """By the monotonic clock of the machine, which all processes share."""

    ended: float = float("inf")
    outcome: str = MAYBE
    error: str = ""
    """What the client raised, where it did."""

    seen: Entry = attrs.field(factory=dict)
    """What an observation saw."""

    contradictions: tuple[str, ...] = ()
    """Where the client noticed that the catalog contradicts itself."""


def note(file: TextIO, entry: Entry) -> None:
    """Write an entry, at once."""
    file.write(json.dumps(entry) + "\n")
    file.flush()


def read_journals(directory: Path) -> list[Operation]:
    """All operations that writers noted."""
    return [one for path in sorted(directory.glob("*.jsonl")) for one in _read(path)]


def _read(path: Path) -> list[Operation]:
    operations: dict[int, Operation] = {}
    for line in path.read_text().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # the writer was killed while it wrote
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
            operations[number] = Operation(**members, started=entry["t"])
    return list(operations.values())
