"""Tables of many writers: each writer is recognised, and the requirements that it is known to break are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.table_io import file_access
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from conformance.vectors import shipped
from spec_ref.checks.findings import Severity

WRITERS = shipped() / "golden" / "writers"
WRITTEN_AT = "/iceberg-conformance/writers/"

ERRORS = {
    "chdb-4.4.0/v1": {"TMD007", "TMD010"},
    "chdb-4.4.0/v2": {"EVO001", "MAN008", "MAN010"},
    "chdb-4.4.0/v3": {"DEL002", "EVO001", "MAN008", "MAN010"},
    "duckdb-1.5.5/v1": {"DFL008", "MAN012", "MLS007"},
    "duckdb-1.5.5/v3": {"LIN026"},
}
"""What writers break; others break nothing."""

NAMES = {
    "chdb": "ClickHouse",
    "daft": "Arrow C++",  # its manifests are those of PyIceberg, and the library does not say who uses it
    "duckdb": "DuckDB",
    "flink": "Iceberg-Java",
    "iceberg-java": "Iceberg-Java",
    "polars": "Polars",
    "pyiceberg": "PyIceberg",
    "sail": "Sail",
    "trino": "Trino",
}


@pytest.fixture
def _as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are kept flat, and name each other by the places that they were written to."""
    original = file_access.split_location

    def split(location: str) -> file_access.StoreLocation:
        place = original(location)
        _, found, below = place.path.partition(WRITTEN_AT)
        if not found:
            return place
        writer, version, *_, name = below.split("/")
        return file_access.StoreLocation("file", "", str(WRITERS / writer / version / name))

    monkeypatch.setattr(file_access, "split_location", split)


@pytest.mark.usefixtures("_as_written")
@pytest.mark.parametrize("table", sorted(f"{path.parent.name}/{path.name}" for path in WRITERS.glob("*/v*")))
def test_a_writer_is_recognised_and_what_it_breaks_is_found(table: str) -> None:
    folder = WRITERS / table
    document = json.loads((folder.parent / "index.json").read_text())["tables"][folder.name]
    report = validate(str(folder / Path(document["metadata"])), Level.ROWS, LocalBackend(), SnapshotSelection("all"))
    errors = {finding.requirement for finding in report.findings if finding.severity is Severity.ERROR}
    assert errors == ERRORS.get(table, set())
    if report.entries:  # the metadata of ClickHouse's v1 is not to be read
        assert any(NAMES[table.rpartition("-")[0]] in writer for writer in report.writers)


def test_there_are_many_writers() -> None:
    assert {path.name.rpartition("-")[0] for path in WRITERS.iterdir()} >= NAMES.keys()
