"""Manifest lists that readers have to accept, and lists that writers make of the manifests of a commit."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from tools.derive.cases.manifest_reads import LAYOUT
from tools.derive.json_types import JsonObject
from tools.derive.manifests import OTHER_SNAPSHOT, SNAPSHOT, column, field, listed, listed_form, manifest_list
from tools.derive.vector import INVALID, Vector, any_of, ok

SUMMARIES: list[JsonObject] = [
    {
        "contains_null": True,
        "contains_nan": False,
        "lower_bound": struct.pack("<i", -1),
        "upper_bound": struct.pack("<i", 7),
    },
    {"contains_null": False, "contains_nan": True},
    {"contains_null": False, "lower_bound": b"", "upper_bound": "ä".encode()},
]
COUNTS = (
    "added_files_count",
    "existing_files_count",
    "deleted_files_count",
    "added_rows_count",
    "existing_rows_count",
    "deleted_rows_count",
)
V1 = ("manifest_path", "manifest_length", "partition_spec_id", "added_snapshot_id")
ZEROS = {"content": 0, "sequence_number": 0, "min_sequence_number": 0}


def select_members(row: JsonObject, *names: str) -> JsonObject:
    """Return the named members of a row."""
    return {name: value for name, value in row.items() if name in names}


def read(name: str, codes: str, data: bytes, forms: list[JsonObject], note: str, version: int, **more: Any) -> Vector:
    """Return a vector of a list and its content."""
    outcome = more.pop("expect", ok({"manifests": forms}))
    return Vector(
        f"manifest-list-read-{name}",
        tuple(codes.split()),
        {"bytes": data.hex().upper()},
        outcome,
        LAYOUT,
        note,
        more.pop("contradiction", ()),
        only=(version,),
    )


def _whole() -> Iterator[Vector]:
    full = listed(1, partitions=SUMMARIES, key_metadata=b"\x00\xff")
    yield read(
        "v1",
        "MLS003 MLS009",
        manifest_list(1, [full]),
        [listed_form(full, **ZEROS)],
        "every column of v1; the numbers are 0 and the content data",
        1,
    )
    bare = select_members(full, *V1)
    yield read(
        "v1-without-counts",
        "MLS010 MLS011 MLS012 MLS013 MLS014 MLS015",
        manifest_list(1, [bare], columns=()),
        [listed_form({**bare, **ZEROS})],
        "v1 need not have counts: they are not known",
        1,
        contradiction=("A18",),
    )
    files = select_members(full, *V1, *COUNTS[:3])
    yield read(
        "v1-files-counts",
        "MLS010 MLS011 MLS012",
        manifest_list(1, [files], columns=COUNTS[:3]),
        [listed_form({**files, **ZEROS})],
        "the counts of the first text of v1",
        1,
        contradiction=("A18",),
    )
    deletes = listed(2, content=1, sequence_number=OTHER_SNAPSHOT, min_sequence_number=0, added_snapshot_id=-1)
    yield read(
        "v2",
        "MLS006 MLS007 MLS008",
        manifest_list(2, [full, deletes]),
        [listed_form(full), listed_form(deletes)],
        "every column of v2, and a delete manifest",
        2,
    )
    many = {
        **listed(3, first_row_id=1 << 53),
        **dict.fromkeys(COUNTS[:3], (1 << 31) - 1),
        **dict.fromkeys(COUNTS[3:], (1 << 63) - 1),
    }
    rows = [listed(1, first_row_id=0), listed(2, content=1), many]
    yield read("v3", "MLS018", manifest_list(3, rows), [listed_form(row) for row in rows], "every column of v3", 3)
    yield read("no-manifests", "MLS002", manifest_list(2, []), [], "an empty table", 2)
    for codec in ("deflate", "snappy", "zstandard", None):
        rows = [listed(number) for number in range(3)]
        yield read(
            f"codec-{codec or 'left-out'}",
            "MLS002",
            manifest_list(2, rows, codec=codec),
            [listed_form(row) for row in rows],
            "a codec that is left out is the codec null" if codec is None else f"the codec {codec}",
            2,
        )
    for codec in ("bzip2", "xz"):
        rows = [listed(number) for number in range(3)]
        forms = [listed_form(row) for row in rows]
        yield read(
            f"codec-{codec}",
            "MLS002",
            manifest_list(2, rows, codec=codec),
            forms,
            f"the codec {codec}, which an implementation of Avro may have",
            2,
            expect=any_of(ok({"manifests": forms}), INVALID),
            contradiction=("E28",),
        )
    keys = {"format-version": "1", "snapshot-id": "5", "sequence-number": "99", "content": "deletes"}
    yield read(
        "keys",
        "MLS002",
        manifest_list(2, [full], metadata=keys),
        [listed_form(full)],
        "keys of the header do not matter: a wrong version, as some writers write",
        2,
        expect=any_of(ok({"manifests": [listed_form(full)]}), INVALID),
        contradiction=("E14",),
    )


def _foreign() -> Iterator[Vector]:
    full = listed(1, partitions=SUMMARIES[:1], key_metadata=b"\x01")

    def other(
        name: str,
        codes: str,
        note: str,
        change: Callable[[JsonObject], None],
        row: JsonObject = full,
        form: JsonObject | None = None,
        **more: Any,
    ) -> Vector:
        columns = more.pop("columns", None)
        data = manifest_list(2, [row], change=change, columns=columns)
        return read(name, codes, data, [form or listed_form(full)], note, 2, **more)

    old = {504: "added_data_files_count", 505: "existing_data_files_count", 506: "deleted_data_files_count"}
    new = dict(zip(old, COUNTS, strict=False))

    def legacy(schema: JsonObject) -> None:
        for field_id, name in old.items():
            column(schema, field_id)["name"] = name

    row = {
        **{name: value for name, value in full.items() if name not in new.values()},
        **{old[key]: full[name] for key, name in new.items()},
    }
    yield other(
        "legacy-names",
        "MLS010 MLS011 MLS012 MLS002",
        "the names of Iceberg-Java until 1.4, found by id",
        legacy,
        row,
        contradiction=("A18",),
    )

    def unnamed(schema: JsonObject) -> None:
        schema["name"] = "list"
        for one in schema["fields"]:
            one["name"] = f"n{one['field-id']}"

    ids = {one["name"]: one["field-id"] for one in _schema()["fields"]}
    yield other(
        "names",
        "MLS002 PRJ001",
        "fields are found by id, whatever their names",
        unnamed,
        {f"n{ids[name]}": value for name, value in full.items()},
    )

    def turned(schema: JsonObject) -> None:
        schema["fields"].reverse()
        column(schema, 507)["type"][1]["items"]["fields"].reverse()

    yield other("order", "MLS002", "columns in another order", turned)

    def summary_name(schema: JsonObject) -> None:
        column(schema, 507)["type"][1]["items"].update(name="partition_summary", namespace="org.example")

    yield other(
        "record-names",
        "MLS002",
        "names of records have no meaning: iceberg-go wrote names other than r508",
        summary_name,
    )
    for place, name in enumerate(("null-first", "null-last")):

        def nullable(schema: JsonObject, place: int = place) -> None:
            for one in [*schema["fields"], *column(schema, 507)["type"][1]["items"]["fields"]]:
                inner = one["type"][1] if isinstance(one["type"], list) else one["type"]
                one["type"] = ["null", inner] if place == 0 else [inner, "null"]
                one.pop("default", None)

        yield other(
            f"all-optional-{name}",
            "MLS002",
            f"every field is a union, {name.replace('-', ' ')}",
            nullable,
            contradiction=("C10",),
        )

    def without(*dropped: int) -> Callable[[JsonObject], None]:
        def change(schema: JsonObject) -> None:
            schema["fields"] = [one for one in schema["fields"] if one["field-id"] not in dropped]

        return change

    for field_id, name, code, value in (
        (517, "content", "MLS006", 0),
        (515, "sequence_number", "MLS007", 0),
        (516, "min_sequence_number", "MLS008", 0),
    ):
        yield other(
            f"{name.replace('_', '-')}-missing",
            code,
            f"a reader takes a list without {name} for one of v1: 0",
            without(field_id),
            form=listed_form(full, **{name: value}),
            expect=any_of(ok({"manifests": [listed_form(full, **{name: value})]}), INVALID),
            contradiction=("E21",),
        )

    def no_nan(schema: JsonObject) -> None:
        record = column(schema, 507)["type"][1]["items"]
        record["fields"] = [one for one in record["fields"] if one["field-id"] != 518]

    summary = {name: value for name, value in SUMMARIES[0].items() if name != "contains_nan"}
    yield other(
        "without-contains-nan",
        "MLS020",
        "summaries without contains_nan, which came later: it is not known",
        no_nan,
        form=listed_form(full, partitions=[summary]),
    )
    yield other("no-summaries", "MLS016", "summaries are null", lambda schema: None, listed(1), listed_form(listed(1)))

    def unknown(schema: JsonObject) -> None:
        schema["fields"].insert(1, field(9000, "extra", {"type": "array", "items": "string", "element-id": 9002}))
        schema["fields"].append(field(9001, "last", ["null", "double"]))

    yield other(
        "unknown-columns",
        "MLS002",
        "columns that the spec does not have are ignored",
        unknown,
        {**full, "extra": ["a", ""], "last": 0.5},
    )

    def longs(schema: JsonObject) -> None:
        for field_id in (504, 505, 506):
            column(schema, field_id)["type"] = "long"

    yield other(
        "counts-as-longs",
        "MLS010 MLS011 MLS012",
        "longs in place of ints; the values are the same",
        longs,
        expect=any_of(ok({"manifests": [listed_form(full)]}), INVALID),
        contradiction=("E21",),
    )

    def ints(schema: JsonObject) -> None:
        for field_id in (501, 512, 513, 514):
            column(schema, field_id)["type"] = "int"

    yield other("ints-for-longs", "MLS013 MLS014 MLS015", "ints where the table has longs, which Avro promotes", ints)

    def null_counts(schema: JsonObject) -> None:
        for field_id in range(504, 507):
            column(schema, field_id)["type"] = ["null", "int"]

    nothing = {**full, **dict.fromkeys(COUNTS[:3])}
    yield other(
        "null-counts",
        "MLS010 MLS011 MLS012",
        "null is not known, and not 0: readers take it for more than 0",
        null_counts,
        nothing,
        expect=any_of(ok({"manifests": [listed_form(nothing)]}), INVALID),
        contradiction=("E21",),
    )


def _schema() -> JsonObject:
    from tools.derive.manifests import list_schema

    return list_schema(2)


# Writing


def _members(row: JsonObject) -> JsonObject:
    return listed_form(row)


def write(
    name: str,
    codes: str,
    version: int,
    manifests: list[JsonObject],
    expected: list[JsonObject] | None,
    note: str,
    **more: Any,
) -> Vector:
    """Return a vector of a list to write, with one of the files that have the same content."""
    args: JsonObject = {
        "format_version": version,
        "snapshot_id": str(SNAPSHOT),
        "parent_snapshot_id": more.pop("parent", None),
        "sequence_number": more.pop("number", "0" if version == 1 else "7"),
        "first_row_id": more.pop("first_row_id", None),
        "manifests": [_members(row) for row in manifests],
    }
    outcome = INVALID if expected is None else ok(manifest_list(version, expected).hex().upper())
    return Vector(
        f"manifest-list-write-{name}",
        tuple(codes.split()),
        args,
        outcome,
        LAYOUT,
        note,
        more.pop("contradiction", ()),
        only=(version,),
    )


NULL_NUMBERS = {"sequence_number": None, "min_sequence_number": None}


def writes() -> Iterator[Vector]:
    """Yield vectors that write manifest lists."""
    full = listed(1, partitions=[{"contains_nan": False, **one} for one in SUMMARIES], key_metadata=b"\x00\xff")
    one = {**full, "sequence_number": 0, "min_sequence_number": 0}
    yield write("v1", "MLS003 MLS009", 1, [one], [one], "every column of v1")
    yield write(
        "v2",
        "MLS007 MLS024",
        2,
        [full, listed(2, content=1)],
        [full, listed(2, content=1)],
        "every column of v2",
        parent="5",
    )
    new = [{**listed(1), **NULL_NUMBERS}, listed(2, sequence_number=3, min_sequence_number=1, added_snapshot_id=5)]
    yield write(
        "new-manifests",
        "MLS024",
        2,
        new,
        [listed(1), new[1]],
        "a manifest of this commit gets its sequence number, another one keeps its own",
    )
    zero = listed(1, sequence_number=3, min_sequence_number=0, added_snapshot_id=5)
    yield write(
        "min-zero", "MLS008", 2, [zero], [zero], "0 is a number and not unknown, as it was to PyIceberg and iceberg-go"
    )
    large = listed(
        1, manifest_length=OTHER_SNAPSHOT, sequence_number=OTHER_SNAPSHOT, min_sequence_number=OTHER_SNAPSHOT
    )
    yield write(
        "longs", "MLS004 MLS007", 2, [large], [large], "numbers of 64 bits stay exact", number=str(OTHER_SNAPSHOT)
    )
    yield write("no-manifests", "MLS002", 2, [], [], "an empty table")
    rows = [
        listed(1, added_rows_count=75, first_row_id=925, added_snapshot_id=5, sequence_number=6, min_sequence_number=6),
        listed(2, added_rows_count=100, existing_rows_count=25),
        listed(3, added_rows_count=0, existing_rows_count=100),
        listed(4, added_rows_count=125, existing_rows_count=25),
    ]
    given = [rows[0], *({**row, **NULL_NUMBERS} for row in rows[1:])]
    assigned = [{**row, "first_row_id": first} for row, first in zip(rows, (925, 1000, 1125, 1225), strict=True)]
    yield write(
        "row-ids",
        "LIN029 LIN026 LIN027",
        3,
        given,
        assigned,
        "the worked example of the spec: the next row id is 1000, and one manifest has its ids",
        first_row_id="1000",
    )
    deletes = [listed(1, content=1), listed(2)]
    yield write(
        "row-ids-deletes",
        "LIN026",
        3,
        deletes,
        [deletes[0], {**deletes[1], "first_row_id": 50}],
        "a delete manifest gets no row ids, and uses none up",
        first_row_id="50",
    )
    old = [
        listed(
            1, added_rows_count=0, existing_rows_count=10, sequence_number=1, min_sequence_number=0, added_snapshot_id=5
        ),
        listed(2),
    ]
    yield write(
        "row-ids-upgraded",
        "LIN015 LIN029",
        3,
        old,
        [{**old[0], "first_row_id": 0}, {**old[1], "first_row_id": 10}],
        "manifests from before the upgrade get ids too",
        first_row_id="0",
    )
    yield write(
        "refuses-v1-deletes",
        "MLS003 DEL001",
        1,
        [listed(1, content=1, sequence_number=0, min_sequence_number=0)],
        None,
        "v1 has no delete manifests",
    )
    yield write(
        "refuses-no-counts",
        "MLS010",
        2,
        [{**listed(1), "added_files_count": None}],
        None,
        "a count is required from v2",
    )
    yield write(
        "refuses-no-snapshot", "MLS009", 2, [{**listed(1), "added_snapshot_id": None}], None, "the snapshot is required"
    )


def vectors() -> Iterator[Vector]:
    """Yield vectors that read manifest lists."""
    yield from _whole()
    yield from _foreign()
