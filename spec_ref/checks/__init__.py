"""The registry of checks of metadata, manifests and files, each with a stable id, requirements, a level and a severity.

A check is one way in which a table can break a requirement. Its id is the slug of the requirement (or of the one
that it was split from), followed by the aspect that is checked if there are several
(`spec_ref.requirements.check_id`); an id never changes its meaning. If a rule has a definition and a fast form, both
are one check. The registry is data, a TOML file for each level. The severity of a finding follows from the
requirement: a broken must is an error, a broken should is a warning; a row with another severity has a reason.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import rtoml

from spec_ref.checks.findings import Finding, Severity
from spec_ref.core.errors import Violation
from spec_ref.requirements import RequirementLevel, check_id, check_slug, register

LEVELS = ("metadata", "manifests", "files", "rows", "diff")
"""What a check reads, from the metadata file to the rows; checks of ``diff`` compare two versions of one table."""

SCOPES = ("field", "document", "file", "several files")
"""The parts of a table that a check reads together."""

_SEVERITIES = {
    RequirementLevel.MUST: Severity.ERROR,
    RequirementLevel.SHOULD: Severity.WARNING,
    RequirementLevel.MAY: Severity.INFO,
}


@attrs.frozen
class Check:
    """One way in which a table can break a requirement."""

    id: str
    """Lower-case words with hyphens; it never changes its meaning."""

    requirements: tuple[str, ...]
    """The codes; findings have the first one."""

    aspect: str
    """The part of the first requirement that is checked; empty for the only or the main way to break it."""

    level: str
    """One of `LEVELS`."""

    scope: str
    """One of `SCOPES`."""

    severity: Severity
    reason: str | None = None
    """Why the severity differs from that of the requirement."""

    @property
    def requirement(self) -> str:
        """The code of the check's findings: the first of `requirements`."""
        return self.requirements[0]


def requirement_severity(requirement: str) -> Severity:
    """Find the severity of breaking a requirement, for checks without a separate severity.

    Args:
        requirement: a code of the register.

    Returns:
        The severity.
    """
    return _SEVERITIES[register()[requirement].level]


@functools.cache
def registry() -> Mapping[str, Check]:
    """Return the checks of this package by id: level by level, in the order of the files."""
    return load_checks(Path(__file__).parent)


def load_checks(folder: Path) -> Mapping[str, Check]:
    """Load the checks of a folder.

    Args:
        folder: a folder with a file ``LEVEL.toml`` for some of the `LEVELS`.

    Returns:
        The checks by id, level by level, in the order of the files.

    Raises:
        AssertionError: as `parse_checks`, or if two checks have one id.
    """
    found: dict[str, Check] = {}
    for level in LEVELS:
        file = folder / f"{level}.toml"
        for check in parse_checks(file.read_text(encoding="utf-8"), level) if file.is_file() else ():
            if check.id in found:
                raise AssertionError(f"two checks have the id {check.id}")
            found[check.id] = check
    return found


def parse_checks(text: str, level: str) -> tuple[Check, ...]:
    """Parse the checks of one level.

    Args:
        text: a TOML document: ``checks``, a list of tables of ``id``, ``code``, ``scope`` and optionally ``also``,
            further codes; and ``unlike``, which gives checks (by their ids) another ``severity`` and the reason.
        level: one of `LEVELS`.

    Returns:
        The checks.

    Raises:
        AssertionError: if the id of a check does not fit its code, its scope is unknown, or a severity has no reason.
    """
    document = rtoml.loads(text)
    unlike: dict[str, dict[str, Any]] = {}
    for row in document.get("unlike", ()):
        for name in row["checks"]:
            if name in unlike:
                raise AssertionError(f"`unlike` lists the check {name} twice")
            unlike[name] = row
    made = tuple(_check(row, level, unlike.pop(row["id"], None)) for row in document["checks"])
    if unlike:
        raise AssertionError(f"`unlike` lists checks that do not exist: {', '.join(unlike)}")
    return made


def _check(row: Mapping[str, Any], level: str, unlike: Mapping[str, Any] | None) -> Check:
    code, name = row["code"], row["id"]
    slug = check_slug(code)
    aspect = name.removeprefix(slug).removeprefix("-")
    if check_id(code, aspect) != name:
        raise AssertionError(f"the id {name} of a check of {code} does not begin with {slug}")
    if row["scope"] not in SCOPES:
        raise AssertionError(f"the check {name} has the scope {row['scope']}, which is unknown")
    severity = requirement_severity(code) if unlike is None else Severity(unlike["severity"])
    reason = None if unlike is None else " ".join(unlike["reason"].split())
    if reason is not None and severity is requirement_severity(code):
        raise AssertionError(f"`unlike` lists the check {name} with the severity of its requirement")
    return Check(name, (code, *row.get("also", ())), aspect, level, row["scope"], severity, reason)


def to_finding(problem: Violation, checks: Mapping[str, Check] | None = None) -> Finding:
    """Make the finding of a violation, with the severity of its check.

    Args:
        problem: the violation.
        checks: the registry; that of this package by default. A violation without a check is something that a reader
            refuses, and so an error.

    Returns:
        The finding.
    """
    check = (registry() if checks is None else checks).get(check_id(problem.requirement, problem.aspect))
    return Finding(problem, Severity.ERROR if check is None else check.severity)
