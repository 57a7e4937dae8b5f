"""Which snapshot is read, and with which schema (Snapshot References; Appendix F, Point in Time Reads).

A branch is read with the table's current schema, as it is where writing goes on. A tag, a snapshot id and a point in
time name a state of the past, which is read with the schema of its snapshot.
"""

from __future__ import annotations

from spec_ref.errors import violation
from spec_ref.records import record
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import MAIN, RefType
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.logs import snapshot_at
from spec_ref.table_metadata.metadata import TableMetadata


@record(kw_only=True)
class TableState:
    """A state of a table that can be read."""

    snapshot: Snapshot | None
    """None for a table that has no snapshot yet: it has no rows."""

    schema: Schema


def table_state(
    metadata: TableMetadata, *, snapshot_id: int | None = None, ref: str | None = None, timestamp_ms: int | None = None
) -> TableState:
    """The state of a table by the id of a snapshot, the name of a reference, or a time; the current one by none.

    Args:
        metadata: the table.
        snapshot_id: the id of a snapshot.
        ref: the name of a branch or tag.
        timestamp_ms: milliseconds from the Unix epoch, for the snapshot that was the current one at that time by the
            snapshot log (NOT003).

    Raises:
        SpecError: TMD015 for a snapshot that the table does not have, TMD021 for such a reference, NOT004 for a time
            that the log does not reach, TMD009 for a schema that the table does not have.
        ValueError: more than one of them is given.
    """
    given = [name for name in (snapshot_id, ref, timestamp_ms) if name is not None]
    if len(given) > 1:
        raise ValueError("a state is named by a snapshot id, a reference or a time, and by one of them only")
    if snapshot_id is not None:
        return _past(metadata, snapshot_id)
    if timestamp_ms is not None:
        return _past(metadata, snapshot_at(metadata.snapshot_log, timestamp_ms))
    name = MAIN if ref is None else ref
    references = metadata.references
    if name in references:
        if references[name].type is RefType.TAG:
            return _past(metadata, references[name].snapshot_id)
        snapshot = metadata.snapshot_by_id(references[name].snapshot_id)
        return TableState(snapshot=snapshot, schema=metadata.current_schema)
    if name == MAIN:
        return TableState(snapshot=None, schema=metadata.current_schema)
    raise violation("TMD021", "the table has no such reference", found=name, expected=", ".join(sorted(references)))


def _past(metadata: TableMetadata, snapshot_id: int) -> TableState:
    """A snapshot with its own schema (SNP009); with the current one where it does not tell, as in v1 it need not."""
    snapshot = metadata.snapshot_by_id(snapshot_id)
    schema_id = metadata.current_schema_id if snapshot.schema_id is None else snapshot.schema_id
    return TableState(snapshot=snapshot, schema=metadata.schema_by_id(schema_id))
