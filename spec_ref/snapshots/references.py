"""Branches and tags (Snapshot References)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import attrs

from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED
from spec_ref.json.wire_types import INT, LONG, RecordOf, enum_kind

MAIN = "main"
"""The branch whose head is the table's current snapshot. It always exists and never expires (REF006)."""


class RefType(enum.Enum):
    """The kind of a reference."""

    TAG = "tag"
    BRANCH = "branch"


@record(kw_only=True)
class SnapshotRef:
    """A name for a snapshot: a tag labels one, a branch moves by commits (REF007, REF008)."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="REF001", type=LONG)
    """The tagged snapshot, or the latest of the branch."""

    type: RefType = spec_field(
        "type", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="REF002", type=enum_kind(RefType, "REF002")
    )

    min_snapshots_to_keep: int | None = spec_field(
        "min-snapshots-to-keep", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="REF003", type=INT, default=None
    )
    """For branches: how many snapshots are kept whatever their age; None to use the table's property."""

    max_snapshot_age_ms: int | None = spec_field(
        "max-snapshot-age-ms", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="REF004", type=LONG, default=None
    )
    """For branches: the age above which a snapshot may expire; None to use the table's property."""

    max_ref_age_ms: int | None = spec_field(
        "max-ref-age-ms", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="REF005", type=LONG, default=None
    )
    """The age of the referenced snapshot above which the reference expires, unless it is main; None to use the
    table's property."""

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


REF = RecordOf(SnapshotRef, "a snapshot reference", requirement="TMD021")


def branch_ref(snapshot_id: int) -> SnapshotRef:
    """Make a branch with the table's retention policy.

    Args:
        snapshot_id: the head of the branch.

    Returns:
        The reference.
    """
    return SnapshotRef(snapshot_id=snapshot_id, type=RefType.BRANCH)


def add_main_branch(refs: Mapping[str, SnapshotRef], current_snapshot_id: int | None) -> dict[str, SnapshotRef]:
    """Add the main branch that ``current-snapshot-id`` implies, if the references do not list it (TMD021).

    Args:
        refs: the references as listed, by name.
        current_snapshot_id: the current snapshot; None for a table without one.

    Returns:
        The references with the main branch.
    """
    implied = {} if current_snapshot_id is None else {MAIN: branch_ref(current_snapshot_id)}
    return {**implied, **refs}
