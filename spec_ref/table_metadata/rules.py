"""What a rule over several fields of table metadata is.

A rule is a small function that finds where the metadata breaks it, with a code and a question answered: whether a
reader must refuse. A reader must refuse what leaves open which data the table has: an id that resolves to nothing, or
to two things, on the way from the table to its rows. What breaks only a writer's duty is something that reading passes
over; how bad it is, the registry says (`spec_ref.checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from spec_ref.checks import registry
from spec_ref.errors import NOT_GIVEN, SpecError, Violation, shown
from spec_ref.findings import Severity
from spec_ref.requirements import check_id
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.versions import V1, FormatVersion


@attrs.frozen
class Place:
    """Where a rule is broken, and by what."""

    path: str
    """A JSON pointer."""

    found: Any = NOT_GIVEN
    expected: str | None = None


Found: TypeAlias = Iterable[Place | Violation]


@attrs.frozen
class Rule:
    """A rule over several fields of table metadata."""

    requirement: str
    message: str
    """What is wrong where it is broken, unless the place tells it itself."""

    reads: tuple[str, ...]
    """The attributes that it looks at; it is not asked where one of them could not be read."""

    find: Callable[[TableMetadata], Found]
    refused: bool = False
    """Whether a reader must refuse metadata that breaks it."""

    since: FormatVersion = V1
    """The first format version that has the rule."""

    aspect: str = ""
    """What of the requirement is broken, as in `Violation`."""

    @property
    def severity(self) -> Severity:
        """How bad it is to break the rule."""
        check = registry().get(check_id(self.requirement, self.aspect))
        return Severity.ERROR if check is None else check.severity

    def violations(self, metadata: TableMetadata) -> Iterator[Violation]:
        """Where the metadata breaks the rule."""
        for place in self.find(metadata) if metadata.format_version.includes(self.since) else ():
            if isinstance(place, Violation):
                yield attrs.evolve(place, format_version=metadata.format_version)
            else:
                yield self._violation(place, metadata.format_version)

    def _violation(self, place: Place, version: FormatVersion) -> Violation:
        return Violation(
            requirement=self.requirement,
            message=self.message,
            aspect=self.aspect,
            path=place.path,
            found=None if place.found is NOT_GIVEN else shown(place.found),
            expected=place.expected,
            format_version=version,
        )


def under(path: str, problem: SpecError | Violation) -> Violation:
    """A problem that another module told, with the path from the root."""
    told = problem.violation if isinstance(problem, SpecError) else problem
    return attrs.evolve(told, path=path + told.path)


def repeated(ids: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """The places whose id stood at an earlier place, with that first place."""
    if len(set(ids)) == len(ids):
        return
    first: dict[Any, int] = {}
    for place, found in enumerate(ids):
        if first.setdefault(found, place) != place:
            yield place, first[found]
