"""Puffin files (Puffin, version 1): statistics, indexes and deletion vectors in one file.

A file is ``Magic Blob1 ... Blobn Footer``, and the footer ``Magic FooterPayload FooterPayloadSize Flags Magic``; the
payload is a JSON object that locates each blob, optionally LZ4-compressed. Everything is located from the end.

Decided here, because the text leaves it open:

- A reader tolerates flag bits that are reserved and should be 0 (contradiction C19), and unknown properties of the
  footer. `spec_ref.statistics.puffin_checks` reports them.
- A blob is between the first magic and the footer, so a description that points elsewhere is refused. Blobs that
  overlap, or bytes between blobs, can be read and are reported by the checks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from spec_ref.core.errors import Description, SpecError, abbreviated_repr, error_path, spec_error
from spec_ref.core.records import EMPTY, evolve, record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED, V3
from spec_ref.encodings.puffin.compression import compress, decompress, find_codec
from spec_ref.json.documents import dumps, loads
from spec_ref.json.reading import record_reader
from spec_ref.json.wire_types import INT, LONG, STRING, STRING_MAP, ListOf, RecordOf
from spec_ref.json.writing import record_writer

MAGIC = b"PFA1"
"""The bytes 50 46 41 31, at the start of the file, at the start of the footer and at its end (PUF001, PUF002)."""

DELETION_VECTOR = "deletion-vector-v1"
THETA_SKETCH = "apache-datasketches-theta-v1"

COMPRESSED_PAYLOAD = 0x01
"""The only defined flag, the lowest bit of the first of four bytes: the footer's payload is compressed (PUF004)."""

FOOTER_CODEC = "lz4"
MAX_PAYLOAD = 1 << 25
"""The maximum number of bytes of the footer's JSON. The format allows 2**31; this suffices for a hundred thousand
deletion vectors."""

_TAIL = struct.Struct("<iI4s")
"""The end of the footer: the payload's size, signed; the flags; the magic."""

UNASSIGNED = -1
"""The snapshot id and sequence number of a blob that is written before its snapshot exists (PUF024)."""


