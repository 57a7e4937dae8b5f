"""Scripts for writers, and the resulting tables by the model (`conformance.scripts.model`).

For some scripts, the suite ``changing`` runs only the last operations, on tables that the reference made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.scripts.expected import expected_table
from conformance.scripts.model import run_model
from tools.derive.cases import awkward_writing
from tools.derive.cases.writing_changes import CHANGES, DELETES, EQUALITY, LINEAGE
from tools.derive.cases.writing_kit import Case
from tools.derive.cases.writing_rows import NESTED_TYPES, PARTITIONS, SORTED, TYPES
from tools.derive.cases.writing_tables import EVOLUTION, OLD_ROWS, REFERENCES, SPECS, UPGRADED_DELETES, UPGRADES
from tools.derive.vector import Vector, VectorFile, ok

TOPICS: dict[str, tuple[str, tuple[Case, ...]]] = {
    "types": ("Primitive Types", (*TYPES, *awkward_writing.cases(), *awkward_writing.limit_cases())),
    "nested-types": ("Nested Types", (*NESTED_TYPES, *awkward_writing.nested_cases(), *awkward_writing.name_cases())),
    "partitions": ("Partitioning", (*PARTITIONS, *awkward_writing.partition_cases())),
    "sorting": ("Sorting", SORTED),
    "changes": ("Snapshots", (*CHANGES, *awkward_writing.filter_cases(), *awkward_writing.REWRITTEN)),
    "deletes": ("Delete Formats", (*DELETES, *UPGRADED_DELETES)),
    "equality-deletes": ("Equality Delete Files", (*EQUALITY, *OLD_ROWS)),
    "row-lineage": ("Row Lineage", LINEAGE),
    "upgrades": ("Row Lineage for Upgraded Tables", UPGRADES),
    "schema-evolution": ("Schema Evolution", EVOLUTION),
    "partition-evolution": ("Partition Evolution", SPECS),
    "references": ("Snapshot References", REFERENCES),
}
NAMES = """
    numbers-v2-parquet dates-v2-orc nanoseconds-parquet nested-parquet
    null-nested-parquet null-nested-avro null-nested-orc
    null-lists-of-structs-parquet null-lists-of-structs-avro null-lists-of-structs-orc
    partition-identity-string-v2 partition-hour-timestamp-v2 partition-floats partition-infinite-floats
    partition-void-v2 sorted-v2
    update-cow-v1 merge-mor-v2 merge-null-keys overwrite-v2 compact-mor-v2
    delete-twice-in-a-file-mor-v2 delete-twice-in-a-file-mor-v3 delete-null-mor-v3 upgrade-position-deletes
    delete-less-beside-null-partition-cow-v1 delete-less-beside-null-partition-mor-v2
    delete-less-beside-null-partition-mor-v3
    equality-delete-v2-parquet upsert-v3-parquet upsert-over-specs-v2 upsert-over-specs-v3
    update-after-equality-delete-v3
    lineage-update-cow-v3-parquet lineage-merge-mor-v3 lineage-compact-avro lineage-partitioned upgrade-v2-v3
    promoted-parquet columns-parquet write-default nested-columns-avro dates-to-timestamps
    spec-removed-v1 spec-changed-mor branch-changes tag fast-forward expire
"""
FIRST = frozenset(NAMES.split())
"""One script for each feature; the others are tagged ``thorough``, because they are slow."""

CHANGED = {
    "numbers-v2-parquet": 1,
    "partition-identity-string-v2": 1,
    "partition-void-v2": 1,
    "sorted-v2": 2,
    "update-cow-v1": 3,
    "merge-mor-v2": 2,
    "overwrite-v2": 3,
    "compact-mor-v2": 4,
    "delete-twice-in-a-file-mor-v2": 4,
    "delete-twice-in-a-file-mor-v3": 4,
    "upgrade-position-deletes": 4,
    "equality-delete-v2-parquet": 3,
    "delete-after-equality-delete-v2": 3,
    "overwrite-after-equality-delete-v2": 3,
    "upsert-v3-parquet": 3,
    "lineage-update-cow-v3-parquet": 3,
    "lineage-merge-mor-v3": 3,
    "lineage-partitioned": 3,
    "upgrade-v2-v3": 3,
    "promoted-parquet": 3,
    "columns-parquet": 4,
    "nested-columns-avro": 3,
    "write-default": 5,
    "spec-removed-v1": 3,
    "spec-changed-mor": 3,
    "branch-changes": 4,
    "tag": 4,
    "fast-forward": 4,
    "expire": 4,
}
"""The scripts of which only the last operations are run, and the number of operations that make the table before."""

CHANGED |= {case.name: 2 for case in awkward_writing.REWRITTEN}

ORIGIN = "derivation: the rows that the statements make, by Column Projection, Default values and Row Lineage"


def files() -> Iterator[VectorFile]:
    """Yield the vector files of writing."""
    unknown = {*FIRST, *CHANGED}.difference(case.name for _, cases in TOPICS.values() for case in cases)
    assert not unknown, unknown
    for topic, (section, cases) in TOPICS.items():
        yield VectorFile(f"writing/{topic}.json", "table.write", section, tuple(map(_vector, cases)))
        changes = tuple(_change(case, CHANGED[case.name]) for case in cases if case.name in CHANGED)
        if changes:
            yield VectorFile(f"changing/{topic}.json", "table.change", section, changes)


def _vector(case: Case) -> Vector:
    operations: list[Any] = list(case.operations)
    expect = ok(expected_table(run_model({"operations": operations})))
    codes = tuple(dict.fromkeys(case.requirements))
    script = {"script": {"operations": operations}}
    tags = () if case.name in FIRST else ("thorough",)
    return Vector(f"write-{case.name}", codes, script, expect, ORIGIN, case.note, only=case.versions, tags=tags)


def _change(case: Case, done: int) -> Vector:
    """Return the vector that runs the rest of a case on the table of its first operations."""
    operations: list[Any] = list(case.operations)
    args = {"base": {"operations": operations[:done]}, "operations": operations[done:]}
    expect = ok(expected_table(run_model({"operations": operations})))
    codes = tuple(dict.fromkeys(case.requirements))
    note = f"{case.note}; the reference made the table" if case.note else "the reference made the table"
    return Vector(f"change-{case.name}", codes, args, expect, ORIGIN, note, only=case.versions)
