"""The operations of PyIceberg on Puffin files and deletion vectors, which it can read but not write."""

from __future__ import annotations

import contextlib
import json
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zstandard
from pyiceberg.table.deletion_vector import PROPERTY_REFERENCED_DATA_FILE, deletion_vectors_from_puffin_file
from pyiceberg.table.puffin import MAGIC_BYTES, PuffinFile

from conformance.adapter_sdk.positions import MAX_POSITIONS, ranges
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported

MAX_MEMORY = 256 << 20
"""The memory limit for one vector in bytes: gaps between keys are filled, so a few bytes can require 16 GiB."""


@contextlib.contextmanager
def _limited_memory() -> Iterator[None]:
    """Limit the memory of the process during the block."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = Path("/proc/self/statm")
    taken = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
    if taken and before[0] == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_AS, (taken + MAX_MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _payload(file: PuffinFile, blob: Any) -> bytes:
    if blob.compression_codec == "lz4":
        raise Unsupported("PyIceberg has no LZ4")
    try:
        payload: bytes = file.get_blob_payload(blob)
    except zstandard.ZstdError as error:
        raise Invalid(str(error)) from None
    return payload


def _read_file(data: bytes) -> PuffinFile:
    try:
        return PuffinFile(data)
    except ValueError as error:
        if "compressed footer" in str(error) and data[-8] & 1:  # PyIceberg reports reserved flags with the same message
            raise Unsupported(str(error)) from None
        raise


def _puffin_read(args: Arguments) -> object:
    file = _read_file(bytes.fromhex(args["bytes"]))
    with _limited_memory():
        blobs = [
            {
                "type": blob.type,
                "fields": blob.fields,
                "snapshot-id": str(blob.snapshot_id),
                "sequence-number": str(blob.sequence_number),
                "offset": str(blob.offset),
                "length": str(blob.length),
                "compression-codec": blob.compression_codec,
                "properties": blob.properties,
                "payload": _payload(file, blob).hex().upper(),
            }
            for blob in file.footer.blobs
        ]
    return {"blobs": blobs, "properties": file.footer.properties}


def _around(blob: bytes) -> bytes:
    """Wrap a deletion vector in a Puffin file, because PyIceberg reads vectors from files."""
    description = {
        "type": "deletion-vector-v1",
        "fields": [2147483645],
        "snapshot-id": -1,
        "sequence-number": -1,
        "offset": len(MAGIC_BYTES),
        "length": len(blob),
        "properties": {PROPERTY_REFERENCED_DATA_FILE: "s3://b/wh/data.db/table/data/a.parquet", "cardinality": "0"},
    }
    payload = json.dumps({"blobs": [description]}).encode()
    size_and_flags = len(payload).to_bytes(4, "little") + bytes(4)
    magic: bytes = MAGIC_BYTES
    return magic + blob + magic + payload + size_and_flags + magic


def _dv_decode(args: Arguments) -> object:
    file = PuffinFile(_around(bytes.fromhex(args["bytes"])))
    with _limited_memory():
        (vector,) = deletion_vectors_from_puffin_file(file)
        if (cardinality := sum(map(len, vector._bitmaps))) > MAX_POSITIONS:
            raise Unsupported(f"{cardinality} positions are too many to list")
        positions = vector.to_vector().to_pylist()
    return {"cardinality": str(len(positions)), "ranges": ranges(positions)}


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"puffin.read": _puffin_read, "dv.decode": _dv_decode}
