"""Puffin files (Puffin, version 1): statistics, indexes and deletion vectors in one file.

A file is ``Magic Blob1 ... Blobn Footer``, and the footer ``Magic FooterPayload FooterPayloadSize Flags Magic``; the
payload is a JSON object that says where each blob is, optionally LZ4-compressed. Everything is found from the end.

Decided here, because the text leaves it open:

- A reader bears with flag bits that are reserved and should be 0 (contradiction C19), and with properties of the footer
  that are not known. `spec_ref.encodings.puffin.checks` tells of them.
- A blob lies between the first magic and the footer, so a description that points elsewhere is refused. Blobs that
  overlap, or bytes between blobs, can be read and are told of by the checks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from spec_ref.encodings.puffin.compression import codec, compress, decompress
from spec_ref.errors import SpecError, at, violation
from spec_ref.json_document import dumps, loads
from spec_ref.json_kinds import INT, LONG, STRING, STRING_MAP, ListOf, RecordOf
from spec_ref.json_records import record_reader
from spec_ref.json_writing import record_writer
from spec_ref.records import evolve, record, spec_field
from spec_ref.versions import OPTIONAL, REQUIRED, V3

MAGIC = b"PFA1"
"""The bytes 50 46 41 31, at the start of the file, at the start of the footer and at its end (PUF001, PUF002)."""

DELETION_VECTOR = "deletion-vector-v1"
THETA_SKETCH = "apache-datasketches-theta-v1"

COMPRESSED_PAYLOAD = 0x01
"""The one flag that is defined: the footer's payload is compressed (PUF004)."""

FOOTER_CODEC = "lz4"
MAX_PAYLOAD = 1 << 25
"""Bytes of the footer's JSON. The format allows 2**31; this describes a hundred thousand deletion vectors."""

_TAIL = struct.Struct("<iI4s")
"""What the footer ends with: the payload's size, signed; the flags; the magic."""

UNASSIGNED = -1
"""The snapshot id and sequence number of a blob that is written before its snapshot exists (PUF024)."""


