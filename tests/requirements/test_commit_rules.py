"""Rules about commits that no single file shows: what stays, what comes anew, and what may be deleted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pytest

from conformance.operations.commits.fixtures import data_file, data_path, deletion_vector, empty_table, position_deletes
from conformance.races import suites
from conformance.races.suites import Race
from conformance.table_io.stores import commit, load
from conformance.table_io.stores.file_system import FileSystemStore
from conformance.table_io.stores.local_files import local_path
from conformance.table_io.stores.runner import Runner
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.commits import CommitConflict, CommitFailed
from spec_ref.commits.changes import (
    CreateTable,
    ExpireSnapshots,
    SetProperties,
    SetReference,
    append,
    delete_files,
    fast_append,
    overwrite,
    rewrite_files,
    row_delta,
)
from spec_ref.commits.effects import NonDeterministic, SwapResult
from spec_ref.commits.retries import RetryPolicy
from spec_ref.commits.snapshots import assign_row_ids
from spec_ref.commits.tables import FileSystemTable, MetastoreTable, metadata_directory
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests.reader import read_manifest
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.snapshots.references import RefType, SnapshotRef
from spec_ref.table_metadata.metadata import TableMetadata

QUICK = RetryPolicy(num_retries=3, min_wait_ms=0, max_wait_ms=1)
ONCE = RetryPolicy(num_retries=0, min_wait_ms=0, max_wait_ms=1)


class Table:
    """A table in a directory."""

    def __init__(self, place: Path, version: int = 2) -> None:
        self.place = place
        self.location = place.as_uri()
        self.store = FileSystemStore(self.location)
        self.do(CreateTable(empty_table(version, self.location)))

    def do(self, change: Any, store: Any = None, policy: RetryPolicy = QUICK) -> Any:
        return commit(change, store or self.store, policy=policy)

    def add(self, name: str) -> Any:
        self.store.write(data_path(name, self.location), b"rows")
        return self.do(fast_append([data_file(name, location=self.location)]))

    @property
    def metadata(self) -> TableMetadata:
        base = load(self.store)
        assert base is not None
        return base.metadata

    def files(self) -> dict[str, bytes]:
        """The content of every file of metadata by name; the hint is not part of the table."""
        hint = "version-hint.text"
        return {path.name: path.read_bytes() for path in (self.place / "metadata").iterdir() if path.name != hint}

    def entries(self) -> dict[str, Any]:
        snapshot = self.metadata.current_snapshot
        assert snapshot is not None
        listed = read_manifest_list(self.store.read(snapshot.manifest_list or "") or b"")
        specs = {spec.spec_id: spec for spec in self.metadata.partition_specs}
        read = [read_manifest(self.store.read(m.manifest_path) or b"", manifest_file=m, specs=specs) for m in listed]
        return {e.data_file.file_path.rsplit("/", 1)[-1]: e for one in read for e in one.entries() if e.live}

    def has(self, name: str) -> bool:
        return self.store.read(data_path(name, self.location)) is not None


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "t")


class Meddled:
    """The store of a table, in which another writer commits right before the first swap."""

    def __init__(self, table: Table, meddle: Callable[[], Any]) -> None:
        self.store, self.meddle, self.written = table.store, [meddle], list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def write(self, path: str, content: bytes) -> None:
        self.written.append(path.rsplit("/", 1)[-1])
        self.store.write(path, content)

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        if self.meddle:
            self.meddle.pop()()
        return self.store.swap_pointer(expected, new)


def test_a_change_writes_new_files_and_alters_none(table: Table) -> None:  # TMD026, FIO001
    table.add("a")
    before = table.files()
    table.add("b")
    table.do(SetProperties({"x": "y"}))
    after = table.files()
    assert {name: after.get(name) for name in before} == before
    names = sorted(name for name in after if name.endswith(".metadata.json"))
    assert names == [f"v{number}.metadata.json" for number in range(1, 5)]
    logged = [entry.metadata_file.rsplit("/", 1)[-1] for entry in table.metadata.metadata_log]
    assert logged == names[:-1]


def test_every_attempt_writes_a_list_of_its_own(table: Table) -> None:  # MLS001
    meddled = Meddled(table, lambda: table.add("other"))
    done = table.do(fast_append([data_file("mine", location=table.location)]), meddled)
    lists = [name for name in meddled.written if name.startswith("snap-")]
    assert done.attempts == 2
    assert len(lists) == len(set(lists)) == 2


def test_the_file_of_the_next_version_is_renamed_and_the_loser_begins_again(table: Table) -> None:  # OCC010
    meddled = Meddled(table, lambda: table.add("other"))
    table.do(fast_append([data_file("mine", location=table.location)]), meddled)
    base = load(table.store)
    assert base is not None
    assert base.location.endswith("/metadata/v3.metadata.json")
    written = [name for name in meddled.written if name.endswith(".metadata.json")]
    assert len(written) == 2
    assert not any(re.fullmatch(r"v\d+\.metadata\.json", name) for name in written)
    assert not set(written) & set(table.files())
    assert sorted(table.entries()) == ["mine", "other"]
    with pytest.raises(CommitFailed):
        table.do(
            fast_append([data_file("late", location=table.location)]), Meddled(table, lambda: table.add("b")), ONCE
        )
    assert "late" not in table.entries()


def test_names_of_metadata_files_have_the_next_version(table: Table) -> None:  # OCC010, OCC012
    base = ("s3://b/t/metadata/00007-9c12d441.metadata.json", table.metadata)
    name = MetastoreTable().new_metadata_location(base, table.metadata, "9c12d441-03fe-4693-9a96-a0705ddf69c1")
    assert name.rsplit("/", 1)[-1] == "00008-9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json"
    random = FileSystemTable().new_metadata_location(base, table.metadata, "9c12d441-03fe-4693-9a96-a0705ddf69c1")
    assert random.rsplit("/", 1)[-1] == "9c12d441-03fe-4693-9a96-a0705ddf69c1.metadata.json"


def test_a_metastore_swaps_the_pointer_or_the_writer_begins_again() -> None:  # OCC012
    explored = suites.explore_schedules(Race(2, "metastore", ("fast-append", "fast-append"))).explored
    assert explored.outcomes == {("committed", "committed"): explored.schedules}
    assert explored.found == ()


def test_a_reader_keeps_what_it_loaded() -> None:  # OCC002
    explored = suites.explore_schedules(Race(2, "metastore", ("append", "overwrite", "read"))).explored
    assert explored.found == ()
    assert {outcome[2] for outcome in explored.outcomes} == {"committed"}


def test_branches_have_row_ids_of_their_own() -> None:  # LIN016
    explored = suites.explore_schedules(Race(3, "metastore", ("append-to-branch", "fast-append"))).explored
    assert explored.found == ()
    assert explored.schedules > 1


@pytest.mark.parametrize("version", [V1, V2, V3])
def test_a_table_stays_at_its_version(version: int, tmp_path: Path) -> None:  # VER002
    table = Table(tmp_path / "t", version)
    table.add("a")
    assert table.metadata.format_version == version


def test_numbers_of_a_file_stay_when_its_entry_is_written_anew(table: Table) -> None:  # MAN020
    for name in "ab":
        table.add(name)
    table.do(SetProperties({"commit.manifest.min-count-to-merge": "2"}))
    before = {name: entry.sequence_number for name, entry in table.entries().items()}
    table.do(append([data_file("c", location=table.location)]))
    after = table.entries()
    assert {after[name].status.name for name in before} == {"EXISTING"}
    assert {name: after[name].sequence_number for name in before} == before == {"a": 1, "b": 2}


def test_files_are_deleted_with_the_last_snapshot_that_lists_them(table: Table) -> None:  # MAN018, TMD034
    table.add("a")
    first = table.metadata.current_snapshot_id
    assert first is not None
    table.do(SetReference("t", SnapshotRef(snapshot_id=first, type=RefType.TAG)))
    table.store.write(data_path("b", table.location), b"rows")
    table.do(overwrite([data_file("b", location=table.location)], [data_path("a", table.location)]))
    table.add("c")
    table.do(ExpireSnapshots(1 << 60, clean_files=True))
    assert table.has("a")  # the tag still has it, although the snapshot that deleted it is gone
    table.do(SetReference("t", None))
    table.do(ExpireSnapshots(1 << 60, clean_files=True))
    assert (table.has("a"), table.has("b"), table.has("c")) == (False, True, True)


@pytest.mark.parametrize(
    ("change", "operation", "live"),
    [
        (lambda at: rewrite_files([data_file("n", location=at)], [data_path("a", at)]), "replace", 1),
        (lambda at: overwrite([data_file("n", location=at)], [data_path("a", at)]), "overwrite", 1),
        (lambda at: delete_files([data_path("a", at)]), "delete", 0),
    ],
)
def test_the_operation_says_what_was_done(  # SNP014, SNP015
    change: Callable[[str], Any], operation: str, live: int, table: Table
) -> None:
    table.add("a")
    table.do(change(table.location))
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.operation is not None
    assert snapshot.operation.value == operation
    assert len(table.entries()) == live


def test_a_rewrite_keeps_the_rows_and_is_refused_where_others_deleted_some(table: Table) -> None:  # SNP014
    table.add("a")
    deletes = row_delta([position_deletes("p", "a", location=table.location)])
    meddled = Meddled(table, lambda: table.do(deletes))
    with pytest.raises(CommitConflict, match="OCC007"):
        table.do(rewrite_files([data_file("n", location=table.location)], [data_path("a", table.location)]), meddled)


def test_summaries_are_strings_and_may_have_entries_of_the_writers(table: Table) -> None:  # NOT006, NOT012
    pairs = (("wap.id", "w"), ("engine-name", "tests"), ("engine-version", "1"))
    table.do(evolve(fast_append([data_file("a", location=table.location)]), summary=pairs))
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.summary is not None
    assert {type(value) for value in snapshot.summary.values()} == {str}
    assert dict(pairs).items() <= dict(snapshot.summary).items()
    assert snapshot.summary["added-records"] == "10"


def test_snapshot_ids_are_positive_and_not_those_of_others(  # NOT007
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.add("a")
    first = table.metadata.current_snapshot_id
    assert first is not None
    assert 0 < first < 1 << 63
    drawn, perform = [first, 77], Runner._perform
    monkeypatch.setattr(
        Runner,
        "_perform",
        lambda self, one: drawn.pop(0) if one is NonDeterministic.SNAPSHOT_ID else perform(self, one),
    )
    table.add("b")
    assert table.metadata.current_snapshot_id == 77


def test_a_v3_table_takes_deletion_vectors_for_position_deletes(tmp_path: Path) -> None:  # DEL016
    table = Table(tmp_path / "t", 3)
    table.add("a")
    with pytest.raises(CommitConflict, match="DEL002"):
        table.do(row_delta([position_deletes("p", "a", location=table.location)]))
    table.do(row_delta([deletion_vector("v", "a", location=table.location)]))
    assert sorted(table.entries()) == ["a", "v"]


def test_next_row_id_rises_by_the_rows_of_new_manifests(tmp_path: Path) -> None:  # LIN025, TMD027
    table = Table(tmp_path / "t", 3)
    table.add("a")
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert (snapshot.first_row_id, snapshot.added_rows, table.metadata.next_row_id) == (0, 10, 10)
    listed = read_manifest_list(table.store.read(snapshot.manifest_list or "") or b"")
    moved = evolve(listed[0], first_row_id=None, added_rows_count=4, existing_rows_count=6)
    # Rows that were there count too, so that added-rows may be more than were added.
    assert assign_row_ids((moved,), table.metadata)[1] == (10, 20)


@pytest.mark.parametrize(
    ("path", "expected"),
    [(None, "s3://b/t/metadata"), ("meta", "s3://b/t/meta"), ("s3://c/m/", "s3://c/m"), ("/m", "/m")],
)
def test_metadata_goes_below_its_path(path: str | None, expected: str) -> None:  # NOT001
    properties = {} if path is None else {"write.metadata.path": path}
    assert metadata_directory(empty_table(2, "s3://b/t/", properties)) == expected


@pytest.mark.parametrize(("transform", "code"), [("zorder", "PAR007"), ("void", None)])
def test_no_file_is_committed_under_an_unknown_transform(  # FIO004, PAR026
    transform: str, code: str | None, tmp_path: Path
) -> None:
    table = Table(tmp_path / "other")
    field = PartitionField(source_id=2, field_id=1000, name="p", transform=parse_transform(transform))
    metadata = evolve(empty_table(2, (tmp_path / "t").as_uri()), partition_specs=(PartitionSpec(0, (field,)),))
    table.store = FileSystemStore(metadata.location)
    table.do(CreateTable(metadata))
    new = fast_append([data_file("a", None, location=metadata.location)])
    if code is None:
        assert table.do(new).snapshot is not None
        return
    with pytest.raises(SpecError, match=code):
        table.do(new)
    assert table.metadata.current_snapshot is None


@pytest.mark.parametrize(("number", "codes"), [(2, set()), (1, {"MAN020"})])
def test_a_number_that_changes_is_reported(number: int, codes: set[str], table: Table) -> None:  # MAN020
    for name in "ab":
        table.add(name)
    table.do(SetProperties({"commit.manifest.min-count-to-merge": "2"}))
    table.do(append([data_file("c", location=table.location)]))
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    list_path = local_path(snapshot.manifest_list or "")
    rows: dict[Path, list[Any]] = {}
    for path in (list_path, local_path(_records(list_path)[0]["manifest_path"])):
        rows[path] = _records(path)
    for row in rows[path]:
        if row["data_file"]["file_path"] == data_path("b", table.location):
            assert (row["status"], row["sequence_number"]) == (0, 2)
            row["sequence_number"] = number
    _rewrite(path, rows[path])
    rows[list_path][0]["manifest_length"] = path.stat().st_size
    _rewrite(list_path, rows[list_path])
    found = validate(table.location, Level.MANIFESTS, LocalBackend(), SnapshotSelection("all")).findings
    assert {one.requirement for one in found if one.severity is Severity.ERROR} == codes


def _records(path: Path) -> list[Any]:
    with path.open("rb") as file:
        return list(fastavro.reader(file))


def _rewrite(path: Path, rows: list[Any]) -> None:
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema = json.loads(reader.metadata["avro.schema"])
        fields = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
    with path.open("wb") as file:
        fastavro.writer(file, schema, rows, metadata=fields)
