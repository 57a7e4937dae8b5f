"""Checks of values, schemas and limits for code that no operation of the protocol reaches.

Expected values come from `tools.derive`, or from the sentence of the text that is stated beside them.
"""

from __future__ import annotations

import json
import math
import struct
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from tools.derive import avro

Check = Callable[[], bool]


def is_refused(work: Callable[[], Any], *codes: str) -> bool:
    """Return whether a call is refused with one of the codes, or with any code if none is given."""
    from spec_ref.core.errors import SpecError

    try:
        work()
    except SpecError as error:
        return not codes or error.violation.requirement in codes
    return False


SAMPLES: Mapping[str, Any] = {
    "bool": True,
    "int": 5,
    "float": 1.5,
    "decimal": Decimal("1.50"),
    "str": "a",
    "bytes": b"abcd",
    "list": [1],
    "uuid": uuid.UUID(int=1),
}
TAKES = {
    "boolean": {"bool"},
    "int": {"int"},
    "long": {"int"},
    "float": {"float"},
    "double": {"float"},
    "decimal(9, 2)": {"decimal"},
    "date": {"int"},
    "time": {"int"},
    "timestamp": {"int"},
    "timestamptz": {"int"},
    "timestamp_ns": {"int"},
    "timestamptz_ns": {"int"},
    "string": {"str"},
    "uuid": {"uuid"},
    "fixed[4]": {"bytes"},
    "binary": {"bytes"},
    "unknown": set[str](),
}
"""The Python types of the values of each type."""

ENCODED = {
    "null": set[str](),
    "boolean": {"bool"},
    "int": {"int"},
    "long": {"int"},
    "bytes": {"bytes"},
    "string": {"str"},
}
"""The Python types of the values of each Avro type, by its name in Avro's specification."""


def _of_type(type_: str) -> bool:
    from spec_ref.data_types.values import check_value
    from spec_ref.schemas.type_json import type_from_json

    made = type_from_json(type_)
    return all(
        is_refused(lambda value=value: check_value(made, value)) is (name not in TAKES[type_])  # type: ignore[misc]
        for name, value in SAMPLES.items()
    )


def _encoded(name: str) -> bool:
    from spec_ref.encodings.avro.types import Primitive
    from spec_ref.encodings.avro.values_writer import encoder

    write = encoder(Primitive(name))
    return all(
        is_refused(lambda value=value: write(value, bytearray()), "AVR014") is (sample not in ENCODED[name])  # type: ignore[misc]
        for sample, value in SAMPLES.items()
    )


LONE = "a\ud800"
"""A lone surrogate, which JSON can represent and UTF-8 cannot."""


def _lone_surrogates() -> bool:
    """Check that names, comments and properties that UTF-8 cannot represent are refused (TYP021, PUF006)."""
    from spec_ref.encodings.puffin.file import write_puffin
    from spec_ref.schemas.type_json import type_from_json

    def parse_struct(**members: str) -> Any:
        field = {"id": 1, "name": "a", "required": False, "type": "int", **members}
        return type_from_json({"type": "struct", "fields": [field]})

    return (
        parse_struct(doc="b") is not None
        and all(is_refused(lambda one=one: parse_struct(**{one: LONE}), "TYP021") for one in ("name", "doc"))  # type: ignore[misc]
        and is_refused(lambda: write_puffin([], properties={"a": LONE}), "PUF006")
    )


def _no_variant() -> bool:
    """Check that only a struct of metadata and value is written as a variant (TYP006)."""
    import pyarrow as pa

    from spec_ref.columnar.schemas.written_rows import compile_input
    from spec_ref.data_types.types import VARIANT, NestedField

    fields = (NestedField(1, "v", required=False, type=VARIANT),)
    parts = [pa.field("metadata", pa.binary()), pa.field("value", pa.binary())]
    compile_input(fields, pa.schema([pa.field("v", pa.struct(parts))]))
    others = (pa.int64(), pa.list_(pa.binary()), pa.dense_union(parts), pa.struct(parts[:1]))
    return all(
        is_refused(lambda one=one: compile_input(fields, pa.schema([pa.field("v", one)])), "TYP006")  # type: ignore[misc]
        for one in others
    )


def _no_text() -> bool:
    """Check that strings which are not UTF-8 are refused, whether they are all of a column or a single one (TYP021)."""
    import pyarrow as pa

    from spec_ref.columnar.arrow_types import check_values
    from spec_ref.data_types.types import STRING

    def column(*values: bytes) -> Any:
        made = pa.array(values, pa.binary())
        return pa.Array.from_buffers(pa.string(), len(made), made.buffers())

    check_values(STRING, column("\u00e9".encode(), b"a"))
    return all(
        is_refused(lambda values=values: check_values(STRING, column(*values)), "TYP021")  # type: ignore[misc]
        for values in ((b"\xff",), (b"a", b"\xff\xfe"), (b"\xc3", b"\xc3"))
    )


