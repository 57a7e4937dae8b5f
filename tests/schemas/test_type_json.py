import json
import time
import uuid
from typing import Any

import pytest
from hypothesis import given

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    DOUBLE,
    STRING,
    UUID,
    DecimalType,
    EdgeAlgorithm,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.data_types.values import check_value
from spec_ref.schemas.type_json import MAX_DEPTH, type_from_json, type_to_json
from tools.value_strategies import types

PLAIN = (
    "unknown boolean int long float double date time timestamp timestamptz timestamp_ns timestamptz_ns string uuid "
    "binary variant"
)


@pytest.mark.parametrize("text", PLAIN.split())
def test_types_without_parameters_are_their_name(text: str) -> None:
    assert type_to_json(type_from_json(text)) == text


@pytest.mark.parametrize(
    ("text", "type_", "canonical"),
    [
        ("fixed[16]", FixedType(16), "fixed[16]"),
        ("decimal(9,2)", DecimalType(9, 2), "decimal(9, 2)"),
        ("decimal(9, 2)", DecimalType(9, 2), "decimal(9, 2)"),
        ("geometry(srid:4326)", GeometryType("srid:4326"), "geometry(srid:4326)"),
        ("geography(srid:4326, spherical)", GeographyType("srid:4326"), "geography(srid:4326, spherical)"),
        # JSC005: whitespace around parameters and separators
        ("fixed[ 16 ]", FixedType(16), "fixed[16]"),
        ("decimal( 9 , 2 )", DecimalType(9, 2), "decimal(9, 2)"),
        ("decimal(\t9,\n2)", DecimalType(9, 2), "decimal(9, 2)"),
        ("geometry( srid:4326 )", GeometryType("srid:4326"), "geometry(srid:4326)"),
        (
            "geography( srid:4326 ,karney )",
            GeographyType("srid:4326", EdgeAlgorithm.KARNEY),
            "geography(srid:4326, karney)",
        ),
        # contradiction B13: parameters that are not given have their defaults, and are written
        ("geometry", GeometryType("OGC:CRS84"), "geometry(OGC:CRS84)"),
        ("geography", GeographyType("OGC:CRS84"), "geography(OGC:CRS84, spherical)"),
        ("geography(EPSG:4326)", GeographyType("EPSG:4326"), "geography(EPSG:4326, spherical)"),
        # a coordinate reference system is any string, never looked into
        ("geometry(any (odd) name, 2)", GeometryType("any (odd) name, 2"), "geometry(any (odd) name, 2)"),
        ("geography(a, b, thomas)", GeographyType("a, b", EdgeAlgorithm.THOMAS), "geography(a, b, thomas)"),
        ('geometry({"type": "x"})', GeometryType('{"type": "x"}'), 'geometry({"type": "x"})'),
        # open cases: the text does not rule them out
        ("decimal(5,10)", DecimalType(5, 10), "decimal(5, 10)"),
        ("decimal(9,-2)", DecimalType(9, -2), "decimal(9, -2)"),
        ("fixed[0]", FixedType(0), "fixed[0]"),
    ],
)
def test_types_with_parameters(text: str, type_: Type, canonical: str) -> None:
    assert type_from_json(text) == type_
    assert type_to_json(type_) == canonical
    assert type_from_json(canonical) == type_


