"""One cause is one finding: what is compared with a wrong fact is not wrong for that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.rules import registry
from conformance.validator.context import Level
from conformance.validator.finding_filter import finding_filter
from conformance.validator.one_cause import CONSEQUENCES, without_consequences
from conformance.validator.run import Snapshots
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Finding, Severity, Tally
from spec_ref.core.errors import Violation
from tools.grid.workbench import Workbench

DATA, DELETES = "types-v2-parquet", "position-deletes-parquet"
EQUALITY, VECTORS = "equality-deletes-parquet", "deletion-vectors-parquet"


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


FLIPS: dict[str, tuple[Callable[[Workbench], None], str]] = {}
"""A change of one stored fact, and the check that names it."""


def flip(check: str) -> Callable[[Callable[[Workbench], None]], None]:
    def add(change: Callable[[Workbench], None]) -> None:
        FLIPS[change.__name__.strip("_")] = (change, check)

    return add


def _older(bench: Workbench) -> dict[str, Any]:
    """The entry in the list of a manifest that an older snapshot added."""
    own = bench.snapshot["snapshot-id"]
    found: dict[str, Any] = next(one for one in bench.manifest_list.records if one["added_snapshot_id"] != own)
    return found


@flip("manifest-file-added-snapshot-id-of-another-sequence-number")
def _unknown_id_in_the_list(bench: Workbench) -> None:
    bench.manifest_list.records[0]["added_snapshot_id"] ^= 1


@flip("manifest-file-added-snapshot-id-changed")
def _id_of_the_snapshot_itself(bench: Workbench) -> None:
    _older(bench)["added_snapshot_id"] = bench.snapshot["snapshot-id"]


@flip("manifest-file-added-snapshot-id-changed")
def _id_unlike_the_older_list(bench: Workbench) -> None:
    _older(bench)["added_snapshot_id"] ^= 1


@flip("manifest-file-manifest-length-mismatch")
def _length(bench: Workbench) -> None:
    _older(bench)["manifest_length"] += 1


@flip("manifest-file-added-files-count-mismatch")
def _files_count(bench: Workbench) -> None:
    _older(bench)["added_files_count"] += 1


@flip("manifest-file-added-rows-count-mismatch")
def _rows_count(bench: Workbench) -> None:
    _older(bench)["added_rows_count"] += 1


@flip("manifest-property-content-mismatch")
def _content(bench: Workbench) -> None:
    _older(bench)["content"] = 1


@flip("manifest-file-sequence-number-changed")
def _sequence_number(bench: Workbench) -> None:
    _older(bench)["sequence_number"] += 1


@flip("manifest-list-new-manifests-sequence-number")
def _sequence_number_too_low(bench: Workbench) -> None:
    own = bench.snapshot["snapshot-id"]
    next(one for one in bench.manifest_list.records if one["added_snapshot_id"] == own)["sequence_number"] -= 1


@flip("manifest-file-min-sequence-number-too-high")
def _least_sequence_number(bench: Workbench) -> None:
    _older(bench)["min_sequence_number"] += 1


@flip("metadata-current-snapshot-id-unknown")
def _current_snapshot(bench: Workbench) -> None:
    bench.metadata["current-snapshot-id"] ^= 1


@flip("metadata-current-snapshot-id-main-differs")
def _older_current_snapshot(bench: Workbench) -> None:
    bench.metadata["current-snapshot-id"] = bench.metadata["snapshots"][0]["snapshot-id"]


@flip("metadata-refs-unknown-snapshot")
def _main(bench: Workbench) -> None:
    bench.metadata["refs"]["main"]["snapshot-id"] ^= 1


@flip("metadata-snapshot-log-unknown-snapshot")
def _end_of_the_log(bench: Workbench) -> None:
    bench.metadata["snapshot-log"][-1]["snapshot-id"] ^= 1


@flip("metadata-last-column-id-exceeded-by-field")
def _last_column_id(bench: Workbench) -> None:
    bench.metadata["last-column-id"] -= 1


@pytest.mark.parametrize("name", sorted(FLIPS))
def test_a_fact_that_several_others_contradict_is_one_finding(name: str, tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    change, check = FLIPS[name]
    change(bench)
    assert checks(bench) == {check}


def checks(bench: Workbench) -> set[str]:
    found = bench.validate(Level.ROWS, Snapshots("all")).findings
    return {one.check for one in found if one.severity in (Severity.ERROR, Severity.WARNING)}


def _pinned(bench: Workbench) -> None:
    """Let the list keep the counts that were right before."""
    bench.data.pinned = True
    bench.data.listed["manifest_length"] = len(bench.data.content())


def of_entry(bench: Workbench) -> set[str]:
    return checks(bench) - {"files-immutable-changed"}  # the manifest is written anew, and an older list has it too


def test_a_list_with_the_rows_of_the_file_is_right_where_the_entry_is_wrong(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["record_count"] += 1
    _pinned(bench)
    assert of_entry(bench) == {"data-file-record-count-mismatch"}


def test_a_list_that_is_wrong_as_well_is_a_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["record_count"] += 1
    bench.data.listed["added_rows_count"] += 5
    _pinned(bench)
    assert of_entry(bench) == {"data-file-record-count-mismatch", "manifest-file-added-rows-count-mismatch"}


def test_a_wrong_size_of_an_entry_is_one_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["file_size_in_bytes"] += 1
    assert of_entry(bench) == {"data-file-file-size-in-bytes-mismatch"}


def test_a_bound_beyond_a_value_and_the_other_bound_is_one_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    (bound,) = [one for one in bench.file["lower_bounds"] if one["key"] == 1]
    bound["value"] = b"\xff\xff\xff\x7f"
    assert of_entry(bench) == {"data-file-lower-bounds-exceeded"}


def test_an_entry_of_a_third_snapshot_is_a_finding_beside_a_list_that_contradicts_itself(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.entry["snapshot_id"] = 12345
    bench.data.listed["added_snapshot_id"] ^= 1
    assert {"manifest-entry-added", "manifest-file-added-snapshot-id-of-another-sequence-number"} <= of_entry(bench)


def test_a_vector_is_not_left_behind_where_a_manifest_cannot_be_read(tmp_path: Path) -> None:
    materialize([VECTORS])
    bench = Workbench(VECTORS, tmp_path)
    bench.replaced[bench.data.path] = None
    assert not [one for one in checks(bench) if one.startswith("removed-file")]


def test_rows_name_checks_and_no_cause_is_milder() -> None:
    known = registry()
    for row in CONSEQUENCES:
        for cause in row.causes:
            for check in row.checks:
                assert known[cause].severity in (Severity.ERROR, known[check].severity), (cause, check)


def test_a_milder_cause_and_places_elsewhere_leave_a_finding_as_it_is() -> None:
    def found(requirement: str, aspect: str, path: str, severity: Severity = Severity.ERROR) -> Finding:
        return Finding(Violation(requirement=requirement, message="any", aspect=aspect, path=path, file="f"), severity)

    cause, near = found("MLS004", "mismatch", "/0/manifest_length"), found("FIO001", "changed", "/0/manifest_length")
    far = found("FIO001", "changed", "/1/manifest_length")
    assert without_consequences([cause, near]) == (cause,)
    assert without_consequences([cause, far]) == (cause, far)
    warning = found("MLS004", "mismatch", "/0/manifest_length", Severity.WARNING)
    assert without_consequences([warning, near]) == (warning, near)
    both = Tally([near, far]).findings()
    assert without_consequences([cause, *both]) == (cause, far)
    many = Tally(found("FIO001", "changed", f"/{number}/manifest_length") for number in range(9)).findings()
    assert without_consequences([cause, *many]) == (cause, *many)
    causes = Tally(found("MLS004", "mismatch", f"/{number}/manifest_length") for number in range(9)).findings()
    assert without_consequences([*causes, *many]) == causes


@pytest.mark.parametrize("chosen", ["select", "ignore"])
def test_a_finding_whose_cause_is_not_selected_is_reported(chosen: str, tmp_path: Path) -> None:
    cause, consequence = "manifest-file-min-sequence-number-too-high", "manifest-file-min-sequence-number-mismatch"
    bench = Workbench(DATA, tmp_path)
    _pinned(bench)
    bench.data.listed["min_sequence_number"] += 1
    report = bench.validate(Level.MANIFESTS, Snapshots("all"))
    select, ignore = ((consequence,), ()) if chosen == "select" else ((), (cause,))
    selected, accepted = finding_filter(select, ignore, "error", None).apply(report)
    assert consequence not in {one.check for one in report.findings}
    assert consequence in {one.check for one in selected.findings}
    assert cause not in {one.check for one in selected.findings}
    assert not accepted
