"""The registry of checks: what `validate` can find, each with a stable id, requirements, a level and a severity.

A check is one way in which a table can break a requirement. Its id is the slug of the requirement, with what of it is
checked behind it where there are several (`spec_ref.requirements.check_id`); an id never changes its meaning. Where a
rule has a definition and a fast form, both are one check. The registry is data, a TOML file for each level. How bad a
finding is follows from the requirement: a broken must is an error, a broken should is a warning; a row that departs
from that has a reason.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

import attrs

from spec_ref.errors import Violation
from spec_ref.findings import Severity
from spec_ref.requirements import Level, Requirement, check_id, register

LEVELS = ("metadata", "manifests", "files", "rows", "diff")
"""How deep a check looks; those of ``diff`` compare two versions of one table."""

SCOPES = ("field", "document", "file", "several files")
"""What a check looks at together."""

_SEVERITIES = {Level.MUST: Severity.ERROR, Level.SHOULD: Severity.WARNING, Level.MAY: Severity.INFO}


@attrs.frozen
class Check:
    """One way in which a table can break a requirement."""

    id: str
    """Lower-case words with hyphens; it never changes its meaning."""

    requirements: tuple[str, ...]
    """The codes; findings name the first."""

    aspect: str
    """What of the first requirement is checked; empty where there is one way to break it, or for the main one."""

    level: str
    """One of `LEVELS`."""

    scope: str
    """One of `SCOPES`."""

    severity: Severity
    reason: str | None = None
    """Why the severity is another one than the requirement's."""

    @property
    def requirement(self) -> str:
        """The code that findings name."""
        return self.requirements[0]


def severity_of(requirement: str) -> Severity:
    """How bad it is to break a requirement, where no check says otherwise."""
    return _SEVERITIES[register()[requirement].level]


@functools.cache
def registry() -> Mapping[str, Check]:
    """All checks by id: level by level, in the order of the files."""
    found: dict[str, Check] = {}
    for level in LEVELS:
        text = resources.files(__package__).joinpath(f"{level}.toml").read_text(encoding="utf-8")
        for check in parse(text, level):
            if check.id in found:
                raise AssertionError(f"the registry has the check {check.id} twice")
            found[check.id] = check
    return found


def parse(text: str, level: str) -> tuple[Check, ...]:
    """The checks of one level.

    Args:
        text: a TOML document: ``checks``, a list of tables of ``id``, ``code``, ``scope`` and perhaps ``also``, further
            codes; and ``unlike``, which says of checks (by their ids) that they have another ``severity`` and why.
        level: one of `LEVELS`.

    Raises:
        AssertionError: a check has no id that fits its code, or a severity has no reason.
    """
    document = tomllib.loads(text)
    unlike: dict[str, dict[str, Any]] = {}
    for row in document.get("unlike", ()):
        for name in row["checks"]:
            if name in unlike:
                raise AssertionError(f"the check {name} has another severity twice")
            unlike[name] = row
    made = tuple(_check(row, level, unlike.pop(row["id"], None)) for row in document["checks"])
    if unlike:
        raise AssertionError(f"there are no such checks: {', '.join(unlike)}")
    return made


def _check(row: Mapping[str, Any], level: str, unlike: Mapping[str, Any] | None) -> Check:
    code, name = row["code"], row["id"]
    aspect = name.removeprefix(register()[code].slug).removeprefix("-")
    if check_id(code, aspect) != name:
        raise AssertionError(f"the id of a check of {code} begins with {register()[code].slug}, unlike {name}")
    if row["scope"] not in SCOPES:
        raise AssertionError(f"{name} has the scope {row['scope']}")
    severity = severity_of(code) if unlike is None else Severity(unlike["severity"])
    reason = None if unlike is None else " ".join(unlike["reason"].split())
    if reason is not None and severity is severity_of(code):
        raise AssertionError(f"{name} has a reason for the severity that its requirement has")
    return Check(name, (code, *row.get("also", ())), aspect, level, row["scope"], severity, reason)


def check_of(violation: Violation) -> Check | None:
    """The check that found a violation; None where the registry has none, as of what no table can show."""
    return registry().get(check_id(violation.requirement, violation.aspect))


def checks_of(rule: Requirement) -> tuple[Check, ...]:
    """The checks that find a requirement broken."""
    return tuple(check for check in registry().values() if rule.code in check.requirements)
