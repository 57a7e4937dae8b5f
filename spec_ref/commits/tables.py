"""The location of the next metadata file, and how it becomes current (File System Tables; Metastore Tables).

A version of a file-system table becomes current by a rename that must not replace a file. New tables should be in a
metastore: the rename is deprecated, and neither object stores nor local file systems make it safe (OCC011).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from spec_ref.commits.effects import Effect, ReadFile, ReadPointer
from spec_ref.commits.payloads import FileKind
from spec_ref.core.locations import has_scheme
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
    """Find the directory of new metadata files, manifest lists and manifests (NOT001).

    Args:
        metadata: the table.

    Returns:
        The location, without a slash at the end.
    """
    path = metadata.properties.get(METADATA_PATH, "metadata").rstrip("/")
    return path if path.startswith("/") or has_scheme(path) else f"{metadata.location.rstrip('/')}/{path}"


def compresses_metadata(metadata: TableMetadata) -> bool:
    """Decide whether the table's properties ask for metadata in gzip.

    Args:
        metadata: the table.

    Returns:
        Whether they do.
    """
    return metadata.properties.get(COMPRESSION, "none").lower() == "gzip"


class TableKind(Protocol):
    """A kind of table: the names of its metadata files, and how to find out the result of a swap."""

    def new_metadata_location(
        self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique_part: str
    ) -> str:
        """Choose the location where new metadata is written before the swap.

        Args:
            base: the location and the content of the previous metadata file; None for a new table.
            metadata: the new metadata.
            unique_part: a text that no other file of the table has in its name.

        Returns:
            The location.
        """

    def is_committed(
        self, expected: str | None, new: str, metadata: TableMetadata
    ) -> Generator[Effect, Any, bool | None]:
        """Find out whether a swap was done, as far as the current state proves it.

        None means unknown: the swap may still happen, or the state that was read is outdated.

        Args:
            expected: the metadata file that the swap expected; None for a new table.
            new: the metadata file that the swap set.
            metadata: the content of that file.

        Returns:
            True or False; None if it is unknown.
        """


def metadata_version(location: str | None) -> int:
    """Find the version in the name of a metadata file.

    Args:
        location: the location of the file; None for no file.

    Returns:
        The version; 0 for no file, or a name without a version.

    Raises:
        SpecError: NOT009 if it is not the name of a metadata file.
    """
    return 0 if location is None else parse_name(location).version or 0


@record
class MetastoreTable:
    """A table whose pointer is in a metastore, which swaps it (OCC012)."""

    def new_metadata_location(
        self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique_part: str
    ) -> str:
        """Choose the name ``<V+1>-<random-uuid>.metadata.json``.

        Args:
            base: the location and the content of the previous metadata file; None for a new table.
            metadata: the new metadata.
            unique_part: a text that no other file of the table has in its name.

        Returns:
            The location.
        """
        version = 0 if base is None else metadata_version(base[0]) + 1
        name = metastore_name(version, unique_part, compressed=compresses_metadata(metadata))
        return f"{metadata_directory(metadata)}/{name}"

    def is_committed(
        self, expected: str | None, new: str, metadata: TableMetadata
    ) -> Generator[Effect, Any, bool | None]:
        """Find the successor of ``expected`` in the metadata log of the current metadata; names are never used twice.

        Args:
            expected: the metadata file that the swap expected; None for a new table.
            new: the metadata file that the swap set.
            metadata: the content of that file.

        Returns:
            As `TableKind.is_committed`.

        Yields:
            The effects to perform; their answers are sent back.
        """
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
    """A table whose pointer is the highest existing ``v<N>.metadata.json`` (OCC010).

    Metadata is in the directory ``metadata`` of the table, and compressed like the previous file: two writers have to
    compete for the same name of the next version.
    """

    def new_metadata_location(
        self, base: tuple[str, TableMetadata] | None, metadata: TableMetadata, unique_part: str
    ) -> str:
        """Choose a random name, which the swap renames to that of the next version.

        Args:
            base: the location and the content of the previous metadata file; None for a new table.
            metadata: the new metadata.
            unique_part: a text that no other file of the table has in its name.

        Returns:
            The location.
        """
        suffix = GZIP_SUFFIXES[0] if compresses_metadata(metadata if base is None else base[1]) else METADATA_SUFFIX
        return f"{version_directory(metadata)}/{unique_part}{suffix}"

    def is_committed(
        self, expected: str | None, new: str, metadata: TableMetadata
    ) -> Generator[Effect, Any, bool | None]:
        """Find out whether the file of the next version has the content to commit and was renamed from ``new``.

        Others may have committed identical metadata, such as the same expiry: then the written file still exists.

        Args:
            expected: the metadata file that the swap expected; None for a new table.
            new: the metadata file that the swap set.
            metadata: the content of that file.

        Returns:
            As `TableKind.is_committed`.

        Yields:
            The effects to perform; their answers are sent back.
        """
        read = yield ReadFile(next_version(expected, new), FileKind.METADATA)
        if read is None:
            return None
        if read != metadata and write_metadata(read) != write_metadata(metadata):
            return False
        left = yield ReadFile(new, FileKind.METADATA)
        return left is None


def version_directory(metadata: TableMetadata) -> str:
    """Find the directory of the metadata files of a file-system table.

    Args:
        metadata: the table.

    Returns:
        The location, without a slash at the end.
    """
    return f"{metadata.location.rstrip('/')}/metadata"


def next_version(expected: str | None, new: str) -> str:
    """Find the location of the next version of a file-system table.

    Args:
        expected: the metadata file of the previous version; None for the first.
        new: the metadata file as it was written, in the same directory.

    Returns:
        The location.

    Raises:
        SpecError: NOT009 if ``expected`` is not the name of a metadata file.
    """
    directory, _, name = new.rpartition("/")
    return f"{directory}/{file_system_name(metadata_version(expected) + 1, compressed=is_compressed_name(name))}"
