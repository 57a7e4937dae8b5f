"""Tables by location: a metadata file, or the directory of a table (File System Tables; Metastore Tables)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import attrs

from conformance.core.failures import NotExamined
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.file_access import (
    FileMissing,
    ListedFile,
    is_directory,
    list_files,
    read_bytes,
    split_location,
)
from spec_ref.core.errors import SpecError
from spec_ref.table_metadata import TableMetadata, read_metadata
from spec_ref.table_metadata.files import MAX_METADATA_BYTES, MetadataFileName, parse_name

with lazy_imports():
    from conformance.table_io import encryption

HINT = "version-hint.text"
MAX_HINT_BYTES = 1 << 12


class NoTable(NotExamined):
    """There is no table at the location, or its current metadata file is ambiguous."""


@attrs.frozen
class Table:
    """A table: its metadata, and the file that it was read from."""

    metadata_location: str
    metadata: TableMetadata
    key_service: encryption.KeyService | None = None
    """Unwraps the keys of an encrypted table."""

    def manifest_reader(self) -> Callable[[str], bytes]:
        """Return a function that reads manifest lists and manifests of the table, and decrypts encrypted ones."""
        encrypted = any(one.key_id is not None for one in self.metadata.snapshots or ())
        return encryption.DecryptingReader(self.metadata, self.key_service, read_bytes) if encrypted else read_bytes


def load_table(location: str, *, key_service: encryption.KeyService | None = None) -> Table:
    """Load the table at a location.

    Args:
        location: a metadata file, the directory of a table, or the directory ``metadata`` in it; a path, or a URI of
            a store that `file_access` serves.
        key_service: unwraps the keys of an encrypted table, such as `conformance.table_io.encryption.load_key_file`.

    Raises:
        FileAccessError: a file is missing, or cannot be read.
        NoTable: the directory has no metadata file, or several of one version.
        SpecError: the metadata is not valid.
    """
    found = metadata_location(location)
    return Table(found, read_metadata(read_bytes(found, limit=MAX_METADATA_BYTES), file=found), key_service)


def metadata_location(location: str) -> str:
    """Return the current metadata file of the table at a location; the location itself if it is not a directory.

    In a directory, it is the file with the highest version, as each commit adds 1 to the version. The version hint may
    lag behind; it is only used if it names the file of a metastore table, as failed commits to such a table may leave
    files with the same version.

    Raises:
        FileAccessError, NoTable: as in `load_table`; or the location has percent-encoded characters.
    """
    if location.endswith(_ENDS) and split_location(location).scheme != "file":
        return location  # saves a request: no directory on a store has such a name
    if not is_directory(location):
        decoded = unquote(location)
        local = split_location(location)
        if decoded != location and local.scheme == "file" and not Path(local.path).exists() and is_directory(decoded):
            raise NoTable(f"{location}: there is no such file or directory; locations are not decoded: write {decoded}")
        return location
    directory = f"{location.rstrip('/')}/metadata"
    if not is_directory(directory):
        directory = location.rstrip("/")
    files = list_files(directory)
    named = [(name, file) for file in files if (name := _name(file)) is not None and name.version is not None]
    of_file_system = [(name, file) for name, file in named if name.unique_part is None]
    of_metastore = [(name, file) for name, file in named if name.unique_part is not None]
    if of_file_system and not of_metastore:
        return _highest(directory, of_file_system)
    hint = _hint(files)
    if of_file_system and hint is not None:
        return _highest(directory, of_file_system)
    if hint is not None:
        pointed = [file for file in files if file.name in (hint, *(f"{hint}{end}" for end in _ENDS))]
        if pointed:
            return pointed[0].location
    return _highest(directory, named)


_OTHER_FORMATS = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
"""The folders by which tables of other formats are recognised."""

_ENDS = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")


def _name(file: ListedFile) -> MetadataFileName | None:
    try:
        return parse_name(file.name)
    except SpecError:
        return None


def _hint(files: tuple[ListedFile, ...]) -> str | None:
    """Return the content of the version hint; None if there is none or it is not valid."""
    file = next((file for file in files if file.name == HINT), None)
    if file is None or file.size > MAX_HINT_BYTES:
        return None
    try:
        text = read_bytes(file.location).decode().strip()
    except (UnicodeDecodeError, FileMissing):
        return None
    return text if re.fullmatch(r"[A-Za-z0-9._-]+", text) else None


def _highest(directory: str, named: list[tuple[MetadataFileName, ListedFile]]) -> str:
    if not named:
        for place in (directory.removesuffix("/metadata"), directory):
            other = next((name for mark, name in _OTHER_FORMATS.items() if is_directory(f"{place}/{mark}")), None)
            if other is not None:
                raise NoTable(f"{place}: this is a {other} table, without Iceberg metadata")
        raise NoTable(
            f"{directory}: no file has a name of table metadata, v<N>.metadata.json or <N>-<uuid>.metadata.json"
        )
    version = max(name.version or 0 for name, _ in named)
    highest = [file for name, file in named if (name.version or 0) == version]
    if len(highest) > 1:
        names = ", ".join(file.name for file in highest)
        raise NoTable(f"{directory}: version {version} has several metadata files, {names}; name the current one")
    return highest[0].location
