"""Short ways to make findings."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import attrs

from spec_ref.errors import NOT_GIVEN, Violation, shown
from spec_ref.findings import Finding, Severity
from spec_ref.requirements import Level, register


@attrs.frozen
class InFull:
    """A value that is told however long it is: the name of a file that somebody has to look for."""

    name: str


def finding(
    code: str,
    message: str,
    *,
    file: str,
    path: str = "",
    found: object = NOT_GIVEN,
    expected: str | None = None,
    severity: Severity = Severity.ERROR,
) -> Finding:
    """A finding at one place."""
    told = None if found is NOT_GIVEN else repr(found.name) if isinstance(found, InFull) else shown(found)
    return Finding(
        Violation(requirement=code, message=message, path=path, found=told, expected=expected, file=file), severity
    )


def of(problem: Violation, *, file: str, under: str = "", severity: Severity | None = None) -> Finding:
    """A violation as a finding: an error where the requirement is a must, else a warning."""
    placed = attrs.evolve(problem, file=file, path=under + problem.path)
    return Finding(placed, severity or _level(problem.requirement))


def all_of(problems: Iterable[Violation], *, file: str, under: str = "") -> Iterator[Finding]:
    """Violations of one file."""
    return (of(problem, file=file, under=under) for problem in problems)


@functools.cache
def _level(code: str) -> Severity:
    return Severity.ERROR if register()[code].level is Level.MUST else Severity.WARNING
