"""What files and values are by the word of others: golden files of engines, tables of the text, and bytes by hand.

Some code of the reference answers no operation of the protocol, as there is none that asks an engine the same. Here it
is asked directly, and what is expected comes from what an engine wrote beside its file, from `tools.derive`, or from a
sentence of the text that stands beside it.
"""

from __future__ import annotations

import io
import json
import math
import struct
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from tools.derive import avro, wkb
from tools.mutants.mutant import ROOT

Check = Callable[[], bool]

GOLDEN = ROOT / "vectors" / "golden" / "data-files"


def refused(work: Callable[[], Any], *codes: str) -> bool:
    """Whether something is refused with one of the codes, or with any where none is given."""
    from spec_ref.errors import SpecError

    try:
        work()
    except SpecError as error:
        return not codes or error.violation.requirement in codes
    return False


# Metrics of data files


MAPS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
ORC_NESTED = frozenset({"16", "17", "18", "20", "22", "23", "24"})
"""Columns of which Iceberg-Java says other things in ORC: it counts lists, maps and structs, and leaves maps without
ids."""

ORC_OTHERWISE = {
    "column_sizes": frozenset({"22", "23", "24"}),
    "value_counts": ORC_NESTED | {"19", "21"}, "null_value_counts": ORC_NESTED | {"19", "21"},
    "nan_value_counts": ORC_NESTED, "lower_bounds": ORC_NESTED | {"10"}, "upper_bounds": ORC_NESTED | {"10"},
}  # fmt: skip


def _told(metrics: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {
            str(key): item.hex().upper() if isinstance(item, bytes) else item
            for key, item in (getattr(metrics, name) or {}).items()
        }
        for name in MAPS
    }


def _java() -> dict[str, Any]:
    rows = json.loads((GOLDEN / "index.json").read_text(encoding="utf-8"))["data-files"]
    return {row["file"]: row["entry"] for row in rows}


def _parquet() -> bool:
    from spec_ref.formats.metrics_parquet import parquet_metrics

    java, found = _java()["metrics.parquet"], parquet_metrics((GOLDEN / "metrics.parquet").read_bytes())
    return _told(found) == {name: java[name] for name in MAPS} and list(found.split_offsets) == java["split_offsets"]


def _orc() -> bool:
    from spec_ref.formats.metrics_orc import orc_metrics

    java, found = _java()["metrics.orc"], orc_metrics((GOLDEN / "metrics.orc").read_bytes())

    def alike(name: str) -> bool:
        left_out = ORC_OTHERWISE[name]
        ours, theirs = ({key: one for key, one in told.items() if key not in left_out}
                        for told in (_told(found)[name], java[name]))  # fmt: skip
        return bool(ours == theirs)

    return all(map(alike, MAPS)) and list(found.split_offsets) == java["split_offsets"]


def _avro() -> bool:
    """The rows of the Avro file are those of the Parquet file, whose metrics Iceberg-Java tells; Avro has no sizes."""
    from spec_ref.formats.metrics_avro import avro_metrics

    java, found = _java()["metrics.parquet"], _told(avro_metrics((GOLDEN / "metrics.avro").read_bytes()))
    return all(found[name] == java[name] for name in MAPS[1:]) and not found["column_sizes"]


def _parts_of_variants() -> bool:
    """A record of metadata and value is a variant where they have no ids, and a struct where they have (AVR011)."""
    from spec_ref.formats.metrics_avro import avro_metrics

    def fields(*ids: int | None) -> list[dict[str, Any]]:
        return [{"name": name, "type": "bytes", **({} if id_ is None else {"field-id": id_})}
                for name, id_ in zip(("metadata", "value"), ids, strict=True)]  # fmt: skip

    for of, parts, counted in ((fields(None, None), (b"\1\0\0", b"\0"), {"1": 2}),
                               (fields(2, 3), (b"a", b"b"), {"2": 2, "3": 2})):  # fmt: skip
        record = {"type": "record", "name": "r1", "fields": of}
        schema = {"type": "record", "name": "table", "fields": [{"name": "v", "type": record, "field-id": 1}]}
        row = {"v": dict(zip(("metadata", "value"), parts, strict=True))}
        data = avro.container(schema, [(2, 2 * avro.encode(schema, row))], {})
        if _told(avro_metrics(data))["value_counts"] != counted:
            return False
    return True


