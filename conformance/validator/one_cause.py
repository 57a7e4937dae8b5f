"""One cause is one finding: findings that only follow from another finding are left out.

A stored value is often compared with several others. If it is wrong, each comparison finds a difference. The rows of
`CONSEQUENCES` state which check finds the wrong value, which checks find consequences, and how near these must be.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

import attrs

from conformance.validator.entry_causes import (
    ADDED_AS_EXISTING,
    NO_EQUALITY_IDS,
    NO_NUMBERS,
    NO_POSITIONS,
    OTHER_ADDER,
    OTHER_CONTENT,
    PUFFIN_OF_ROWS,
)
from spec_ref.checks.findings import Finding, Severity, Tally
from spec_ref.core.errors import Violation
from spec_ref.core.records import evolve

Near: TypeAlias = Literal["place", "entry", "column", "snapshot", "value", "table"]


@attrs.frozen
class Consequence:
    """Findings that follow from another one."""

    causes: tuple[str, ...]
    """Check ids, each of which is a cause."""

    checks: tuple[str, ...]
    """Check ids that follow from any of them."""

    near: Near
    """How near a cause and a consequence are: at the same place, in the same entry of a list or manifest, at the same
    column of an entry's metrics, in the same snapshot of the metadata, with the same wrong value, or anywhere in the
    table."""


_SEQUENCE = (
    "manifest-file-sequence-number-changed",
    "manifest-file-sequence-number-newer-than-snapshot",
    "manifest-list-new-manifests-sequence-number",
)
_LEAST = "manifest-file-min-sequence-number"
_COUNTS = tuple(
    f"manifest-file-{status}-{counted}-count"
    for status in ("added", "existing", "deleted")
    for counted in ("files", "rows")
)
_ROW_COUNTS = tuple(f"{name}-mismatch" for name in _COUNTS if name.endswith("-rows-count"))
CONSEQUENCES = (
    # A list that contradicts the manifest contradicts the older lists too, whose values the manifest confirms.
    Consequence(("manifest-file-manifest-length-mismatch",), ("files-immutable-changed",), "place"),
    *(Consequence((f"{name}-mismatch",), (f"{name}-changed",), "place") for name in _COUNTS),
    Consequence(("manifest-property-content-mismatch",), ("manifest-file-content-changed",), "place"),
    Consequence(("manifest-property-content-mismatch",), ("manifest-first-row-id-kept-of-deletes",), "entry"),
    Consequence(
        ("manifest-file-added-snapshot-id-changed",),
        ("manifest-file-added-snapshot-id-of-another-sequence-number", "manifest-list-new-manifests-sequence-number"),
        "entry",
    ),
    Consequence(
        ("manifest-file-sequence-number-changed",),
        ("manifest-file-added-snapshot-id-of-another-sequence-number",),
        "entry",
    ),
    # Entries inherit the sequence number, and the least number is one of theirs.
    Consequence(_SEQUENCE, (f"{_LEAST}-mismatch", f"{_LEAST}-too-high", f"{_LEAST}-below-least"), "entry"),
    Consequence((f"{_LEAST}-too-high",), (f"{_LEAST}-mismatch",), "place"),
    Consequence(
        ("manifest-file-partition-spec-id-unknown-spec",), ("manifest-file-partition-spec-id-changed",), "place"
    ),
    # A list with the spec of other manifests contradicts the older lists, and has more or fewer fields.
    Consequence(("manifest-one-spec",), ("manifest-file-partition-spec-id-changed",), "place"),
    Consequence(("manifest-one-spec",), ("manifest-file-partitions-count",), "entry"),
    # A bound that excludes a value may be beyond the other bound.
    Consequence(("data-file-lower-bounds-exceeded",), ("data-file-lower-bounds-crossed",), "place"),
    Consequence(("data-file-upper-bounds-exceeded",), ("data-file-lower-bounds-crossed",), "column"),
    Consequence(("data-file-file-format-unknown-value",), ("no-new-position-delete-files",), "place"),
    Consequence(("puffin-dv-referenced-data-file-mismatch",), ("removed-file-removes-vector",), "place"),
    Consequence(("metadata-next-row-id-exceeded-by-file",), ("snapshot-added-rows-exceeded-by-file",), "place"),
    Consequence(("manifest-entry-added",), ("manifest-entry-status-added-as-existing",), "entry"),
    Consequence(("manifest-entry-added",), ("snapshot-added-rows-exceeded-by-file",), "entry"),
    # An added entry has no numbers, and the file of another status is in an older snapshot.
    Consequence((ADDED_AS_EXISTING,), (NO_NUMBERS,), "entry"),
    Consequence((NO_NUMBERS,), ("manifest-entry-deleted-unknown-file",), "entry"),
    # An entry with one content lacks the fields of the other content.
    Consequence((OTHER_CONTENT,), (NO_EQUALITY_IDS,), "entry"),
    Consequence(
        (OTHER_CONTENT, NO_EQUALITY_IDS, NO_POSITIONS),
        ("data-file-equality-ids-of-other-files", "sort-order-id-only-data-equality", PUFFIN_OF_ROWS),
        "entry",
    ),
    # Ids of the metadata that name nothing differ from all others.
    Consequence(
        ("metadata-current-snapshot-id-unknown",),
        ("metadata-refs-unknown-snapshot", "metadata-snapshot-log-unknown-snapshot"),
        "value",
    ),
    Consequence(("metadata-refs-unknown-snapshot", OTHER_ADDER), ("metadata-snapshot-log-unknown-snapshot",), "value"),
    Consequence(("snapshot-parent-snapshot-id-cycle",), ("snapshot-sequence-number-not-increasing",), "snapshot"),
    Consequence(("metadata-refs-unknown-snapshot",), ("metadata-current-snapshot-id-main-differs",), "place"),
    Consequence(("metadata-snapshot-log-unknown-snapshot",), ("metadata-snapshot-log-wrong-end",), "place"),
    Consequence(
        ("metadata-current-snapshot-id-unknown",),
        ("metadata-current-snapshot-id-main-differs", "metadata-snapshot-log-wrong-end"),
        "table",
    ),
    Consequence(("metadata-current-snapshot-id-main-differs",), ("metadata-snapshot-log-wrong-end",), "table"),
    Consequence(("metadata-last-column-id-exceeded-by-field",), ("metadata-last-column-id-exceeded-by-file",), "table"),
)


def _column(place: Violation) -> Hashable:
    head, _, column = place.path.rpartition("/")
    return place.file, head.rpartition("/")[0], column


_KEYS: Mapping[Near, Callable[[Violation], Hashable]] = {
    "place": lambda place: (place.file, place.path),
    "entry": lambda place: (place.file, *place.path.split("/", 2)[:2]),
    "column": _column,
    "snapshot": lambda place: (place.file, *place.path.split("/", 3)[:3]),
    "value": lambda place: place.found,
    "table": lambda _: (),
}


def without_consequences(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Leave out findings, or places of findings, that follow from another finding.

    A finding is left out only if its cause is at least as severe, so that the exit status does not change.

    Args:
        findings: the findings of a table, one for each cause, with examples of their places.

    Returns:
        The other findings, in the same order.
    """
    return split_consequences(findings)[0]


