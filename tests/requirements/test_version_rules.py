"""What one version of a table may not change of the version before."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from conformance.operations.commits.fixtures import empty_table
from conformance.validator.diff import forbidden_changes
from spec_ref.checks.findings import Severity
from spec_ref.table_metadata import read_metadata, write_metadata

LATE = {"id": 7, "name": "late", "required": False, "type": "int", "initial-default": 3}


def document() -> dict[str, Any]:
    """A table whose column ids go up to 9, although its schemas have fewer columns."""
    made = write_metadata(empty_table(3)) | {"last-column-id": 9}
    made["schemas"][0]["fields"].append(copy.deepcopy(LATE))
    return made


def with_schema(new: dict[str, Any], column: dict[str, Any], last: int = 10) -> None:
    fields = [*new["schemas"][0]["fields"][:-1], column]
    new["schemas"].append({**new["schemas"][0], "schema-id": 1, "fields": fields})
    new["last-column-id"] = last


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda new: with_schema(new, {**LATE, "name": "renamed"}), set()),
        (lambda new: with_schema(new, {**LATE, "id": 10}), set()),
        (lambda new: with_schema(new, {**LATE, "id": 8}), {"EVO009"}),
        (lambda new: with_schema(new, {**LATE, "write-default": 4}), set()),
        (lambda new: with_schema(new, {**LATE, "initial-default": 4}), {"EVO014"}),
        (lambda new: new["partition-specs"].append({"spec-id": 1, "fields": []}), set()),
        (lambda new: new["partition-specs"][0].update(fields=[]), {"PAR011"}),
    ],
)
def test_what_later_versions_may_not_change_is_reported(change: Callable[[Any], Any], codes: set[str]) -> None:
    old, new = document(), document()
    change(new)
    found = forbidden_changes(read_metadata(old), read_metadata(new), "old", "new")
    assert {one.requirement for one in found if one.severity is Severity.ERROR} == codes
