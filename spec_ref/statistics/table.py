"""Check that a statistics file agrees with its entry in table metadata (Table Statistics; STA003 to STA012, STA034)."""

from __future__ import annotations

from collections.abc import Iterator

from spec_ref.core.errors import Description, SpecError, Violation, spec_error
from spec_ref.encodings.puffin.file import BlobMetadata as StoredBlob
from spec_ref.encodings.puffin.file import PuffinFile, read_puffin
from spec_ref.statistics.puffin_checks import check_puffin
from spec_ref.table_metadata.statistics import BlobMetadata, StatisticsFile


def check_statistics_file(statistics: StatisticsFile, data: bytes) -> Iterator[Violation]:
    """Check a statistics file against its entry in table metadata.

    Table metadata may list any of the file's blobs, in any order, with some of their properties (STA012). Paths of
    violations of the Puffin file are those of `spec_ref.statistics.puffin_checks`; the others are JSON pointers into
    the entry.

    Args:
        statistics: the entry of table metadata.
        data: the bytes of the file.

    Yields:
        Each violation: STA034 if it is not a Puffin file, those of the Puffin file, STA003 and STA004 for wrong sizes,
        and STA006 for a blob that the file does not have.
    """
    try:
        file: PuffinFile | None = read_puffin(data)
    except SpecError as error:
        file = None
        found = Description(f"{error.violation.requirement}: {error.violation.message}")
        yield spec_error("STA034", "the statistics file is not a Puffin file", found=found).violation
    else:
        yield from check_puffin(data)
    if statistics.file_size_in_bytes != len(data):
        yield spec_error(
            "STA003",
            "file-size-in-bytes differs from the file's size",
            found=statistics.file_size_in_bytes,
            expected=str(len(data)),
            path="/file-size-in-bytes",
            aspect="mismatch",
        ).violation
    if file is None:
        return
    if statistics.file_footer_size_in_bytes != file.footer_size:
        yield spec_error(
            "STA004",
            "file-footer-size-in-bytes differs from the size of the whole footer",
            found=statistics.file_footer_size_in_bytes,
            expected=str(file.footer_size),
            path="/file-footer-size-in-bytes",
            aspect="mismatch",
        ).violation
    for place, blob in enumerate(statistics.blob_metadata):
        if not any(_describes(blob, stored) for stored in file.blobs):
            message, path = "the file does not have the described blob", f"/blob-metadata/{place}"
            fields = ", ".join(map(str, blob.fields))
            described = Description(
                f"{blob.type} of snapshot {blob.snapshot_id}, sequence number {blob.sequence_number}, fields {fields}"
            )
            yield spec_error("STA006", message, found=described, path=path, aspect="unknown-blob").violation


def _describes(blob: BlobMetadata, stored: StoredBlob) -> bool:
    said = (blob.type, blob.snapshot_id, blob.sequence_number, blob.fields)
    properties = stored.properties or {}
    return said == (stored.type, stored.snapshot_id, stored.sequence_number, stored.fields) and all(
        properties.get(name) == value for name, value in (blob.properties or {}).items()
    )
