"""Metadata files: gzip, and file names (Table Metadata and Snapshots; Appendix F, Naming for GZIP)."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import PurePosixPath

from spec_ref.core.errors import spec_error
from spec_ref.core.records import record
from spec_ref.json.documents import MAX_BYTES

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20

MAX_METADATA_BYTES = min(MAX_BYTES, 1 << 28)
"""The maximum size of decompressed metadata, in bytes; tables of 10,000 snapshots have about 8 MB."""

GZIP_SUFFIXES = (".gz.metadata.json", ".metadata.json.gz")
"""The suffix that writers use, because some implementations require it, and another that readers accept (NOT009)."""

METADATA_SUFFIX = ".metadata.json"


def is_compressed(data: bytes) -> bool:
    """Decide whether the content of a file is gzip, by its first bytes: engines have given files the wrong suffix.

    Args:
        data: the content of the file.

    Returns:
        Whether it is gzip.
    """
    return data[:2] == GZIP_MAGIC


def is_compressed_name(name: str) -> bool:
    """Decide whether a file name indicates gzip, in either of the two naming schemes.

    Args:
        name: the name or location of the file.

    Returns:
        Whether it does.
    """
    return name.endswith(GZIP_SUFFIXES)


def decompress(data: bytes, limit: int = MAX_METADATA_BYTES) -> bytes:
    """Decompress gzip data of one or several members.

    Args:
        data: the gzip data.
        limit: the maximum size of the result, in bytes; no more than that is held in memory.

    Returns:
        The decompressed bytes.

    Raises:
        SpecError: TMD030 if the data is damaged or truncated, or decompresses to more than ``limit`` bytes.
    """
    parts = []
    total = 0
    while data:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not member.eof:
            try:
                part = member.decompress(data, CHUNK)
            except zlib.error as error:
                raise spec_error("TMD030", f"the gzip data is broken: {error}") from error
            data = member.unconsumed_tail
            total += len(part)
            if total > limit:
                raise spec_error(
                    "TMD030", "the metadata is too large when decompressed", expected=f"at most {limit} bytes"
                )
            parts.append(part)
            if not part and not data and not member.eof:
                raise spec_error("TMD030", "the gzip data is truncated")
        data = member.unused_data.lstrip(b"\0")  # members may be padded with zeros
    return b"".join(parts)


def compress(data: bytes) -> bytes:
    """Compress data with gzip, without a name and a time, so that the same data gives the same bytes.

    Args:
        data: the content of a metadata file.

    Returns:
        The gzip data.
    """
    return gzip.compress(data, mtime=0)


@record
class MetadataFileName:
    """A parsed metadata file name."""

    version: int | None
    """The version of the table's metadata; None if the name has none."""

    unique_part: str | None
    """The part that distinguishes files of one version by several writers; None for file-system tables."""

    compressed: bool


_NAME = re.compile(r"(?:v(?P<v>[0-9]{1,18})|(?P<n>[0-9]{1,18})-(?P<unique>[^/]+)|(?P<other>[^/]*))")


def parse_name(location: str) -> MetadataFileName:
    """Parse the name of a metadata file.

    File-system tables use ``v3.metadata.json`` and metastore tables ``00003-UUID.metadata.json``, each with either
    suffix of gzip.

    Args:
        location: the location or name of the file.

    Returns:
        The parts of the name.

    Raises:
        SpecError: NOT009 if it is not the name of a metadata file.
    """
    name = PurePosixPath(location).name
    suffix = next((end for end in (*GZIP_SUFFIXES, METADATA_SUFFIX) if name.endswith(end)), None)
    match = _NAME.fullmatch(name.removesuffix(suffix)) if suffix else None
    if match is None:
        raise spec_error("NOT009", "the name is not that of a metadata file", found=name, expected="*.metadata.json")
    number = match["v"] or match["n"]
    return MetadataFileName(int(number) if number else None, match["unique"], suffix in GZIP_SUFFIXES)


def metastore_name(version: int, unique_part: str, *, compressed: bool = False) -> str:
    """Build the name of a metadata file of a metastore table (Metastore Tables).

    Args:
        version: the version of the metadata, from 0.
        unique_part: a text that no other writer uses, such as a UUID.
        compressed: whether the content is gzip.

    Returns:
        The file name.
    """
    return f"{version:05d}-{unique_part}{GZIP_SUFFIXES[0] if compressed else METADATA_SUFFIX}"


def file_system_name(version: int, *, compressed: bool = False) -> str:
    """Build the name of a metadata file of a file-system table (File System Tables).

    Args:
        version: the version of the metadata, from 0.
        compressed: whether the content is gzip.

    Returns:
        The file name.
    """
    return f"v{version}{GZIP_SUFFIXES[0] if compressed else METADATA_SUFFIX}"
