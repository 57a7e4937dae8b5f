"""The operations on tables: their arguments, and the differences that comparisons ignore or report."""

from typing import Any

import pytest

from conformance.adapter_sdk.serve import perform
from conformance.engines.reference.adapter import REFUSALS, operations
from conformance.operations.protocol import message_violation
from conformance.operations.registry import OPERATIONS

TABLES = (
    "metadata.read",
    "metadata.write",
    "metadata.upgrade",
    "metadata.check",
    "schema.evolve",
    "partition-spec.evolve",
    "retention.expire",
    "name-mapping.apply",
)

ID = {"id": 1, "name": "id", "required": True, "type": "long"}
MINIMAL: dict[str, Any] = {
    "format-version": 2,
    "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
    "location": "s3://b/t",
    "last-sequence-number": 0,
    "last-updated-ms": 1,
    "last-column-id": 1,
    "current-schema-id": 0,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [ID]}],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
}


def ask(operation: str, **args: Any) -> Any:
    """Return the answer of the reference, after checking the arguments against the published schema."""
    assert message_violation(f"{operation}.args", args) is None
    answer = perform(operations(), operation, args, REFUSALS)
    if "ok" in answer:
        assert OPERATIONS[operation].answer_violation(answer["ok"]) is None
        return answer["ok"]
    return answer["error"]["kind"]


def same(operation: str, expected: Any, got: Any, **args: Any) -> bool:
    return OPERATIONS[operation].compare(args, expected, got) == ()


def test_the_reference_has_every_operation_on_tables() -> None:
    assert set(TABLES) <= set(operations())


@pytest.mark.parametrize("operation", TABLES)
def test_arguments_of_another_form_are_reported(operation: str) -> None:
    assert message_violation(f"{operation}.args", {}) is not None
    assert message_violation(f"{operation}.args", {"metadata": 1}) is not None


# Answers of the reference


def test_longs_are_decimal_strings() -> None:
    form = ask("metadata.read", metadata={**MINIMAL, "last-updated-ms": 2**53 + 1})
    assert form["last-updated-ms"] == "9007199254740993"
    assert form["last-sequence-number"] == "0"
    assert form["last-column-id"] == 1


def test_only_what_is_selected_is_answered() -> None:
    assert ask("metadata.read", metadata=MINIMAL, select=["location"]) == {"location": "s3://b/t"}
    assert ask("metadata.write", metadata=MINIMAL, format_version=2, select=["location"]) == {"location": "s3://b/t"}
    upgraded = ask("metadata.upgrade", metadata=MINIMAL, format_version=3, select=["next-row-id", "format-version"])
    assert upgraded == {"format-version": 3, "next-row-id": "0"}


def test_text_that_is_no_metadata_is_refused() -> None:
    assert ask("metadata.read", metadata="{") == "invalid"
    assert ask("metadata.check", metadata="{") == ["TMD029"]


def test_findings_are_codes_each_once() -> None:
    assert ask("metadata.check", metadata=MINIMAL) == []
    broken = {**MINIMAL, "last-column-id": 0, "table-uuid": 1, "location": 1}
    assert ask("metadata.check", metadata=broken) == ["TMD002", "TMD003", "TMD006"]


def test_moves_are_counted_after_the_changes_before_them() -> None:
    schema = {"type": "struct", "schema-id": 0, "fields": [ID]}
    add = [{"op": "add", "name": name, "type": "int"} for name in ("a", "b")]
    moves = [{"op": "move", "name": "b", "after": None}, {"op": "move", "name": "id", "after": "a"}]
    answer = ask("schema.evolve", schema=schema, format_version=2, last_column_id=1, changes=[*add, *moves])
    assert [(field["name"], field["id"]) for field in answer["fields"]] == [("b", 3), ("a", 2), ("id", 1)]
    assert answer["last-column-id"] == 3


