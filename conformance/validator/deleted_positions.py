"""Deleted positions, compared with their data files (Delete Formats; Scan Planning; Partition Statistics File).

Checks of data files emit which data files exist, live and deleted, and checks of delete files emit the positions that
they delete. Both kinds of facts are in the bucket of the data file's path. The rules over a bucket check that position
deletes apply to the file that they name, that a new deletion vector has the positions of the vector that it replaces,
and how many rows of a partition are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from conformance.validator.check_results import Facts
from conformance.validator.context import Context, ManifestMembership, text_bucket
from conformance.validator.finding import finding
from conformance.validator.values import encode_partition
from spec_ref.checks.findings import Finding
from spec_ref.core.records import evolve
from spec_ref.data_types.types import Type
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.delete_scope import FILE_PATH, Mismatch, mismatches

if TYPE_CHECKING:
    from conformance.validator.file_places import EntryPlace

Numbers = npt.NDArray[Any]
Runs = Sequence[tuple[Numbers, ...]]
"""The starts of runs of positions, and their lengths."""

_TARGETS: list[tuple[str, pa.DataType]] = [
    ("path", pa.string()),
    ("records", pa.int64()),
    ("live", pa.bool_()),
    ("key", pa.string()),
]
TARGETS = pa.schema(_TARGETS)
"""A data file and, if partition statistics are compared, the key of its partition tuple."""

_LEFT: list[tuple[str, pa.DataType]] = [("key", pa.string()), ("snapshot", pa.int64()), ("deleted", pa.int64())]
LEFT = pa.schema(_LEFT)
"""The number of rows of a file in the partition ``key`` that are deleted in a snapshot."""


@attrs.frozen
class FactOrigin:
    """The manifest entry that facts are about; objects for the same entry are equal."""

    manifest: int
    entry: int
    sequence: int | None = attrs.field(eq=False)
    """The data sequence number; None if it is not known."""

    data_file: DataFile = attrs.field(eq=False)
    """The file, without the fields that `keep_scope_fields` leaves out."""

    spec: PartitionSpec = attrs.field(eq=False)
    snapshot: int | None = attrs.field(eq=False, default=None)
    """The snapshot that added the file, or for a deleted entry the one that deleted it; None if it is not known."""

    @property
    def is_vector(self) -> bool:
        """Whether the entry is that of a deletion vector."""
        return self.data_file.is_deletion_vector

    @property
    def names_data_file(self) -> bool:
        """Whether the entry names its data file: then the rules over entries compare the two."""
        return self.data_file.referenced_data_file is not None


_COUNTS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "split_offsets")
_PATHS = frozenset({FILE_PATH})


def keep_scope_fields(data_file: DataFile) -> DataFile:
    """Remove the fields that do not determine which data files position deletes apply to."""
    bounds = {
        name: {key: value for key, value in (getattr(data_file, name) or {}).items() if key in _PATHS}
        for name in ("lower_bounds", "upper_bounds")
    }
    return evolve(data_file, **dict.fromkeys(_COUNTS), **bounds)


def scope_mismatch(delete: FactOrigin, data: FactOrigin) -> Mismatch | None:
    """Return the first reason why position deletes or a vector do not apply to a data file; None if they may."""
    found = mismatches(
        delete.data_file, delete.sequence, delete.spec, data.data_file, data.sequence, data.spec, NO_TYPES
    )
    return next(found, None)


NO_TYPES: Mapping[int, Type] = {}
"""The types of the columns of position deletes, for their bounds."""


def target_facts(context: Context, places: Iterable[EntryPlace]) -> Iterator[Facts]:
    """Yield a fact for each data file among some entries, including deleted ones."""
    for place in places:
        entry, path = place.entry, place.data_file.file_path
        if place.data_file.content is FileContent.DATA or place.contradicts_manifest:
            bucket = text_bucket(path, context.id_buckets)
            row = (path, place.data_file.record_count, entry.status is not EntryStatus.DELETED, _key(context, entry))
            arrays = [pa.array([value], field.type) for value, field in zip(row, TARGETS, strict=True)]
            yield Facts(bucket, "targets", pa.RecordBatch.from_arrays(arrays, schema=TARGETS), place.origin)


def _key(context: Context, entry: ManifestEntry) -> str | None:
    """Return the key of the partition tuple in the unified partition type, as in `partition_statistics`."""
    unified = context.unified_partition if context.counts_partitions else None
    if unified is None:
        return None
    return encode_partition(entry.data_file.partition.get(field.id) for field in unified.fields)


def fact_origin(place: EntryPlace) -> FactOrigin:
    """Return the origin of the facts about a file.

    If the spec of a manifest is not known, which is a finding, all of its files count as one partition.
    """
    spec = PartitionSpec(place.spec_id or 0) if place.spec is None else place.spec
    entry = place.entry
    return FactOrigin(
        place.task.number,
        place.number,
        entry.sequence_number,
        keep_scope_fields(place.data_file),
        spec,
        entry.snapshot_id,
    )


# Per data file


@attrs.define
class PathFacts:
    """The facts about the data files of one bucket."""

    targets: dict[str, list[dict[str, Any]]] = attrs.field(factory=dict)
    replaced: dict[str, dict[FactOrigin, list[tuple[Numbers, ...]]]] = attrs.field(factory=dict)
    """The positions of deletion vectors that a snapshot removed from the table, by path and entry."""

    def add(self, rows: pa.RecordBatch, origin: FactOrigin) -> None:
        """Add a data file."""
        for row in rows.to_pylist():
            self.targets.setdefault(row["path"], []).append({**row, "origin": origin})

    def facts(
        self, context: Context, members: ManifestMembership, deletes: Mapping[str, Mapping[FactOrigin, Runs]]
    ) -> Iterator[Facts]:
        """Yield findings, and the number of deleted rows of each live file.

        Args:
            context: the table.
            members: the manifests of the snapshots.
            deletes: the deleted positions by path and delete file.
        """
        reported: set[tuple[str, FactOrigin, str]] = set()
        for path, by_origin in deletes.items():
            for snapshot_id in members.checked:
                manifests = members.by_snapshot[snapshot_id]
                mine = {one: runs for one, runs in by_origin.items() if one.manifest in manifests}
                files = [row for row in self.targets.get(path, ()) if row["origin"].manifest in manifests]
                live = next((row for row in files if row["live"]), None)
                found = [*self._find_lost_positions(path, snapshot_id, manifests, mine, live)]
                if snapshot_id in members.completely_read:
                    found += _scope(path, snapshot_id, mine, live, is_deleted=bool(files))
                for origin, problem in found:
                    key = (path, origin, problem.check)
                    if key not in reported:
                        reported.add(key)
                        yield Facts(0, "found", _NOTHING, problem)
                if live is not None and live["key"] is not None:
                    yield _count_deleted(context, snapshot_id, mine, live)

    def _find_lost_positions(
        self,
        path: str,
        snapshot_id: int,
        manifests: frozenset[int],
        mine: Mapping[FactOrigin, Runs],
        live: Mapping[str, Any] | None,
    ) -> Iterator[tuple[FactOrigin, Finding]]:
        """Find new vectors that lack positions of the vector that they replace: deleted rows reappear (DEL026)."""
        new = [one for one in mine if one.is_vector and one.snapshot == snapshot_id]
        if live is None or not new or path not in self.replaced:
            return
        has = _positions([runs for one in new for runs in mine[one]])
        for old, runs in self.replaced[path].items():
            if old.manifest in manifests and old.snapshot == snapshot_id:
                lost = np.setdiff1d(_positions(runs), has)
                if len(lost):
                    yield (
                        new[0],
                        finding(
                            "DEL026",
                            "a deletion vector lacks positions of the one that it replaces",
                            file=path,
                            found=int(lost.min()),
                            expected="every deleted position in the new vector",
                            aspect="lost-positions",
                        ),
                    )


_NOTHING = pa.RecordBatch.from_pylist([], LEFT)


def _scope(
    path: str, snapshot_id: int, mine: Mapping[FactOrigin, Runs], live: Mapping[str, Any] | None, *, is_deleted: bool
) -> Iterator[tuple[FactOrigin, Finding]]:
    """Find position deletes of a file that is not in the table, or that they do not apply to.

    The file may be deleted after the deletes were written; the snapshot that adds the deletes must have or delete it.
    """
    for origin in mine:
        if origin.is_vector or origin.names_data_file:
            continue  # the rules over entries compare these
        if live is None:
            if not is_deleted and origin.snapshot == snapshot_id:
                yield (
                    origin,
                    finding(
                        "DEL013",
                        "position deletes name a file that is not in the table",
                        file=path,
                        expected="the file_path of a manifest entry",
                        aspect="unknown-file",
                    ),
                )
        elif scope_mismatch(origin, live["origin"]) is Mismatch.PARTITION:
            message = (
                "the partition of position deletes differs from that of their data file, so that they do not apply"
            )
            yield origin, finding("SCN009", message, file=path)


def _positions(runs: Runs) -> Numbers:
    """Return each position of some runs once, in order."""
    none = np.zeros(0, np.int64)
    starts, counts = (np.concatenate([none, *(run[column] for run in runs)]) for column in (0, 1))
    before = np.cumsum(counts) - counts  # the number of positions in earlier runs
    return np.unique(np.repeat(starts - before, counts) + np.arange(counts.sum()))


def _count_deleted(
    context: Context, snapshot_id: int, mine: Mapping[FactOrigin, Runs], live: Mapping[str, Any]
) -> Facts:
    """Count the rows of a live file that the applicable deletes remove."""
    applied = [one for one in mine if scope_mismatch(one, live["origin"]) is None]
    vectors = [one for one in applied if one.is_vector]
    positions = _positions([runs for one in vectors or applied for runs in mine[one]])
    deleted = int(((positions >= 0) & (positions < live["records"])).sum())
    bucket = text_bucket(live["key"], context.id_buckets)
    arrays = [pa.array([live["key"]]), pa.array([snapshot_id]), pa.array([deleted])]
    return Facts(bucket, "left", pa.RecordBatch.from_arrays(arrays, schema=LEFT))


# Per partition


def total_findings(
    context: Context, members: ManifestMembership, left: Sequence[pa.RecordBatch], rows: Sequence[pa.RecordBatch]
) -> Iterator[Finding]:
    """Find rows of partition statistics whose total is not the number of rows without the deleted ones (STA027).

    Args:
        context: the table.
        members: the manifests of the snapshots.
        left: the numbers of deleted rows of files (`LEFT`).
        rows: the rows of statistics files (`partition_statistics.STATISTICS`).
    """
    deleted: dict[tuple[str, int], int] = {}
    for batch in left:
        for one in batch.to_pylist():
            place = (one["key"], one["snapshot"])
            deleted[place] = deleted.get(place, 0) + one["deleted"]
    for batch in rows:
        for row in batch.to_pylist():
            statistics = context.metadata.partition_statistics[row["file"]]
            total, records = row["total_record_count"], row["data_record_count"]
            if statistics.snapshot_id not in members.only_position_deletes or total is None or records is None:
                continue
            wanted = records - deleted.get((row["key"], statistics.snapshot_id), 0)
            if total != wanted and row["file"] in members.comparable_statistics:
                yield finding(
                    "STA027",
                    "total_record_count differs from the rows that the position deletes leave",
                    file=statistics.statistics_path,
                    path=f"/{row['row']}/total_record_count",
                    found=total,
                    expected=str(wanted),
                    aspect="mismatch",
                )
