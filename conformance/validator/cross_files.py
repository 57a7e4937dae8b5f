"""Rules over several manifests and files: checks of groups of facts (Scan Planning; Row Lineage; Snapshots).

All facts about a path are in one bucket, whichever manifest they come from, so that each bucket can be checked alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from conformance.validator.check_results import Facts
from conformance.validator.context import Context, ManifestMembership
from conformance.validator.entry_causes import NO_NUMBERS, OTHER_ADDER, OTHER_CONTENT
from conformance.validator.finding import finding
from conformance.validator.manifest_facts import FILES, REFERENCES, ROW_IDS, row_bucket_size
from conformance.validator.partition_statistics import PARTITIONS, STATISTICS
from conformance.validator.partition_statistics_comparison import compare_partitions
from spec_ref.checks.findings import Finding, Tally
from spec_ref.columnar.manifests.nullable_arrays import Nullable
from spec_ref.columnar.scan_planning.delete_scope import ScopeColumns, position_mismatches
from spec_ref.core.records import evolve
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus
from spec_ref.scan_planning.delete_scope import Mismatch
from spec_ref.snapshots.retention import ancestors
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import SnapshotOperation

Numbers = npt.NDArray[Any]


def check_bucket(
    context: Context, members: ManifestMembership, locations: Mapping[int, str], facts: Iterable[Facts]
) -> tuple[Finding, ...]:
    """Return the findings of the rules over the facts of one bucket."""
    rows: dict[str, list[pa.RecordBatch]] = {
        "files": [],
        "references": [],
        "row-ids": [],
        "partitions": [],
        "statistics": [],
    }
    bucket = 0
    for fact in facts:
        bucket = fact.bucket
        rows[fact.kind].append(fact.rows)
    tally = Tally()
    files = _concatenate_sorted(rows["files"], FILES)
    if files.num_rows:
        view = _Files(files)
        tally.add(_find_repeated(members, locations, view))
        tally.add(_history(context, members, locations, view))
        tally.add(_find_root_deletes(context, members, locations, view))
        tally.add(_added_again(context, locations, view))
        references = _concatenate_sorted(rows["references"], REFERENCES)
        if references.num_rows:
            tally.add(_references(context, members, locations, view, references))
    ranges = _concatenate_sorted(rows["row-ids"], ROW_IDS)
    if ranges.num_rows:
        tally.add(_row_ids(context, bucket, members, locations, ranges))
    if members.comparable_statistics:
        partitions = pa.Table.from_batches(rows["partitions"], schema=PARTITIONS)
        statistics = pa.Table.from_batches(rows["statistics"], schema=STATISTICS)
        tally.add(compare_partitions(context, members, partitions, statistics))
    return tally.findings()


def _concatenate_sorted(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Concatenate all facts of a kind, in an order that does not depend on the engine."""
    table = pa.Table.from_batches(batches, schema=schema)
    return table.sort_by([("manifest", "ascending"), ("entry", "ascending")])


class _Files:
    """The entries of a bucket as arrays."""

    def __init__(self, table: pa.Table) -> None:
        self.keys = table["key"].combine_chunks().dictionary_encode()
        self.code: Numbers = self.keys.indices.to_numpy()
        self.manifest: Numbers = table["manifest"].to_numpy()
        self.entry: Numbers = table["entry"].to_numpy()
        self.status: Numbers = table["status"].to_numpy()
        self.content: Numbers = table["content"].to_numpy()
        self.snapshot: Numbers = _fill_nulls(table["snapshot"])
        self.sequence: Numbers = _fill_nulls(table["sequence"])
        self.records: Numbers = table["records"].to_numpy()
        self.partition: Numbers = table["partition"].to_numpy()
        self.file_sequence: Numbers = _fill_nulls(table["file_sequence"])
        self.row_id: Numbers = _fill_nulls(table["row_id"])
        self.details: Numbers = _fill_nulls(table["details"])
        self.live: Numbers = self.status != EntryStatus.DELETED

    def name(self, code: int) -> str:
        """Return the key with a code."""
        found: str = self.keys.dictionary[code].as_py()
        return found

    def scopes(self, rows: list[int]) -> ScopeColumns:
        """Return the scopes of the data files in some rows (`ScopeColumns`); -1 stands for any row."""
        numbers = self.sequence[rows]
        return ScopeColumns(Nullable(numbers, numbers >= 0), self.partition[rows])