def test_a_default_is_read_in_its_type() -> None:
    schema = {"type": "struct", "schema-id": 0, "fields": [ID]}
    add = {"op": "add", "name": "d", "type": "date", "default": "2017-11-16"}
    answer = ask("schema.evolve", schema=schema, format_version=3, last_column_id=1, changes=[add])
    assert answer["fields"][1]["initial-default"] == "2017-11-16"
    wrong = {**add, "default": 17486}
    assert ask("schema.evolve", schema=schema, format_version=3, last_column_id=1, changes=[wrong]) == "invalid"


def test_mapped_ids_are_given_at_every_level() -> None:
    mapping = [{"field-id": 1, "names": ["m"], "fields": [{"field-id": 2, "names": ["key"]}]}]
    columns = [{"name": "m", "type": {"type": "map", "key": "string", "value": "int"}}]
    assert ask("name-mapping.apply", mapping=mapping, columns=columns) == [
        {"path": ["m"], "field-id": 1},
        {"path": ["m", "key"], "field-id": 2},
        {"path": ["m", "value"], "field-id": None},
    ]


# Differences that comparisons ignore


def test_absent_null_and_empty_members_are_the_same() -> None:
    assert same("metadata.read", {"refs": {}}, {})
    assert same("metadata.read", {"current-snapshot-id": None}, {"snapshots": []})
    assert not same("metadata.read", {"properties": {"a": ""}}, {})


def test_an_empty_default_is_not_the_same_as_none() -> None:
    point = {"id": 2, "name": "p", "required": False, "type": {"type": "struct", "fields": []}}
    schema = {"schema-id": 0, "fields": [point]}
    given = {"schema-id": 0, "fields": [{**point, "initial-default": {}}]}
    assert not same("metadata.read", {"schemas": [schema]}, {"schemas": [given]})


def test_longs_may_be_numbers_in_canonical_forms_but_not_strings_in_written_json() -> None:
    assert same("metadata.read", {"last-updated-ms": "1"}, {"last-updated-ms": 1})
    assert not same("metadata.read", {"last-updated-ms": "1"}, {"last-updated-ms": "01"})
    assert not same("metadata.write", {"last-updated-ms": 1}, {"last-updated-ms": "1"})


def test_ints_are_not_strings() -> None:
    assert not same("metadata.read", {"last-column-id": 1}, {"last-column-id": "1"})


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("schemas", "schema-id"),
        ("partition-specs", "spec-id"),
        ("sort-orders", "order-id"),
        ("snapshots", "snapshot-id"),
    ],
)
def test_lists_with_ids_have_no_order(name: str, key: str) -> None:
    one, two = {key: 1, "fields": []}, {key: 2, "fields": []}
    assert same("metadata.read", {name: [one, two]}, {name: [two, one]})
    assert not same("metadata.read", {name: [one, two]}, {name: [one, one]})


def test_logs_have_an_order() -> None:
    one, two = ({"timestamp-ms": str(time), "snapshot-id": "1"} for time in (1, 2))
    assert not same("metadata.read", {"snapshot-log": [one, two]}, {"snapshot-log": [two, one]})


def test_spellings_of_types_and_uuids_do_not_count() -> None:
    spaced, dense = (
        {"schemas": [{"schema-id": 0, "fields": [{**ID, "type": type_}]}]}
        for type_ in ("decimal(9, 2)", "decimal(9,2)")
    )
    assert same("metadata.read", spaced, dense)
    assert same("metadata.read", {"table-uuid": "AB"}, {"table-uuid": "ab"})


def test_what_was_not_asked_for_does_not_count() -> None:
    assert same("metadata.read", {"location": "a"}, {"location": "a", "last-column-id": 9}, select=["location"])
    assert not same("metadata.read", {"location": "a"}, {}, select=["location"])