@record(kw_only=True)
class BlobMetadata:
    """The description of one blob in the footer (BlobMetadata)."""

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
    """The offset of the blob, in bytes from the start of the file."""

    length: int = spec_field("length", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PUF013", type=LONG)
    """The size of the blob as stored, after compression, in bytes."""

    compression_codec: str | None = spec_field(
        "compression-codec", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="PUF014", type=STRING, default=None
    )
    """The name of the codec; None for a blob that is not compressed."""

    properties: Mapping[str, str] | None = spec_field(
        "properties", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="PUF015", type=STRING_MAP, default=None
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties of the description that the spec does not define."""


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

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that the spec does not define."""


FILE_METADATA = RecordOf(FileMetadata, "the footer's payload", requirement="PUF006")


@record
class PuffinFile:
    """A Puffin file whose footer was read; blobs are read from the bytes on demand."""

    metadata: FileMetadata

    flags: int
    """The four bytes of flags as a little-endian integer."""

    footer_size: int
    """The size of the whole footer in bytes, including both of its magics; file-footer-size-in-bytes in table
    metadata."""

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
        """The offset of the footer in bytes, which is where the blobs end."""
        return len(self.data) - self.footer_size

    def stored_bytes(self, blob: BlobMetadata) -> bytes:
        """Find the bytes of a blob as they are in the file.

        Args:
            blob: a blob of the file.

        Returns:
            The stored bytes, compressed if the blob has a codec.

        Raises:
            SpecError: PUF012 or PUF013 if the blob is outside of the part of the file that has blobs.
        """
        check_blob_range(blob, self.footer_offset)
        return self.data[blob.offset : blob.offset + blob.length]

    def blob_bytes(self, blob: BlobMetadata) -> bytes:
        """Read the content of a blob.

        Args:
            blob: a blob of the file.

        Returns:
            The content, decompressed.

        Raises:
            SpecError: PUF027 if the codec is unknown or the frame is damaged; PUF012 or PUF013 as `stored_bytes`.
        """
        stored = self.stored_bytes(blob)
        return stored if blob.compression_codec is None else decompress(blob.compression_codec, stored)


def read_puffin(data: bytes) -> PuffinFile:
    """Read the footer of a Puffin file.

    Args:
        data: the bytes of the file.

    Returns:
        The file, with access to its blobs.

    Raises:
        SpecError: PUF001 to PUF004 if the layout of the file is wrong; PUF006 or the code of a field if the payload is
            malformed; PUF012 or PUF013 if a blob is misplaced. Paths are JSON pointers into the payload.
    """
    file, document = read_layout(data)
    metadata = record_reader(FILE_METADATA, V3)(document)
    for place, blob in enumerate(metadata.blobs):
        with error_path(f"/blobs/{place}"):
            check_blob_range(blob, file.footer_offset)
    return evolve(file, metadata=metadata)


def read_layout(data: bytes) -> tuple[PuffinFile, Any]:
    """Read the parts of a Puffin file without interpreting the payload.

    Args:
        data: the bytes of the file.

    Returns:
        The file, without blobs, and the JSON value of the payload.

    Raises:
        SpecError: PUF001 to PUF004 if the layout of the file is wrong; PUF006 if the payload is not a JSON document.
    """
    if data[:4] != MAGIC:
        raise spec_error(
            "PUF001", "the file does not start with the magic", found=data[:4], expected=abbreviated_repr(MAGIC)
        )
    if len(data) < 2 * len(MAGIC) + _TAIL.size:
        raise spec_error("PUF002", "the file is too short for a footer", found=Description(f"{len(data)} bytes"))
    size, flags, magic = _TAIL.unpack_from(data, len(data) - _TAIL.size)
    if magic != MAGIC:
        raise spec_error(
            "PUF002", "the footer does not end with the magic", found=magic, expected=abbreviated_repr(MAGIC)
        )
    start = len(data) - _TAIL.size - size
    if size < 0 or start < 2 * len(MAGIC):
        expected = f"0 to {len(data) - _TAIL.size - 2 * len(MAGIC)}"
        raise spec_error("PUF003", "the payload size exceeds the file", found=size, expected=expected)
    magic = data[start - 4 : start]
    if magic != MAGIC:
        raise spec_error(
            "PUF002", "the footer does not start with the magic", found=magic, expected=abbreviated_repr(MAGIC)
        )
    document = _read_document(data[start : start + size], bool(flags & COMPRESSED_PAYLOAD))
    return PuffinFile(_NOTHING, flags, len(data) - start + len(MAGIC), data), document


_NOTHING = FileMetadata(blobs=())


def _read_document(payload: bytes, is_compressed: bool) -> Any:
    if is_compressed:
        payload = decompress(FOOTER_CODEC, payload, limit=MAX_PAYLOAD, requirement="PUF006")
    if len(payload) > MAX_PAYLOAD:
        expected = f"at most {MAX_PAYLOAD} bytes"
        raise spec_error("PUF006", "the payload is too large", found=len(payload), expected=expected)
    try:
        return loads(payload)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, requirement="PUF006")) from error


def check_blob_range(blob: BlobMetadata, end: int) -> None:
    """Check that a blob is between the first magic and the footer.

    Args:
        blob: the description of a blob.
        end: the offset of the footer, in bytes.

    Raises:
        SpecError: PUF012 or PUF013 if the offset or the end of the blob is outside of this part.
    """
    for requirement, name, value, low, high in (
        ("PUF012", "offset", blob.offset, len(MAGIC), end),
        ("PUF013", "length", blob.length, 0, end - blob.offset),
    ):
        if not low <= value <= high:
            message, expected = f"{name} points outside of the blobs", f"{low} to {high}"
            raise spec_error(requirement, message, found=value, expected=expected, path=f"/{name}")


