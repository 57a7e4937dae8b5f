"""Validating a table: from its location to its report."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from importlib import import_module

import attrs

from conformance.core.failures import NotExamined, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.core.time_budget import FILE_SECONDS
from conformance.table_io.file_access import read_bytes
from conformance.table_io.tables import metadata_location
from conformance.validator.backend import Backend, StageStopped
from conformance.validator.context import Context, Level
from conformance.validator.one_cause import without_consequences, without_right_counts
from conformance.validator.readability import required_features
from conformance.validator.stall_timeout import run_with_stall_timeout
from conformance.validator.table_root import (
    UnreadableTable,
    claimed_version,
    hint_findings,
    is_metadata,
    location_findings,
    recorded_location_if_copied,
)
from conformance.validator.tolerated import tolerate
from spec_ref.checks.findings import Finding, Tally
from spec_ref.core.errors import SpecError
from spec_ref.core.locations import has_scheme
from spec_ref.snapshots.retention import ancestors
from spec_ref.table_metadata import TableMetadata, check_metadata, read_metadata
from spec_ref.table_metadata.files import MAX_METADATA_BYTES

with lazy_imports():
    from conformance.table_io import encryption
    from conformance.validator import below_metadata

REFUSED = "readers must refuse the metadata"
"""The reason why nothing below the metadata is checked."""


@attrs.frozen
class SnapshotSelection:
    """A selection of snapshots to check."""

    kind: str
    """``current``, ``refs``, ``all``, ``one``, ``ref`` or ``since``."""

    snapshot_id: int | None = None
    """For ``one``, the snapshot; for ``since``, the snapshot after which the selection begins."""

    ref: str | None = None
    """For ``ref``, the name of a branch or tag; for ``one``, the digits of the id, which may also be such a name."""

    def chosen(self, metadata: TableMetadata) -> tuple[int, ...]:
        """Return the ids of the selected snapshots, newest first.

        Raises:
            UsageError: the table does not have the snapshot, branch or tag.
        """
        known = {snapshot.snapshot_id for snapshot in metadata.snapshots}
        current = () if metadata.current_snapshot_id is None else (metadata.current_snapshot_id,)
        match self.kind:
            case "current":
                wanted: Iterable[int] = current
            case "refs":
                wanted = (*current, *(ref.snapshot_id for ref in metadata.refs.values()))
            case "since":
                wanted = successors(metadata, self.snapshot_id)
            case "all":
                wanted = (*current, *(snapshot.snapshot_id for snapshot in reversed(metadata.snapshots)))
            case "one" if self.snapshot_id in known:
                wanted = (self.snapshot_id,)
            case _ if self.ref is not None and self.ref in metadata.references:
                wanted = (metadata.references[self.ref].snapshot_id,)
            case _:
                raise UsageError(self._unknown(metadata))
        return tuple(one for one in dict.fromkeys(wanted) if one in known)

    def _unknown(self, metadata: TableMetadata) -> str:
        if self.kind == "one":
            listed = ", ".join(map(str, sorted(one.snapshot_id for one in metadata.snapshots)))
            return f"the table has no snapshot {self.snapshot_id}; its snapshots: {listed or 'none'}"
        listed = ", ".join(map(repr, sorted(metadata.references)))
        return f"the table has no branch or tag {self.ref!r}; its branches and tags: {listed or 'none'}"


def successors(metadata: TableMetadata, snapshot_id: int | None) -> tuple[int, ...]:
    """Return the current snapshot and its ancestors that are newer than a given snapshot.

    The current snapshot is part of the result even if it is the given one.
    """
    current = metadata.current_snapshot_id
    if current is None:
        return ()
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    found = [snapshot.snapshot_id for snapshot in ancestors(by_id, current)]
    return tuple(found[: max(found.index(snapshot_id), 1)] if snapshot_id in found else found)


CURRENT = SnapshotSelection("current")


@attrs.frozen
class TableReport:
    """The result of validating one table."""

    location: str
    """The location that the caller gave."""

    metadata_location: str
    level: Level
    findings: tuple[Finding, ...]
    """One for each cause, most severe first."""

    all_findings: tuple[Finding, ...]
    """All findings, including those that only follow from others, which are reported if the others are not selected."""

    consequences: tuple[Finding, ...] = attrs.field(default=(), kw_only=True)
    """The findings that only follow from `findings`; known once a filter has been applied."""

    format_version: int | None = None
    snapshots: tuple[int, ...] = ()
    """The ids of the snapshots that were checked."""

    manifests: int = 0
    entries: int = 0
    features: frozenset[str] = frozenset()
    """The features that readers need (`conformance.validator.readability`)."""

    writers: tuple[str, ...] = ()
    """The implementations that probably wrote to the table."""

    all_snapshots: int = 0
    """The number of snapshots of the table."""

    complete: bool = True
    """False if the validation ended early, so that there may be more findings."""

    reason: str | None = None
    """Why the engine could not continue; None if the validation was interrupted."""

    elsewhere: str | None = None
    """The table's location, from which files were read, if the metadata file is not below it, as in a copied table."""


