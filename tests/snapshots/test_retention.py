"""Snapshot retention: the five steps of the policy, on histories whose outcome is derived by hand."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.snapshots.references import RefType, SnapshotRef, add_main_branch
from spec_ref.snapshots.retention import RetentionPolicy, ancestors, find_retained, read_retention_policy
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import SnapshotOperation
from spec_ref.table_metadata import TableMetadata, read_metadata
from spec_ref.table_metadata.expiration import expire_snapshots
from spec_ref.table_metadata.logs import (
    MetadataLogEntry,
    SnapshotLogEntry,
    append_metadata_log_entry,
    remove_expired_entries,
    snapshot_at,
)

BASE = read_metadata(
    {
        "format-version": 1,
        "location": "s3://b/wh/data.db/table",
        "last-updated-ms": 1515100955770,
        "last-column-id": 0,
        "schema": {"type": "struct", "fields": []},
        "partition-spec": [],
    }
)
POLICY = RetentionPolicy(1, 10, 1000)


def snapshot(snapshot_id: int, parent: int | None, time: int) -> Snapshot:
    return Snapshot(
        snapshot_id=snapshot_id,
        parent_snapshot_id=parent,
        timestamp_ms=time,
        manifest_list="s3://b/l",
        summary={"operation": "append"},
    )


def table(current: int | None, refs: dict[str, SnapshotRef], *snapshots: Snapshot) -> TableMetadata:
    return evolve(BASE, snapshots=snapshots, current_snapshot_id=current, refs=refs, last_sequence_number=0)


CHAIN = tuple(snapshot(number, number - 1 or None, number * 10) for number in range(1, 6))
"""Snapshots 1 to 5, made at 10, 20, ... 50."""


def ref(snapshot_id: int, type_: str = "tag", **limits: int) -> SnapshotRef:
    return SnapshotRef(snapshot_id=snapshot_id, type=RefType(type_), **limits)


def kept(metadata: TableMetadata, now: int, policy: RetentionPolicy = POLICY) -> list[int]:
    return sorted(find_retained(metadata.snapshots, metadata.references, policy, now).snapshot_ids)


# At time 60 the snapshots are 10, 20, 30, 40 and 50 old, newest first.
@pytest.mark.parametrize(
    ("keep", "age", "expected"),
    [
        (1, 10, [5]),
        (1, 9, [5]),
        (2, 9, [4, 5]),
        (1, 20, [4, 5]),
        (1, 29, [4, 5]),
        (1, 30, [3, 4, 5]),
        (9, 1, [1, 2, 3, 4, 5]),
        (3, 20, [3, 4, 5]),
        (1, 1000, [1, 2, 3, 4, 5]),
    ],
)
def test_a_branch_keeps_what_is_young_or_among_its_first(keep: int, age: int, expected: list[int]) -> None:
    assert kept(table(5, {}, *CHAIN), 60, RetentionPolicy(keep, age, 1000)) == expected
    limited = {"main": ref(5, "branch", min_snapshots_to_keep=keep, max_snapshot_age_ms=age)}
    assert kept(table(5, limited, *CHAIN), 60) == expected


def test_ancestors_end_at_the_first_that_is_too_old() -> None:
    old_between = (snapshot(1, None, 55), snapshot(2, 1, 5), snapshot(3, 2, 60))
    assert kept(table(3, {}, *old_between), 60) == [3]


def test_a_tag_holds_its_snapshot_alone_until_the_reference_is_too_old() -> None:
    metadata = table(5, {"t": ref(2)}, *CHAIN)
    assert kept(metadata, 60) == [2, 5]
    assert kept(metadata, 20 + 1000) == [2, 5]
    assert kept(metadata, 20 + 1001) == [5]
    assert kept(table(5, {"t": ref(2, max_ref_age_ms=40)}, *CHAIN), 60) == [2, 5]
    assert kept(table(5, {"t": ref(2, max_ref_age_ms=39)}, *CHAIN), 60) == [5]


def test_main_never_expires() -> None:
    metadata = table(5, {"main": ref(5, "branch", max_ref_age_ms=1)}, *CHAIN)
    assert kept(metadata, 10**12) == [5]
    assert kept(table(None, {}, *CHAIN), 60) == []


def test_what_no_reference_leads_to_goes() -> None:  # RET001
    assert kept(table(5, {}, *CHAIN, snapshot(9, 4, 60)), 60) == [5]


def test_expiring_takes_along_what_reports_of_the_expired() -> None:
    log = tuple(SnapshotLogEntry(timestamp_ms=one.timestamp_ms, snapshot_id=one.snapshot_id) for one in CHAIN)
    metadata = evolve(table(5, {"t": ref(2, max_ref_age_ms=1)}, *CHAIN), snapshot_log=log)
    left = expire_snapshots(metadata, 60, RetentionPolicy(2, 1, 1000))
    assert [one.snapshot_id for one in left.snapshots] == [4, 5]
    assert [one.snapshot_id for one in left.snapshot_log] == [4, 5]
    assert left.refs == {}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 100)), min_size=1, max_size=6),
    st.integers(0, 150),
    st.integers(1, 4),
    st.integers(1, 100),
)
def test_expiring_again_at_once_changes_nothing(history: list[Any], now: int, keep: int, age: int) -> None:
    snapshots = [snapshot(place + 1, parent or None, time) for place, (parent, time) in enumerate(history)]
    policy = RetentionPolicy(keep, age, 1000)
    once = expire_snapshots(table(1, {"b": ref(len(history), "branch")}, *snapshots), now, policy)
    assert expire_snapshots(once, now, policy) == once
    assert once.current_snapshot_id in {one.snapshot_id for one in once.snapshots}


def test_a_circle_of_parents_ends() -> None:
    circle = {1: snapshot(1, 2, 1), 2: snapshot(2, 1, 2)}
    assert [one.snapshot_id for one in ancestors(circle, 1)] == [1, 2]


def test_the_policy_is_reported_by_properties_with_their_prefix() -> None:
    assert read_retention_policy({}) == RetentionPolicy(1, 432_000_000, 2**63 - 1)
    names = {
        "history.expire.min-snapshots-to-keep": "3",
        "history.expire.max-snapshot-age-ms": "4",
        "history.expire.max-ref-age-ms": "5",
    }
    assert read_retention_policy(names) == RetentionPolicy(3, 4, 5)
    assert read_retention_policy({"min-snapshots-to-keep": "3"}) == RetentionPolicy()


@pytest.mark.parametrize("wrong", ["0", "-1", "", "x", "1.0", "²", "9" * 30, "2147483648"])
def test_a_property_of_the_policy_is_a_positive_number(wrong: str) -> None:
    with pytest.raises(SpecError, match="REF003"):
        read_retention_policy({"history.expire.min-snapshots-to-keep": wrong})


def entries(*pairs: tuple[int, int]) -> list[SnapshotLogEntry]:
    return [SnapshotLogEntry(timestamp_ms=time, snapshot_id=snapshot_id) for time, snapshot_id in pairs]


def test_time_travel_finds_the_snapshot_that_was_current() -> None:
    log = entries((10, 1), (20, 2), (20, 3), (30, 1))
    assert [snapshot_at(log, time) for time in (10, 19, 20, 29, 30, 99)] == [1, 1, 3, 3, 1, 1]
    for missing, time in ((log, 9), ([], 5)):
        with pytest.raises(SpecError, match="NOT004"):
            snapshot_at(missing, time)


def test_the_log_starts_after_the_last_expired_entry() -> None:
    log = entries((10, 1), (20, 2), (30, 3), (40, 1), (50, 3))
    assert remove_expired_entries(log, {1, 3}) == tuple(log[2:])
    assert remove_expired_entries(log, {1, 2}) == ()


def test_the_metadata_log_is_bounded() -> None:
    files = [MetadataLogEntry(timestamp_ms=time, metadata_file=f"m{time}") for time in range(4)]
    assert append_metadata_log_entry(files[:3], files[3]) == tuple(files)
    assert append_metadata_log_entry(files[:3], files[3], 2) == tuple(files[2:])
    assert append_metadata_log_entry(files[:3], files[3], 0) == ()


def test_main_is_implied_by_the_current_snapshot() -> None:
    assert add_main_branch({}, 5) == {"main": ref(5, "branch")}
    assert add_main_branch({}, None) == {}
    assert table(5, {}, *CHAIN).references == {"main": ref(5, "branch")}


def test_an_operation_that_is_missing_is_borne() -> None:
    assert CHAIN[0].operation is SnapshotOperation.APPEND
    for summary in (None, {}, {"operation": "merge"}):
        assert evolve(CHAIN[0], summary=summary).operation is None
