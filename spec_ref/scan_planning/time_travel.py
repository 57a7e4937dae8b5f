"""Selecting the snapshot and the schema to read (Snapshot References; Appendix F, Point in Time Reads).

A branch is read with the table's current schema, because new data is written there. A tag, a snapshot id and a point in
time identify a past state, which is read with the schema of its snapshot.
"""

from __future__ import annotations

from spec_ref.core.errors import spec_error
from spec_ref.core.records import record
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import MAIN, RefType
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.logs import snapshot_at
from spec_ref.table_metadata.metadata import TableMetadata


@record(kw_only=True)
class TableState:
    """A state of a table that can be read."""

    snapshot: Snapshot | None
    """The snapshot to read; None for a table that has no snapshot yet, and so no rows."""

    schema: Schema


def table_state(
    metadata: TableMetadata, *, snapshot_id: int | None = None, ref: str | None = None, timestamp_ms: int | None = None
) -> TableState:
    """Find a state of a table by snapshot id, reference or time; the current state if none is given.

    Args:
        metadata: the table.
        snapshot_id: the id of a snapshot.
        ref: the name of a branch or tag.
        timestamp_ms: milliseconds from the Unix epoch, for the snapshot that was current at that time according to the
            snapshot log (NOT003).

    Returns:
        The snapshot and the schema to read it with.

    Raises:
        SpecError: TMD015 for an unknown snapshot; TMD021 for an unknown reference; NOT004 for a time before the log;
            TMD009 for an unknown schema.
        ValueError: if more than one of them is given.
    """
    given = [name for name in (snapshot_id, ref, timestamp_ms) if name is not None]
    if len(given) > 1:
        raise ValueError("give at most one of a snapshot id, a reference and a time")
    if snapshot_id is not None:
        return _snapshot_state(metadata, snapshot_id)
    if timestamp_ms is not None:
        return _snapshot_state(metadata, snapshot_at(metadata.snapshot_log, timestamp_ms))
    name = MAIN if ref is None else ref
    references = metadata.references
    if name in references:
        if references[name].type is RefType.TAG:
            return _snapshot_state(metadata, references[name].snapshot_id)
        snapshot = metadata.snapshot_by_id(references[name].snapshot_id)
        return TableState(snapshot=snapshot, schema=metadata.current_schema)
    if name == MAIN:
        return TableState(snapshot=None, schema=metadata.current_schema)
    raise spec_error(
        "TMD021", "the table does not have the reference", found=name, expected=", ".join(sorted(references))
    )


def _snapshot_state(metadata: TableMetadata, snapshot_id: int) -> TableState:
    """Find a snapshot and its schema (SNP009); the current schema if the snapshot states none, as v1 allows."""
    snapshot = metadata.snapshot_by_id(snapshot_id)
    schema_id = metadata.current_schema_id if snapshot.schema_id is None else snapshot.schema_id
    return TableState(snapshot=snapshot, schema=metadata.schema_by_id(schema_id))
