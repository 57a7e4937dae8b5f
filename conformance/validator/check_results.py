"""The results of checks: combined findings, small sums for the driver, and facts for the rules over several files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

from conformance.core.lazy_imports import lazy_imports
from spec_ref.checks.findings import Finding

with lazy_imports():
    import pyarrow as pa


@attrs.frozen
class Findings:
    """The findings of one task, one for each cause."""

    findings: tuple[Finding, ...]


@attrs.frozen(eq=False)
class Facts:
    """Rows of facts about manifest entries and files, for the rules over several files."""

    bucket: int
    kind: str
    """The kind of rows: ``files``, ``references``, ``row-ids``, ``partitions`` or ``statistics`` of manifests;
    ``rows``, ``targets``, ``deleted``, ``replaced``, ``left``, ``ids`` or ``found`` of files."""

    rows: pa.RecordBatch
    about: Any = None
    """A value that applies to all rows, such as the manifest entry that they are about."""


@attrs.frozen
class Sums:
    """Counts over files, as in the summary of a snapshot."""

    data_files: int = 0
    records: int = 0
    files_size: int = 0
    """The size in bytes; a deletion vector counts with the size of its blob."""

    whole_files_size: int = 0
    """The size in bytes; a deletion vector counts with the size of its Puffin file, which some writers sum up."""

    delete_files: int = 0
    position_delete_files: int = 0
    vectors: int = 0
    equality_delete_files: int = 0
    position_deletes: int = 0
    equality_deletes: int = 0

    @property
    def rows(self) -> int:
        """The rows of all files."""
        return self.records + self.position_deletes + self.equality_deletes

    def add(self, other: Sums) -> Sums:
        """Return the sums of both."""
        mine, theirs = attrs.astuple(self), attrs.astuple(other)
        return Sums(*(one + two for one, two in zip(mine, theirs, strict=True)))


@attrs.frozen
class ManifestSums:
    """The counts of one manifest."""

    number: int
    entries: int
    live: Sums
    added: Mapping[int, Sums]
    """The added files, by the snapshot that added them."""

    deleted: Mapping[int, Sums]
    """The deleted files, by the snapshot that deleted them."""

    features: frozenset[str]
    """The features that readers need to read the files, by their names in `conformance.validator.readability`."""

    writers: frozenset[str] = frozenset()
    """The implementations that probably wrote the manifest."""

    corrected: ManifestSums | None = None
    """The counts after contradicted entries are corrected (`contradicted_entries`); None if no entry is."""

    causes: frozenset[str] = frozenset()
    """The checks that find the contradicted entries."""

    is_complete: bool = True
    """Whether all entries could be read; otherwise the counts are not compared."""


@attrs.frozen
class TableTraits:
    """The features and writers that a file shows, for the report of the table."""

    features: frozenset[str]
    writers: frozenset[str]


@attrs.frozen
class StatisticsRead:
    """Reports that all rows of a partition statistics file were read, so that they can be compared."""

    index: int
    """The index of the file in the metadata."""


@attrs.frozen
class Miscount:
    """The difference between a live file and its entry in rows or bytes, which is a finding of the file."""

    manifest: int
    """The number of the manifest."""

    added_by: int | None
    """The snapshot that added the file in this manifest; None if the entry has the status EXISTING."""

    rows: Sums
    """The difference, in each count of a summary that includes such files."""


Emitted: TypeAlias = Findings | Facts | ManifestSums | TableTraits | StatisticsRead | Miscount