@record
class Blob:
    """A blob to be written."""

    type: str
    fields: tuple[int, ...] = attrs.field(converter=tuple)
    payload: bytes = attrs.field(repr=False)
    """The content, not compressed."""

    snapshot_id: int = UNASSIGNED
    sequence_number: int = UNASSIGNED
    compression_codec: str | None = None
    properties: Mapping[str, str] | None = None


def write_puffin(
    blobs: Iterable[Blob], properties: Mapping[str, str] | None = None, *, compress_footer: bool = False
) -> bytes:
    """Write a Puffin file of blobs, in their order, without gaps.

    The file is the same for the same arguments and library versions; uncompressed, it depends on the arguments alone.

    Args:
        blobs: the blobs to write.
        properties: the properties of the file; None for none.
        compress_footer: whether to compress the payload of the footer.

    Returns:
        The bytes of the file.

    Raises:
        SpecError: PUF021 to PUF024 for a deletion vector that breaks its rules; PUF027 for an unknown codec; PUF006 if
            the payload is too large or holds a lone surrogate; the code of a field whose value the footer cannot hold.
    """
    parts = [MAGIC]
    written = []
    offset = len(MAGIC)
    for place, blob in enumerate(blobs):
        with error_path(f"/blobs/{place}"):
            stored = blob.payload
            if blob.compression_codec is not None:
                stored = compress(find_codec(blob.compression_codec).name, stored)
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
        raise spec_error("PUF006", "the payload has a lone surrogate, which UTF-8 cannot encode") from error
    if len(payload) > MAX_PAYLOAD:
        expected = f"at most {MAX_PAYLOAD} bytes"
        raise spec_error("PUF006", "the payload is too large", found=len(payload), expected=expected)
    if compress_footer:
        payload = compress(FOOTER_CODEC, payload)
    return b"".join([*parts, MAGIC, payload, _TAIL.pack(len(payload), compress_footer, MAGIC)])


def check_deletion_vector_metadata(blob: BlobMetadata) -> None:
    """Check that the description of a deletion vector follows the rules for writers.

    Args:
        blob: the description of a blob; other types pass.

    Raises:
        SpecError: the first of PUF021 to PUF024 that it breaks.
    """
    for error in deletion_vector_problems(blob):
        raise error


def deletion_vector_problems(blob: BlobMetadata) -> Iterable[SpecError]:
    """Find the rules for writers that the description of a deletion vector breaks.

    Args:
        blob: the description of a blob; nothing is checked for other types of blobs.

    Yields:
        An error of PUF021 to PUF024 for each broken rule.
    """
    if blob.type != DELETION_VECTOR:
        return
    properties = blob.properties or {}
    if "referenced-data-file" not in properties:
        expected = "the location of the data file"
        yield spec_error(
            "PUF021", "referenced-data-file is missing", expected=expected, path="/properties", aspect="missing"
        )
    if not is_count(properties.get("cardinality")):
        found, path = properties.get("cardinality"), "/properties/cardinality"
        yield spec_error(
            "PUF022",
            "cardinality is not a count",
            found=found,
            expected="decimal digits",
            path=path,
            aspect="wrong-type",
        )
    if blob.compression_codec is not None:
        found, path = blob.compression_codec, "/compression-codec"
        yield spec_error("PUF023", "the deletion vector is compressed", found=found, path=path)
    for name, value in (("snapshot-id", blob.snapshot_id), ("sequence-number", blob.sequence_number)):
        if value != UNASSIGNED:
            yield spec_error(
                "PUF024", f"{name} must be -1 in a deletion vector blob", found=value, expected="-1", path=f"/{name}"
            )


_MAX_COUNT_DIGITS = 19
"""Digits of the largest long."""


def is_count(text: str | None) -> bool:
    """Decide whether a property is a non-negative integer in decimal digits, without spaces or leading zeros.

    Args:
        text: the value of the property; None if it is absent.

    Returns:
        Whether it is such an integer, with no more digits than the largest long.
    """
    return (
        text is not None
        and text.isascii()
        and text.isdigit()
        and len(text) <= _MAX_COUNT_DIGITS
        and (text == "0" or text[0] != "0")
    )