def _nothing_but_null() -> bool:
    """Check that a delete of null deletes rows with null, also in a column that allows only null (DEL020)."""
    import numpy as np
    import pyarrow as pa

    from spec_ref.columnar.deletes.equality_deletes import EqualityDeleteSet
    from spec_ref.data_types.types import UNKNOWN

    found = EqualityDeleteSet([UNKNOWN], [pa.nulls(1)], np.array([9])).deleted_mask([pa.nulls(3)], 3, 1)
    return bool(found.tolist() == [True, True, True])


READ_AS = {
    "int": {"long"},
    "float": {"double"},
    "decimal(9, 2)": {"decimal(18, 2)"},
    "date": {"timestamp", "timestamp_ns"},
    "binary": {"string"},
    "fixed[16]": {"uuid"},
}
"""The other types as which a column may be read: promotions of v3 (EVO003 to EVO005), and omitted annotations."""

COLUMN_TYPES = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(9, 2)",
    "decimal(18, 2)",
    "decimal(9, 3)",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "timestamp_ns",
    "timestamptz_ns",
    "string",
    "uuid",
    "fixed[16]",
    "fixed[4]",
    "binary",
)


def _readable() -> bool:
    """Check that a file's column can be read as a type that it is promoted to, and as no other (EVO003)."""
    from spec_ref.columnar.schemas.column_projection import compile_projection
    from spec_ref.data_types.types import NestedField, StructType
    from spec_ref.schemas.column_projection import FileColumns
    from spec_ref.schemas.type_json import type_from_json

    def field(type_: str) -> Any:
        return NestedField(1, "a", required=False, type=type_from_json(type_))

    def read(old: str, new: str) -> Any:
        return compile_projection([field(new)], FileColumns(StructType((field(old),)), mapped=False), {})

    return all(
        is_refused(lambda: read(old, new), "EVO003") is (old != new and new not in READ_AS.get(old, ()))  # noqa: B023
        for old in COLUMN_TYPES
        for new in COLUMN_TYPES
    )


def _row_ids() -> bool:
    """Check that a file whose row ids would exceed a long is refused, also among many files (LIN019)."""
    from spec_ref.columnar.manifests.entry_columns import column_batches
    from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile
    from spec_ref.manifests import read_manifest
    from tools.derive.manifests import entry, manifest

    def found(first: int) -> list[int]:
        data = manifest(3, [entry(1), entry(2)])
        listed = ManifestFile(
            manifest_path="m",
            manifest_length=len(data),
            partition_spec_id=0,
            content=ManifestContent.DATA,
            sequence_number=1,
            min_sequence_number=1,
            added_snapshot_id=1,
            added_files_count=2,
            existing_files_count=0,
            deleted_files_count=0,
            added_rows_count=20,
            existing_rows_count=0,
            deleted_rows_count=0,
            first_row_id=first,
        )
        read = read_manifest(data, manifest_file=listed)
        return [one for columns in column_batches(read) for one in columns.first_row_id.values.tolist()]

    last = (1 << 63) - 11
    return found(last) == [last, last + 10] and is_refused(lambda: found(last + 1))


def _no_json() -> bool:
    """Check that documents of the removed format refuse values that JSON cannot represent, even if any is allowed."""
    from spec_ref.table_metadata.legacy_json import read_content_file, read_scan_task

    file = {
        "spec-id": 0,
        "content": "DATA",
        "file-path": "a",
        "file-format": "AVRO",
        "record-count": 1,
        "file-size-in-bytes": 1,
    }
    schema = {"type": "struct", "schema-id": 0, "fields": []}
    task = {"schema": schema, "spec": {"spec-id": 0, "fields": []}, "data-file": file}

    def both(value: Any) -> tuple[bool, bool]:
        return (
            is_refused(lambda: read_content_file({**file, "partition": {"1000": value}})),
            is_refused(lambda: read_scan_task({**task, "residual-filter": {"value": value}})),
        )

    return both(1.5) == (False, False) and all(both(one) == (True, True) for one in (math.nan, [{1: 2}], b"a"))


# Limits that SECURITY.md promises


def _large_headers() -> bool:
    """Check that the limit on a header applies to all entries together."""
    from spec_ref.encodings.avro.container import ContainerLimits, open_container

    data = avro.header({"avro.schema": '"int"', "avro.codec": "null", "a": "b" * 50, "c": "d" * 50})
    size = len(data) - len(avro.long(0) + avro.SYNC)
    open_container(data, "AVR014", ContainerLimits(header_bytes=size))
    return is_refused(lambda: open_container(data, "AVR014", ContainerLimits(header_bytes=size - 1)))


