"""File-system tables on an object store with conditional puts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from object_server import Objects, object_server

from conformance.core.failures import UsageError
from conformance.operations.commits.fixtures import data_file, empty_table
from conformance.table_io.stores import Store, commit, load, open_store
from conformance.table_io.stores.object_store import ObjectStoreError
from spec_ref.commits import CommitConflict
from spec_ref.commits.changes import CreateTable, SetProperties, fast_append
from spec_ref.commits.effects import SwapResult
from spec_ref.commits.retries import RetryPolicy

LOCATION = "s3://bucket/a table"
QUICK = RetryPolicy(num_retries=20, min_wait_ms=1, max_wait_ms=5)


@pytest.fixture
def objects() -> Iterator[Objects]:
    with object_server() as server:
        yield server


@pytest.fixture
def store(objects: Objects) -> Store:
    made = open_store(f"{LOCATION}?endpoint={objects.url}")
    commit(CreateTable(empty_table(3, LOCATION)), made)
    return made


def names(objects: Objects) -> set[str]:
    return {key.removeprefix("a table/metadata/") for key in objects.objects if key.endswith(".metadata.json")}


def test_versions_are_put_one_after_the_other(objects: Objects, store: Store) -> None:
    commit(fast_append([data_file("a", location=LOCATION)]), store)
    commit(SetProperties({"x": "y"}), store)
    assert names(objects) == {"v1.metadata.json", "v2.metadata.json", "v3.metadata.json"}
    assert objects.objects["a table/metadata/version-hint.text"][0] == b"3"
    base = load(store)
    assert base is not None
    assert base.location == f"{LOCATION}/metadata/v3.metadata.json"


def test_the_store_decides_between_two_writers(objects: Objects, store: Store) -> None:
    base = load(store)
    assert base is not None
    other = open_store(f"{LOCATION}?endpoint={objects.url}")
    unique = "0" * 8 + "-0000" * 3 + "-" + "0" * 12
    store.write(f"{LOCATION}/metadata/{unique}.metadata.json", b"{}")
    commit(SetProperties({"x": "y"}), other)
    assert store.swap_pointer(base.location, f"{LOCATION}/metadata/{unique}.metadata.json") is SwapResult.REFUSED
    with pytest.raises(CommitConflict, match="OCC005"):
        commit(CreateTable(empty_table(3, LOCATION)), other)


@pytest.mark.parametrize("fault", ["drop", "lose", "conflict", "broken", "twice"])
def test_a_commit_is_done_once_whatever_happens_to_its_put(objects: Objects, store: Store, fault: str) -> None:
    objects.faults.append(fault)
    done = commit(fast_append([data_file("a", location=LOCATION)]), store, policy=QUICK)
    assert objects.faults == []
    assert done.attempts == 1
    base = load(store)
    assert base is not None
    assert len(base.metadata.snapshots) == 1
    assert names(objects) == {"v1.metadata.json", "v2.metadata.json"}


def test_the_same_metadata_of_another_writer_is_not_taken_for_ones_own(objects: Objects, store: Store) -> None:
    base = load(store)
    assert base is not None
    other = open_store(f"{LOCATION}?endpoint={objects.url}")
    text = b'{"same": true}'
    mine, theirs = (
        f"{LOCATION}/metadata/{digit * 8}{('-' + digit * 4) * 3}-{digit * 12}.metadata.json" for digit in "12"
    )
    store.write(mine, text)
    other.write(theirs, text)
    assert other.swap_pointer(base.location, theirs) is SwapResult.DONE
    assert store.swap_pointer(base.location, mine) is SwapResult.REFUSED
    assert store.read(mine) == text  # the file still exists, so it did not become the version
    assert other.read(theirs) is None


def test_many_writers_lose_nothing(objects: Objects, store: Store) -> None:
    def work(name: int) -> None:
        own = open_store(f"{LOCATION}?endpoint={objects.url}")
        for number in range(4):
            commit(fast_append([data_file(f"{name}-{number}", location=LOCATION)]), own, policy=QUICK)

    writers = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    base = load(store)
    assert base is not None
    numbers = [snapshot.sequence_number for snapshot in base.metadata.snapshots]
    assert numbers == list(range(1, 17))
    assert base.metadata.next_row_id == 160


@pytest.mark.parametrize("hint", [b"1", b"nonsense", None])
def test_the_newest_version_is_found_without_the_right_hint(objects: Objects, store: Store, hint: bytes | None) -> None:
    for number in range(4):
        commit(SetProperties({"n": str(number)}), store)
    objects.page = 2
    del objects.objects["a table/metadata/version-hint.text"]
    if hint is not None:
        objects.objects["a table/metadata/version-hint.text"] = hint, None
    assert store.read_pointer() == f"{LOCATION}/metadata/v5.metadata.json"


def test_requests_are_signed_with_the_key_of_the_environment(
    objects: Objects, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(objects.authorizations) == {None}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    commit(SetProperties({"x": "y"}), store)
    signed = objects.authorizations[-1]
    assert signed is not None
    assert signed.startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" in signed


def test_what_the_store_refuses_is_reported(objects: Objects, store: Store) -> None:
    with pytest.raises(ValueError, match="not in the bucket"):
        store.read("s3://other/key")
    objects.refuses = True
    with pytest.raises(ObjectStoreError, match="the store answers 403"):
        store.read(f"{LOCATION}/x")
    with pytest.raises(UsageError):
        open_store("ftp://x/y")