EXAMPLES = [
    (
        {
            "type": "struct",
            "fields": [
                {
                    "id": 1,
                    "name": "id",
                    "required": True,
                    "type": "uuid",
                    "initial-default": "0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb",
                    "write-default": "ec5911be-b0a7-458c-8438-c9a3e53cffae",
                },
                {
                    "id": 2,
                    "name": "data",
                    "required": False,
                    "type": {"type": "list", "element-id": 3, "element-required": True, "element": "string"},
                },
            ],
        },
        StructType(
            (
                NestedField(
                    1,
                    "id",
                    True,
                    UUID,
                    initial_default=uuid.UUID("0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb"),
                    write_default=uuid.UUID("ec5911be-b0a7-458c-8438-c9a3e53cffae"),
                ),
                NestedField(2, "data", False, ListType(3, STRING)),
            )
        ),
    ),
    (
        {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value-required": False, "value": "double"},
        MapType(4, STRING, 5, DOUBLE, value_required=False),
    ),
]


@pytest.mark.parametrize(("example", "type_"), EXAMPLES, ids=["struct", "map"])
def test_the_nested_examples_of_appendix_c(example: dict[str, Any], type_: Type) -> None:
    assert type_from_json(example) == type_
    assert type_to_json(type_) == example
    # The order of the members of an object has no meaning, and unknown ones are ignored.
    assert type_from_json({"later": 1, **dict(reversed(example.items()))}) == type_


@given(types())
def test_a_type_comes_back_from_its_json(type_: Type) -> None:
    assert type_from_json(json.loads(json.dumps(type_to_json(type_)))) == type_


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Int",
        "int ",
        " int",
        "integer",
        "struct",
        "list",
        "fixed",
        "fixed[]",
        "fixed[-1]",
        "fixed[16",
        "fixed(16)",
        "fixed[1.0]",
        "fixed[٣]",
        "fixed[2147483648]",
        "fixed[" + "9" * 5000 + "]",
        "fixed [16]",
        "decimal",
        "decimal(9)",
        "decimal(9,2,1)",
        "decimal(9 2)",
        "decimal(0,0)",
        "decimal(39,0)",
        "decimal(09,2)",
        "decimal(9,+2)",
        "decimal(9,1000)",
        "decimal(9, 2",
        "decimal (9, 2)",
        "geometry()",
        "geometry( )",
        "geometry[srid:4326]",
        "geography()",
        "geography(srid:4326, flat)",
        "geography(srid:4326, Spherical)",
        "geography(srid:4326,)",
        "geography(, spherical)",
        "geometry(\ud800)",
        "timestamp_us",
        "variant()",
    ],
)
def test_other_strings_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        type_from_json(text)


@pytest.mark.parametrize("precision", ["9" * 5000, "٩", "09", "-1"])
def test_the_range_of_a_precision_is_reported_whatever_the_text(precision: str) -> None:
    with pytest.raises(SpecError, match="JSC003") as refused:
        type_from_json(f"decimal({precision},2)")
    assert refused.value.violation.expected == "1 to 38, in ASCII digits without leading zeros"


FIELD = {"id": 1, "name": "a", "required": True, "type": "int"}
LIST = {"type": "list", "element-id": 1, "element-required": True, "element": "int"}
MAP = {"type": "map", "key-id": 1, "key": "int", "value-id": 2, "value-required": True, "value": "int"}


