"""Stores that are slow, that stall, and whose connections end in the middle of an answer."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from faulty import LEFT, command, made, only_table

from conformance.core.failures import UsageError
from conformance.table_io.file_access import FileAccessError
from conformance.table_io.local import read_table
from conformance.table_io.object_stores import STORE_SECONDS
from conformance.table_io.stores import open_store
from conformance.table_io.tables import load_table
from conformance.table_io.writing import append, create_table
from spec_ref.core.errors import SpecError
from tools.faulty_store import Fault, Store, StoreRequest, running_faulty_store
from tools.store_environment import BUCKET

LOCATION = f"s3://{BUCKET}/db/t"
WAIT_S = 1.0
"""How long a store is waited for that does not answer; one that does is waited for as everywhere."""

KINDS = {
    "manifest list": "snap-",
    "manifest": "manifest-",
    "Parquet": ".parquet",
    "ORC": ".orc",
    "Avro": "/data/00003",
    "Puffin": ".puffin",
}


@pytest.fixture(scope="module")
def running_store() -> Iterator[Store]:
    with running_faulty_store() as store:
        yield store


@pytest.fixture
def store(running_store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", STORE_SECONDS):
        monkeypatch.delenv(name, raising=False)
    for name, value in running_store.environment.items():
        monkeypatch.setenv(name, value)
    yield running_store
    running_store.faults = lambda _: None
    running_store.requests.clear()


@pytest.fixture
def table(store: Store) -> str:
    return made(LOCATION)


def of(word: str, fault: Fault) -> object:
    """A fault of the answers with the content of objects whose keys have a word."""
    return lambda asked: fault if asked.method == "GET" and word in asked.key else None


def test_a_slow_store_changes_nothing(store: Store, table: str) -> None:
    store.faults = lambda _: Fault(wait_s=0.05)
    assert read_table(load_table(table)).read_all().num_rows == LEFT
    assert store.requests


@pytest.mark.parametrize("kind", KINDS)
def test_too_few_bytes_that_are_reported_to_be_all_give_no_rows(kind: str, store: Store, table: str) -> None:
    store.faults = of(KINDS[kind], Fault(short=20))  # type: ignore[assignment]
    with pytest.raises((SpecError, FileAccessError), match=KINDS[kind]):
        read_table(load_table(table)).read_all()


@pytest.mark.parametrize("kind", ["manifest", "Parquet", "Puffin"])
def test_a_connection_that_ends_early_is_the_stores_fault(kind: str, store: Store, table: str) -> None:
    store.faults = of(KINDS[kind], Fault(cut=0))  # type: ignore[assignment] # some bytes would be continued
    with pytest.raises(FileAccessError, match=rf"{KINDS[kind]}.*: it cannot be read: "):
        read_table(load_table(table)).read_all()


def test_a_connection_that_ends_once_is_asked_again(store: Store, table: str) -> None:
    cut: set[str] = set()

    def once(asked: StoreRequest) -> Fault | None:
        if asked.method != "GET" or asked.key in cut:
            return None
        cut.add(asked.key)
        return Fault(cut=20)

    store.faults = once
    assert read_table(load_table(table)).read_all().num_rows == LEFT
    assert [kind for kind, part in KINDS.items() if not any(part in key for key in cut)] == []


@pytest.mark.parametrize("kind", ["manifest", "Parquet"])
def test_a_store_that_stalls_is_given_up(kind: str, store: Store, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORE_SECONDS, str(WAIT_S))
    store.faults = of(KINDS[kind], Fault(wait_s=200))  # type: ignore[assignment]
    began = time.monotonic()
    with pytest.raises(FileAccessError, match=rf"{KINDS[kind]}.*: it cannot be read: "):
        read_table(load_table(table)).read_all()
    assert time.monotonic() - began < 150


def test_what_was_not_checked_is_not_passed(store: Store, table: str) -> None:
    store.faults = of(".parquet", Fault(cut=20))  # type: ignore[assignment]
    done = command("validate", LOCATION, "--level", "rows", "--format", "json", "--workers", "1")
    assert done.returncode == 1, done.stderr
    findings = only_table(done.stdout)["findings"]
    errors = [one for one in findings if one["severity"] == "error"]
    assert [one["check"] for one in errors] == ["data-file-file-path-unreadable"], errors
    store.faults = of("metadata.json", Fault(cut=20))  # type: ignore[assignment]
    done = command("validate", LOCATION, "--format", "json")
    assert done.returncode == 3, done.stderr
    assert "metadata.json: it cannot be read: " in done.stdout


def test_a_commit_whose_answer_never_comes_is_found_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"s3://{BUCKET}/db/written?endpoint={store.endpoint}"
    table = create_table(open_store(url), [*load_table(made(LOCATION)).metadata.current_schema.fields])
    rows = read_table(load_table(LOCATION)).read_all()
    slow = set[str]()
    patience = 2 * WAIT_S  # all other requests have to be answered in it
    monkeypatch.setenv(STORE_SECONDS, str(patience))

    def lost(asked: StoreRequest) -> Fault | None:
        if asked.method == "PUT" and asked.key.endswith("v2.metadata.json") and not slow:
            slow.add(asked.key)
            return Fault(wait_s=patience * 1.5)
        return None

    store.faults = lost
    append(table, rows)
    assert slow
    time.sleep(patience)
    monkeypatch.delenv(STORE_SECONDS)
    assert read_table(load_table(table.metadata.location)).read_all().num_rows == LEFT


@pytest.mark.parametrize("text", ["0", "-1", "soon", "inf", "nan"])
def test_seconds_that_are_none_are_refused(text: str, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORE_SECONDS, text)
    with pytest.raises(UsageError, match=STORE_SECONDS):
        load_table(LOCATION)
