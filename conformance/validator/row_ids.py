"""Row ids over all files: no two live rows of a snapshot have the same id (Row Lineage; LIN002).

The check of a data file emits its row ids, stored or inherited, as runs of positions and ids; the check of a delete
file emits the positions that it deletes. Both kinds of facts are in the bucket of the data file's path. From each of
these buckets, the ids of the rows that are not deleted go to buckets of ids, in which equal ids are found. An id may be
in two files if the row in one of them is deleted, as after an update.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from conformance.core.counts import plural
from conformance.validator.check_results import Facts
from conformance.validator.context import Context, ManifestMembership, text_bucket
from conformance.validator.deleted_positions import FactOrigin, PathFacts, scope_mismatch, total_findings
from conformance.validator.file_places import EntryPlace
from conformance.validator.finding import finding
from spec_ref.checks.findings import Finding, Tally
from spec_ref.core.errors import Description
from spec_ref.manifests.entry import EntryStatus
from spec_ref.schemas.reserved_field_ids import BY_ID
from spec_ref.snapshots.summary import SnapshotOperation

Numbers = npt.NDArray[Any]

ROWS_PER_BUCKET = 1 << 22
"""The approximate number of row ids that are compared together."""

ROW_ID, LAST_UPDATED = 2147483540, 2147483539
"""The field ids of the columns of row lineage."""

_MOVED = {
    ROW_ID: ("LIN009", "a commit that only moves rows assigns new row ids to them"),
    LAST_UPDATED: ("LIN011", "a commit that only moves rows marks them as updated"),
}

MAX_COMPARED_ID = 1 << 62
"""Ids of this value or more, and negative ids, are reported, and not compared."""

_KEY: tuple[str, pa.DataType] = ("key", pa.dictionary(pa.int32(), pa.string()))
_RUN: list[tuple[str, pa.DataType]] = [("position", pa.int64()), ("count", pa.int64())]
RUNS = pa.schema([_KEY, *_RUN, ("first", pa.int64()), ("stored", pa.bool_())])
"""Consecutive rows of the data file ``key`` that have consecutive ids, from ``first``."""

DELETED = pa.schema([_KEY, *_RUN])
"""Deleted positions of the data file ``key``."""

LIVE: list[tuple[str, pa.DataType]] = [("first", pa.int64()), ("end", pa.int64()), ("stored", pa.bool_())]
IDS = pa.schema(LIVE)
"""Row ids of live rows of one file."""

NOTHING = pa.RecordBatch.from_pylist([], IDS)


@attrs.frozen
class LiveFile:
    """A data file, and snapshots in which the same rows of it are live."""

    path: str
    manifest: int
    entry: int
    snapshots: tuple[int, ...]
    """The indexes of the checked snapshots in which these rows are live."""


def consecutive_runs(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the starts of runs of consecutive numbers, and their lengths."""
    if not len(numbers):
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    starts = np.concatenate([[0], np.nonzero(np.diff(numbers) != 1)[0] + 1])
    return starts, np.diff(np.append(starts, len(numbers)))


def _bucket(context: Context, path: str) -> int:
    return text_bucket(path, context.id_buckets)


def _constant(path: str, count: int) -> Any:
    return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([path], pa.string()))


def rows_fact(
    context: Context,
    path: str,
    origin: FactOrigin,
    positions: Numbers,
    counts: Numbers,
    firsts: Numbers,
    stored: Numbers,
) -> Facts:
    """Return the row ids of a data file as facts."""
    arrays = [_constant(path, len(positions)), *map(pa.array, (positions, counts, firsts, stored))]
    return Facts(_bucket(context, path), "rows", pa.RecordBatch.from_arrays(arrays, schema=RUNS), origin)


def deleted_facts(
    context: Context, origin: FactOrigin, paths: Any, positions: Numbers, kind: str = "deleted"
) -> Iterator[Facts]:
    """Yield deleted positions as facts, for each data file.

    Where no rule compares the positions in delete files, the facts only name the data files: the positions of a table
    may take more memory than all else.

    Args:
        context: the table.
        origin: the entry of the delete file.
        paths: the path of the data file: one for all positions, or an Arrow array with one for each.
        positions: the positions, in the order of the delete file.
        kind: ``replaced`` for the positions in a delete file that a snapshot removed from the table.
    """
    if isinstance(paths, str):
        starts, counts = consecutive_runs(positions)
        arrays = [_constant(paths, len(starts)), pa.array(positions[starts]), pa.array(counts)]
        yield Facts(_bucket(context, paths), kind, pa.RecordBatch.from_arrays(arrays, schema=DELETED), origin)
        return
    encoded = paths.dictionary_encode()
    codes = encoded.indices.to_numpy()
    for code, path in enumerate(encoded.dictionary.to_pylist()):
        mine = np.sort(positions[codes == code]) if context.compares_positions else positions[:0]
        yield from deleted_facts(context, origin, path, mine)


