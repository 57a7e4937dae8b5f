"""Each corruption of the kit is found with its code, and nothing else is reported as an error."""

from __future__ import annotations

import collections
import tomllib
from pathlib import Path

import pytest

from conformance.rules import find_check
from conformance.validator.context import Level
from conformance.validator.run import SnapshotSelection
from conformance.validator.tolerated import tolerate
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Severity
from spec_ref.core.records import evolve
from spec_ref.requirements import register
from tests.validate import corruptions
from tools.grid.workbench import Workbench

KIT = corruptions.load()

SHOWN: dict[str, set[str]] = collections.defaultdict(set)
"""The checks that a corruption has to show, by its id."""

for _check, _id in tomllib.loads(Path(__file__).with_name("shown_checks.toml").read_text())["corruptions"].items():
    SHOWN[_id].add(_check)


@pytest.fixture(scope="session", autouse=True)
def _golden_tables() -> None:
    materialize(sorted({one.table for one in KIT}))


def test_the_kit_names_what_there_is() -> None:
    assert not [one for one, count in collections.Counter(one.id for one in KIT).items() if count > 1]
    assert not [one.id for one in KIT if one.code not in register()]


@pytest.mark.parametrize("one", KIT, ids=lambda one: one.id)
def test_a_corruption_is_found(one: corruptions.Corruption, tmp_path: Path) -> None:
    bench = Workbench(one.table, tmp_path)
    one.mutate(bench)
    report = bench.validate(Level(one.level), SnapshotSelection(one.snapshots))
    for finding in report.findings:
        check = find_check(finding.violation)
        assert check is not None, finding
        (rated,) = tolerate([evolve(finding, severity=check.severity)])
        assert finding.severity is rated.severity, finding
    assert SHOWN[one.id] <= {finding.check for finding in report.all_findings}
    errors = {finding.requirement for finding in report.findings if finding.severity is Severity.ERROR}
    if one.severity == "error":
        assert one.code in errors
        assert errors <= {one.code, *one.also}
    else:
        found = {(finding.requirement, finding.severity.value) for finding in report.findings}
        assert (one.code, one.severity) in found
        assert not errors


@pytest.mark.parametrize("table", sorted({one.table for one in KIT}))
def test_the_tables_of_the_kit_are_valid_when_they_are_only_written_anew(table: str, tmp_path: Path) -> None:
    bench = Workbench(table, tmp_path)
    assert bench.manifests
    report = bench.validate(Level.ROWS)
    assert [str(finding) for finding in report.findings if finding.severity is Severity.ERROR] == []