def _scopes(references: pa.Table) -> ScopeColumns:
    """Return the scopes of deletes, which determine the data files that they apply to."""
    column = references["sequence"]
    valid = np.asarray(column.is_valid().to_numpy())
    return ScopeColumns(Nullable(_fill_nulls(column), valid), references["partition"].to_numpy())


def _fill_nulls(column: Any) -> Numbers:
    """Return the numbers, with -1 for null."""
    kernels: Any = pc
    return np.asarray(kernels.fill_null(column, -1).to_numpy())


def _mask(members: ManifestMembership, snapshot_id: int) -> Numbers:
    """Return a mask, by number, of the manifests that a snapshot has."""
    mask = np.zeros(members.manifest_count, np.bool_)
    mask[list(members.by_snapshot[snapshot_id])] = True
    return mask


def _find_repeated(members: ManifestMembership, locations: Mapping[int, str], files: _Files) -> Iterator[Finding]:
    """Find files that are live twice in one snapshot (SCN007)."""
    reported: set[tuple[int, int]] = set()
    counts = np.bincount(files.code[files.live], minlength=len(files.keys.dictionary))
    if counts.max(initial=0) < 2:
        return
    often = files.live & (counts[files.code] > 1)
    for snapshot_id in members.checked:
        rows = np.nonzero(often & _mask(members, snapshot_id)[files.manifest])[0]
        _, first = np.unique(files.code[rows], return_index=True)
        again = np.ones(len(rows), np.bool_)
        again[first] = False
        for row in rows[again].tolist():
            place = (int(files.manifest[row]), int(files.entry[row]))
            if place not in reported:
                reported.add(place)
                yield finding(
                    "SCN007",
                    "a file is listed twice in one snapshot",
                    file=locations[place[0]],
                    path=f"/{place[1]}/data_file/file_path",
                    found=files.name(int(files.code[row])),
                    expected="every live file once",
                )


def _history(
    context: Context, members: ManifestMembership, locations: Mapping[int, str], files: _Files
) -> Iterator[Finding]:
    """Check that the live files of a snapshot are those of its parent, plus those it added, minus those it deleted.

    Their entries, and those of the deleted files, have the same numbers in both snapshots. Missing files are reported
    only for snapshots all of whose manifests were read.
    """
    one_row_id = ~np.isin(files.manifest, list(members.ambiguous_row_ids))
    for snapshot_id, parent_id in members.pairs:
        mine, parents = _mask(members, snapshot_id), _mask(members, parent_id)
        differs = (mine ^ parents)[files.manifest]
        if not differs.any():
            continue
        in_mine, in_parent = mine[files.manifest], parents[files.manifest]
        now = np.unique(files.code[files.live & in_mine])
        before = np.unique(files.code[files.live & in_parent])
        own = in_mine & (files.snapshot == snapshot_id)
        added = files.code[own & (files.status == EntryStatus.ADDED)]
        deleted = files.code[own & (files.status == EntryStatus.DELETED)]
        vanished = (
            np.setdiff1d(np.setdiff1d(before, now), deleted) if snapshot_id in members.completely_read else before[:0]
        )
        later = _is_later(context, parent_id, snapshot_id)
        for row in _first_rows(files, files.live & in_parent, vanished):
            missing = finding(
                "MAN017",
                "a file of the parent snapshot is missing, without a deleted entry",
                file=locations[int(files.manifest[row])],
                path=f"/{files.entry[row]}",
                found=files.name(int(files.code[row])),
                expected=f"a deleted entry in snapshot {snapshot_id}",
                aspect="file-vanished",
            )
            yield evolve(missing, follows=("snapshot-sequence-number-not-increasing",) if later else ())
        appeared = np.setdiff1d(np.setdiff1d(now, before), added) if parent_id in members.completely_read else now[:0]
        # The check of the manifest reports existing entries of files that the snapshot itself added.
        for row in _first_rows(files, files.live & in_mine & (files.snapshot != snapshot_id), appeared):
            appearing = finding(
                "MAN011",
                "a file that is not in the parent snapshot is not listed as added",
                file=locations[int(files.manifest[row])],
                path=f"/{files.entry[row]}/status",
                found=files.name(int(files.code[row])),
                expected=f"an added entry of snapshot {snapshot_id}",
                aspect="added-as-existing",
            )
            is_added = files.status[row] == EntryStatus.ADDED
            yield evolve(appearing, follows=(OTHER_ADDER,) if is_added else ())
        gone = own & (files.status == EntryStatus.DELETED)
        unknown = np.setdiff1d(deleted, before) if parent_id in members.completely_read else deleted[:0]
        for row in _first_rows(files, gone, unknown):
            yield _unknown_file(locations, files, row, "a file that is not in the parent snapshot is listed as deleted")
        kept = np.isin(files.code, np.intersect1d(now, before)) & files.live & differs
        in_new = in_mine & ~in_parent
        for numbers, known, code, message, path in (
            (
                files.snapshot,
                files.snapshot != -1,
                "MAN012",
                "the snapshot of an existing file changed",
                "snapshot_id",
            ),
            (
                files.sequence,
                files.sequence >= 0,
                "MAN020",
                "the data sequence number of a file changed",
                "sequence_number",
            ),
            (
                files.file_sequence,
                files.file_sequence >= 0,
                "MAN021",
                "the file sequence number of a file changed",
                "file_sequence_number",
            ),
            (
                files.row_id,
                (files.row_id >= 0) & one_row_id,
                "LIN020",
                "the first row id of a file changed",
                "data_file/first_row_id",
            ),
            (
                files.details,
                True,
                "FIO001",
                "the entry of a file differs from that in the parent snapshot",
                "data_file",
            ),
        ):
            for row, other in _find_changed(files, numbers, kept & known, in_new):
                of_file = path == "data_file"
                yield finding(
                    code,
                    message,
                    file=locations[int(files.manifest[row])],
                    path=f"/{files.entry[row]}/{path}",
                    found=files.name(int(files.code[row])) if of_file else int(numbers[row]),
                    expected="the same counts, sizes and bounds" if of_file else str(other),
                    aspect="changed",
                )
        if len(deleted):
            yield from _changed_when_deleted(locations, files, gone & in_new, files.live & in_parent, one_row_id)


