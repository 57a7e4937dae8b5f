"""The registry of checks; nothing depends on the text of a message."""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from conformance import rules
from conformance.cli.explain import find_requirement
from conformance.core.failures import UsageError
from conformance.reports import validation as rendering
from conformance.reports.validation import ValidationResult
from conformance.rules import registry
from conformance.rules.old_messages import check_by_message
from conformance.validator.context import Level
from conformance.validator.finding import finding
from conformance.validator.finding_filter import finding_filter
from conformance.validator.run import SnapshotSelection, TableReport
from conformance.vectors.golden_tables import materialize
from spec_ref import checks
from spec_ref.checks import Check
from spec_ref.checks.findings import Finding, Severity, Tally
from spec_ref.core.errors import Violation
from spec_ref.requirements import check_id, register
from tests.validate import corruptions
from tools.grid.workbench import Workbench

SOURCES = Path(__file__).parents[2]
KIT = {one.id: one for one in corruptions.load()}
SAMPLE = tuple(
    KIT[name]
    for name in sorted(KIT)
    if name.startswith(("DFL020", "DFL005", "MLS004", "MLS021", "MAN017", "PAR001", "SNP011", "PQT007", "TYP002"))
)
"""Corruptions whose findings are distinguished by more than their requirements, at every level."""


def test_ids_are_lower_case_words_with_hyphens_and_severities_have_reasons() -> None:
    for check in registry().values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.id), check.id
        assert (check.reason is None) == (check.severity is checks.requirement_severity(check.requirement)), check.id
        assert check.reason is None or check.reason.endswith("."), check.id
        assert set(check.requirements) <= set(register())
        assert check.id == check_id(check.requirement, check.aspect)


@pytest.mark.parametrize(
    ("code", "aspect", "check", "before"),
    [
        ("SNP018", "", "snapshot-operation-append", "SNP013"),
        ("EVO019", "required-again", "evolution-delete-field-required-again", "EVO011"),
        ("DEL026", "lost-positions", "one-deletion-vector-per-file-lost-positions", "DEL003"),
        ("MLS025", "of-no-value", "field-summary-lower-bound-of-no-value", "MLS021"),
        ("MLS026", "of-no-value", "field-summary-upper-bound-of-no-value", "MLS022"),
    ],
)
def test_a_check_of_a_requirement_that_was_split_keeps_its_id(code: str, aspect: str, check: str, before: str) -> None:
    found = finding(code, "any", file="f", aspect=aspect)
    assert (found.check, registry()[check].requirements) == (check, (code,))
    for name in (check, code, before):
        assert finding_filter((name,), (), "error", None).selects(found), name
        assert not finding_filter((), (name,), "error", None).selects(found), name


def test_retired_ids_are_of_no_check_and_may_still_be_selected() -> None:
    assert rules.retired_check_ids().keys() & registry().keys() == set()
    assert all(reason.endswith(".") for reason in rules.retired_check_ids().values())
    with pytest.raises(UsageError, match="is retired"):
        find_requirement("data-file-content-null")
    assert finding_filter(("sort-order-parts",), ("data-file-content-null",), "error", None).select == (
        "sort-order-parts",
    )


def test_every_aspect_of_the_registry_is_one_that_the_sources_check() -> None:
    named = set()
    for folder in ("spec_ref", "conformance/validator"):
        for path in (SOURCES / folder).rglob("*.py"):
            named |= set(re.findall(r'"([a-z0-9-]+)"', path.read_text(encoding="utf-8")))
    assert {check.aspect for check in registry().values()} - named - {""} == set()


MAKERS = {"finding", "changed", "MetadataRule", "finding_at", "violation_at", "_violation"}
"""What makes a finding of a code, a message and perhaps an aspect."""


def made() -> Iterator[tuple[str, str, str]]:
    """The codes and aspects that stand in calls which make findings, with the place of the call."""
    rules_of_spec = ("table_metadata/rules_*.py", "manifests/*checks.py", "manifest_lists/checks.py")
    files = [*(SOURCES / "conformance/validator").glob("*.py")]
    files += [path for pattern in rules_of_spec for path in (SOURCES / "spec_ref").glob(pattern)]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS and node.args:
                aspect = next((one.value for one in node.keywords if one.arg == "aspect"), ast.Constant(""))
                code = node.args[0]
                message = node.args[1] if len(node.args) > 1 else None
                if node.func.id == "MetadataRule" and isinstance(message, ast.Constant) and message.value is None:
                    continue  # what the rule finds has other codes
                if isinstance(code, ast.Constant) and isinstance(aspect, ast.Constant):
                    yield str(code.value), str(aspect.value), f"{path.name}:{node.lineno}"


