"""Our client of the REST catalog protocol, with a catalog that loses replies, refuses completed commits, and so on."""

from __future__ import annotations

import socket
from pathlib import Path

import fake_catalog as fake_catalog_module
import pytest
from fake_catalog import FakeCatalog, fake_catalog
from test_stores import live

from conformance.operations.commits.fixtures import data_file, data_path, empty_table
from conformance.table_io.stores import commit, load, open_store
from conformance.table_io.stores.rest import RestStore
from conformance.table_io.stores.rest_catalog import TOKEN, CatalogError, CatalogUnreachable
from conformance.table_io.stores.rest_updates import NoUpdate, updates
from conformance.validator.catalogs import resolve_location
from spec_ref.commits import CommitConflict, CommitFailed, CommitStateUnknown
from spec_ref.commits.changes import (
    ChangeSchema,
    CreateTable,
    ExpireSnapshots,
    SetProperties,
    SetReference,
    UpgradeFormatVersion,
    append,
    delete_files,
    fast_append,
)
from spec_ref.commits.retries import RetryPolicy
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import LONG
from spec_ref.schemas.evolution import AddColumn
from spec_ref.snapshots.references import RefType, SnapshotRef

QUICK = RetryPolicy(num_retries=3, min_wait_ms=0, max_wait_ms=1)


@pytest.fixture
def fake(rest_catalog: FakeCatalog) -> FakeCatalog:
    return rest_catalog


def opened(fake: FakeCatalog, query: str = "namespace=db&table=t") -> RestStore:
    store = open_store(f"rest+{fake.url}?{query}")
    assert isinstance(store, RestStore)
    return store


@pytest.fixture
def store(fake: FakeCatalog, location: str) -> RestStore:
    """Create a table of version 2 with one file in main and one in a branch."""
    made = opened(fake)
    commit(CreateTable(empty_table(2, location)), made)
    commit(fast_append([data_file("a", location=location)]), made)
    commit(fast_append([data_file("b", location=location)], branch="audit"), made)
    return made


@pytest.mark.parametrize("version", [1, 2, 3])
def test_all_changes_reach_the_catalog(fake: FakeCatalog, location: str, version: int) -> None:
    store = opened(fake)
    table = evolve(empty_table(version, location), table_uuid="2b7ff8f5-0b59-4fd4-9a2c-7ea6bd1d3b1b")
    commit(CreateTable(table), store)
    commit(append([data_file("a", location=location), data_file("b", "b", location=location)]), store)
    commit(fast_append([data_file("c", location=location)], branch="audit"), store)
    commit(delete_files([data_path("a", location)]), store)
    commit(ChangeSchema((AddColumn("more", LONG),)), store)
    commit(SetProperties({"owner": "me", "gone": "x"}), store)
    commit(SetProperties({}, frozenset({"gone"})), store)
    base = load(store)
    assert base is not None
    head = base.metadata.references["main"].snapshot_id
    commit(SetReference("tag", SnapshotRef(snapshot_id=head, type=RefType.TAG)), store)
    commit(SetReference("tag", None), store)
    commit(ExpireSnapshots(1 << 60), store)
    if version < 3:
        commit(UpgradeFormatVersion(FormatVersion(version + 1)), store)
    base = load(store)
    assert base is not None
    assert base.location == fake.load("namespaces/db/tables/t")["metadata-location"]
    assert base.metadata.table_uuid == table.table_uuid
    assert base.metadata.format_version == min(version + 1, 3)
    assert dict(base.metadata.properties) == {"owner": "me"}
    assert [field.name for field in base.metadata.current_schema.fields] == ["id", "part", "more"]
    assert sorted(base.metadata.references) == ["audit", "main"]
    assert len(base.metadata.snapshots) == 2
    assert sorted(live(store)) == ["b"]
    assert sorted(live(store, "audit")) == ["a", "b", "c"]


