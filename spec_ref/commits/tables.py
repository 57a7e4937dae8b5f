"""Where the next metadata file goes and how it becomes the table's (File System Tables; Metastore Tables)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from spec_ref.commits.effects import Effect, ReadFile, ReadPointer
from spec_ref.commits.payloads import FileKind
from spec_ref.core.records import record
from spec_ref.table_metadata.files import (
    GZIP_SUFFIXES,
    METADATA_SUFFIX,
    file_system_name,
    is_compressed_name,
    metastore_name,
    parse_name,
)
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

    def written_name(self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique: str) -> str:
        """Where new metadata is written before the swap; ``base`` is the metadata file before, and what it holds."""

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

    def written_name(self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique: str) -> str:
        """``<V+1>-<random-uuid>.metadata.json``."""
        version = 0 if base is None else version_of(base[0]) + 1
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
    """The pointer is the highest ``v<N>.metadata.json`` that there is (OCC010).

    Metadata is in the directory ``metadata`` of the table, and compressed as the file before: two writers have to want
    the same name for the next version.
    """

    def written_name(self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique: str) -> str:
        """A random name, which the swap renames to that of the next version."""
        suffix = GZIP_SUFFIXES[0] if is_compressed(metadata if base is None else base[1]) else METADATA_SUFFIX
        return f"{version_directory(metadata)}/{unique}{suffix}"

    def was_done(self, expected: str | None, new: str, metadata: TableMetadata) -> Generator[Effect, Any, bool | None]:
        """Whether the next version's file holds what was to be committed, and the file that was written is renamed.

        Others may have committed the very same metadata, such as the same expiry: then the file is still there.
        """
        read = yield ReadFile(next_version(expected, new), FileKind.METADATA)
        if read is None:
            return None
        if read != metadata and write_metadata(read) != write_metadata(metadata):
            return False
        left = yield ReadFile(new, FileKind.METADATA)
        return left is None


def version_directory(metadata: TableMetadata) -> str:
    """Where the metadata files of a file-system table are."""
    return f"{metadata.location.rstrip('/')}/metadata"


def next_version(expected: str | None, new: str) -> str:
    """The location of the next version of a file-system table.

    Args:
        expected: the metadata file of the version before; None for the first.
        new: the metadata file as it was written, in the same directory.
    """
    directory, _, name = new.rpartition("/")
    return f"{directory}/{file_system_name(version_of(expected) + 1, compressed=is_compressed_name(name))}"