def _point(*position: float) -> bytes:
    return wkb.point("<", {2: "", 3: "Z"}[len(position)], position)


LINE = wkb.line_string("<", "", [(0.0, 20.0), (5.0, -1.0)])
EMPTY = _point(math.nan, math.nan)
BOXES: tuple[tuple[str, str, tuple[bytes, ...], tuple[tuple[float, ...], tuple[float, ...]] | None], ...] = (
    ("points", "geometry", (_point(30.0, 10.0), _point(-1.0, 40.0)), ((-1.0, 10.0), (30.0, 40.0))),
    ("a-line", "geometry", (_point(30.0, 10.0), LINE), ((0.0, -1.0), (30.0, 20.0))),
    ("height", "geometry", (_point(1.0, 2.0, 3.0), _point(4.0, 0.0, 1.0)), ((1.0, 0.0, 1.0), (4.0, 2.0, 3.0))),
    ("empty", "geometry", (EMPTY,), None),
    ("empty-beside", "geometry", (EMPTY, _point(1.0, 2.0)), ((1.0, 2.0), (1.0, 2.0))),
    ("geography", "geography", (_point(30.0, 10.0), _point(-1.0, 40.0)), ((-1.0, 10.0), (30.0, 40.0))),
    ("geography-of-edges", "geography", (LINE,), None),
    ("geography-off-the-globe", "geography", (_point(0.0, 91.0),), None),
)
"""Objects, and the least and the greatest coordinates of each dimension, as `struct` packs them (BND001 to BND004).

There are none where a dimension has no coordinates, or edges of a geography lead where no coordinate is."""


def _box(type_: str, objects: tuple[bytes, ...], corners: Any) -> bool:
    from spec_ref.formats.metrics import encoded_bounds, metrics_of_values
    from spec_ref.schemas.type_json import type_from_json

    found = encoded_bounds(metrics_of_values(type_from_json(type_), objects), 16)
    return found == ((None, None) if corners is None else tuple(struct.pack(f"<{len(one)}d", *one) for one in corners))


def _no_object() -> bool:
    """Bytes that are no well-known binary have no corners, and a file with them is told (NOT010)."""
    from spec_ref.formats.metrics import encoded_bounds, metrics_of_values
    from spec_ref.schemas.type_json import type_from_json

    type_ = type_from_json("geometry")
    return refused(lambda: encoded_bounds(metrics_of_values(type_, [b"\1\1\0"]), 16), "NOT010")


