"""What checks emit: findings added up, small sums for the driver, and facts for the rules over several files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs
import pyarrow as pa

from spec_ref.checks.findings import Finding


@attrs.frozen
class Findings:
    """What was found by one task, one finding for each cause."""

    findings: tuple[Finding, ...]


@attrs.frozen(eq=False)
class Facts:
    """Facts about entries that rules over several files look at together."""

    bucket: int
    kind: str
    """What the rows are: ``files``, ``references``, ``row-ids``, ``partitions`` or ``statistics`` of manifests;
    ``rows``, ``targets``, ``deleted``, ``replaced``, ``left``, ``ids`` or ``found`` of files."""

    rows: pa.RecordBatch
    about: Any = None
    """What all rows have in common."""


@attrs.frozen
class Sums:
    """Counts over files, as the summary of a snapshot tells them."""

    data_files: int = 0
    records: int = 0
    files_size: int = 0
    """In bytes; of a deletion vector its blob."""

    whole_files_size: int = 0
    """In bytes; of a deletion vector the whole Puffin file, which is another reading of what a summary tells."""

    delete_files: int = 0
    position_delete_files: int = 0
    vectors: int = 0
    equality_delete_files: int = 0
    position_deletes: int = 0
    equality_deletes: int = 0

    def plus(self, other: Sums) -> Sums:
        """The counts of both."""
        mine, theirs = attrs.astuple(self), attrs.astuple(other)
        return Sums(*(one + two for one, two in zip(mine, theirs, strict=True)))


@attrs.frozen
class ManifestSums:
    """The counts of one manifest."""

    number: int
    entries: int
    live: Sums
    added: Mapping[int, Sums]
    """By the snapshot that added the files."""

    deleted: Mapping[int, Sums]
    """By the snapshot that deleted them."""

    least_data_sequence_number: int | None
    """Of its live data files."""

    features: frozenset[str]
    """What readers have to know to read the files, as `conformance.validator.readability` names it."""

    writers: frozenset[str] = frozenset()
    """The implementations that seem to have written it."""

    whole: bool = True
    """Whether all entries could be read; the counts of others are compared with nothing."""


@attrs.frozen
class Seen:
    """What a file showed that the table as a whole is told of."""

    features: frozenset[str]
    writers: frozenset[str]


@attrs.frozen
class StatisticsRead:
    """That the rows of a partition statistics file were read, so that they can be compared."""

    place: int
    """Its place in the metadata."""


@attrs.frozen
class Miscounted:
    """How many more rows a live file has than its entry says, which is a finding of the file."""

    manifest: int
    """The number of the manifest."""

    added_by: int | None
    """The snapshot that added the file in this manifest; None where the entry is of a file that was there before."""

    rows: Sums
    """The difference, as part of the count that has rows of such files."""


Emitted: TypeAlias = Findings | Facts | ManifestSums | Seen | StatisticsRead | Miscounted