def _struct(**changes: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": [{**FIELD, **changes}]}


def _without(json: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in json.items() if key != name}


@pytest.mark.parametrize(
    "bad",
    [
        None,
        1,
        [],
        {},
        {"type": "int"},
        {"type": ["struct"]},
        {"type": "struct"},
        {"type": "struct", "fields": {}},
        {"type": "struct", "fields": ["int"]},
        *({"type": "struct", "fields": [_without(FIELD, name)]} for name in FIELD),
        *(_without(LIST, name) for name in LIST),
        *(_without(MAP, name) for name in MAP),
        _struct(id=True),
        _struct(id=1.0),
        _struct(id="1"),
        _struct(id=2**31),
        _struct(name=1),
        _struct(name="\ud800"),
        _struct(required="true"),
        _struct(required=1),
        _struct(doc=1),
        _struct(type=None),
        _struct(type={"type": "string"}),
        {**LIST, "element-id": None},
        {**MAP, "value-required": 0},
        _struct(**{"initial-default": 2**31}),
        _struct(**{"write-default": "1"}),
        _struct(type="geometry", **{"initial-default": "POINT (1 2)"}),
        _struct(type="unknown", **{"write-default": 1}),
        _struct(type="variant", **{"write-default": {}}),
        _struct(type={"type": "struct", "fields": [FIELD]}, **{"initial-default": {"1": 1}}),
        _struct(type={"type": "struct", "fields": [FIELD]}, **{"initial-default": []}),
    ],
)
def test_malformed_objects_are_refused(bad: object) -> None:
    with pytest.raises(SpecError):
        type_from_json(bad)


def test_an_error_names_the_place_in_the_json() -> None:
    with pytest.raises(SpecError) as caught:
        type_from_json(_struct(type={**LIST, "element": _struct(type="decimal(39, 0)")}))
    assert caught.value.violation.path == "/fields/0/type/element/fields/0/type"


def test_the_default_of_a_struct_is_an_empty_struct() -> None:
    example = _struct(type={"type": "struct", "fields": [FIELD]}, **{"initial-default": {}})
    type_ = type_from_json(example)
    assert isinstance(type_, StructType)
    assert type_.fields[0].initial_default == {}
    assert type_to_json(type_) == example


@pytest.mark.parametrize(
    ("type_", "negative", "positive"),
    [
        ("float", "-0.0", "0.0"),
        ("double", "-0.0", "0.0"),
        ({**LIST, "element": "double"}, "[-0.0]", "[0.0]"),
        (
            {**MAP, "key": "string", "value": "double"},
            '{"keys": ["a"], "values": [-0.0]}',
            '{"keys": ["a"], "values": [0.0]}',
        ),
    ],
)
def test_a_default_keeps_the_sign_of_zero(type_: Any, negative: str, positive: str) -> None:  # SVJ001
    types = []
    for text in (negative, positive):
        read = type_from_json(
            _struct(type=type_, **{"initial-default": json.loads(text), "write-default": json.loads(text)})
        )
        (written,) = type_to_json(read)["fields"]
        assert [json.dumps(written[name]) for name in ("initial-default", "write-default")] == [text, text]
        types.append(read)
    assert types[0] != types[1]
    assert {types[0], types[1]} == {*types}


def test_doc_and_null_defaults() -> None:
    type_ = type_from_json(_struct(doc="what it is", **{"initial-default": None}))
    assert type_to_json(type_) == _struct(doc="what it is")
    nulls = type_from_json(_struct(doc=None, **{"initial-default": None, "write-default": None}))
    assert type_to_json(nulls) == _struct()


def _deep(levels: int) -> object:
    json: object = "int"
    for _ in range(levels - 1):
        json = {"type": "struct", "fields": [{**FIELD, "type": json}]}
    return json


def test_types_as_deep_as_the_limit_can_be_walked() -> None:
    type_ = type_from_json(_deep(MAX_DEPTH))
    assert type_to_json(type_) == _deep(MAX_DEPTH)
    assert type_ == type_from_json(_deep(MAX_DEPTH))
    assert hash(type_) == hash(type_from_json(_deep(MAX_DEPTH)))
    value: object = 1
    for _ in range(MAX_DEPTH - 1):
        value = {1: value}
    check_value(type_, value)


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 100_000])
def test_types_beyond_the_limit_are_refused(levels: int) -> None:
    with pytest.raises(SpecError, match=f"JSC006: .*; expected at most {MAX_DEPTH} levels"):
        type_from_json(_deep(levels))


def test_hostile_strings_are_refused_at_once() -> None:
    start = time.process_time()
    for opening in ("decimal(", "fixed[", "geography(", "geometry("):
        for middle in (" " * 200_000, " " * 200_000 + ",", "," * 200_000):
            for closing in ("", "x", ")", "]"):
                # Runs of commas name a coordinate reference system of a geometry, if an odd one.
                if (opening, closing) != ("geometry(", ")") or not middle.strip():
                    with pytest.raises(SpecError):
                        type_from_json(opening + middle + closing)
    assert time.process_time() - start < 50  # what goes back over 200,000 characters takes hours
