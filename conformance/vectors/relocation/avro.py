"""Avro containers as trees; unchanged trees are written back to the same bytes."""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from collections.abc import Callable
from typing import Any

from attrs import define

from conformance.vectors.relocation.paths import Paths
from spec_ref.encodings.zstandard import zstd

MAGIC = b"Obj\x01"
WIDTHS = {"null": 0, "boolean": 1, "float": 4, "double": 8}


class RelocationError(Exception):
    """A file is damaged, or has a form in which locations cannot be replaced; the message says why."""


@define
class Number:
    """An int, a long or the index of an enum."""

    value: int


@define
class Text:
    """A string or bytes."""

    value: bytes


@define
class Raw:
    """A value that never changes: a fixed, a boolean, a float, a double or a null."""

    value: bytes


@define
class UnionValue:
    """A value of one branch of a union."""

    branch: int
    value: Node


@define
class RecordValue:
    """The values of a record's fields in order."""

    fields: dict[str, Node]


@define
class Blocks:
    """An array, or a map as alternating keys and values; each block records whether its byte size is written."""

    blocks: list[tuple[bool, int, list[Node]]]


Node = Number | Text | Raw | UnionValue | RecordValue | Blocks


def unsigned(value: int) -> bytes:
    """Encode a number in groups of seven bits."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def long(value: int) -> bytes:
    """Encode a signed number in Avro's zigzag form."""
    return unsigned(value << 1 if value >= 0 else (-value << 1) - 1)


class ValueReader:
    """Reads values of a schema."""

    def __init__(self, data: bytes) -> None:
        """Begin at the first byte."""
        self.data = data
        self.at = 0
        self.names: dict[str, Any] = {}

    def take(self, count: int) -> bytes:
        """Read the next bytes.

        Raises:
            RelocationError: there are fewer.
        """
        if count < 0 or count > len(self.data) - self.at:
            raise RelocationError("the file is truncated")
        self.at += count
        return self.data[self.at - count : self.at]

    def long(self) -> int:
        """Read the next signed number."""
        value = shift = 0
        while True:
            (octet,) = self.take(1)
            value |= (octet & 0x7F) << shift
            shift += 7
            if octet < 0x80:
                return value >> 1 ^ -(value & 1)

    def value(self, schema: Any) -> Node:
        """Read the next value of a schema."""
        if isinstance(schema, list):
            branch = self.long()
            return UnionValue(branch, self.value(schema[branch]))
        if isinstance(schema, str):
            return self._read_named(schema)
        kind = schema["type"]
        if isinstance(kind, dict | list):
            return self.value(kind)
        if kind in ("record", "enum", "fixed"):
            self.names[schema["name"]] = self.names[f"{schema.get('namespace', '')}.{schema['name']}"] = schema
        match kind:
            case "record":
                return RecordValue({field["name"]: self.value(field["type"]) for field in schema["fields"]})
            case "array":
                return Blocks(self._blocks(lambda: [self.value(schema["items"])]))
            case "map":
                return Blocks(self._blocks(lambda: [Text(self.take(self.long())), self.value(schema["values"])]))
            case "fixed":
                return Raw(self.take(schema["size"]))
            case "enum":
                return Number(self.long())
        return self._read_named(kind)

    def _read_named(self, name: str) -> Node:
        if name in WIDTHS:
            return Raw(self.take(WIDTHS[name]))
        if name in ("int", "long"):
            return Number(self.long())
        if name in ("string", "bytes"):
            return Text(self.take(self.long()))
        return self.value(self.names[name])

    def _blocks(self, items: Callable[[], list[Node]]) -> list[tuple[bool, int, list[Node]]]:
        blocks = []
        while count := self.long():
            if count < 0:
                self.long()  # skip the size in bytes, which is recomputed
            blocks.append((count < 0, abs(count), [node for _ in range(abs(count)) for node in items()]))
        return blocks


