"""PQT001 to PQT007: Iceberg types in Parquet, as read by this project's own reader of footers."""

import io
import json
import struct
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.data_files.parquet_arrow_types import WRITER_OPTIONS, arrow_schema
from spec_ref.data_files.parquet_schema import (
    check_parquet_schema,
    struct_from_parquet,
)
from spec_ref.data_files.parquet_thrift import ParquetNode, read_parquet_schema
from spec_ref.data_types.decimals import decimal_size
from spec_ref.data_types.types import INT, LONG, STRING, UNKNOWN, VARIANT, ListType, MapType, NestedField, StructType
from spec_ref.schemas.name_mapping import read_name_mapping
from spec_ref.schemas.type_json import type_from_json

GOLDEN = Path(__file__).parents[2] / "vectors" / "golden" / "data-files"

# The table of Appendix A: physical type, logical type, parameters (None is a default that is left out) and length.
TABLE = {
    "boolean": ("boolean", None, (), None),
    "int": ("int32", None, (), None),
    "long": ("int64", None, (), None),
    "float": ("float", None, (), None),
    "double": ("double", None, (), None),
    "decimal(9,2)": ("int32", "DECIMAL", (9, 2), None),
    "decimal(10,2)": ("int64", "DECIMAL", (10, 2), None),
    "decimal(18,0)": ("int64", "DECIMAL", (18, 0), None),
    "decimal(19,2)": ("fixed_len_byte_array", "DECIMAL", (19, 2), 9),
    "decimal(38,10)": ("fixed_len_byte_array", "DECIMAL", (38, 10), 16),
    "date": ("int32", "DATE", (), None),
    "time": ("int64", "TIME", ("MICROS", False), None),
    "timestamp": ("int64", "TIMESTAMP", ("MICROS", False), None),
    "timestamptz": ("int64", "TIMESTAMP", ("MICROS", True), None),
    "timestamp_ns": ("int64", "TIMESTAMP", ("NANOS", False), None),
    "timestamptz_ns": ("int64", "TIMESTAMP", ("NANOS", True), None),
    "string": ("byte_array", "STRING", (), None),
    "uuid": ("fixed_len_byte_array", "UUID", (), 16),
    "fixed[5]": ("fixed_len_byte_array", None, (), 5),
    "binary": ("byte_array", None, (), None),
    "geometry(srid:5070)": ("byte_array", "GEOMETRY", ("srid:5070",), None),
    "geography(srid:4267, spherical)": ("byte_array", "GEOGRAPHY", ("srid:4267", None), None),
}


def written(struct_type: StructType) -> bytes:
    sink = io.BytesIO()
    pq.write_table(arrow_schema(struct_type).empty_table(), sink, **WRITER_OPTIONS)
    return sink.getvalue()


def column(type_text: str, node: ParquetNode) -> None:
    assert (node.physical, node.logical, node.parameters, node.length) == TABLE[type_text]


@pytest.mark.parametrize("text", TABLE)
def test_each_type_is_stored_as_the_table_says_and_read_back(text):
    type_ = type_from_json(text)
    made = StructType((NestedField(7, "c", True, type_), NestedField(9, "o", False, type_)))
    root = read_parquet_schema(written(made))
    column(text, root.children[0])
    assert [(child.field_id, child.repetition) for child in root.children] == [(7, "required"), (9, "optional")]
    assert struct_from_parquet(root) == made
    assert list(check_parquet_schema(root)) == []


NESTED = StructType(
    (
        NestedField(1, "l", False, ListType(2, ListType(3, INT, False), True)),
        NestedField(4, "m", True, MapType(5, STRING, 6, StructType((NestedField(7, "a.b", True, LONG),)), False)),
        NestedField(
            8, "s", False, StructType((NestedField(9, "s", False, StructType((NestedField(10, "s", True, INT),))),))
        ),
    )
)


def test_ids_stand_at_every_level():
    root = read_parquet_schema(written(NESTED))
    assert struct_from_parquet(root) == NESTED
    (repeated,) = root.children[0].children
    assert (root.children[0].logical, repeated.name, repeated.field_id) == ("LIST", "list", None)


@given(st.integers(1, 38))
def test_a_decimal_takes_the_fewest_bytes(precision):
    length = decimal_size(precision)
    largest = 10**precision - 1
    assert -(1 << 8 * length - 1) <= -largest <= largest < 1 << 8 * length - 1
    assert length == 1 or not largest < 1 << 8 * (length - 1) - 1


def test_unknown_columns_are_not_written():
    made = StructType((NestedField(1, "a", True, INT), NestedField(2, "u", False, UNKNOWN)))
    assert struct_from_parquet(read_parquet_schema(written(made))).fields == made.fields[:1]


def test_lists_and_maps_of_unknown_have_no_column():
    for type_ in (ListType(2, UNKNOWN), MapType(2, STRING, 3, UNKNOWN)):
        with pytest.raises(SpecError, match=r"/m/(element|value): PQT006"):
            arrow_schema(StructType((NestedField(1, "m", False, type_),)))


