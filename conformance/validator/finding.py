"""Short ways to make findings: how bad they are is what the registry says of their check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from conformance.rules import registry
from spec_ref import checks
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import NOT_GIVEN, Violation, abbreviated_repr


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
    aspect: str = "",
) -> Finding:
    """A finding at one place; the check is that of the requirement and the aspect of it."""
    told = None if found is NOT_GIVEN else repr(found.name) if isinstance(found, InFull) else abbreviated_repr(found)
    return rated(
        Violation(requirement=code, message=message, aspect=aspect, path=path, found=told, expected=expected, file=file)
    )


def of(problem: Violation, *, file: str, under: str = "") -> Finding:
    """A violation of one file as a finding."""
    return rated(attrs.evolve(problem, file=file, path=under + problem.path))


def all_of(problems: Iterable[Violation], *, file: str, under: str = "") -> Iterator[Finding]:
    """Violations of one file."""
    return (of(problem, file=file, under=under) for problem in problems)


def rated(problem: Violation) -> Finding:
    """A violation with the severity of its check; what the registry does not have, a reader refuses: an error."""
    return checks.to_finding(problem, registry())
