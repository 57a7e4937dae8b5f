"""Answers about rows and plans: which answers are equal."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conformance.operations.comparison import Undecodable
from conformance.operations.protocol import message_violation, protocol_schema
from conformance.operations.registry import OPERATIONS
from conformance.vectors import shipped
from tools.derive import variant

POINT = {"type": "struct", "fields": [{"id": 4, "name": "x", "type": "double", "required": False}]}
TAGS = {"type": "map", "key-id": 6, "key": "string", "value-id": 7, "value": "long", "value-required": False}
ARGS = {"table": "/t/metadata/v1.json", "types": {"id": "long", "point": POINT, "tags": TAGS}}
ONE = {"id": "1", "point": {"4": 0.0}, "tags": {"keys": ["a", "b"], "values": ["1", None]}}
TWO = {"id": "2", "point": None, "tags": None}


def _rows(expected: list[Any], got: list[Any], args: dict[str, Any] = ARGS) -> list[str]:
    operation = OPERATIONS["table.read"]
    assert message_violation(f"{operation.name}.args", args) is None
    assert operation.answer_violation({"rows": got}) is None
    return [str(difference) for difference in operation.compare(args, {"rows": expected}, {"rows": got})]


def test_rows_may_stand_in_any_order_and_a_long_be_a_number() -> None:
    assert _rows([ONE, TWO], [{**TWO, "id": 2}, ONE]) == []


def test_entries_of_a_map_may_stand_in_any_order() -> None:
    assert _rows([ONE], [{**ONE, "tags": {"keys": ["b", "a"], "values": [None, "1"]}}]) == []


def test_a_row_that_is_there_twice_counts_twice() -> None:
    assert _rows([ONE, ONE], [ONE]) != []
    assert _rows([ONE], [ONE, ONE]) != []
    assert _rows([ONE, ONE], [ONE, ONE]) == []


def test_a_difference_is_reported_in_the_row_that_is_most_alike() -> None:
    assert _rows([TWO, ONE], [{**ONE, "point": {"4": -0.0}}, TWO]) == [
        '/rows/1/point: expected {"4":0.0}, got {"4":-0.0}'
    ]


def test_a_column_that_is_missing_or_was_not_asked_for_is_no_row() -> None:
    for row in ({"id": "1", "point": None}, {**TWO, "_pos": "0"}):
        with pytest.raises(Undecodable, match="columns"):
            _rows([TWO], [row])


def _variant(value: Any) -> dict[str, str]:
    metadata, data = variant.encoded(value)
    return {"metadata": metadata.hex(), "value": data.hex()}


EMPTY = {"metadata": "010000"}
EQUAL: list[tuple[Any, dict[str, str]]] = [
    (1, {**EMPTY, "value": "0C01"}),  # an int8
    (Decimal("1.50"), {**EMPTY, "value": "20010F000000"}),  # 1.5 as a decimal4
    (Decimal("2.0"), {**EMPTY, "value": "100200"}),  # an int16
    (("timestamp_ns", 5000), {**EMPTY, "value": "30" + "05" + "00" * 7}),  # in microseconds
    ("ab", {**EMPTY, "value": "40020000006162"}),  # a string that is short, and not encoded as one
    (
        {"a": 1},
        {"metadata": "0102000102" + "6261", "value": "02010100020C01"},
    ),  # names in another order, and more of them
]


@pytest.mark.parametrize("nested", [False, True])
def test_variants_are_compared_by_their_values(nested: bool) -> None:
    type_: Any = {"type": "list", "element-id": 5, "element": "variant", "element-required": False}
    args = {**ARGS, "types": {"v": type_ if nested else "variant"}}

    def row(value: Any) -> dict[str, Any]:
        return {"v": [value, None] if nested else value}

    for value, other in EQUAL:
        assert _rows([row(_variant(value))], [row(other)], args) == []
    for value, other_value in (
        (1, 2),
        (1, 1.0),
        (("date", 1), 1),
        (None, {}),
        ("a", b"a"),
        ({"a": None}, {}),
        ([], {}),
        (("float", 1.0), 1.0),
        (0.0, -0.0),
        (("timestamp", 1), ("timestamp_ntz", 1)),
        (Decimal("1.5"), Decimal("1.51")),
    ):
        assert _rows([row(_variant(value))], [row(_variant(other_value))], args) != []
    with pytest.raises(Undecodable, match="TYP006"):
        _rows([row(_variant(1))], [row({**EMPTY, "value": "FF"})], args)


def test_a_value_that_is_not_of_its_type_is_reported() -> None:
    with pytest.raises(Undecodable, match="id"):
        _rows([TWO], [{**TWO, "id": "two"}])


def test_at_most_one_way_to_name_a_snapshot() -> None:
    for name in ("table.read", "scan.plan"):
        both = {"table": "t", "types": {}, "snapshot": "1", "ref": "main"}
        if name == "scan.plan":
            del both["types"]
        operation = OPERATIONS[name]
        assert message_violation(f"{operation.name}.args", both) is not None
        del both["ref"]
        assert message_violation(f"{operation.name}.args", both) is None


DV = {"path": "/t/dv.puffin", "content_offset": "4"}
OLD = {"path": "/t/deletes.parquet"}


def _plan(expected: list[Any], got: list[Any]) -> list[str]:
    operation = OPERATIONS["scan.plan"]
    assert message_violation(f"{operation.name}.expected", {"files": expected}) is None
    assert operation.answer_violation({"files": got}) is None
    return [str(difference) for difference in operation.compare({"table": "t"}, {"files": expected}, {"files": got})]


def _file(name: str, *deletes: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"data_file": name, "delete_files": list(deletes), **more}


def test_files_and_deletes_may_stand_in_any_order() -> None:
    nothing: dict[str, Any] = {**OLD, "content_offset": None}
    assert _plan([_file("a", DV, OLD), _file("b")], [_file("b"), _file("a", nothing, DV)]) == []


@pytest.mark.parametrize(
    "got",
    [
        [],
        [_file("a")],
        [_file("a", OLD)],
        [_file("a", {**DV, "content_offset": "5"})],
        [_file("a", {"path": DV["path"]})],
        [_file("a", DV, DV)],
        [_file("a", DV), _file("a", DV)],
        [_file("a", DV), _file("b")],
    ],
)
def test_a_plan_with_other_files_or_deletes_differs(got: list[Any]) -> None:
    assert _plan([_file("a", DV)], got) != []


def test_what_is_optional_may_be_there_or_not() -> None:
    expected = [_file("a", DV, optional_delete_files=[OLD]), _file("b", optional=True)]
    assert _plan(expected, [_file("a", DV)]) == []
    assert _plan(expected, [_file("a", DV, OLD), _file("b")]) == []
    assert _plan(expected, [_file("a", OLD)]) != []
    assert _plan(expected, [_file("b")]) != []
    assert _plan(expected, [_file("a", DV), _file("b", DV)]) != []


def test_only_expectations_mark_files_as_optional() -> None:
    assert OPERATIONS["scan.plan"].answer_violation({"files": [_file("a", optional=True)]}) is not None


@pytest.mark.parametrize(
    "name", ["table.read.args", "table.read.answer", "scan.plan.args", "scan.plan.expected", "delete-file"]
)
def test_the_schema_of_vectors_and_that_of_the_protocol_say_the_same(name: str) -> None:
    vectors = json.loads((Path(shipped()) / "vectors.schema.json").read_text())
    assert vectors["$defs"][name] == protocol_schema()["$defs"][name]
