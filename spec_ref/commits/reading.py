"""Reading the state that a change is applied to: manifests and their entries (Manifest Lists; Manifests)."""

from __future__ import annotations

from collections.abc import Iterable

from spec_ref.commits.effects import ReadFile, Steps
from spec_ref.commits.errors import missing_file
from spec_ref.commits.payloads import FileKind, ManifestListPayload, ManifestPayload
from spec_ref.core.records import evolve, field_rules
from spec_ref.core.versions import REQUIRED, FormatVersion
from spec_ref.data_types.types import StructType
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifests.data_file import DataFile
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.inheritance import inherit
from spec_ref.manifests.writer import count_entries
from spec_ref.snapshots.references import MAIN
from spec_ref.snapshots.retention import ancestors
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.metadata import TableMetadata

_LISTED = field_rules(ManifestFile)
COUNTS = tuple(name for name in _LISTED if name.endswith("_count"))
"""The attributes of `ManifestFile` that are counts."""

FileKey = tuple[str, int | None]
"""Identifies a file: its path, and for deletion vectors the offset in it."""

ListedEntry = tuple[ManifestFile, ManifestEntry]
"""An entry, after the manifest that lists it."""


def file_key(data_file: DataFile) -> FileKey:
    """Make the key of a file.

    Args:
        data_file: a data or delete file.

    Returns:
        The path and the content offset, which is None if the file has none.
    """
    return data_file.file_path, data_file.content_offset


def branch_head(metadata: TableMetadata, branch: str) -> Snapshot | None:
    """Find the latest snapshot of a branch.

    Args:
        metadata: the table.
        branch: the name of the branch.

    Returns:
        The snapshot; the head of main if the branch does not exist yet, because it will start there; None if the table
        has no snapshot.
    """
    refs = metadata.references
    ref = refs.get(branch) or refs.get(MAIN)
    return None if ref is None else metadata.snapshot_by_id(ref.snapshot_id)


def branch_history(metadata: TableMetadata, branch: str) -> list[Snapshot]:
    """List the snapshots of a branch from its head back, as far as the table still has them.

    Args:
        metadata: the table.
        branch: the name of the branch.

    Returns:
        The snapshots, newest first.
    """
    latest = branch_head(metadata, branch)
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    return [] if latest is None else list(ancestors(by_id, latest.snapshot_id))


def _manifest_snapshot_id(manifest: ManifestPayload, snapshot: Snapshot) -> int:
    """Find the snapshot that added a manifest, if no list states it: the snapshot that added or deleted its entries.

    Args:
        manifest: the manifest.
        snapshot: a snapshot that lists the manifest; its id is returned if no entry shows the writer.

    Returns:
        The id of the snapshot.
    """
    changed = (one.snapshot_id for one in manifest.entries if one.status is not EntryStatus.EXISTING)
    return next((one for one in changed if one is not None), snapshot.snapshot_id)