def _sizes() -> bool:
    """The sizes that a writer tells of columns are those of the file's footer, by the paths of the columns (DFL011)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from spec_ref.formats.parquet_writing import ParquetRows
    from spec_ref.schemas.type_json import type_from_json

    def field(id_: int, name: str, type_: Any) -> dict[str, Any]:
        return {"id": id_, "name": name, "required": False, "type": type_}

    prices = {"type": "map", "key-id": 3, "key": "string", "value-id": 4, "value": "long", "value-required": False}
    tags = {"type": "list", "element-id": 6, "element": "string", "element-required": False}
    inside = {"type": "struct", "fields": [field(8, "x", "int"), field(9, "y", "string")]}
    struct_: Any = type_from_json(
        {"type": "struct", "fields": [field(1, "id", "long"), field(2, "prices", prices), field(5, "tags", tags),
                                      field(7, "point", inside)]}
    )  # fmt: skip
    paths = {
        "id": 1, "prices.key_value.key": 3, "prices.key_value.value": 4, "tags.list.element": 6, "point.x": 8,
        "point.y": 9,
    }  # fmt: skip
    rows = 100
    columns = [
        pa.array(range(rows), pa.int64()),
        pa.array([[(f"key {row}", row)] for row in range(rows)], pa.map_(pa.string(), pa.int64())),
        pa.array([[f"a longer tag {row}"] for row in range(rows)], pa.list_(pa.string())),
        pa.array([{"x": row, "y": f"the longest text {row * row}"} for row in range(rows)],
                 pa.struct([("x", pa.int32()), ("y", pa.string())])),
    ]  # fmt: skip
    out = io.BytesIO()
    made = ParquetRows(out, struct_, "none")
    made.write(pa.RecordBatch.from_arrays(columns, ["id", "prices", "tags", "point"]))
    told = dict(made.close().column_sizes)
    group = pq.read_metadata(io.BytesIO(out.getvalue())).row_group(0)
    chunks = [group.column(place) for place in range(group.num_columns)]
    return told == {paths[one.path_in_schema]: one.total_compressed_size for one in chunks}


def _chunks() -> bool:
    """A stored chunk that tells more bytes than its part of an ORC file has is damaged (ORC008)."""
    import pyarrow as pa
    from pyarrow import orc

    from spec_ref.formats.orc_footer import read_stripes

    out = io.BytesIO()
    orc.write_table(pa.table({"a": pa.array([1, 2, 3])}), out, compression="zlib")
    data = out.getvalue()
    stripes = len(read_stripes(data))
    postscript = data[-1]
    (footer,) = _varint(data, len(data) - 1 - postscript)
    at = len(data) - 1 - postscript - footer
    header = int.from_bytes(data[at : at + 3], "little")
    inflated = _inflated(data, at, header)

    def written(told: int) -> bytes:
        stored = (told << 1 | 1).to_bytes(3, "little") + inflated
        length = data[len(data) - 1 - postscript :]
        return data[:at] + stored + _with_length(length, len(stored))

    return len(read_stripes(written(len(inflated)))) == stripes and refused(
        lambda: read_stripes(written(len(inflated) + 5)), "ORC008"
    )


def _varint(data: bytes, at: int) -> tuple[int]:
    """The length of the footer, which is the first field of the postscript."""
    assert data[at] == 1 << 3
    value = shift = 0
    while True:
        at += 1
        value |= (data[at] & 0x7F) << shift
        shift += 7
        if data[at] < 0x80:
            return (value,)


def _inflated(data: bytes, at: int, header: int) -> bytes:
    import zlib

    chunk = data[at + 3 : at + 3 + (header >> 1)]
    return chunk if header & 1 else zlib.decompress(chunk, -15)


def _with_length(tail: bytes, length: int) -> bytes:
    """The postscript and its size, where the footer has another length."""
    end = next(place for place in range(1, len(tail)) if tail[place] < 0x80) + 1
    number = bytearray()
    while length > 0x7F:
        number.append(length & 0x7F | 0x80)
        length >>= 7
    made = tail[:1] + bytes([*number, length]) + tail[end:-1]
    return made + bytes([len(made)])


def metrics() -> dict[str, Check]:
    """Metrics of golden files and of shapes."""
    boxes = {f"box {name}": lambda case=case: _box(*case) for name, *case in BOXES}  # type: ignore[misc]
    return {
        "parquet": _parquet, "orc": _orc, "avro": _avro, "parts of variants": _parts_of_variants, **boxes,
        "no object": _no_object, "chunks": _chunks, "sizes": _sizes,
    }  # fmt: skip


# Values


SAMPLES: Mapping[str, Any] = {
    "bool": True, "int": 5, "float": 1.5, "decimal": Decimal("1.50"), "str": "a", "bytes": b"abcd", "list": [1],
    "uuid": uuid.UUID(int=1),
}  # fmt: skip
TAKES = {
    "boolean": {"bool"}, "int": {"int"}, "long": {"int"}, "float": {"float"}, "double": {"float"},
    "decimal(9, 2)": {"decimal"}, "date": {"int"}, "time": {"int"}, "timestamp": {"int"}, "timestamptz": {"int"},
    "timestamp_ns": {"int"}, "timestamptz_ns": {"int"}, "string": {"str"}, "uuid": {"uuid"}, "fixed[4]": {"bytes"},
    "binary": {"bytes"}, "unknown": set[str](),
}  # fmt: skip
"""What stands for the values of each type in Python."""

ENCODED = {
    "null": set[str](), "boolean": {"bool"}, "int": {"int"}, "long": {"int"}, "bytes": {"bytes"}, "string": {"str"},
}  # fmt: skip
"""The same for Avro's types, as its specification names them."""


