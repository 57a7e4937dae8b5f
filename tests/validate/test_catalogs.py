"""Many tables of a catalog at once: PyIceberg's SQL catalog on SQLite, and Iceberg's REST catalog."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance import cli
from conformance.core.failures import UsageError
from conformance.engine_setup import launch
from conformance.engine_setup.catalog import find_server
from conformance.table_io.catalogs.servers import KINDS, ManagedServer, server_status
from conformance.table_io.file_access import split_location
from conformance.validator import catalogs
from conformance.validator.catalog_process import list_tables
from conformance.validator.catalogs import CatalogLocation, Catalogs, parse_location, resolve_location
from conformance.validator.table_root import UnreadableTable

DOCS = Path(__file__).parents[2] / "docs"
TABLES = ("db.a", "db.b", "db.deep.a", "other.a", "other.events")

MAKE = """
import sys
import pyarrow as pa
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lake")
rows = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
for name in sys.argv[1:]:
    *namespace, _ = name.split(".")
    catalog.create_namespace_if_not_exists(tuple(namespace))
    catalog.create_table(tuple(name.split(".")), rows.schema).append(rows)
"""

Validate = Callable[..., tuple[int, dict[str, Any]]]


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/warehouse/db/t", None),
        ("catalog:prod", CatalogLocation("prod", "*")),
        ("catalog:prod.*", CatalogLocation("prod", "*")),
        ("catalog:prod.db.*", CatalogLocation("prod", "db.*")),
        ("catalog:prod.a.b.t", CatalogLocation("prod", "a.b.t")),
    ],
)
def test_a_location_is_a_catalog_and_a_name(location: str, expected: CatalogLocation | None) -> None:
    assert parse_location(location) == expected


def test_a_wildcard_is_any_text_and_nothing_else_is_special() -> None:
    names = ["db.a", "db.events", "db.in.events", "other.events", "db.e+"]
    assert CatalogLocation("c", "db.*").matching(names) == ["db.a", "db.e+", "db.events", "db.in.events"]
    assert CatalogLocation("c", "*.events").matching(names) == ["db.events", "db.in.events", "other.events"]
    assert CatalogLocation("c", "db.e+*").matching(names) == ["db.e+"]
    assert CatalogLocation("c", "*").matching(names) == sorted(names)


def test_one_table_is_not_many() -> None:
    with pytest.raises(UsageError, match="expected one table, and this may name many"):
        resolve_location("catalog:prod.db.*")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that nothing changes, with its catalog in a file."""
    place = tmp_path_factory.mktemp("lake") / "warehouse"
    place.mkdir()
    launched = launch("pyiceberg")
    command = [launched.command[0], "-c", MAKE, *TABLES]
    subprocess.run(command, env={**launched.env, **sql(place)}, check=True, timeout=600)
    return place


def sql(place: Path) -> dict[str, str]:
    prefix = "PYICEBERG_CATALOG__LAKE__"
    return {f"{prefix}TYPE": "sql", f"{prefix}URI": f"sqlite:///{place}/catalog.db", f"{prefix}WAREHOUSE": f"{place}"}


