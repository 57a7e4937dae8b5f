"""Snapshots (Snapshots).

A snapshot may list its files in any number of manifests, of several partition specs (SNP017).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED, V2, V3
from spec_ref.json.wire_types import INT, LONG, STRING, STRING_MAP, ListOf, RecordOf
from spec_ref.snapshots.summary import OPERATION, SnapshotOperation

OPTIONAL_SINCE_V2 = {V2: OPTIONAL, V3: OPTIONAL}
"""The rule of readers for a field that v1 may omit: upgraded tables keep the snapshots that v1 wrote."""


@record(kw_only=True)
class Snapshot:
    """The state of the table at one time, and the change that led to it."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="SNP001", type=LONG)

    parent_snapshot_id: int | None = spec_field(
        "parent-snapshot-id", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="SNP002", type=LONG, default=None
    )
    """The id of the parent, which may have expired; None for a snapshot without a parent."""

    sequence_number: int = spec_field(
        "sequence-number",
        v1=OMITTED,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL_SINCE_V2,
        requirement="SNP003",
        type=LONG,
        default=0,
    )
    """Its place in the order of changes. Read as 0 if it is missing: v1 does not have it, and Iceberg-Java omits 0
    in upgraded tables (contradiction C2)."""

    timestamp_ms: int = spec_field(
        "timestamp-ms", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="SNP004", type=LONG
    )
    """When it was created, in milliseconds from the Unix epoch."""

    manifest_list: str | None = spec_field(
        "manifest-list",
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL_SINCE_V2,
        requirement="SNP005",
        type=STRING,
        default=None,
    )
    """The location of the manifest list; None in old snapshots of v1, which have `manifests`."""

    manifests: tuple[str, ...] | None = spec_field(
        "manifests",
        v1=OPTIONAL,
        v2=OMITTED,
        v3=OMITTED,
        read=OPTIONAL_SINCE_V2,
        requirement="SNP006",
        type=ListOf(STRING),
        default=None,
    )
    """The locations of the manifests, if there is no manifest list. Kept in upgraded tables: a snapshot that loses
    its manifests loses its data (UPG005)."""

    summary: Mapping[str, str] | None = spec_field(
        "summary",
        v1=OPTIONAL,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL_SINCE_V2,
        requirement="SNP007",
        type=STRING_MAP,
        default=None,
    )
    """The changes of the snapshot: `operation` and metrics, all of them strings (NOT012)."""

    schema_id: int | None = spec_field(
        "schema-id", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="SNP009", type=INT, default=None
    )
    """The current schema when the snapshot was created."""

    first_row_id: int | None = spec_field(
        "first-row-id",
        v1=OMITTED,
        v2=OMITTED,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="SNP010",
        type=LONG,
        default=None,
    )
    """The first row id that was assigned to the snapshot's manifests (LIN024). None for a snapshot from before the
    upgrade to v3, whose rows have no ids (LIN014)."""

    added_rows: int | None = spec_field(
        "added-rows",
        v1=OMITTED,
        v2=OMITTED,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="SNP011",
        type=LONG,
        default=None,
    )
    """An upper bound of the number of rows with assigned ids, by which `next-row-id` rises (LIN025). Tables of 2025
    lack it (contradiction B5)."""

    key_id: str | None = spec_field(
        "key-id", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="SNP012", type=STRING, default=None
    )
    """The encryption key of the manifest list's key metadata."""

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""

    @property
    def operation(self) -> SnapshotOperation | None:
        """The operation; None if the summary does not have it or has an unknown one.

        A writer has to state it; readers tolerate its absence, as Iceberg-Java does (contradiction C3).
        """
        name = (self.summary or {}).get(OPERATION)
        return next((operation for operation in SnapshotOperation if operation.value == name), None)


SNAPSHOT = RecordOf(Snapshot, "a snapshot", requirement="TMD016")
