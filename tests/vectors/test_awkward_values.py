"""Every operation gets every class of awkward values in some vector, and the linter lists missing ones."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from conformance.vectors import vector_files
from conformance.vectors.awkward_values import (
    EXTRACTORS,
    TABLE,
    CoverageCell,
    Explanation,
    awkward_values,
    covered_cells,
    uncovered_cells,
)
from conformance.vectors.lint import uncovered_values
from tools.derive import awkward

VECTORS = Path(__file__).parents[2] / "vectors"


def hashed(type_: str, value: Any) -> tuple[str, dict[str, Any]]:
    return "hash", {"args": {"type": type_, "value": value}, "expect": {"ok": 1}}


def test_no_cell_of_the_vectors_is_missing() -> None:
    assert uncovered_values(vector_files(VECTORS)) == []


def test_a_cell_that_no_vector_covers_is_listed() -> None:
    table = evolve(awkward_values(), operations={"hash": ("boolean",)}, explained=())
    assert uncovered_cells([hashed("boolean", True)], table) == ["no vector covers hash / boolean / false"]
    assert uncovered_cells([hashed("boolean", True), hashed("boolean", False)], table) == []


def test_a_reason_explains_a_cell_and_has_to_explain_one() -> None:
    reason = Explanation(re.compile("hash / boolean / false"), "a reason")
    table = evolve(awkward_values(), operations={"hash": ("boolean",)}, explained=(reason,))
    assert uncovered_cells([hashed("boolean", True)], table) == []
    assert uncovered_cells([hashed("boolean", True), hashed("boolean", False)], table) == [
        "the reason for 'hash / boolean / false' is not needed: every cell is covered"
    ]


def test_every_operation_of_the_table_has_its_values_extracted() -> None:
    assert {name.partition(" ")[0] for name in awkward_values().operations} <= set(EXTRACTORS)
    types = tomllib.loads(TABLE.read_text(encoding="utf-8"))["types"]
    assert {type_ for types_ in awkward_values().operations.values() for type_ in types_} == set(types)


@pytest.mark.parametrize("row", awkward.EVERY_ROW, ids=lambda row: row[0])
def test_the_rows_that_the_suites_share_are_of_the_class_that_they_are_named_after(row: awkward.Row) -> None:
    name, type_, value, _ = row
    kind = awkward.kind(type_)
    value_class = name.removeprefix(kind.replace("_", "-") + "-")
    assert CoverageCell("hash", kind, value_class) in covered_cells(awkward_values(), [hashed(type_, value)])


def test_every_class_has_a_row_that_the_suites_share() -> None:
    named = {
        (awkward.kind(type_), name.removeprefix(awkward.kind(type_).replace("_", "-") + "-"))
        for name, type_, _, _ in awkward.EVERY_ROW
    }
    classes = awkward_values().classes
    elsewhere = {
        *("name", "nested", "null", "table", "property", "float-bytes", "double-bytes", "manifest-bytes"),
        *("position", "last-position", "plaintext", "very-long-binary"),
    }
    assert {(type_, one) for type_ in classes if type_ not in elsewhere for one in classes[type_]} == named


def test_nulls_are_found_at_each_depth() -> None:
    type_ = {"type": "list", "element": {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "int"}]}}
    vector = {"args": {"type": type_, "json": [{"1": None}, None]}, "expect": {"ok": []}}
    found = covered_cells(awkward_values(), [("json-value.round-trip", vector)])
    assert {cell.value_class for cell in found} == {"null-field-of-element", "null-element"}
