"""The form of a rule over several fields of table metadata.

A rule is a small function that finds the places where the metadata breaks it, with a code and a decision: whether a
reader must refuse the metadata. A reader must refuse metadata that does not determine which data the table has: an id
that resolves to nothing, or to two things, on the way from the table to its rows. A reader ignores what breaks a
requirement for writers only; the registry defines its severity (`spec_ref.checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

from spec_ref.checks import registry
from spec_ref.checks.findings import Severity
from spec_ref.core.errors import NOT_GIVEN, SpecError, Violation, abbreviated_repr
from spec_ref.core.versions import V1, FormatVersion
from spec_ref.requirements import check_id
from spec_ref.table_metadata.metadata import TableMetadata


@attrs.frozen
class BrokenPlace:
    """A place where a rule is broken."""

    path: str
    """A JSON pointer."""

    found: Any = NOT_GIVEN
    expected: str | None = None


FoundPlaces: TypeAlias = Iterable[BrokenPlace | Violation]


@attrs.frozen
class MetadataRule:
    """A rule over several fields of table metadata."""

    requirement: str
    message: str | None
    """What is wrong where the rule is broken; None if `find` yields complete violations only, which state their
    requirements, aspects and messages themselves."""

    reads: tuple[str, ...]
    """The attributes that the rule needs; it is skipped if one of them could not be read."""

    find: Callable[[TableMetadata], FoundPlaces]
    refused: bool = False
    """Whether a reader must refuse metadata that breaks it."""

    since: FormatVersion = V1
    """The first format version that has the rule."""

    aspect: str = ""
    """The part of the requirement that is broken, as in `Violation`."""

    @property
    def severity(self) -> Severity:
        """The severity of breaking the rule, from the registry of checks."""
        check = registry().get(check_id(self.requirement, self.aspect))
        return Severity.ERROR if check is None else check.severity

    def violations(self, metadata: TableMetadata) -> Iterator[Violation]:
        """Find the places where metadata breaks the rule.

        Args:
            metadata: the table metadata.

        Yields:
            A violation for each place; none if the format version does not have the rule.
        """
        for place in self.find(metadata) if metadata.format_version.includes(self.since) else ():
            if isinstance(place, Violation):
                yield attrs.evolve(place, format_version=metadata.format_version)
            else:
                yield self._violation(place, metadata.format_version)

    def _violation(self, place: BrokenPlace, version: FormatVersion) -> Violation:
        return Violation(
            requirement=self.requirement,
            message=self.message or "",
            aspect=self.aspect,
            path=place.path,
            found=None if place.found is NOT_GIVEN else abbreviated_repr(place.found),
            expected=place.expected,
            format_version=version,
        )


def with_path_prefix(path: str, problem: SpecError | Violation) -> Violation:
    """Prefix the path of a problem from another module, so that it starts at the root of the metadata.

    Args:
        path: the JSON pointer to the part that the other module checked.
        problem: the problem, with a path relative to that part.

    Returns:
        The violation with the whole path.
    """
    violation = problem.violation if isinstance(problem, SpecError) else problem
    return attrs.evolve(violation, path=path + violation.path)


def find_repeated(ids: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Find repeated ids.

    Args:
        ids: ids, in the order of a list in the metadata.

    Yields:
        The index of each repetition, and the index of the first occurrence.
    """
    if len(set(ids)) == len(ids):
        return
    first: dict[Any, int] = {}
    for place, found in enumerate(ids):
        if first.setdefault(found, place) != place:
            yield place, first[found]
