"""The manifests that a commit writes, over all its attempts, and those of its new files (Manifests; Sequence Numbers).

A retry reuses the manifests of earlier attempts if they would be written identically (SEQ004), because they contain no
sequence number and no row ids of new files. Their entries in the manifest list are made for each attempt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from spec_ref.commits.changes import NewFile, SnapshotChange
from spec_ref.commits.effects import Steps, WriteFile
from spec_ref.commits.payloads import ManifestPayload
from spec_ref.commits.tables import metadata_directory
from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve
from spec_ref.core.versions import SEQUENCE_NUMBERS
from spec_ref.data_types.promotion import is_promotable
from spec_ref.data_types.types import UNKNOWN, StructType, Type
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifests.data_file import FileContent
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.writer import build_manifest_file
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.table_metadata.metadata import TableMetadata


@attrs.frozen
class WrittenManifest:
    """A manifest that an attempt wrote."""

    path: str
    length: int
    entries: tuple[ManifestEntry, ...]
    spec: PartitionSpec
    content: ManifestContent
    partition: StructType


class CommitManifests:
    """The manifests that one commit writes, over all its attempts."""

    def __init__(self, name: str, snapshot_id: int) -> None:
        self.name = name
        self.snapshot_id = snapshot_id
        self._written: dict[Any, WrittenManifest] = {}

    @property
    def written_manifests(self) -> list[WrittenManifest]:
        """The manifests that were written, over all attempts."""
        return list(self._written.values())

    @property
    def paths(self) -> list[str]:
        """The locations of the manifests that were written, over all attempts."""
        return [written.path for written in self._written.values()]

    def write(
        self,
        key: Any,
        entries: Iterable[ManifestEntry],
        spec: PartitionSpec,
        content: ManifestContent,
        metadata: TableMetadata,
        sequence_number: int,
        stored_types: Iterable[StructType | None] = (),
    ) -> Steps[ManifestFile]:
        """Write a manifest, unless an earlier attempt wrote the same one.

        Args:
            key: identifies the entries; equal keys mean equal entries.
            entries: the entries as they are written, with nulls where they inherit.
            spec: their partition spec.
            content: the kind of their files.
            metadata: the table.
            sequence_number: the sequence number of this attempt.
            stored_types: the types of the partition tuples in the manifests that the entries were read from.

        Returns:
            The entry of the manifest in the manifest list.

        Yields:
            The effects to perform; their answers are sent back.
        """
        # A manifest of v1 gives its new files the sequence number 0, even if the table has been upgraded since.
        key = (key, SEQUENCE_NUMBERS.is_supported(metadata.format_version))
        schema = metadata.current_schema
        if key not in self._written:
            made = tuple(entries)
            path = f"{metadata_directory(metadata)}/{self.name}-m{len(self._written)}.avro"
            partition = partition_type(metadata, spec, stored_types)
            contents = ManifestPayload(
                entries=made,
                format_version=metadata.format_version,
                content=content,
                spec=spec,
                schema=schema,
                partition=partition,
            )
            length = yield WriteFile(path, contents)
            self._written[key] = WrittenManifest(path, length, made, spec, content, partition)
        written = self._written[key]
        return build_manifest_file(
            written.entries,
            spec,
            schema,
            path=written.path,
            length=written.length,
            snapshot_id=self.snapshot_id,
            sequence_number=sequence_number,
            content=content,
            partition=written.partition,
        )


def partition_type(
    metadata: TableMetadata, spec: PartitionSpec, stored_types: Iterable[StructType | None]
) -> StructType:
    """Find the type in which partition tuples of a spec are written; tuples of old files are copied unchanged.

    Args:
        metadata: the table, whose schemas have the types of source columns, including dropped ones.
        spec: the partition spec.
        stored_types: the types of the tuples in manifests, for fields of unknown transforms and of columns that no
            schema has.

    Returns:
        The struct type.

    Raises:
        SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
    """
    declared = metadata.partition_type(spec)
    if all(field.type != UNKNOWN for field in declared.fields):
        return declared
    found: dict[int, Type] = {}
    for field in (field for type_ in stored_types if type_ is not None for field in type_.fields):
        before = found.get(field.id, UNKNOWN)
        if before == UNKNOWN or is_promotable(before, field.type, metadata.format_version):
            found[field.id] = field.type
    return StructType(
        tuple(
            evolve(field, type=found.get(field.id, UNKNOWN)) if field.type == UNKNOWN else field
            for field in declared.fields
        )
    )


MANIFEST_CONTENT = {
    FileContent.DATA: ManifestContent.DATA,
    FileContent.POSITION_DELETES: ManifestContent.DELETES,
    FileContent.EQUALITY_DELETES: ManifestContent.DELETES,
}


def new_manifests(
    change: SnapshotChange,
    planned: TableMetadata,
    current: TableMetadata,
    commit_manifests: CommitManifests,
    sequence_number: int,
) -> Steps[list[ManifestFile]]:
    """Write the manifests of the files to add: one for each partition spec and kind of file.

    Args:
        change: the change.
        planned: the table that it was planned on.
        current: the table that it is applied to.
        commit_manifests: the manifests written so far.
        sequence_number: the sequence number of this attempt.

    Returns:
        The entries of the manifests in the manifest list.

    Yields:
        The effects to perform; their answers are sent back.

    Raises:
        SpecError: TMD012 for a partition spec that the table does not have; PAR007 for one with an unknown transform.
    """
    groups: dict[tuple[int, ManifestContent], list[NewFile]] = {}
    for new in change.added:
        groups.setdefault((new.resolved_spec_id(planned), MANIFEST_CONTENT[new.data_file.content]), []).append(new)
    manifests = []
    for (spec_id, content), group in groups.items():
        entries = (added_entry(new, commit_manifests.snapshot_id) for new in group)
        spec = current.spec_by_id(spec_id)
        if not spec.is_writable:
            raise spec_error(
                "PAR007",
                "the partition spec has an unknown transform, with which files cannot be committed",
                found=spec_id,
            )
        manifests.append(
            (
                yield from commit_manifests.write(
                    ("new", spec_id, content), entries, spec, content, current, sequence_number
                )
            )
        )
    return manifests


def added_entry(new: NewFile, snapshot_id: int) -> ManifestEntry:
    """Make the entry of a new file; its file sequence number and its row ids are inherited (SEQ005, LIN018).

    Args:
        new: the file to add.
        snapshot_id: the id of the snapshot that adds it.

    Returns:
        The entry.
    """
    return ManifestEntry(
        status=EntryStatus.ADDED,
        snapshot_id=snapshot_id,
        sequence_number=new.data_sequence_number,
        data_file=evolve(new.data_file, first_row_id=None),
    )