@record(kw_only=True)
class BlobMetadata:
    """One blob as the footer describes it (BlobMetadata)."""

    type: str = spec_field("type", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF008", type=STRING)

    fields: tuple[int, ...] = spec_field(
        "fields", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF009", type=ListOf(INT)
    )
    """The field ids that the blob was computed for, in the order that the computation used."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF010", type=LONG)

    sequence_number: int = spec_field(
        "sequence-number", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF011", type=LONG
    )

    offset: int = spec_field("offset", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF012", type=LONG)
    """Where the blob starts, in bytes from the start of the file."""

    length: int = spec_field("length", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF013", type=LONG)
    """Bytes of the blob as stored, after compression."""

    compression_codec: str | None = spec_field(
        "compression-codec", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="PUF014", type=STRING, default=None
    )
    """None for a blob that is not compressed."""

    properties: Mapping[str, str] | None = spec_field(
        "properties", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="PUF015", type=STRING_MAP, default=None
    )

    extra: Mapping[str, Any] = attrs.field(factory=dict)
    """Properties of the description that the spec does not know."""


BLOB_METADATA = RecordOf(BlobMetadata, "the metadata of a blob", requirement="PUF007")


@record(kw_only=True)
class FileMetadata:
    """The payload of the footer (FileMetadata)."""

    blobs: tuple[BlobMetadata, ...] = spec_field(
        "blobs", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF007", type=ListOf(BLOB_METADATA)
    )

    properties: Mapping[str, str] | None = spec_field(
        "properties", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="PUF026", type=STRING_MAP, default=None
    )

    extra: Mapping[str, Any] = attrs.field(factory=dict)
    """Properties that the spec does not know."""


FILE_METADATA = RecordOf(FileMetadata, "the footer's payload", requirement="PUF006")


@record
class PuffinFile:
    """A Puffin file whose footer has been read; blobs are taken from the bytes when they are asked for."""

    metadata: FileMetadata

    flags: int
    """The four bytes of flags as a little-endian integer."""

    footer_size: int
    """Bytes of the whole footer, both of its magics included; what table metadata calls file-footer-size-in-bytes."""

    data: bytes = attrs.field(repr=False)

    @property
    def blobs(self) -> tuple[BlobMetadata, ...]:
        """The blobs in the order of the footer."""
        return self.metadata.blobs

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties of the file."""
        return self.metadata.properties or {}

    @property
    def footer_offset(self) -> int:
        """Where the footer starts, which is where the blobs end."""
        return len(self.data) - self.footer_size

    def stored_bytes(self, blob: BlobMetadata) -> bytes:
        """The bytes of the blob as they are in the file."""
        check_place(blob, self.footer_offset)
        return self.data[blob.offset : blob.offset + blob.length]

    def blob_bytes(self, blob: BlobMetadata) -> bytes:
        """The contents of the blob, decompressed.

        Raises:
            SpecError: PUF027, for a codec that is not known or a frame that is broken.
        """
        stored = self.stored_bytes(blob)
        return stored if blob.compression_codec is None else decompress(blob.compression_codec, stored)


def read_puffin(data: bytes) -> PuffinFile:
    """The footer of a Puffin file, and access to its blobs.

    Raises:
        SpecError: PUF001 to PUF004 for a file that is not laid out as one, PUF006 and the codes of the fields for a
            payload that is not the JSON object it has to be. Paths are JSON pointers into the payload.
    """
    file, document = read_layout(data)
    metadata = record_reader(FILE_METADATA, V3)(document)
    for place, blob in enumerate(metadata.blobs):
        with at(f"/blobs/{place}"):
            check_place(blob, file.footer_offset)
    return evolve(file, metadata=metadata)


def read_layout(data: bytes) -> tuple[PuffinFile, Any]:
    """The parts of a file whose payload has not been looked at, and the JSON value that the payload is.

    Raises:
        SpecError: PUF001 to PUF004, and PUF006 for a payload that is no JSON document.
    """
    if data[:4] != MAGIC:
        raise violation("PUF001", "the file does not start with the magic", found=data[:4], expected=repr(MAGIC))
    if len(data) < 2 * len(MAGIC) + _TAIL.size:
        raise violation("PUF002", "the file is too short for a footer", found=f"{len(data)} bytes")
    size, flags, magic = _TAIL.unpack_from(data, len(data) - _TAIL.size)
    if magic != MAGIC:
        raise violation("PUF002", "the footer does not end with the magic", found=magic, expected=repr(MAGIC))
    start = len(data) - _TAIL.size - size
    if size < 0 or start < 2 * len(MAGIC):
        expected = f"0 to {len(data) - _TAIL.size - 2 * len(MAGIC)}"
        raise violation("PUF003", "the payload's size does not fit the file", found=size, expected=expected)
    magic = data[start - 4 : start]
    if magic != MAGIC:
        raise violation("PUF002", "the footer does not start with the magic", found=magic, expected=repr(MAGIC))
    document = _read_document(data[start : start + size], bool(flags & COMPRESSED_PAYLOAD))
    return PuffinFile(_NOTHING, flags, len(data) - start + len(MAGIC), data), document


_NOTHING = FileMetadata(blobs=())


def _read_document(payload: bytes, is_compressed: bool) -> Any:
    if is_compressed:
        payload = decompress(FOOTER_CODEC, payload, limit=MAX_PAYLOAD, requirement="PUF006")
    if len(payload) > MAX_PAYLOAD:
        expected = f"at most {MAX_PAYLOAD} bytes"
        raise violation("PUF006", "the payload is too large", found=len(payload), expected=expected)
    try:
        return loads(payload)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, requirement="PUF006")) from error


def check_place(blob: BlobMetadata, end: int) -> None:
    """Raise a `SpecError` for a blob that is not between the first magic and the footer, which starts at ``end``."""
    for requirement, name, value, low, high in (
        ("PUF012", "offset", blob.offset, len(MAGIC), end),
        ("PUF013", "length", blob.length, 0, end - blob.offset),
    ):
        if not low <= value <= high:
            message, expected = f"the {name} leads out of the part of the file that has blobs", f"{low} to {high}"
            raise violation(requirement, message, found=value, expected=expected, path=f"/{name}")


