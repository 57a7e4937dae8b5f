"""The text report of validated tables: one line for each, which claims no more than was checked."""

from __future__ import annotations

from conformance.core.colours import plain
from conformance.reports.validation import ValidationResult, as_text
from conformance.validator.context import Level
from conformance.validator.finding import finding
from conformance.validator.run import TableReport
from spec_ref.checks.findings import Finding


def outcome(*findings: Finding) -> ValidationResult:
    return ValidationResult(
        "t", TableReport("t", "t/metadata/v1.metadata.json", Level.FILES, findings, format_version=2)
    )


def test_a_table_ends_with_a_line_that_says_what_was_not_read() -> None:
    missing = finding("DFL002", "the file cannot be read", file="m.avro", found="d.parquet", aspect="unreadable")
    *_, verdict, empty = as_text([outcome(missing)], plain)
    assert verdict.startswith("  1 error in metadata, manifests and the footers of files; ")
    assert "; not read: 1 file, and what only they lead to" in verdict
    assert empty == ""


def test_a_healthy_table_is_three_lines() -> None:
    title, facts, verdict, empty = as_text([outcome()], plain)
    assert (title, empty) == ("t (metadata/v1.metadata.json)", "")
    assert facts.startswith("  format version 2, level files")
    assert verdict.startswith("  nothing is wrong in metadata, manifests and the footers of files; not checked: rows")
    assert "not read" not in verdict


def test_several_tables_end_with_a_table_and_one_verdict() -> None:
    bad = finding("DFL005", "the number of rows is another", file="m.avro", aspect="mismatch")
    unread = "; not checked: rows (--level rows)"
    assert list(as_text([outcome(), outcome()], plain))[-1] == f"2 tables: none with findings that fail{unread}"
    three = [outcome(), outcome(bad), ValidationResult("u", unreadable="there is no table")]
    *_, head, first, second, third, verdict = as_text(three, plain)
    assert head.split() == ["table", "error", "warning", "tolerated", "info", "seconds", "result"]
    assert first.split() == ["t", "0", "0", "0", "0", "0.0", "passes"]
    assert second.split() == ["t", "1", "0", "0", "0", "0.0", "fails"]
    assert third.split() == ["u", "-", "-", "-", "-", "0.0", "not", "checked"]
    assert verdict == f"3 tables: 1 with findings that fail, 1 not checked to the end{unread}"


def test_of_many_tables_only_those_with_something_wrong_have_lines_of_their_own() -> None:
    bad = finding("DFL005", "the number of rows is another", file="m.avro", aspect="mismatch")
    lines = list(as_text([outcome(), outcome(bad)], plain, brief=True))
    assert sum("format version 2" in line for line in lines) == 1
    assert sum("format version 2" in line for line in as_text([outcome(), outcome(bad)], plain)) == 2
    assert len(list(as_text([outcome()], plain, brief=True))) == 3
