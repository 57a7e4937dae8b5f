"""Short stress tests of real catalogs: on a server that is killed, and on a mock that is known to lose commits."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conformance.core.failures import UsageError
from conformance.engine_setup import launch
from conformance.engine_setup.built import TOOLCHAINS, missing_tools
from conformance.engine_setup.catalog import find_server
from conformance.operations.commits.fixtures import data_file, empty_table
from conformance.races.stress.known import load_known
from conformance.races.stress.run import PYICEBERG, REFERENCE, Settings, StressStopped, _target, stress
from conformance.races.stress.writer_processes import _answer
from conformance.table_io.catalogs import servers
from conformance.table_io.catalogs.servers import KINDS, ManagedServer, server_status
from conformance.table_io.stores import Store, commit, load, open_store
from conformance.table_io.stores.rest import RestStore
from conformance.validator.catalogs import resolve_location
from conformance.validator.table_root import UnreadableTable
from spec_ref.commits import CommitStateUnknown
from spec_ref.commits.changes import CreateTable, SetProperties, append, fast_append

pytestmark = pytest.mark.engine

QUICK = {"processes": 3, "seconds": 8.0, "kills_per_s": 0.2, "seed": 3}


def needed(server: str) -> None:
    """Fail where the server is not installed, but skip where it cannot be built."""
    package = KINDS[server].package
    reason = server_status(find_server(package)).reason if package else None
    toolchain = find_server(package).toolchain if package else ""
    if reason is not None and toolchain and (lack := missing_tools(TOOLCHAINS[toolchain])):
        pytest.skip(f"{server}: {lack}")
    if reason is not None:
        pytest.fail(f"{server}: {reason}")


def test_pyiceberg_loses_nothing_on_postgresql_that_is_killed(tmp_path: Path) -> None:
    report = stress(Settings(server="postgresql", client=PYICEBERG, server_kills=1, **QUICK), tmp_path)  # type: ignore[arg-type]
    assert report.problems == []
    assert report.server_kills == 1
    assert report.acknowledged > 1
    assert report.client.startswith("PyIceberg 0.12.0")
    assert report.server == "PostgreSQL, started here"


def test_a_port_without_sessions_is_no_postgresql_that_answers(tmp_path: Path) -> None:
    """A server that recovers from a kill accepts connections, and refuses each session."""
    with socket.create_server((servers.LOOPBACK, 0)) as listening:
        address = servers.Address(folder=tmp_path, port=listening.getsockname()[1])
        listening.listen()
        assert KINDS["sqlite"].is_ready(address)
        assert not KINDS["postgresql"].is_ready(address)


@pytest.mark.parametrize("client", [REFERENCE, PYICEBERG])
def test_nothing_is_lost_on_icebergs_rest_catalog(client: str, tmp_path: Path) -> None:
    needed("iceberg-rest")
    report = stress(Settings(server="iceberg-rest", client=client, **QUICK), tmp_path)  # type: ignore[arg-type]
    assert report.problems == []
    assert report.acknowledged > 3


def test_the_mock_of_glue_that_looks_at_no_version_is_found(tmp_path: Path) -> None:
    needed("glue-unchecked")
    settings = Settings(server="glue-unchecked", client=PYICEBERG, processes=4, seconds=15.0, kills_per_s=0.0)
    assert {one.kind for one in stress(settings, tmp_path).problems} & {"lost", "history"}


def test_an_error_for_the_user_is_shown_without_the_name_of_its_class() -> None:
    def fail() -> None:
        raise UsageError("psycopg is not installed")

    reading, writing = os.pipe()
    _answer(writing, fail)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert json.load(pipe) == {"error": "psycopg is not installed"}


def needs_nessie() -> None:
    if (reason := server_status(find_server("nessie")).reason) is not None:
        pytest.skip(f"nessie: {reason}; `engines install nessie` makes it, and `make test` leaves it out for its size")


def test_pyiceberg_on_nessie_loses_nothing_but_the_first_commits(tmp_path: Path) -> None:
    """As deviations.toml of the servers says."""
    needs_nessie()
    report = stress(Settings(server="nessie", client=PYICEBERG, **QUICK), tmp_path)  # type: ignore[arg-type]
    assert {one.kind for one in report.problems} <= {"lost", "half"}
    assert report.acknowledged > 3
    assert report.server == "Nessie (Quarkus, RocksDB) 0.99.0, started here"


def _table_with_a_snapshot(target: Any) -> tuple[Store, str]:
    store, location = open_store(target.plan["catalog"]), target.plan["location"]
    commit(CreateTable(empty_table(2, location)), store)
    commit(fast_append([data_file("a", location=location)]), store)
    return store, location


def test_nessie_accepts_a_first_commit_to_a_table_that_has_a_snapshot(tmp_path: Path) -> None:
    needs_nessie()
    with _target(Settings(server="nessie", client=REFERENCE), tmp_path) as target:
        store, _ = _table_with_a_snapshot(target)
        assert isinstance(store, RestStore)
        body = {
            "identifier": {"namespace": [store.name.namespace], "name": store.name.name},
            "requirements": [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}],
            "updates": [{"action": "set-properties", "updates": {"x": "y"}}],
        }
        assert store.catalog.send("POST", store.path, body).status == 200
        body["requirements"] = [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 5}]
        assert store.catalog.send("POST", store.path, body).status == 409


def test_nessie_puts_commits_to_other_branches_on_main(tmp_path: Path) -> None:
    """As deviations.toml of PyIceberg says; our client says that the state is unknown."""
    needs_nessie()
    with _target(Settings(server="nessie", client=REFERENCE), tmp_path) as target:
        store, location = _table_with_a_snapshot(target)
        with pytest.raises(CommitStateUnknown, match="sets the reference audit"):
            commit(fast_append([data_file("b", location=location)], branch="audit"), store)
        base = load(store)
        assert base is not None
        assert [*base.metadata.references] == ["main"]
        (snapshot,) = base.metadata.snapshots
        assert snapshot.summary is not None
        assert snapshot.summary["total-data-files"] == "2"


@pytest.mark.parametrize("version", [1, 2, 3])
def test_our_client_and_icebergs_rest_catalog_agree(version: int, tmp_path: Path) -> None:
    needed("iceberg-rest")
    running = ManagedServer(KINDS["iceberg-rest"], tmp_path / "server")
    try:
        assert KINDS["iceberg-rest"].store_url is not None
        store = open_store(KINDS["iceberg-rest"].store_url(running.address).format(table="t"))
        location = f"{running.address.warehouse}/t"
        commit(CreateTable(empty_table(version, location)), store)
        commit(append([data_file("a", location=location)]), store)
        planned = load(store)
        commit(fast_append([data_file("b", location=location)], branch="audit"), store)
        done = commit(fast_append([data_file("c", location=location)]), store, base=planned)
        commit(SetProperties({"x": "y"}), store)
        base = load(store)
    finally:
        running.stop()
    assert base is not None
    assert done.metadata.current_snapshot_id == base.metadata.current_snapshot_id
    assert base.metadata.table_uuid == empty_table(version).table_uuid
    assert base.metadata.format_version == version
    assert [one.sequence_number for one in base.metadata.snapshots] == ([0, 0, 0] if version == 1 else [1, 2, 3])
    assert sorted(base.metadata.references) == ["audit", "main"]
    assert base.metadata.properties["x"] == "y"


def test_a_catalog_that_is_not_configured_is_named_with_where_that_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    directory = tmp_path / "stress"
    directory.mkdir()
    file = rf"{tmp_path}/\.pyiceberg\.yaml \(does not exist\)"
    variables = r"PYICEBERG_CATALOG__NOWHERE__\* \(none"
    wanted = f"catalog nowhere is not configured: .*{file}.*{variables}"
    with pytest.raises(StressStopped, match=wanted):
        stress(Settings(catalog="catalog:nowhere"), directory)
    with pytest.raises(UnreadableTable, match=wanted):
        resolve_location("catalog:nowhere.db.t")


def test_a_catalog_of_pyicebergs_configuration_loses_nothing_and_the_table_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__WAREHOUSE", f"file://{tmp_path}")
    directory = tmp_path / "stress"
    directory.mkdir()
    report = stress(Settings(catalog="catalog:lake", **QUICK), directory)  # type: ignore[arg-type]
    assert report.problems == []
    assert report.client == "PyIceberg 0.12.0 (its own commits, SqlCatalog)"
    assert report.server == "catalog lake of PyIceberg's configuration"
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as connection:
        assert connection.execute("SELECT * FROM iceberg_tables").fetchall() == []


def test_a_catalog_on_another_machine_is_not_put_under_stress_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "hive")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "thrift://127.0.0.1:1,thrift://metastore.example.com:9083")
    with pytest.raises(StressStopped, match=r"on a different machine, metastore\.example\.com; use --allow-remote"):
        stress(Settings(catalog="catalog:lake"), tmp_path)


def test_a_catalog_that_nobody_answers_for_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "rest")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"http://127.0.0.1:{port}")
    with pytest.raises(
        UnreadableTable, match=r"catalog lake: the catalog cannot be reached: .*LAKE__TYPE, PYICEBERG.*URI"
    ):
        resolve_location("catalog:lake.db.t")


def test_pyiceberg_overwrites_on_hive_what_others_committed_after_its_lock_timed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known as pyiceberg-hive-late-writer: where this fails, PyIceberg or the metastore does better now."""
    needed("hive-metastore")
    monkeypatch.setattr(servers, "HIVE_LOCK_S", 5)
    running = ManagedServer(KINDS["hive-metastore"], tmp_path / "server")
    try:
        launched = launch(PYICEBERG)
        script = str(Path(__file__).with_name("pyiceberg_late_writer.py"))
        properties = json.dumps(KINDS["hive-metastore"].pyiceberg_properties(running.address))
        done = subprocess.run(
            [launched.command[0], script, properties, "15"],
            env=launched.env,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    finally:
        running.stop()
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {"acknowledged": ["B", "A"], "rows": [1]}  # the row of B is lost
    assert "pyiceberg-hive-late-writer" in [one.id for one in load_known()]
