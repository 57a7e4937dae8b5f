"""Entries of deleted files: their numbers are those that the files have in the parent snapshot."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from conformance.validator.check_results import Facts
from conformance.validator.context import Context, Level, ManifestMembership
from conformance.validator.cross_files import check_bucket
from conformance.validator.manifest_facts import FILES
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.table_metadata import read_metadata

PARENT, CHILD = 1, 2
ADDED, EXISTING, DELETED = EntryStatus.ADDED, EntryStatus.EXISTING, EntryStatus.DELETED

CONTEXT = Context(
    read_metadata(
        {
            "format-version": 3,
            "table-uuid": "00000000-0000-0000-0000-000000000001",
            "location": "file:/t",
            "last-updated-ms": 2,
            "last-column-id": 1,
            "last-sequence-number": 9,
            "next-row-id": 90,
            "current-schema-id": 0,
            "schemas": [{"type": "struct", "schema-id": 0, "fields": []}],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "current-snapshot-id": CHILD,
            "snapshots": [
                {"snapshot-id": PARENT, "sequence-number": 5, "timestamp-ms": 1, "manifest-list": "file:/1"},
                {
                    "snapshot-id": CHILD,
                    "parent-snapshot-id": PARENT,
                    "sequence-number": 6,
                    "timestamp-ms": 2,
                    "manifest-list": "file:/2",
                },
            ],
        }
    ),
    "file:/m",
    Level.MANIFESTS,
)


def entry(sequence: int | None, file_sequence: int | None, row_id: int | None, **changes: Any) -> dict[str, Any]:
    """An entry for the file ``f`` that snapshot 1 added."""
    numbers = {"sequence": sequence, "file_sequence": file_sequence, "row_id": row_id}
    return {"key": "f", "status": ADDED, "snapshot": PARENT, "content": FileContent.DATA, **numbers, **changes}


def deleted(sequence: int | None, file_sequence: int | None, row_id: int | None, **changes: Any) -> dict[str, Any]:
    """An entry with which snapshot 2 deletes the file ``f``."""
    return entry(sequence, file_sequence, row_id, **{"status": DELETED, "snapshot": CHILD, **changes})


def found(
    parent: list[dict[str, Any]], child: list[dict[str, Any]], ambiguous: frozenset[int] = frozenset()
) -> list[tuple[str, str | None, str | None]]:
    """Return the findings of a snapshot without manifests of its parent: the check, and what is found and expected."""
    rows = [
        {"manifest": manifest, "entry": number, "records": 5, "partition": 0, "details": None, **one}
        for manifest, entries in enumerate((parent, child))
        for number, one in enumerate(entries)
    ]
    members = ManifestMembership(
        2,
        {PARENT: frozenset({0}), CHILD: frozenset({1})},
        (CHILD,),
        ((CHILD, PARENT),),
        completely_read=frozenset({PARENT, CHILD}),
        ambiguous_row_ids=ambiguous,
    )
    facts = Facts(0, "files", pa.RecordBatch.from_pylist(rows, schema=FILES))
    findings = check_bucket(CONTEXT, members, {0: "file:/0", 1: "file:/1"}, [facts])
    return sorted((one.check, one.violation.found, one.violation.expected) for one in findings)


CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], list[tuple[str, str | None, str | None]]]] = {
    "the numbers of the file": ([entry(3, 4, 10)], [deleted(3, 4, 10)], []),
    "other numbers": (
        [entry(3, 4, 10)],
        [deleted(4, 5, 11)],
        [
            ("data-sequence-number-constant-deleted-entry", "4", "3"),
            ("file-sequence-number-constant-deleted-entry", "5", "4"),
            ("first-row-id-persisted-deleted-entry", "11", "10"),
        ],
    ),
    "no row id": (
        [entry(3, 4, 0)],
        [deleted(3, 4, None)],
        [("first-row-id-persisted-deleted-entry", "null", "0")],
    ),
    "no row id, of a file that an older snapshot added": (
        [entry(3, 4, 10, status=EXISTING)],
        [deleted(3, 4, None)],
        [("first-row-id-persisted-deleted-entry", "null", "10")],
    ),
    "a file without row id, from before an upgrade to v3": ([entry(3, 4, None)], [deleted(3, 4, None)], []),
    "a file of v1": ([entry(0, 0, None)], [deleted(0, 0, None)], []),
    "no sequence numbers, which another check reports": ([entry(3, 4, 10)], [deleted(None, None, 10)], []),
    "a delete file, which has no row id": (
        [entry(3, 4, None, content=FileContent.POSITION_DELETES)],
        [deleted(3, 4, None, content=FileContent.POSITION_DELETES)],
        [],
    ),
    "a file that the parent lists twice": (
        [entry(3, 3, 10), entry(4, 4, 20)],
        [deleted(3, 3, 10), deleted(4, 4, 20)],
        [],
    ),
    "an entry that an older snapshot deleted": (
        [entry(3, 4, 10)],
        [entry(3, 4, 10, status=EXISTING), deleted(1, 1, None, snapshot=PARENT)],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_deleted_entry_is_compared_with_the_file_in_the_parent(name: str) -> None:
    parent, child, expected = CASES[name]
    assert found(parent, child) == expected


def test_row_ids_that_depend_on_the_snapshot_are_not_compared() -> None:
    assert found([entry(3, 4, 10)], [deleted(3, 4, 50)], ambiguous=frozenset({0})) == []