def test_each_commit_requires_everything_that_can_be_required(store: RestStore, fake: FakeCatalog) -> None:
    commit(SetProperties({"x": "y"}), store)
    request = fake.requests[-1][2]
    base = load(store)
    assert base is not None
    heads = {name: ref.snapshot_id for name, ref in base.metadata.references.items()}
    required = {one.get("ref", one["type"]): one for one in request["requirements"]}
    assert {name: required[name]["snapshot-id"] for name in heads} == heads
    assert required["assert-table-uuid"]["uuid"] == base.metadata.table_uuid
    assert {name for name in required if name.startswith("assert-")} == {
        "assert-table-uuid",
        "assert-current-schema-id",
        "assert-last-assigned-field-id",
        "assert-default-spec-id",
        "assert-last-assigned-partition-id",
        "assert-default-sort-order-id",
    }
    assert request["updates"] == [{"action": "set-properties", "updates": {"x": "y"}}]


@pytest.mark.parametrize("fault", ["lost-applied", "applied-500", "applied-502", "applied-504"])
def test_a_reply_that_was_lost_after_the_commit_is_found_out(
    store: RestStore, fake: FakeCatalog, location: str, fault: str
) -> None:
    fake.faults = [fault]
    done = commit(fast_append([data_file("c", location=location)]), store, policy=QUICK)
    assert done.attempts == 1
    assert sorted(live(store)) == ["a", "c"]
    fake.faults = [fault]
    assert commit(SetProperties({"x": "y"}), store, policy=QUICK).attempts == 1
    base = load(store)
    assert base is not None
    assert len(base.metadata.metadata_log) == 4
    assert store.contradictions == []


@pytest.mark.parametrize("fault", ["lost", "500", "502", "503", "504"])
def test_a_request_that_was_not_done_is_sent_again(
    store: RestStore, fake: FakeCatalog, location: str, fault: str
) -> None:
    fake.faults = [fault, fault]
    assert commit(fast_append([data_file("c", location=location)]), store, policy=QUICK).attempts == 1
    assert sorted(live(store)) == ["a", "c"]


def test_what_cannot_be_found_out_is_unknown_and_nothing_is_removed(
    store: RestStore, fake: FakeCatalog, location: str, tmp_path: Path
) -> None:
    before = set((tmp_path / "table" / "metadata").iterdir())
    fake.faults = ["500"] * 9
    with pytest.raises(CommitStateUnknown):
        commit(fast_append([data_file("c", location=location)]), store, policy=QUICK)
    new = {path.name for path in set((tmp_path / "table" / "metadata").iterdir()) - before}
    assert sum(name.startswith("snap-") for name in new) == 1
    assert len(new) == 2  # the manifest and its list


def test_who_is_refused_starts_again_on_the_new_table(store: RestStore, fake: FakeCatalog, location: str) -> None:
    other = opened(fake)
    fake.choose = lambda _: fake_other() or ""
    left = ["x", "y"]

    def fake_other() -> None:
        if left:
            name = left.pop()
            fake.choose, chosen = (lambda _: ""), fake.choose
            fake.lock.release()
            try:
                commit(fast_append([data_file(name, location=location)]), other, policy=QUICK)
            finally:
                fake.lock.acquire()
                fake.choose = chosen

    done = commit(fast_append([data_file("c", location=location)]), store, policy=QUICK)
    assert done.attempts == 3
    assert {name: number for name, (number, _) in live(store).items()} == {"a": 1, "y": 3, "x": 4, "c": 5}


def test_who_is_always_refused_gives_up_and_leaves_nothing(
    store: RestStore, fake: FakeCatalog, location: str, tmp_path: Path
) -> None:
    before = set((tmp_path / "table" / "metadata").iterdir())
    fake.faults = ["409"] * 9
    with pytest.raises(CommitFailed, match="4 attempts"):
        commit(fast_append([data_file("c", location=location)]), store, policy=QUICK)
    assert set((tmp_path / "table" / "metadata").iterdir()) == before
    assert store.contradictions == []


def test_a_refusal_of_what_was_done_is_noticed(store: RestStore, fake: FakeCatalog, location: str) -> None:
    fake.faults = ["applied-409"]
    done = commit(fast_append([data_file("c", location=location)]), store, policy=QUICK)
    assert done.attempts == 1
    assert sorted(live(store)) == ["a", "c"]
    assert done.snapshot is not None
    assert store.contradictions == [
        f"the catalog refused snapshot {done.snapshot.snapshot_id} with HTTP 409, and it is in the table"
    ]