def _of_type(type_: str) -> bool:
    from spec_ref.schemas.type_json import type_from_json
    from spec_ref.schemas.values import check_value

    made = type_from_json(type_)
    return all(
        refused(lambda value=value: check_value(made, value)) is (name not in TAKES[type_])  # type: ignore[misc]
        for name, value in SAMPLES.items()
    )


def _encoded(name: str) -> bool:
    from spec_ref.formats.avro_types import Primitive
    from spec_ref.formats.avro_values import encoder

    write = encoder(Primitive(name))
    return all(
        refused(lambda value=value: write(value, bytearray()), "AVR014") is (sample not in ENCODED[name])  # type: ignore[misc]
        for sample, value in SAMPLES.items()
    )


LONE = "a\ud800"
"""A surrogate without its other half, which JSON can write and UTF-8 can not."""


def _lone_surrogates() -> bool:
    """A name, a comment or a property that UTF-8 cannot write is refused (TYP021, PUF006)."""
    from spec_ref.formats.puffin import write_puffin
    from spec_ref.schemas.type_json import type_from_json

    def struct_of(**members: str) -> Any:
        field = {"id": 1, "name": "a", "required": False, "type": "int", **members}
        return type_from_json({"type": "struct", "fields": [field]})

    return (
        struct_of(doc="b") is not None
        and all(refused(lambda one=one: struct_of(**{one: LONE}), "TYP021") for one in ("name", "doc"))  # type: ignore[misc]
        and refused(lambda: write_puffin([], properties={"a": LONE}), "PUF006")
    )


def _no_variant() -> bool:
    """A variant is written from a struct of metadata and value, and from nothing else of two such parts (TYP006)."""
    import pyarrow as pa

    from spec_ref.schemas.types import VARIANT, NestedField
    from spec_ref.schemas.written_rows import compile_input

    fields = (NestedField(1, "v", required=False, type=VARIANT),)
    parts = [pa.field("metadata", pa.binary()), pa.field("value", pa.binary())]
    compile_input(fields, pa.schema([pa.field("v", pa.struct(parts))]))
    others = (pa.int64(), pa.list_(pa.binary()), pa.dense_union(parts), pa.struct(parts[:1]))
    return all(
        refused(lambda one=one: compile_input(fields, pa.schema([pa.field("v", one)])), "TYP006")  # type: ignore[misc]
        for one in others
    )


def _no_text() -> bool:
    """Strings that are no UTF-8 are refused, be it all of a column or one of them (TYP021)."""
    import pyarrow as pa

    from spec_ref.arrow_types import check_values
    from spec_ref.schemas.types import STRING

    def column(*values: bytes) -> Any:
        made = pa.array(values, pa.binary())
        return pa.Array.from_buffers(pa.string(), len(made), made.buffers())

    check_values(STRING, column("\u00e9".encode(), b"a"))
    return all(
        refused(lambda values=values: check_values(STRING, column(*values)), "TYP021")  # type: ignore[misc]
        for values in ((b"\xff",), (b"a", b"\xff\xfe"), (b"\xc3", b"\xc3"))
    )


def _nothing_but_null() -> bool:
    """A delete of null deletes rows of null, also of a column that can hold nothing else (DEL020)."""
    import numpy as np
    import pyarrow as pa

    from spec_ref.deletes.equality_deletes import DeleteIndex
    from spec_ref.schemas.types import UNKNOWN

    found = DeleteIndex([UNKNOWN], [pa.nulls(1)], np.array([9])).deleted([pa.nulls(3)], 3, 1)
    return bool(found.tolist() == [True, True, True])


READ_AS = {
    "int": {"long"}, "float": {"double"}, "decimal(9, 2)": {"decimal(18, 2)"}, "date": {"timestamp", "timestamp_ns"},
    "binary": {"string"}, "fixed[16]": {"uuid"},
}  # fmt: skip
"""As what columns are read beside their own types: promotions of v3 (EVO003 to EVO005), and annotations left out."""