def test_every_check_of_the_sources_is_in_the_registry() -> None:
    found = list(made())
    assert found
    assert [one for one in found if check_id(*one[:2]) not in registry()] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            'checks = [{ id = "other", code = "MLS004", scope = "file" }]',
            "not begin with manifest-file-manifest-length",
        ),
        ('checks = [{ id = "manifest-file-manifest-length", code = "MLS004", scope = "all" }]', "has the scope all"),
        ('checks = []\nunlike = [{ checks = ["x"], severity = "info", reason = "R." }]', "checks that do not exist: x"),
        (
            """
            checks = [{ id = "manifest-file-manifest-length", code = "MLS004", scope = "file" }]
            unlike = [{ checks = ["manifest-file-manifest-length"], severity = "error", reason = "R." }]
            """,
            "with the severity of its requirement",
        ),
    ],
)
def test_a_row_that_is_wrong_is_refused(text: str, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        checks.parse_checks(text, "files")


def test_a_check_may_have_further_requirements_which_its_findings_name(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'checks = [{ id = "manifest-file-manifest-length", code = "MLS004", scope = "file", also = ["MLS003"] }]'
    (check,) = checks.parse_checks(text, "manifests")
    assert check == Check(check.id, ("MLS004", "MLS003"), "", "manifests", "file", Severity.ERROR)
    monkeypatch.setattr(rules, "registry", lambda: {check.id: check})
    found = rendering.finding_json(finding("MLS004", "any", file="f"))
    assert (found["check"], found["code"], found["requirements"]) == (check.id, "MLS004", ["MLS004", "MLS003"])


# Messages


@pytest.fixture
def reworded(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """Every message says something else each time that it is made or copied."""
    draw = random.Random(20_260)
    made: Callable[..., None] = Violation.__init__

    def init(self: Violation, **members: Any) -> None:
        made(self, **{**members, "message": f"{draw.getrandbits(64):x}"})

    monkeypatch.setattr(Violation, "__init__", init)
    return draw


def validate_corruption(one: corruptions.Corruption, folder: Path) -> TableReport:
    """What is found in a table that is broken in one way."""
    folder.mkdir()
    bench = Workbench(one.table, folder)
    one.mutate(bench)
    report = bench.validate(Level(one.level), SnapshotSelection(one.snapshots))
    assert isinstance(report, TableReport)
    return attrs.evolve(report, location="file:/t")


def identities(report: TableReport) -> list[Any]:
    """All of the findings but what they say, and where the table is."""
    return [
        (
            one.check,
            one.severity,
            one.count,
            one.writer,
            one.advice,
            [(place.path, place.expected is None) for place in one.places],
        )
        for one in report.findings
    ]


@pytest.mark.parametrize("one", SAMPLE, ids=lambda one: one.id)
def test_nothing_changes_when_every_message_is_reworded(
    one: corruptions.Corruption, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    materialize([one.table])
    plain = validate_corruption(one, tmp_path / "plain")
    request.getfixturevalue("reworded")
    other = validate_corruption(one, tmp_path / "other")
    assert identities(other) == identities(plain)
    assert {place.message for one in other.findings for place in one.places}.isdisjoint(
        place.message for one in plain.findings for place in one.places
    )
    known = tmp_path / "known.json"
    known.write_text(rendering.as_json([ValidationResult("file:/t", plain)]), encoding="utf-8")
    left, accepted = finding_filter((), (), "error", known).apply(other)
    assert (left.findings, len(accepted)) == ((), len(plain.findings))


def test_messages_do_not_part_what_one_check_finds(reworded: random.Random) -> None:
    found = [finding("MLS004", "any", file=f"f{number}", aspect="mismatch") for number in range(9)]
    (one,) = Tally(found).findings()
    assert (one.count, len(one.places)) == (9, 5)
    reported = rendering.finding_json(one)
    assert [place.get("message", one.violation.message) for place in reported["examples"]] == [
        place.message for place in one.places
    ]


# Names of checks


def accepted(findings: list[Finding], *select: str, ignore: tuple[str, ...] = ()) -> list[str]:
    report = TableReport("file:/t", "file:/t/m", Level.FILES, tuple(findings), tuple(findings))
    found, _ = finding_filter(select, ignore, "error", None).apply(report)
    return [one.check for one in found.findings]


def test_checks_are_selected_and_ignored_by_their_ids() -> None:
    length, count = "manifest-file-manifest-length-mismatch", "data-file-record-count-mismatch"
    found = [finding(code, "any", file="f", aspect="mismatch") for code in ("MLS004", "DFL005")]
    assert accepted(found, length) == [length]
    assert accepted(found, f"{length.upper()},DFL") == [length, count]
    assert accepted(found, ignore=(count, "SNP")) == [length]
    assert accepted(found, "MLS004") == [length]
    both = [finding("DFL001", "any", file="f", aspect="deletes-in-v1"), *found]
    assert accepted(both, "DEL001") == ["data-file-content-deletes-in-v1"]
    assert accepted(both, ignore=("UPG",)) == [length, count]
    with pytest.raises(UsageError, match="not a check, the code of a requirement"):
        finding_filter(("manifest-file-manifest",), (), "error", None)


# Reports of the version before


@pytest.mark.parametrize(
    ("code", "message", "severity", "check"),
    [
        ("MLS004", "the length is another", "error", "manifest-file-manifest-length-mismatch"),
        ("MAN006", "the header has no schema-id", "warning", "manifest-property-schema-id-missing"),
        ("DFL002", "the file cannot be read: there is no such file", "error", "data-file-file-path-unreadable"),
        (
            "DFL013",
            "the null_value_counts are not those of the rows",
            "error",
            "data-file-null-value-counts-row-mismatch",
        ),
        (
            "DFL013",
            "the null_value_counts are not those of the rows",
            "tolerated",
            "data-file-null-value-counts-row-mismatch-in-nested-orc",
        ),
        ("SNP007", "summary is missing", "warning", "snapshot-summary-left-out"),
        ("TMD002", "table-uuid is missing", "error", "metadata-table-uuid-missing"),
        ("VER005", "the version has no refs in table metadata", "warning", check_id("VER005")),
        ("TMD018", "a sentence that no version had", "warning", check_id("TMD018")),
        ("XYZ001", "of a requirement that there is not", "error", "XYZ001"),
    ],
)
def test_messages_of_the_version_before_lead_to_checks(code: str, message: str, severity: str, check: str) -> None:
    assert check_by_message(code, message, severity) == check


def test_a_baseline_of_the_version_before_is_still_one(tmp_path: Path) -> None:
    old = {"code": "DFL005", "severity": "error", "message": "the number of rows is another", "count": 2}
    known = tmp_path / "known.json"
    known.write_text(json.dumps({"tables": [{"location": "file:/t", "findings": [old]}]}), encoding="utf-8")
    places = [finding("DFL005", "another sentence", file=f"f{number}", aspect="mismatch") for number in range(3)]
    other = finding("DFL005", "another sentence", file="f", aspect="negative")
    for count, left in ((2, 0), (3, 1)):
        found = Tally([*places[:count], other]).findings()
        report = TableReport("file:/t", "file:/t/m", Level.FILES, found, found)
        reported, _ = finding_filter((), (), "error", known).apply(report)
        assert [one.check for one in reported.findings if one.violation.aspect == "mismatch"] == (
            ["data-file-record-count-mismatch"] * left
        )
        assert [one.check for one in reported.findings if one.violation.aspect == "negative"] == [other.check]


def test_reports_name_the_check(tmp_path: Path) -> None:
    one = finding("MLS004", "any", file="f", aspect="mismatch")
    outcome = ValidationResult("file:/t", TableReport("file:/t", "file:/t/m", Level.FILES, (one,), (one,)))
    for text in (
        rendering.as_json([outcome]),
        rendering.as_lines([outcome]),
        rendering.as_junit([outcome]),
        rendering.as_sarif([outcome]),
    ):
        assert "manifest-file-manifest-length-mismatch" in text
