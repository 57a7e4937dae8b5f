"""The complete check of a Puffin file (Puffin), including problems that a reader tolerates.

The rules are those of the readers in `spec_ref.encodings.puffin.file`, `spec_ref.statistics.theta` and
`spec_ref.deletes.deletion_vector`; here one problem does not hide the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from spec_ref.core.errors import Description, SpecError, Violation, abbreviated_repr, spec_error
from spec_ref.core.versions import V3
from spec_ref.deletes.deletion_vector import decode_deletion_vector
from spec_ref.encodings.puffin.file import (
    BLOB_METADATA,
    COMPRESSED_PAYLOAD,
    DELETION_VECTOR,
    FILE_METADATA,
    MAGIC,
    THETA_SKETCH,
    BlobMetadata,
    PuffinFile,
    deletion_vector_problems,
    is_count,
    read_layout,
)
from spec_ref.json.checking import collect_record_violations, collect_violations
from spec_ref.statistics.theta import decode_theta


def check_puffin(data: bytes) -> Iterator[Violation]:
    """Find everything that is wrong with a Puffin file.

    Args:
        data: the bytes of the file.

    Yields:
        Each violation; paths are JSON pointers into the footer's payload.
    """
    try:
        file, document = read_layout(data)
    except SpecError as error:
        yield error.violation
        return
    if file.flags & ~COMPRESSED_PAYLOAD:
        found, expected = Description(f"{file.flags:#010x}"), "0 in all bits but the lowest"
        yield spec_error("PUF005", "a reserved flag is set", found=found, expected=expected).violation
    if type(document) is not dict:
        yield spec_error("PUF006", "the payload is not an object", found=document, expected="an object").violation
        return
    found_rows: list[Violation] = []
    collect_record_violations(FILE_METADATA, document, V3, "", found_rows)
    yield from found_rows
    properties = document.get("properties")
    if not (type(properties) is dict and "created-by" in properties):
        expected = "the application and its version"
        yield spec_error("PUF025", "created-by is missing", expected=expected, path="/properties").violation
    blobs = document.get("blobs")
    sound = list(_sound_blobs(blobs if type(blobs) is list else []))
    left = MAX_CHECKED_BYTES
    for path, blob in sound:
        yield from _with_path_prefix(path, (error.violation for error in deletion_vector_problems(blob)))
        if left < 0:
            continue
        try:
            contents = file.blob_bytes(blob)
            left -= len(contents)
            _CHECKS.get(blob.type, _accept)(blob, contents)
        except SpecError as error:
            yield from _with_path_prefix(path, iter([error.violation]))
    if left < 0:
        message = f"the blobs have more than {MAX_CHECKED_BYTES} bytes together, so that some were not checked"
        yield spec_error("PUF027", message, path="/blobs").violation
    yield from _layout(file, sound)


MAX_CHECKED_BYTES = 1 << 30
"""The maximum number of bytes that all checked blobs may hold together after decompression; many descriptions may
name the same bytes."""


def _accept(_blob: BlobMetadata, _contents: bytes) -> None:
    """Accept a blob of any other type, whose rules are not known."""


def check_reference(
    file: PuffinFile, *, offset: int, length: int, referenced_data_file: str, record_count: int
) -> Iterator[Violation]:
    """Check that a manifest entry of a deletion vector matches a blob of the file (DFL005, DFL024, DFL025, PUF021).

    Args:
        file: the file at the entry's ``file_path``.
        offset: the entry's ``content_offset``, in bytes.
        length: the entry's ``content_size_in_bytes``.
        referenced_data_file: the entry's ``referenced_data_file``.
        record_count: the entry's ``record_count``.

    Yields:
        Each violation: DFL024 if no deletion vector starts at the offset, DFL025 and PUF021 for a wrong size or data
        file, DFL005 for a wrong count, or the code of a malformed blob.
    """
    blob = next((blob for blob in file.blobs if blob.offset == offset and blob.type == DELETION_VECTOR), None)
    if blob is None:
        starts = [blob.offset for blob in file.blobs if blob.type == DELETION_VECTOR]
        message, expected = "no deletion vector starts at the offset", f"one of {abbreviated_repr(starts)}"
        yield spec_error(
            "DFL024", message, found=offset, expected=expected, path="/content_offset", aspect="mismatch"
        ).violation
        return
    if blob.length != length:
        yield spec_error(
            "DFL025",
            "the size differs from that of the blob",
            found=length,
            expected=blob.length,
            path="/content_size_in_bytes",
            aspect="mismatch",
        ).violation
    stated = (blob.properties or {}).get("referenced-data-file")
    if stated != referenced_data_file:
        message, path = "the blob references a different data file", "/referenced_data_file"
        yield spec_error(
            "PUF021",
            message,
            found=referenced_data_file,
            expected="none, as the blob has no referenced-data-file" if stated is None else abbreviated_repr(stated),
            path=path,
            aspect="mismatch",
        ).violation
    try:
        cardinality = decode_deletion_vector(file.blob_bytes(blob)).cardinality
    except SpecError as error:
        yield error.violation
        return
    if cardinality != record_count:
        message = "record_count differs from the cardinality of the deletion vector"
        yield spec_error(
            "DFL005",
            message,
            found=record_count,
            expected=cardinality,
            path="/record_count",
            aspect="vector-mismatch",
        ).violation


def _check_deletion_vector(blob: BlobMetadata, contents: bytes) -> None:
    vector = decode_deletion_vector(contents)
    stated = (blob.properties or {}).get("cardinality")
    if is_count(stated) and stated != str(vector.cardinality):
        expected, path = str(vector.cardinality), "/properties/cardinality"
        raise spec_error(
            "PUF022",
            "cardinality differs from that of the vector",
            found=stated,
            expected=expected,
            path=path,
            aspect="mismatch",
        )


def _check_theta(blob: BlobMetadata, contents: bytes) -> None:
    sketch = decode_theta(contents)
    stated = (blob.properties or {}).get("ndv")
    if stated is None:
        return
    if not is_count(stated):
        message, expected = "ndv is not a count", "decimal digits without spaces"
        raise spec_error("PUF017", message, found=stated, expected=expected, path="/properties/ndv")
    if sketch.is_exact and stated != str(len(sketch.hashes)):
        message, expected = "ndv differs from the sketch, which is exact", str(len(sketch.hashes))
        raise spec_error("PUF017", message, found=stated, expected=expected, path="/properties/ndv")


_CHECKS: dict[str, Callable[[BlobMetadata, bytes], None]] = {
    DELETION_VECTOR: _check_deletion_vector,
    THETA_SKETCH: _check_theta,
}


def _sound_blobs(blobs: list[Any]) -> Iterator[tuple[str, BlobMetadata]]:
    for place, item in enumerate(blobs):
        path = f"/blobs/{place}"
        made = collect_violations(BLOB_METADATA, item, V3, "PUF007", path, [])
        if isinstance(made, BlobMetadata):
            yield path, made


def _layout(file: PuffinFile, blobs: list[tuple[str, BlobMetadata]]) -> Iterator[Violation]:
    """Find overlapping blobs, and bytes outside all blobs: a file consists of magic, blobs and footer only (PUF001)."""
    end, last = len(MAGIC), "the magic"
    for path, blob in sorted(blobs, key=lambda row: (row[1].offset, row[1].length)):
        if not (len(MAGIC) <= blob.offset <= blob.offset + blob.length <= file.footer_offset):
            return
        if blob.offset != end:
            message = (
                f"the blob overlaps {last}" if blob.offset < end else f"there are bytes between {last} and the blob"
            )
            yield spec_error(
                "PUF001", message, found=blob.offset, expected=str(end), path=f"{path}/offset", aspect="layout"
            ).violation
        end, last = max(end, blob.offset + blob.length), path
    if end < file.footer_offset:
        message = f"there are bytes between {last} and the footer"
        yield spec_error(
            "PUF001", message, found=Description(f"{file.footer_offset - end} bytes"), expected="none", aspect="layout"
        ).violation


def _with_path_prefix(path: str, found: Iterator[Violation]) -> Iterator[Violation]:
    for one in found:
        # A path inside a blob is not a path in the payload, so a separator follows the path of the blob.
        inside = one.path if one.path.startswith(_MEMBERS) else f"#{one.path}" if one.path else ""
        yield attrs.evolve(one, path=path + inside)


_MEMBERS = tuple(
    f"/{name}"
    for name in (
        "type",
        "fields",
        "snapshot-id",
        "sequence-number",
        "offset",
        "length",
        "compression-codec",
        "properties",
    )
)