class RowIds:
    """Collects the row ids of a file, stored or inherited, and checks them against the table (Row Lineage)."""

    def __init__(self, context: Context, place: EntryPlace) -> None:
        self.context = context
        self.place = place
        self.rows = 0
        self.new = dict.fromkeys(_MOVED, 0)
        """The number of rows without a stored value, by column."""

        self.latest = -1
        self.oldest = 0
        self.least: int | None = None
        self.greatest: int | None = None
        self._runs: list[tuple[Any, ...]] = []

    def add(self, rows: int, parts: Mapping[int, Any]) -> None:
        """Add more rows, with the columns of row lineage that the file has."""
        for column in self.new:
            self.new[column] += rows if parts.get(column) is None else parts[column].null_count
        changed = parts.get(LAST_UPDATED)
        if changed is not None and len(changed) > changed.null_count:
            self.latest = max(self.latest, pc.max(changed).as_py())
            self.oldest = min(self.oldest, pc.min(changed).as_py())
        ids = parts.get(ROW_ID)
        first = self.place.data_file.first_row_id
        start, self.rows = self.rows, self.rows + rows
        if ids is None:
            return
        position = np.arange(start, self.rows, dtype=np.int64)
        stored = ids.is_valid().to_numpy(zero_copy_only=False)
        # The cast: a column of an Avro file with only nulls has the type null.
        numbers = pc.fill_null(ids.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
        if stored.any():
            least, greatest = int(numbers[stored].min()), int(numbers[stored].max())
            self.least = least if self.least is None else min(self.least, least)
            self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
        inherits = np.zeros(0, np.bool_) if first is None else ~stored
        for kept, values, is_stored in ((stored, numbers, True), (inherits, position + (first or 0), False)):
            chosen = np.nonzero(kept)[0]
            steps = np.nonzero((np.diff(chosen) != 1) | (np.diff(values[chosen]) != 1))[0] + 1
            starts = np.concatenate([[0], steps]) if len(chosen) else np.zeros(0, np.intp)
            counts = np.diff(np.append(starts, len(chosen)))
            at = chosen[starts]
            self._runs.append((position[at], counts, values[at], np.full(len(at), is_stored)))

    def facts(self) -> Iterator[Facts]:
        """Yield the ids of all rows: stored ones, and inherited ones where none are stored."""
        data_file, origin = self.place.data_file, self.place.origin
        runs = self._runs
        if not runs and data_file.first_row_id is not None and self.rows:
            runs = [tuple(np.array([one]) for one in (0, self.rows, data_file.first_row_id, False))]
        if runs:
            position, count, first, stored = (np.concatenate(part) for part in zip(*runs, strict=True))
            yield rows_fact(self.context, data_file.file_path, origin, position, count, first, stored)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings that need only this file."""
        location, last = self.place.data_file.file_path, self.context.metadata.next_row_id
        wrong = [self.least] if self.least is not None and self.least < 0 else []
        if self.greatest is not None and last is not None and self.greatest >= last:
            wrong.append(self.greatest)
        for found in wrong[:1]:
            yield finding(
                "TMD024",
                "a row has a row id that the table has not assigned",
                file=location,
                path="/_row_id",
                found=found,
                expected="0 or more" if last is None else f"0 to {last - 1}" if last > 0 else "no row id",
                aspect="exceeded-by-row",
            )
        number = self.place.entry.sequence_number
        where: dict[str, Any] = {"file": location, "path": "/_last_updated_sequence_number"}
        if number is not None and self.latest > number:
            message = "_last_updated_sequence_number is greater than the sequence number of the file"
            yield finding("LIN003", message, found=self.latest, expected=f"at most {number}", **where, aspect="too-new")
        if self.oldest < 0:
            yield finding(
                "LIN003",
                "a sequence number is negative",
                found=self.oldest,
                expected="0 or more",
                **where,
                aspect="negative",
            )
        yield from self._find_moved()

    def _find_moved(self) -> Iterator[Finding]:
        """Find rows without stored values in the files of a commit that only moves rows, which marks them as new."""
        entry, first = self.place.entry, self.place.data_file.first_row_id
        snapshot = None if entry.snapshot_id is None else self.context.snapshots.get(entry.snapshot_id)
        if (
            snapshot is None
            or entry.status is not EntryStatus.ADDED
            or snapshot.operation is not SnapshotOperation.REPLACE
        ):
            return
        parent = self.context.snapshots.get(snapshot.parent_snapshot_id or 0)
        if parent is None or parent.first_row_id is None or snapshot.first_row_id is None:
            return  # rows of an upgraded table may have had neither
        inherited = {
            ROW_ID: first is None or first >= snapshot.first_row_id,
            LAST_UPDATED: entry.sequence_number == snapshot.sequence_number,
        }
        for column, (code, message) in _MOVED.items():
            if self.new[column] and inherited[column]:
                yield finding(
                    code,
                    message,
                    file=self.place.data_file.file_path,
                    path=f"/{BY_ID[column].name}",
                    found=Description(f"{plural(self.new[column], 'row')} without a value"),
                    expected="the value that the row had",
                )


# Per file: which rows are left


def live_ids(context: Context, members: ManifestMembership, facts: Iterable[Facts]) -> Iterator[Facts]:
    """Yield the live row ids of the files in one bucket of paths, as facts in buckets of ids.

    Among the facts are findings about deleted positions.
    """
    files = PathFacts()
    rows: dict[tuple[str, FactOrigin], list[tuple[Numbers, ...]]] = {}
    deletes: dict[str, dict[FactOrigin, list[tuple[Numbers, ...]]]] = {}
    for fact in facts:
        if fact.kind == "targets":
            files.add(fact.rows, fact.about)
            continue
        origin: FactOrigin = fact.about
        for path, columns in _by_path(fact.rows):
            if fact.kind == "rows":
                rows.setdefault((path, origin), []).append(columns)
            elif fact.kind == "replaced":
                files.replaced.setdefault(path, {}).setdefault(origin, []).append(columns)
            else:
                deletes.setdefault(path, {}).setdefault(origin, []).append(columns)
    yield from files.facts(context, members, deletes)
    places = {snapshot_id: place for place, snapshot_id in enumerate(members.checked)}
    for (path, origin), parts in rows.items():
        position, count, first, stored = (np.concatenate(part) for part in zip(*parts, strict=True))
        apart: dict[frozenset[FactOrigin], list[int]] = {}
        for snapshot_id, place in places.items():
            manifests = members.by_snapshot[snapshot_id]
            if origin.manifest in manifests:
                mine = (
                    one
                    for one in deletes.get(path, {})
                    if one.manifest in manifests and scope_mismatch(one, origin) is None
                )
                apart.setdefault(frozenset(mine), []).append(place)
        for applied, snapshots in apart.items():
            gone = [columns for one in applied for columns in deletes[path][one]]
            left = _live_runs(position, count, first, stored, gone)
            yield from _not_in_vector(path, deletes.get(path, {}), applied, gone)
            yield from _by_id(context, LiveFile(path, origin.manifest, origin.entry, tuple(snapshots)), *left)


def _not_in_vector(
    path: str,
    deletes: Mapping[FactOrigin, Sequence[tuple[Numbers, ...]]],
    applied: frozenset[FactOrigin],
    gone: Sequence[tuple[Numbers, ...]],
) -> Iterator[Facts]:
    """Find vectors that lack positions of older position deletes, which readers of a vector may ignore (DEL011)."""
    vectors = [columns for one in applied if one.is_vector for columns in deletes[one]]
    if not vectors or len(vectors) == len(gone):
        return
    starts, counts = (np.concatenate([one[place] for one in gone]) for place in (0, 1))
    missing = _live_runs(starts, counts, starts, np.ones(len(starts), np.bool_), vectors)[0]
    if len(missing):
        problem = finding(
            "DEL011",
            "a deletion vector lacks positions of earlier position deletes",
            file=path,
            found=int(missing.min()),
            expected="every deleted position in the vector",
        )
        yield Facts(0, "found", NOTHING, problem)


def _by_path(rows: pa.RecordBatch) -> Iterator[tuple[str, tuple[Numbers, ...]]]:
    key: Any = rows.column(0)
    columns = [column.to_numpy(zero_copy_only=False) for column in rows.columns[1:]]
    codes = key.indices.to_numpy()
    for code, path in enumerate(key.dictionary.to_pylist()):
        mine = codes == code
        yield path, tuple(columns if mine.all() else (column[mine] for column in columns))


def _live_runs(
    position: Numbers, count: Numbers, first: Numbers, stored: Numbers, gone: Sequence[tuple[Numbers, ...]]
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the starts and ends of the runs of ids of rows that are not deleted, and whether the ids are stored."""
    starts, counts = (np.concatenate([np.zeros(0, np.int64), *(one[column] for one in gone)]) for column in (0, 1))
    if not len(starts) or not len(position):  # an empty vector deletes nothing (contradiction B17)
        return first, first + count, stored
    order = np.argsort(position, kind="stable")
    position, count, first, stored = position[order], count[order], first[order], stored[order]
    ends = starts + counts
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    cuts = np.unique(np.concatenate([position, position + count, starts, reach]))
    run = np.searchsorted(position, cuts, side="right") - 1
    delete = np.searchsorted(starts, cuts, side="right") - 1
    inside = (run >= 0) & (cuts < (position + count)[run])
    deleted = (delete >= 0) & (cuts < reach[delete])
    kept = np.nonzero(inside & ~deleted)[0]
    ids = first[run[kept]] + cuts[kept] - position[run[kept]]
    return ids, ids + cuts[kept + 1] - cuts[kept], stored[run[kept]]


def _by_id(context: Context, owner: LiveFile, first: Numbers, end: Numbers, stored: Numbers) -> Iterator[Facts]:
    """Yield each run of ids once for every bucket that it overlaps."""
    known = (first >= 0) & (end <= MAX_COMPARED_ID) & (end > first)
    first, end, stored = first[known], end[known], stored[known]
    if not len(first):
        return
    size = bucket_size(context)
    last = context.id_buckets - 1
    lowest, highest = np.minimum(first // size, last), np.minimum((end - 1) // size, last)
    for bucket in range(int(lowest.min()), int(highest.max()) + 1):
        mine = (lowest <= bucket) & (bucket <= highest)
        if mine.any():
            arrays = [pa.array(part[mine]) for part in (first, end, stored)]
            yield Facts(bucket, "ids", pa.RecordBatch.from_arrays(arrays, schema=IDS), owner)


def bucket_size(context: Context) -> int:
    """Return how many row ids are in a bucket."""
    return min((context.metadata.next_row_id or 0) // context.id_buckets + 1, MAX_COMPARED_ID)


# Per range of ids: which occur twice


def check_ids(context: Context, members: ManifestMembership, facts: Iterable[Facts]) -> tuple[Finding, ...]:
    """Find row ids in one bucket that two live rows of a snapshot have, unless both are inherited.

    The rules over entries compare inherited ids. The result also has findings about totals of partitions, and the
    findings that `live_ids` yielded.
    """
    left: dict[str, list[pa.RecordBatch]] = {"left": [], "statistics": []}
    owners: list[LiveFile] = []
    parts: list[tuple[Numbers, ...]] = []
    bucket = 0
    tally, reported = Tally(), set[tuple[str, int]]()
    for fact in facts:
        if fact.kind == "found":
            tally.add([fact.about])
            continue
        if fact.kind in left:
            left[fact.kind].append(fact.rows)
            continue
        bucket = fact.bucket
        columns = [column.to_numpy(zero_copy_only=False) for column in fact.rows.columns]
        parts.append((*columns, np.full(fact.rows.num_rows, len(owners))))
        owners.append(fact.about)
    tally.add(total_findings(context, members, left["left"], left["statistics"]))
    if not parts:
        return tally.findings()
    first, end, stored, of = (np.concatenate(part) for part in zip(*parts, strict=True))
    for snapshot in range(len(members.checked)):
        mine = np.array([snapshot in owner.snapshots for owner in owners], np.bool_)
        rows = np.nonzero(mine[of])[0]
        chosen = (first[rows], end[rows], stored[rows], of[rows])
        for problem, key in _twice(context, owners, bucket, chosen):
            if key not in reported:
                reported.add(key)
                tally.add([problem])
    return tally.findings()


def _twice(
    context: Context, owners: Sequence[LiveFile], bucket: int, columns: tuple[Numbers, ...]
) -> Iterator[tuple[Finding, tuple[str, int]]]:
    first, end, stored, of = columns
    entries = np.array([(owner.manifest, owner.entry) for owner in owners], np.int64).reshape(-1, 2)
    order = np.lexsort((end, entries[of, 1], entries[of, 0], first))
    first, end, stored, of = first[order], end[order], stored[order], of[order]
    reach = np.maximum.accumulate(end)
    widest = np.maximum.accumulate(np.where(end == reach, np.arange(len(end)), 0))
    for at in (np.nonzero(first[1:] < reach[:-1])[0] + 1).tolist():
        other = int(widest[at - 1])
        begins = min(int(first[at]) // bucket_size(context), context.id_buckets - 1)
        if begins != bucket or not (stored[at] or stored[other]):
            continue  # reported in the bucket where it starts, or by the rules over entries
        one, two = owners[int(of[at])], owners[int(of[other])]
        holder, rival = (one, two) if stored[at] else (two, one)
        within = (one.manifest, one.entry) == (two.manifest, two.entry)
        if one.path == two.path and not within:
            continue  # a file that is listed twice is reported as such
        message = "two rows of a file have the same row id" if within else "rows of two files have the same row id"
        expected = "distinct row ids" if within else f"a row id that is not in {rival.path}"
        yield (
            finding(
                "LIN002",
                message,
                file=holder.path,
                path="/_row_id",
                found=int(first[at]),
                expected=expected,
                aspect="repeated",
            ),
            (holder.path, int(first[at])),
        )