def without_ids() -> ParquetNode:
    sink = io.BytesIO()
    columns = {
        "id": pa.array([1], pa.int64()),
        "a": pa.array([{"x": 1}]),
        "l": pa.array([[1]]),
        "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "rest": pa.array([1]),
    }
    pq.write_table(pa.table(columns), sink)
    return read_parquet_schema(sink.getvalue())


def test_a_file_without_ids_is_refused_without_name_mapping():
    with pytest.raises(SpecError, match="/id: PQT001"):
        struct_from_parquet(without_ids())


def test_a_name_mapping_gives_ids_and_leaves_out_what_it_does_not_name():
    mapping = read_name_mapping(
        [
            {"field-id": 1, "names": ["id", "key"]},
            {"field-id": 2, "names": ["a"], "fields": [{"field-id": 3, "names": ["x"]}]},
            {"field-id": 4, "names": ["l"], "fields": [{"field-id": 5, "names": ["element"]}]},
            {
                "field-id": 6,
                "names": ["m"],
                "fields": [{"field-id": 7, "names": ["key"]}, {"field-id": 8, "names": ["value"]}],
            },
        ]
    )
    assert struct_from_parquet(without_ids(), mapping) == StructType(
        (
            NestedField(1, "id", False, LONG),
            NestedField(2, "a", False, StructType((NestedField(3, "x", False, LONG),))),
            NestedField(4, "l", False, ListType(5, LONG, False)),
            NestedField(6, "m", False, MapType(7, STRING, 8, LONG, False)),
        )
    )


def test_ids_of_the_file_win_over_a_name_mapping():
    mapping = read_name_mapping([{"field-id": 99, "names": ["l"]}])
    assert struct_from_parquet(read_parquet_schema(written(NESTED)), mapping) == NESTED


def leaf(physical, logical=None, parameters=(), length=None, field_id=1, repetition="required", name="c"):
    return ParquetNode(name, repetition, physical, length, field_id, logical, parameters)


def group(name, *children, logical=None, field_id=None, repetition="optional"):
    return ParquetNode(name, repetition, None, None, field_id, logical, (), children)


@pytest.mark.parametrize(
    ("node", "text", "requirement"),
    [
        (leaf("int32", "INTEGER", (8, True)), "int", "PQT003"),
        (leaf("int32", "INTEGER", (32, False)), "long", "PQT003"),
        (leaf("int64", "DECIMAL", (9, 2)), "decimal(9,2)", "PQT003"),
        (leaf("fixed_len_byte_array", "DECIMAL", (20, 2), 16), "decimal(20,2)", "PQT003"),
        (leaf("byte_array", "DECIMAL", (20, 2)), "decimal(20,2)", "PQT003"),
        (leaf("int64", "TIMESTAMP", ("MILLIS", True)), "timestamptz", "PQT004"),
        (leaf("int96"), "timestamptz", "PQT004"),
        (leaf("int32", "TIME", ("MILLIS", True)), "time", "PQT004"),
        (leaf("byte_array", "ENUM"), "string", "PQT004"),
        (leaf("int32", "UNKNOWN"), "unknown", "PQT006"),
    ],
)
def test_other_storage_is_read_and_reported_of(node, text, requirement):
    root = group("root", node)
    assert struct_from_parquet(root).fields[0].type == type_from_json(text)
    assert [(one.requirement, one.path) for one in check_parquet_schema(root)] == [(requirement, "/c")]


@pytest.mark.parametrize(
    "node",
    [
        leaf("int32", "INTEGER", (32, True)),
        leaf("byte_array", "GEOMETRY", (None,)),
        leaf("byte_array", "GEOGRAPHY", (None, None)),
    ],
)
def test_annotations_that_say_what_is_meant_anyway_are_no_findings(node):
    assert list(check_parquet_schema(group("root", node))) == []


@pytest.mark.parametrize(
    "node",
    [
        leaf("int64", "INTEGER", (64, False)),
        leaf("fixed_len_byte_array", "FLOAT16", (), 2),
        leaf("fixed_len_byte_array", "INTERVAL", (), 12),
        leaf("int64", "TIME", ("NANOS", False)),
        leaf("fixed_len_byte_array", "UUID", (), 15),
        leaf("int32", "STRING"),
    ],
)
def test_columns_of_no_iceberg_type_are_refused(node):
    with pytest.raises(SpecError, match="/c: PQT007"):
        struct_from_parquet(group("root", node))


def test_a_variant_is_known_by_its_annotation_and_its_parts_have_no_ids():
    parts = [leaf("byte_array", name=name, field_id=None) for name in ("metadata", "value")]
    root = group("root", group("v", *parts, logical="VARIANT", field_id=4))
    assert struct_from_parquet(root) == StructType((NestedField(4, "v", False, VARIANT),))
    assert list(check_parquet_schema(root)) == []
    wrong = group("root", group("v", parts[0], leaf("byte_array", name="value"), logical="VARIANT", field_id=4))
    assert [one.path for one in check_parquet_schema(wrong)] == ["/v/value"]