COLUMN_TYPES = (
    "boolean", "int", "long", "float", "double", "decimal(9, 2)", "decimal(18, 2)", "decimal(9, 3)", "date", "time",
    "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed[16]", "fixed[4]", "binary",
)  # fmt: skip


def _readable() -> bool:
    """A column of a file is read as a type that it is promoted to, and refused as any other (EVO003)."""
    from spec_ref.schemas.projection import WrittenColumns
    from spec_ref.schemas.projection_columnar import compile_projection
    from spec_ref.schemas.type_json import type_from_json
    from spec_ref.schemas.types import NestedField, StructType

    def field(type_: str) -> Any:
        return NestedField(1, "a", required=False, type=type_from_json(type_))

    def read(old: str, new: str) -> Any:
        return compile_projection([field(new)], WrittenColumns(StructType((field(old),)), mapped=False), {})

    return all(
        refused(lambda: read(old, new), "EVO003") is (old != new and new not in READ_AS.get(old, ()))  # noqa: B023
        for old in COLUMN_TYPES
        for new in COLUMN_TYPES
    )


def _row_ids() -> bool:
    """Row ids are longs: a file that would inherit one beyond is refused, also among many (LIN019)."""
    from spec_ref.manifests import read_manifest
    from spec_ref.manifests.columns import column_batches
    from spec_ref.snapshots.manifest_list import ManifestContent, ManifestFile
    from tools.derive.manifests import entry, manifest

    def found(first: int) -> list[int]:
        data = manifest(3, [entry(1), entry(2)])
        listed = ManifestFile(
            manifest_path="m", manifest_length=len(data), partition_spec_id=0, content=ManifestContent.DATA,
            sequence_number=1, min_sequence_number=1, added_snapshot_id=1, added_files_count=2, existing_files_count=0,
            deleted_files_count=0, added_rows_count=20, existing_rows_count=0, deleted_rows_count=0, first_row_id=first,
        )  # fmt: skip
        read = read_manifest(data, manifest_file=listed)
        return [one for columns in column_batches(read) for one in columns.first_row_id.values.tolist()]

    last = (1 << 63) - 11
    return found(last) == [last, last + 10] and refused(lambda: found(last + 1))


def _no_json() -> bool:
    """What no JSON text stands for is refused in documents of the removed format, also where anything may stand."""
    from spec_ref.table_metadata.legacy_json import read_content_file, read_scan_task

    file = {
        "spec-id": 0, "content": "DATA", "file-path": "a", "file-format": "AVRO", "record-count": 1,
        "file-size-in-bytes": 1,
    }  # fmt: skip
    schema = {"type": "struct", "schema-id": 0, "fields": []}
    task = {"schema": schema, "spec": {"spec-id": 0, "fields": []}, "data-file": file}

    def both(value: Any) -> tuple[bool, bool]:
        return (
            refused(lambda: read_content_file({**file, "partition": {"1000": value}})),
            refused(lambda: read_scan_task({**task, "residual-filter": {"value": value}})),
        )

    return both(1.5) == (False, False) and all(both(one) == (True, True) for one in (math.nan, [{1: 2}], b"a"))


# Limits that SECURITY.md promises


def _large_headers() -> bool:
    """The entries of a header count together."""
    from spec_ref.formats.avro_container import Limits, open_container

    data = avro.header({"avro.schema": '"int"', "avro.codec": "null", "a": "b" * 50, "c": "d" * 50})
    size = len(data) - len(avro.long(0) + avro.SYNC)
    open_container(data, "AVR014", Limits(header_bytes=size))
    return refused(lambda: open_container(data, "AVR014", Limits(header_bytes=size - 1)))


def _many_types() -> bool:
    """A schema of few bytes may stand for any number of types, each of two of the one before."""
    from spec_ref.formats.avro_types import parse_schema

    def doubled(times: int) -> bytes:
        made: Any = "int"
        for number in range(times):
            fields = [{"name": "a", "type": made}, {"name": "b", "type": f"r{number - 1}" if number else "int"}]
            made = {"type": "record", "name": f"r{number}", "fields": fields}
        return json.dumps(made).encode()

    parse_schema(doubled(15), "AVR014")
    return refused(lambda: parse_schema(doubled(20), "AVR014"))


