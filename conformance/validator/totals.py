"""Snapshot summaries, compared with the files in the manifests (Optional Snapshot Summary Fields)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from conformance.core.counts import plural
from conformance.validator.check_results import ManifestSums, Miscount, Sums
from conformance.validator.context import Context, ManifestMembership
from conformance.validator.finding import finding
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import Description
from spec_ref.core.numbers import parse_whole_number
from spec_ref.core.records import evolve
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.snapshots.summary import SnapshotOperation

_TOTALS = {
    "total-data-files": "data_files",
    "total-records": "records",
    "total-files-size": "files_size",
    "total-delete-files": "delete_files",
    "total-position-deletes": "position_deletes",
    "total-equality-deletes": "equality_deletes",
}
_ADDED = {
    "added-data-files": "data_files",
    "added-records": "records",
    "added-files-size": "files_size",
    "added-delete-files": "delete_files",
    "added-position-delete-files": "position_delete_files",
    "added-dvs": "vectors",
    "added-equality-delete-files": "equality_delete_files",
    "added-position-deletes": "position_deletes",
    "added-equality-deletes": "equality_deletes",
}
_DELETED = {
    "deleted-data-files": "data_files",
    "deleted-records": "records",
    "removed-files-size": "files_size",
    "removed-delete-files": "delete_files",
    "removed-position-delete-files": "position_delete_files",
    "removed-dvs": "vectors",
    "removed-equality-delete-files": "equality_delete_files",
    "removed-position-deletes": "position_deletes",
    "removed-equality-deletes": "equality_deletes",
}
_WITH_VECTORS = {"added-position-delete-files": "added-dvs", "removed-position-delete-files": "removed-dvs"}
"""Counts that include the deletion vectors if a summary does not count these separately, as iceberg-go 0.7.0 writes."""


def check_totals(
    context: Context, members: ManifestMembership, sums: Mapping[int, ManifestSums], miscounted: Iterable[Miscount] = ()
) -> Iterator[Finding]:
    """Find differences between the summaries of the checked snapshots and their manifests.

    Args:
        context: the table.
        members: which manifests the snapshots have.
        sums: the counts of the manifests.
        miscounted: entries with wrong counts of rows or bytes of their files, as far as files were read. A summary with
            the right count is accepted.
    """
    corrections: dict[int, list[Miscount]] = {}
    for miscount in miscounted:
        corrections.setdefault(miscount.manifest, []).append(miscount)
    for place, snapshot in enumerate(context.metadata.snapshots):
        if snapshot.snapshot_id not in members.checked:
            continue
        mine = [sums.get(number) for number in members.by_snapshot[snapshot.snapshot_id]]
        known = [one for one in mine if one is not None and one.is_complete]
        if len(known) < len(mine):
            continue  # another check reported that a manifest cannot be read
        path = f"/snapshots/{place}/summary"
        wrong = [one for sums_ in known for one in corrections.get(sums_.number, ())]
        yield from _compare(partial(_mismatches, context, snapshot, path, wrong), known)
        if snapshot.operation is SnapshotOperation.REPLACE:
            parents = [sums.get(number) for number in members.by_snapshot.get(snapshot.parent_snapshot_id or 0, ())]
            read = [one for one in parents if one is not None and one.is_complete]
            before = read if read and len(read) == len(parents) else None
            yield from _compare(partial(_check_replaced, context, snapshot, path), known, before)


def _compare(compare: Callable[..., Iterator[Finding]], *groups: list[ManifestSums] | None) -> Iterator[Finding]:
    """Yield findings about manifests; a finding that contradicted entries explain follows from these."""
    found = compare(*groups)
    causes = frozenset[str]().union(*(manifest.causes for group in groups for manifest in group or ()))
    if causes:
        right = (group and [manifest.corrected or manifest for manifest in group] for group in groups)
        left = {(one.check, one.path) for one in compare(*right)}
        follows = tuple(sorted(causes))
        found = (one if (one.check, one.path) in left else evolve(one, follows=follows) for one in found)
    yield from found


def _check_replaced(
    context: Context, snapshot: Snapshot, path: str, manifests: list[ManifestSums], parents: list[ManifestSums] | None
) -> Iterator[Finding]:
    """Check that a snapshot that only rewrites files has the rows of its parent (SNP014).

    Its files may have fewer rows, as deleted rows are not rewritten. The number of deleted rows is known if all deletes
    are vectors, has a limit if some are position deletes, and is unknown if there are equality deletes.
    """
    before, after, added, deleted = Sums(), Sums(), Sums(), Sums()
    for manifest in parents or ():
        before = before.add(manifest.live)
    for manifest in manifests:
        after = after.add(manifest.live)
        added = added.add(manifest.added.get(snapshot.snapshot_id, Sums()))
        deleted = deleted.add(manifest.deleted.get(snapshot.snapshot_id, Sums()))
    where: dict[str, str] = {"file": context.metadata_location, "path": f"{path}/operation"}
    if added.records > deleted.records:
        yield finding(
            "SNP014",
            "a snapshot that replaces files adds rows",
            found=Description(plural(added.records, "row")),
            expected=f"at most {deleted.records}",
            aspect="more-rows",
            **where,
        )
    if parents is None or before.equality_delete_files or after.equality_delete_files:
        return
    least = before.records - before.position_deletes
    left = after.records
    if not before.position_delete_files and not after.position_delete_files:
        left -= after.position_deletes
    if left < least:
        yield finding(
            "SNP014",
            "a snapshot that replaces files loses rows",
            found=Description(plural(left, "row")),
            expected=f"at least {least}",
            aspect="fewer-rows",
            **where,
        )


def _mismatches(
    context: Context, snapshot: Snapshot, path: str, miscounted: list[Miscount], manifests: list[ManifestSums]
) -> Iterator[Finding]:
    """Compare a summary with the manifests."""
    live, added, deleted = Sums(), Sums(), Sums()
    for manifest in manifests:
        live = live.add(manifest.live)
        added = added.add(manifest.added.get(snapshot.snapshot_id, Sums()))
        deleted = deleted.add(manifest.deleted.get(snapshot.snapshot_id, Sums()))
    summary, file = snapshot.summary or {}, context.metadata_location
    live_rows = added_rows = Sums()
    for one in miscounted:
        live_rows = live_rows.add(one.rows)
        added_rows = added_rows.add(one.rows if one.added_by == snapshot.snapshot_id else Sums())
    for names, counted, more in ((_TOTALS, live, live_rows), (_ADDED, added, added_rows), (_DELETED, deleted, Sums())):
        for name, attribute in names.items():
            text = summary.get(name)
            permitted = {getattr(counted, attribute), getattr(counted.add(more), attribute)}
            if attribute == "files_size":
                permitted |= {counted.whole_files_size, counted.add(more).whole_files_size}
            if name in _WITH_VECTORS and _WITH_VECTORS[name] not in summary:
                permitted.add(counted.position_delete_files + counted.vectors)
            if text is None or not (text.isascii() and text.isdigit()):
                continue  # a check of the metadata reported what is not a number
            if parse_whole_number(text) not in permitted:
                yield finding(
                    "NOT005",
                    f"{name} in the summary differs from the manifests",
                    file=file,
                    path=f"{path}/{name}",
                    found=text,
                    expected=str(getattr(counted, attribute)),
                    aspect="mismatch",
                )
    operation = snapshot.operation
    if operation is SnapshotOperation.APPEND and (deleted.data_files or deleted.delete_files):
        yield finding(
            "SNP018",
            "a snapshot with the operation append deletes files",
            file=file,
            path=f"{path}/operation",
            found=Description(plural(deleted.data_files + deleted.delete_files, "deleted file")),
            expected="none",
        )
    if operation is SnapshotOperation.APPEND and added.delete_files:
        yield finding(
            "SNP013",
            "a snapshot with the operation append adds delete files",
            file=file,
            path=f"{path}/operation",
            found=Description(plural(added.delete_files, "added delete file")),
            expected="none",
            aspect="adds-deletes",
        )
    if operation is SnapshotOperation.DELETE and added.data_files:
        yield finding(
            "SNP016",
            "a snapshot with the operation delete adds data files",
            file=file,
            path=f"{path}/operation",
            found=Description(plural(added.data_files, "added data file")),
            expected="none",
        )
