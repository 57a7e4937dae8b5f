"""Which findings count: selection by code or check, what fails, and findings accepted before (a baseline)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from conformance.core.failures import UsageError
from conformance.rules import check_of, registry, retired
from conformance.rules.old_messages import check_by_message
from conformance.validator.root import place_of
from conformance.validator.run import TableReport
from spec_ref.checks.findings import Finding, Severity
from spec_ref.requirements import register

NEVER = "never"

UNREAD = frozenset({"SNP005", "MLS002", "MLS003", "MAN001"})
"""Lists and manifests that cannot be read: what is selected was not looked at below them, which is told in any case."""


@attrs.frozen
class Acceptance:
    """What is told, and what of it fails."""

    select: tuple[str, ...] = ()
    """Codes, how codes begin, and ids of checks; all where empty. `UNREAD` is told with any."""

    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    """The least severity that fails; None for none."""

    baseline: Mapping[tuple[str, str], int] = attrs.field(factory=dict)
    """How often each check found something before, by table and check."""

    def applied(self, report: TableReport) -> tuple[TableReport, tuple[Finding, ...]]:
        """The report with what is selected and was not accepted before, and what was accepted."""
        told: list[Finding] = []
        accepted: list[Finding] = []
        table = _table(report.location)
        counts: Counter[str] = Counter()
        for finding in report.findings:
            counts[finding.check] += finding.count
        for finding in report.findings:
            unread = finding.requirement in UNREAD and finding.severity is Severity.ERROR
            if self.select and not _is_named(finding, self.select) and not unread:
                continue
            if _is_named(finding, self.ignore):
                continue
            known = self.baseline.get((table, finding.check), 0)
            (accepted if counts[finding.check] <= known else told).append(finding)
        return attrs.evolve(report, findings=tuple(told)), tuple(accepted)

    def fails(self, report: TableReport) -> bool:
        """Whether a report, as `applied` gives it, has a finding that fails."""
        return any(is_failure(finding.severity, self.fail_on) for finding in report.findings)


def is_failure(severity: Severity, fail_on: Severity | None) -> bool:
    """Whether a finding fails; what is tolerated fails only where that is asked for by its name.

    Args:
        severity: that of the finding.
        fail_on: the least severity that fails; None for none.
    """
    if fail_on is None or severity is Severity.TOLERATED:
        return severity is fail_on
    return severity.rank <= fail_on.rank


def _is_named(finding: Finding, names: tuple[str, ...]) -> bool:
    """Whether one of the names is the finding's check, one of its codes, or a beginning of one."""
    if not names:
        return False
    check = check_of(finding.violation)
    codes = (finding.requirement,) if check is None else check.requirements
    return finding.check in names or any(code.startswith(names) for code in codes)


def _table(location: str) -> str:
    """What names of one table have in common, so that a baseline is of the table and not of how it was asked for."""
    place = place_of(location)
    return location if isinstance(place, str) else "|".join((place.scheme, place.authority, place.path.rstrip("/")))


def acceptance(select: Sequence[str], ignore: Sequence[str], fail_on: str, baseline: Path | None) -> Acceptance:
    """What options ask for.

    Raises:
        UsageError: a name is no check, no code, and no beginning of one, or the baseline is no report.
    """
    severity = None if fail_on == NEVER else Severity(fail_on)
    return Acceptance(
        _names("--select", select), _names("--ignore", ignore), severity, {} if baseline is None else _read(baseline)
    )


def _names(option: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Ids of checks in lower case, codes and their beginnings in upper case."""
    found = []
    for name in (name for text in asked for name in text.split(",") if name):
        if name.lower() in registry() or name.lower() in retired():
            found.append(name.lower())
        elif any(code.startswith(name.upper()) for code in register()):
            found.append(name.upper())
        else:
            raise UsageError(f"{option} {name}: no check has this id, no requirement has this code, and none begins so")
    return tuple(found)


def _read(path: Path) -> dict[tuple[str, str], int]:
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        known: dict[tuple[str, str], int] = {}
        for table in document["tables"]:
            counted: Counter[str] = Counter()
            for finding in (*table["findings"], *table.get("accepted", ())):
                counted[_check(finding)] += int(finding["count"])
            for check, count in counted.items():
                key = _table(table["location"]), check
                known[key] = max(known.get(key, 0), count)
        return known
    except OSError as error:
        raise UsageError(f"--baseline {path}: it cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--baseline {path}: this is no report of validate --format json: {error!r}") from None


def _check(finding: Mapping[str, Any]) -> str:
    """The check of a finding in a report; one of the version before has a message in its place."""
    check: str | None = finding.get("check")
    if check is not None:
        return check
    return check_by_message(finding["code"], finding["message"], finding.get("severity"))