def _deep_types() -> bool:
    """An object around a type is one level, of which 150 are read."""
    from spec_ref.formats.avro_types import parse_schema

    made: Any = "int"
    for _ in range(150):
        made = {"type": made}
    return str(parse_schema(json.dumps(made).encode(), "AVR014")) == str(parse_schema(b'"int"', "AVR014"))


def _empty_items() -> bool:
    """Items of no bytes are 2**20 at most, as no size of a file bounds them."""
    from spec_ref.formats.avro_types import parse_schema
    from spec_ref.formats.avro_values import decode_all

    schema = parse_schema(b'{"type": "array", "items": "null"}', "AVR014")

    def read(count: int) -> int:
        return len(decode_all(schema, 1, avro.long(count) + avro.long(0), "AVR014")[0])  # type: ignore[arg-type]

    return read(1 << 20) == 1 << 20 and refused(lambda: read((1 << 20) + 1))


def _large_footers() -> bool:
    """The payload of a Puffin file is 32 MiB at most."""
    from spec_ref.formats.puffin import read_puffin

    def file(size: int) -> bytes:
        payload = b'{"blobs": []}'.ljust(size)
        return b"PFA1PFA1" + payload + struct.pack("<I", size) + bytes(4) + b"PFA1"

    read_puffin(file(1 << 10))
    return refused(lambda: read_puffin(file((32 << 20) + 1)), "PUF006")


# Schemas of Parquet


def _node(name: str, id_: int | None, *children: Any, **members: Any) -> Any:
    from spec_ref.formats.parquet_thrift import ParquetNode

    given = {"physical": None, "length": None, "logical": None, "repetition": "optional", **members}
    return ParquetNode(name=name, field_id=id_, children=children, **given)


def _levels() -> bool:
    """Lists of two levels are none of Iceberg's (PQT002), whatever stands in the repeated field."""
    from spec_ref.formats.parquet_schema import check_parquet_schema

    def codes(repeated: Any) -> list[str]:
        root = _node("table", None, _node("l", 1, repeated, logical="LIST"))
        return [one.requirement for one in check_parquet_schema(root)]

    element = _node("element", 2, physical="int32")
    others = (
        _node("array", 2, physical="int32", repetition="repeated"),
        _node("array", 2, element, _node("b", 3, physical="int32"), repetition="repeated"),
    )
    return not codes(_node("list", None, element, repetition="repeated")) and all(
        codes(one) == ["PQT002"] for one in others
    )


def _annotated() -> bool:
    """An annotation that says of an integer what it is anyway changes nothing; others do (PQT003)."""
    from spec_ref.formats.parquet_schema import check_parquet_schema

    def codes(physical: str, bits: int, *, signed: bool) -> list[str]:
        column = _node("a", 1, physical=physical, logical="INTEGER", parameters=(bits, signed))
        return [one.requirement for one in check_parquet_schema(_node("table", None, column))]

    return (
        not codes("int32", 32, signed=True)
        and not codes("int64", 64, signed=True)
        and codes("int32", 8, signed=True) == ["PQT003"]
    )


def values() -> dict[str, Check]:
    """Values of every type, and schemas of files."""
    return {
        **{f"of {one}": lambda one=one: _of_type(one) for one in TAKES},  # type: ignore[misc]
        **{f"as Avro's {one}": lambda one=one: _encoded(one) for one in ENCODED},  # type: ignore[misc]
        "lone surrogates": _lone_surrogates, "no variant": _no_variant, "no text": _no_text,
        "nothing but null": _nothing_but_null, "readable": _readable, "row ids": _row_ids, "no JSON": _no_json,
        "limit of headers": _large_headers, "limit of types": _many_types, "depth of types": _deep_types,
        "limit of empty items": _empty_items, "limit of footers": _large_footers,
        "Parquet's lists": _levels, "Parquet's integers": _annotated,
    }  # fmt: skip