def test_a_commit_that_was_not_done_before_others_committed_is_made_again(
    store: RestStore, fake: FakeCatalog, location: str
) -> None:
    other = opened(fake)
    commit(fast_append([data_file("x", location=location)]), other)
    planned = load(store)
    fake.faults = ["lost"]
    real = store.swap_pointer
    meddled = False

    def meddling(expected: str | None, new: str) -> object:
        nonlocal meddled
        answer = real(expected, new)
        if not meddled:
            meddled = True
            commit(fast_append([data_file("y", location=location)]), other)
        return answer

    store.swap_pointer = meddling  # type: ignore[method-assign, assignment]
    done = commit(fast_append([data_file("c", location=location)]), store, base=planned, policy=QUICK)
    assert done.attempts == 2
    assert sorted(live(store)) == ["a", "c", "x", "y"]


def test_a_catalog_that_sets_main_for_every_reference_is_noticed(
    fake: FakeCatalog, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nessie 0.99.0 acknowledges a commit to a different Iceberg branch, but puts it on main."""
    store = opened(fake)
    commit(CreateTable(empty_table(2, location)), store)
    commit(fast_append([data_file("a", location=location)]), store)
    applied = fake_catalog_module.update
    monkeypatch.setattr(
        fake_catalog_module,
        "update",
        lambda change, table: applied({**change, "ref-name": "main"} if "ref-name" in change else change, table),
    )
    with pytest.raises(CommitStateUnknown, match=r"sets the reference audit to the snapshot .* no such reference"):
        commit(fast_append([data_file("b", location=location)], branch="audit"), store)
    assert live(store).keys() == {"a", "b"}


def test_a_table_that_is_there_is_not_made_again(store: RestStore, fake: FakeCatalog, location: str) -> None:
    with pytest.raises(CommitConflict, match="OCC005"):
        commit(CreateTable(empty_table(2, location)), opened(fake))


def test_the_prefix_and_the_levels_of_the_namespace_are_in_the_path(location: str) -> None:
    with fake_catalog("warehouses/one") as fake:
        store = opened(fake, "namespace=a.b&table=t&warehouse=one")
        commit(CreateTable(empty_table(2, location)), store)
        assert store.path == "/v1/warehouses/one/namespaces/a%1Fb/tables/t"
        assert fake.requests[0][2]["namespace"] == ["a", "b"]
        assert load(store) is not None


def test_no_table_is_none(fake: FakeCatalog) -> None:
    assert load(opened(fake)) is None


def test_a_catalog_that_wants_a_token_is_given_it(
    fake: FakeCatalog, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.token = "secret"
    with pytest.raises(CatalogError, match=f"HTTP 401: .*{TOKEN}.*who are you") as caught:
        load(opened(fake))
    assert "secret" not in str(caught.value)
    monkeypatch.setenv(TOKEN, "secret")
    commit(CreateTable(empty_table(2, location)), opened(fake))


@pytest.mark.parametrize("status", ["400", "403", "404"])
def test_an_answer_that_is_an_error_says_what_was_asked(
    store: RestStore, fake: FakeCatalog, location: str, status: str
) -> None:
    fake.faults = [status]
    with pytest.raises(CatalogError, match=f"POST /v1/namespaces/db/tables/t: HTTP {status}.*FaultException"):
        commit(SetProperties({"x": "y"}), store)


def test_a_catalog_that_nobody_answers_for_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(CatalogUnreachable, match=f"http://127.0.0.1:{port}: the catalog cannot be reached"):
        load(open_store(f"rest+http://127.0.0.1:{port}/?table=t"))


def test_what_no_update_can_change_is_refused() -> None:
    table = empty_table(2)
    with pytest.raises(NoUpdate, match="mine"):
        updates(table, evolve(table, extra={"mine": 1}))
    with pytest.raises(NoUpdate, match="UUID"):
        updates(table, evolve(table, table_uuid="2b7ff8f5-0b59-4fd4-9a2c-7ea6bd1d3b1b"))


@pytest.mark.engine
def test_metadata_that_pyiceberg_refuses_is_located_all_the_same(
    fake: FakeCatalog, store: RestStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = load(store)
    assert base is not None
    fake.tables["namespaces/db/tables/t"][-1][1]["schemas"] = "damaged"
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "rest")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", fake.url)
    assert resolve_location("catalog:lake.db.t") == fake.tables["namespaces/db/tables/t"][-1][0]
