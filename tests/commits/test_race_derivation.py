"""The model from which race vectors are derived, compared with outcomes worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tools.derive.cases.commit_kit import base, changes, data_file, race
from tools.derive.commits import replay


def outcomes(version: int, first: str, second: str) -> list[list[str]]:
    log = race(changes(version, "a")[first], changes(version, "b")[second])
    return [one["outcomes"] for one in replay(version, base(version), log)]


DONE, LOST = ["committed", "committed"], ["committed", "conflict"]


@pytest.mark.parametrize(
    ("version", "first", "second", "permitted"),
    [
        (2, "append", "append", [DONE]),
        (2, "delete", "delete", [LOST]),
        (2, "rewrite", "delete", [LOST]),
        (2, "delete", "rewrite", [LOST]),
        (2, "equality-delete", "rewrite", [LOST]),
        (2, "equality-delete", "rewrite-older", [DONE, LOST]),  # E26: a writer may validate more than it must
        (2, "position-delete", "rewrite-older", [LOST]),
        (2, "append", "overwrite-serializable", [LOST]),
        (2, "append-elsewhere", "overwrite-serializable", [DONE]),
        (2, "append", "overwrite-snapshot", [DONE]),
        (2, "schema", "schema", [LOST]),
        (2, "append", "schema", [DONE, LOST]),
        (2, "schema", "append", [DONE]),
        (2, "delete", "position-delete", [LOST]),
        (3, "position-delete", "position-delete", [LOST]),
        (2, "position-delete", "position-delete", [DONE]),
        (2, "upgrade", "position-delete", [LOST]),
        (1, "upgrade", "append", [DONE]),
    ],
)
def test_what_the_text_permits(version: int, first: str, second: str, permitted: list[list[str]]) -> None:
    found = outcomes(version, first, second)
    assert [one for number, one in enumerate(found) if one not in found[:number]] == permitted


def test_rows_that_were_given_ids_meanwhile_may_be_written_anew_or_not() -> None:
    begins = [*base(2), {"op": "upgrade", "version": 3}]
    made, other = changes(3, "a"), changes(3, "b")
    log = race(made["append"], other["rewrite"])
    assert [one["outcomes"] for one in replay(2, begins, log)] == [LOST, DONE]
    later = [{"op": "append", "files": [data_file("f4")]}]
    assert [one["outcomes"] for one in replay(2, begins + later, log)] == [DONE]


def test_the_state_after_two_appends_is_what_counting_gives() -> None:
    log = race(changes(3, "a")["append"], changes(3, "b")["append-to-branch"])
    (answer,) = replay(3, base(3), log)
    expected: dict[str, Any] = {
        "format-version": 3,
        "last-sequence-number": "4",
        "columns": ["id", "part"],
        "spec": ["part"],
        "sort": [],
        "properties": {},
        "refs": {
            "audit": {
                "type": "branch",
                "operations": ["append", "append"],
                "files": {"b-branch": "4", "f1": "1", "f2": "1"},
            },
            "main": {
                "type": "branch",
                "operations": ["append", "append", "append"],
                "files": {"a-new": "3", "f1": "1", "f2": "1", "f3": "2"},
            },
        },
        "statistics": [],
        "snapshots": 4,
        "row-ids": "disjoint",
    }
    assert answer == {"outcomes": DONE, "table": expected}


def test_a_base_that_the_text_refuses_is_a_mistake_of_the_case() -> None:
    with pytest.raises(ValueError, match="refuses"):
        replay(2, [{"op": "delete", "remove": ["nothing"]}], [])
    with pytest.raises(ValueError, match="no such change"):
        replay(2, [{"op": "dance", "files": [data_file("f")]}], [])
