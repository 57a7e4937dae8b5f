"""One cause is one finding: what is compared with a wrong fact is not wrong for that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.core.colours import plain
from conformance.reports.validation import ValidationResult, as_text, table_json
from conformance.rules import registry
from conformance.validator.context import Level
from conformance.validator.finding_filter import finding_filter
from conformance.validator.one_cause import CONSEQUENCES, without_consequences, without_right_counts
from conformance.validator.run import SnapshotSelection
from conformance.vectors.golden_tables import materialize
from spec_ref.checks.findings import Finding, Severity, Tally
from spec_ref.core.errors import Violation
from tools.grid.workbench import Manifest, Workbench

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


@flip("manifest-file-partition-spec-id-unknown-spec")
def _unknown_spec(bench: Workbench) -> None:
    _older(bench)["partition_spec_id"] = 77


@flip("snapshot-parent-snapshot-id-cycle")
def _later_parent(bench: Workbench) -> None:
    first, second = bench.metadata["snapshots"]
    first["parent-snapshot-id"] = second["snapshot-id"]


@flip("metadata-current-snapshot-id-unknown")
def _id_of_the_current_snapshot(bench: Workbench) -> None:
    bench.metadata["snapshots"][-1]["snapshot-id"] ^= 1


@flip("manifest-file-added-snapshot-id-of-another-sequence-number")
def _id_of_an_older_snapshot(bench: Workbench) -> None:
    bench.metadata["snapshots"][0]["snapshot-id"] ^= 1


@flip("metadata-last-column-id-exceeded-by-field")
def _last_column_id(bench: Workbench) -> None:
    bench.metadata["last-column-id"] -= 1


ADDED_AS_EXISTING, NO_NUMBERS = "manifest-entry-status-added-as-existing", "manifest-entry-explicit-numbers"
CONTENT, NO_EQUALITY_IDS = "manifest-one-content", "data-file-equality-ids-missing"
NO_POSITIONS = "position-delete-columns-missing-column"
NEVER_ADDED, VANISHED = "manifest-entry-deleted-unknown-file", "manifest-entry-deleted-file-vanished"


@pytest.mark.parametrize(
    ("table", "part", "field", "value", "check"),
    [
        (DATA, "data", "status", 0, ADDED_AS_EXISTING),
        (DATA, "data", "status", 2, NO_NUMBERS),
        (DATA, "data", "snapshot_id", 12345, "manifest-entry-added"),
        (DATA, "data", "content", 1, CONTENT),
        (DATA, "data", "content", 2, CONTENT),
        ("types-v1-parquet", "data", "status", 0, ADDED_AS_EXISTING),
        ("types-v1-parquet", "data", "status", 2, NEVER_ADDED),
        ("types-v1-parquet", "older", "status", 2, NEVER_ADDED),
        ("manifests-rewritten", "existing", "status", 2, VANISHED),
        (DELETES, "last", "content", 1, CONTENT),
        (DELETES, "deletes", "content", 0, CONTENT),
        (DELETES, "deletes", "content", 2, NO_EQUALITY_IDS),
        (EQUALITY, "deletes", "content", 0, CONTENT),
        (EQUALITY, "deletes", "content", 1, NO_POSITIONS),
        (VECTORS, "data", "status", 0, ADDED_AS_EXISTING),
        (VECTORS, "older", "status", 2, NO_NUMBERS),
        (VECTORS, "older", "content", 1, CONTENT),
        (VECTORS, "deletes", "content", 0, CONTENT),
        (VECTORS, "deletes", "content", 2, NO_EQUALITY_IDS),
    ],
)
def test_a_wrong_fact_of_an_entry_is_one_finding(
    table: str, part: str, field: str, value: int, check: str, tmp_path: Path
) -> None:
    materialize([table])
    bench = Workbench(table, tmp_path)
    data = [one for one in bench.manifests if not one.listed.get("content")]
    existing = next((one for one in data if one.records[0]["status"] == 0), None)
    parts = {"data": data[0], "older": data[1 % len(data)], "last": data[-1], "existing": existing}
    manifest = parts.get(part, bench.manifests[-1])
    assert manifest is not None
    entry = manifest.records[0]
    (entry["data_file"] if field == "content" else entry)[field] = value
    _pinned(manifest)
    report = bench.validate(Level.ROWS, SnapshotSelection("all"))
    assert {one.check for one in report.findings if one.severity is not Severity.TOLERATED} == {check}
    assert len({one.check for one in report.all_findings if one.severity is not Severity.TOLERATED}) > 1


WRONG_AS_WELL: dict[str, Callable[[Workbench], None]] = {
    "manifest-file-added-files-count-mismatch": lambda bench: _add(bench.data.listed, "added_files_count", 5),
    "manifest-file-existing-rows-count-mismatch": lambda bench: _add(bench.data.listed, "existing_rows_count", 5),
    "summary-metrics-mismatch": lambda bench: bench.snapshot["summary"].update({"total-records": "4711"}),
}


def _add(record: dict[str, Any], name: str, number: int) -> None:
    record[name] += number


@pytest.mark.parametrize("also", sorted(WRONG_AS_WELL))
@pytest.mark.parametrize(
    ("field", "value", "check"),
    [("status", 0, ADDED_AS_EXISTING), ("status", 2, NO_NUMBERS), ("snapshot_id", 12345, "manifest-entry-added")],
)
def test_a_second_fact_that_is_wrong_as_well_is_a_second_finding(
    field: str, value: int, check: str, also: str, tmp_path: Path
) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.entry[field] = value
    WRONG_AS_WELL[also](bench)
    _pinned(bench.data)
    assert checks(bench) == {check, also}


def test_what_follows_is_counted_apart_and_shown_when_asked(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.entry["status"] = 0
    _pinned(bench.data)
    report = bench.validate(Level.ROWS, SnapshotSelection("all"))
    remaining, _ = finding_filter((), (), "error", None).apply(report)
    count = "manifest-file-added-files-count-mismatch"
    assert count in {one.check for one in remaining.consequences}
    assert count not in {one.check for one in remaining.findings}
    outcome = ValidationResult("t", remaining)
    brief, full = ("\n".join(as_text([outcome], plain, verbose=verbose)) for verbose in (False, True))
    assert f"{len(remaining.consequences)} findings that follow from the above (-v shows them)" in brief
    assert "MLS010" in full
    assert "MLS010" not in brief
    assert count in {one["check"] for one in table_json(outcome)["consequences"]}
    ignoring, _ = finding_filter((), (ADDED_AS_EXISTING,), "error", None).apply(report)
    assert {count, "summary-metrics-mismatch", NO_NUMBERS} <= {one.check for one in ignoring.findings}
    every = [one.check for one in ignoring.findings]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", sorted(FLIPS))
def test_a_fact_that_several_others_contradict_is_one_finding(name: str, tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    change, check = FLIPS[name]
    change(bench)
    assert checks(bench) == {check}


def checks(bench: Workbench) -> set[str]:
    found = bench.validate(Level.ROWS, SnapshotSelection("all")).findings
    return {one.check for one in found if one.severity in (Severity.ERROR, Severity.WARNING)}


def _pinned(manifest: Manifest) -> None:
    """Let the list keep the counts that were right before."""
    manifest.pinned = True
    manifest.listed["manifest_length"] = len(manifest.content())


def test_a_list_with_the_rows_of_the_file_is_right_where_the_entry_is_wrong(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["record_count"] += 1
    _pinned(bench.data)
    assert checks(bench) == {"data-file-record-count-mismatch"}


def test_a_list_that_is_wrong_as_well_is_a_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["record_count"] += 1
    bench.data.listed["added_rows_count"] += 5
    _pinned(bench.data)
    assert checks(bench) == {"data-file-record-count-mismatch", "manifest-file-added-rows-count-mismatch"}


def test_a_wrong_size_of_an_entry_is_one_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.file["file_size_in_bytes"] += 1
    assert checks(bench) == {"data-file-file-size-in-bytes-mismatch"}


def test_a_bound_beyond_a_value_and_the_other_bound_is_one_finding(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    (bound,) = [one for one in bench.file["lower_bounds"] if one["key"] == 1]
    bound["value"] = b"\xff\xff\xff\x7f"
    assert checks(bench) == {"data-file-lower-bounds-exceeded"}


def test_an_entry_of_a_third_snapshot_is_a_finding_beside_a_list_that_contradicts_itself(tmp_path: Path) -> None:
    bench = Workbench(DATA, tmp_path)
    bench.entry["snapshot_id"] = 12345
    bench.data.listed["added_snapshot_id"] ^= 1
    assert {"manifest-entry-added", "manifest-file-added-snapshot-id-of-another-sequence-number"} <= checks(bench)


def test_a_vector_is_not_left_behind_where_a_manifest_cannot_be_read(tmp_path: Path) -> None:
    materialize([VECTORS])
    bench = Workbench(VECTORS, tmp_path)
    bench.replaced[bench.data.path] = None
    assert not [one for one in checks(bench) if one.startswith("removed-file")]


def test_the_spec_of_other_manifests_in_a_list_is_one_finding(tmp_path: Path) -> None:
    table = "partition-evolution-v2"
    materialize([table])
    for number, other in ((0, 4), (1, 5), (3, 2), (4, 3)):
        folder = tmp_path / str(number)
        folder.mkdir()
        bench = Workbench(table, folder)
        bench.manifest_list.records[number]["partition_spec_id"] = other
        assert checks(bench) == {"manifest-one-spec"}


def test_no_check_is_a_cause_of_itself() -> None:
    for row in CONSEQUENCES:
        assert not {*row.causes} & {*row.checks}, row


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


def test_a_finding_with_a_milder_cause_is_reported() -> None:
    def found(aspect: str, severity: Severity, follows: tuple[str, ...] = ()) -> Finding:
        return Finding(Violation(requirement="MAN017", message="any", aspect=aspect), severity, follows=follows)

    error = found("file-vanished", Severity.ERROR, (NEVER_ADDED,))
    assert without_consequences([found("unknown-file", Severity.ERROR), error]) == (
        found("unknown-file", Severity.ERROR),
    )
    assert {one.check for one in without_consequences([found("unknown-file", Severity.WARNING), error])} == {
        NEVER_ADDED,
        VANISHED,
    }


def test_row_counts_are_compared_as_numbers_and_not_as_texts() -> None:
    place = Violation(
        requirement="MLS013",
        message="any",
        aspect="mismatch",
        file="list",
        path="/0/added_rows_count",
        found="seven rows",
        expected="five rows",
        difference=-2,
    )
    one = Finding(place, Severity.ERROR)
    assert without_right_counts([one], {("list", "/0/added_rows_count"): 2}) == ()
    assert without_right_counts([one], {("list", "/0/added_rows_count"): 3}) == (one,)
    assert without_right_counts([one], {}) == (one,)


@pytest.mark.parametrize("chosen", ["select", "ignore"])
def test_a_finding_whose_cause_is_not_selected_is_reported(chosen: str, tmp_path: Path) -> None:
    cause, consequence = "manifest-file-min-sequence-number-too-high", "manifest-file-min-sequence-number-mismatch"
    bench = Workbench(DATA, tmp_path)
    _pinned(bench.data)
    bench.data.listed["min_sequence_number"] += 1
    report = bench.validate(Level.MANIFESTS, SnapshotSelection("all"))
    select, ignore = ((consequence,), ()) if chosen == "select" else ((), (cause,))
    selected, accepted = finding_filter(select, ignore, "error", None).apply(report)
    assert consequence not in {one.check for one in report.findings}
    assert consequence in {one.check for one in selected.findings}
    assert cause not in {one.check for one in selected.findings}
    assert not accepted
