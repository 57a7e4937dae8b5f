"""Where the next metadata file goes and how it becomes the table's (File System Tables; Metastore Tables)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from spec_ref.commits.contents import FileKind
from spec_ref.commits.effects import Effect, ReadFile, ReadPointer
from spec_ref.records import record
from spec_ref.table_metadata.files import GZIP_SUFFIXES, METADATA_SUFFIX, file_system_name, metastore_name, parse_name
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.writer import write_metadata

COMPRESSION = "write.metadata.compression-codec"
METADATA_PATH = "write.metadata.path"


def metadata_directory(metadata: TableMetadata) -> str:
    """Where new metadata files, manifest lists and manifests go (NOT001)."""
    path = metadata.properties.get(METADATA_PATH, "metadata").rstrip("/")
    return path if path.startswith("/") or "://" in path else f"{metadata.location.rstrip('/')}/{path}"


def is_compressed(metadata: TableMetadata) -> bool:
    """Whether the table asks for metadata in gzip."""
    return metadata.properties.get(COMPRESSION, "none").lower() == "gzip"


class Table(Protocol):
    """A kind of table: names of metadata files, and finding out what became of a swap."""

    def written_name(self, expected: str | None, metadata: TableMetadata, unique: str) -> str:
        """Where new metadata is written before the swap."""

    def was_done(self, expected: str | None, new: str, metadata: TableMetadata) -> Generator[Effect, Any, bool | None]:
        """Whether a swap was done, as what can be read now proves it.

        None means that nothing is proved: it may yet be done, or what was read is old.
        """


def version_of(location: str | None) -> int:
    """The number in the name of a metadata file; 0 for no file, or a name without one."""
    return 0 if location is None else parse_name(location).version or 0


@record
class MetastoreTable:
    """The pointer is in a metastore, which swaps it (OCC012)."""

    def written_name(self, expected: str | None, metadata: TableMetadata, unique: str) -> str:
        """``<V+1>-<random-uuid>.metadata.json``."""
        version = 0 if expected is None else version_of(expected) + 1
        name = metastore_name(version, unique, compressed=is_compressed(metadata))
        return f"{metadata_directory(metadata)}/{name}"

    def was_done(self, expected: str | None, new: str, metadata: TableMetadata) -> Generator[Effect, Any, bool | None]:
        """What came after ``expected``, by the metadata log of the table now: names are never used twice."""
        now = yield ReadPointer()
        if now == new:
            return True
        if now is None or now == expected:
            return None
        later: list[str] = [now]
        seen = set()
        while later[0] not in seen:
            seen.add(later[0])
            read = yield ReadFile(later[0], FileKind.METADATA)
            if read is None:
                return None
            later = [*(entry.metadata_file for entry in read.metadata_log), *later]
            if new in later:
                return True
            if expected in later:
                return False
        return None


@record
class FileSystemTable:
    """The pointer is the highest ``v<N>.metadata.json`` that there is (OCC010)."""

    def written_name(self, expected: str | None, metadata: TableMetadata, unique: str) -> str:
        """A random name, which the swap renames to that of the next version."""
        suffix = GZIP_SUFFIXES[0] if is_compressed(metadata) else METADATA_SUFFIX
        return f"{metadata_directory(metadata)}/{unique}{suffix}"

    def was_done(self, expected: str | None, new: str, metadata: TableMetadata) -> Generator[Effect, Any, bool | None]:
        """Whether the next version's file holds what was to be committed.

        Two commits of a snapshot are never the same; of two that make the very same metadata, both are done.
        """
        for compressed in (False, True):
            path = version_path(metadata, version_of(expected) + 1, compressed=compressed)
            read = yield ReadFile(path, FileKind.METADATA)
            if read is not None:
                return read == metadata or write_metadata(read) == write_metadata(metadata)
        return None


def version_path(metadata: TableMetadata, version: int, *, compressed: bool | None = None) -> str:
    """The location of a version of a file-system table."""
    packed = is_compressed(metadata) if compressed is None else compressed
    return f"{metadata_directory(metadata)}/{file_system_name(version, compressed=packed)}"