def encode(node: Node) -> bytes:
    """Encode a value."""
    match node:
        case Number(value):
            return long(value)
        case Text(value):
            return long(len(value)) + value
        case Raw(value):
            return value
        case UnionValue(branch, inner):
            return long(branch) + encode(inner)
        case RecordValue(fields):
            return b"".join(map(encode, fields.values()))
        case Blocks(blocks):
            made = []
            for sized, count, items in blocks:
                data = b"".join(map(encode, items))
                made.append(long(-count) + long(len(data)) + data if sized else long(count) + data)
            return b"".join((*made, long(0)))


def replace(node: Node, paths: Paths) -> None:
    """Rewrite the locations in all texts and bytes of a value."""
    match node:
        case Text(value):
            node.value = paths.replace(value)
        case UnionValue(_, inner):
            replace(inner, paths)
        case RecordValue(fields):
            for field in fields.values():
                replace(field, paths)
        case Blocks(blocks):
            for _, _, items in blocks:
                for item in items:
                    replace(item, paths)


def plain_value(node: Node) -> Any:
    """Return the plain value: the number, the bytes, the inner value of a union; None for null."""
    if isinstance(node, UnionValue):
        return plain_value(node.value)
    return None if isinstance(node, Raw) and not node.value else getattr(node, "value", node)


CODECS: dict[bytes, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    b"null": (bytes, bytes),
    b"deflate": (lambda data: zlib.decompress(data, -15), lambda data: zlib.compress(data, 9, -15)),
    b"bzip2": (bz2.decompress, bz2.compress),
    b"xz": (lzma.decompress, lzma.compress),
    b"zstandard": (zstd.decompress, zstd.compress),
}


@define
class ParsedContainer:
    """A parsed container file."""

    header: bytes
    """All bytes before the first block."""

    codec: bytes
    sync: bytes
    schema: Any
    blocks: list[tuple[bytes, list[Node]]]
    """The original bytes of each block, and its objects."""


def read(data: bytes) -> ParsedContainer:
    """Read a container.

    Raises:
        RelocationError: it is damaged, or would not be written back to the same bytes.
    """
    reader = ValueReader(data)
    if reader.take(4) != MAGIC:
        raise RelocationError("not an Avro file")
    metadata: dict[bytes, bytes] = {}
    while count := reader.long():
        if count < 0:
            reader.long()
        for _ in range(abs(count)):
            name = reader.take(reader.long())
            metadata[name] = reader.take(reader.long())
    sync = reader.take(16)
    header = data[: reader.at]
    schema = json.loads(metadata[b"avro.schema"])
    codec = metadata.get(b"avro.codec", b"null")
    if codec not in CODECS:
        raise RelocationError(f"the codec is {codec!r}")
    blocks = []
    while reader.at < len(data):
        start = reader.at
        count = reader.long()
        packed = reader.take(reader.long())
        if reader.take(16) != sync:
            raise RelocationError("a sync marker is missing")
        try:
            inner = ValueReader(CODECS[codec][0](packed))
        except (zlib.error, OSError, lzma.LZMAError) as error:
            raise RelocationError(f"a block does not decompress: {error}") from None
        objects = [inner.value(schema) for _ in range(count)]
        if inner.at != len(inner.data) or b"".join(map(encode, objects)) != inner.data:
            raise RelocationError("the objects would be written in a different form")
        blocks.append((data[start : reader.at], objects))
    return ParsedContainer(header, codec, sync, schema, blocks)


def write(container: ParsedContainer) -> bytes:
    """Encode a container; blocks with unchanged objects keep their original bytes."""
    parts = [container.header]
    for raw, objects in container.blocks:
        reader = ValueReader(raw)
        reader.long()
        before = CODECS[container.codec][0](reader.take(reader.long()))
        after = b"".join(map(encode, objects))
        if after == before:
            parts.append(raw)
        else:
            packed = CODECS[container.codec][1](after)
            parts += [long(len(objects)), long(len(packed)), packed, container.sync]
    return b"".join(parts)
