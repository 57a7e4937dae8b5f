"""The exchange form of Puffin files and deletion vectors: 64-bit numbers as strings, bytes as hexadecimal.

A Puffin file is ``{"blobs": [...], "properties": {...}}``; a blob has the members of its description, the absent ones
filled in (``compression-codec`` null, ``properties`` empty), and its contents, decompressed, as ``payload``. The
positions of a deletion vector are ranges, each with its first and last position, ascending, with gaps between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyroaring import BitMap64

from spec_ref.core.errors import spec_error
from spec_ref.deletes.deletion_vector import MAX_POSITION, DeletionVector
from spec_ref.encodings.puffin.file import Blob, PuffinFile
from spec_ref.statistics.theta import ThetaSketch

Form = dict[str, Any]


def file_form(file: PuffinFile) -> Form:
    """Return the exchange form of a file that was read."""
    blobs = [
        {
            "type": blob.type,
            "fields": list(blob.fields),
            "snapshot-id": str(blob.snapshot_id),
            "sequence-number": str(blob.sequence_number),
            "offset": str(blob.offset),
            "length": str(blob.length),
            "compression-codec": blob.compression_codec,
            "properties": dict(blob.properties or {}),
            "payload": file.blob_bytes(blob).hex().upper(),
        }
        for blob in file.blobs
    ]
    return {"blobs": blobs, "properties": dict(file.properties)}


def blob_from_form(form: Form) -> Blob:
    """Parse a blob to write."""
    return Blob(
        type=form["type"],
        fields=form["fields"],
        payload=bytes.fromhex(form["payload"]),
        snapshot_id=int(form["snapshot-id"]),
        sequence_number=int(form["sequence-number"]),
        compression_codec=form["compression-codec"],
        properties=form["properties"],
    )


def vector_form(vector: DeletionVector, ranges: Iterable[tuple[int, int]]) -> Form:
    """Return the exchange form of a deletion vector and the ranges of its positions."""
    return {"cardinality": str(vector.cardinality), "ranges": [[str(first), str(last)] for first, last in ranges]}


def sketch_form(sketch: ThetaSketch) -> Form:
    """Return the exchange form of a Theta sketch."""
    return {"hashes": [str(one) for one in sorted(sketch.hashes)], "theta": str(sketch.theta)}


def positions_from_ranges(ranges: list[list[str]]) -> BitMap64:
    """Parse ranges into a set of positions."""
    positions = BitMap64()
    for first, last in ((int(low), int(high)) for low, high in ranges):
        if not 0 <= first <= last <= MAX_POSITION:
            raise spec_error(
                "PUF020", "the value is not a range of positions", found=[first, last], expected=f"0 to {MAX_POSITION}"
            )
        positions.add_range(first, last + 1)
    return positions