def _changed_when_deleted(
    locations: Mapping[int, str], files: _Files, deleted: Numbers, originals: Numbers, one_row_id: Numbers
) -> Iterator[Finding]:
    """Compare the numbers in deleted entries with those of the files in the parent snapshot.

    Another check reports deleted entries without sequence numbers. Files from before an upgrade to v3 have no row ids.

    Args:
        locations: the locations of the manifests.
        files: the entries.
        deleted: which entries a snapshot added for the files that it deleted.
        originals: which entries are live in the parent of the snapshot.
        one_row_id: which entries are in manifests to which all snapshots assign the same row ids.
    """
    of_data = files.content == FileContent.DATA
    for numbers, compared, known, code, name, path in (
        (files.sequence, files.sequence >= 0, True, "MAN020", "data sequence number", "sequence_number"),
        (files.file_sequence, files.file_sequence >= 0, True, "MAN021", "file sequence number", "file_sequence_number"),
        (files.row_id, of_data, one_row_id, "LIN020", "first row id", "data_file/first_row_id"),
    ):
        for row, original in _find_different(files, numbers, deleted & compared, originals & known & (numbers >= 0)):
            number = int(numbers[row])
            yield finding(
                code,
                f"the {name} of a deleted entry differs from that of its file",
                file=locations[int(files.manifest[row])],
                path=f"/{files.entry[row]}/{path}",
                found=None if number == -1 else number,
                expected=original,
                aspect="deleted-entry",
            )


def _find_different(files: _Files, numbers: Numbers, entries: Numbers, originals: Numbers) -> Iterator[tuple[int, int]]:
    """Find entries with a number that no original entry of their file has; a file may be listed twice.

    Yields:
        The row of an entry, and the number of the first original entry.
    """
    rows = np.nonzero(entries & np.isin(files.code, files.code[originals]))[0]
    known: dict[int, list[int]] = {}
    others = np.nonzero(originals & np.isin(files.code, files.code[rows]))[0]
    for code, number in zip(files.code[others].tolist(), numbers[others].tolist(), strict=True):
        known.setdefault(code, []).append(number)
    for row in rows.tolist():
        right = known[int(files.code[row])]
        if numbers[row] not in right:
            yield row, right[0]


def _find_root_deletes(
    context: Context, members: ManifestMembership, locations: Mapping[int, str], files: _Files
) -> Iterator[Finding]:
    """Find files that the first snapshot of a table deletes."""
    roots = [one for one in members.checked if _is_root(context.snapshots[one])]
    for row in np.nonzero(~files.live & np.isin(files.snapshot, roots))[0].tolist():
        if files.manifest[row] in members.by_snapshot[int(files.snapshot[row])]:
            yield _unknown_file(locations, files, row, "a snapshot without a parent lists a file as deleted")


