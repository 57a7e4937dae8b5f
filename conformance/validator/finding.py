"""Functions that make findings with the severity that the registry gives to their check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from conformance.rules import registry
from spec_ref import checks
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import NOT_GIVEN, Violation, abbreviated_repr, numeric_difference


@attrs.frozen
class Unabbreviated:
    """A value that is never abbreviated: the name of a file that a user has to find."""

    name: str


def finding(
    code: str,
    message: str,
    *,
    file: str,
    path: str = "",
    found: object = NOT_GIVEN,
    expected: str | int | None = None,
    aspect: str = "",
) -> Finding:
    """Make a finding at one place; the requirement and the aspect identify the check.

    What is expected is described in words, or is the right number.
    """
    shown = (
        None
        if found is NOT_GIVEN
        else repr(found.name)
        if isinstance(found, Unabbreviated)
        else abbreviated_repr(found)
    )
    return with_severity(
        Violation(
            requirement=code,
            message=message,
            aspect=aspect,
            path=path,
            found=shown,
            expected=None if expected is None else str(expected),
            difference=numeric_difference(found, expected),
            file=file,
        )
    )


def from_violation(problem: Violation, *, file: str, under: str = "") -> Finding:
    """Make a finding from a violation in a file."""
    return with_severity(attrs.evolve(problem, file=file, path=under + problem.path))


def from_violations(problems: Iterable[Violation], *, file: str, under: str = "") -> Iterator[Finding]:
    """Make findings from violations in a file."""
    return (from_violation(problem, file=file, under=under) for problem in problems)


def with_severity(problem: Violation) -> Finding:
    """Make a finding with the severity of its check; a violation that no check names is an error: readers refuse it."""
    return checks.to_finding(problem, registry())