def _many_types() -> bool:
    """Check the limit on types in a short schema in which each type contains the previous one twice."""
    from spec_ref.encodings.avro.types import parse_schema

    def doubled(times: int) -> bytes:
        made: Any = "int"
        for number in range(times):
            fields = [{"name": "a", "type": made}, {"name": "b", "type": f"r{number - 1}" if number else "int"}]
            made = {"type": "record", "name": f"r{number}", "fields": fields}
        return json.dumps(made).encode()

    parse_schema(doubled(15), "AVR014")
    return is_refused(lambda: parse_schema(doubled(20), "AVR014"))


def _deep_types() -> bool:
    """Check that an object around a type counts as one level, and that 150 levels are accepted."""
    from spec_ref.encodings.avro.types import parse_schema

    made: Any = "int"
    for _ in range(150):
        made = {"type": made}
    return str(parse_schema(json.dumps(made).encode(), "AVR014")) == str(parse_schema(b'"int"', "AVR014"))


def _empty_items() -> bool:
    """Check that items of zero bytes are limited to 2**20, because no file size limits them."""
    from spec_ref.encodings.avro.types import parse_schema
    from spec_ref.encodings.avro.values import decode_all

    schema = parse_schema(b'{"type": "array", "items": "null"}', "AVR014")

    def read(count: int) -> int:
        return len(decode_all(schema, 1, avro.long(count) + avro.long(0), "AVR014")[0])

    return read(1 << 20) == 1 << 20 and is_refused(lambda: read((1 << 20) + 1))


def _large_footers() -> bool:
    """Check that the payload of a Puffin file is limited to 32 MiB."""
    from spec_ref.encodings.puffin.file import read_puffin

    def file(size: int) -> bytes:
        payload = b'{"blobs": []}'.ljust(size)
        return b"PFA1PFA1" + payload + struct.pack("<I", size) + bytes(4) + b"PFA1"

    read_puffin(file(1 << 10))
    return is_refused(lambda: read_puffin(file((32 << 20) + 1)), "PUF006")


# Schemas of Parquet


def _node(name: str, id_: int | None, *children: Any, **members: Any) -> Any:
    from spec_ref.data_files.parquet_thrift import ParquetNode

    given = {"physical": None, "length": None, "logical": None, "repetition": "optional", **members}
    return ParquetNode(name=name, field_id=id_, children=children, **given)


def _levels() -> bool:
    """Check that two-level lists are not Iceberg lists (PQT002), regardless of the repeated field's content."""
    from spec_ref.data_files.parquet_schema import check_parquet_schema

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
    """Check that redundant annotations of an integer have no effect, while others do (PQT003)."""
    from spec_ref.data_files.parquet_schema import check_parquet_schema

    def codes(physical: str, bits: int, *, signed: bool) -> list[str]:
        column = _node("a", 1, physical=physical, logical="INTEGER", parameters=(bits, signed))
        return [one.requirement for one in check_parquet_schema(_node("table", None, column))]

    return (
        not codes("int32", 32, signed=True)
        and not codes("int64", 64, signed=True)
        and codes("int32", 8, signed=True) == ["PQT003"]
    )


def _header_of_v1() -> bool:
    """Check that a manifest of v1 has no header key for its content, and one of v2 has it (MAN010)."""
    from spec_ref.core.versions import V1, V2
    from spec_ref.manifest_lists.manifest_file import ManifestContent
    from spec_ref.manifests.writer import build_header
    from spec_ref.partitioning.spec import UNPARTITIONED
    from spec_ref.schemas.schema import Schema

    def keys(version: Any) -> set[str]:
        return {*build_header(UNPARTITIONED, Schema(()), version, ManifestContent.DATA)}

    return "content" not in keys(V1) and "content" in keys(V2)


def values() -> dict[str, Check]:
    """Return the checks for values of every type, and for file schemas."""
    return {
        **{f"of {one}": lambda one=one: _of_type(one) for one in TAKES},  # type: ignore[misc]
        **{f"as Avro's {one}": lambda one=one: _encoded(one) for one in ENCODED},  # type: ignore[misc]
        "lone surrogates": _lone_surrogates,
        "no variant": _no_variant,
        "no text": _no_text,
        "header of v1": _header_of_v1,
        "nothing but null": _nothing_but_null,
        "readable": _readable,
        "row ids": _row_ids,
        "no JSON": _no_json,
        "limit of headers": _large_headers,
        "limit of types": _many_types,
        "depth of types": _deep_types,
        "limit of empty items": _empty_items,
        "limit of footers": _large_footers,
        "Parquet's lists": _levels,
        "Parquet's integers": _annotated,
    }
