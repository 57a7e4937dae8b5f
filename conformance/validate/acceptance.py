"""Which findings count: selection by code, what fails, and findings that were accepted before (a baseline)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from conformance.failures import UsageError
from conformance.validate.root import place_of
from conformance.validate.run import TableReport
from spec_ref.findings import Finding, Severity
from spec_ref.requirements import register

NEVER = "never"

UNREAD = frozenset({"SNP005", "MLS002", "MLS003", "MAN001"})
"""Lists and manifests that cannot be read: what is selected was not looked at below them, which is told in any case."""


@attrs.frozen
class Acceptance:
    """What is told, and what of it fails."""

    select: tuple[str, ...] = ()
    """Codes, or how they begin; all where empty. `UNREAD` is told with any."""

    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    """The least severity that fails; None for none."""

    baseline: Mapping[tuple[str, str, str], int] = attrs.field(factory=dict)
    """How often each cause was found before, by table, code and message."""

    def applied(self, report: TableReport) -> tuple[TableReport, tuple[Finding, ...]]:
        """The report with what is selected and was not accepted before, and what was accepted."""
        told: list[Finding] = []
        accepted: list[Finding] = []
        for finding in report.findings:
            unread = finding.requirement in UNREAD and finding.severity is Severity.ERROR
            if self.select and not finding.requirement.startswith(self.select) and not unread:
                continue
            if finding.requirement.startswith(self.ignore) and self.ignore:
                continue
            known = self.baseline.get((_table(report.location), finding.requirement, finding.violation.message), 0)
            (accepted if finding.count <= known else told).append(finding)
        return attrs.evolve(report, findings=tuple(told)), tuple(accepted)

    def fails(self, report: TableReport) -> bool:
        """Whether a report, as `applied` gives it, has a finding that fails."""
        if self.fail_on is None:
            return False
        return any(finding.severity.rank <= self.fail_on.rank for finding in report.findings)


def _table(location: str) -> str:
    """What names of one table have in common, so that a baseline is of the table and not of how it was asked for."""
    place = place_of(location)
    return location if isinstance(place, str) else "|".join((place.scheme, place.authority, place.path.rstrip("/")))


def acceptance(select: Sequence[str], ignore: Sequence[str], fail_on: str, baseline: Path | None) -> Acceptance:
    """What options ask for.

    Raises:
        UsageError: a code is none of the register's and none begins so, or the baseline is no report.
    """
    codes = register()
    select, ignore = ([code for text in codes_ for code in text.split(",") if code] for codes_ in (select, ignore))
    for option, asked in (("--select", select), ("--ignore", ignore)):
        for code in asked:
            if not any(known.startswith(code.upper()) for known in codes):
                raise UsageError(f"{option} {code}: no requirement has this code, and none begins so")
    severity = None if fail_on == NEVER else Severity(fail_on)
    upper = tuple(code.upper() for code in select), tuple(code.upper() for code in ignore)
    return Acceptance(*upper, severity, {} if baseline is None else _read(baseline))


def _read(path: Path) -> dict[tuple[str, str, str], int]:
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        known: dict[tuple[str, str, str], int] = {}
        for table in document["tables"]:
            for finding in (*table["findings"], *table.get("accepted", ())):
                key = _table(table["location"]), finding["code"], finding["message"]
                known[key] = max(known.get(key, 0), int(finding["count"]))
        return known
    except OSError as error:
        raise UsageError(f"--baseline {path}: it cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--baseline {path}: this is no report of validate --format json: {error!r}") from None
