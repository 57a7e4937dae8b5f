"""The documents that adapters pass to engines have the content of the request, and are valid if it is."""

from __future__ import annotations

import pytest
from shipped_vectors import shipped_vectors

from conformance.adapter_sdk.metadata_builders import (
    TABLE_MEMBERS,
    evolving_table,
    file_columns,
    select_members,
    sibling_name,
    with_placeholder_ids,
)
from conformance.operations.protocol import protocol_schema
from conformance.vectors import Vector
from spec_ref.schemas.type_json import type_from_json
from spec_ref.table_metadata import read_metadata

VECTORS: dict[str, list[Vector]] = {}
for vector in shipped_vectors():
    VECTORS.setdefault(vector.operation.name, []).append(vector)


def test_the_members_of_a_table_are_those_of_the_protocol() -> None:
    assert protocol_schema()["$defs"]["table"]["properties"].keys() == TABLE_MEMBERS


@pytest.mark.parametrize("operation", ["schema.evolve", "partition-spec.evolve"])
def test_the_table_that_evolves_is_read_as_its_arguments_say(operation: str) -> None:
    for vector in VECTORS[operation]:
        args = vector.args
        table = read_metadata(evolving_table(args))
        assert table.format_version == args["format_version"]
        assert table.last_column_id >= args.get("last_column_id", 0)
        (schema,) = (schema for schema in table.schemas if schema.schema_id == table.current_schema_id)
        assert [field.id for field in schema.fields] == [field["id"] for field in args["schema"]["fields"]]
        assert len(table.partition_specs) == len(args.get("partition_specs", [None]))
        assert table.default_spec_id == args.get("default_spec_id", 0)


def test_the_paths_of_columns_are_those_that_are_asked_for() -> None:
    answered = [vector for vector in VECTORS["name-mapping.apply"] if "ok" in vector.expect]
    assert answered
    for vector in answered:
        expected = [tuple(found["path"]) for found in vector.expect["ok"]]
        assert file_columns(vector.args["columns"]) == expected


def test_placeholder_ids_make_types_of_columns_without_ids() -> None:
    inner = {"type": "struct", "fields": [{"name": "x", "required": False, "type": "int"}]}
    columns = [
        {"name": "l", "required": False, "type": {"type": "list", "element-required": False, "element": inner}},
        {
            "name": "m",
            "required": False,
            "type": {"type": "map", "key": "string", "value-required": False, "value": inner},
        },
    ]
    assert type_from_json({"type": "struct", "fields": with_placeholder_ids(columns)})
    assert "id" not in columns[0]


def test_a_sibling_has_the_same_parent() -> None:
    assert (sibling_name("point.x", "y"), sibling_name("id", "data")) == ("point.y", "data")


def test_everything_is_selected_where_nothing_is_asked_for() -> None:
    form = {"location": "s3://b", "refs": {}}
    assert select_members({}, form) == form
    assert select_members({"select": ["refs", "schemas"]}, form) == {"refs": {}}
