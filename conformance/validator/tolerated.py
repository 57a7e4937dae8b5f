"""Violations that known engines write and readers accept, with evidence (`tolerated.toml`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
import rtoml

from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.records import evolve


@attrs.frozen
class Tolerance:
    """A violation that is tolerated: a check, and patterns of the path and of the value that was found."""

    check: str
    path: re.Pattern[str]
    found: re.Pattern[str]
    evidence: str
    otherwise: str
    """Who is affected if nothing is done."""

    def matches(self, finding: Finding) -> bool:
        """Return whether a finding is this violation."""
        place = finding.violation
        return (
            finding.check == self.check
            and self.path.fullmatch(place.path) is not None
            and self.found.fullmatch(place.found or "") is not None
        )


@functools.cache
def tolerances() -> tuple[Tolerance, ...]:
    """Return all tolerances."""
    text = Path(__file__).with_name("tolerated.toml").read_text(encoding="utf-8")
    rows = rtoml.loads(text)["tolerated"]
    return tuple(
        Tolerance(
            row["check"],
            re.compile(row["path"]),
            re.compile(row["found"]),
            " ".join(row["evidence"].split()),
            row["otherwise"],
        )
        for row in rows
    )


def find_tolerated(finding: Finding) -> Tolerance | None:
    """Return the tolerance that a finding matches; None if it is not tolerated."""
    return next((one for one in tolerances() if one.matches(finding)), None)


def tolerate(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield all findings; those that are tolerated have the severity ``tolerated``, and the evidence as advice."""
    for finding in findings:
        cause = find_tolerated(finding)
        if finding.severity in (Severity.ERROR, Severity.WARNING) and cause is not None:
            yield evolve(finding, severity=Severity.TOLERATED, advice=f"No change is needed: {cause.evidence}")
        else:
            yield finding
