"""Iceberg types as Avro schemas (Appendix A, Avro): types and values round-trip, and fastavro agrees."""

from __future__ import annotations

import io
import json
import uuid
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_ref.avro_mapping.schema import avro_default, sanitize_name, schema_json, value_writer
from spec_ref.avro_mapping.stored_types import type_from_avro, value_reader
from spec_ref.core.errors import SpecError
from spec_ref.data_types import types as iceberg
from spec_ref.data_types.decimals import decimal_size
from spec_ref.data_types.types import ListType, MapType, NestedField, StructType, Type, kind
from spec_ref.data_types.values import value_key
from spec_ref.encodings.avro.container import write_container
from spec_ref.encodings.avro.types import from_json, parse_schema
from spec_ref.encodings.avro.values import decode_all
from spec_ref.encodings.avro.values_writer import encoder
from tools.value_strategies import primitive_types, values

CODE = "MAN001"


@pytest.mark.parametrize(
    ("type_", "avro"),
    [
        # The table of Appendix A, Avro.
        (iceberg.BOOLEAN, "boolean"),
        (iceberg.INT, "int"),
        (iceberg.LONG, "long"),
        (iceberg.FLOAT, "float"),
        (iceberg.DOUBLE, "double"),
        (iceberg.DATE, {"type": "int", "logicalType": "date"}),
        (iceberg.TIME, {"type": "long", "logicalType": "time-micros"}),
        (iceberg.TIMESTAMP, {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}),
        (iceberg.TIMESTAMPTZ, {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}),
        (iceberg.TIMESTAMP_NS, {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False}),
        (iceberg.TIMESTAMPTZ_NS, {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": True}),
        (iceberg.STRING, "string"),
        (iceberg.UUID, {"type": "fixed", "size": 16, "logicalType": "uuid", "name": "uuid_fixed"}),
        (iceberg.FixedType(7), {"type": "fixed", "size": 7, "name": "fixed_7"}),
        (iceberg.BINARY, "bytes"),
        (
            iceberg.DecimalType(9, 2),
            {"type": "fixed", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2, "name": "decimal_9_2"},
        ),
        (iceberg.GeometryType(), "bytes"),
        (iceberg.GeographyType(), "bytes"),
        (ListType(8, iceberg.INT), {"type": "array", "items": "int", "element-id": 8}),
        (ListType(8, iceberg.INT, False), {"type": "array", "items": ["null", "int"], "element-id": 8}),
        (MapType(8, iceberg.STRING, 9, iceberg.INT), {"type": "map", "values": "int", "key-id": 8, "value-id": 9}),
        (
            MapType(117, iceberg.INT, 118, iceberg.LONG),
            {
                "type": "array",
                "logicalType": "map",
                "items": {
                    "type": "record",
                    "name": "k117_v118",
                    "fields": [
                        {"name": "key", "type": "int", "field-id": 117},
                        {"name": "value", "type": "long", "field-id": 118},
                    ],
                },
            },
        ),
    ],
)
def test_each_type_has_the_avro_type_of_the_table(type_: Type, avro: Any) -> None:
    # AVR006, AVR007, AVR008, AVR012, AVR014
    json_ = schema_json(
        StructType((NestedField(1, "a", True, type_), NestedField(2, "b", False, iceberg.INT))), "table"
    )
    assert json_["fields"][0] == {"name": "a", "type": avro, "field-id": 1}
    assert json_["fields"][1] == {"name": "b", "type": ["null", "int"], "default": None, "field-id": 2}


def test_a_decimal_takes_the_fewest_bytes() -> None:
    for precision in range(1, 39):
        size = decimal_size(precision)
        largest = 10**precision - 1
        assert -(1 << 8 * size - 1) <= -largest
        assert largest < 1 << 8 * size - 1
        assert size == 1 or largest >= 1 << 8 * (size - 1) - 1  # a byte less does not hold it


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("a", "a"),
        ("a b", "a_x20b"),
        ("9x", "_9x"),
        ("a-b", "a_x2Db"),
        ("_", "_"),
        ("é", "_xE9"),
        ("a.b", "a_x2Eb"),
        ("\U0001f600", "_xD83D_xDE00"),
        ("", "_"),
        ("½", "_xBD"),
        ("a9", "a9"),
    ],
)
def test_names_are_made_legal(name: str, legal: str) -> None:
    assert sanitize_name(name) == legal