class MetadataFileCache:
    """The manifest lists and manifests that a commit has read; they never change, so none is read twice."""

    def __init__(self) -> None:
        self._lists: dict[int, tuple[ManifestFile, ...]] = {}
        self._manifests: dict[str, ManifestPayload] = {}

    def manifests(self, snapshot: Snapshot | None) -> Steps[tuple[ManifestFile, ...]]:
        """Read the manifests of a snapshot.

        Args:
            snapshot: the snapshot; None for no snapshot.

        Returns:
            The entries of its manifest list; empty for no snapshot.

        Yields:
            The effects to perform; their answers are sent back.

        Raises:
            MissingFile: SNP005 if the manifest list does not exist; MLS003 if a manifest that is needed does not.
        """
        if snapshot is None:
            return ()
        if snapshot.snapshot_id not in self._lists:
            if snapshot.manifest_list is None:
                found = yield from self._listed_in_metadata(snapshot)
            else:
                read: ManifestListPayload | None = yield ReadFile(snapshot.manifest_list, FileKind.MANIFEST_LIST)
                if read is None:
                    raise missing_file("SNP005", "the manifest list does not exist", snapshot.manifest_list)
                found = read.files
            self._lists[snapshot.snapshot_id] = found
        return self._lists[snapshot.snapshot_id]

    def _listed_in_metadata(self, snapshot: Snapshot) -> Steps[tuple[ManifestFile, ...]]:
        """Read the manifests of an old snapshot of v1, which has no manifest list (SNP006)."""
        made = []
        for path in snapshot.manifests or ():
            read = yield from self._contents(path)
            made.append(
                evolve(
                    ManifestFile(
                        manifest_path=path,
                        manifest_length=read.length,
                        partition_spec_id=read.spec.spec_id,
                        content=read.content,
                        added_snapshot_id=_manifest_snapshot_id(read, snapshot),
                    ),
                    **count_entries(read.entries),
                )
            )
        return tuple(made)

    def with_counts(self, manifests: Iterable[ManifestFile], version: FormatVersion) -> Steps[tuple[ManifestFile, ...]]:
        """Fill in the counts that a version requires; lists of v1 may omit them.

        Args:
            manifests: entries of a manifest list.
            version: the format version to write.

        Returns:
            The entries with counts.

        Yields:
            The effects to perform; their answers are sent back.

        Raises:
            MissingFile: MLS003 if a manifest that has to be counted does not exist.
        """
        needed = [name for name in COUNTS if _LISTED[name].writer_presence(version) is REQUIRED]
        made = []
        for manifest in manifests:
            if any(getattr(manifest, name) is None for name in needed):
                read = yield from self._contents(manifest.manifest_path)
                made.append(evolve(manifest, **count_entries(read.entries)))
            else:
                made.append(manifest)
        return tuple(made)

    def entries(self, manifest: ManifestFile) -> Steps[tuple[ManifestEntry, ...]]:
        """Read the entries of a manifest, with inherited values.

        Args:
            manifest: the entry of the manifest in the manifest list.

        Returns:
            The entries.

        Yields:
            The effects to perform; their answers are sent back.

        Raises:
            MissingFile: MLS003 if the manifest does not exist.
        """
        read = yield from self._contents(manifest.manifest_path)
        return tuple(inherit(read.entries, manifest, read.format_version))

    def stored_partition(self, manifest: ManifestFile) -> Steps[StructType | None]:
        """Find the type in which a manifest stores partition tuples.

        Args:
            manifest: the entry of the manifest in the manifest list.

        Returns:
            The struct type; None if it is unknown.

        Yields:
            The effects to perform; their answers are sent back.

        Raises:
            MissingFile: MLS003 if the manifest does not exist.
        """
        return (yield from self._contents(manifest.manifest_path)).partition

    def _contents(self, path: str) -> Steps[ManifestPayload]:
        if path not in self._manifests:
            read: ManifestPayload | None = yield ReadFile(path, FileKind.MANIFEST)
            if read is None:
                raise missing_file("MLS003", "the manifest does not exist", path)
            self._manifests[path] = read
        return self._manifests[path]

    def live(self, manifests: tuple[ManifestFile, ...]) -> Steps[list[tuple[ManifestFile, ManifestEntry]]]:
        """Read the entries of live files.

        Args:
            manifests: entries of a manifest list.

        Returns:
            The entries, each with its manifest.

        Yields:
            The effects to perform; their answers are sent back.

        Raises:
            MissingFile: MLS003 if a manifest does not exist.
        """
        found: list[tuple[ManifestFile, ManifestEntry]] = []
        for manifest in manifests:
            if manifest.may_have_live_files:
                entries = yield from self.entries(manifest)
                found.extend((manifest, entry) for entry in entries if entry.live)
        return found

    def read_changes(self, snapshot: Snapshot, status: EntryStatus) -> Steps[list[tuple[ManifestFile, ManifestEntry]]]:
        """Read the entries that a snapshot added or marked as deleted.

        Args:
            snapshot: the snapshot.
            status: the status of the entries.

        Returns:
            The entries, each with its manifest.

        Yields:
            The effects to perform; their answers are sent back.

        Raises:
            MissingFile: SNP005 if the manifest list does not exist; MLS003 if a manifest does not.
        """
        manifests = yield from self.manifests(snapshot)
        found: list[tuple[ManifestFile, ManifestEntry]] = []
        for manifest in manifests:
            if manifest.added_snapshot_id != snapshot.snapshot_id:
                continue
            entries = yield from self.entries(manifest)
            found.extend(
                (manifest, entry)
                for entry in entries
                if entry.status is status and entry.snapshot_id == snapshot.snapshot_id
            )
        return found
