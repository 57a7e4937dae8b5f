"""The contents of the files that a commit reads and writes (Table Metadata; Manifest Lists; Manifests).

A content is a Python value. Runners of real stores encode and decode it; the simulator passes it on unchanged.
"""

from __future__ import annotations

import enum
from typing import TypeAlias

from spec_ref.core.errors import SpecError
from spec_ref.core.records import record
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import StructType
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.writer import write_manifest
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.schema import Schema
from spec_ref.table_metadata.files import is_compressed_name
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.reader import read_metadata
from spec_ref.table_metadata.writer import to_bytes


class FileKind(enum.Enum):
    """The kind of a file to read."""

    METADATA = "metadata"
    MANIFEST_LIST = "manifest-list"
    MANIFEST = "manifest"


@record(kw_only=True)
class ManifestListPayload:
    """A manifest list."""

    files: tuple[ManifestFile, ...]
    format_version: FormatVersion = FormatVersion.V1
    """The version to write; unknown for a list that was read."""

    snapshot_id: int | None = None
    parent_snapshot_id: int | None = None
    sequence_number: int | None = None
    first_row_id: int | None = None


@record(kw_only=True)
class ManifestPayload:
    """A manifest, with its entries as written: nulls are inherited."""

    entries: tuple[ManifestEntry, ...]
    format_version: FormatVersion
    content: ManifestContent
    spec: PartitionSpec
    schema: Schema | None = None
    """The schema to write; not needed for a manifest that was read."""

    partition: StructType | None = None
    """The type of the partition tuples, as written or as read; None if it is unknown."""

    length: int = 0
    """The length in bytes of a manifest that was read."""


Payload: TypeAlias = TableMetadata | ManifestListPayload | ManifestPayload


def encode(content: Payload, path: str) -> bytes:
    """Encode the content of a file; metadata is compressed if the path indicates it.

    Args:
        content: the content.
        path: the location of the file.

    Returns:
        The bytes of the file.

    Raises:
        SpecError: the code of a rule for writers that the content breaks.
        ValueError: if the content lacks what is needed to write it.
    """
    match content:
        case TableMetadata():
            return to_bytes(content, compressed=is_compressed_name(path))
        case ManifestListPayload():
            return write_manifest_list(
                content.files,
                content.format_version,
                snapshot_id=content.snapshot_id,
                parent_snapshot_id=content.parent_snapshot_id,
                sequence_number=content.sequence_number,
                first_row_id=content.first_row_id,
            )
        case ManifestPayload(schema=Schema() as schema):
            return write_manifest(
                content.entries,
                content.spec,
                schema,
                content.format_version,
                content.content,
                partition=content.partition,
            )
    message = "the schema of the manifest is missing"
    raise ValueError(message)


def decode(data: bytes, kind: FileKind, path: str) -> Payload:
    """Decode the content of a file.

    A manifest list is read without the version of its table, as its columns have the same rules for readers in every
    version (`spec_ref.manifest_lists.manifest_file`); a manifest and metadata state their version.

    Args:
        data: the bytes of the file.
        kind: the kind of the file.
        path: the location of the file, for errors.

    Returns:
        The content.

    Raises:
        SpecError: the codes of the reader of its kind, if the file is malformed.
    """
    match kind:
        case FileKind.METADATA:
            return read_metadata(data, file=path)
        case FileKind.MANIFEST_LIST:
            return ManifestListPayload(files=read_manifest_list(data, file=path))
        case FileKind.MANIFEST:
            manifest = read_manifest(data, file=path)
            return ManifestPayload(
                entries=tuple(manifest.written_entries()),
                format_version=manifest.format_version,
                content=manifest.content,
                spec=manifest.spec or PartitionSpec(manifest.spec_id or 0),
                partition=_stored_partition(manifest),
                length=len(data),
            )


def _stored_partition(manifest: Manifest) -> StructType | None:
    try:
        return manifest.partition_type()
    except SpecError:
        return None
