"""The commit protocol on real stores: files, SQLite and PostgreSQL."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conformance.core.failures import UsageError
from conformance.operations.commits.fixtures import data_file, data_path, deletion_vector, empty_table, position_deletes
from conformance.table_io.stores import Store, commit, load, open_store
from conformance.table_io.stores.file_system import FileSystemStore
from conformance.table_io.stores.local_files import local_path
from conformance.table_io.stores.postgresql import PostgresDatabase
from conformance.table_io.stores.runner import Runner
from spec_ref.commits import CommitConflict, CommitFailed, CommitStateUnknown
from spec_ref.commits import load as load_steps
from spec_ref.commits.changes import (
    CreateTable,
    ExpireSnapshots,
    SetProperties,
    append,
    delete_files,
    fast_append,
    overwrite,
    rewrite_files,
    row_delta,
)
from spec_ref.commits.effects import SwapResult
from spec_ref.commits.retries import RetryPolicy
from spec_ref.core.records import evolve
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests.reader import read_manifest
from spec_ref.table_metadata import check_metadata, write_metadata
from spec_ref.table_metadata.rules import Severity
from spec_ref.table_metadata.writer import to_bytes

WRITERS_METADATA = pytest.mark.parametrize("store_url", ["file-system", "sqlite", "postgresql"], indirect=True)
"""The stores whose metadata files the writer writes, not a catalog."""

QUICK = RetryPolicy(num_retries=3, min_wait_ms=0, max_wait_ms=1)


def live(store: Store, branch: str = "main") -> dict[str, tuple[int | None, int | None]]:
    """Return the live files of a branch by name, read from bytes: data sequence number and first row id."""
    base = load(store)
    assert base is not None
    ref = base.metadata.references.get(branch)
    if ref is None:
        return {}
    snapshot = base.metadata.snapshot_by_id(ref.snapshot_id)
    found = {}
    for manifest in read_manifest_list(store.read(snapshot.manifest_list or "") or b""):
        specs = {spec.spec_id: spec for spec in base.metadata.partition_specs}
        read = read_manifest(store.read(manifest.manifest_path) or b"", manifest_file=manifest, specs=specs)
        for entry in read.entries():
            if entry.live:
                name = entry.data_file.file_path.rsplit("/", 1)[-1]
                found[name] = (entry.sequence_number, entry.data_file.first_row_id)
    return found


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_table_that_all_kinds_of_changes_made_is_valid(version: int, store: Store, location: str) -> None:
    commit(CreateTable(empty_table(version, location)), store)
    commit(append([data_file("a", location=location), data_file("b", "b", location=location)]), store)
    commit(fast_append([data_file("c", location=location)]), store)
    commit(overwrite([data_file("d", location=location)], [data_path("a", location)]), store)
    commit(delete_files([data_path("b", location)]), store)
    if version == 2:
        commit(row_delta([position_deletes("p", "c", location=location)]), store)
    if version == 3:
        commit(row_delta([deletion_vector("v", "c", location=location)]), store)
    commit(rewrite_files([data_file("r", location=location)], [data_path("d", location)]), store)
    commit(SetProperties({"owner": "me"}), store)
    base = load(store)
    assert base is not None
    findings = [one for one in check_metadata(write_metadata(base.metadata)) if one.severity is Severity.ERROR]
    assert findings == []
    expected = {
        1: {"c": (0, None), "r": (0, None)},
        2: {"c": (2, None), "p": (5, None), "r": (6, None)},
        3: {"c": (2, 20), "v": (5, None), "r": (6, 40)},
    }
    found = live(store)
    assert found.keys() == expected[version].keys()
    for name, (number, row_id) in expected[version].items():
        assert found[name][0] == number
        if name != "r":
            assert found[name][1] == row_id
    assert base.metadata.properties["owner"] == "me"


def test_the_second_of_two_commits_on_one_version_is_refused(
    store: Store, another: Callable[[], Store], location: str
) -> None:
    commit(CreateTable(empty_table(2, location)), store)
    base = load(store)
    assert base is not None
    commit(fast_append([data_file("a", location=location)]), another())
    late = commit(SetProperties({"x": "y"}), store)
    assert late.metadata.current_snapshot is not None
    stray = late.written_location.rsplit("/", 1)[0] + "/stray.metadata.json"
    store.write(stray, to_bytes(evolve(base.metadata, properties={"stray": "yes"})))
    assert store.swap_pointer(base.location, stray) is SwapResult.REFUSED
    again = load(store)
    assert again is not None
    assert again.metadata.properties == {"x": "y"}


OTHER_UUID = "0d3a39a8-0c36-4d8a-a7f5-4a6e0a2b5c1e"


@WRITERS_METADATA
def test_nothing_is_committed_where_the_name_leads_to_another_table(
    store: Store, another: Callable[[], Store], location: str
) -> None:
    commit(CreateTable(empty_table(2, location)), store)
    base = load(store)
    assert base is not None
    other = another()
    made = base.location.rsplit("/", 1)[0] + "/other.metadata.json"
    other.write(made, to_bytes(evolve(base.metadata, table_uuid=OTHER_UUID)))
    assert other.swap_pointer(base.location, made) is SwapResult.DONE
    for change in (SetProperties({"x": "y"}), fast_append([data_file("a", location=location)])):
        with pytest.raises(CommitConflict, match="TMD035"):
            commit(change, store, base=base)
    with pytest.raises(CommitConflict, match="TMD035"):
        load(store, base.metadata)
    now = load(store)
    assert now is not None
    assert now.metadata == evolve(base.metadata, table_uuid=OTHER_UUID)


def test_a_table_that_was_made_anew_in_one_directory_is_another(tmp_path: Path) -> None:
    """Its metadata files have the same names as those of the earlier table."""
    runner = Runner(FileSystemStore(tmp_path.as_uri()))
    runner.commit(CreateTable(empty_table(2, tmp_path.as_uri())))
    base = runner.run(load_steps())
    assert base is not None
    shutil.rmtree(tmp_path / "metadata")
    runner.commit(CreateTable(evolve(empty_table(2, tmp_path.as_uri()), table_uuid=OTHER_UUID)))
    with pytest.raises(CommitConflict, match="TMD035"):
        runner.commit(SetProperties({"x": "y"}), base=base)


def test_creating_a_table_that_is_there_is_a_conflict(
    store: Store, another: Callable[[], Store], location: str
) -> None:
    commit(CreateTable(empty_table(2, location)), store)
    with pytest.raises(CommitConflict, match="OCC005"):
        commit(CreateTable(empty_table(2, location)), another())


class _Meddling:
    """A store in which another writer commits right before each swap, a given number of times."""

    def __init__(self, store: Store, meddle: Callable[[], None], times: int) -> None:
        self._store, self._meddle, self.times = store, meddle, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        if self.times:
            self.times -= 1
            self._meddle()
        return self._store.swap_pointer(expected, new)


@pytest.mark.parametrize("version", [2, 3])
def test_a_retry_takes_new_numbers_and_uses_its_manifest_again(
    version: int, store: Store, another: Callable[[], Store], location: str
) -> None:
    commit(CreateTable(empty_table(version, location)), store)
    names = iter("xyz")
    meddling = _Meddling(
        store, lambda: commit(fast_append([data_file(next(names), location=location)]), another()) and None, 2
    )
    done = commit(fast_append([data_file("mine", location=location)]), meddling, policy=QUICK)
    assert done.attempts == 3
    assert done.snapshot is not None
    assert done.snapshot.sequence_number == 3
    assert live(store) == {
        name: (number, 10 * (number - 1) if version == 3 else None) for number, name in enumerate(("x", "y", "mine"), 1)
    }
    directory = local_path(f"{location}/metadata")
    manifests = list(directory.glob("*-m*.avro"))
    lists = list(directory.glob("snap-*.avro"))
    assert (len(manifests), len(lists)) == (3, 3)  # no manifest lists of lost attempts, and no manifest twice
    assert not [path for path in directory.iterdir() if path.name.endswith(".part")]


def test_who_loses_every_time_gives_up_and_leaves_nothing(
    store: Store, another: Callable[[], Store], location: str
) -> None:
    commit(CreateTable(empty_table(2, location)), store)
    names = iter("abcdefgh")
    meddling = _Meddling(
        store, lambda: commit(fast_append([data_file(next(names), location=location)]), another()) and None, 9
    )
    with pytest.raises(CommitFailed, match="4 attempts"):
        commit(fast_append([data_file("mine", location=location)]), meddling, policy=QUICK)
    assert sorted(live(store)) == ["a", "b", "c", "d"]
    directory = local_path(f"{location}/metadata")
    assert len(list(directory.glob("*-m*.avro"))) == 4
    assert len(list(directory.glob("snap-*.avro"))) == 4


class _Mute:
    """A store whose swap succeeds or fails but never answers."""

    def __init__(self, store: Store, *, done: bool) -> None:
        self._store, self.done, self.asked = store, done, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        self.asked += 1
        if self.done:
            self._store.swap_pointer(expected, new)
        return SwapResult.UNKNOWN


def test_a_lost_reply_is_resolved_by_reading(store: Store, location: str) -> None:
    commit(CreateTable(empty_table(3, location)), store)
    mute = _Mute(store, done=True)
    done = commit(fast_append([data_file("a", location=location)]), mute, policy=QUICK)
    assert (done.attempts, mute.asked) == (1, 1)
    assert list(live(store)) == ["a"]


def test_what_cannot_be_found_out_is_reported_and_nothing_is_removed(store: Store, location: str) -> None:
    commit(CreateTable(empty_table(3, location)), store)
    with pytest.raises(CommitStateUnknown):
        commit(fast_append([data_file("a", location=location)]), _Mute(store, done=False), policy=QUICK)
    assert live(store) == {}
    directory = local_path(f"{location}/metadata")
    assert len(list(directory.glob("*-m*.avro"))) == 1
    assert len(list(directory.glob("snap-*.avro"))) == 1


def test_expired_files_are_deleted_and_the_rest_stays(store: Store, location: str) -> None:
    commit(CreateTable(empty_table(2, location)), store)
    for name in ("a", "b"):
        store.write(data_path(name, location), b"rows")
    commit(fast_append([data_file("a", location=location)]), store)
    commit(overwrite([data_file("b", location=location)], [data_path("a", location)]), store)
    commit(ExpireSnapshots(1 << 60, clean_files=True), store)
    assert store.read(data_path("a", location)) is None
    assert store.read(data_path("b", location)) == b"rows"
    assert list(live(store)) == ["b"]


@WRITERS_METADATA
def test_old_metadata_files_go_where_the_table_asks_for_it(store: Store, location: str) -> None:
    properties = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2"}
    commit(CreateTable(empty_table(2, location, properties)), store)
    for number in range(5):
        commit(SetProperties({"n": str(number)}), store)
    base = load(store)
    assert base is not None
    assert len(base.metadata.metadata_log) == 2
    assert len(list(local_path(f"{location}/metadata").glob("*.metadata.json"))) == 3


def test_a_writer_that_is_late_does_not_take_the_name_of_a_deleted_version(tmp_path: Path) -> None:
    location = (tmp_path / "table").as_uri()
    store = FileSystemStore(location)
    properties = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "1"}
    commit(CreateTable(empty_table(2, location, properties)), store)
    late = load(store)
    assert late is not None
    for number in range(4):
        commit(SetProperties({"n": str(number)}), store)
    mine = f"{location}/metadata/mine.metadata.json"
    store.write(mine, b"{}")
    assert not local_path(f"{location}/metadata/v2.metadata.json").exists()
    assert store.swap_pointer(late.location, mine) is SwapResult.REFUSED
    assert not local_path(f"{location}/metadata/v2.metadata.json").exists()


@WRITERS_METADATA
@pytest.mark.parametrize("named", ["gzip", "none"])
def test_metadata_may_be_compressed(store: Store, location: str, named: str) -> None:
    properties = {"write.metadata.compression-codec": named}
    commit(CreateTable(empty_table(2, location, properties)), store)
    done = commit(fast_append([data_file("a", location=location)]), store)
    base = load(store)
    assert base is not None
    assert base.location.endswith(".gz.metadata.json") == (named == "gzip")
    assert (store.read(base.location) or b"")[:2] == (b"\x1f\x8b" if named == "gzip" else b'{"')
    assert base.metadata.current_snapshot_id == done.metadata.current_snapshot_id


def test_writers_that_want_another_compression_still_want_the_same_name(tmp_path: Path) -> None:
    location = (tmp_path / "table").as_uri()
    store = FileSystemStore(location)
    commit(CreateTable(empty_table(2, location)), store)
    other = FileSystemStore(location)
    meddling = _Meddling(
        store, lambda: commit(SetProperties({"write.metadata.compression-codec": "gzip"}), other) and None, 1
    )
    done = commit(fast_append([data_file("a", location=location)]), meddling, policy=QUICK)
    assert done.attempts == 2
    base = load(store)
    assert base is not None
    assert base.metadata.properties["write.metadata.compression-codec"] == "gzip"
    assert base.metadata.current_snapshot is not None


@pytest.mark.parametrize("hint", [b"1", b"nonsense", b"77", None])
def test_a_wrong_version_hint_leads_to_the_newest_version(tmp_path: Path, hint: bytes | None) -> None:
    location = (tmp_path / "table").as_uri()
    store = FileSystemStore(location)
    commit(CreateTable(empty_table(2, location)), store)
    commit(SetProperties({"x": "y"}), store)
    path = local_path(f"{location}/metadata/version-hint.text")
    assert path.read_bytes() == b"2"
    path.unlink()
    if hint is not None:
        path.write_bytes(hint)
    assert store.read_pointer() == f"{location}/metadata/v2.metadata.json"


def test_the_row_of_a_sqlite_table_is_that_of_the_sql_catalogs(tmp_path: Path, opened: Callable[[str], Store]) -> None:
    location = (tmp_path / "table").as_uri()
    store = opened(f"sqlite://{tmp_path}/catalog.db?table=t&namespace=ns&catalog=c")
    first = commit(CreateTable(empty_table(2, location)), store)
    second = commit(SetProperties({"x": "y"}), store)
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        rows = connection.execute("SELECT * FROM iceberg_tables").fetchall()
    assert rows == [("c", "ns", "t", second.written_location, first.written_location, "TABLE")]


def test_a_lost_connection_leaves_a_swap_unknown(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url)
    own = database.query("SELECT pg_backend_pid()")[0][0]
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (own,))
    assert database.change("CREATE TABLE IF NOT EXISTS anything (x INT)") is None
    assert database.change("CREATE TABLE IF NOT EXISTS anything (x INT)") is not None  # on a new connection
    database.close()


def test_an_unknown_kind_of_store_is_reported() -> None:
    with pytest.raises(UsageError, match="unknown kind of store mysql"):
        open_store("mysql://localhost/x")


def test_a_runner_reads_no_file_twice(store: Store, location: str) -> None:
    commit(CreateTable(empty_table(2, location)), store)
    runner = Runner(store)
    runner.commit(fast_append([data_file("a", location=location)]))
    read: list[str] = []
    original = store.read

    def counting(path: str) -> bytes | None:
        read.append(path)
        return original(path)

    store.read = counting  # type: ignore[method-assign]
    runner.commit(SetProperties({"x": "y"}))
    runner.commit(SetProperties({"x": "z"}))
    metadata = [path for path in read if path.endswith(".json")]
    assert len(metadata) == len(set(metadata))


def test_a_store_whose_client_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'iceberg-conformance\[postgresql\]'"):
        open_store("postgresql://user@localhost:1/db?table=t")
