"""Scripts made at random: they make sense and are of every kind."""

from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Iterator

import pytest

from conformance.properties.script_maker import FORMATS, PROPERTIES, Size
from conformance.properties.script_operations import forbidden_operation
from conformance.properties.script_shrinking import smaller_scripts
from conformance.properties.scripts import EXCLUDABLE, OPERATIONS, Maker, is_valid_script, make_script
from conformance.properties.values import ODD_NAMES, OPAQUE_VALUES, TRANSFORMS, VALUES, WITH_ARGUMENTS, Chance
from conformance.scripts import ForbiddenOperation, parse_script, script_json
from conformance.scripts.model import ModelTable, check_script, run_model
from spec_ref.core.json_types import Json


@functools.cache
def many() -> list[Json]:
    return [make_script(seed) for seed in range(500)]


@functools.cache
def long_ones() -> list[Json]:
    return [make_script(seed, size=Size(operations=12), refused=True) for seed in range(1200)]


def _operations(script: Json) -> list[Json]:
    operations: list[Json] = script["operations"]
    return operations


def _types(script: Json) -> list[Json]:
    changes = [change for op in _operations(script) for change in op.get("changes", ())]
    types = [field["type"] for field in _operations(script)[0]["schema"]["fields"]]
    return types + [change["type"] for change in changes if change["op"] == "add" and "type" in change]


def test_a_seed_makes_the_same_script_for_ever() -> None:
    assert [make_script(seed) for seed in range(20)] == many()[:20]
    assert len({json.dumps(script) for script in many()}) == len(many())


def test_scripts_make_sense_and_are_of_the_language() -> None:
    assert all(is_valid_script(script) for script in many())
    assert all(script_json(parse_script(script))["operations"][0]["op"] == "create" for script in many()[:50])


def _structs(type_: Json) -> list[Json]:
    """A type and what is in it, where that is a struct."""
    if not isinstance(type_, dict):
        return []
    inner = [field["type"] for field in type_.get("fields", ())]
    inner += [type_[part] for part in ("element", "key", "value") if part in type_]
    return [type_] * (type_["type"] == "struct") + [one for part in inner for one in _structs(part)]


def test_no_struct_loses_its_last_field() -> None:
    """No Parquet file has a struct without fields."""
    for script in many():
        for state in run_model(script):
            assert all(one["fields"] for field in state.fields for one in _structs(field["type"]))


def test_operations_that_the_text_forbids_are_made_where_they_are_wanted() -> None:
    codes = set()
    for script in long_ones():
        check_script(script)
        table = ModelTable()
        for index, operation in enumerate(script["operations"]):
            try:
                table = table.after(index, operation)
            except ForbiddenOperation as error:
                codes.add(error.code)
                table = table.after_refusal(index)
    assert codes >= {"TYP002", "EVO003", "PAR004", "EVO015", "VER004", "EXP003", "DEL018", "VER003", "PAR010"}


def test_a_partition_field_without_its_source_is_no_source_to_drop() -> None:
    """A void field may outlive the column that it was made of; its source then has no name."""
    maker = Maker(Chance(random.Random(0)))
    for operation in (
        {
            "op": "create",
            "format_version": 2,
            "schema": {
                "type": "struct",
                "fields": [
                    {"id": 1, "name": "id", "required": False, "type": "long"},
                    {"id": 2, "name": "gone", "required": False, "type": "int"},
                ],
            },
            "partition": [{"source": "gone", "transform": "void", "name": "p"}],
        },
        {"op": "append", "rows": [{"id": "1", "gone": 1}]},
        {"op": "alter-schema", "changes": [{"op": "drop", "name": "gone"}]},
    ):
        assert maker.take(operation)
    assert [part["source"] for part in maker.table.partition] == [None]
    made = [forbidden_operation(maker) for _ in range(400)]
    assert {one["op"] for one in made if one is not None} >= {"alter-schema", "append", "delete"}


def test_a_script_without_sense_is_reported() -> None:
    script = {"operations": [*_operations(many()[0]), {"op": "append", "rows": [{"nobody": 1}]}]}
    assert not is_valid_script(script)


