"""Faults of commits that real writers had: the commit protocol with one change."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from spec_ref.commits import conflicts, file_removal, metadata_changes, snapshots, tables
from spec_ref.core.records import evolve
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]
Change = tuple[Any, str, Any]
"""What is changed: the owner, the name, and what stands there instead."""


def patched(*changes: Change) -> Wrong:
    """A fault that is there while the reference answers."""

    def wrong(args: Arguments, right: Operation) -> Any:
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
        try:
            for owner, name, value in changes:
                setattr(owner, name, value)
            return right(args)
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)

    return wrong


def _no_steps(*_: Any, **__: Any) -> Any:
    yield from ()


def _first_snapshot(metadata: Any, _: str) -> Any:
    return metadata.snapshots[0] if metadata.snapshots else None


def _next_snapshot(change: Callable[[Any, Any], Any]) -> Change:
    original = snapshots.next_snapshot

    def next_snapshot(wanted: Any, planned: Any, current: Any, *rest: Any) -> Any:
        return (yield from original(wanted, planned, change(planned, current), *rest))

    return snapshots, "next_snapshot", next_snapshot


def _moves_main(metadata: Any, snapshot: Any, _: str) -> Any:
    return _with_snapshot(metadata, snapshot, "main")


_with_snapshot = snapshots.add_snapshot


def _lost_reply_is_failure(self: Any, expected: Any, new: str, metadata: Any) -> Any:
    yield from ()
    return False


def _without_isolation(change: Any, *rest: Any) -> Any:
    open_ = evolve(change.validation, no_new_data=False, no_new_deletes=False)
    return _validate(evolve(change, validation=open_), *rest)


_validate = conflicts.validate_change


def _without_retry(args: Arguments, right: Operation) -> Any:
    """A writer that gives up an append when the table has changed at all."""
    answer = copy.deepcopy(right(args))
    kinds = [step["change"]["op"] for step in args["log"] if step["do"] == "stage"]
    if len(answer["outcomes"]) == 2 and kinds[1:] == ["append"]:
        answer["outcomes"][1] = "conflict"
    return answer


def _commits(name: str, wrong: Wrong) -> Fault:
    return Fault(f"commit-{name}", "commit.replay", wrong)


FAULTS = (
    _commits(
        "sequence-number-kept",
        patched(_next_snapshot(lambda planned, now: evolve(now, last_sequence_number=planned.last_sequence_number))),
    ),
    _commits(
        "row-ids-kept",
        patched(_next_snapshot(lambda planned, now: evolve(now, next_row_id=planned.next_row_id))),
    ),
    _commits("list-of-the-plan", patched((snapshots, "branch_head", _first_snapshot))),
    _commits("removed-files-not-verified", patched((file_removal, "_check_all_found", lambda *_: None))),
    _commits("new-deletes-not-verified", patched((conflicts, "check_new_deletes", _no_steps))),
    _commits("no-isolation", patched((conflicts, "validate_change", _without_isolation))),
    _commits("two-vectors", patched((conflicts, "_check_vectors", _no_steps))),
    _commits("schema-not-verified", patched((metadata_changes, "_check_unchanged", lambda *_: None))),
    _commits("branch-moves-main", patched((snapshots, "add_snapshot", _moves_main))),
    _commits("lost-reply-is-failure", patched((tables.MetastoreTable, "is_committed", _lost_reply_is_failure))),
    _commits("append-not-tried-again", _without_retry),
)
