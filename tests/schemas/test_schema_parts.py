"""Schemas, default values, name mappings, identifier fields and reserved ids."""

import json
from typing import Any

import pytest

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import V1, V2, V3
from spec_ref.data_types import types as t
from spec_ref.json.reading import reader
from spec_ref.json.writing import writer
from spec_ref.schemas.column_projection import FileColumns, project_row
from spec_ref.schemas.default_values import effective_write_default
from spec_ref.schemas.identifier_fields import identifier_problems
from spec_ref.schemas.name_mapping import (
    find_mapped_field,
    read_name_mapping,
    write_name_mapping,
)
from spec_ref.schemas.reserved_field_ids import BY_NAME, MAX_TABLE_FIELD_ID, METADATA_COLUMNS
from spec_ref.schemas.schema import SCHEMA, Schema


def field(id: int, name: str, type_: t.Type, required: bool = False, default: Any = None) -> t.NestedField:
    return t.NestedField(id, name, required, type_, None, default, default)


# Appendix C, Schemas: the example of a struct, and of a map and a list, in one schema.
EXAMPLE = {
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
        {
            "id": 6,
            "name": "m",
            "required": False,
            "doc": "a map",
            "type": {
                "type": "map",
                "key-id": 4,
                "key": "string",
                "value-id": 5,
                "value-required": False,
                "value": "double",
            },
        },
    ],
    "schema-id": 0,
    "identifier-field-ids": [1],
}


def test_the_example_of_the_spec_is_read_and_written() -> None:  # JSC009
    schema = reader(SCHEMA, V3)(EXAMPLE)
    assert writer(SCHEMA, V3)(schema) == EXAMPLE
    assert [column.name for column in schema.columns()] == ["id", "data", "data.element", "m", "m.key", "m.value"]
    assert schema.highest_field_id() == 6
    assert [column.id for column in schema.find(5).parents] == [6]


def test_the_schema_id_is_optional_in_v1_alone() -> None:
    document = {name: value for name, value in EXAMPLE.items() if name != "schema-id"}
    assert reader(SCHEMA, V1)(document).schema_id == 0
    with pytest.raises(SpecError, match="JSC001"):
        reader(SCHEMA, V2)(document)


POINTS = [
    # point default, x, y, data, result: the table of the section Default values
    (None, 0, 0, {}, None),
    (None, 0, 0, {3: {1: 3}}, {1: 3, 2: 0}),
    ({}, 0, 0, {}, {1: 0, 2: 0}),
    ({}, 0, 0, {3: {2: -1}}, {1: 0, 2: -1}),
]


@pytest.mark.parametrize(("default", "x", "y", "data", "result"), POINTS)
def test_defaults_of_structs_are_those_of_the_table(default: Any, x: int, y: int, data: Any, result: Any) -> None:
    # DEF002, DEF010, DEF011, EVO017
    parts = (field(1, "x", t.INT, default=x), field(2, "y", t.INT, default=y))
    point = field(3, "point", t.StructType(parts), False, default)
    if not data:
        assert effective_write_default(point) == result
    there = tuple(part for part in parts if part.id in data.get(3, {}))
    columns = (field(3, "point", t.StructType(there)),) if data else ()
    assert project_row((point,), FileColumns(t.StructType(columns)), data, {}) == {3: result}


def test_a_required_field_without_a_value_and_write_default_fails() -> None:
    with pytest.raises(SpecError, match="DEF007"):
        effective_write_default(field(1, "a", t.INT, required=True))
    assert effective_write_default(field(1, "a", t.INT)) is None


# Appendix C, Name Mapping Serialization: the example.
MAPPING = [
    {"field-id": 1, "names": ["id", "record_id"]},
    {"field-id": 2, "names": ["data"]},
    {
        "field-id": 3,
        "names": ["location"],
        "fields": [{"field-id": 4, "names": ["latitude", "lat"]}, {"field-id": 5, "names": ["longitude", "long"]}],
    },
]