@record
class Blob:
    """A blob to be written."""

    type: str
    fields: tuple[int, ...] = attrs.field(converter=tuple)
    payload: bytes = attrs.field(repr=False)
    """The contents, not compressed."""

    snapshot_id: int = UNASSIGNED
    sequence_number: int = UNASSIGNED
    compression_codec: str | None = None
    properties: Mapping[str, str] | None = None


def write_puffin(
    blobs: Iterable[Blob], properties: Mapping[str, str] | None = None, *, compress_footer: bool = False
) -> bytes:
    """A Puffin file of the blobs, in their order, without gaps.

    The file is the same for the same arguments and library versions; uncompressed, it depends on the arguments alone.

    Raises:
        SpecError: a value that the footer cannot hold, a codec that is not known, or a deletion vector that its rules
            do not allow (PUF021 to PUF024).
    """
    parts = [MAGIC]
    written = []
    offset = len(MAGIC)
    for place, blob in enumerate(blobs):
        with at(f"/blobs/{place}"):
            stored = blob.payload
            if blob.compression_codec is not None:
                stored = compress(codec(blob.compression_codec).name, stored)
            description = BlobMetadata(
                type=blob.type,
                fields=blob.fields,
                snapshot_id=blob.snapshot_id,
                sequence_number=blob.sequence_number,
                offset=offset,
                length=len(stored),
                compression_codec=blob.compression_codec,
                properties=blob.properties,
            )
            check_deletion_vector_metadata(description)
        parts.append(stored)
        written.append(description)
        offset += len(stored)
    document = record_writer(FILE_METADATA, V3)(FileMetadata(blobs=tuple(written), properties=properties))
    try:
        payload = dumps(document).encode()
    except UnicodeEncodeError as error:
        raise violation("PUF006", "the payload holds a lone surrogate, which UTF-8 cannot write") from error
    if len(payload) > MAX_PAYLOAD:
        expected = f"at most {MAX_PAYLOAD} bytes"
        raise violation("PUF006", "the payload is too large", found=len(payload), expected=expected)
    if compress_footer:
        payload = compress(FOOTER_CODEC, payload)
    return b"".join([*parts, MAGIC, payload, _TAIL.pack(len(payload), compress_footer, MAGIC)])


def check_deletion_vector_metadata(blob: BlobMetadata) -> None:
    """Raise a `SpecError` for the first thing in the description of a deletion vector that its writer must not do."""
    for error in deletion_vector_faults(blob):
        raise error


def deletion_vector_faults(blob: BlobMetadata) -> Iterable[SpecError]:
    """Everything in the description of a deletion vector that its writer must not do (PUF021 to PUF024)."""
    if blob.type != DELETION_VECTOR:
        return
    properties = blob.properties or {}
    if "referenced-data-file" not in properties:
        expected = "the location of the data file"
        yield violation(
            "PUF021", "referenced-data-file is missing", expected=expected, path="/properties", aspect="missing"
        )
    if not is_count(properties.get("cardinality")):
        found, path = properties.get("cardinality"), "/properties/cardinality"
        yield violation(
            "PUF022",
            "cardinality is not a count",
            found=found,
            expected="decimal digits",
            path=path,
            aspect="wrong-type",
        )
    if blob.compression_codec is not None:
        found, path = blob.compression_codec, "/compression-codec"
        yield violation("PUF023", "a deletion vector is not compressed", found=found, path=path)
    for name, value in (("snapshot-id", blob.snapshot_id), ("sequence-number", blob.sequence_number)):
        if value != UNASSIGNED:
            yield violation("PUF024", f"{name} is not known yet", found=value, expected="-1", path=f"/{name}")


_LONGEST_COUNT = 19
"""Digits of the largest long."""


def is_count(text: str | None) -> bool:
    """Whether a property is a non-negative integer in decimal digits, without spaces or leading zeros."""
    return (
        text is not None
        and text.isascii()
        and text.isdigit()
        and len(text) <= _LONGEST_COUNT
        and (text == "0" or text[0] != "0")
    )