def split_consequences(findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Split findings into causes and consequences; a finding some of whose places are consequences is in both.

    Args:
        findings: the findings of a table, one for each cause, with examples of their places.

    Returns:
        The causes and the consequences, each in the order of `findings`.
    """
    found = tuple(findings)
    following = [one for one in found if _follows(one, found)]
    causes = [one for one in found if not _follows(one, found)]
    if any(one.follows for one in causes):  # the check that names the cause is not selected
        causes = list(Tally(evolve(one, follows=()) for one in causes).findings())
    named: list[Finding] = []
    for one in causes:
        places, count = _remaining_places(one, found)
        named.extend(_at(one, places, count))
        left = tuple(place for place in one.places if place not in places)
        following.extend(_at(one, left, one.count - count))
    return tuple(named), Tally(evolve(one, follows=()) for one in following).findings()


def _follows(finding: Finding, findings: Iterable[Finding]) -> bool:
    """Return whether all causes that a finding names were found, one of them as severe as the finding."""
    causes = [one for one in findings if one.check in finding.follows]
    return (
        bool(causes)
        and {one.check for one in causes} == {*finding.follows}
        and any(_is_as_severe(one, finding) for one in causes)
    )


def _remaining_places(finding: Finding, findings: Iterable[Finding]) -> tuple[tuple[Violation, ...], int]:
    """Return the places of a finding that do not follow from others, and their number."""
    places, several = finding.places, finding.count
    for row in CONSEQUENCES:
        if finding.check not in row.checks:
            continue
        key = _KEYS[row.near]
        causes = [one for one in findings if one.check in row.causes and _is_as_severe(one, finding)]
        near = {key(place) for one in causes for place in one.places}
        rest = tuple(place for place in places if key(place) not in near)
        if several == len(places) or (not rest and sum(one.count for one in causes) >= several):
            places, several = rest, len(rest)
    return places, several


def _at(finding: Finding, places: tuple[Violation, ...], count: int) -> Iterator[Finding]:
    if places:
        yield evolve(finding, violation=places[0], count=count, examples=places if count > 1 else ())


def without_right_counts(findings: Iterable[Finding], miscounts: Mapping[tuple[str, str], int]) -> tuple[Finding, ...]:
    """Leave out differences of row counts where the manifest list is right and the entries of the manifest are wrong.

    Args:
        findings: the findings of a table, one for each check, with examples of their places.
        miscounts: how many rows too many the entries of a manifest count, by the place of the row count in the manifest
            list.
    """
    left: list[Finding] = []
    for finding in findings:
        if finding.check in _ROW_COUNTS and finding.count == len(finding.places):
            places = tuple(place for place in finding.places if not _counts_rows_right(place, miscounts))
            left.extend(_at(finding, places, len(places)))
        else:
            left.append(finding)
    return tuple(left)


def _counts_rows_right(place: Violation, miscounts: Mapping[tuple[str, str], int]) -> bool:
    """Return whether the row count in a manifest list is right, and the entries of the manifest are wrong."""
    return place.difference == -miscounts.get((place.file or "", place.path), 0)


def _is_as_severe(cause: Finding, finding: Finding) -> bool:
    return cause.severity is finding.severity or cause.severity is Severity.ERROR
