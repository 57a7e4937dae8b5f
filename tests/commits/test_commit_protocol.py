"""The rules of the commit protocol, each with an input whose outcome depends only on that rule."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest

from conformance.operations.commits.fixtures import (
    BY_PART,
    LOCATION,
    SCHEMA,
    data_file,
    data_path,
    deletion_vector,
    empty_table,
    equality_deletes,
    position_deletes,
)
from conformance.operations.commits.reference import MemoryRunner, MemoryStore
from spec_ref.commits import Base, CommitConflict, CommitResult, CommitStateUnknown, changes, load
from spec_ref.commits.changes import (
    Change,
    ChangeSchema,
    ChangeSortOrder,
    ChangeSpec,
    CreateTable,
    ExpireSnapshots,
    Isolation,
    NewFile,
    RemoveStatistics,
    SetProperties,
    SetReference,
    SetStatistics,
    UpgradeFormatVersion,
    append,
    delete_files,
    delete_where,
    fast_append,
    overwrite,
    rewrite_files,
    row_delta,
    validation_for,
)
from spec_ref.commits.effects import Steps
from spec_ref.commits.payloads import ManifestListPayload, ManifestPayload, encode
from spec_ref.commits.reading import MetadataFileCache, branch_head
from spec_ref.commits.retries import RetryPolicy, read_retry_policy
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3, FormatVersion
from spec_ref.data_types.types import INT
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.partitioning.evolution import AddPartitionField
from spec_ref.partitioning.transforms import Bucket, Identity
from spec_ref.schemas.evolution import AddColumn
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import TOTALS
from spec_ref.sorting.order import SortField
from spec_ref.table_metadata import read_metadata, write_metadata
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import PartitionStatisticsFile, StatisticsFile


def equal(column: str, value: Any) -> Comparison:
    return Comparison(Operation.EQ, NamedReference(column), Literal(value))


def less(column: str, value: Any) -> Comparison:
    return Comparison(Operation.LT, NamedReference(column), Literal(value))


class Table:
    """A table in memory, and its contents."""

    def __init__(self, version: int = 2, properties: dict[str, str] | None = None) -> None:
        self.store = MemoryStore()
        self.runner = MemoryRunner(self.store)
        self.commit(CreateTable(empty_table(version, LOCATION, properties)))

    def commit(self, change: Change, base: Base | None = None) -> CommitResult:
        return self.runner.commit(change, base=base, policy=RetryPolicy(num_retries=1, min_wait_ms=0, max_wait_ms=0))

    @property
    def base(self) -> Base:
        found = self.runner.run(load())
        assert found is not None
        return found

    @property
    def metadata(self) -> TableMetadata:
        return self.base.metadata

    def manifests(self, branch: str = "main") -> tuple[ManifestFile, ...]:
        return self.runner.run(MetadataFileCache().manifests(branch_head(self.metadata, branch)))

    def entries(self, branch: str = "main") -> list[tuple[ManifestFile, ManifestEntry]]:
        def all_entries() -> Steps[list[tuple[ManifestFile, ManifestEntry]]]:
            files, found = MetadataFileCache(), []
            manifests = yield from files.manifests(branch_head(self.metadata, branch))
            for manifest in manifests:
                entries = yield from files.entries(manifest)
                found += [(manifest, entry) for entry in entries]
            return found

        return self.runner.run(all_entries())

    def live(self, branch: str = "main") -> dict[str, ManifestEntry]:
        return {entry.data_file.file_path.rsplit("/", 1)[-1]: entry for _, entry in self.entries(branch) if entry.live}

    @property
    def summary(self) -> dict[str, str]:
        snapshot = self.metadata.current_snapshot
        assert snapshot is not None
        assert snapshot.summary is not None
        return dict(snapshot.summary)


def refused(code: str, commit: Callable[[], Any]) -> CommitConflict:
    with pytest.raises(CommitConflict) as raised:
        commit()
    assert raised.value.violation.requirement == code
    return raised.value


# The contents of the snapshot


@pytest.mark.parametrize(
    ("change", "operation"),
    [
        (append([data_file("n")]), "append"),
        (fast_append([data_file("n")]), "append"),
        (overwrite([data_file("n")], [data_path("a")]), "overwrite"),
        (overwrite([], [data_path("a")]), "delete"),
        (delete_files([data_path("a")]), "delete"),
        (delete_where(equal("part", "a")), "delete"),
        (row_delta([equality_deletes("d")]), "delete"),
        (row_delta([data_file("n"), equality_deletes("d")]), "overwrite"),
        (row_delta([data_file("n")]), "append"),
        (rewrite_files([data_file("n")], [data_path("a")]), "replace"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_snapshot_says_what_it_did(change: Change, operation: str) -> None:
    table = Table()
    table.commit(fast_append([data_file("a")]))
    table.commit(change)
    assert table.summary["operation"] == operation


def test_totals_go_on_from_the_parent() -> None:
    table = Table()
    table.commit(fast_append([data_file("a", rows=10), data_file("b", "b", rows=5)]))
    table.commit(row_delta([equality_deletes("d", rows=3), position_deletes("p", "a", rows=2)]))
    table.commit(overwrite([data_file("c", rows=7)], [data_path("a")]))
    assert {key: value for key, value in table.summary.items() if key.startswith("total")} == {
        "total-data-files": "2",
        "total-delete-files": "2",
        "total-records": "12",
        "total-files-size": str(500 + 700 + 50 + 50),
        "total-position-deletes": "2",
        "total-equality-deletes": "3",
    }
    assert (table.summary["added-records"], table.summary["deleted-records"]) == ("7", "10")
    assert table.summary["changed-partition-count"] == "1"


@pytest.mark.parametrize("known", [None, "many", "-1", "9" * 19, "9" * 5000])
def test_totals_are_left_out_where_the_parent_does_not_report_them(known: str | None) -> None:
    table = Table()
    done = table.commit(fast_append([data_file("a")]))
    metadata = done.metadata
    (snapshot,) = metadata.snapshots
    totals = {} if known is None else dict.fromkeys(TOTALS, known)
    bare = evolve(metadata, snapshots=(evolve(snapshot, summary={"operation": "append"} | totals),))
    table.store.files[table.base.location] = bare
    table.commit(fast_append([data_file("b")]))
    assert not [key for key in table.summary if key.startswith("total")]
    assert table.summary["added-records"] == "10"


def test_v1_has_no_sequence_numbers_and_v2_counts_each_snapshot() -> None:
    for version, numbers in ((1, [0, 0]), (2, [1, 2])):
        table = Table(version)
        table.commit(fast_append([data_file("a")]))
        table.commit(fast_append([data_file("b")]))
        table.commit(SetProperties({"x": "y"}))
        assert [snapshot.sequence_number for snapshot in table.metadata.snapshots] == numbers
        assert table.metadata.last_sequence_number == numbers[-1]


def test_row_ids_are_given_to_data_files_alone_and_on_every_branch() -> None:
    table = Table(3)
    first = table.commit(fast_append([data_file("a", rows=10), data_file("b", rows=5)])).snapshot
    assert first is not None
    table.commit(SetReference("audit", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.BRANCH)))
    table.commit(fast_append([data_file("c", rows=3)], branch="audit"))
    table.commit(row_delta([data_file("d", rows=2), deletion_vector("v", "a")]))
    ids = {name: entry.data_file.first_row_id for name, entry in (table.live("audit") | table.live()).items()}
    assert ids == {"a": 0, "b": 10, "c": 15, "d": 18, "v": None}
    assert table.metadata.next_row_id == 20
    assert [(one.first_row_id, one.added_rows) for one in table.metadata.snapshots] == [(0, 15), (15, 3), (18, 2)]


def test_the_first_snapshot_after_an_upgrade_gives_row_ids_to_all_files() -> None:
    table = Table(2)
    table.commit(fast_append([data_file("a", rows=10)]))
    table.commit(UpgradeFormatVersion(V3))
    assert table.metadata.next_row_id == 0
    assert table.live()["a"].data_file.first_row_id is None
    table.commit(fast_append([data_file("b", rows=5)]))
    ids = {name: entry.data_file.first_row_id for name, entry in table.live().items()}
    assert sorted(ids.values()) == [0, 5] or sorted(ids.values()) == [0, 10]
    assert table.metadata.next_row_id == 15


def test_a_removed_file_is_marked_as_deleted_and_the_rest_of_its_manifest_keeps_its_numbers() -> None:
    table = Table(3)
    table.commit(fast_append([data_file("a"), data_file("b")]))
    table.commit(fast_append([data_file("c")]))
    done = table.commit(delete_files([data_path("a")]))
    assert done.snapshot is not None
    by_name = {entry.data_file.file_path[-1]: entry for _, entry in table.entries()}
    assert by_name["a"].status is EntryStatus.DELETED
    assert by_name["a"].snapshot_id == done.snapshot.snapshot_id
    assert (by_name["a"].sequence_number, by_name["a"].data_file.first_row_id) == (1, 0)
    assert by_name["b"].status is EntryStatus.EXISTING
    assert (by_name["b"].sequence_number, by_name["b"].file_sequence_number) == (1, 1)
    assert by_name["b"].data_file.first_row_id == 10
    assert by_name["c"].status is EntryStatus.ADDED
    table.commit(fast_append([data_file("d")]))
    assert "a" not in {entry.data_file.file_path[-1] for _, entry in table.entries()} - {"a"}


def test_a_manifest_without_live_files_is_left_out_of_the_next_snapshot() -> None:
    table = Table()
    table.commit(fast_append([data_file("a")]))
    table.commit(delete_files([data_path("a")]))
    assert len(table.manifests()) == 1
    table.commit(fast_append([data_file("b")]))
    assert len(table.manifests()) == 1


def test_rows_of_an_older_number_have_it_written() -> None:
    table = Table()
    table.commit(fast_append([data_file("a")]))
    table.commit(row_delta([equality_deletes("d")]))
    table.commit(rewrite_files([data_file("b", sequence_number=1)], [data_path("a")]))
    entry = table.live()["b"]
    assert (entry.sequence_number, entry.file_sequence_number) == (1, 3)
    assert min(one.min_sequence_number for one in table.manifests() if one.content is ManifestContent.DATA) == 1


def test_files_of_several_specs_and_kinds_have_manifests_of_their_own() -> None:
    table = Table()
    table.commit(ChangeSpec((AddPartitionField((1,), Bucket(4), "bucket"),)))
    new = data_file("n")
    partitioned = NewFile(evolve(new.data_file, partition={1000: "a", 1001: 2}, file_path=data_path("m")), 1)
    table.commit(row_delta([new, partitioned, equality_deletes("d")]))
    pairs = {(one.partition_spec_id, one.content) for one in table.manifests()}
    assert pairs == {(0, ManifestContent.DATA), (1, ManifestContent.DATA), (0, ManifestContent.DELETES)}


def test_a_file_of_an_unknown_spec_is_refused() -> None:
    table = Table()
    with pytest.raises(SpecError, match="TMD012"):
        table.commit(fast_append([data_file("a", spec_id=7)]))
    assert table.metadata.snapshots == ()
    assert [path for path in table.store.files if path.endswith(".avro")] == []


def test_small_manifests_are_merged_where_there_are_many() -> None:
    table = Table(3, {"commit.manifest.min-count-to-merge": "3"})
    for name in "abc":
        table.commit(append([data_file(name)]))
    (manifest,) = table.manifests()
    assert (manifest.added_files_count, manifest.existing_files_count) == (1, 2)
    assert {name: entry.sequence_number for name, entry in table.live().items()} == {"a": 1, "b": 2, "c": 3}
    ids = sorted(entry.data_file.first_row_id or 0 for entry in table.live().values())
    assert len(set(ids)) == 3
    assert all(later - one >= 10 for one, later in pairwise(ids))
    assert table.live()["a"].data_file.first_row_id == 0


@pytest.mark.parametrize(
    "properties",
    [
        {"commit.manifest-merge.enabled": "false", "commit.manifest.min-count-to-merge": "2"},
        {"commit.manifest.target-size-bytes": "1", "commit.manifest.min-count-to-merge": "2"},
        {},
    ],
)
def test_manifests_are_not_merged_where_the_properties_say_so(properties: dict[str, str]) -> None:
    table = Table(2, properties)
    for name in "abc":
        table.commit(append([data_file(name)]))
    assert len(table.manifests()) == 3


def test_a_fast_append_merges_nothing() -> None:
    table = Table(2, {"commit.manifest.min-count-to-merge": "2"})
    for name in "abc":
        table.commit(fast_append([data_file(name)]))
    assert len(table.manifests()) == 3


# Checks


@pytest.mark.parametrize(
    "change",
    [
        delete_files([data_path("a")]),
        overwrite([data_file("n")], [data_path("a")]),
        rewrite_files([data_file("n")], [data_path("a")]),
        row_delta([position_deletes("n", "b")], [(data_path("p"), None)]),
    ],
    ids=["delete", "overwrite", "rewrite", "delete files"],
)
def test_what_is_removed_has_to_be_there(change: Change) -> None:
    table = Table()
    table.commit(row_delta([data_file("a"), data_file("b"), position_deletes("p", "b")]))
    table.commit(change)
    again = table.base
    refused("OCC007", lambda: table.commit(change, base=again))
    assert table.base == again


def test_an_append_and_a_delete_by_expression_are_applied_to_any_version() -> None:
    table = Table()
    planned = table.base
    table.commit(fast_append([data_file("a"), data_file("b", "b")]))
    table.commit(delete_where(equal("part", "a")), base=planned)
    table.commit(append([data_file("c")]), base=planned)
    assert sorted(table.live()) == ["b", "c"]


def test_a_delete_by_expression_takes_files_all_of_whose_rows_match() -> None:
    table = Table()
    table.commit(fast_append([data_file("low", ids=(0, 9)), data_file("high", ids=(10, 19))]))
    table.commit(delete_where(less("id", 10)))
    assert list(table.live()) == ["high"]


def test_a_delete_by_expression_refuses_a_file_of_which_only_some_rows_match() -> None:
    table = Table()
    table.commit(fast_append([data_file("low", ids=(0, 9)), data_file("high", ids=(10, 19))]))
    error = refused("OCC008", lambda: table.commit(delete_where(less("id", 15))))
    assert data_path("high") in str(error)


def test_the_vector_of_a_removed_file_goes_with_it_and_others_stay() -> None:
    table = Table(3)
    table.commit(row_delta([data_file("a"), data_file("b"), deletion_vector("va", "a"), deletion_vector("vb", "b")]))
    table.commit(delete_files([data_path("a")]))
    assert sorted(table.live()) == ["b", "vb"]
    assert (table.summary["removed-dvs"], table.summary["removed-delete-files"]) == ("1", "1")


ISOLATED = {
    isolation: overwrite([data_file("n")], [data_path("a")], validation=validation_for(isolation, equal("part", "a")))
    for isolation in Isolation
}


@pytest.mark.parametrize(
    ("other", "snapshot", "serializable"),
    [
        (fast_append([data_file("x", "a")]), True, False),
        (fast_append([data_file("x", "b")]), True, True),
        (row_delta([equality_deletes("x", "a")]), False, False),
        (row_delta([equality_deletes("x", "b")]), True, True),
        (delete_files([data_path("b")]), False, False),
        (delete_files([data_path("c")]), True, True),
        (rewrite_files([data_file("x", "a")], [data_path("b")]), True, True),
        (SetProperties({"x": "y"}), True, True),
    ],
    ids=[
        "append",
        "append elsewhere",
        "deletes",
        "deletes elsewhere",
        "removal",
        "removal elsewhere",
        "rewrite",
        "none",
    ],
)
def test_isolation_decides_what_others_may_have_done(other: Change, snapshot: bool, serializable: bool) -> None:
    for isolation, may in ((Isolation.SNAPSHOT, snapshot), (Isolation.SERIALIZABLE, serializable)):
        table = Table()
        table.commit(fast_append([data_file("a"), data_file("b"), data_file("c", "b")]))
        planned = table.base
        table.commit(other)
        if may:
            table.commit(ISOLATED[isolation], base=planned)
            assert "n" in table.live()
        else:
            refused(
                "OCC004", lambda table=table, planned=planned, of=isolation: table.commit(ISOLATED[of], base=planned)
            )


def test_metrics_report_that_files_do_not_conflict() -> None:
    validation = validation_for(Isolation.SERIALIZABLE, less("id", 10))
    for ids, may in (((10, 19), True), ((5, 19), False)):
        table = Table()
        table.commit(fast_append([data_file("a")]))
        planned = table.base
        table.commit(fast_append([data_file("x", ids=ids)]))
        change = overwrite([data_file("n")], [data_path("a")], validation=validation)
        if may:
            table.commit(change, base=planned)
        else:
            refused("OCC004", lambda table=table, planned=planned, wanted=change: table.commit(wanted, base=planned))


@pytest.mark.parametrize(
    ("delete", "conflicts"),
    [
        (equality_deletes("d", "a"), True),
        (equality_deletes("d", "b"), False),
        (position_deletes("d", "a", "a"), True),
        (position_deletes("d", "other", "a"), False),
        (position_deletes("d", None, "a"), True),
        (position_deletes("d", None, "b"), False),
    ],
    ids=[
        "equality",
        "equality elsewhere",
        "position",
        "position of another file",
        "position unsaid",
        "unsaid elsewhere",
    ],
)
def test_a_rewrite_is_refused_where_rows_of_its_files_were_deleted(delete: NewFile, conflicts: bool) -> None:
    table = Table()
    table.commit(fast_append([data_file("a"), data_file("other")]))
    planned = table.base
    table.commit(row_delta([delete]))
    change = rewrite_files([data_file("n")], [data_path("a")])
    if conflicts:
        refused("OCC007", lambda: table.commit(change, base=planned))
    else:
        table.commit(change, base=planned)
        assert "n" in table.live()


def test_bounds_of_paths_report_of_which_files_position_deletes_are() -> None:
    deletes = position_deletes("d", None, "a")
    path = data_path("other").encode()
    bounded = NewFile(evolve(deletes.data_file, lower_bounds={2147483546: path}, upper_bounds={2147483546: path}), 0)
    table = Table()
    table.commit(fast_append([data_file("a"), data_file("other")]))
    planned = table.base
    table.commit(row_delta([bounded]))
    table.commit(rewrite_files([data_file("n")], [data_path("a")]), base=planned)
    planned = table.base
    table.commit(row_delta([NewFile(evolve(bounded.data_file, file_path=data_path("e")), 0)]))
    refused("OCC007", lambda: table.commit(rewrite_files([data_file("m")], [data_path("other")]), base=planned))


def test_a_rewrite_that_keeps_the_data_sequence_number_bears_new_equality_deletes() -> None:
    table = Table()
    table.commit(fast_append([data_file("a")]))
    planned = table.base
    table.commit(row_delta([equality_deletes("d")]))
    table.commit(rewrite_files([data_file("n", sequence_number=1)], [data_path("a")]), base=planned)
    assert {name: entry.sequence_number for name, entry in table.live().items()} == {"n": 1, "d": 2}


def test_deletes_of_rows_ask_that_the_data_file_is_there() -> None:
    table = Table()
    table.commit(fast_append([data_file("a"), data_file("b")]))
    planned = table.base
    table.commit(delete_files([data_path("a")]))
    validation = changes.Validation(files_exist=(data_path("a"),))
    refused(
        "OCC004", lambda: table.commit(row_delta([position_deletes("p", "a")], validation=validation), base=planned)
    )
    there = changes.Validation(files_exist=(data_path("b"),))
    table.commit(row_delta([position_deletes("p", "b")], validation=there), base=planned)


def test_a_data_file_has_one_vector_at_most() -> None:
    table = Table(3)
    table.commit(row_delta([data_file("a"), data_file("b"), deletion_vector("v1", "a")]))
    refused("DEL003", lambda: table.commit(row_delta([deletion_vector("v2", "a")])))
    table.commit(row_delta([deletion_vector("v3", "b")]))
    table.commit(row_delta([deletion_vector("v2", "a")], [(data_path("v1"), 4)]))
    assert sorted(table.live()) == ["a", "b", "v2", "v3"]


@pytest.mark.parametrize(
    ("version", "new", "code"),
    [
        (1, equality_deletes("d"), "DEL001"),
        (2, deletion_vector("d", "a"), "DEL001"),
        (3, position_deletes("d", "a"), "DEL002"),
    ],
    ids=["deletes in v1", "vectors in v2", "position deletes in v3"],
)
def test_a_version_takes_the_delete_files_that_it_has(version: int, new: NewFile, code: str) -> None:
    table = Table(version)
    table.commit(fast_append([data_file("a")]))
    refused(code, lambda: table.commit(row_delta([new])))


def test_what_happened_on_a_branch_that_was_rolled_back_is_not_known() -> None:
    table = Table()
    first = table.commit(fast_append([data_file("a")])).snapshot
    assert first is not None
    table.commit(fast_append([data_file("b")]))
    planned = table.base
    table.commit(SetReference("main", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.BRANCH)))
    refused("OCC004", lambda: table.commit(ISOLATED[Isolation.SNAPSHOT], base=planned))
    table.commit(fast_append([data_file("c")]), base=planned)
    assert sorted(table.live()) == ["a", "c"]


# Changes of metadata


SCHEMA_CHANGE = ChangeSchema((AddColumn("new", INT),))
SPEC_CHANGE = ChangeSpec((AddPartitionField((1,), Bucket(4), "bucket"),))
ORDER_CHANGE = ChangeSortOrder((SortField(transform=Identity(), source_id=1),))


@pytest.mark.parametrize("change", [SCHEMA_CHANGE, SPEC_CHANGE, ORDER_CHANGE], ids=["schema", "spec", "order"])
def test_a_change_of_the_schema_spec_or_order_asks_for_the_schema_that_it_was_planned_on(change: Change) -> None:
    table = Table()
    planned = table.base
    table.commit(fast_append([data_file("a")]))
    table.commit(change, base=planned)
    table = Table()
    planned = table.base
    table.commit(ChangeSchema((AddColumn("other", INT),)))
    refused("OCC009", lambda: table.commit(change, base=planned))


@pytest.mark.parametrize("change", [SPEC_CHANGE, ORDER_CHANGE], ids=["spec", "order"])
def test_a_change_of_the_spec_or_order_asks_for_the_one_that_it_was_planned_on(change: Change) -> None:
    table = Table()
    planned = table.base
    table.commit(change)
    refused("OCC009", lambda: table.commit(change, base=planned))


def test_properties_are_set_and_removed_one_by_one() -> None:
    table = Table(2, {"kept": "1", "gone": "1", "changed": "1"})
    planned = table.base
    table.commit(SetProperties({"others": "1"}))
    table.commit(SetProperties({"changed": "2"}, frozenset({"gone"})), base=planned)
    assert table.metadata.properties == {"kept": "1", "changed": "2", "others": "1"}


def test_a_reference_is_moved_from_where_it_was_seen() -> None:
    table = Table()
    first = table.commit(fast_append([data_file("a")])).snapshot
    second = table.commit(fast_append([data_file("b")])).snapshot
    assert first is not None
    assert second is not None
    tag = SetReference("t", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.TAG))
    planned = table.base
    table.commit(tag)
    refused("REF007", lambda: table.commit(SetReference("t", None), base=planned))
    table.commit(SetReference("t", None))
    assert "t" not in table.metadata.references
    refused("REF006", lambda: table.commit(SetReference("main", None)))
    wrong = SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.TAG)
    refused("REF006", lambda: table.commit(SetReference("main", wrong)))
    refused("REF001", lambda: table.commit(SetReference("t", SnapshotRef(snapshot_id=5, type=RefType.TAG))))


def test_moving_main_is_noted_in_the_snapshot_log() -> None:
    table = Table()
    first = table.commit(fast_append([data_file("a")])).snapshot
    second = table.commit(fast_append([data_file("b")])).snapshot
    assert first is not None
    assert second is not None
    table.commit(SetReference("main", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.BRANCH)))
    ids = [first.snapshot_id, second.snapshot_id, first.snapshot_id]
    assert [entry.snapshot_id for entry in table.metadata.snapshot_log] == ids
    table.commit(
        SetReference("main", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.BRANCH, max_ref_age_ms=5))
    )
    assert len(table.metadata.snapshot_log) == 3
    assert table.metadata.references["main"].max_ref_age_ms == 5


def test_v1_has_references_where_it_needs_them() -> None:
    table = Table(1)
    snapshot = table.commit(fast_append([data_file("a")])).snapshot
    assert snapshot is not None
    assert table.metadata.refs == {}
    table.commit(SetReference("t", SnapshotRef(snapshot_id=snapshot.snapshot_id, type=RefType.TAG)))
    assert set(table.metadata.refs) == {"main", "t"}
    table.commit(fast_append([data_file("b")]))
    assert table.metadata.refs["main"].snapshot_id == table.metadata.current_snapshot_id


def test_v1_keeps_the_retention_of_main() -> None:
    table = Table(1)
    snapshot = table.commit(fast_append([data_file("a")])).snapshot
    assert snapshot is not None
    kept = SnapshotRef(snapshot_id=snapshot.snapshot_id, type=RefType.BRANCH, min_snapshots_to_keep=3)
    table.commit(SetReference("main", kept))
    assert table.metadata.references == {"main": kept}
    table.commit(fast_append([data_file("b")]))
    assert table.metadata.references["main"].min_snapshots_to_keep == 3


def test_statistics_are_of_a_snapshot_that_is_there_and_replace_older_ones() -> None:
    table = Table()
    snapshot = table.commit(fast_append([data_file("a")])).snapshot
    assert snapshot is not None

    def statistics(snapshot_id: int, path: str) -> SetStatistics:
        return SetStatistics(
            StatisticsFile(
                snapshot_id=snapshot_id,
                statistics_path=path,
                file_size_in_bytes=1,
                file_footer_size_in_bytes=1,
                blob_metadata=(),
            )
        )

    refused("REF001", lambda: table.commit(statistics(5, "x")))
    table.commit(statistics(snapshot.snapshot_id, "x"))
    table.commit(statistics(snapshot.snapshot_id, "y"))
    table.commit(
        SetStatistics(
            PartitionStatisticsFile(snapshot_id=snapshot.snapshot_id, statistics_path="z", file_size_in_bytes=1)
        )
    )
    assert [one.statistics_path for one in table.metadata.statistics] == ["y"]
    assert [one.statistics_path for one in table.metadata.partition_statistics] == ["z"]
    table.commit(RemoveStatistics(snapshot.snapshot_id))
    assert (table.metadata.statistics, table.metadata.partition_statistics) == ((), ())


def test_an_upgrade_is_applied_to_what_others_made() -> None:
    table = Table(1)
    planned = table.base
    table.commit(fast_append([data_file("a")]))
    table.commit(UpgradeFormatVersion(V2), base=planned)
    assert table.metadata.format_version is V2
    table.commit(fast_append([data_file("b")]), base=planned)
    numbers = {name: entry.sequence_number for name, entry in table.live().items()}
    assert numbers == {"a": 0, "b": 1}
    with pytest.raises(SpecError, match="VER003"):
        table.commit(UpgradeFormatVersion(V1))


def test_each_commit_notes_the_file_before_and_time_does_not_go_back() -> None:
    table = Table(2, {"write.metadata.previous-versions-max": "2"})
    locations = []
    for number in range(4):
        locations.append(table.base.location)
        before = table.metadata.last_updated_ms
        table.commit(SetProperties({"n": str(number)}))
        assert table.metadata.last_updated_ms >= before
        assert table.metadata.metadata_log[-1].metadata_file == locations[-1]
        assert table.metadata.metadata_log[-1].timestamp_ms == before
    assert [entry.metadata_file for entry in table.metadata.metadata_log] == locations[-2:]


def test_a_rollback_by_a_clock_that_is_behind_continues_the_log() -> None:
    table = Table()
    first = table.commit(fast_append([data_file("a")])).snapshot
    assert first is not None
    table.commit(fast_append([data_file("b")]))
    ahead = table.metadata.last_updated_ms + 3_600_000
    with patch("time.time_ns", return_value=ahead * 1_000_000):
        table.commit(fast_append([data_file("c")]))
    for name in ("main", "audit", "main"):
        table.commit(SetReference(name, SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.BRANCH)))
        entry = table.metadata.snapshot_log[-1]
        assert (entry.timestamp_ms, entry.snapshot_id) == (table.metadata.last_updated_ms, first.snapshot_id)
        assert table.metadata.last_updated_ms == ahead


def test_expired_snapshots_go_with_what_reports_of_them() -> None:
    table = Table()
    for name in "abc":
        table.commit(fast_append([data_file(name)]))
    table.commit(ExpireSnapshots(1 << 60))
    assert [snapshot.snapshot_id for snapshot in table.metadata.snapshots] == [table.metadata.current_snapshot_id]
    assert len(table.metadata.snapshot_log) == 1
    assert sorted(table.live()) == ["a", "b", "c"]


# Old snapshots, and invalid tables


def test_a_snapshot_of_v1_without_a_manifest_list_is_built_on() -> None:
    table = Table(1)
    entry = ManifestEntry(status=EntryStatus.ADDED, snapshot_id=5, data_file=data_file("a").data_file)
    contents = ManifestPayload(
        entries=(entry,), format_version=V1, content=ManifestContent.DATA, spec=BY_PART, schema=SCHEMA, length=100
    )
    assert encode(contents, "m.avro")[:3] == b"Obj"
    path = f"{LOCATION}/metadata/m.avro"
    table.store.files[path] = contents
    snapshot = Snapshot(snapshot_id=5, timestamp_ms=1, manifests=(path,))
    table.store.files[table.base.location] = evolve(table.metadata, snapshots=(snapshot,), current_snapshot_id=5)
    table.commit(fast_append([data_file("b")]))
    assert sorted(table.live()) == ["a", "b"]
    table.commit(UpgradeFormatVersion(FormatVersion(3), None))
    table.commit(fast_append([data_file("c")]))
    ids = [entry.data_file.first_row_id for entry in table.live().values()]
    assert sorted(ids) == [0, 10, 20]  # type: ignore[type-var]


COUNTS = tuple(f"{status}_{kind}_count" for status in ("added", "existing", "deleted") for kind in ("files", "rows"))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("unknown", [COUNTS, COUNTS[1::2], COUNTS[:1]], ids=["all", "rows", "one"])
def test_counts_that_lists_of_v1_left_out_are_counted(version: int, unknown: tuple[str, ...]) -> None:
    table = Table(1)
    table.commit(fast_append([data_file("a", rows=3), data_file("b", rows=4)]))
    table.commit(delete_files([data_path("a")]))
    table.commit(fast_append([data_file("c", rows=5)]))
    for path, content in table.store.files.items():
        if isinstance(content, ManifestListPayload):
            files = tuple(evolve(one, **dict.fromkeys(unknown)) for one in content.files)
            table.store.files[path] = evolve(content, files=files)
            assert encode(table.store.files[path], path)[:3] == b"Obj"
    table.commit(fast_append([data_file("d", rows=6)]))  # optional in v1
    table.commit(UpgradeFormatVersion(FormatVersion(version), "9c12d441-03fe-4693-9a96-a0705ddf69c1"))
    table.commit(fast_append([data_file("e", rows=7)]))
    table.commit(rewrite_files([data_file("f", rows=4)], [data_path("b")]))
    for manifest in table.manifests():
        mine = [entry for listed, entry in table.entries() if listed.manifest_path == manifest.manifest_path]
        for status in EntryStatus:
            rows = [entry.data_file.record_count for entry in mine if entry.status is status]
            assert getattr(manifest, f"{status.name.lower()}_files_count") == len(rows)
            assert getattr(manifest, f"{status.name.lower()}_rows_count") == sum(rows)
    expected = {name: entry.data_file.record_count for name, entry in table.live().items()}
    assert expected == {"c": 5, "d": 6, "e": 7, "f": 4}
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert encode(table.store.files[snapshot.manifest_list or ""], "snap.avro")[:3] == b"Obj"
    if version == 3:
        firsts = [entry.data_file.first_row_id for entry in table.live().values()]
        assert None not in firsts
        ranges = sorted((first or 0, rows) for first, rows in zip(firsts, expected.values(), strict=True))
        assert all(first + rows <= after for (first, rows), (after, _) in pairwise(ranges))


def test_a_table_that_has_lost_a_file_is_reported_and_left_alone() -> None:
    table = Table()
    done = table.commit(fast_append([data_file("a")]))
    assert done.snapshot is not None
    del table.store.files[done.snapshot.manifest_list or ""]
    before = table.base
    with pytest.raises(SpecError, match="SNP005"):
        table.commit(fast_append([data_file("b")]))
    assert table.base == before
    del table.store.files[before.location]
    with pytest.raises(SpecError, match="OCC002"):
        table.commit(fast_append([data_file("b")]))


def test_a_change_of_no_table_is_refused() -> None:
    runner = MemoryRunner(MemoryStore())
    with pytest.raises(SpecError, match="OCC001"):
        runner.commit(SetProperties({"x": "y"}))


def test_what_a_commit_makes_reads_as_it_was_written() -> None:
    for version in (1, 2, 3):
        table = Table(version)
        table.commit(append([data_file("a")]))
        table.commit(delete_files([data_path("a")]))
        assert write_metadata(read_metadata(write_metadata(table.metadata))) == write_metadata(table.metadata)


# Retries


def test_the_properties_of_a_table_say_how_often_to_try() -> None:
    assert read_retry_policy({}) == RetryPolicy(4, 100, 60_000, 1_800_000)
    properties = {
        "commit.retry.num-retries": "7",
        "commit.retry.min-wait-ms": "10",
        "commit.retry.max-wait-ms": "50",
        "commit.retry.total-timeout-ms": "1000",
    }
    policy = read_retry_policy(properties)
    assert policy == RetryPolicy(7, 10, 50, 1000)
    assert [policy.wait_ms(retry) for retry in range(5)] == [10, 20, 40, 50, 50]
    assert policy.wait_ms(10**9) == 50


@pytest.mark.parametrize("text", ["-1", "many", "", "1" * 40, "٣"])
def test_a_number_of_retries_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="TMD014"):
        read_retry_policy({"commit.retry.num-retries": text})


@pytest.mark.parametrize("name", ["commit.manifest.min-count-to-merge", "commit.manifest.target-size-bytes"])
@pytest.mark.parametrize("text", ["zero", "-1", "", "1" * 40])
def test_a_limit_of_manifests_that_is_no_number_is_refused(name: str, text: str) -> None:
    table = Table(2)
    table.commit(fast_append([data_file("a")]))
    table.commit(SetProperties({name: text}))
    with pytest.raises(SpecError, match="TMD014") as error:
        table.commit(append([data_file("b")]))
    assert error.value.violation.path == f"/properties/{name}"


def test_a_limit_of_manifests_may_be_any_long() -> None:
    table = Table(2)
    table.commit(SetProperties({"commit.manifest.target-size-bytes": str(2**63 - 1)}))
    table.commit(append([data_file("a")]))


# References, and changes that no version allows


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_snapshot_is_not_committed_to_a_tag(version: int) -> None:
    table = Table(version)
    first = table.commit(fast_append([data_file("a")])).snapshot
    assert first is not None
    table.commit(SetReference("tag", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.TAG)))
    before = table.base
    for change in (
        fast_append([data_file("b")], branch="tag"),
        delete_files([data_path("a")], branch="tag"),
        changes.rewrite_manifests(branch="tag"),
        delete_where(equal("part", "a"), branch="tag"),
    ):
        with pytest.raises(CommitConflict, match="REF008"):
            table.commit(change)
    assert table.base == before


def test_a_branch_that_others_made_a_tag_meanwhile_is_left_alone() -> None:
    table = Table()
    first = table.commit(fast_append([data_file("a")])).snapshot
    base = table.base
    assert first is not None
    table.commit(SetReference("new", SnapshotRef(snapshot_id=first.snapshot_id, type=RefType.TAG)))
    with pytest.raises(CommitConflict, match="REF008"):
        table.commit(fast_append([data_file("b")], branch="new"), base)
    assert table.metadata.references["new"].snapshot_id == first.snapshot_id


def test_two_vectors_of_one_file_are_not_added() -> None:
    table = Table(3)
    table.commit(fast_append([data_file("a"), data_file("b")]))
    before = table.base
    with pytest.raises(SpecError, match="DEL003"):
        table.commit(row_delta([deletion_vector("v1", "a"), deletion_vector("v2", "b"), deletion_vector("v3", "a")]))
    assert table.base == before
    table.commit(row_delta([deletion_vector("v1", "a"), deletion_vector("v2", "b")]))
    with pytest.raises(SpecError, match="DEL003"):
        table.commit(
            row_delta(
                [deletion_vector("v3", "a"), deletion_vector("v4", "a")], [(data_path("v1"), 4), (data_path("v2"), 4)]
            )
        )


@pytest.mark.parametrize(
    ("type_", "retention", "code"),
    [
        (RefType.TAG, {"min_snapshots_to_keep": 1}, "REF003"),
        (RefType.TAG, {"max_snapshot_age_ms": 1}, "REF004"),
        (RefType.TAG, {"max_ref_age_ms": 0}, "REF005"),
        (RefType.BRANCH, {"min_snapshots_to_keep": 0}, "REF003"),
        (RefType.BRANCH, {"max_snapshot_age_ms": -1}, "REF004"),
        (RefType.TAG, {"max_ref_age_ms": 1}, None),
        (RefType.BRANCH, {"min_snapshots_to_keep": 1, "max_snapshot_age_ms": 1, "max_ref_age_ms": 1}, None),
    ],
)
def test_references_have_the_retention_that_their_type_has(
    type_: RefType, retention: dict[str, int], code: str | None
) -> None:
    table = Table()
    first = table.commit(fast_append([data_file("a")])).snapshot
    assert first is not None
    before = table.base
    change = SetReference("ref", SnapshotRef(snapshot_id=first.snapshot_id, type=type_, **retention))
    if code is None:
        table.commit(change)
        assert table.metadata.references["ref"] == change.ref
        return
    with pytest.raises(SpecError, match=code):
        table.commit(change)
    assert table.base == before


# A different table under the same name


OTHER_UUID = "0d3a39a8-0c36-4d8a-a7f5-4a6e0a2b5c1e"


def replaced(table: Table, uuid: str | None) -> None:
    """Replace a table with a different one, as dropping it and creating one of the same name does."""
    location = table.base.location + ".other"
    table.store.files[location] = evolve(empty_table(int(table.metadata.format_version)), table_uuid=uuid)
    table.store.pointer = location


@pytest.mark.parametrize("uuid", [OTHER_UUID, None])
def test_nothing_is_committed_to_another_table(uuid: str | None) -> None:
    for change in (
        fast_append([data_file("b")]),
        append([data_file("b")]),
        SetProperties({"x": "y"}),
        UpgradeFormatVersion(V3, None),
        ExpireSnapshots(1 << 60),
        ChangeSchema((AddColumn("late", INT),)),
        delete_where(equal("part", "a")),
    ):
        table = Table()
        base = table.base
        replaced(table, uuid)
        before = dict(table.store.files)
        with pytest.raises(CommitConflict, match="TMD035"):
            table.commit(change, base)
        assert table.store.files == before
        with pytest.raises(CommitConflict, match="TMD035"):
            table.runner.run(load(1, base.metadata))


def test_a_table_that_replaces_the_planned_one_before_the_swap_is_left_alone() -> None:
    """Its history does not show whether the swap happened before the table was replaced."""
    table = Table()
    swap = table.store.swap_pointer

    def late(expected: str | None, new: str) -> Any:
        if table.metadata.table_uuid != OTHER_UUID:
            replaced(table, OTHER_UUID)
        return swap(expected, new)

    table.store.swap_pointer = late  # type: ignore[method-assign]
    with pytest.raises(CommitStateUnknown):
        table.commit(fast_append([data_file("a")]))
    assert table.metadata.table_uuid == OTHER_UUID
    assert table.metadata.snapshots == ()


def test_the_same_table_may_spell_its_uuid_otherwise_and_get_one() -> None:
    table = Table(1)
    base = table.base
    table.store.files[base.location] = evolve(base.metadata, table_uuid=(base.metadata.table_uuid or "").upper())
    table.commit(SetProperties({"x": "1"}), base)
    table.store.files[table.base.location] = evolve(table.metadata, table_uuid=None)
    base = table.base
    table.commit(UpgradeFormatVersion(V2, OTHER_UUID), base)
    table.commit(fast_append([data_file("a")]), base)
    assert table.metadata.table_uuid == OTHER_UUID
