"""Avro container files, byte by byte from the Avro specification: values by their schema, blocks, codecs.

The value of a record is a dict by field name; a missing member is null. Snappy, Zstandard and xz blocks store their
content as literals, so that no compressor is needed.
"""

from __future__ import annotations

import bz2
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tools.derive.puffin import zstd_frame

SYNC = bytes(range(0xA0, 0xB0))
MAGIC = b"Obj\x01"

Block = tuple[int, bytes]
"""The number of objects and their bytes."""


class Name(str):
    """The name of a type that the schema defines earlier, with its definition."""

    type: Any

    def __new__(cls, type_: Mapping[str, Any]) -> Name:
        made = super().__new__(cls, type_["name"])
        made.type = type_
        return made


def long(number: int) -> bytes:
    """Encode an int or long: zig-zag, seven bits per byte, the lowest first."""
    zigzag = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def text(value: bytes | str) -> bytes:
    """Encode bytes or a string: the length, then the bytes."""
    data = value.encode() if isinstance(value, str) else value
    return long(len(data)) + data


def encode(type_: Any, value: Any) -> bytes:
    """Encode a value by an Avro schema in JSON form."""
    if isinstance(type_, list):
        place = next(at for at, branch in enumerate(type_) if (branch == "null") == (value is None))
        return long(place) + (b"" if value is None else encode(type_[place], value))
    if isinstance(type_, Name):
        return encode(type_.type, value)
    kind = type_["type"] if isinstance(type_, dict) else type_
    if isinstance(kind, (dict, list)):
        return encode(kind, value)
    match kind:
        case "null":
            return b""
        case "boolean":
            return bytes([value])
        case "int" | "long":
            return long(value)
        case "float" | "double":
            return struct.pack("<f" if kind == "float" else "<d", value)
        case "bytes" | "string":
            return text(value)
        case "fixed":
            assert len(value) == type_["size"]
            return bytes(value)
        case "record":
            return b"".join(encode(field["type"], value.get(field["name"])) for field in type_["fields"])
        case "array":
            items = b"".join(encode(type_["items"], item) for item in value)
            return (long(len(value)) + items if value else b"") + long(0)
        case "map":
            items = b"".join(text(key) + encode(type_["values"], item) for key, item in value.items())
            return (long(len(value)) + items if value else b"") + long(0)
    raise AssertionError(f"no Avro type {kind}")


def snappy(content: bytes) -> bytes:
    """Return a Snappy block of one literal, and the checksum that Avro adds."""
    size, head = len(content), bytearray()
    while size > 0x7F:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    if content:
        head += bytes([61 << 2]) + struct.pack("<H", len(content) - 1)
    return bytes(head) + content + struct.pack(">I", zlib.crc32(content))


def deflate(content: bytes) -> bytes:
    """Compress to raw deflate."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(content) + stream.flush()


def xz(content: bytes) -> bytes:
    """Return an xz stream (The .xz File Format, 1.2.1) of one block, whose LZMA2 chunks are not compressed."""

    def crc(data: bytes) -> bytes:
        return struct.pack("<I", zlib.crc32(data))

    def padded(data: bytes) -> bytes:
        return data + bytes(-len(data) % 4)

    def number(value: int) -> bytes:
        return bytes([value & 0x7F | 0x80]) + number(value >> 7) if value > 0x7F else bytes([value])

    parts = [content[start : start + (1 << 16)] for start in range(0, len(content), 1 << 16)]
    chunks = b"".join(
        bytes([2 if place else 1]) + struct.pack(">H", len(part) - 1) + part for place, part in enumerate(parts)
    )
    head = padded(bytes([2, 0, 0x21, 1, 0x10]))  # 12 bytes, one filter: LZMA2 with a dictionary of 1 MiB
    block_ = head + crc(head) + chunks + b"\0"
    index = padded(b"\0" + number(1) + number(len(block_) + 4) + number(len(content)))
    flags = b"\0\1"  # CRC32
    tail = struct.pack("<I", (len(index) + 4) // 4 - 1) + flags
    return b"".join(
        [b"\xfd7zXZ\0", flags, crc(flags), padded(block_), crc(content), index, crc(index), crc(tail), tail, b"YZ"]
    )


CODECS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": deflate,
    "snappy": snappy,
    "zstandard": zstd_frame,
    "bzip2": bz2.compress,
    "xz": xz,
}


def header(metadata: Mapping[str, str | bytes], sync: bytes = SYNC) -> bytes:
    """Return the magic, the metadata and the sync marker."""
    entries = b"".join(text(key) + text(value) for key, value in metadata.items())
    return MAGIC + long(len(metadata)) + entries + long(0) + sync


def block(count: int, data: bytes, *, size: int | None = None, sync: bytes = SYNC) -> bytes:
    """Encode a block of the file."""
    return long(count) + long(len(data) if size is None else size) + data + sync


def container(
    schema: Any, blocks: Iterable[Block], metadata: Mapping[str, str | bytes], codec: str | None = "null"
) -> bytes:
    """Encode a file of encoded objects; if the codec is None, the header has no ``avro.codec``."""
    keys: dict[str, str | bytes] = {"avro.schema": json.dumps(schema, separators=(",", ":")), **metadata}
    if codec is not None:
        keys["avro.codec"] = codec
    pack = CODECS[codec or "null"]
    return header(keys) + b"".join(block(count, pack(data)) for count, data in blocks)