def _is_root(snapshot: Snapshot) -> bool:
    """Return whether a snapshot never had a parent.

    Writers that expire the parent may leave out its id afterwards, as PyIceberg does; a snapshot that appends deletes
    nothing with a parent, either.
    """
    return snapshot.parent_snapshot_id is None and snapshot.operation is SnapshotOperation.APPEND


def _unknown_file(locations: Mapping[int, str], files: _Files, row: int, message: str) -> Finding:
    return finding(
        "MAN017",
        message,
        file=locations[int(files.manifest[row])],
        path=f"/{files.entry[row]}/status",
        found=files.name(int(files.code[row])),
        expected="a file of the parent snapshot",
        aspect="unknown-file",
    )


def _is_later(context: Context, parent_id: int, snapshot_id: int) -> bool:
    """Return whether a snapshot's parent has a greater sequence number, so that it cannot be the parent."""
    parent, child = context.snapshots.get(parent_id), context.snapshots.get(snapshot_id)
    return parent is not None and child is not None and parent.sequence_number > child.sequence_number


def _added_again(context: Context, locations: Mapping[int, str], files: _Files) -> Iterator[Finding]:
    """Find files that a snapshot adds after one of its ancestors deleted them (MAN023)."""
    gone, added = files.status == EntryStatus.DELETED, files.status == EntryStatus.ADDED
    for row in np.nonzero(added & np.isin(files.code, np.intersect1d(files.code[gone], files.code[added])))[0].tolist():
        deleting = set(files.snapshot[gone & (files.code == files.code[row])].tolist())
        own = int(files.snapshot[row])
        before = (one.snapshot_id for one in ancestors(context.snapshots, own) if one.snapshot_id != own)
        deleted_by = next((snapshot_id for snapshot_id in before if snapshot_id in deleting), None)
        if deleted_by is not None:
            yield finding(
                "MAN023",
                f"a file is added again that snapshot {deleted_by} deleted",
                file=locations[int(files.manifest[row])],
                path=f"/{files.entry[row]}/data_file/file_path",
                found=files.name(int(files.code[row])),
                expected="a path that was not deleted before",
            )


def _first_rows(files: _Files, rows: Numbers, codes: Numbers) -> list[int]:
    """Return, for each of the keys, the first of the rows that has it."""
    if not len(codes):
        return []
    places = np.nonzero(rows & np.isin(files.code, codes))[0]
    _, first = np.unique(files.code[places], return_index=True)
    return [int(row) for row in places[first]]


def _find_changed(files: _Files, numbers: Numbers, kept: Numbers, in_new: Numbers) -> Iterator[tuple[int, int]]:
    """Find files that are live before and after, and whose number changed when their entry was rewritten.

    Yields:
        A row of the new snapshot, and the number of the file in the other snapshot.
    """
    rows = np.nonzero(kept)[0]
    codes, places = np.unique(files.code[rows], return_inverse=True)
    least = np.full(len(codes), np.iinfo(np.int64).max)
    most = np.full(len(codes), np.iinfo(np.int64).min)
    np.minimum.at(least, places, numbers[rows])
    np.maximum.at(most, places, numbers[rows])
    for at in np.nonzero(least < most)[0].tolist():
        of_code = rows[(places == at) & in_new[rows]]
        if len(of_code):
            row = int(of_code[0])
            yield row, int(least[at]) if numbers[row] == most[at] else int(most[at])


