"""Puffin files, deletion vectors and compression frames, byte by byte from their descriptions.

Roaring bitmaps follow the RoaringFormatSpec, LZ4 and Zstandard frames their format documents. Frames store their
content uncompressed or as one repeated byte, so that no compressor is needed.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any

MAGIC = b"PFA1"
DV_MAGIC = bytes.fromhex("D1D33964")

Container = tuple[str, int, bytes]
"""The kind (array, bitset or run), the cardinality and the bytes."""


def blob_metadata(type_: str, offset: int, length: int, **changes: Any) -> dict[str, Any]:
    """Return the metadata of a blob for field 1 and snapshot 2; ``changes`` replace or, with None, remove members."""
    members = {"type": type_, "fields": [1], "snapshot-id": 2, "sequence-number": 1, "offset": offset, "length": length}
    members.update({name.replace("_", "-"): value for name, value in changes.items()})
    return {name: value for name, value in members.items() if value is not None}


def file(
    blobs: bytes,
    payload: bytes | dict[str, Any],
    *,
    first: bytes = MAGIC,
    footer: bytes = MAGIC,
    size: int | None = None,
    flags: int = 0,
    last: bytes = MAGIC,
) -> bytes:
    """Return a file with the given stored blobs and footer payload."""
    if isinstance(payload, dict):
        payload = json.dumps(payload, separators=(",", ":")).encode()
    stated = len(payload) if size is None else size
    return first + blobs + footer + payload + struct.pack("<iI", stated, flags) + last


def array(values: Sequence[int], cardinality: int | None = None) -> Container:
    """Return an array container, which has at most 4096 values."""
    return "array", len(values) if cardinality is None else cardinality, struct.pack(f"<{len(values)}H", *values)


def bitset(values: Sequence[int], cardinality: int | None = None) -> Container:
    """Return a bitset container."""
    bits = 0
    for value in values:
        bits |= 1 << value
    return "bitset", len(values) if cardinality is None else cardinality, bits.to_bytes(8192, "little")


def runs(ranges: Sequence[tuple[int, int]], cardinality: int | None = None, count: int | None = None) -> Container:
    """Return a run container of ranges (first, last); it stores the first value and the last minus the first."""
    data = struct.pack("<H", len(ranges) if count is None else count)
    data += b"".join(struct.pack("<HH", low, (high - low) & 0xFFFF) for low, high in ranges)
    return "run", sum(high - low + 1 for low, high in ranges) if cardinality is None else cardinality, data


def bitmap(
    containers: Sequence[tuple[int, Container]],
    *,
    cookie: int | None = None,
    count: int | None = None,
    shift: int = 0,
) -> bytes:
    """Return a 32-bit bitmap of containers by key; ``shift`` makes every offset wrong by this number."""
    has_runs = any(kind == "run" for _, (kind, _, _) in containers)
    stated = len(containers) if count is None else count
    if has_runs:
        head = struct.pack("<HH", 12347 if cookie is None else cookie, stated - 1)
        flags = sum(1 << place for place, (_, (kind, _, _)) in enumerate(containers) if kind == "run")
        head += flags.to_bytes((len(containers) + 7) // 8, "little")
    else:
        head = struct.pack("<II", 12346 if cookie is None else cookie, stated)
    head += b"".join(struct.pack("<HH", key, (cardinality - 1) & 0xFFFF) for key, (_, cardinality, _) in containers)
    if not has_runs or len(containers) >= 4:
        position = len(head) + 4 * len(containers)
        for _, (_, _, data) in containers:
            head += struct.pack("<I", position + shift)
            position += len(data)
    return head + b"".join(data for _, (_, _, data) in containers)


def vector(bitmaps: Sequence[tuple[int, bytes]], count: int | None = None) -> bytes:
    """Return a 64-bit bitmap, made of 32-bit bitmaps by key."""
    stated = len(bitmaps) if count is None else count
    return struct.pack("<Q", stated) + b"".join(struct.pack("<I", key) + data for key, data in bitmaps)


def deletion_vector(
    data: bytes, *, length: int | None = None, magic: bytes = DV_MAGIC, checksum: int | None = None
) -> bytes:
    """Return the blob of a deletion vector."""
    body = magic + data
    crc = zlib.crc32(body) if checksum is None else checksum
    return struct.pack(">I", len(body) if length is None else length) + body + struct.pack(">I", crc)


_P1, _P2, _P3, _P5 = 2654435761, 2246822519, 3266489917, 374761393
_M = 0xFFFFFFFF


def xxh32_short(data: bytes) -> int:
    """Return XXH32 with seed 0 of fewer than 16 bytes."""

    def rotate(value: int, bits: int) -> int:
        return (value << bits | value >> 32 - bits) & _M

    digest = (_P5 + len(data)) & _M
    words = len(data) // 4
    for (word,) in struct.iter_unpack("<I", data[: 4 * words]):
        digest = rotate((digest + word * _P3) & _M, 17) * 668265263 & _M
    for octet in data[4 * words :]:
        digest = rotate((digest + octet * _P5) & _M, 11) * _P1 & _M
    digest = (digest ^ digest >> 15) * _P2 & _M
    digest = (digest ^ digest >> 13) * _P3 & _M
    return digest ^ digest >> 16


def lz4_frame(content: bytes, *, size: int | None = -1, block: bytes | None = None) -> bytes:
    """Return an LZ4 frame of one stored block, or of the compressed ``block``; ``size`` is stated unless it is None."""
    stated = len(content) if size == -1 else size
    descriptor = bytes([0x60 if stated is None else 0x68, 0x40])
    if stated is not None:
        descriptor += struct.pack("<Q", stated)
    head = bytes.fromhex("04224D18") + descriptor + bytes([xxh32_short(descriptor) >> 8 & 0xFF])
    if block is not None:
        return head + struct.pack("<I", len(block)) + block + bytes(4)
    return head + (struct.pack("<I", len(content) | 1 << 31) + content if content else b"") + bytes(4)


def lz4_repeat(octet: bytes, count: int) -> bytes:
    """Return a compressed block of a byte repeated ``count`` times: a literal, a match of distance 1, and literals."""
    extra = count - 6 - 4 - 15
    lengths = b"\xff" * (extra // 255) + bytes([extra % 255])
    return b"\x1f" + octet + b"\x01\x00" + lengths + b"\x50" + octet * 5


def zstd_frame(content: bytes, *, size: int | None = -1, repeat: int | None = None) -> bytes:
    """Return a Zstandard frame of one raw block, or of one byte repeated; ``size`` is stated unless it is None."""
    stated = len(content) if size == -1 else size
    head = bytes.fromhex("28B52FFD")
    head += b"\x00\x58" if stated is None else b"\xe0" + struct.pack("<Q", stated)
    kind, length = (0, len(content)) if repeat is None else (1, repeat)
    return head + (1 | kind << 1 | length << 3).to_bytes(3, "little") + content
