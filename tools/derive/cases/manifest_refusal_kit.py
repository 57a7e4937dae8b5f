"""Shared code for refusals of manifests and of manifest lists: files of either kind with a defective container."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.derive import avro
from tools.derive.json_types import JsonObject
from tools.derive.vector import INVALID, any_of, ok

Row = tuple[str, str, bytes, str]
"""The name, the codes, the file and its defect."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: its schema, keys, the codes for files that are not of this kind, and two valid objects."""

    name: str
    code: str
    """The codes for a file that is not of this kind: its definition, and that scans use all of its entries (SCN001)."""

    schema: JsonObject
    keys: dict[str, str]
    rows: tuple[JsonObject, JsonObject]

    def objects(self) -> list[bytes]:
        """Return the encoded objects."""
        return [avro.encode(self.schema, row) for row in self.rows]

    def header(self, **changes: str | bytes | None) -> bytes:
        """Return the header, with Avro's keys replaced or, if the value is None, left out."""
        fields: dict[str, str | bytes | None] = {
            "avro.schema": json.dumps(self.schema),
            "avro.codec": "null",
            **self.keys,
        }
        fields.update({name.replace("_", "."): value for name, value in changes.items()})
        return avro.header({name: value for name, value in fields.items() if value is not None})


def containers(kind: Kind) -> Iterator[Row]:
    """Yield files of a kind whose header, blocks or codec a reader has to refuse."""
    code = kind.code
    one, two = kind.objects()
    both, head = one + two, kind.header()
    sound = head + avro.block(2, both)

    def row(name: str, data: bytes, note: str) -> Row:
        return name, code, data, note

    yield row("empty-file", b"", "no bytes at all")
    yield row("magic-alone", sound[:4], "the magic and nothing else")
    yield row("other-magic", b"Obj\x02" + sound[4:], "another version of the magic")
    yield row("parquet", b"PAR1" + bytes(20) + b"PAR1", "a Parquet file")
    yield row("cut-in-header", sound[:200], "the file ends in its schema")
    yield row("cut-in-sync", head[:-3], "the file ends in the sync marker of its header")
    yield row("cut-in-block", sound[: len(head) + 20], "the file ends in its block")
    yield row("cut-before-sync", sound[:-16], "the block has no sync marker")
    yield row("cut-in-last-sync", sound[:-1], "the last byte is missing")
    yield row("other-sync", sound[:-1] + b"\0", "the block ends with another sync marker")
    yield row(
        "sync-in-between",
        head + avro.block(1, one, sync=bytes(16)) + avro.block(1, two),
        "the first of two blocks ends with another sync marker",
    )
    for name, count, note in (
        ("more", 3, "3 objects are declared, but 2 are present"),
        ("fewer", 1, "1 object is declared, but 2 are present"),
        ("none", 0, "no objects are declared, but 2 are present"),
        ("negative", -2, "the number of objects is -2"),
        ("absurd", 1 << 62, "2**62 objects are declared, but 2 are present"),
    ):
        yield row(f"block-count-{name}", head + avro.block(count, both), note)
    for name, size, note in (
        ("less", len(both) - 1, "one less"),
        ("more", len(both) + 1, "one more"),
        ("negative", -1, "-1"),
        ("absurd", 1 << 62, "2**62"),
        ("zero", 0, "0"),
    ):
        yield row(f"block-size-{name}", head + avro.block(2, both, size=size), f"the size of the block is {note}")
    long_count = b"\xff" * 10 + b"\x01"
    yield row(
        "block-count-too-long", head + long_count + avro.long(len(both)) + both + avro.SYNC, "a count of 11 bytes"
    )
    yield row("cut-object", head + avro.block(2, both[:-1]), "the last object is truncated, and the block is sound")
    yield row("byte-after-objects", head + avro.block(2, both + b"\0"), "a byte follows the objects of the block")
    yield row("byte-after-file", sound + b"\0", "a byte follows the file")
    yield row("codec-unknown", kind.header(avro_codec="lz77") + avro.block(2, both), "there is no such codec")
    for codec in ("deflate", "snappy", "zstandard"):
        packed = avro.CODECS[codec](both)
        start = kind.header(avro_codec=codec)
        yield row(f"{codec}-plain", start + avro.block(2, both), "the block is not compressed")
        yield row(f"{codec}-cut", start + avro.block(2, packed[:-5]), "the compressed data is truncated")
    wrong = avro.snappy(both)[:-4] + struct.pack(">I", 0)
    yield row("snappy-checksum", kind.header(avro_codec="snappy") + avro.block(2, wrong), "the checksum is wrong")
    yield row("schema-missing", kind.header(avro_schema=None) + avro.block(2, both), "no schema")
    for name, text, note in (
        ("no-json", "{", "the schema is not JSON"),
        ("string", '"string"', "the objects are not records"),
        ("unknown-type", json.dumps(kind.schema).replace('"string"', '"text"'), "there is no type text"),
        ("no-fields", '{"type":"record","name":"r"}', "a record without fields"),
        (
            "negative-fixed",
            json.dumps(kind.schema).replace('"string"', '{"type":"fixed","name":"f","size":-1}'),
            "a fixed of -1 bytes",
        ),
    ):
        yield row(f"schema-{name}", kind.header(avro_schema=text) + avro.block(2, both), note)
    yield (
        "schema-without-ids",
        f"AVR013 {code}",
        kind.header(avro_schema=_without_ids(kind.schema)) + avro.block(2, both),
        ("no field has an id, as ClickHouse wrote: fields are found by id alone"),
    )
    metadata = avro.MAGIC + avro.long(1 << 40) + avro.text("avro.schema")
    yield row("metadata-count", metadata, "2**40 entries of metadata are declared")
    yield row(
        "metadata-length", avro.MAGIC + avro.long(1) + avro.long(1 << 40) + b"avro.schema", "a key of 2**40 bytes"
    )


def _without_ids(schema: JsonObject) -> str:
    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: bare(item) for name, item in value.items() if name not in ("field-id", "element-id")}
        return [bare(item) for item in value] if isinstance(value, list) else value

    return json.dumps(bare(schema))


def outcomes(answers: list[JsonObject]) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the outcome: a refusal, or one of some answers; and the contradiction that leaves it open."""
    return (any_of(INVALID, *map(ok, answers)), ("E21",)) if answers else (INVALID, ())