def validate(
    location: str,
    level: Level,
    engine: Backend,
    snapshots: SnapshotSelection = CURRENT,
    file_seconds: float = FILE_SECONDS,
    key_service: encryption.KeyService | None = None,
) -> TableReport:
    """Validate a table. After an interrupt or a failure of the engine, return what was found before.

    Args:
        location: a metadata file, or the directory of a table.
        level: how much to check.
        engine: runs the checks.
        snapshots: the snapshots to check.
        file_seconds: seconds without progress after which a file counts as unreadable.
        key_service: unwraps the keys of an encrypted table; without it, encrypted files are not read.

    Raises:
        UnreadableTable: there is no table, or its metadata file cannot be read or is not metadata.
        UsageError: the table does not have the snapshot, branch or tag; or the key service lacks a key.
    """
    if level.includes(Level.MANIFESTS) and has_scheme(location):  # while the store is waited for
        threading.Thread(target=import_module, args=(below_metadata.__name__,), daemon=True).start()
    root, data = read_root(location, file_seconds)
    tally = Tally((*tolerate(check_metadata(data, file=root)), *hint_findings(location, root, file_seconds)))
    try:
        metadata = read_metadata(data, file=root)
    except SpecError as error:
        if not is_metadata(data, error):
            raise UnreadableTable(str(error)) from None
        refused = REFUSED if level.includes(Level.MANIFESTS) else None
        return TableReport(
            location,
            root,
            Level.METADATA,
            without_consequences(tally.findings()),
            tally.findings(),
            claimed_version(data),
            complete=refused is None,
            reason=refused,
        )
    tally.add(location_findings(metadata, root, data))
    features = required_features(metadata)
    chosen = snapshots.chosen(metadata)
    if not level.includes(Level.MANIFESTS):
        return TableReport(
            location,
            root,
            level,
            without_consequences(tally.findings()),
            tally.findings(),
            int(metadata.format_version),
            chosen,
            features=features,
        )
    context = Context(
        metadata,
        root,
        level,
        compares_versions=snapshots.kind == "since",
        decrypts=key_service is not None,
        file_seconds=file_seconds,
    )
    deep = below_metadata.BelowMetadata(context, engine, key_service)
    complete, reason = True, None
    try:
        deep.run(chosen)
    except KeyboardInterrupt:
        complete = False
    except (StageStopped, NotExamined) as error:
        complete, reason = False, error.reason if isinstance(error, StageStopped) else str(error)
    finally:
        engine.clear()
    tally.add(deep.tally.findings())
    found = without_right_counts(tally.findings(), deep.miscounts())
    return TableReport(
        location,
        root,
        level,
        without_consequences(found),
        found,
        int(metadata.format_version),
        chosen,
        deep.manifests,
        deep.entries,
        features | deep.features,
        tuple(sorted(deep.writers)),
        len(metadata.snapshots),
        complete,
        reason,
        recorded_location_if_copied(metadata, root),
    )


def read_root(location: str, file_seconds: float = FILE_SECONDS) -> tuple[str, bytes]:
    """Return the location and the bytes of the metadata of a table.

    Raises:
        UnreadableTable: there is no table, or its metadata cannot be read.
    """

    def read() -> tuple[str, bytes]:
        root = metadata_location(location)
        return root, read_bytes(root, limit=MAX_METADATA_BYTES)

    try:
        return run_with_stall_timeout(file_seconds, location, read)
    except NotExamined as error:
        raise UnreadableTable(str(error)) from None
