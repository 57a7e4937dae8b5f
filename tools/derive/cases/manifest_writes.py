"""Vectors of writing entries: manifests of every version, and entries that must not be written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.cases.manifest_partitions import (
    AVRO_TYPES,
    GROUPS,
    TWICE,
    avro_type,
    partition_codes,
    partitioned,
    to_avro,
    twice,
)
from tools.derive.cases.manifest_reads import LAYOUT, METRICS
from tools.derive.json_types import JsonObject
from tools.derive.manifests import (
    OTHER_SNAPSHOT,
    SCHEMA,
    SNAPSHOT,
    UNPARTITIONED,
    entry,
    entry_form,
    field,
    manifest,
    optional,
)
from tools.derive.vector import INVALID, Vector, any_of, ok

NUMBERS: JsonObject = {"snapshot_id": OTHER_SNAPSHOT, "sequence_number": 3, "file_sequence_number": 2}
GONE: JsonObject = {**NUMBERS, "snapshot_id": SNAPSHOT}
NEW: JsonObject = {"snapshot_id": SNAPSHOT}


def write(name: str, codes: str, version: int, rows: list[JsonObject], note: str, **more: Any) -> Vector:
    """Return a vector of entries to write, with one of the equivalent files; ``expect`` replaces this outcome.

    ``permitted`` has changes of `manifest`'s arguments that lead to other files which the text permits.
    """
    content = more.pop("content", 0)
    permitted, contradiction = more.pop("permitted", ()), more.pop("contradiction", ())
    schema, spec = more.pop("schema", SCHEMA), more.pop("spec", UNPARTITIONED)
    partitions = more.pop("partitions", [None] * len(rows))
    args: JsonObject = {
        "format_version": version,
        "content": content,
        "schema": schema,
        "spec": spec,
        "snapshot_id": str(SNAPSHOT),
        "sequence_number": "0" if version == 1 else "7",
        "entries": [entry_form(row, partition) for row, partition in zip(rows, partitions, strict=True)],
    }
    if more.pop("columns_too", False):
        args["check_columns"] = True
    outcome = more.pop("expect", None)
    if outcome is None:
        given = {"version": version, "rows": rows, "columns": None, "content": ("data", "deletes")[content]}
        given |= {"table": schema, "spec": spec, **more}
        files = [manifest(**{**given, **changed}) for changed in ({}, *permitted)]
        outcome = any_of(*(ok(data.hex().upper()) for data in files))
    return Vector(
        f"manifest-write-{name}", tuple(codes.split()), args, outcome, LAYOUT, note, contradiction, (version,)
    )


def _writes() -> Iterator[Vector]:
    for version in (1, 2, 3):
        # The cell of the key content is blank for v1, which only advises against the key: a writer may write it.
        may: JsonObject = (
            {"permitted": [{"metadata": {"content": "data"}}], "contradiction": ("E18",)} if version == 1 else {}
        )
        yield write(
            f"v{version}",
            "MAN011 MAN015" if version == 1 else "MAN011 MAN015 DFL020",
            version,
            [entry(1, **NEW)],
            "a new file, and the types of all columns",
            columns_too=True,
            **may,
        )
        metrics = {name: value for name, value in METRICS.items() if name != "sort_order_id"}
        yield write(
            f"v{version}-metrics",
            "DFL011 DFL012 DFL013 DFL014 DFL016 DFL017 DFL018 DFL019",
            version,
            [entry(1, file=metrics, **NEW)],
            "counts, bounds, key metadata and split offsets",
            **may,
        )
    statuses = [entry(1, **NEW), entry(2, 0, **NUMBERS), entry(3, 2, **GONE)]
    yield write("statuses", "MAN022 MAN017", 2, statuses, "a new file, one that exists and one that is deleted")
    zero = [entry(1, 0, **{**NUMBERS, "sequence_number": 0, "file_sequence_number": 0})]
    yield write("zero", "MAN022", 2, zero, "an existing file of a former v1 table has 0, which is not null")
    large = [
        entry(
            1,
            0,
            file={"record_count": OTHER_SNAPSHOT, "file_size_in_bytes": (1 << 63) - 1},
            snapshot_id=(1 << 63) - 1,
            sequence_number=OTHER_SNAPSHOT,
            file_sequence_number=OTHER_SNAPSHOT,
        )
    ]
    yield write("longs", "DFL005 DFL006", 2, large, "numbers of 64 bits stay exact")
    path = [entry(1, file={"file_path": "s3://b/größe \U0001f9ca/%20/a=1/x y.parquet"}, **NEW)]
    yield write("path", "DFL002", 2, path, "a path is written unchanged")
    awkward_paths = [entry(number, file={"file_path": path}, **NEW) for number, path in enumerate(awkward.PATHS)]
    yield write("awkward-paths", "DFL002", 2, awkward_paths, "paths are not trimmed, normalised or unescaped")
    for name in ("ORC", "AVRO"):
        yield write(
            f"format-{name.lower()}", "DFL003", 2, [entry(1, file={"file_format": name}, **NEW)], f"a file in {name}"
        )
    deletes = [
        entry(1, file={"content": 1}, **NEW),
        entry(2, file={"content": 2, "equality_ids": [2, 1]}, **NEW),
    ]
    yield write("deletes", "DFL001 DFL020", 2, deletes, "position and equality deletes", content=1, columns_too=True)
    of_one = [entry(1, file={"content": 1, "referenced_data_file": "s3://b/9.parquet"}, **NEW)]
    of_any = [entry(1, file={"content": 1}, **NEW)]
    yield write(
        "referenced-data-file",
        "DFL023",
        2,
        of_one,
        "position deletes of one data file; the field is optional and may be left out",
        content=1,
        permitted=[{"rows": of_any}],
        contradiction=("E32",),
    )
    vector = [
        entry(
            1,
            file={
                "content": 1,
                "file_format": "PUFFIN",
                "file_path": "s3://b/dv.puffin",
                "record_count": 2,
                "referenced_data_file": "s3://b/9.parquet",
                "content_offset": 4,
                "content_size_in_bytes": 1 << 33,
            },
            **NEW,
        )
    ]
    yield write("deletion-vector", "DFL023 DFL024 DFL025", 3, vector, "a deletion vector", content=1, columns_too=True)
    ids = [
        entry(1, **NEW),
        entry(2, 0, file={"first_row_id": 0}, **NUMBERS),
        entry(3, 2, file={"first_row_id": OTHER_SNAPSHOT}, **GONE),
    ]
    yield write("row-ids", "LIN018 LIN020", 3, ids, "existing and deleted files keep their row ids, a new one has none")
    empty = entry(
        1, file={"lower_bounds": [{"key": 2, "value": b""}], "upper_bounds": [{"key": 2, "value": b""}]}, **NEW
    )
    yield write(
        "empty-bounds", "DFL016 DFL017", 2, [empty], "the bound of the empty string has no bytes, and is not null"
    )
    yield from _partitions()


def _partitions() -> Iterator[Vector]:
    values: list[tuple[str, list[Any]]] = [
        ("boolean", [True]),
        ("int", [0, -1]),
        ("long", ["0", str(OTHER_SNAPSHOT)]),
        ("float", [-0.0, 1.5]),
        ("double", [-0.0, 0.1]),
        ("string", ["", "a/ü"]),
        ("binary", ["", "00FF"]),
        ("date", ["1969-12-31"]),
        ("time", ["22:31:08.000001"]),
        ("timestamp", ["1969-12-31T23:59:59.999999"]),
        ("timestamptz", ["2017-11-16T22:31:08.000001+00:00"]),
        ("uuid", ["f79c3e09-677c-4bbd-a479-3f349cb785e7"]),
        ("fixed[3]", ["00FF01"]),
        ("decimal(9, 2)", ["14.20", "-0.01"]),
        ("decimal(38, 0)", ["-" + "9" * 38]),
    ]
    for type_, items in values:
        schema, spec = partitioned(type_)
        rows = [
            entry(number, file={"partition": {"p": to_avro(type_, value)}}, **NEW)
            for number, value in enumerate([*items, None])
        ]
        partitions = [*({"1000": value} for value in items), {}]
        name = "".join(letter if letter.isalnum() else " " for letter in type_).split()
        yield write(
            f"partition-{'-'.join(name)}",
            partition_codes(type_),
            2,
            rows,
            f"values of type {type_}, and null",
            partitions=partitions,
            schema=schema,
            spec=spec,
            partition=[field(1000, "p", optional(AVRO_TYPES[type_]))],
        )
    for group, by_type, which in GROUPS:
        for type_, items in by_type.items():
            schema, spec = partitioned(type_)
            name = "".join(letter if letter.isalnum() else " " for letter in type_).split()
            yield write(
                f"partition-{group}-{'-'.join(name)}",
                partition_codes(type_),
                3 if type_.endswith("_ns") else 2,
                [
                    entry(number, file={"partition": {"p": to_avro(type_, value)}}, **NEW)
                    for number, value in enumerate(items)
                ],
                f"values of type {type_} {which}",
                partitions=[{"1000": value} for value in items],
                schema=schema,
                spec=spec,
                partition=[field(1000, "p", optional(avro_type(type_)))],
            )
    for two, (type_, one, other) in TWICE.items():
        schema, spec, columns = twice(type_)
        yield write(
            f"partition-two-{two}",
            "DFL004 AVR006 MAN001",
            2,
            [entry(1, file={"partition": {"p": to_avro(type_, one), "q": to_avro(type_, other)}}, **NEW)],
            f"two fields of type {type_}, whose Avro type has a name that is defined once",
            partitions=[{"1000": one, "1001": other}],
            schema=schema,
            spec=spec,
            partition=columns,
        )
    schema, spec = partitioned("string", name="a b/1")
    rows = [entry(1, file={"partition": {"a_x20b_x2F1": "x"}}, **NEW)]
    yield write(
        "partition-name",
        "DFL004",
        2,
        rows,
        "a name that Avro does not allow",
        partitions=[{"1000": "x"}],
        schema=schema,
        spec=spec,
        partition=[field(1000, "a_x20b_x2F1", optional("string"))],
    )
    schema, spec = partitioned("timestamp", "day")
    rows = [entry(1, file={"partition": {"p": -1}}, **NEW)]
    yield write(
        "partition-of-day",
        "DFL004",
        2,
        rows,
        "a day before 1970",
        partitions=[{"1000": "1969-12-31"}],
        schema=schema,
        spec=spec,
        partition=[field(1000, "p", optional(AVRO_TYPES["date"]))],
    )


def _refusals() -> Iterator[Vector]:
    vector = {
        "content": 1,
        "file_format": "PUFFIN",
        "file_path": "s3://b/dv.puffin",
        "referenced_data_file": "s3://b/9.parquet",
        "content_offset": 4,
        "content_size_in_bytes": 40,
    }
    rows: list[tuple[str, str, int, JsonObject, int, str]] = [
        ("deletes-in-v1", "DEL001", 1, entry(1, file={"content": 1}, **NEW), 1, "v1 has no delete files"),
        (
            "deletes-among-data",
            "MAN002",
            2,
            entry(1, file={"content": 1}, **NEW),
            0,
            "a delete file in a manifest of data",
        ),
        ("data-among-deletes", "MAN002", 2, entry(1, **NEW), 1, "a data file in a manifest of deletes"),
        (
            "existing-without-number",
            "MAN022",
            2,
            entry(1, 0, snapshot_id=OTHER_SNAPSHOT),
            0,
            "an existing file has its numbers",
        ),
        ("deleted-without-number", "MAN022", 2, entry(1, 2, **NEW), 0, "a deleted file has its numbers"),
        (
            "equality-without-ids",
            "DFL020",
            2,
            entry(1, file={"content": 2}, **NEW),
            1,
            "equality deletes name the fields that they compare",
        ),
        ("record-count-negative", "DFL005", 2, entry(1, file={"record_count": -1}, **NEW), 0, "-1 records"),
        ("file-size-negative", "DFL006", 2, entry(1, file={"file_size_in_bytes": -1}, **NEW), 0, "-1 bytes"),
        (
            "offsets-descend",
            "DFL019",
            2,
            entry(1, file={"split_offsets": [500, 4]}, **NEW),
            0,
            "the offsets do not ascend",
        ),
    ]
    rows += [
        (
            f"vector-without-{name.replace('_', '-')}",
            code,
            3,
            entry(1, file={**vector, name: None}, **NEW),
            1,
            f"no {name}",
        )
        for name, code in (
            ("referenced_data_file", "DFL023"),
            ("content_offset", "DFL024"),
            ("content_size_in_bytes", "DFL025"),
        )
    ]
    for name, code, version, row, content, note in rows:
        yield write(f"refuses-{name}", code, version, [row], note, content=content, expect=INVALID)
    schema, spec = partitioned("int")
    partitions = [{"1000": "x"}]
    yield write(
        "refuses-partition-type",
        "DFL004",
        2,
        [entry(1, **NEW)],
        "a string for an int",
        partitions=partitions,
        schema=schema,
        spec=spec,
        expect=INVALID,
    )


def vectors() -> Iterator[Vector]:
    """Yield all cases."""
    yield from _writes()
    yield from _refusals()