def test_all_operations_types_transforms_formats_and_versions_are_made() -> None:
    operations = [op for script in many() for op in _operations(script)]
    assert {op["op"] for op in operations} == {"create", *OPERATIONS}
    assert {op["format_version"] for op in operations if op["op"] == "create"} == {1, 2, 3}
    assert {op["properties"]["write.format.default"] for op in operations if op["op"] == "create"} == set(FORMATS)
    assert {op["mode"] for op in operations if "mode" in op} == {"copy-on-write", "merge-on-read"}
    types = [type_ for script in many() for type_ in _types(script)]
    assert {type_ for type_ in types if isinstance(type_, str)} >= {*VALUES, *OPAQUE_VALUES, "timestamp_ns"}
    assert {type_["type"] for type_ in types if isinstance(type_, dict)} == {"struct", "list", "map"}
    parts = {part["transform"] for op in operations for part in op.get("partition", ())}
    assert parts >= {one for transforms in TRANSFORMS.values() for one in transforms} - {"truncate[1]", "truncate[50]"}
    kinds = {change["op"] for op in operations if op["op"] == "alter-schema" for change in op["changes"]}
    assert kinds == {"add", "drop", "rename", "move", "promote", "optional", "default"}
    assert any("default" in change for op in operations for change in op.get("changes", ()))
    assert any("branch" in op for op in operations)


@pytest.mark.parametrize("word", ["struct-keys", "evolve-items"])
def test_what_is_rare_is_avoided_too(word: str) -> None:
    exclude = frozenset({word, "odd-names"})  # which may be those of elements, keys and values
    for seed in range(400):
        _lacks_form(word, _operations(make_script(seed, exclude, Size(operations=12))))


def _is_key(script: Json, field: Json) -> bool:
    """Return whether a field is in the key of a map."""
    return any(field is one for type_ in _types(script) for key in _keys(type_) for one in _all_fields(key))


def _keys(type_: Json) -> list[Json]:
    """The types of keys in a type."""
    if not isinstance(type_, dict):
        return []
    inner = [field["type"] for field in type_.get("fields", ())]
    inner += [type_[part] for part in ("element", "value") if part in type_]
    return [type_[part] for part in ("key",) if part in type_] + [one for part in inner for one in _keys(part)]


@pytest.mark.parametrize("word", sorted(EXCLUDABLE - {"v1", "v2", "v3", "null", "nan", "zero", "default"}))
def test_what_is_avoided_is_not_made(word: str) -> None:
    for script in (make_script(seed, frozenset({word})) for seed in range(40)):
        operations = _operations(script)
        assert word not in {op["op"] for op in operations}
        assert word not in {op.get("mode") for op in operations}
        assert word not in [type_ for type_ in _types(script) if isinstance(type_, str)]
        assert word not in {op.get("properties", op.get("set", {})).get("write.format.default") for op in operations}
        changes = [change for op in operations for change in op.get("changes", ())]
        parts = [*operations[0].get("partition", ()), *changes]
        assert word not in {part["transform"].partition("[")[0] for part in parts if "transform" in part}
        assert word != "evolve-nested" or not any(_is_nested(change) for change in changes)
        assert word != "branch-writes" or not any("branch" in op for op in operations)
        assert word != "partition" or "partition" not in operations[0]
        assert word != "nested-source" or not any("." in part.get("source", "") for part in parts)
        sources = [part["source"] for part in operations[0].get("partition", ())]
        assert word != "shared-source" or len(set(sources)) == len(sources)
        assert word != "nested" or not any(isinstance(type_, dict) for type_ in _types(script))
        assert word != "required" or not any(field["required"] for field in operations[0]["schema"]["fields"])
        _lacks_form(word, operations)


def _is_nested(change: Json) -> bool:
    """Return whether a change of the schema is inside a column."""
    is_column = change["name"] in ODD_NAMES["odd-names"]
    return "parent" in change or ("." in change["name"] and not is_column)


def _lacks_form(word: str, operations: list[Json]) -> None:
    """Check that operations have no types, names, sort orders, changes and properties that a word leaves out."""
    script = {"operations": operations}
    inner = [one for type_ in _types(script) for one in _all_fields(type_)]
    added = [change for op in operations for change in op.get("changes", ()) if "type" in change]
    names = [*(one["name"] for one in (*operations[0]["schema"]["fields"], *inner, *added))]
    assert not set(names) & set(ODD_NAMES.get(word, ()))
    assert word != "nested-required" or not any(one["required"] for one in inner if not _is_key(script, one))
    assert word != "struct-keys" or not any(_is_key(script, one) for one in inner)
    sorts = [one for op in operations for one in (*op.get("sort", ()), *op.get("fields", ()))]
    assert word != "sort-transforms" or {one["transform"] for one in sorts} <= {"identity"}
    assert word != "several-changes" or not any(len(op.get("changes", ())) > 1 for op in operations)
    assert word != "remove-properties" or not any(op.get("remove") for op in operations)
    properties = [name for op in operations for name in op.get("properties", {})]
    properties += [name for op in operations if op["op"] == "properties" for name in op.get("set", {})]
    assert not set(properties) & set(PROPERTIES.get(word, ()))
    evolved = [
        change.get("parent") or change["name"]
        for op in operations
        if op["op"] == "alter-schema"
        for change in op["changes"]
    ]
    assert word != "evolve-items" or not any({"element", "value", "key"} & set(one.split(".")[1:]) for one in evolved)


