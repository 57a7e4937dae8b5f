"""Findings of checks: a broken requirement, its severity, and how often and by which writer it was broken.

Checks of metadata files, manifest lists, manifests, data files and whole tables all report these. A check of one file
reports each place; `Tally` adds up the findings of many files, in any order, to one for each cause.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

import attrs

from spec_ref.core.errors import Violation
from spec_ref.core.records import evolve, record
from spec_ref.requirements import check_id

MAX_EXAMPLES = 5
"""How many places of one cause are reported."""


class Severity(enum.Enum):
    """The severity of a finding, the worst first."""

    ERROR = "error"
    """A requirement is broken."""

    TOLERATED = "tolerated"
    """A requirement is broken, but the reference implementation breaks it too and readers tolerate it."""

    WARNING = "warning"
    """The spec advises against what was found, or readers are known to fail on it."""

    INFO = "info"
    """A fact that is worth knowing; nothing is wrong."""

    @property
    def rank(self) -> int:
        """The position in the order of severities; 0 for the worst."""
        return list(Severity).index(self)


@record
class Finding:
    """One problem, at one place or, after `Tally`, at several."""

    violation: Violation
    """The requirement, and the first place in the order of files and paths."""

    severity: Severity
    count: int = 1
    """The number of places."""

    examples: tuple[Violation, ...] = ()
    """The first places, including `violation`; empty if there is only that one."""

    writer: str | None = None
    """The implementation that probably wrote the file, judged by its contents; the file may have been damaged since."""

    advice: str | None = None
    """What to do about it."""

    follows: tuple[str, ...] = ()
    """The checks whose findings imply this one; it is left out if all of them are reported."""

    @property
    def requirement(self) -> str:
        """The code of the broken requirement."""
        return self.violation.requirement

    @property
    def check(self) -> str:
        """The id of the check that found it (`spec_ref.requirements.check_id`)."""
        return check_id(self.violation.requirement, self.violation.aspect)

    @property
    def path(self) -> str:
        """The JSON pointer, or the entry and field, of the place."""
        return self.violation.path

    @property
    def cause(self) -> tuple[str, ...]:
        """The identity of the cause: severity, requirement, aspect and writer, and the checks that it follows from."""
        return self.severity.value, self.requirement, self.violation.aspect, self.writer or "", *self.follows

    @property
    def places(self) -> tuple[Violation, ...]:
        """The reported places."""
        return self.examples or (self.violation,)

    def __str__(self) -> str:
        return f"{self.severity.value}: {self.violation}"


class Tally:
    """Findings added up by cause. The result depends neither on the order nor on the grouping of the added findings."""

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self._causes: dict[tuple[str, ...], tuple[Finding, int, list[Violation]]] = {}
        self.add(findings)

    def add(self, findings: Iterable[Finding]) -> Tally:
        """Add findings, which may come from another tally.

        Args:
            findings: the findings.

        Returns:
            This tally.
        """
        for finding in findings:
            cause = finding.cause
            first, count, places = self._causes.get(cause, (finding, 0, []))
            kept = places if len(places) < MAX_EXAMPLES or _order(finding.places[0]) < _order(places[-1]) else None
            if kept is not None:
                places = sorted([*places, *finding.places], key=_order)[:MAX_EXAMPLES]
            self._causes[cause] = (first, count + finding.count, places)
        return self

    def findings(self) -> tuple[Finding, ...]:
        """Return one finding for each cause: the worst first, then by code, aspect and writer."""
        made = []
        for cause in sorted(self._causes, key=lambda cause: (Severity(cause[0]).rank, *cause[1:])):
            first, count, places = self._causes[cause]
            examples = tuple(places) if count > 1 else ()
            made.append(evolve(first, violation=places[0], count=count, examples=examples))
        return tuple(made)

    def __len__(self) -> int:
        return len(self._causes)


def _order(place: Violation) -> tuple[object, ...]:
    """Make the key that sorts places: by the name of the file, then by the path, whose numbers compare as numbers."""
    parts = tuple(
        (0, int(part), "") if part.isdecimal() and len(part) < 19 else (1, 0, part) for part in place.path.split("/")
    )
    return place.file or "", parts, place.found or "", place.expected or ""


def with_file(finding: Finding, file: str | None) -> Finding:
    """Set the file of a finding and of all its places.

    Args:
        finding: the finding.
        file: the name or location of the file; None for no file.

    Returns:
        The finding with the file.
    """
    violation, *examples = (attrs.evolve(place, file=file) for place in (finding.violation, *finding.examples))
    return evolve(finding, violation=violation, examples=tuple(examples))
