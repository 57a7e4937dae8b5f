"""Selecting the snapshots and references to keep (Snapshot Retention Policy)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from spec_ref.core.errors import spec_error
from spec_ref.core.numbers import parse_whole_number
from spec_ref.core.records import record
from spec_ref.json.wire_types import INT_MAX, LONG_MAX
from spec_ref.snapshots.references import MAIN, RefType, SnapshotRef
from spec_ref.snapshots.snapshot import Snapshot


@record
class RetentionPolicy:
    """The policy of the table, for references without a separate one.

    The spec names the properties but no defaults; these are Iceberg-Java's (contradiction B24).
    """

    min_snapshots_to_keep: int = 1
    max_snapshot_age_ms: int = 432_000_000
    """5 days."""

    max_ref_age_ms: int = LONG_MAX


PROPERTIES = {
    "min_snapshots_to_keep": ("REF003", "history.expire.min-snapshots-to-keep", INT_MAX),
    "max_snapshot_age_ms": ("REF004", "history.expire.max-snapshot-age-ms", LONG_MAX),
    "max_ref_age_ms": ("REF005", "history.expire.max-ref-age-ms", LONG_MAX),
}
"""The table property for each part of the policy, with its requirement and its largest value."""


def read_retention_policy(properties: Mapping[str, str]) -> RetentionPolicy:
    """Read the retention policy from the table's properties.

    Args:
        properties: the table properties.

    Returns:
        The policy, with defaults for absent properties.

    Raises:
        SpecError: the requirement of a property (see `PROPERTIES`) that is not a positive number.
    """
    given = {}
    for attribute, (requirement, name, most) in PROPERTIES.items():
        text = properties.get(name)
        if text is not None:
            number = parse_whole_number(text) or 0
            if not 0 < number <= most:
                path = f"/properties/{name}"
                raise spec_error(requirement, "the property is not a positive number", found=text, path=path)
            given[attribute] = number
    return RetentionPolicy(**given)


@record
class RetainedSnapshots:
    """What remains when snapshots expire."""

    snapshot_ids: frozenset[int]
    refs: Mapping[str, SnapshotRef]
    """The remaining references, including main if the table has a current snapshot."""


def ancestors(snapshots: Mapping[int, Snapshot], snapshot_id: int) -> Iterator[Snapshot]:
    """List a snapshot and its ancestors, as far as the table still has them; each is listed once, even in a cycle.

    Args:
        snapshots: the snapshots of the table, by id.
        snapshot_id: the id of the snapshot.

    Yields:
        Each snapshot, newest first.
    """
    seen: set[int] = set()
    at: int | None = snapshot_id
    while at is not None and at in snapshots and at not in seen:
        seen.add(at)
        yield snapshots[at]
        at = snapshots[at].parent_snapshot_id


def _is_older(snapshot: Snapshot, age_ms: int, now_ms: int) -> bool:
    """Decide whether a snapshot is older than an age; one of exactly that age is not (C13)."""
    return now_ms - snapshot.timestamp_ms > age_ms


def _value_or_default(value: int | None, default: int) -> int:
    return default if value is None else value


def find_retained(
    snapshots: Iterable[Snapshot], references: Mapping[str, SnapshotRef], policy: RetentionPolicy, now_ms: int
) -> RetainedSnapshots:
    """Find the snapshots and references that stay when snapshots expire at a time.

    Retention starts with no snapshot to keep (RET001). References other than main that are too old are removed first
    (RET002). Each remaining reference keeps its snapshot (RET003), and a branch keeps as many of its ancestors as its
    policy says (RET004). Every other snapshot expires (RET005); Iceberg-Java keeps unreferenced snapshots until they
    are old enough (contradiction C13). A reference to a snapshot that the table does not have is removed.

    Args:
        snapshots: the snapshots of the table.
        references: its branches and tags by name, including main if the table has a current snapshot.
        policy: the table's policy, for references that do not set one.
        now_ms: the time, in milliseconds from the Unix epoch.

    Returns:
        The snapshots and references that stay.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in snapshots}
    refs = {
        name: ref
        for name, ref in references.items()
        if ref.snapshot_id in by_id
        and (
            name == MAIN
            or not _is_older(
                by_id[ref.snapshot_id], _value_or_default(ref.max_ref_age_ms, policy.max_ref_age_ms), now_ms
            )
        )
    }
    kept: set[int] = set()
    for ref in refs.values():
        kept.add(ref.snapshot_id)
        if ref.type is RefType.BRANCH:
            kept.update(_retained_in_branch(by_id, ref, now_ms, policy))
    return RetainedSnapshots(frozenset(kept), refs)


def _retained_in_branch(
    snapshots: Mapping[int, Snapshot], ref: SnapshotRef, now_ms: int, policy: RetentionPolicy
) -> Iterator[int]:
    """Find the snapshots that a branch keeps: from its head on, a minimum number, then those that are not too old."""
    keep = _value_or_default(ref.min_snapshots_to_keep, policy.min_snapshots_to_keep)
    age = _value_or_default(ref.max_snapshot_age_ms, policy.max_snapshot_age_ms)
    for place, snapshot in enumerate(ancestors(snapshots, ref.snapshot_id)):
        if place >= keep and _is_older(snapshot, age, now_ms):
            return
        yield snapshot.snapshot_id