@pytest.mark.parametrize("word", ["null", "nan", "zero", "default", "v1", "v2", "v3"])
def test_values_and_versions_that_are_avoided_are_not_made(word: str) -> None:
    text = json.dumps([make_script(seed, frozenset({word})) for seed in range(50)])
    without = {
        "null": 'id": null',
        "nan": "NaN",
        "zero": "-0.0,",
        "default": '"default":',
        "v1": '"format_version": 1',
        "v2": '"format_version": 2',
        "v3": '"format_version": 3',
    }
    assert without[word] in json.dumps(many())
    assert without[word] not in text


def _all_fields(type_: Json) -> Iterator[Json]:
    """Every field of the structs in a type."""
    for struct in _structs(type_):
        yield from struct["fields"]


def test_types_names_and_keys_are_of_every_form() -> None:
    types = [type_ for script in many() for type_ in _types(script)]
    assert {type_ for type_ in types if isinstance(type_, str)} >= set(WITH_ARGUMENTS)
    names = {one["name"] for script in many() for state in run_model(script) for one in state.fields}
    assert all(names & set(odd) for odd in ODD_NAMES.values())
    inner = [one for type_ in types for one in _all_fields(type_)]
    assert {one["required"] for one in inner} == {True, False}
    assert any(one["name"] in names for one in inner for names in ODD_NAMES.values())
    assert any(isinstance(type_, dict) and isinstance(type_.get("key"), dict) for type_ in types)


def test_sort_orders_and_properties_are_of_every_form() -> None:
    operations = [op for script in long_ones() for op in _operations(script)]
    sorts = [one for op in operations for one in (*op.get("sort", ()), *op.get("fields", ()))]
    assert {one["transform"].partition("[")[0] for one in sorts} >= {"identity", "bucket", "truncate", "year", "hour"}
    given = [op.get("properties" if op["op"] == "create" else "set", {}) for op in operations if "rows" not in op]
    properties = {name for some in given for name in some}
    assert properties >= {name for some in PROPERTIES.values() for name in some}
    assert any(op["op"] == "properties" and op.get("remove") for op in operations)


def test_changes_build_on_the_changes_before_them() -> None:
    several = [
        op["changes"]
        for script in long_ones()
        for op in _operations(script)
        if op["op"] in ("alter-schema", "alter-spec") and len(op["changes"]) > 1
    ]
    pairs = [pair for changes in several for pair in itertools.pairwise(changes)]
    assert any(one["op"] == "rename" and one["to"] == other["name"] for one, other in pairs)
    assert any(one["op"] == "drop" and other["op"] == "add" and one["name"] == other["name"] for one, other in pairs)
    assert any(one["op"] == other["op"] == "rename" and other["to"] == one["name"] for one, other in pairs)
    assert any(one["op"] == "add" and one["name"] == other.get("name") for one, other in pairs)
    assert any(changes[-1] == {"op": "remove", "name": "nowhere"} for changes in several)


def test_elements_keys_and_values_evolve() -> None:
    places: dict[str, set[str]] = {}
    for script in long_ones():
        for op in _operations(script):
            for change in op["changes"] if op["op"] == "alter-schema" else ():
                place = change.get("parent") or change["name"]
                if {"element", "value", "key"} & set(place.split(".")[1:]):
                    places.setdefault(change["op"], set()).add(place)
    assert places.keys() >= {"add", "drop", "rename", "move", "promote"}


def test_the_size_is_kept() -> None:
    for seed in range(50):
        operations = _operations(make_script(seed, size=Size(columns=2, rows=1, operations=3)))
        assert len(operations) <= 5  # a fast-forward may need a branch and rows on it before
        assert len(operations[0]["schema"]["fields"]) <= 2
        assert all(len(op["rows"]) <= 1 for op in operations if op["op"] == "append")


@pytest.mark.parametrize("seed", range(25))
def test_smaller_scripts_make_sense_and_are_others(seed: int) -> None:
    for candidate in smaller_scripts(many()[seed]):
        assert is_valid_script(candidate)
        assert candidate != many()[seed]
        assert len(_operations(candidate)) <= len(_operations(many()[seed]))
