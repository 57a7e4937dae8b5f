"""ORC001 to ORC008: Iceberg types in ORC."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pytest

from spec_ref.core.errors import SpecError
from spec_ref.data_files.orc_schema import arrow_schema, field_attributes, struct_from_orc
from spec_ref.data_types.types import (
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    VARIANT,
    ListType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.schemas.name_mapping import read_name_mapping
from spec_ref.schemas.type_json import type_from_json

GOLDEN = Path(__file__).parents[2] / "vectors" / "golden" / "data-files"

# The table of Appendix A: the ORC type as Arrow shows it, and the attributes.
TABLE = {
    "boolean": (pa.bool_(), {}),
    "int": (pa.int32(), {}),
    "long": (pa.int64(), {}),
    "float": (pa.float32(), {}),
    "double": (pa.float64(), {}),
    "decimal(10,3)": (pa.decimal128(10, 3), {}),
    "date": (pa.date32(), {}),
    "time": (pa.int64(), {"iceberg.long-type": "TIME"}),
    "timestamp": (pa.timestamp("ns"), {"iceberg.timestamp-unit": "MICROS"}),
    "timestamptz": (pa.timestamp("ns", "UTC"), {"iceberg.timestamp-unit": "MICROS"}),
    "timestamp_ns": (pa.timestamp("ns"), {"iceberg.timestamp-unit": "NANOS"}),
    "timestamptz_ns": (pa.timestamp("ns", "UTC"), {"iceberg.timestamp-unit": "NANOS"}),
    "string": (pa.string(), {}),
    "uuid": (pa.binary(), {"iceberg.binary-type": "UUID"}),
    "fixed[5]": (pa.binary(), {"iceberg.binary-type": "FIXED", "iceberg.length": "5"}),
    "binary": (pa.binary(), {}),
    "geometry": (pa.binary(), {"iceberg.binary-type": "GEOMETRY"}),
    "geography": (pa.binary(), {"iceberg.binary-type": "GEOGRAPHY"}),
}


def written(made: StructType) -> pa.Schema:
    sink = io.BytesIO()
    orc.write_table(arrow_schema(made).empty_table(), sink)
    return orc.ORCFile(io.BytesIO(sink.getvalue())).schema


@pytest.mark.parametrize("text", TABLE)
def test_each_type_is_stored_as_the_table_says_and_read_back(text):
    type_ = type_from_json(text)
    made = StructType((NestedField(7, "c", True, type_), NestedField(9, "o", False, type_)))
    schema = written(made)
    arrow, attributes = TABLE[text]
    assert schema.field("c").type == arrow
    assert field_attributes(schema.field("c")) == {"iceberg.id": "7", "iceberg.required": "true", **attributes}
    assert struct_from_orc(schema) == made


def test_variants_lists_and_structs_come_back():
    inner = StructType((NestedField(4, "v", False, VARIANT), NestedField(5, "l", True, ListType(6, INT, False))))
    made = StructType((NestedField(1, "s", False, inner),))
    assert struct_from_orc(written(made)) == made


def test_unknown_columns_are_not_written():  # TYP026
    made = StructType((NestedField(1, "a", True, INT), NestedField(2, "u", False, UNKNOWN)))
    assert struct_from_orc(written(made)).fields == made.fields[:1]


def test_lists_and_maps_of_unknown_have_no_column():
    for type_ in (ListType(2, UNKNOWN), MapType(2, STRING, 3, UNKNOWN)):
        with pytest.raises(SpecError, match=r"/m/(element|value): ORC005"):
            arrow_schema(StructType((NestedField(1, "m", False, type_),)))


def field(type_, name="c", **attributes):
    return pa.field(
        name,
        type_,
        metadata={key.replace("_", "-").replace("iceberg-", "iceberg."): value for key, value in attributes.items()},
    )


def read(*fields, mapping=None):
    return struct_from_orc(pa.schema(fields), mapping).fields


def test_a_timestamp_without_unit_is_of_microseconds():
    assert read(field(pa.timestamp("ns"), iceberg_id="1"))[0].type == TIMESTAMP


@pytest.mark.parametrize("type_", [pa.int8(), pa.int16()])
def test_small_integers_are_ints(type_):  # ORC006
    assert read(field(type_, iceberg_id="1"))[0].type == INT


def test_a_column_is_optional_unless_it_says_true():
    for text, required in (("true", True), ("false", False), ("TRUE", False), ("1", False)):
        assert read(field(pa.int32(), iceberg_id="1", iceberg_required=text))[0].required is required
    assert read(field(pa.int32(), iceberg_id="1"))[0].required is False


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (field(pa.int32(), iceberg_id="x"), "ORC001"),
        (field(pa.int32(), iceberg_id=""), "ORC001"),
        (field(pa.int32(), iceberg_id="1" * 5000), "ORC001"),
        (field(pa.binary(), iceberg_id="1", iceberg_binary_type="FIXED"), "ORC002"),
        (field(pa.binary(), iceberg_id="1", iceberg_binary_type="FIXED", iceberg_length="-1"), "ORC002"),
        (field(pa.timestamp("ns"), iceberg_id="1", iceberg_timestamp_unit="MILLIS"), "ORC003"),
        (field(pa.struct([("metadata", pa.binary())]), iceberg_id="1", iceberg_struct_type="VARIANT"), "ORC005"),
        (field(pa.dense_union([pa.field("a", pa.int32())]), iceberg_id="1"), "ORC008"),
    ],
)
def test_what_is_no_column_of_iceberg_is_refused(wrong, code):
    with pytest.raises(SpecError, match=f"/c: {code}"):
        read(wrong)


def test_a_file_without_ids_needs_a_name_mapping():
    fields = [field(pa.int64(), "a"), field(pa.list_(pa.field("item", pa.string())), "l"), field(pa.int64(), "rest")]
    with pytest.raises(SpecError, match="/a: ORC001"):
        read(*fields)
    mapping = read_name_mapping(
        [
            {"field-id": 1, "names": ["a"]},
            {"field-id": 2, "names": ["l"], "fields": [{"field-id": 3, "names": ["element"]}]},
        ]
    )
    assert read(*fields, mapping=mapping) == (
        NestedField(1, "a", False, LONG),
        NestedField(2, "l", False, ListType(3, STRING, False)),
    )


def test_columns_that_iceberg_java_wrote_are_those_of_the_table():
    rows = json.loads((GOLDEN / "index.json").read_text())["data-files"]
    entry = next(row for row in rows if row["file"].endswith("orc"))
    expected = type_from_json({name: entry["schema"][name] for name in ("type", "fields")})
    found = struct_from_orc(orc.ORCFile(str(GOLDEN / entry["file"])).schema)
    assert [field.id for field in found.fields] == [field.id for field in expected.fields]
    assert [str(field.type) for field in found.fields] == [str(field.type) for field in expected.fields]