def _references(
    context: Context, members: ManifestMembership, locations: Mapping[int, str], files: _Files, table: pa.Table
) -> Iterator[Finding]:
    """Check the delete files that name a data file: at most one is a deletion vector, and each applies to the file."""
    places = {name: code for code, name in enumerate(files.keys.dictionary.to_pylist())}
    rows = table.to_pylist()
    scopes = _scopes(table)
    reported: set[tuple[int, int]] = set()
    for snapshot_id in members.checked:
        mask = _mask(members, snapshot_id)
        vectors: dict[str, dict[str, Any]] = {}
        data = np.nonzero(files.live & mask[files.manifest] & (files.content == FileContent.DATA))[0]
        at = dict(zip(files.code[data].tolist(), data.tolist(), strict=True))
        targets = [at.get(places.get(row["key"], -1), -1) if mask[row["manifest"]] else -1 for row in rows]
        mismatches = position_mismatches(scopes, files.scopes(targets))
        for number, (row, target) in enumerate(zip(rows, targets, strict=True)):
            place = (row["manifest"], row["entry"])
            if not mask[row["manifest"]]:
                continue
            problems = []
            file, path = locations[row["manifest"]], f"/{row['entry']}/data_file/referenced_data_file"
            where: dict[str, Any] = {"file": file, "path": path}
            if row["vector"] and vectors.setdefault(row["key"], row) is not row:
                problems.append(finding("DEL003", "a data file has two deletion vectors", found=row["key"], **where))
            if target < 0 and snapshot_id not in members.completely_read:
                continue  # a manifest could not be read, which was reported
            if target < 0:
                aspect = "" if row["vector"] else "position-deletes"
                message = "the data file of a delete file is not in the snapshot"
                gone = finding("DEL004", message, found=row["key"], aspect=aspect, **where)
                problems.append(evolve(gone, follows=_why_missing(files, mask, places.get(row["key"], -1))))
            else:
                reasons = {reason for reason, deletes in mismatches.items() if deletes[number]}
                problems += _fitting(row, target, files, reasons, where)
            if place not in reported and problems:
                reported.add(place)
                yield from problems


def _why_missing(files: _Files, mask: Numbers, code: int) -> tuple[str, ...]:
    """Return the check that finds the wrong entry because of which a file does not count as a live data file."""
    mine = mask[files.manifest] & (files.code == code)
    if (mine & files.live & (files.content != FileContent.DATA)).any():
        return (OTHER_CONTENT,)
    return (NO_NUMBERS,) if (mine & ~files.live & (files.sequence < 0)).any() else ()


def _fitting(
    row: dict[str, Any], target: int, files: _Files, reasons: set[Mismatch], where: dict[str, Any]
) -> Iterator[Finding]:
    if Mismatch.SEQUENCE_NUMBER in reasons:
        yield finding(
            "SCN008",
            "the deletes are older than their data file and do not apply to it",
            found=row["sequence"],
            expected=f"at least {files.sequence[target]}",
            **where,
            aspect="older",
        )
    if Mismatch.PARTITION in reasons:
        yield finding(
            "SCN008",
            "the partition of the deletes differs from that of their data file, so that they do not apply",
            found=row["key"],
            **where,
            aspect="partition",
        )
    if row["records"] > files.records[target]:
        yield finding(
            "DFL005",
            "the number of deletes exceeds the rows of their data file",
            found=row["records"],
            expected=f"at most {files.records[target]}",
            **where,
            aspect="more-deletes-than-rows",
        )


def _row_ids(
    context: Context, bucket: int, members: ManifestMembership, locations: Mapping[int, str], table: pa.Table
) -> Iterator[Finding]:
    """Find data files of one snapshot that have the same row ids (LIN002).

    A range is in each bucket that it overlaps, and is reported only in the bucket where it starts.
    """
    size = row_bucket_size(context)
    reported: set[tuple[int, int]] = set()
    manifest = table["manifest"].to_numpy()
    first, end, entry = (table[name].to_numpy() for name in ("first", "end", "entry"))
    keys = table["key"]
    for snapshot_id in members.checked:
        rows = np.nonzero(_mask(members, snapshot_id)[manifest] & (end > first))[0]
        if len(rows) < 2:
            continue
        rows = rows[np.lexsort((entry[rows], manifest[rows], first[rows]))]
        reach = np.maximum.accumulate(end[rows])
        for at in (np.nonzero(first[rows][1:] < reach[:-1])[0] + 1).tolist():
            row, other = int(rows[at]), int(rows[int(np.argmax(reach[:at] > first[rows[at]]))])
            begins = min(max(int(first[row]) // size, 0), context.buckets - 1)
            if begins != bucket or keys[row].as_py() == keys[other].as_py():
                continue  # a file that is listed twice has a separate finding
            place = (int(manifest[row]), int(entry[row]))
            if place not in reported:
                reported.add(place)
                yield finding(
                    "LIN002",
                    "two files have the same row ids",
                    file=locations[place[0]],
                    path=f"/{place[1]}/data_file/first_row_id",
                    found=int(first[row]),
                    expected=f"none of {first[other]} to {end[other] - 1}",
                    aspect="overlap",
                )
