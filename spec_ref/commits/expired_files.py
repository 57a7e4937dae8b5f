"""The files that only expired snapshots use (Snapshot Retention Policy).

A file stays in storage as long as some snapshot lists it (TMD034).
"""

from __future__ import annotations

from spec_ref.commits.effects import Steps
from spec_ref.commits.reading import MetadataFileCache
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.metadata import TableMetadata


def expired_files(before: TableMetadata, after: TableMetadata, files: MetadataFileCache) -> Steps[tuple[str, ...]]:
    """Find the files that no snapshot uses any more: data and delete files, manifests, manifest lists, statistics.

    Args:
        before: the table before snapshots expired.
        after: the table without them.
        files: the files read so far.

    Returns:
        Their locations; a file comes before the files that refer to it.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        SpecError: SNP005 or MLS003 if a file that is needed to find the others does not exist.
    """
    kept_ids = {snapshot.snapshot_id for snapshot in after.snapshots}
    expired = [snapshot for snapshot in before.snapshots if snapshot.snapshot_id not in kept_ids]
    if not expired:
        return ()
    kept = yield from _manifests(after.snapshots, files)
    gone = yield from _manifests(tuple(expired), files)
    only_gone = {path: manifest for path, manifest in gone.items() if path not in kept}
    live = yield from _paths(kept, files, live=True)
    data = yield from _paths(gone, files, live=False)
    lists = [snapshot.manifest_list for snapshot in expired if snapshot.manifest_list is not None]
    statistics = _statistics(before) - _statistics(after)
    return (*sorted(data - live), *sorted(statistics), *sorted(only_gone), *lists)


def _manifests(snapshots: tuple[Snapshot, ...], files: MetadataFileCache) -> Steps[dict[str, ManifestFile]]:
    found = {}
    for snapshot in snapshots:
        manifests = yield from files.manifests(snapshot)
        found.update({manifest.manifest_path: manifest for manifest in manifests})
    return found


def _paths(manifests: dict[str, ManifestFile], files: MetadataFileCache, *, live: bool) -> Steps[set[str]]:
    """Collect the paths of the files that manifests list; with ``live``, without those that are marked as deleted."""
    found: set[str] = set()
    for manifest in manifests.values():
        entries = yield from files.entries(manifest)
        found.update(entry.data_file.file_path for entry in entries if entry.live or not live)
    return found


def _statistics(metadata: TableMetadata) -> set[str]:
    return {one.statistics_path for one in metadata.statistics} | {
        one.statistics_path for one in metadata.partition_statistics
    }
