"""Metadata files: gzip, and the names that tell of it (Table Metadata and Snapshots; Appendix F, Naming for GZIP)."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import PurePosixPath

from spec_ref.errors import violation
from spec_ref.json_document import MAX_BYTES
from spec_ref.records import record

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20

MAX_METADATA_BYTES = min(MAX_BYTES, 1 << 28)
"""How large compressed metadata may get; tables of 10,000 snapshots have about 8 MB."""

GZIP_SUFFIXES = (".gz.metadata.json", ".metadata.json.gz")
"""The name that is required by some implementations and that a writer gives, and the one that is also read (NOT009)."""

METADATA_SUFFIX = ".metadata.json"


def is_compressed(data: bytes) -> bool:
    """Whether the content of a file is gzip. The content decides, not the name: engines have written both wrong."""
    return data[:2] == GZIP_MAGIC


def is_compressed_name(name: str) -> bool:
    """Whether a file's name tells that its content is gzip, in either of the two namings."""
    return name.endswith(GZIP_SUFFIXES)


def unpack(data: bytes, limit: int = MAX_METADATA_BYTES) -> bytes:
    """The content of gzip data, of one or several members.

    Raises:
        SpecError: the data is broken or cut off, or unpacks to more than ``limit`` bytes, which a megabyte may do; no
            more than the limit is ever held.
    """
    parts = []
    total = 0
    while data:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while not member.eof:
            try:
                part = member.decompress(data, CHUNK)
            except zlib.error as error:
                raise violation("TMD030", f"the gzip data is broken: {error}") from error
            data = member.unconsumed_tail
            total += len(part)
            if total > limit:
                raise violation("TMD030", "the metadata unpacks to too much", expected=f"at most {limit} bytes")
            parts.append(part)
            if not part and not data and not member.eof:
                raise violation("TMD030", "the gzip data is cut off")
        data = member.unused_data.lstrip(b"\0")  # members may be padded with zeros
    return b"".join(parts)


def pack(data: bytes) -> bytes:
    """The data as gzip, the same bytes for the same data: without a name and a time."""
    return gzip.compress(data, mtime=0)


@record
class MetadataFileName:
    """What the name of a metadata file tells."""

    version: int | None
    """The number of the table's metadata; None where the name has none."""

    unique: str | None
    """What keeps the files of two writers of one version apart; None for the files of file-system tables."""

    compressed: bool


_NAME = re.compile(r"(?:v(?P<v>[0-9]{1,18})|(?P<n>[0-9]{1,18})-(?P<unique>[^/]+)|(?P<other>[^/]*))")


def parse_name(location: str) -> MetadataFileName:
    """What the name of a metadata file tells: ``v3.metadata.json`` of file-system tables, ``00003-UUID.metadata.json``
    of metastore tables, each with either sign of gzip.

    Raises:
        SpecError: the name is not one of a metadata file.
    """
    name = PurePosixPath(location).name
    suffix = next((end for end in (*GZIP_SUFFIXES, METADATA_SUFFIX) if name.endswith(end)), None)
    match = _NAME.fullmatch(name.removesuffix(suffix)) if suffix else None
    if match is None:
        raise violation("NOT009", "the name is not one of a metadata file", found=name, expected="*.metadata.json")
    number = match["v"] or match["n"]
    return MetadataFileName(int(number) if number else None, match["unique"], suffix in GZIP_SUFFIXES)


def metastore_name(version: int, unique: str, *, compressed: bool = False) -> str:
    """The name of a metadata file of a metastore table (Metastore Tables)."""
    return f"{version:05d}-{unique}{GZIP_SUFFIXES[0] if compressed else METADATA_SUFFIX}"


def file_system_name(version: int, *, compressed: bool = False) -> str:
    """The name of a metadata file of a file-system table (File System Tables)."""
    return f"v{version}{GZIP_SUFFIXES[0] if compressed else METADATA_SUFFIX}"
