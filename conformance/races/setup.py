"""Create the initial table of a race by applying changes in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from conformance.races.state import CommittedMetadata, SharedState
from spec_ref.commits.commit import commit
from spec_ref.commits.effects import DeleteFile, NonDeterministic, ReadFile, ReadPointer, SwapPointer, WriteFile

CREATED_MS = 5000
"""The time of the initial table; `conformance.races.writers` has clocks before and after it."""


def build_state(changes: Sequence[Any], table: Any, data_files: Sequence[str] = ()) -> SharedState:
    """Return the table after the changes, which are applied in order; the first one creates the table."""
    shared = SharedState(table, (), dict.fromkeys(data_files))
    for number, change in enumerate(changes):
        steps = commit(change, table)
        answer: Any = None
        names = 0
        try:
            while True:
                match steps.send(answer):
                    case NonDeterministic.NAME:
                        names += 1
                        answer = f"base{number}-{names}"
                    case NonDeterministic.SNAPSHOT_ID:
                        answer = 10 + number
                    case NonDeterministic.NOW:
                        answer = CREATED_MS + number
                    case ReadPointer():
                        answer = shared.pointer
                    case ReadFile(path):
                        answer = shared.files.get(path)
                    case WriteFile(path, content):
                        shared = evolve(shared, files={**shared.files, path: content})
                        answer = 1
                    case SwapPointer(expected, new):
                        shared, answer = shared.swap(-1, expected, new)
                    case DeleteFile(path):
                        shared = evolve(shared, files={name: one for name, one in shared.files.items() if name != path})
                        answer = None
        except StopIteration:
            continue
    return evolve(shared, history=tuple(CommittedMetadata(one.location, one.written, -1) for one in shared.history))