def test_a_plain_main_branch_and_no_snapshot_may_be_written_or_left_out() -> None:
    main = {"main": {"snapshot-id": 1, "type": "branch"}}
    assert same("metadata.write", {"refs": main}, {})
    assert same("metadata.write", {}, {"current-snapshot-id": -1})
    limited = {"main": {**main["main"], "min-snapshots-to-keep": 2}}
    assert not same("metadata.write", {"refs": limited}, {"refs": main})
    assert not same("metadata.read", {"refs": main}, {})


EVOLVE = {"last_column_id": 5}


def evolved(*ids: int, last: int) -> dict[str, Any]:
    return {
        "fields": [{**ID, "id": field_id, "name": f"f{n}"} for n, field_id in enumerate(ids)],
        "last-column-id": last,
    }


def test_any_new_ids_are_right() -> None:
    assert same("schema.evolve", evolved(1, 6, 7, last=7), evolved(1, 7, 6, last=7), **EVOLVE)
    assert same("schema.evolve", evolved(1, 6, 7, last=7), evolved(1, 10, 20, last=20), **EVOLVE)


def test_used_ids_lost_ids_and_low_last_ids_are_wrong() -> None:
    expected = evolved(1, 6, 7, last=7)
    assert not same("schema.evolve", expected, evolved(1, 5, 7, last=7), **EVOLVE)
    assert not same("schema.evolve", expected, evolved(6, 7, 8, last=8), **EVOLVE)
    assert not same("schema.evolve", expected, evolved(1, 6, 6, last=6), **EVOLVE)
    assert not same("schema.evolve", expected, evolved(1, 6, 7, last=6), **EVOLVE)
    assert not same("schema.evolve", evolved(1, last=5), evolved(1, last=1), **EVOLVE)


def test_new_ids_inside_types_are_compared_by_place() -> None:
    def with_list(outer: int, inner: int) -> dict[str, Any]:
        type_ = {"type": "list", "element-id": inner, "element-required": False, "element": "int"}
        return {"fields": [{**ID, "id": outer, "type": type_}], "last-column-id": max(outer, inner)}

    assert same("schema.evolve", with_list(6, 7), with_list(7, 6), **EVOLVE)
    assert not same("schema.evolve", with_list(6, 7), with_list(6, 6), **EVOLVE)


def test_a_new_spec_may_have_any_new_id() -> None:
    args = {"partition_specs": [{"spec-id": 0}, {"spec-id": 1}], "last_partition_id": 1000}
    field = {"source-id": 1, "field-id": 1001, "name": "p", "transform": "void"}

    def answer(spec_id: int, field_id: int, last: int) -> dict[str, Any]:
        return {"spec-id": spec_id, "fields": [{**field, "field-id": field_id}], "last-partition-id": last}

    compare = "partition-spec.evolve"
    assert same(compare, answer(2, 1001, 1001), answer(7, 1005, 1005), **args)
    assert not same(compare, answer(2, 1001, 1001), answer(1, 1001, 1001), **args)
    assert not same(compare, answer(1, 1001, 1001), answer(0, 1001, 1001), **args)
    assert not same(compare, answer(2, 1001, 1001), answer(2, 1000, 1001), **args)


def test_sets_have_no_order_and_no_extras() -> None:
    kept = {"snapshots": ["1", "2"], "refs": ["main"]}
    assert same("retention.expire", kept, {"snapshots": ["2", "1"], "refs": ["main"]})
    assert not same("retention.expire", kept, {"snapshots": ["2", "1", "3"], "refs": ["main"]})
    assert same("metadata.check", ["A", "B"], ["B", "A"])
    assert not same("metadata.check", ["A"], [])


def test_an_answer_without_order_may_write_its_members_in_any_order() -> None:
    expected = [{"path": ["b"], "field-id": 1}, {"path": ["a"], "field-id": 2}]
    assert same("name-mapping.apply", expected, [{"field-id": 2, "path": ["a"]}, {"field-id": 1, "path": ["b"]}])
    assert not same("name-mapping.apply", expected, [{"field-id": 1, "path": ["a"]}, {"field-id": 2, "path": ["b"]}])