def test_the_example_of_a_name_mapping_is_read_and_written() -> None:
    mapping = read_name_mapping(MAPPING)
    assert write_name_mapping(mapping) == [{"names": one["names"], **one} for one in MAPPING]
    assert read_name_mapping(json.dumps(write_name_mapping(mapping))) == mapping
    found = find_mapped_field(mapping, ["location", "lat"])
    assert found is not None
    assert found.field_id == 4
    assert find_mapped_field(mapping, ["lat"]) is None


def test_a_dot_is_part_of_a_name() -> None:
    mapping = read_name_mapping(
        [{"field-id": 1, "names": ["a.b"]}, {"field-id": 2, "names": ["a"], "fields": [{"names": ["b"]}]}]
    )
    assert [
        one and one.field_id
        for one in (
            find_mapped_field(mapping, ["a.b"]),
            find_mapped_field(mapping, ["a", "b"]),
            find_mapped_field(mapping, ["a"]),
        )
    ] == [1, None, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        "[",
        [1],
        [{}],
        [{"names": "a"}],
        [{"names": [1]}],
        [{"names": [], "field-id": "1"}],
        [{"names": [], "fields": {}}],
        [{"names": ["a"]}, {"names": ["a"]}],
        '[{"names": ["a"], "names": []}]',
    ],
)
def test_what_is_no_name_mapping_is_refused(wrong: Any) -> None:
    with pytest.raises(SpecError, match="NAM"):
        read_name_mapping(wrong)


def test_a_deep_name_mapping_is_refused() -> None:
    text = '[{"names":[],"fields":' * 120 + "[]" + "}]" * 120
    with pytest.raises(SpecError, match="NAM009"):
        read_name_mapping(text)


def test_the_older_key_of_the_id_is_not_the_id() -> None:
    assert read_name_mapping([{"names": ["a"], "field_id": 3}])[0].field_id is None


NESTED = Schema(
    (
        field(1, "a", t.STRING, required=True),
        field(2, "s", t.StructType((field(3, "b", t.INT, required=True),)), required=True),
        field(4, "o", t.StructType((field(5, "c", t.INT, required=True),))),
        field(6, "v", t.VARIANT, required=True),
        field(7, "l", t.ListType(8, t.INT), required=True),
        field(9, "d", t.DOUBLE, required=True),
    )
)


def test_identifier_fields_are_required_primitives_outside_lists_and_maps() -> None:
    assert list(identifier_problems(evolve(NESTED, identifier_field_ids=(1, 3)))) == []
    for name, code in (
        ("s", "IDF001"),
        ("v", "IDF001"),
        ("l.element", "IDF002"),
        ("d", "IDF003"),
        ("o.c", "IDF003"),
    ):
        column = NESTED.find_name(name)
        assert column is not None
        (problem,) = identifier_problems(evolve(NESTED, identifier_field_ids=(column.id,)))
        assert problem.requirement == code
    (problem,) = identifier_problems(evolve(NESTED, identifier_field_ids=(99,)))
    assert problem.requirement == "IDF001"


def test_metadata_columns_are_above_all_table_columns() -> None:
    assert MAX_TABLE_FIELD_ID == 2**31 - 1 - 200
    assert all(column.id > MAX_TABLE_FIELD_ID for column in METADATA_COLUMNS)
    assert BY_NAME["_row_id"].id == 2147483540
    assert len({column.id for column in METADATA_COLUMNS}) == len(METADATA_COLUMNS) == 13


@pytest.mark.parametrize("value", [float("nan"), float("inf"), (1,), b"1", {1: 2}])
def test_a_parsed_name_mapping_is_json(value: Any) -> None:
    with pytest.raises(SpecError) as caught:
        read_name_mapping([{"field-id": 1, "names": ["a"], "other": value}])
    assert caught.value.violation.requirement == "TMD029"
