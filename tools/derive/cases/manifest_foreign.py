"""Manifests in the style of other writers: names, order, optionality and headers that readers must ignore."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tools.derive import avro
from tools.derive.cases.manifest_reads import LISTED, METRICS, NUMBER, case
from tools.derive.json_types import JsonObject
from tools.derive.manifests import (
    OTHER_SNAPSHOT,
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
from tools.derive.vector import INVALID, Vector, any_of, ok


def vectors() -> Iterator[Vector]:
    """Yield all cases."""
    row = entry(1, file=METRICS)
    form = entry_form(row, **NUMBER)

    def other(name: str, codes: str, note: str, change: Any = None, rows: Any = None, **more: Any) -> Vector:
        given = {key: more.pop(key) for key in ("metadata", "codec", "columns", "split", "content") if key in more}
        given.setdefault("columns", tuple(METRICS))
        data = manifest(2, rows or [row], change=change, **given)
        return case(name, codes, data, more.pop("forms", [form]), note, 2, **more)

    def without(*ids: int) -> Any:
        def change(schema: JsonObject) -> None:
            for fields in (schema["fields"], data_file_fields(schema)):
                fields[:] = [one for one in fields if one.get("field-id") not in ids]

        return change

    yield other(
        "columns-left-out",
        "MAN012 MAN013 MAN014",
        "no columns for what is inherited, as BigQuery writes",
        without(1, 3, 4),
    )
    yield other(
        "partition-left-out",
        "DFL004",
        "an empty tuple without a column, which writers have to write",
        without(102),
        expect=any_of(ok({"entries": [form]}), INVALID),
        contradiction=("B31", "E21"),
    )

    def renamed(schema: JsonObject) -> None:
        column(schema, 2)["type"]["name"] = "iceberg_data_file"
        schema.update(name="entry", namespace="org.example")

    yield other(
        "record-names", "MAN001", "names of records have no meaning: iceberg-go wrote names other than r2", renamed
    )

    def reordered(schema: JsonObject) -> None:
        data_file_fields(schema).reverse()
        schema["fields"].reverse()

    yield other("order", "MAN001", "columns in another order", reordered)
    names = {"file_path": "path", "record_count": "n", "status": "s", "lower_bounds": "min", "content": "kind"}
    named = {**{names.get(key, key): item for key, item in row.items()}}
    named["data_file"] = {names.get(key, key): item for key, item in row["data_file"].items()}

    def by_id(schema: JsonObject) -> None:
        for one in [*data_file_fields(schema), *schema["fields"]]:
            one["name"] = names.get(one["name"], one["name"])

    yield other("names", "MAN001 AVR013 PRJ001", "fields are found by id, whatever their names", by_id, [named])

    def swapped(schema: JsonObject) -> None:
        column(schema, 103)["name"], column(schema, 104)["name"] = "file_size_in_bytes", "record_count"

    sizes = {**row, "data_file": {**row["data_file"], "file_size_in_bytes": 10, "record_count": 1 << 34}}
    yield other("names-swapped", "MAN001 AVR013", "the name of one field with the id of another", swapped, [sizes])

    def unknown(*, ids: bool) -> Any:
        def change(schema: JsonObject) -> None:
            map_type: JsonObject = {"type": "map", "values": "int"} | (
                {"key-id": 9006, "value-id": 9007} if ids else {}
            )
            list_type: JsonObject = {"type": "array", "items": "string"} | ({"element-id": 9005} if ids else {})
            fields = [field(9002 if ids else None, "x", "double"), field(9001 if ids else None, "m", map_type)]
            point = {"type": "record", "name": "p", "fields": fields}
            data_file_fields(schema).insert(2, field(9000, "extra", optional(point)))
            schema["fields"].insert(0, field(9003, "e", "int"))
            schema["fields"].append(field(9004, "more", list_type))

        return change

    extra = {**row, "e": 1, "more": ["a", ""]}
    extra["data_file"] = {**row["data_file"], "extra": {"x": 1.5, "m": {"k": 1}}}
    yield other(
        "unknown-columns", "MAN001", "columns that the spec does not have are ignored", unknown(ids=True), [extra]
    )
    yield other(
        "unknown-columns-without-ids",
        "AVR013",
        "columns that the spec does not have, and parts of them have no ids",
        unknown(ids=False),
        [extra],
        expect=any_of(ok({"entries": [form]}), INVALID),
        contradiction=("E21",),
    )
    optional_names = ("null-first", "null-last")
    for place, name in enumerate(optional_names):

        def nullable(schema: JsonObject, place: int = place) -> None:
            for one in [*data_file_fields(schema), *schema["fields"]]:
                inner = one["type"][1] if isinstance(one["type"], list) else one["type"]
                one["type"] = ["null", inner] if place == 0 else [inner, "null"]
                one.pop("default", None)

        yield other(
            f"all-optional-{name}",
            "AVR001",
            f"every field is a union, {name.replace('-', ' ')}",
            nullable,
            contradiction=("C10",),
        )

    def values_nullable(schema: JsonObject) -> None:
        for field_id in (108, 109, 110, 137, 125, 128):
            record = column(schema, field_id)["type"][1]["items"]
            record["fields"][1]["type"] = ["null", record["fields"][1]["type"]]

    yield other(
        "map-values-optional",
        "AVR001",
        "values of maps are optional, as BigQuery writes them, where the tables of the spec require them",
        values_nullable,
        expect=any_of(ok({"entries": [form]}), INVALID),
        contradiction=("E21",),
    )

    def elements_nullable(schema: JsonObject) -> None:
        offsets = column(schema, 132)["type"][1]
        offsets["items"] = ["null", offsets["items"]]

    yield other(
        "list-elements-optional",
        "AVR001",
        "elements of a list are optional where the table of the spec requires them",
        elements_nullable,
        expect=any_of(ok({"entries": [form]}), INVALID),
        contradiction=("E21",),
    )

    def plain_maps(schema: JsonObject) -> None:
        for field_id in (108, 109, 110, 137, 125, 128):
            del column(schema, field_id)["type"][1]["logicalType"]

    yield other(
        "maps-without-logical-type",
        "AVR004",
        "arrays of pairs without the logical type; the ids show that they are maps",
        plain_maps,
        expect=any_of(ok({"entries": [form]}), INVALID),
        contradiction=("E21",),
    )

    def key_names(schema: JsonObject) -> None:
        for one in column(schema, 109)["type"][1]["items"]["fields"]:
            one["name"] = {"key": "k", "value": "v"}[one["name"]]

    renamed_pairs = [{"k": 1, "v": 10}, {"k": 2, "v": 10}]
    yield other(
        "map-member-names",
        "AVR013 PRJ001",
        "keys and values with other names, found by id",
        key_names,
        [{**row, "data_file": {**row["data_file"], "value_counts": renamed_pairs}}],
    )

    def ints(schema: JsonObject) -> None:
        for one in (column(schema, 103), column(schema, 104)):
            one["type"] = "int"

    yield other(
        "ints-for-longs",
        "DFL005 DFL006",
        "an int where the table has long, which Avro promotes",
        ints,
        [entry(1)],
        columns=(),
        forms=[entry_form(entry(1), **NUMBER)],
    )
    equality = entry(1, file={"content": 2, "equality_ids": [2, 1]})

    def long_ids(schema: JsonObject) -> None:
        column(schema, 135)["type"][1]["items"] = "long"

    yield other(
        "equality-ids-longs",
        "DFL020",
        "longs in place of ints, as iceberg-go wrote; the values are the same",
        long_ids,
        [equality],
        columns=("equality_ids",),
        content="deletes",
        forms=[entry_form(equality, **NUMBER)],
        listed={**LISTED, "content": 1},
        expect=any_of(ok({"entries": [entry_form(equality, **NUMBER)]}), INVALID),
        contradiction=("E21",),
    )
    blank = entry(1, file={"split_offsets": [], "key_metadata": b"", "value_counts": [], "lower_bounds": []})
    yield other(
        "empty-for-null",
        "DFL018 DFL019",
        "empty lists, maps and bytes in place of null, as iceberg-rust wrote",
        rows=[blank],
        forms=[entry_form(entry(1), **NUMBER)],
    )
    for name in ("parquet", "Parquet", "ORC", "avro"):
        of_format = entry(1, file={"file_format": name})
        yield other(
            f"format-{name.lower()}-{'lower' if name.islower() else 'upper' if name.isupper() else 'mixed'}",
            "DFL003",
            f"the format is written {name}",
            rows=[of_format],
            forms=[entry_form(of_format, **NUMBER)],
            columns=(),
            contradiction=("C4",),
        )
    plain = [entry(number) for number in range(1, 6)]
    forms = [entry_form(one, **NUMBER) for one in plain]
    for codec in ("deflate", "snappy", "zstandard", None):
        yield other(
            f"codec-{codec or 'left-out'}",
            "MAN001",
            "a codec that is left out is the codec null" if codec is None else f"the codec {codec}",
            rows=plain,
            forms=forms,
            columns=(),
            codec=codec,
        )
    for codec in ("bzip2", "xz"):
        yield other(
            f"codec-{codec}",
            "MAN001",
            f"the codec {codec}, which an implementation of Avro may have",
            rows=plain,
            forms=forms,
            columns=(),
            codec=codec,
            expect=any_of(ok({"entries": forms}), INVALID),
            contradiction=("E28",),
        )
    yield other(
        "blocks", "MAN001", "several blocks, the last of them shorter", rows=plain, forms=forms, columns=(), split=2
    )
    yield other(
        "deflate-blocks",
        "MAN001",
        "several compressed blocks",
        rows=plain,
        forms=forms,
        columns=(),
        split=2,
        codec="deflate",
    )
    headers: list[tuple[str, str, dict[str, str | None], str]] = [
        ("schema-missing", "MAN005", {"schema": None}, "no schema"),
        (
            "schema-avro",
            "MAN005",
            {"schema": '{"type":"record","name":"r","fields":[]}'},
            "its own schema, as DuckDB wrote",
        ),
        ("schema-id-missing", "MAN006", {"schema-id": None}, "no schema-id, as most writers"),
        ("spec-null", "MAN007", {"partition-spec": "null"}, "the spec is null, as iceberg-go wrote"),
        (
            "spec-object",
            "MAN007",
            {"partition-spec": '{"spec-id":0,"fields":[]}'},
            "the whole spec, as iceberg-cpp wrote",
        ),
        ("spec-id-spelled", "MAN008", {"partition-spec-id": None, "partition_spec_id": "0"}, "as ClickHouse wrote"),
        ("spec-id-other", "MAN008", {"partition-spec-id": "5"}, "the list decides on the spec"),
        ("content-missing", "MAN010", {"content": None}, "no content, as iceberg-rust wrote in v3"),
        ("content-delete", "MAN010", {"content": "delete"}, "no such content, as iceberg-cpp wrote"),
        ("content-other", "MAN010", {"content": "deletes"}, "the list decides on the content"),
        ("version-missing", "MAN009", {"format-version": None}, "no format version"),
        ("no-keys", "MAN009", dict.fromkeys(keys(2)), "Avro's keys alone"),
        ("other-keys", "MAN009", {"iceberg.schema": "{}", "created-by": "größe"}, "keys that the spec does not have"),
    ]
    for name, code, metadata, note in headers:
        # A header that lacks a key, or contradicts the list, breaks a rule for writers: readers may refuse the file.
        broken = name != "other-keys"
        yield other(
            f"header-{name}",
            code,
            f"readers need no key of the header: {note}",
            rows=plain[:1],
            forms=forms[:1],
            columns=(),
            metadata=metadata,
            expect=any_of(ok({"entries": forms[:1]}), INVALID) if broken else None,
            contradiction=("C1", "E21") if broken else ("C1",),
        )
    strange = entry(1, file={"file_path": "s3://b/größe \U0001f9ca/%20/a=1/x y.parquet"}, snapshot_id=-(1 << 63))
    yield other(
        "path",
        "DFL002",
        "a path is taken unchanged",
        rows=[strange],
        columns=(),
        forms=[entry_form(strange, sequence_number=7, file_sequence_number=7)],
    )
    many = entry(1, file={"record_count": (1 << 63) - 1, "file_size_in_bytes": OTHER_SNAPSHOT})
    yield other(
        "longs",
        "DFL005 DFL006",
        "counts of 64 bits stay exact",
        rows=[many],
        columns=(),
        forms=[entry_form(many, **NUMBER)],
    )
    yield from _encodings(plain, forms)


def _encodings(rows: list[JsonObject], forms: list[JsonObject]) -> Iterator[Vector]:
    """Yield vectors of different Avro encodings of the same value."""
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
    none, one_pair = (entry(number, file={"value_counts": counts(values)}) for number, values in ((2, {}), (3, {1: 7})))
    others = b"".join(avro.encode(schema, each) for each in (none, one_pair))
    three = [entry_form(each, **NUMBER) for each in (row, none, one_pair)]
    three[1]["data_file"]["value_counts"] = {}
    data = avro.container(schema, [(3, body.replace(whole, sized) + others)], keys(2))
    yield case(
        "array-lengths",
        "MAN001",
        data,
        three,
        "an array in two blocks, the first with its size in bytes, beside an empty one and one in a block without",
        2,
    )
    data = avro.container(schema, [(3, body + others)], keys(2))
    yield case(
        "array-lengths-plain",
        "MAN001",
        data,
        three,
        "arrays of three, no and one items, all in blocks without a size",
        2,
    )
    text = json.dumps(entry_schema(2), separators=(",", ":"))
    entries = [*keys(2).items(), ("avro.schema", text), ("avro.codec", "null")]
    packed = b"".join(avro.text(key) + avro.text(value) for key, value in entries)
    head = avro.MAGIC + avro.long(-len(entries)) + avro.long(len(packed)) + packed + avro.long(0) + avro.SYNC
    one = avro.block(1, avro.encode(entry_schema(2), rows[0]))
    lying = avro.long(1) + avro.long(-3) + avro.long(1 << 40) + b"".join(pair) + avro.long(0)
    data = avro.container(schema, [(1, body.replace(whole, lying))], keys(2))
    yield case(
        "array-size-wrong",
        "MAN001",
        data,
        form,
        "an array's block declares 2**40 bytes, which only a reader that skips the array needs",
        2,
        expect=any_of(INVALID, ok({"entries": form})),
        contradiction=("E21",),
    )
    yield case("metadata-size", "MAN001", head + one, forms[:1], "the metadata is a map with its size in bytes", 2)
    nothing = avro.block(0, b"")
    plain = avro.header({"avro.schema": text, "avro.codec": "null", **keys(2)})
    yield case("empty-block", "MAN001", plain + nothing + one, forms[:1], "a block of no objects before another", 2)
