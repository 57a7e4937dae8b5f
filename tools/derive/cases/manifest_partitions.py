"""Partition tuples of manifests: values of every type, of every transform, promoted, renamed and reordered."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from tools.derive import awkward
from tools.derive.avro import Name
from tools.derive.cases.manifest_reads import LISTED, NUMBER, ZERO, case
from tools.derive.encoding import parameters, unscaled
from tools.derive.instants import count
from tools.derive.json_types import JsonObject
from tools.derive.manifests import OTHER_SNAPSHOT, SCHEMA, SNAPSHOT, entry, entry_form, field, manifest, optional
from tools.derive.vector import INVALID, Vector, any_of, ok


def to_avro(type_: str, value: Any) -> Any:
    """Convert a partition value to the form in which Avro stores it."""
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
    return float(value) if type_ in ("float", "double") else value


AVRO_TYPES: dict[str, Any] = {
    "boolean": "boolean",
    "int": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "time": {"type": "long", "logicalType": "time-micros"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
    "timestamptz": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
    "timestamp_ns": {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False},
    "timestamptz_ns": {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": True},
    "uuid": {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"},
    "fixed[3]": {"type": "fixed", "name": "fixed_3", "size": 3},
    "decimal(9, 2)": {
        "type": "fixed",
        "name": "decimal_9_2",
        "size": 4,
        "logicalType": "decimal",
        "precision": 9,
        "scale": 2,
    },
    "decimal(18, 2)": {
        "type": "fixed",
        "name": "decimal_18_2",
        "size": 8,
        "logicalType": "decimal",
        "precision": 18,
        "scale": 2,
    },
    "decimal(38, 0)": {
        "type": "fixed",
        "name": "decimal_38_0",
        "size": 16,
        "logicalType": "decimal",
        "precision": 38,
        "scale": 0,
    },
}
"""The Avro types of the spec's types (Appendix A)."""

AWKWARD: dict[str, list[Any]] = {
    type_: [row[2] for row in awkward.ROWS if row[1] == type_]
    for type_ in dict.fromkeys(row[1] for row in awkward.ROWS)
}
"""The awkward values of each type."""

LIMITS: dict[str, list[Any]] = {
    type_: [row[2] for row in awkward.LIMITS if row[1] == type_]
    for type_ in dict.fromkeys(row[1] for row in awkward.LIMITS)
}
"""Further values at limits and beside them."""

GROUPS = (
    ("awkward", AWKWARD, "at its limits, or that engines easily alter"),
    ("limits", LIMITS, "at its limits and beside them"),
)


NANS = {
    "float": [struct.unpack("<f", bytes.fromhex(one))[0] for one in ("0100C07F", "0000C0FF")],
    "double": [struct.unpack("<d", bytes.fromhex(one))[0] for one in ("010000000000F87F", "000000000000F8FF")],
}
"""Values of NaN whose bits are not those that most writers write."""


def partition_codes(type_: str) -> str:
    """Return the requirements that a partition value of a type covers: its field, and its annotation in Avro."""
    if type_.endswith("_ns"):
        return "DFL004 AVR008"
    return "DFL004 AVR007" if type_.startswith(("date", "time")) else "DFL004"


def avro_type(type_: str) -> Any:
    """Return the Avro type of a partition value."""
    if type_ in AVRO_TYPES:
        return AVRO_TYPES[type_]
    numbers = parameters(type_)
    if type_.startswith("fixed"):
        return {"type": "fixed", "name": f"fixed_{numbers[0]}", "size": numbers[0]}
    if numbers[0] != 38:
        raise AssertionError(type_)
    logical = {"logicalType": "decimal", "precision": numbers[0], "scale": numbers[1]}
    return {"type": "fixed", "name": f"decimal_{numbers[0]}_{numbers[1]}", "size": 16, **logical}


def partitioned(source: str, transform: str = "identity", name: str = "p") -> tuple[JsonObject, JsonObject]:
    """Return a table whose partition source is column 4, and the spec."""
    added = {"id": 4, "name": "c", "required": False, "type": source}
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], added]}
    spec_field = {"source-id": 4, "field-id": 1000, "name": name, "transform": transform}
    return schema, {"spec-id": 4, "fields": [spec_field]}


def twice(type_: str) -> tuple[JsonObject, JsonObject, list[JsonObject]]:
    """Return a table with two partition columns of one type, the spec, and its columns in a manifest.

    A fixed type has a name: an Avro schema defines it once, and refers to it by name afterwards.
    """
    schema, spec = partitioned(type_)
    added = {"id": 5, "name": "d", "required": False, "type": type_}
    again = {"source-id": 5, "field-id": 1001, "name": "q", "transform": "identity"}
    columns = [field(1000, "p", optional(AVRO_TYPES[type_])), field(1001, "q", optional(Name(AVRO_TYPES[type_])))]
    return {**schema, "fields": [*schema["fields"], added]}, {**spec, "fields": [*spec["fields"], again]}, columns


