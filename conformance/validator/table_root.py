"""The root of a table: finding its metadata file from a location, and checking that file as a whole.

A file that starts like a JSON object, plain or in gzip, is a metadata file: if the rest of it is truncated or damaged,
that is a finding, as for every other file of a table. Anything else is not a table.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

from conformance.core.failures import NotExamined
from conformance.core.json_text import parse_json
from conformance.core.time_budget import FILE_SECONDS
from conformance.table_io.file_access import (
    FileAccessError,
    FileMissing,
    StoreLocation,
    UnusableFile,
    list_files,
    read_bytes,
    split_location,
)
from conformance.table_io.tables import HINT, MAX_HINT_BYTES
from conformance.validator.finding import finding
from conformance.validator.stall_timeout import run_with_stall_timeout
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import Description, SpecError
from spec_ref.table_metadata import TableMetadata
from spec_ref.table_metadata.files import (
    GZIP_SUFFIXES,
    METADATA_SUFFIX,
    is_compressed,
    is_compressed_name,
)

SUFFIXES = (METADATA_SUFFIX, *GZIP_SUFFIXES)

FIRST_BYTES = 1 << 10
"""How many decompressed bytes are enough to recognise a JSON object."""

MAX_DIGITS = 18
"""The maximum number of digits of a version; the hint of a file-system table contains only the number."""

_NO_DOCUMENT = frozenset({"TMD029", "TMD030"})


class UnreadableTable(NotExamined):
    """The root of the table cannot be read, so that nothing is known about the table."""


def is_metadata(data: bytes, error: SpecError) -> bool:
    """Return whether a file that readers refuse is metadata: then its errors are findings.

    An error with an expected value but without a path means that the file is too large to be checked.
    """
    broken = error.violation
    if broken.requirement not in _NO_DOCUMENT or broken.path:
        return True
    return broken.expected is None and _begins_as_object(data)


def claimed_version(data: bytes) -> int | None:
    """Return the format version in metadata that readers refuse; None if no version can be read.

    For truncated metadata, which is not JSON, the version is searched in the text.
    """
    text = data
    try:
        text = gzip.decompress(data) if is_compressed(data) else data
        document = parse_json(text)
    except (ValueError, OSError, EOFError, zlib.error):
        said = re.search(rb'"format-version"\s*:\s*(\d{1,9})\b', text)
        return None if said is None else int(said[1])
    version = document.get("format-version") if isinstance(document, dict) else None
    return version if type(version) is int else None


def _begins_as_object(data: bytes) -> bool:
    first = data[:FIRST_BYTES]
    if is_compressed(data):
        try:
            first = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(data, FIRST_BYTES)
        except zlib.error:
            return False
    return first.lstrip(b" \t\r\n").startswith(b"{")


def normalize_location(location: str) -> StoreLocation | str:
    """Normalize a location, so that two spellings of one file are equal."""
    try:
        return split_location(location)
    except FileAccessError:
        return location


def recorded_location_if_copied(metadata: TableMetadata, root: str) -> str | None:
    """Return the location in a table's metadata if the metadata file is not below it, as in a copy; None if it is.

    Files are read where the metadata says that they are, so that those of a copy are not checked. A table may also keep
    its metadata in the folder that ``write.metadata.path`` names.

    Args:
        metadata: the metadata.
        root: the location of the metadata file.
    """
    file = _resolve(root)
    folders = (metadata.location, (metadata.properties or {}).get("write.metadata.path"))
    below = any(folder and file.startswith(_resolve(folder).rstrip("/") + "/") for folder in folders)
    return None if below else metadata.location


def _resolve(location: str) -> str:
    """Return the same spelling for all spellings of a location, without symbolic links if it is local."""
    try:
        found = split_location(location)
        return os.path.realpath(found.path) if found.scheme == "file" else f"{found.authority}/{found.path}"
    except (FileAccessError, ValueError):  # ValueError: the location has a character that names cannot have
        return location


def location_findings(metadata: TableMetadata, root: str, data: bytes) -> Iterator[Finding]:
    """Check that the name of the file shows its compression, and that the metadata log does not name the file."""
    if is_compressed(data) and not is_compressed_name(root):
        yield finding(
            "NOT009",
            "the name of a compressed metadata file does not end with .gz.metadata.json",
            file=root,
            found=root,
            expected="a name that ends with .gz.metadata.json",
        )
    listed = [normalize_location(entry.metadata_file) for entry in metadata.metadata_log]
    if normalize_location(root) in listed:
        path = f"/metadata-log/{listed.index(normalize_location(root))}/metadata-file"
        yield finding(
            "TMD018",
            "the metadata log names the current metadata file",
            file=root,
            path=path,
            found=root,
            expected="earlier files",
            aspect="itself",
        )


def hint_findings(location: str, root: str, file_seconds: float = FILE_SECONDS) -> tuple[Finding, ...]:
    """Check that the version hint beside the metadata of a directory names a metadata file that exists.

    The spec does not define the hint, but readers use it: Iceberg-Java and others refuse a table whose hint names a
    missing file. A hint at an older file is fine, as readers search upward from it. A hint is ignored if reading it is
    not permitted, or its store does not answer.

    Args:
        location: the location that the caller gave; for a metadata file, the hint does not matter.
        root: the metadata file of the location.
        file_seconds: the time limit for a store without progress, in seconds.
    """
    if normalize_location(location) == normalize_location(root):
        return ()
    directory = root.rpartition("/")[0]
    with suppress(NotExamined):
        return run_with_stall_timeout(file_seconds, directory, lambda: tuple(_hint(directory, root)))
    return ()


def _hint(directory: str, root: str) -> Iterator[Finding]:
    file, current = f"{directory}/{HINT}", root.rpartition("/")[2]
    message = "the version hint names a metadata file that does not exist"
    try:
        hint = read_bytes(file, limit=MAX_HINT_BYTES).decode("utf-8", "replace").strip()
    except FileMissing:
        return
    except UnusableFile as error:
        hint, message = Description(error.reason), "the version hint is not a file that names a metadata file"
    else:
        named = _named_files(hint)
        if current in named or not named.isdisjoint(other.name for other in list_files(directory)):
            return
    yield finding("OCC010", message, file=file, found=hint, expected=f"the current one, {current}")


def _named_files(hint: str) -> set[str]:
    """Return the names that a metadata file may have which a version hint names."""
    stems = {hint, f"v{int(hint)}"} if hint.isascii() and hint.isdigit() and len(hint) <= MAX_DIGITS else {hint}
    return {hint, *(f"{stem}{end}" for stem in stems for end in SUFFIXES)}