def test_names_that_become_one_stay_two() -> None:
    fields = (NestedField(1, "a b", True, iceberg.INT), NestedField(2, "a_x20b", True, iceberg.INT))
    json_ = schema_json(StructType(fields), "table")
    assert [field["name"] for field in json_["fields"]] == ["a_x20b", "a_x20b_2"]
    assert json_["fields"][0]["iceberg-field-name"] == "a b"
    fastavro.parse_schema(json_)


@st.composite
def structs(draw: st.DrawFn) -> StructType:
    """Structs of any types, with ids that are unique."""
    ids = iter(range(1, 1000))

    def nested(depth: int) -> Type:
        choice = draw(st.sampled_from(["primitive"] * 3 + ["struct", "list", "map"] * (depth > 0)))
        match choice:
            case "struct":
                return StructType(tuple(field(depth - 1) for _ in range(draw(st.integers(1, 3)))))
            case "list":
                return ListType(next(ids), nested(depth - 1), draw(st.booleans()))
            case "map":
                key = draw(st.sampled_from([iceberg.STRING, iceberg.INT, iceberg.UUID]))
                return MapType(next(ids), key, next(ids), nested(depth - 1), draw(st.booleans()))
            case _:
                return draw(
                    primitive_types().filter(lambda type_: kind(type_) not in ("unknown", "geometry", "geography"))
                )

    def field(depth: int) -> NestedField:
        return NestedField(next(ids), draw(st.text(max_size=4)), draw(st.booleans()), nested(depth))

    return StructType(tuple(field(2) for _ in range(draw(st.integers(1, 4)))))


def without_names(type_: Type) -> Any:
    """The type as ids and types alone."""
    match type_:
        case StructType(fields):
            return [(field.id, field.required, without_names(field.type)) for field in fields]
        case ListType(element_id, element, required):
            return [element_id, required, without_names(element)]
        case MapType(key_id, key, value_id, value, required):
            return [key_id, without_names(key), value_id, required, without_names(value)]
        case _:
            return type_


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(structs(), st.data())
def test_types_and_values_survive_and_fastavro_reads_the_file(struct: StructType, data: st.DataObject) -> None:
    json_ = schema_json(struct, "table")
    type_ = parse_schema(json.dumps(json_), CODE)
    assert without_names(type_from_avro(type_)) == without_names(struct)
    rows = data.draw(st.lists(values(struct), min_size=1, max_size=3))
    out = bytearray()
    write, encode = value_writer(struct), encoder(type_)
    for row in rows:
        encode(write(row), out)
    read = value_reader(type_, type_from_avro(type_))
    assert read is not None
    found = [read(row) for row in decode_all(type_, len(rows), bytes(out), CODE)]
    assert [value_key(struct, row) for row in found] == [value_key(struct, row) for row in rows]
    file = write_container({"avro.schema": json.dumps(json_)}, [(len(rows), bytes(out))], codec="null", sync=b"s" * 16)
    plain = json.loads(json.dumps(json_).replace('"logicalType"', '"x"'))  # else dates beyond 9999 are errors in it
    stripped = write_container(
        {"avro.schema": json.dumps(plain)}, [(len(rows), bytes(out))], codec="null", sync=b"s" * 16
    )
    assert len(list(fastavro.reader(io.BytesIO(stripped)))) == len(rows)
    assert fastavro.block_reader(io.BytesIO(file)).writer_schema["fields"][0]["field-id"] == struct.fields[0].id


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}]}, "AVR013"),
        ({"type": "array", "items": "int"}, "AVR013"),
        ({"type": "map", "values": "int", "key-id": 1}, "AVR013"),
        (["int", "string"], "AVR001"),
        (["null", "int", "string"], "AVR001"),
        ({"type": "array", "items": "int", "logicalType": "map"}, "AVR004"),
        ({"type": "fixed", "name": "f", "size": 4, "logicalType": "decimal", "precision": 50}, "TYP013"),
    ],
)
def test_schemas_that_stand_for_no_iceberg_type_are_refused(schema: Any, code: str) -> None:
    with pytest.raises(SpecError) as error:
        type_from_avro(from_json(schema, CODE))
    assert error.value.violation.requirement == code


def test_unions_with_null_behind_are_optional_too() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["int", "null"], "field-id": 1}]}
    assert type_from_avro(from_json(schema, CODE)) == StructType((NestedField(1, "a", False, iceberg.INT),))


