"""Branches and tags (Snapshot References)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import attrs

from spec_ref.core.records import record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED
from spec_ref.json.wire_types import INT, LONG, RecordOf, enum_of

MAIN = "main"
"""The branch that the table's current snapshot is the head of. It always exists and never expires (REF006)."""


class RefType(enum.Enum):
    """What a reference is."""

    TAG = "tag"
    BRANCH = "branch"


@record(kw_only=True)
class SnapshotRef:
    """A name for a snapshot: a tag labels one, a branch moves by commits (REF007)."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="REF001", type=LONG)
    """The tagged snapshot, or the latest of the branch."""

    type: RefType = spec_field(
        "type", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="REF002", type=enum_of(RefType, "REF002")
    )

    min_snapshots_to_keep: int | None = spec_field(
        "min-snapshots-to-keep", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="REF003", type=INT, default=None
    )
    """For branches: how many snapshots are kept whatever their age; None for the table's property."""

    max_snapshot_age_ms: int | None = spec_field(
        "max-snapshot-age-ms", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="REF004", type=LONG, default=None
    )
    """For branches: how old a snapshot gets before it may expire; None for the table's property."""

    max_ref_age_ms: int | None = spec_field(
        "max-ref-age-ms", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="REF005", type=LONG, default=None
    )
    """How old the referenced snapshot gets before the reference expires, if it is not main; None for the table's
    property."""

    extra: Mapping[str, Any] = attrs.field(factory=dict)
    """Properties that no format version knows."""


REF = RecordOf(SnapshotRef, "a snapshot reference", requirement="TMD021")


def branch(snapshot_id: int) -> SnapshotRef:
    """A branch with the table's retention."""
    return SnapshotRef(snapshot_id=snapshot_id, type=RefType.BRANCH)


def with_main(refs: Mapping[str, SnapshotRef], current_snapshot_id: int | None) -> dict[str, SnapshotRef]:
    """The references, and the main branch that ``current-snapshot-id`` implies where they do not list it (TMD021)."""
    implied = {} if current_snapshot_id is None else {MAIN: branch(current_snapshot_id)}
    return {**implied, **refs}
