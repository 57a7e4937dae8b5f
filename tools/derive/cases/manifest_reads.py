"""Manifests that readers have to accept: every version, and the values that entries inherit."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from tools.derive.json_types import JsonObject
from tools.derive.manifests import (
    OTHER_SNAPSHOT,
    SCHEMA,
    SNAPSHOT,
    UNPARTITIONED,
    column,
    counts,
    entry,
    entry_form,
    keys,
    manifest,
    optional,
)
from tools.derive.vector import INVALID, Vector, any_of, ok

LAYOUT = "derivation: tools/derive/manifests.py lays out the file by the field tables and Appendix A"
NUMBER: JsonObject = {"snapshot_id": SNAPSHOT, "sequence_number": 7, "file_sequence_number": 7}
"""The values that an added entry inherits from `LISTED`."""

ZERO: JsonObject = {"snapshot_id": SNAPSHOT, "sequence_number": 0, "file_sequence_number": 0}
LISTED: JsonObject = {
    "partition_spec_id": 0,
    "content": 0,
    "sequence_number": "7",
    "added_snapshot_id": str(SNAPSHOT),
}
OLD: JsonObject = {**LISTED, "sequence_number": "0"}


def read_args(
    data: bytes, listed: JsonObject = LISTED, schema: JsonObject = SCHEMA, spec: JsonObject = UNPARTITIONED
) -> JsonObject:
    """Return the arguments of reading a manifest."""
    return {"bytes": data.hex().upper(), "manifest_file": listed, "schema": schema, "specs": [spec]}


def case(
    name: str,
    codes: str,
    data: bytes,
    entries: list[JsonObject] | None,
    note: str,
    version: int | tuple[int, ...],
    *,
    listed: JsonObject = LISTED,
    schema: JsonObject = SCHEMA,
    spec: JsonObject = UNPARTITIONED,
    expect: JsonObject | None = None,
    contradiction: tuple[str, ...] = (),
    header: JsonObject | None = None,
    select: tuple[str, ...] = (),
) -> Vector:
    """Return a vector of a manifest and its entries; with ``header``, the answer includes its header."""
    args = read_args(data, listed, schema, spec)
    if select:
        args["select"] = list(select)
    answer: JsonObject = {"entries": entries}
    if header is not None:
        args["select"] = ["header", "status", "file_path"]
        answer = {"header": header, **answer}
    outcome = ok(answer) if expect is None else expect
    only = (version,) if isinstance(version, int) else version
    return Vector(f"manifest-read-{name}", tuple(codes.split()), args, outcome, LAYOUT, note, contradiction, only)


METRICS: JsonObject = {
    "column_sizes": counts({1: 80, 2: 1 << 33}),
    "value_counts": counts({1: 10, 2: 10}),
    "null_value_counts": counts({1: 0, 2: 3}),
    "nan_value_counts": counts({3: 0}),
    "lower_bounds": counts({1: struct.pack("<q", -5), 2: "ä".encode()}),
    "upper_bounds": counts({1: struct.pack("<q", 1 << 40), 2: "\U0001f9ca".encode()}),
    "key_metadata": b"\x00\xff",
    "split_offsets": [4, 1 << 33],
    "file_size_in_bytes": 1 << 34,
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
    yield case("v1-header", "MAN009", data, forms, "the values of the header", 1, listed=OLD, header=header)
    null = [entry(1), entry(2, 0)]
    nullable = manifest(1, null, change=lambda schema: column(schema, 1).update(type=optional("long")))
    inherited = [entry_form(row, **ZERO) for row in null]
    yield case(
        "v1-snapshot-id-null",
        "MAN012",
        nullable,
        inherited,
        "a null snapshot id is inherited, as add_files of Iceberg-Java relies on in v1",
        1,
        listed=OLD,
        expect=any_of(ok({"entries": inherited}), INVALID),
        contradiction=("E21",),
    )
    for name, gone in (("no-version", ("format-version",)), ("no-keys", tuple(keys(1)))):
        bare = manifest(1, [first], columns=None, metadata=dict.fromkeys(gone))
        yield case(
            f"v1-{name}",
            "MAN009",
            bare,
            [entry_form(first, **ZERO)],
            f"readers need no key of the header: {', '.join(gone)} missing",
            1,
            listed=OLD,
            # If a field that every version requires is missing, a reader may throw (Writer requirements).
            expect=any_of(ok({"entries": [entry_form(first, **ZERO)]}), INVALID) if name == "no-keys" else None,
            contradiction=("C1",),
        )
    yield case(
        "v1-in-a-v2-list",
        "SEQ009",
        data,
        forms,
        "a manifest of v1 has no sequence numbers, so that all its files get 0 whatever its list says",
        (2, 3),
    )

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
    yield case("v2-header", "MAN009", manifest(2, rows), forms, "the values of the header", 2, header=header)
    deletes = [
        entry(1, file={"content": 1, "referenced_data_file": "s3://b/wh/t/data/9.parquet"}),
        entry(2, file={"content": 2, "equality_ids": [2, 1], "sort_order_id": 0}),
    ]
    data = manifest(2, deletes, columns=None, content="deletes")
    forms = [entry_form(row, **NUMBER) for row in deletes]
    of_deletes = {**LISTED, "content": 1}
    yield case("v2-deletes", "DFL001 DFL020 DFL023", data, forms, "position and equality deletes", 2, listed=of_deletes)
    header = {"format_version": 2, "content": 1, "partition_spec_id": 0}
    yield case(
        "v2-deletes-header",
        "MAN010",
        data,
        forms,
        "the content is that of the header",
        2,
        listed=of_deletes,
        header=header,
    )

    ids = [
        entry(1),
        entry(2, 0, file={"first_row_id": 1 << 53}, snapshot_id=1, sequence_number=1, file_sequence_number=1),
    ]
    data = manifest(3, ids, columns=None)
    forms = [entry_form(ids[0], file={"first_row_id": 500}, **NUMBER), entry_form(ids[1])]
    listed = {**LISTED, "first_row_id": "500"}
    yield case("v3", "DFL022 LIN019", data, forms, "every column of v3", 3, listed=listed)
    vector = entry(
        1,
        file={
            "content": 1,
            "file_format": "PUFFIN",
            "file_path": "s3://b/wh/t/data/dv.puffin",
            "record_count": 2,
            "referenced_data_file": "s3://b/wh/t/data/9.parquet",
            "content_offset": 4,
            "content_size_in_bytes": 1 << 33,
        },
    )
    data = manifest(3, [vector], columns=None, content="deletes")
    yield case(
        "v3-deletion-vector",
        "DFL024 DFL025",
        data,
        [entry_form(vector, **NUMBER)],
        "a deletion vector",
        3,
        listed=of_deletes,
    )
    yield case("empty", "MAN001", manifest(2, []), [], "a file without blocks has no entries", 2)


def _inheritance() -> Iterator[Vector]:
    def one(name: str, codes: str, row: JsonObject, note: str, form: JsonObject, **more: Any) -> Vector:
        version = more.pop("version", 2)
        data = manifest(version, [row], columns=("first_row_id",))
        return case(f"inherits-{name}", codes, data, [form], note, version, **more)

    row = entry(1)
    yield one("added", "MAN019 SEQ006", row, "null fields become those of the manifest", entry_form(row, **NUMBER))
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
        yield one(
            f"{name}-null",
            "MAN022",
            row,
            "the writer had to write the numbers; guessing 7 would be wrong",
            {},
            expect=any_of(ok({"entries": [entry_form(row)]}), INVALID),
            contradiction=("E21",),
        )
    yield from _row_ids()


def _row_ids() -> Iterator[Vector]:
    listed = {**LISTED, "first_row_id": "1000"}

    def ids(
        name: str, codes: str, rows: list[JsonObject], given: Sequence[int | None], note: str, **more: Any
    ) -> Vector:
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

    yield ids(
        "added",
        "LIN019",
        [entry(1), entry(2, file={"record_count": 5}), entry(3)],
        [1000, 1010, 1015],
        "each starts after the rows of the files before it",
    )
    zero = [entry(1, file={"record_count": 0}), entry(2)]
    yield ids("empty-file", "LIN019", zero, [1000, 1000], "a file without rows takes no ids")
    explicit: JsonObject = {"sequence_number": 1, "file_sequence_number": 1}
    kept = [
        entry(1, 0, file={"first_row_id": 50}, **explicit),
        entry(2),
        entry(3, 0, file={"first_row_id": 70}, **explicit),
        entry(4),
    ]
    yield ids(
        "explicit",
        "LIN019 LIN020",
        kept,
        [50, 1000, 70, 1010],
        "files with an id keep it, and do not count for those without",
    )
    existing = [entry(1, 0, **explicit), entry(2)]
    yield ids("existing", "LIN022", existing, [1000, 1010], "an existing file without an id inherits one too")
    deleted = [entry(1, 2, **explicit), entry(2)]
    yield ids(
        "deleted",
        "LIN019",
        deleted,
        [None, 1000],
        "a deleted file takes none of the ids that were set aside",
        contradiction=("B2",),
    )
    yield ids("none", "LIN014", [entry(1)], [None], "the list has no row id, and neither have the files", listed=LISTED)
    yield ids("zero", "LIN019", [entry(1), entry(2)], [0, 10], "0 is an id", listed={**LISTED, "first_row_id": "0"})
    yield ids(
        "long",
        "LIN019",
        [entry(1), entry(2, 0, **explicit)],
        [OTHER_SNAPSHOT, OTHER_SNAPSHOT + 10],
        "ids of 64 bits stay exact",
        listed={**LISTED, "first_row_id": str(OTHER_SNAPSHOT)},
    )
    yield ids(
        "v2-manifest",
        "LIN019",
        [entry(1), entry(2)],
        [1000, 1010],
        "a manifest of v2 in an upgraded table",
        version=2,
        columns=(),
    )
    yield ids(
        "v1-manifest",
        "LIN019",
        [entry(1, snapshot_id=1), entry(2, snapshot_id=1)],
        [1000, 1010],
        "a manifest of v1 in an upgraded table",
        version=1,
        columns=(),
        numbers=ZERO,
        listed={**listed, "sequence_number": "0"},
    )
    rows = [entry(1, 0, file={"first_row_id": 50}, **explicit)]
    yield ids(
        "list-has-none",
        "LIN020",
        rows,
        [50],
        "an id of the file where the list gives the manifest none",
        listed=LISTED,
        contradiction=("C15",),
        expect=lambda forms: any_of(ok({"entries": forms}), ok({"entries": [_without_id(forms[0])]})),
    )
    deletes = [entry(1, file={"content": 1, "first_row_id": 5})]
    yield ids(
        "delete-file",
        "LIN021",
        deletes,
        [None],
        "a delete file has no row ids, whatever is written",
        content="deletes",
        listed={**LISTED, "content": 1},
    )


def _without_id(form: JsonObject) -> JsonObject:
    file = {name: value for name, value in form["data_file"].items() if name != "first_row_id"}
    return {**form, "data_file": file}


def vectors() -> Iterator[Vector]:
    """Yield all cases."""
    yield from _whole()
    yield from _inheritance()
