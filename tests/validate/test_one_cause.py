"""One cause is one finding: a count that is wrong in an entry does not make the summary of the snapshot wrong too."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.validator.context import Level
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from tools.grid.workbench import Workbench

DATA, DELETES = "types-v2-parquet", "position-deletes-parquet"
EQUALITY = "equality-deletes-parquet"


@pytest.fixture(scope="module", autouse=True)
def _golden_tables() -> None:
    materialize([DATA, DELETES, EQUALITY])


def broken(bench: Workbench, level: Level) -> set[str]:
    findings = bench.validate(level).findings
    return {one.requirement for one in findings if one.severity in (Severity.ERROR, Severity.WARNING)}


@pytest.mark.parametrize("level", [Level.FILES, Level.ROWS])
@pytest.mark.parametrize(
    ("table", "which"), [(DATA, "file"), (DELETES, "file"), (DELETES, "delete_file"), (EQUALITY, "delete_file")]
)
def test_a_wrong_record_count_of_an_entry_is_one_finding(table: str, which: str, level: Level, tmp_path: Path) -> None:
    bench = Workbench(table, tmp_path)
    before = broken(bench, level)
    (tmp_path / "again").mkdir()
    bench = Workbench(table, tmp_path / "again")
    getattr(bench, which)["record_count"] += 5
    assert broken(bench, level) - before == {"DFL005"}


def test_where_no_file_is_read_the_summary_is_what_shows_it(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["record_count"] += 5
    assert broken(bench, Level.MANIFESTS) == {"NOT005"}


def test_a_summary_that_is_wrong_as_well_is_a_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["record_count"] += 5
    bench.snapshot["summary"]["total-records"] = "4711"
    assert broken(bench, Level.FILES) == {"DFL005", "NOT005"}