def test_a_list_of_two_levels_is_read_and_reported_of():
    root = group(
        "root", group("l", leaf("int32", name="array", field_id=2, repetition="repeated"), logical="LIST", field_id=1)
    )
    assert struct_from_parquet(root) == StructType((NestedField(1, "l", False, ListType(2, INT)),))
    assert [one.requirement for one in check_parquet_schema(root)] == ["PQT002"]


@pytest.mark.parametrize(
    "made",
    [
        group("l", leaf("int32"), logical="LIST", field_id=1),
        group("l", logical="LIST", field_id=1),
        group("m", group("kv", leaf("int32"), repetition="repeated"), logical="MAP", field_id=1),
        leaf("int32", repetition="repeated"),
    ],
)
def test_groups_that_are_no_lists_or_maps_are_refused(made):
    with pytest.raises(SpecError, match="PQT002"):
        struct_from_parquet(group("root", made))


def test_columns_that_iceberg_java_wrote_are_those_of_the_table():
    entry = next(
        row for row in json.loads((GOLDEN / "index.json").read_text())["data-files"] if row["file"].endswith("parquet")
    )
    with (GOLDEN / entry["file"]).open("rb") as file:
        root = read_parquet_schema(file)
    expected = type_from_json({name: entry["schema"][name] for name in ("type", "fields")})
    found = struct_from_parquet(root)
    assert [field.id for field in found.fields] == [field.id for field in expected.fields]
    assert [str(field.type) for field in found.fields] == [str(field.type) for field in expected.fields]
    assert list(check_parquet_schema(root)) == []


def test_every_cut_of_a_file_is_refused():
    data = written(NESTED)
    for end in range(0, len(data), 7):
        with pytest.raises(SpecError, match="PQT001"):
            read_parquet_schema(data[:end])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_footer_is_refused_or_read(data):
    file = bytearray(written(NESTED))
    footer = len(file) - 8 - struct.unpack("<I", file[-8:-4])[0]
    for _ in range(data.draw(st.integers(1, 3))):
        file[data.draw(st.integers(footer, len(file) - 1))] = data.draw(st.integers(0, 255))
    with suppress(SpecError):
        struct_from_parquet(read_parquet_schema(bytes(file)))


@pytest.mark.parametrize(
    ("type_", "flag", "number"),
    [
        # field 8 of the logical type: {1: true, 2: {2: {}}}
        (pa.timestamp("us", tz="UTC"), b"\x8c\x11\x1c\x2c\x00\x00\x00", b"\x8c\x15\x02\x1c\x2c\x00\x00\x00"),
        # field 10: {1: 8 of one byte, 2: true}
        (pa.int8(), b"\xac\x13\x08\x11\x00", b"\xac\x13\x08\x15\x02\x00"),
    ],
)
def test_a_flag_of_a_logical_type_that_is_a_number_is_refused(type_, flag, number):
    sink = io.BytesIO()
    pq.write_table(pa.table({"c": pa.array([1], type_)}), sink, store_schema=False)
    file = sink.getvalue()
    start = len(file) - 8 - struct.unpack("<I", file[-8:-4])[0]
    footer = file[start:-8]
    assert footer.count(flag) == 1
    footer = footer.replace(flag, number)
    with pytest.raises(SpecError, match=r"^PQT001: .*; found"):
        read_parquet_schema(file[:start] + footer + struct.pack("<I", len(footer)) + b"PAR1")


def test_a_list_without_its_group_is_reported():
    empty = ParquetNode(name="items", repetition="optional", physical=None, length=None, field_id=1, logical="LIST")
    root = ParquetNode(
        name="table", repetition="required", physical=None, length=None, field_id=None, logical=None, children=(empty,)
    )
    (found,) = check_parquet_schema(root)
    assert (found.requirement, found.path, found.expected) == ("PQT002", "/items", "one repeated group")


def test_an_encrypted_footer_is_reported():
    with pytest.raises(SpecError, match=r"^PQT001: .*; found 0x50415245 \('PARE'\)"):
        read_parquet_schema(b"PARE" + bytes(20) + b"PARE")


def test_a_list_that_claims_to_be_endless_is_refused():
    footer = bytes([0x15, 0x02, 0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0])
    data = b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"
    with pytest.raises(SpecError, match=r"^PQT001: .*; found \d{9,}"):
        read_parquet_schema(data)


def test_a_schema_of_millions_of_nothing_is_refused_in_bounded_time():
    count = 20_000_000
    size = bytes([count & 0x7F | 0x80, count >> 7 & 0x7F | 0x80, count >> 14 & 0x7F | 0x80, count >> 21])
    footer = bytes([0x15, 0x02, 0x19, 0xFC]) + size + bytes(count + 1)
    data = b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"
    began = time.process_time()
    with pytest.raises(SpecError, match=r"^PQT001: .*; found over \d+ values"):
        read_parquet_schema(data)
    assert time.process_time() - began < 60
