"""Tables that engines write here and now have no errors: a few in every run, all with VALIDATE_FRESH=all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from fresh_spark import FEATURES, FORMATS, VERSIONS, names

from conformance.engine_setup import launch
from conformance.validator.catalogs import resolve_location
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, UnreadableTable, validate
from spec_ref.checks.findings import Severity

ALL = os.environ.get("VALIDATE_FRESH") == "all"
FEW = ("merge_on_read_v3_parquet", "partitioned_v2_orc", "evolved_v1_avro")

pytestmark = pytest.mark.engine


def wrong(location: str) -> list[str]:
    """Errors, and warnings, about which the owner of a new table could do nothing."""
    report = validate(location, Level.ROWS, LocalBackend(), SnapshotSelection("all"))
    assert report.entries
    assert not [one.check for one in report.findings if one.violation.aspect in ("not-checked", "encrypted")]
    return [str(finding) for finding in report.findings if finding.severity in (Severity.ERROR, Severity.WARNING)]


def run(engine: str, script: str, *arguments: str) -> list[str]:
    launched = launch(engine)
    command = [launched.command[0], str(Path(__file__).with_name(script)), *arguments]
    done = subprocess.run(command, env=launched.env, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_tables_of_iceberg_java_are_valid(tmp_path: Path) -> None:
    made = run("iceberg-java", "fresh_spark.py", str(tmp_path), *(() if ALL else FEW))
    assert len(made) == (len(list(names())) if ALL else len(FEW))
    found = {name: wrong(f"{tmp_path}/db/{name}") for name in made}
    assert {name: findings for name, findings in found.items() if findings} == {}


def test_tables_of_pyiceberg_are_valid(tmp_path: Path) -> None:
    made = run("pyiceberg", "fresh_pyiceberg.py", str(tmp_path))
    assert len(made) == 8
    found = {location: wrong(location) for location in made}
    assert {location: findings for location, findings in found.items() if findings} == {}


def test_each_feature_in_each_version_and_format_is_a_table_with_a_name_of_its_own() -> None:
    assert len({name for name, *_ in names()}) == len(FEATURES) * len(VERSIONS) * len(FORMATS)


CATALOG = """
import pyarrow as pa
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lake")
catalog.create_namespace("db")
rows = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
catalog.create_table("db.t", rows.schema).append(rows)
"""


def test_a_table_of_a_catalog_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__WAREHOUSE", f"file://{tmp_path}")
    launched = launch("pyiceberg")
    subprocess.run([launched.command[0], "-c", CATALOG], env=launched.env, check=True, timeout=600)
    report = validate(resolve_location("catalog:lake.db.t"), Level.ROWS, LocalBackend())
    assert report.entries == 1
    assert report.metadata_location.startswith(f"file://{tmp_path}/db/t/metadata/")
    with pytest.raises(UnreadableTable, match="NoSuchTable"):
        resolve_location("catalog:lake.db.missing")
    with pytest.raises(UnreadableTable, match="catalog:nowhere"):
        resolve_location("catalog:nowhere.db.t")
