"""Manifests that readers have to refuse, each with one defect, and valid ones beside them.

A refused file is not an Avro file, has no entries or files, or has a value that the field tables do not allow. If a
column that every version requires is missing, a reader may also fill in a default (Writer requirements). The text does
not name the default; the vectors permit the zero of the column's type: 0, the empty string, or either boolean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.derive import avro
from tools.derive.cases.manifest_partitions import partitioned
from tools.derive.cases.manifest_reads import LAYOUT, LISTED, NUMBER, read_args
from tools.derive.cases.manifest_refusal_kit import Kind, Row, containers, outcomes
from tools.derive.json_types import JsonObject
from tools.derive.manifests import (
    SNAPSHOT,
    array,
    column,
    counts,
    data_file_fields,
    entry,
    entry_form,
    entry_schema,
    field,
    keys,
    manifest,
    optional,
)
from tools.derive.vector import INVALID, Vector

MANIFEST = Kind("manifest", "MAN001 SCN001", entry_schema(2), keys(2), (entry(1), entry(2)))


def _manifests() -> Iterator[Row]:
    def of(
        name: str,
        codes: str,
        note: str,
        change: Callable[[JsonObject], None] | None = None,
        row: JsonObject | None = None,
        **more: Any,
    ) -> Row:
        return name, codes, manifest(2, [row or entry(1)], change=change, **more), note

    required = (
        (0, "status", "MAN011"),
        (2, "data_file", "MAN015"),
        (100, "file_path", "DFL002"),
        (101, "file_format", "DFL003"),
        (103, "record_count", "DFL005"),
        (104, "file_size_in_bytes", "DFL006"),
    )
    for field_id, name, code in required:

        def without(schema: JsonObject, field_id: int = field_id) -> None:
            for fields in (data_file_fields(schema), schema["fields"]):
                fields[:] = [one for one in fields if one["field-id"] != field_id]

        yield of(f"{name.replace('_', '-')}-missing", code, f"{name} is required in every version", without)

        def elsewhere(schema: JsonObject, field_id: int = field_id) -> None:
            column(schema, field_id)["field-id"] = 9000 + field_id

        if field_id != 2:
            yield of(
                f"{name.replace('_', '-')}-other-id",
                f"AVR013 {code}",
                f"{name} has the id {9000 + field_id}: it is not found by its name",
                elsewhere,
            )
    for field_id, name, code in required:
        if field_id == 2:
            continue

        def nullable(schema: JsonObject, field_id: int = field_id) -> None:
            one = column(schema, field_id)
            one["type"] = optional(one["type"])

        row = entry(1)
        if field_id == 0:
            row = {**row, "status": None}
        else:
            row["data_file"][name] = None
        yield of(f"{name.replace('_', '-')}-null", code, f"{name} is null, which a union allows", nullable, row)
    for status in (3, -1, 1 << 30):
        yield of(
            f"status-{'minus-1' if status < 0 else status}",
            "MAN011",
            f"there is no status {status}",
            row=entry(1, status),
        )
    for content in (3, -1):
        yield of(
            f"content-{'minus-1' if content < 0 else content}",
            "DFL001",
            f"there is no content {content}",
            row=entry(1, file={"content": content}),
        )
    for name, text in (("unknown", "lance"), ("empty", ""), ("space", "parquet "), ("extension", ".parquet")):
        yield of(
            f"file-format-{name}", "DFL003", f"there is no format {text!r}", row=entry(1, file={"file_format": text})
        )
    yield from _types(of)
    yield from _values(of)


def _types(of: Callable[..., Row]) -> Iterator[Row]:
    """Yield columns with wrong types."""
    pair_of_strings = {
        "type": "array",
        "logicalType": "map",
        "items": {"type": "record", "name": "kv", "fields": [field(126, "key", "int"), field(127, "value", "string")]},
    }
    rows: list[tuple[str, str, int, Any, Any, str]] = [
        ("status-string", "MAN011", 0, "string", "1", "an int"),
        ("snapshot-id-string", "MAN012", 1, "string", "7", "a long"),
        ("sequence-number-double", "MAN013", 3, "double", 7.0, "a long"),
        ("file-path-int", "DFL002", 100, "int", 7, "a string"),
        ("file-format-int", "DFL003", 101, "int", 7, "a string"),
        ("record-count-string", "DFL005", 103, "string", "10", "a long"),
        ("record-count-double", "DFL005", 103, "double", 10.0, "a long"),
        ("record-count-boolean", "DFL005", 103, "boolean", True, "a long"),
        ("file-size-float", "DFL006", 104, "float", 10.0, "a long"),
        ("partition-array", "DFL004", 102, {"type": "array", "items": "int"}, [1], "a record"),
        ("value-counts-array", "DFL012", 109, array(119, "long"), [10], "a map"),
        (
            "value-counts-map",
            "DFL012",
            109,
            {"type": "map", "values": "long"},
            {"1": 10},
            "a map of ints, not an Avro map",
        ),
        ("lower-bounds-of-strings", "DFL016", 125, pair_of_strings, counts({1: "a"}), "a map of binary"),
        ("split-offsets-long", "DFL019", 132, "long", 4, "a list"),
        ("split-offsets-of-strings", "DFL019", 132, array(133, "string"), ["4"], "a list of longs"),
        ("equality-ids-of-strings", "DFL020", 135, array(136, "string"), ["1"], "a list of ints"),
        ("sort-order-id-string", "DFL021", 140, "string", "0", "an int"),
        ("key-metadata-array", "DFL018", 131, array(9131, "int"), [1], "binary"),
    ]
    names = {
        109: "value_counts",
        125: "lower_bounds",
        132: "split_offsets",
        135: "equality_ids",
        140: "sort_order_id",
        131: "key_metadata",
    }
    for name, code, field_id, type_, value, expected in rows:

        def retyped(schema: JsonObject, field_id: int = field_id, type_: Any = type_) -> None:
            one = column(schema, field_id)
            one["type"] = type_
            one.pop("default", None)

        row = entry(1)
        member = {
            0: "status",
            1: "snapshot_id",
            3: "sequence_number",
            100: "file_path",
            101: "file_format",
            102: "partition",
            103: "record_count",
            104: "file_size_in_bytes",
            **names,
        }[field_id]
        (row if field_id < 5 else row["data_file"])[member] = value
        columns = (names[field_id],) if field_id in names else ()
        yield of(f"{name}", code, f"{member} must be {expected}", retyped, row, columns=columns)

    def flat(schema: JsonObject) -> None:
        column(schema, 2)["type"] = "string"

    yield of("data-file-string", "MAN015", "data_file is a record", flat, {**entry(1), "data_file": "a.parquet"})


def _values(of: Callable[..., Row]) -> Iterator[Row]:
    """Yield values that cannot be decoded."""
    schema = entry_schema(2, columns=("value_counts", "split_offsets"))
    path = entry(1)["data_file"]["file_path"]
    row = entry(1, file={"value_counts": counts({1: 10}), "split_offsets": [4]})
    body = avro.encode(schema, row)

    def damaged(name: str, old: bytes, new: bytes, note: str) -> Row:
        assert body.count(old) == 1, name
        return name, MANIFEST.code, avro.container(schema, [(1, body.replace(old, new))], keys(2)), note

    text = avro.text(path)
    yield damaged("string-negative", text, avro.long(-3) + text[1:], "the length of a string is -3")
    yield damaged("string-absurd", text, avro.long(1 << 40) + text[1:], "the length of a string is 2**40")
    yield damaged("string-not-utf-8", path.encode(), b"\xff" * len(path), "a path that is not UTF-8")
    pair = b"\x02" + avro.long(1) + avro.long(1) + avro.long(10) + avro.long(0)
    yield damaged("array-absurd", pair, b"\x02" + avro.long(1 << 40) + pair[2:], "an array of 2**40 pairs")
    yield damaged("union-branch", pair, b"\x04" + pair[1:], "a union of two types has no third branch")
    yield damaged("union-negative", pair, b"\x01" + pair[1:], "a union has no branch -1")
    size = avro.long(row["data_file"]["file_size_in_bytes"])
    assert len(size) == 2
    eleven = b"\xff" * 10 + b"\x01"
    yield damaged("long-too-long", avro.long(10) + size, avro.long(10) + eleven, "a long of 11 bytes")


def _partitions() -> Iterator[Vector]:
    """Yield tuples and specs that do not match."""

    def refused(
        name: str, codes: str, note: str, data: bytes, table: JsonObject, spec: JsonObject, spec_id: int = 4
    ) -> Vector:
        args = read_args(data, {**LISTED, "partition_spec_id": spec_id}, table, spec)
        return Vector(f"manifest-read-refuses-{name}", tuple(codes.split()), args, INVALID, LAYOUT, note, only=(2,))

    for source, type_, value, note in (
        ("int", "string", "x", "a string for an int"),
        ("string", "int", 7, "an int for a string"),
        ("uuid", {"type": "fixed", "name": "f", "size": 15}, bytes(15), "15 bytes for a uuid"),
        ("fixed[3]", {"type": "fixed", "name": "f", "size": 4}, bytes(4), "4 bytes for a fixed[3]"),
        ("boolean", "int", 1, "an int for a boolean"),
    ):
        table, spec = partitioned(source)
        row = entry(1, file={"partition": {"p": value}})
        data = manifest(2, [row], partition=[field(1000, "p", optional(type_))], spec=spec, table=table)
        yield refused(f"partition-of-{''.join(c for c in source if c.isalpha())}", "DFL004", note, data, table, spec)
    table, spec = partitioned("int")
    row = entry(1, file={"partition": {"p": 7}})
    data = manifest(2, [row], partition=[field(1000, "p", optional("int"))], spec=spec, table=table)
    yield refused(
        "spec-unknown", "MLS005", "the list names the spec 5, which the table does not have", data, table, spec, 5
    )


def manifests() -> Iterator[Vector]:
    """Yield the vectors of manifests."""
    for name, codes, data, note in (
        *containers(MANIFEST),
        *_manifests(),
        ("zstandard-bomb", MANIFEST.code, _bomb(), _BOMB),
    ):
        expect, why = outcomes([{"entries": [form]} for form in FILLED_ENTRIES.get(name, ())])
        yield Vector(
            f"manifest-read-refuses-{name}", tuple(codes.split()), read_args(data), expect, LAYOUT, note, why, only=(2,)
        )
    yield from _partitions()


FILLED_ENTRIES: dict[str, list[JsonObject]] = {
    # An existing entry whose number is null may inherit it nevertheless (E21).
    "status-missing": [entry_form(entry(1, 0), snapshot_id=SNAPSHOT), entry_form(entry(1, 0), **NUMBER)],
    **{
        f"{name.replace('_', '-')}-missing": [entry_form(entry(1), file={name: zero}, **NUMBER)]
        for name, zero in (("file_path", ""), ("file_format", ""), ("record_count", 0), ("file_size_in_bytes", 0))
    },
}
"""Entries in which the missing column has the zero of its type; data_file, which is a record, has no zero."""


_BOMB = "a block of 8 KiB decompresses to one object and 256 MiB after it"


def _bomb() -> bytes:
    body = MANIFEST.objects()[0]
    raw = len(body) << 3
    blocks = raw.to_bytes(3, "little") + body
    repeated = 1 << 17
    zeros = (2 | repeated << 3).to_bytes(3, "little") + b"\0"
    last = (3 | repeated << 3).to_bytes(3, "little") + b"\0"
    frame = bytes.fromhex("28B52FFD") + b"\x00\x58" + blocks + zeros * 2047 + last
    return MANIFEST.header(avro_codec="zstandard") + avro.block(1, frame)
