"""Manifests that readers have to read: every version, what entries inherit, and what other writers make of the rules."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from tools.derive import avro
from tools.derive.encoding import unscaled
from tools.derive.instants import count
from tools.derive.manifests import (
    OTHER_SNAPSHOT,
    SCHEMA,
    SNAPSHOT,
    UNPARTITIONED,
    Json,
    array,
    column,
    columns_of,
    counts,
    entry,
    entry_form,
    entry_schema,
    field,
    keys,
    manifest,
    optional,
)
from tools.derive.vector import INVALID, Vector, any_of, ok

LAYOUT = "derivation: tools/derive/manifests.py lays out the file by the field tables and Appendix A"
NUMBER = {"snapshot_id": SNAPSHOT, "sequence_number": 7, "file_sequence_number": 7}
"""What an added entry inherits from `LISTED`."""

ZERO = {"snapshot_id": SNAPSHOT, "sequence_number": 0, "file_sequence_number": 0}
LISTED: Json = {
    "partition_spec_id": 0,
    "content": 0,
    "sequence_number": "7",
    "added_snapshot_id": str(SNAPSHOT),
}
OLD: Json = {**LISTED, "sequence_number": "0"}


def read_args(data: bytes, listed: Json = LISTED, schema: Json = SCHEMA, spec: Json = UNPARTITIONED) -> Json:
    """What is asked."""
    return {"bytes": data.hex().upper(), "manifest_file": listed, "schema": schema, "specs": [spec]}


def case(
    name: str,
    codes: str,
    data: bytes,
    entries: list[Json] | None,
    note: str,
    version: int | tuple[int, ...],
    *,
    listed: Json = LISTED,
    schema: Json = SCHEMA,
    spec: Json = UNPARTITIONED,
    expect: Json | None = None,
    contradiction: tuple[str, ...] = (),
    header: Json | None = None,
) -> Vector:
    """A manifest and its entries; with ``header``, its header is asked for too."""
    args = read_args(data, listed, schema, spec)
    answer: Json = {"entries": entries}
    if header is not None:
        args["select"] = ["header", "status", "file_path"]
        answer = {"header": header, **answer}
    outcome = ok(answer) if expect is None else expect
    only = (version,) if isinstance(version, int) else version
    return Vector(f"manifest-read-{name}", tuple(codes.split()), args, outcome, LAYOUT, note, contradiction, only)


METRICS: Json = {
    "column_sizes": counts({1: 80, 2: 1 << 33}),
    "value_counts": counts({1: 10, 2: 10}),
    "null_value_counts": counts({1: 0, 2: 3}),
    "nan_value_counts": counts({3: 0}),
    "lower_bounds": counts({1: struct.pack("<q", -5), 2: "ä".encode()}),
    "upper_bounds": counts({1: struct.pack("<q", 1 << 40), 2: "\U0001f9ca".encode()}),
    "key_metadata": b"\x00\xff",
    "split_offsets": [4, 1 << 33],
    "sort_order_id": 3,
}


def _whole() -> Iterator[Vector]:
    first = entry(1, 1, file=METRICS, snapshot_id=SNAPSHOT)
    second = entry(2, 0, snapshot_id=OTHER_SNAPSHOT)
    third = entry(3, 2, snapshot_id=SNAPSHOT)
    data = manifest(1, [first, second, third], columns=None)
    forms = [entry_form(first, **ZERO)]
    forms += [entry_form(row, sequence_number=0, file_sequence_number=0) for row in (second, third)]
    yield case("v1", "MAN011 MAN015", data, forms, "every column of v1; all files get sequence number 0", 1, listed=OLD)
    header = {"format_version": 1, "content": 0, "partition_spec_id": 0}
    yield case("v1-header", "MAN009", data, forms, "what the header tells", 1, listed=OLD, header=header)
    null = [entry(1), entry(2, 0)]
    nullable = manifest(1, null, change=lambda schema: column(schema, 1).update(type=optional("long")))
    yield case("v1-snapshot-id-null", "MAN012", nullable, [entry_form(row, **ZERO) for row in null],
               "a null snapshot id is inherited, as add_files of Iceberg-Java relies on in v1", 1, listed=OLD)  # fmt: skip
    for name, gone in (("no-version", ("format-version",)), ("no-keys", tuple(keys(1)))):
        bare = manifest(1, [first], columns=None, metadata=dict.fromkeys(gone))
        yield case(f"v1-{name}", "MAN009", bare, [entry_form(first, **ZERO)],
                   f"readers need no key of the header: {', '.join(gone)} missing", 1, listed=OLD,
                   contradiction=("C1",))  # fmt: skip
    yield case("v1-in-a-v2-list", "SEQ009", data, forms,
               "a manifest of v1 has no sequence numbers, so that all its files get 0 whatever its list says", (2, 3))  # fmt: skip

    full = {**METRICS, "referenced_data_file": None}
    added, kept = (
        entry(1, file=full),
        entry(2, 0, snapshot_id=OTHER_SNAPSHOT, sequence_number=3, file_sequence_number=5),
    )
    gone_entry = entry(3, 2, snapshot_id=SNAPSHOT, sequence_number=1, file_sequence_number=2)
    rows = [added, kept, gone_entry]
    forms = [entry_form(added, **NUMBER), entry_form(kept), entry_form(gone_entry)]
    yield case("v2", "MAN011 MAN013 MAN014 MAN015", manifest(2, rows, columns=None), forms, "every column of v2", 2)
    header = {"format_version": 2, "content": 0, "partition_spec_id": 0}
    yield case("v2-header", "MAN009", manifest(2, rows), forms, "what the header tells", 2, header=header)
    deletes = [
        entry(1, file={"content": 1, "referenced_data_file": "s3://b/wh/t/data/9.parquet"}),
        entry(2, file={"content": 2, "equality_ids": [2, 1], "sort_order_id": 0}),
    ]
    data = manifest(2, deletes, columns=None, content="deletes")
    forms = [entry_form(row, **NUMBER) for row in deletes]
    of_deletes = {**LISTED, "content": 1}
    yield case("v2-deletes", "DFL001 DFL020 DFL023", data, forms, "position and equality deletes", 2, listed=of_deletes)
    header = {"format_version": 2, "content": 1, "partition_spec_id": 0}
    yield case("v2-deletes-header", "MAN010", data, forms, "the header tells", 2, listed=of_deletes, header=header)

    ids = [
        entry(1),
        entry(2, 0, file={"first_row_id": 1 << 53}, snapshot_id=1, sequence_number=1, file_sequence_number=1),
    ]
    data = manifest(3, ids, columns=None)
    forms = [entry_form(ids[0], file={"first_row_id": 500}, **NUMBER), entry_form(ids[1])]
    listed = {**LISTED, "first_row_id": "500"}
    yield case("v3", "DFL022 LIN019", data, forms, "every column of v3", 3, listed=listed)
    vector = entry(1, file={
        "content": 1, "file_format": "PUFFIN", "file_path": "s3://b/wh/t/data/dv.puffin", "record_count": 2,
        "referenced_data_file": "s3://b/wh/t/data/9.parquet", "content_offset": 4, "content_size_in_bytes": 1 << 33,
    })  # fmt: skip
    data = manifest(3, [vector], columns=None, content="deletes")
    yield case("v3-deletion-vector", "DFL024 DFL025", data, [entry_form(vector, **NUMBER)], "a deletion vector", 3,
               listed=of_deletes)  # fmt: skip
    yield case("empty", "MAN001", manifest(2, []), [], "a file without blocks has no entries", 2)


def _inherited() -> Iterator[Vector]:
    def one(name: str, codes: str, row: Json, note: str, form: Json, **more: Any) -> Vector:
        version = more.pop("version", 2)
        data = manifest(version, [row], columns=("first_row_id",))
        return case(f"inherits-{name}", codes, data, [form], note, version, **more)

    row = entry(1)
    yield one("added", "MAN019 SEQ006", row, "what is null is the manifest's", entry_form(row, **NUMBER))
    zero = entry_form(row, **ZERO)
    yield one("zero", "MAN019 SEQ006", row, "0 is a number and not unknown", zero, listed=OLD)
    large = {**LISTED, "sequence_number": str(OTHER_SNAPSHOT), "added_snapshot_id": str((1 << 63) - 1)}
    form = entry_form(
        row, snapshot_id=(1 << 63) - 1, sequence_number=OTHER_SNAPSHOT, file_sequence_number=OTHER_SNAPSHOT
    )
    yield one("longs", "MAN019", row, "numbers of 64 bits stay exact", form, listed=large)
    row = entry(1, snapshot_id=OTHER_SNAPSHOT)
    form = entry_form(row, sequence_number=7, file_sequence_number=7)
    yield one("snapshot-id-kept", "MAN012", row, "an explicit snapshot id is not replaced", form)
    row = entry(1, sequence_number=3)
    form = entry_form(row, snapshot_id=SNAPSHOT, file_sequence_number=7)
    yield one(
        "data-sequence-number-kept", "MAN013", row, "each number is inherited by itself, as a rewrite needs", form
    )
    row = entry(1, 0, sequence_number=3, file_sequence_number=4)
    yield one("existing", "SEQ008", row, "an existing entry keeps its numbers", entry_form(row, snapshot_id=SNAPSHOT))
    row = entry(1, 2, sequence_number=3, file_sequence_number=4)
    yield one("deleted", "SEQ008", row, "a deleted entry keeps its numbers", entry_form(row, snapshot_id=SNAPSHOT))
    row = entry(1, 0, sequence_number=0, file_sequence_number=0, snapshot_id=-1)
    yield one("existing-zero", "SEQ008", row, "an existing file of a former v1 table has 0", entry_form(row))
    for name, status in (("existing", 0), ("deleted", 2)):
        row = entry(1, status, snapshot_id=OTHER_SNAPSHOT)
        yield one(f"{name}-null", "MAN022", row, "the writer had to write the numbers; guessing 7 would be wrong", {},
                  expect=any_of(ok({"entries": [entry_form(row)]}), INVALID), contradiction=("E23",))  # fmt: skip
    yield from _row_ids()


def _row_ids() -> Iterator[Vector]:
    listed = {**LISTED, "first_row_id": "1000"}

    def ids(name: str, codes: str, rows: list[Json], given: Sequence[int | None], note: str, **more: Any) -> Vector:
        version, columns = more.pop("version", 3), more.pop("columns", ("first_row_id",))
        numbers = more.pop("numbers", NUMBER)
        content = more.pop("content", "data")
        forms = [
            entry_form(row, file={"first_row_id": first}, **{k: v for k, v in numbers.items() if row.get(k) is None})
            for row, first in zip(rows, given, strict=True)
        ]
        data = manifest(version, rows, columns=columns, content=content)
        outcome = more.pop("expect", None)
        more.setdefault("listed", listed)
        return case(f"row-ids-{name}", codes, data, forms, note, 3, expect=outcome and outcome(forms), **more)

    yield ids("added", "LIN019", [entry(1), entry(2, file={"record_count": 5}), entry(3)], [1000, 1010, 1015],
              "each starts behind the rows of the files before it")  # fmt: skip
    zero = [entry(1, file={"record_count": 0}), entry(2)]
    yield ids("empty-file", "LIN019", zero, [1000, 1000], "a file without rows takes no ids")
    explicit = {"sequence_number": 1, "file_sequence_number": 1}
    kept = [
        entry(1, 0, file={"first_row_id": 50}, **explicit),
        entry(2),
        entry(3, 0, file={"first_row_id": 70}, **explicit),
        entry(4),
    ]
    yield ids("explicit", "LIN019 LIN020", kept, [50, 1000, 70, 1010],
              "files with an id keep it, and do not count for those without")  # fmt: skip
    existing = [entry(1, 0, **explicit), entry(2)]
    yield ids("existing", "LIN022", existing, [1000, 1010], "an existing file without an id inherits one too")
    deleted = [entry(1, 2, **explicit), entry(2)]
    yield ids("deleted", "LIN019", deleted, [None, 1000], "a deleted file takes none of the ids that were set aside",
              contradiction=("B2",))  # fmt: skip
    yield ids("none", "LIN014", [entry(1)], [None], "the list has none: neither have the files", listed=LISTED)
    yield ids("zero", "LIN019", [entry(1), entry(2)], [0, 10], "0 is an id", listed={**LISTED, "first_row_id": "0"})
    yield ids("long", "LIN019", [entry(1), entry(2, 0, **explicit)], [OTHER_SNAPSHOT, OTHER_SNAPSHOT + 10],
              "ids of 64 bits stay exact", listed={**LISTED, "first_row_id": str(OTHER_SNAPSHOT)})  # fmt: skip
    yield ids("v2-manifest", "LIN019", [entry(1), entry(2)], [1000, 1010],
              "a manifest of v2 in an upgraded table", version=2, columns=())  # fmt: skip
    yield ids("v1-manifest", "LIN019", [entry(1, snapshot_id=1), entry(2, snapshot_id=1)], [1000, 1010],
              "a manifest of v1 in an upgraded table", version=1, columns=(), numbers=ZERO,
              listed={**listed, "sequence_number": "0"})  # fmt: skip
    rows = [entry(1, 0, file={"first_row_id": 50}, **explicit)]
    yield ids("list-has-none", "LIN020", rows, [50], "an id of the file where the list gives the manifest none",
              listed=LISTED, contradiction=("C15",),
              expect=lambda forms: any_of(ok({"entries": forms}), ok({"entries": [_without_id(forms[0])]})))  # fmt: skip
    deletes = [entry(1, file={"content": 1, "first_row_id": 5})]
    yield ids("delete-file", "LIN021", deletes, [None], "a delete file has no row ids, whatever is written",
              content="deletes", listed={**LISTED, "content": 1})  # fmt: skip


def _without_id(form: Json) -> Json:
    file = {name: value for name, value in form["data_file"].items() if name != "first_row_id"}
    return {**form, "data_file": file}


def _foreign() -> Iterator[Vector]:
    """The columns of other writers."""
    row = entry(1, file={**METRICS, "equality_ids": None})
    form = entry_form(row, **NUMBER)

    def other(name: str, codes: str, note: str, change: Any = None, rows: Any = None, **more: Any) -> Vector:
        given = {key: more.pop(key) for key in ("metadata", "codec", "columns", "split", "content") if key in more}
        given.setdefault("columns", tuple(METRICS))
        data = manifest(2, rows or [row], change=change, **given)
        return case(name, codes, data, more.pop("forms", [form]), note, 2, **more)

    def without(*ids: int) -> Any:
        def change(schema: Json) -> None:
            for fields in (schema["fields"], columns_of(schema)):
                fields[:] = [one for one in fields if one.get("field-id") not in ids]

        return change

    yield other("columns-left-out", "MAN012 MAN013 MAN014", "no columns for what is inherited, as BigQuery writes",
                without(1, 3, 4))  # fmt: skip
    yield other("partition-left-out", "DFL004", "an empty tuple without a column", without(102), contradiction=("B31",))

    def renamed(schema: Json) -> None:
        column(schema, 2)["type"]["name"] = "iceberg_data_file"
        schema.update(name="entry", namespace="org.example")

    yield other("record-names", "MAN001", "names of records mean nothing: not r2, as iceberg-go wrote", renamed)

    def reordered(schema: Json) -> None:
        columns_of(schema).reverse()
        schema["fields"].reverse()

    yield other("order", "MAN001", "columns in another order", reordered)
    names = {"file_path": "path", "record_count": "n", "status": "s", "lower_bounds": "min", "content": "kind"}
    named = {**{names.get(key, key): item for key, item in row.items()}}
    named["data_file"] = {names.get(key, key): item for key, item in row["data_file"].items()}

    def by_id(schema: Json) -> None:
        for one in [*columns_of(schema), *schema["fields"]]:
            one["name"] = names.get(one["name"], one["name"])

    yield other("names", "MAN001 AVR013", "fields are found by id, whatever their names", by_id, [named])

    def swapped(schema: Json) -> None:
        column(schema, 103)["name"], column(schema, 104)["name"] = "file_size_in_bytes", "record_count"

    sizes = {**row, "data_file": {**row["data_file"], "file_size_in_bytes": 10, "record_count": 1001}}
    yield other("names-swapped", "MAN001 AVR013", "the name of one field with the id of another", swapped, [sizes])

    def unknown(schema: Json) -> None:
        point = {
            "type": "record",
            "name": "p",
            "fields": [field(None, "x", "double"), field(9001, "m", {"type": "map", "values": "int"})],
        }
        columns_of(schema).insert(2, field(9000, "extra", optional(point)))
        schema["fields"].insert(0, field(9003, "e", {"type": "enum", "name": "e", "symbols": ["A", "B"]}))
        schema["fields"].append(field(9004, "more", {"type": "array", "items": "string"}))

    def with_unknown(schema: Json) -> None:
        unknown(schema)
        column(schema, 9003)["type"] = "int"

    extra = {**row, "e": 1, "more": ["a", ""]}
    extra["data_file"] = {**row["data_file"], "extra": {"x": 1.5, "m": {"k": 1}}}
    yield other(
        "unknown-columns", "MAN001", "columns that the spec does not have are passed over", with_unknown, [extra]
    )
    optional_names = ("null-first", "null-last")
    for place, name in enumerate(optional_names):

        def nullable(schema: Json, place: int = place) -> None:
            for one in [*columns_of(schema), *schema["fields"]]:
                inner = one["type"][1] if isinstance(one["type"], list) else one["type"]
                one["type"] = ["null", inner] if place == 0 else [inner, "null"]
                one.pop("default", None)

        yield other(f"all-optional-{name}", "AVR001", f"every field is a union, {name.replace('-', ' ')}", nullable,
                    contradiction=("C10",))  # fmt: skip

    def values_nullable(schema: Json) -> None:
        for field_id in (108, 109, 110, 137, 125, 128):
            record = column(schema, field_id)["type"][1]["items"]
            record["fields"][1]["type"] = ["null", record["fields"][1]["type"]]

    yield other("map-values-optional", "AVR001", "values of maps are optional, as BigQuery writes", values_nullable)

    def plain_maps(schema: Json) -> None:
        for field_id in (108, 109, 110, 137, 125, 128):
            del column(schema, field_id)["type"][1]["logicalType"]

    yield other(
        "maps-without-logical-type", "AVR004", "arrays of pairs without the logical type; the ids tell", plain_maps
    )

    def key_names(schema: Json) -> None:
        for one in column(schema, 109)["type"][1]["items"]["fields"]:
            one["name"] = {"key": "k", "value": "v"}[one["name"]]

    renamed_pairs = [{"k": 1, "v": 10}, {"k": 2, "v": 10}]
    yield other("map-member-names", "AVR013", "keys and values with other names, found by id", key_names,
                [{**row, "data_file": {**row["data_file"], "value_counts": renamed_pairs}}])  # fmt: skip

    def ints(schema: Json) -> None:
        for one in (column(schema, 103), column(schema, 104)):
            one["type"] = "int"

    yield other("ints-for-longs", "DFL005 DFL006", "an int where the table has long, which Avro promotes", ints)
    equality = entry(1, file={"content": 2, "equality_ids": [2, 1]})

    def long_ids(schema: Json) -> None:
        column(schema, 135)["type"][1]["items"] = "long"

    yield other("equality-ids-longs", "DFL020", "longs in place of ints, as iceberg-go wrote; the values are the same",
                long_ids, [equality], columns=("equality_ids",), content="deletes", forms=[entry_form(equality, **NUMBER)],
                listed={**LISTED, "content": 1},
                expect=any_of(ok({"entries": [entry_form(equality, **NUMBER)]}), INVALID), contradiction=("E23",))  # fmt: skip
    blank = entry(1, file={"split_offsets": [], "key_metadata": b"", "value_counts": [], "lower_bounds": []})
    yield other("empty-for-null", "DFL018 DFL019", "empty lists, maps and bytes in place of null, as iceberg-rust wrote",
                rows=[blank], forms=[entry_form(entry(1), **NUMBER)])  # fmt: skip
    for name in ("parquet", "Parquet", "ORC", "avro"):
        of_format = entry(1, file={"file_format": name})
        yield other(f"format-{name.lower()}-{'lower' if name.islower() else 'upper' if name.isupper() else 'mixed'}",
                    "DFL003", f"the format is written {name}", rows=[of_format], forms=[entry_form(of_format, **NUMBER)],
                    columns=(), contradiction=("C4",))  # fmt: skip
    plain = [entry(number) for number in range(1, 6)]
    forms = [entry_form(one, **NUMBER) for one in plain]
    for codec in ("deflate", "snappy", "zstandard", None):
        yield other(f"codec-{codec or 'left-out'}", "MAN001", "no codec is null" if codec is None else f"the codec {codec}",
                    rows=plain, forms=forms, columns=(), codec=codec)  # fmt: skip
    yield other(
        "blocks", "MAN001", "several blocks, the last of them shorter", rows=plain, forms=forms, columns=(), split=2
    )
    yield other("deflate-blocks", "MAN001", "several compressed blocks", rows=plain, forms=forms, columns=(), split=2,
                codec="deflate")  # fmt: skip
    headers: list[tuple[str, str, dict[str, str | None], str]] = [
        ("schema-missing", "MAN005", {"schema": None}, "no schema"),
        ("schema-avro", "MAN005", {"schema": '{"type":"record","name":"r","fields":[]}'}, "its own schema, as DuckDB wrote"),
        ("schema-id-missing", "MAN006", {"schema-id": None}, "no schema-id, as most writers"),
        ("spec-null", "MAN007", {"partition-spec": "null"}, "the spec is null, as iceberg-go wrote"),
        ("spec-object", "MAN007", {"partition-spec": '{"spec-id":0,"fields":[]}'}, "the whole spec, as iceberg-cpp wrote"),
        ("spec-id-spelled", "MAN008", {"partition-spec-id": None, "partition_spec_id": "0"}, "as ClickHouse wrote"),
        ("spec-id-other", "MAN008", {"partition-spec-id": "5"}, "the list decides on the spec"),
        ("content-missing", "MAN010", {"content": None}, "no content, as iceberg-rust wrote in v3"),
        ("content-delete", "MAN010", {"content": "delete"}, "no such content, as iceberg-cpp wrote"),
        ("content-other", "MAN010", {"content": "deletes"}, "the list decides on the content"),
        ("version-missing", "MAN009", {"format-version": None}, "no format version"),
        ("no-keys", "MAN009", dict.fromkeys(keys(2)), "Avro's keys alone"),
        ("other-keys", "MAN009", {"iceberg.schema": "{}", "created-by": "größe"}, "keys that the spec does not have"),
    ]  # fmt: skip
    for name, code, metadata, note in headers:
        yield other(f"header-{name}", code, f"readers need no key of the header: {note}", rows=plain[:1], forms=forms[:1],
                    columns=(), metadata=metadata, contradiction=("C1",))  # fmt: skip
    strange = entry(1, file={"file_path": "s3://b/größe \U0001f9ca/%20/a=1/x y.parquet"}, snapshot_id=-(1 << 63))
    yield other("path", "DFL002", "a path is taken as it stands", rows=[strange], columns=(),
                forms=[entry_form(strange, sequence_number=7, file_sequence_number=7)])  # fmt: skip
    many = entry(1, file={"record_count": (1 << 63) - 1, "file_size_in_bytes": OTHER_SNAPSHOT})
    yield other("longs", "DFL005 DFL006", "counts of 64 bits stay exact", rows=[many], columns=(),
                forms=[entry_form(many, **NUMBER)])  # fmt: skip
    yield from _encodings(plain, forms)


def _encodings(rows: list[Json], forms: list[Json]) -> Iterator[Vector]:
    """Forms of one value that Avro permits."""
    schema = entry_schema(2, columns=("value_counts",))
    row = entry(1, file={"value_counts": counts({1: 10, 2: 11, 3: 12})})
    body = avro.encode(schema, row)
    whole = avro.encode(column(schema, 109)["type"], row["data_file"]["value_counts"])
    pair = [avro.long(key) + avro.long(value) for key, value in ((1, 10), (2, 11), (3, 12))]
    sized = (
        avro.long(1)
        + avro.long(-2)
        + avro.long(len(pair[0] + pair[1]))
        + pair[0]
        + pair[1]
        + avro.long(1)
        + pair[2]
        + avro.long(0)
    )
    assert body.count(whole) == 1
    form = [entry_form(row, **NUMBER)]
    data = avro.container(schema, [(1, body.replace(whole, sized))], keys(2))
    yield case("array-blocks", "MAN001", data, form, "an array in two blocks, the first with its size in bytes", 2)
    text = json.dumps(entry_schema(2), separators=(",", ":"))
    entries = [*keys(2).items(), ("avro.schema", text)]
    packed = b"".join(avro.text(key) + avro.text(value) for key, value in entries)
    head = avro.MAGIC + avro.long(-len(entries)) + avro.long(len(packed)) + packed + avro.long(0) + avro.SYNC
    one = avro.block(1, avro.encode(entry_schema(2), rows[0]))
    yield case("metadata-size", "MAN001", head + one, forms[:1], "the metadata is a map with its size in bytes", 2)
    nothing = avro.block(0, b"")
    plain = avro.header({"avro.schema": text, "avro.codec": "null", **keys(2)})
    yield case("empty-block", "MAN001", plain + nothing + one, forms[:1], "a block of no objects before another", 2)


DAY_SPEC = {"spec-id": 4, "fields": [{"source-id": 4, "field-id": 1000, "name": "p", "transform": "day"}]}


def _of_type(type_: str, value: Any) -> Any:
    """A partition value as Avro holds it."""
    if value is None:
        return None
    if type_.startswith("decimal"):
        width = {9: 4, 18: 8, 38: 16}[int(type_[8:].split(",")[0])]
        return unscaled(type_, value).to_bytes(width, "big", signed=True)
    if type_ == "uuid":
        return bytes.fromhex(value.replace("-", ""))
    if type_ == "binary" or type_.startswith("fixed"):
        return bytes.fromhex(value)
    if type_ in ("int", "long"):
        return int(value)
    if type_ in ("date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"):
        return count(type_, value)
    return math.nan if value == "NaN" else math.inf if value == "Infinity" else value


AVRO_TYPES: dict[str, Any] = {
    "boolean": "boolean", "int": "int", "long": "long", "float": "float", "double": "double", "string": "string",
    "binary": "bytes", "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
    "timestamp_ns": {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False},
    "timestamptz_ns": {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": True},
    "uuid": {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"},
    "fixed[3]": {"type": "fixed", "name": "fixed_3", "size": 3},
    "decimal(9, 2)": {"type": "fixed", "name": "decimal_9_2", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2},
    "decimal(18, 2)": {"type": "fixed", "name": "decimal_18_2", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 2},
    "decimal(38, 0)": {"type": "fixed", "name": "decimal_38_0", "size": 16, "logicalType": "decimal", "precision": 38, "scale": 0},
}  # fmt: skip
"""Appendix A."""


def partitioned(source: str, transform: str = "identity", name: str = "p") -> tuple[Json, Json]:
    """A table with the column 4 that it is partitioned by, and the spec."""
    added = {"id": 4, "name": "c", "required": False, "type": source}
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], added]}
    spec_field = {"source-id": 4, "field-id": 1000, "name": name, "transform": transform}
    return schema, {"spec-id": 4, "fields": [spec_field]}


def _partitions() -> Iterator[Vector]:
    values: list[tuple[str, list[Any]]] = [
        ("boolean", [True, False]), ("int", [0, -2147483648, 2147483647]), ("long", ["0", str(OTHER_SNAPSHOT)]),
        ("float", [-0.0, 1.5, "NaN", "Infinity"]), ("double", [-0.0, 0.1, "NaN"]), ("string", ["", "a b/ü=\U0001f9ca"]),
        ("binary", ["", "00FF"]), ("date", ["1969-12-31", "2017-11-16"]), ("time", ["00:00:00.000000", "22:31:08.000001"]),
        ("timestamp", ["1969-12-31T23:59:59.999999"]), ("timestamptz", ["2017-11-16T22:31:08.000001+00:00"]),
        ("timestamp_ns", ["1969-12-31T23:59:59.999999999"]), ("timestamptz_ns", ["2017-11-16T22:31:08.000000001+00:00"]),
        ("uuid", ["f79c3e09-677c-4bbd-a479-3f349cb785e7"]), ("fixed[3]", ["00FF01"]),
        ("decimal(9, 2)", ["14.20", "-0.01", "0.00"]), ("decimal(38, 0)", ["-" + "9" * 38]),
    ]  # fmt: skip
    for type_, items in values:
        schema, spec = partitioned(type_)
        partition = field(1000, "p", optional(AVRO_TYPES[type_]))
        codes = "DFL004 AVR008" if type_.endswith("_ns") else "DFL004"
        yield _tuple_case(f"partition-{_slug(type_)}", codes, schema, spec, partition, type_, [*items, None],
                          f"values of type {type_}, and null")  # fmt: skip
    transforms: list[tuple[str, str, str, list[Any]]] = [
        ("bucket[16]", "long", "int", [0, 15]), ("truncate[2]", "string", "string", ["ab"]), ("year", "date", "int", [-1, 47]),
        ("month", "timestamp", "int", [-1, 574]), ("day", "timestamptz", "date", ["1969-12-31"]),
        ("hour", "timestamp", "int", [-1, 419806]), ("void", "long", "long", []),
    ]  # fmt: skip
    for transform, source, result, items in transforms:
        schema, spec = partitioned(source, transform)
        partition = field(1000, "p", optional(AVRO_TYPES[result]))
        yield _tuple_case(f"partition-of-{transform.split('[')[0]}", "DFL004", schema, spec, partition, result,
                          [*items, None], f"results of {transform}, and null")  # fmt: skip
    schema, spec = partitioned("timestamp", "day")
    day = ["1969-12-31", "2017-11-16", None]
    yield _tuple_case("partition-day-as-int", "DFL004", schema, spec, field(1000, "p", optional("int")), "date", day,
                      "the day transform had the result type int: an int without the logical type", contradiction=("A5",))  # fmt: skip
    schema, spec = partitioned("decimal(9, 2)")
    as_bytes = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    yield _tuple_case("partition-decimal-as-bytes", "AVR006", schema, spec, field(1000, "p", optional(as_bytes)),
                      "decimal(9, 2)", ["14.20", "-0.01"], "a decimal should be fixed, and Avro permits bytes")  # fmt: skip
    for written, now, items in (
        ("int", "long", [34, -1]), ("float", "double", [1.5, "NaN"]), ("decimal(9, 2)", "decimal(18, 2)", ["14.20", "-0.01"]),
    ):  # fmt: skip
        schema, spec = partitioned(now)
        told = [str(item) for item in items] if now == "long" else items
        yield _tuple_case(f"partition-{_slug(written)}-promoted", "DFL004", schema, spec,
                          field(1000, "p", optional(AVRO_TYPES[written])), written, [*items, None],
                          f"written as {written}, before the column became {now}", told=[*told, None])  # fmt: skip
    schema, spec = partitioned("string", name="a b/1")
    for name, legal in (("legal-name", "a_x20b_x2F1"), ("other-name", "whatever")):
        yield _tuple_case(f"partition-{name}", "DFL004 MAN001", schema, spec, field(1000, legal, optional("string")), "string",
                          ["x", None], f"the field 'a b/1' under the name {legal}, found by id", contradiction=("C10",))  # fmt: skip
    schema, spec = partitioned("int")
    yield _tuple_case("partition-required", "AVR001", schema, spec, field(1000, "p", "int"), "int", [0, -7],
                      "a tuple without null, that is not optional")  # fmt: skip
    yield from _tuples()


def _slug(type_: str) -> str:
    return "".join(letter if letter.isalnum() else " " for letter in type_).strip().replace("  ", " ").replace(" ", "-")


def _tuple_case(
    name: str, codes: str, schema: Json, spec: Json, partition: Json, type_: str, values: list[Any], note: str,
    *, told: list[Any] | None = None, contradiction: tuple[str, ...] = (),
) -> Vector:  # fmt: skip
    rows, forms = [], []
    for number, (value, says) in enumerate(zip(values, told or values, strict=True)):
        rows.append(entry(number, file={"partition": {partition["name"]: _of_type(type_, value)}}))
        forms.append(entry_form(rows[-1], {} if says is None else {"1000": says}, **NUMBER))
    data = manifest(2, rows, partition=[partition], spec=spec, table=schema)
    version = 3 if type_.endswith("_ns") else 2
    listed = {**LISTED, "partition_spec_id": 4}
    return case(name, codes, data, forms, note, version, listed=listed, schema=schema, spec=spec,
                contradiction=contradiction)  # fmt: skip


def _tuples() -> Iterator[Vector]:
    """Tuples of several fields."""
    schema, _ = partitioned("int")
    fields = [
        {"source-id": 1, "field-id": 1000, "name": "id_bucket", "transform": "bucket[4]"},
        {"source-id": 2, "field-id": 1003, "name": "data", "transform": "identity"},
        {"source-id": 4, "field-id": 1001, "name": "c", "transform": "identity"},
    ]
    spec = {"spec-id": 4, "fields": fields}
    types = {"id_bucket": (1000, "int"), "data": (1003, "string"), "c": (1001, "int")}
    row = entry(1, file={"partition": {"id_bucket": 3, "data": "x", "c": -1}})
    form = [entry_form(row, {"1000": 3, "1003": "x", "1001": -1}, **NUMBER)]
    listed = {**LISTED, "partition_spec_id": 4}

    def of(name: str, codes: str, order: Sequence[str], note: str, **more: Any) -> Vector:
        partition = [field(types[one][0], one, optional(types[one][1])) for one in order]
        data = manifest(2, [row], partition=partition, spec=spec, table=schema)
        return case(name, codes, data, form, note, 2, listed=listed, schema=schema, spec=spec, **more)

    yield of("partition-fields", "DFL004", ("id_bucket", "data", "c"), "ids need not ascend nor follow each other")
    yield of("partition-order", "DFL004 AVR013", ("c", "id_bucket", "data"), "fields in another order, found by id")
    bare = [field(None, one, optional(types[one][1])) for one in ("id_bucket", "data", "c")]
    data = manifest(1, [{**row, "snapshot_id": SNAPSHOT}], partition=bare, spec=spec, table=schema)
    yield case("v1-partition-without-ids", "DFL004", data, [entry_form(row, form[0]["data_file"]["partition"], **ZERO)],
               "the ids of partition fields are binding from v2; before, fields stand in the order of the spec", 1,
               listed={**listed, "sequence_number": "0"}, schema=schema, spec=spec,
               expect=any_of(ok({"entries": [entry_form(row, form[0]["data_file"]["partition"], **ZERO)]}), INVALID),
               contradiction=("E23",))  # fmt: skip


def vectors() -> Iterator[Vector]:
    """All cases."""
    yield from _whole()
    yield from _inherited()
    yield from _foreign()
    yield from _partitions()