@pytest.mark.parametrize(
    ("type_", "default", "avro"),
    [
        (iceberg.BOOLEAN, False, False),
        (iceberg.INT, 0, 0),
        (iceberg.LONG, -(2**63), -(2**63)),
        (iceberg.DOUBLE, 0.5, 0.5),
        (iceberg.DATE, 19_723, 19_723),
        (iceberg.TIMESTAMPTZ, -1, -1),
        (iceberg.STRING, "", ""),
        # Avro, Complex Types: the default of bytes and of a fixed is text whose code points are the bytes.
        (iceberg.BINARY, b"\x00\x7f\xff", "\x00\x7f\xff"),
        (iceberg.FixedType(2), b"\x80a", "\x80a"),
        (iceberg.UUID, uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), '\x00\x11"3DUfw\x88\x99ª»ÌÝîÿ'),
        (iceberg.DecimalType(9, 2), Decimal("-0.02"), "ÿÿÿþ"),
        (ListType(8, iceberg.INT, False), (1, None), [1, None]),
        (MapType(8, iceberg.STRING, 9, iceberg.BINARY), (("a", b"\xe9"),), {"a": "é"}),
        (MapType(8, iceberg.INT, 9, iceberg.INT), ((1, 2),), [{"key": 1, "value": 2}]),
    ],
)
def test_the_initial_default_is_the_avro_default(type_: Type, default: Any, avro: Any) -> None:  # AVR003
    fields = [NestedField(1, "a", True, type_, None, default), NestedField(2, "b", False, type_, None, default)]
    required, optional = (schema_json(StructType((field,)), "r")["fields"][0] for field in fields)
    assert json.dumps(required["default"]) == json.dumps(optional["default"]) == json.dumps(avro)
    assert optional["type"] == [required["type"], "null"]  # Avro before 1.12: a default is of the first branch
    for field in fields:
        json_ = schema_json(StructType((field,)), "r")
        fastavro.parse_schema(json.loads(json.dumps(json_)))
        (read,) = type_from_avro(from_json(json_, CODE)).fields  # type: ignore[union-attr]
        assert (read.type, read.required) == (type_, field.required)


def test_the_avro_default_of_a_struct_has_the_defaults_of_its_fields() -> None:  # AVR003
    inside = (
        NestedField(2, "x y", True, iceberg.INT, None, 5),
        NestedField(3, "n", False, iceberg.INT),
        NestedField(4, "w", False, iceberg.INT, None, None, 7),  # a write default is for new rows alone
        NestedField(5, "s", True, StructType((NestedField(6, "b", False, iceberg.BINARY, None, b"\xff"),)), None, {}),
    )
    field = NestedField(1, "p", False, StructType(inside), None, {})
    assert avro_default(field) == {"x_x20y": 5, "n": None, "w": None, "s": {"b": "ÿ"}}
    fastavro.parse_schema(schema_json(StructType((field,)), "r"))
    assert avro_default(NestedField(1, "p", False, StructType(inside))) is None
    without_value = StructType((NestedField(2, "x", True, iceberg.INT),))
    assert avro_default(NestedField(1, "p", False, without_value, None, {})) is None


def test_rows_are_written_and_read_beside_avro_defaults() -> None:  # AVR003
    struct = StructType(
        (
            NestedField(1, "a", False, iceberg.INT, None, 5),
            NestedField(2, "p", False, StructType((NestedField(3, "x", False, iceberg.STRING, None, "d"),)), None, {}),
        )
    )
    rows: list[dict[int, Any]] = [{1: None, 2: None}, {1: 5, 2: {3: None}}, {1: 6, 2: {3: "e"}}]
    json_ = schema_json(struct, "table")
    type_ = parse_schema(json.dumps(json_), CODE)
    write, encode, out = value_writer(struct), encoder(type_), bytearray()
    for row in rows:
        encode(write(row), out)
    read = value_reader(type_, struct)
    assert read is not None
    assert [read(row) for row in decode_all(type_, len(rows), bytes(out), CODE)] == rows
    file = write_container({"avro.schema": json.dumps(json_)}, [(len(rows), bytes(out))], codec="null", sync=b"s" * 16)
    by_name = [{"a": row[1], "p": row[2] and {"x": row[2][3]}} for row in rows]
    assert list(fastavro.reader(io.BytesIO(file))) == by_name


def test_a_missing_adjust_to_utc_is_false() -> None:  # AVR009
    assert type_from_avro(from_json({"type": "long", "logicalType": "timestamp-micros"}, CODE)) == iceberg.TIMESTAMP