@pytest.fixture
def warehouse(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The warehouse, which is put back as it was: a table names its files by their full paths."""
    backup = made.with_name("backup")
    shutil.copytree(made, backup)
    for name, value in sql(made).items():
        monkeypatch.setenv(name, value)
    yield made
    shutil.rmtree(made)
    backup.rename(made)


@pytest.fixture
def validate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Validate:
    """Run the command in this process: its exit status, and its report."""

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        report = tmp_path / "report.json"
        status = cli.main(["validate", *arguments, "--format", "json", "--output", str(report)])
        assert "Traceback" not in capfd.readouterr().err
        document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        report.unlink()
        return status, document

    return run


def facts(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Everything of findings but their wording."""
    return [{name: value for name, value in one.items() if name != "message"} for one in findings]


def locations(document: dict[str, Any]) -> list[str]:
    return [table["location"].removeprefix("catalog:lake.") for table in document["tables"]]


@pytest.mark.engine
def test_a_pattern_is_every_table_that_it_matches(warehouse: Path, validate: Validate) -> None:
    for pattern, expected in (
        ("catalog:lake", list(TABLES)),
        ("catalog:lake.db.*", ["db.a", "db.b", "db.deep.a"]),
        ("catalog:lake.*.a", ["db.a", "db.deep.a", "other.a"]),
    ):
        status, document = validate(pattern, "--level", "metadata")
        assert (status, locations(document)) == (0, expected)
        assert document["summary"] == {"tables": len(expected), "failing": 0, "not_checked": 0}


@pytest.mark.engine
def test_text_has_a_line_for_each_table(warehouse: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["validate", "catalog:lake.db.*"]) == 0
    head, *rows, verdict = capfd.readouterr().out.splitlines()
    assert head.startswith("table ")
    assert [row.split()[0] for row in rows] == ["catalog:lake.db.a", "catalog:lake.db.b", "catalog:lake.db.deep.a"]
    assert verdict.startswith("3 tables: none with findings that fail; not checked: files")


@pytest.mark.engine
def test_damaged_metadata_is_the_finding_that_its_file_gives(warehouse: Path, validate: Validate) -> None:
    _, before = validate("catalog:lake.db.*", "--level", "metadata")
    places = {table["location"]: Path(split_location(table["metadata_location"]).path) for table in before["tables"]}
    whole = places["catalog:lake.db.b"].read_text(encoding="utf-8")
    damages = {"catalog:lake.db.b": whole[:-20], "catalog:lake.db.a": whole.replace('"schemas":', '"shemas":')}
    for location, damaged in damages.items():
        places[location].write_text(damaged, encoding="utf-8")
    status, document = validate("catalog:lake.db.*")
    assert status == 1
    assert document["summary"] == {"tables": 3, "failing": 2, "not_checked": 2}
    for table in document["tables"][:2]:
        of_file = validate(table["metadata_location"])
        assert of_file[0] == 1
        assert facts(table["findings"]) == facts(of_file[1]["tables"][0]["findings"]) != []
        assert facts(validate(table["location"])[1]["tables"][0]["findings"]) == facts(table["findings"])
    places["catalog:lake.db.a"].unlink()
    places["catalog:lake.db.b"].write_text(whole, encoding="utf-8")
    status, document = validate("catalog:lake.db.*", "--level", "metadata")
    assert status == 3
    assert "no such file" in document["tables"][0]["unreadable"]


@pytest.mark.engine
def test_a_baseline_is_of_each_table_of_a_catalog(warehouse: Path, validate: Validate, tmp_path: Path) -> None:
    for path in (warehouse / "db" / "b" / "data").iterdir():
        path.unlink()
    status, document = validate("catalog:lake.db.*", "--level", "files", "--workers", "1")
    assert (status, document["summary"]["failing"]) == (1, 1)
    known = tmp_path / "baseline.json"
    known.write_text(json.dumps(document), encoding="utf-8")
    assert validate("catalog:lake.db.*", "--level", "files", "--workers", "1", "--baseline", str(known))[0] == 0
    for path in (warehouse / "db" / "a" / "data").iterdir():
        path.unlink()
    status, document = validate("catalog:lake.db.*", "--level", "files", "--workers", "1", "--baseline", str(known))
    assert [bool(table["findings"]) for table in document["tables"]] == [True, False, False]
    assert status == 1


@pytest.mark.engine
def test_tables_that_the_time_does_not_suffice_for_are_not_checked(
    warehouse: Path, validate: Validate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Catalogs, "tables", lambda *_: time.sleep(60))
        status, document = validate("catalog:lake", "--time-budget", "0.01")
    assert status == 3
    (table,) = document["tables"]
    assert table["unreadable"] == "the time budget of 0.01 s ended before it was listed"
    located = Catalogs.metadata_location

    def waits(self: Catalogs, location: str) -> str:
        if location.endswith(".b"):
            signal.raise_signal(signal.SIGALRM)  # what the timer sends when the time is over
        return located(self, location)

    monkeypatch.setattr(Catalogs, "metadata_location", waits)
    status, document = validate("catalog:lake.db.*", "--time-budget", "3600", "--level", "metadata")
    assert status == 3
    first, second, third = document["tables"]
    assert first["complete"]
    assert second["unreadable"] == "the time budget of 3600 s ended before anything was found"
    assert third["unreadable"] == "the time budget of 3600 s ended before it was checked"


@pytest.mark.engine
def test_a_snapshot_that_one_of_many_tables_does_not_have_ends_nothing(warehouse: Path, validate: Validate) -> None:
    status, document = validate("catalog:lake.other.*", "--snapshots", "17", "--level", "metadata")
    assert status == 3
    assert all("the table has no snapshot 17" in table["unreadable"] for table in document["tables"])
    assert cli.main(["validate", "catalog:lake.other.a", "--snapshots", "17"]) == 2


@pytest.mark.engine
def test_what_does_not_exist_is_named(
    warehouse: Path, validate: Validate, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["validate", "catalog:lake.db.x*"]) == 5
    assert "catalog:lake.db.x*: the catalog lake has no such table" in capfd.readouterr().err
    for pattern, error in (("nowhere.*", "NoSuchNamespaceError"), ("db.nothing", "NoSuchTableError")):
        status, document = validate(f"catalog:lake.{pattern}")
        assert status == 3
        (said,) = [table["unreadable"] for table in document["tables"]]
        assert f"catalog lake: {error}" in said
        assert "its configuration was looked for in" in said
    monkeypatch.delenv("PYICEBERG_CATALOG__LAKE__URI")
    status, document = validate("catalog:lake")
    assert status == 3
    assert "PYICEBERG_CATALOG__LAKE__* (PYICEBERG_CATALOG__LAKE__TYPE" in document["tables"][0]["unreadable"]


def test_a_catalog_that_is_not_configured_is_not_an_error_of_pyiceberg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("PYICEBERG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    said = catalogs.explain_error("lake", "ValueError: URI missing, please provide using --uri", "ValueError")
    assert said.startswith("catalog lake is not configured: its configuration was looked for in ")
    assert "--uri" not in said
    (tmp_path / ".pyiceberg.yaml").touch()
    assert "catalog lake: ValueError: URI missing" in catalogs.explain_error("lake", "ValueError: URI missing")


@pytest.mark.parametrize(
    ("error_class", "is_unreachable"),
    [
        ("ConnectTimeout", True),  # of requests
        ("ConnectTimeoutError", True),  # of botocore
        ("TimeoutError", True),  # of Python and SQLAlchemy
        ("ValueError", False),
        (None, False),
    ],
)
def test_a_catalog_that_does_not_answer_is_told_apart_by_the_class_of_the_error(
    error_class: str | None, is_unreachable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "http://127.0.0.1:9")
    text = catalogs.explain_error("lake", f"{error_class}: of the endpoint", error_class)
    assert text.startswith("catalog lake: the catalog cannot be reached: ") is is_unreachable


class Nested:
    """A catalog of which one namespace may not be looked into."""

    NAMESPACES: ClassVar = {(): ("db", "other"), ("db",): ("deep",), ("db", "deep"): (), ("other",): ()}

    def list_namespaces(self, namespace: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [(*namespace, one) for one in self.NAMESPACES[namespace]]

    def list_tables(self, namespace: tuple[str, ...]) -> list[tuple[str, ...]]:
        if namespace == ("other",):
            raise PermissionError("not for\nyou")
        return [(*namespace, "t")]


def test_a_namespace_that_cannot_be_listed_is_named_beside_the_others(
    validate: Validate, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = list_tables(Nested(), "*")
    assert sorted(listed["tables"]) == [("db", "deep", "t"), ("db", "t")]
    assert listed["failed"] == [["other", "PermissionError: not for you"]]
    assert list_tables(Nested(), "db.*")["failed"] == []
    assert list_tables(Nested(), "db.deep.x*")["tables"] == [("db", "deep", "t")]
    with pytest.raises(PermissionError):
        list_tables(Nested(), "other.*")
    monkeypatch.setattr(Catalogs, "_ask", lambda *_: {"tables": [], "failed": listed["failed"]})
    status, document = validate("catalog:lake")
    assert status == 3
    (table,) = document["tables"]
    assert table["location"] == "catalog:lake.other"
    assert table["unreadable"] == "it cannot be listed: PermissionError: not for you"


@pytest.mark.engine
def test_a_process_that_ends_or_does_not_answer_is_an_error_of_that_table(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Catalogs() as some:
        tables, failed = some.tables(CatalogLocation("lake", "db.*"))
        assert failed == {}
        some._processes["lake"]._process.kill()
        with pytest.raises(UnreadableTable, match=r"catalog lake: PyIceberg's process ended: exit status -9"):
            some.metadata_location(tables[0])
        assert f"{warehouse}/db/a/metadata/" in some.metadata_location(tables[0])
        monkeypatch.setattr(catalogs, "SECONDS", 0)
        with pytest.raises(UnreadableTable, match="no answer for 0 seconds"):
            some.metadata_location(tables[1])


@pytest.mark.engine
def test_tables_of_a_rest_catalog(tmp_path: Path, validate: Validate, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS["iceberg-rest"]
    if (reason := server_status(find_server(kind.package)).reason) is not None:
        pytest.skip(reason)
    running = ManagedServer(kind, tmp_path / "server")
    try:
        for name, value in kind.pyiceberg_properties(running.address).items():
            monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{name.upper()}", value)
        launched = launch("pyiceberg")
        command = [launched.command[0], "-c", MAKE, "db.a", "db.b", "other.a"]
        subprocess.run(command, env=launched.env, check=True, timeout=600)
        status, document = validate("catalog:lake.db.*", "--level", "metadata")
        assert (status, locations(document)) == (0, ["db.a", "db.b"])
        path = Path(split_location(document["tables"][0]["metadata_location"]).path)
        path.unlink()  # the server would read a damaged file again for a minute and a half before it gave up
        status, document = validate("catalog:lake", "--level", "metadata")
    finally:
        running.stop()
    assert locations(document) == ["db.a", "db.b", "other.a"]
    assert status == 3  # the server reads metadata itself, and gives no table of which it cannot
    assert "catalog lake: " in document["tables"][0]["unreadable"]
    assert str(path) in document["tables"][0]["unreadable"]


@pytest.mark.engine
def test_the_nightly_job_pages_for_what_is_new_and_only_that(warehouse: Path, tmp_path: Path) -> None:
    (job,) = re.findall(r"(?s)```bash\n(.*?)```", (DOCS / "nightly.md").read_text(encoding="utf-8"))
    script = tmp_path / "nightly.sh"
    script.write_text(job, encoding="utf-8")
    state = tmp_path / "state"
    tool = tmp_path / "iceberg-conformance"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m conformance "$@"\n', encoding="utf-8")
    tool.chmod(0o755)
    env = {
        **os.environ,
        "CATALOG": "lake",
        "TABLES": "catalog:lake.db.*",
        "STATE": str(state),
        "MASTER": "local[1]",
        "ENGINE": "local",
    }
    env["PATH"] = f"{tmp_path}:{env['PATH']}"

    def night() -> tuple[int, str]:
        done = subprocess.run(["bash", script], env=env, capture_output=True, text=True, timeout=900, check=False)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout.partition(":")[0]

    for path in (warehouse / "db" / "b" / "data").iterdir():
        path.unlink()
    env["TABLES"] = "catalog:unknown"
    assert night() == (3, "TICKET")
    assert not (state / "baseline.json").exists()
    env["TABLES"] = "catalog:lake.db.*"
    assert night() == (0, "nothing new")
    assert (state / "baseline.json").exists()
    assert night() == (0, "nothing new")
    for path in (warehouse / "db" / "a" / "data").iterdir():
        path.unlink()
    assert night() == (1, "PAGE")
    (report,) = state.glob("20*.json")
    tables = json.loads(report.read_text(encoding="utf-8"))["tables"]
    new = {table["location"]: [finding["code"] for finding in table["findings"]] for table in tables}
    assert new["catalog:lake.db.b"] == new["catalog:lake.db.deep.a"] == []
    assert "DFL002" in new["catalog:lake.db.a"]
    report.rename(state / "baseline.json")
    env["ENGINE"] = "spark"  # which finds what this machine found
    assert night() == (0, "nothing new")
    env |= {"ENGINE": "local", "TABLES": "catalog:lake.nowhere.*"}
    assert night() == (3, "TICKET")
