"""What people read of validated tables: one line for each that claims no more than was looked at."""

from __future__ import annotations

from conformance.reports.terminal import plain
from conformance.reports.validation import Outcome, as_text
from conformance.validator.context import Level
from conformance.validator.finding import finding
from conformance.validator.run import TableReport
from spec_ref.checks.findings import Finding


def outcome(*findings: Finding) -> Outcome:
    return Outcome("t", TableReport("t", "t/metadata/v1.metadata.json", Level.FILES, findings, format_version=2))


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
    assert verdict.startswith("  nothing is wrong in metadata, manifests and the footers of files; not looked at: rows")
    assert "not read" not in verdict


def test_several_tables_end_with_one_verdict() -> None:
    bad = finding("DFL005", "the number of rows is another", file="m.avro", aspect="mismatch")
    assert list(as_text([outcome(), outcome()], plain))[-1] == "2 tables: none with findings that fail"
    three = [outcome(), outcome(bad), Outcome("u", unreadable="there is no table")]
    assert list(as_text(three, plain))[-1] == "3 tables: 1 with findings that fail, 1 not checked to the end"
