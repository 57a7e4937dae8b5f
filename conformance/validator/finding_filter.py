"""Filters on findings: selection by code or check, the severity that fails, and accepted findings (a baseline)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from conformance.core.failures import UsageError
from conformance.core.json_text import pointer_prefix, shorten
from conformance.core.lazy_imports import lazy_imports
from conformance.rules import find_check, registry, retired_check_ids, with_former_codes
from conformance.rules.old_messages import check_by_message
from conformance.validator.one_cause import split_consequences
from conformance.validator.run import TableReport
from conformance.validator.table_root import normalize_location
from spec_ref.checks.findings import Finding, Severity
from spec_ref.requirements import register

with lazy_imports():
    import jsonschema_rs  # only for a baseline

NEVER = "never"

UNREAD = frozenset({"SNP005", "MLS002", "MLS003", "MAN001"})
"""Requirements that an unreadable list or manifest breaks: always reported, as nothing below it was checked."""


@attrs.frozen
class FindingFilter:
    """Which findings are reported, and which of them fail."""

    select: tuple[str, ...] = ()
    """Codes, starts of codes, and ids of checks; empty for all. `UNREAD` is always reported."""

    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    """The lowest severity that fails; None if nothing fails."""

    baseline: Mapping[tuple[str, str], int] = attrs.field(factory=dict)
    """The number of accepted findings by table and check."""

    def apply(self, report: TableReport) -> tuple[TableReport, tuple[Finding, ...]]:
        """Split the findings of a report.

        Returns:
            The report with the selected findings that the baseline does not accept, and the accepted findings.
            A finding that follows only from findings that are not selected is reported, too.
        """
        reported: list[Finding] = []
        accepted: list[Finding] = []
        table = _table(report.location)
        counts: Counter[str] = Counter()
        selected, consequences = split_consequences(filter(self.selects, report.all_findings))
        for finding in selected:
            counts[finding.check] += finding.count
        for finding in selected:
            known = self.baseline.get((table, finding.check), 0)
            (accepted if counts[finding.check] <= known else reported).append(finding)
        return attrs.evolve(report, findings=tuple(reported), consequences=consequences), tuple(accepted)

    def selects(self, finding: Finding) -> bool:
        """Return whether a finding is selected, and not ignored."""
        unread = finding.requirement in UNREAD and finding.severity is Severity.ERROR
        asked = not self.select or unread or _is_named(finding, self.select)
        return asked and not _is_named(finding, self.ignore)

    def fails(self, report: TableReport) -> bool:
        """Return whether a report that `apply` returned has a finding that fails."""
        return any(is_failure(finding.severity, self.fail_on) for finding in report.findings)


def is_failure(severity: Severity, fail_on: Severity | None) -> bool:
    """Return whether a finding fails; tolerated findings fail only if ``fail_on`` is ``TOLERATED``.

    Args:
        severity: the severity of the finding.
        fail_on: the lowest severity that fails; None if nothing fails.
    """
    if fail_on is None or severity is Severity.TOLERATED:
        return severity is fail_on
    return severity.rank <= fail_on.rank


def _is_named(finding: Finding, names: tuple[str, ...]) -> bool:
    """Return whether one of the names is the finding's check, one of its codes, or the start of one."""
    if not names:
        return False
    check = find_check(finding.violation)
    codes = with_former_codes((finding.requirement,) if check is None else check.requirements)
    return finding.check in names or any(code.startswith(names) for code in codes)


def _table(location: str) -> str:
    """Normalize the location of a table, so that a baseline applies to every spelling of the location."""
    place = normalize_location(location)
    return location if isinstance(place, str) else "|".join((place.scheme, place.authority, place.path.rstrip("/")))


def finding_filter(select: Sequence[str], ignore: Sequence[str], fail_on: str, baseline: Path | None) -> FindingFilter:
    """Make the filter that options describe.

    Raises:
        UsageError: a name is not a check, a code or the start of one, or the baseline is not a report.
    """
    severity = None if fail_on == NEVER else Severity(fail_on)
    return FindingFilter(
        _names("--select", select), _names("--ignore", ignore), severity, {} if baseline is None else _read(baseline)
    )


def _names(option: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Return ids of checks in lower case, codes and starts of codes in upper case."""
    found = []
    names = [name for text in asked for name in text.split(",") if name]
    if asked and not names:
        raise UsageError(f"{option}: names nothing; expected checks, codes of requirements, or starts of codes")
    for name in names:
        if name.lower() in registry() or name.lower() in retired_check_ids():
            found.append(name.lower())
        elif any(code.startswith(name.upper()) for code in register()):
            found.append(name.upper())
        else:
            raise UsageError(f"{option} {name}: not a check, the code of a requirement, or the start of one")
    return tuple(found)


@cache
def _schema() -> jsonschema_rs.Validator:
    text = (Path(__file__).parents[1] / "schemas" / "baseline.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def _read(path: Path) -> dict[tuple[str, str], int]:
    known: dict[tuple[str, str], int] = {}
    for table in _read_report(path)["tables"]:
        counted: Counter[str] = Counter()
        for finding in (*table["findings"], *table.get("accepted", ())):
            counted[_check(finding)] += int(finding["count"])
        for check, count in counted.items():
            key = _table(table["location"]), check
            known[key] = max(known.get(key, 0), count)
    return known


def _read_report(path: Path) -> Any:
    not_a_report = f"--baseline {path}: not a report of validate --format json"
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"--baseline {path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{not_a_report}: {error}") from None
    wrong = next(iter(_schema().iter_errors(document)), None)
    if wrong is not None:
        raise UsageError(f"{not_a_report}: {pointer_prefix(wrong.instance_path)}{shorten(wrong.message)}")
    return document


def _check(finding: Mapping[str, Any]) -> str:
    """Return the check of a finding in a report; findings of the previous version have a message instead."""
    check: str | None = finding.get("check")
    if check is not None:
        return check
    return check_by_message(finding["code"], finding["message"], finding.get("severity"))