TWICE = {
    "decimals": ("decimal(9, 2)", "14.20", "-0.01"),
    "fixed": ("fixed[3]", "00FF01", "010203"),
    "uuids": ("uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "00000000-0000-0000-0000-000000000001"),
}
"""Types that are named in Avro, each with two values."""


def vectors() -> Iterator[Vector]:
    """Yield all cases."""
    values: list[tuple[str, list[Any]]] = [
        ("boolean", [True, False]),
        ("int", [0, -2147483648, 2147483647]),
        ("long", ["0", str(OTHER_SNAPSHOT)]),
        ("float", [-0.0, 1.5, "NaN", "Infinity"]),
        ("double", [-0.0, 0.1, "NaN"]),
        ("string", ["", "a b/ü=\U0001f9ca"]),
        ("binary", ["", "00FF"]),
        ("date", ["1969-12-31", "2017-11-16"]),
        ("time", ["00:00:00.000000", "22:31:08.000001"]),
        ("timestamp", ["1969-12-31T23:59:59.999999"]),
        ("timestamptz", ["2017-11-16T22:31:08.000001+00:00"]),
        ("timestamp_ns", ["1969-12-31T23:59:59.999999999"]),
        ("timestamptz_ns", ["2017-11-16T22:31:08.000000001+00:00"]),
        ("uuid", ["f79c3e09-677c-4bbd-a479-3f349cb785e7"]),
        ("fixed[3]", ["00FF01"]),
        ("decimal(9, 2)", ["14.20", "-0.01", "0.00"]),
        ("decimal(38, 0)", ["-" + "9" * 38]),
    ]
    for type_, items in values:
        schema, spec = partitioned(type_)
        partition = field(1000, "p", optional(AVRO_TYPES[type_]))
        yield _tuple_case(
            f"partition-{_slug(type_)}",
            partition_codes(type_),
            schema,
            spec,
            partition,
            type_,
            [*items, None],
            f"values of type {type_}, and null",
        )
    for group, by_type, which in GROUPS:
        for type_, items in by_type.items():
            schema, spec = partitioned(type_)
            yield _tuple_case(
                f"partition-{group}-{_slug(type_)}",
                partition_codes(type_),
                schema,
                spec,
                field(1000, "p", optional(avro_type(type_))),
                type_,
                items,
                f"values of type {type_} {which}",
            )
    for type_, payloads in NANS.items():
        schema, spec = partitioned(type_)
        yield _tuple_case(
            f"partition-nan-payloads-{type_}",
            partition_codes(type_),
            schema,
            spec,
            field(1000, "p", optional(avro_type(type_))),
            type_,
            payloads,
            "NaN with a payload, and with a sign: the other bits of a NaN have no meaning",
            stored=["NaN"] * len(payloads),
        )
    rows = [entry(number, file={"file_path": path}) for number, path in enumerate(awkward.PATHS)]
    yield case(
        "awkward-paths",
        "DFL002",
        manifest(2, rows),
        [entry_form(row, **NUMBER) for row in rows],
        "paths are not trimmed, normalised or unescaped",
        2,
        select=("status", "file_path"),
    )
    transforms: list[tuple[str, str, str, list[Any]]] = [
        ("bucket[16]", "long", "int", [0, 15]),
        ("truncate[2]", "string", "string", ["ab"]),
        ("year", "date", "int", [-1, 47]),
        ("month", "timestamp", "int", [-1, 574]),
        ("day", "timestamptz", "date", ["1969-12-31"]),
        ("hour", "timestamp", "int", [-1, 419806]),
        ("void", "long", "long", []),
    ]
    for transform, source, result, items in transforms:
        schema, spec = partitioned(source, transform)
        partition = field(1000, "p", optional(AVRO_TYPES[result]))
        yield _tuple_case(
            f"partition-of-{transform.split('[')[0]}",
            "DFL004",
            schema,
            spec,
            partition,
            result,
            [*items, None],
            f"results of {transform}, and null",
        )
    schema, spec = partitioned("timestamp", "day")
    day = ["1969-12-31", "2017-11-16", None]
    yield _tuple_case(
        "partition-day-as-int",
        "DFL004",
        schema,
        spec,
        field(1000, "p", optional("int")),
        "date",
        day,
        "the day transform had the result type int: an int without the logical type",
        contradiction=("A5",),
    )
    schema, spec = partitioned("decimal(9, 2)")
    as_bytes = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    yield _tuple_case(
        "partition-decimal-as-bytes",
        "AVR006 MAN001",
        schema,
        spec,
        field(1000, "p", optional(as_bytes)),
        "decimal(9, 2)",
        ["14.20", "-0.01"],
        "a decimal should be fixed, and Avro permits bytes",
        may_refuse=True,
        contradiction=("E21",),
    )
    for written, now, items in (
        ("int", "long", [34, -1]),
        ("float", "double", [1.5, "NaN"]),
        ("decimal(9, 2)", "decimal(18, 2)", ["14.20", "-0.01"]),
    ):
        schema, spec = partitioned(now)
        found = [str(item) for item in items] if now == "long" else items
        yield _tuple_case(
            f"partition-{_slug(written)}-promoted",
            "DFL004",
            schema,
            spec,
            field(1000, "p", optional(AVRO_TYPES[written])),
            written,
            [*items, None],
            f"written as {written}, before the column became {now}",
            stored=[*found, None],
        )
    schema, spec = partitioned("string", name="a b/1")
    for name, legal in (("legal-name", "a_x20b_x2F1"), ("other-name", "whatever")):
        yield _tuple_case(
            f"partition-{name}",
            "DFL004 MAN001 PRJ001",
            schema,
            spec,
            field(1000, legal, optional("string")),
            "string",
            ["x", None],
            f"the field 'a b/1' under the name {legal}, found by id",
            contradiction=("C10",),
        )
    schema, spec = partitioned("int")
    yield _tuple_case(
        "partition-required",
        "AVR001",
        schema,
        spec,
        field(1000, "p", "int"),
        "int",
        [0, -7],
        "a tuple without null, that is not optional",
    )
    yield from _tuples()


def _slug(type_: str) -> str:
    return "".join(letter if letter.isalnum() else " " for letter in type_).strip().replace("  ", " ").replace(" ", "-")


def _tuple_case(
    name: str,
    codes: str,
    schema: JsonObject,
    spec: JsonObject,
    partition: JsonObject,
    type_: str,
    values: list[Any],
    note: str,
    *,
    stored: list[Any] | None = None,
    may_refuse: bool = False,
    contradiction: tuple[str, ...] = (),
) -> Vector:
    rows, forms = [], []
    for number, (value, says) in enumerate(zip(values, stored or values, strict=True)):
        rows.append(entry(number, file={"partition": {partition["name"]: to_avro(type_, value)}}))
        forms.append(entry_form(rows[-1], {} if says is None else {"1000": says}, **NUMBER))
    data = manifest(2, rows, partition=[partition], spec=spec, table=schema)
    version = 3 if type_.endswith("_ns") else 2
    listed = {**LISTED, "partition_spec_id": 4}
    return case(
        name,
        codes,
        data,
        forms,
        note,
        version,
        listed=listed,
        schema=schema,
        spec=spec,
        expect=any_of(ok({"entries": forms}), INVALID) if may_refuse else None,
        contradiction=contradiction,
        select=SELECT,
    )


SELECT = ("status", "file_path", "partition", "record_count", "file_size_in_bytes")
"""The selected fields: the values and the other fields of the file, but not what entries inherit."""


def _tuples() -> Iterator[Vector]:
    """Yield vectors with tuples of several fields."""
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
        return case(name, codes, data, form, note, 2, listed=listed, schema=schema, spec=spec, select=SELECT, **more)

    yield of("partition-fields", "DFL004", ("id_bucket", "data", "c"), "ids need not ascend nor follow each other")
    yield of(
        "partition-order",
        "DFL004 AVR013 MAN001 PRJ001",
        ("c", "id_bucket", "data"),
        "fields in another order, found by id",
    )
    bare = [field(None, one, optional(types[one][1])) for one in ("id_bucket", "data", "c")]
    for name, (type_, one, other) in TWICE.items():
        table, two, columns = twice(type_)
        alike = entry(1, file={"partition": {"p": to_avro(type_, one), "q": to_avro(type_, other)}})
        yield case(
            f"partition-two-{name}",
            "DFL004 AVR006 MAN001",
            manifest(2, [alike], partition=columns, spec=two, table=table),
            [entry_form(alike, {"1000": one, "1001": other}, **NUMBER)],
            f"two fields of type {type_}: the schema defines the type once, and names it where it occurs again",
            2,
            listed=listed,
            schema=table,
            spec=two,
            select=SELECT,
        )
    data = manifest(1, [{**row, "snapshot_id": SNAPSHOT}], partition=bare, spec=spec, table=schema)
    yield case(
        "v1-partition-without-ids",
        "DFL004",
        data,
        [entry_form(row, form[0]["data_file"]["partition"], **ZERO)],
        "the ids of partition fields are binding from v2; before, fields are in the order of the spec",
        1,
        listed={**listed, "sequence_number": "0"},
        schema=schema,
        spec=spec,
        expect=any_of(ok({"entries": [entry_form(row, form[0]["data_file"]["partition"], **ZERO)]}), INVALID),
        contradiction=("E21",),
    )
