"""Rows of the golden tables: what engines wrote, read as the statements that made them say."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.operations.comparison import read_type
from conformance.operations.reading.comparators import compare_rows
from conformance.operations.wire import to_exchange
from conformance.table_io.file_access import FileAccessError
from conformance.table_io.local import read_table
from conformance.table_io.tables import Table, load_table
from conformance.vectors import golden_tables
from conformance.vectors.golden_places import PLACE
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.core.errors import SpecError


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    golden_tables.materialize()
    return {
        name: load_table(f"{PLACE}/{name}/{golden_tables.index(name)['metadata']}")
        for name in golden_tables.table_names()
    }


def states() -> list[Any]:
    return [
        pytest.param(name, state, id=f"{name}-{state['label']}".replace(" ", "-"))
        for name in golden_tables.table_names()
        for state in golden_tables.index(name).get("states", [])
    ]


def answer(table: Table, types: dict[str, Any], **asked: Any) -> dict[str, Any]:
    read = read_table(table, select=list(types), **asked).read_all().combine_chunks()
    columns = []
    for name, json in types.items():
        type_ = read_type(json)
        chunks = read.column(name).chunks
        values = [value for chunk in chunks for value in to_python_values(type_, chunk)]
        columns.append([to_exchange(type_, value) for value in values])
    return {"rows": [dict(zip(types, row, strict=True)) for row in zip(*columns, strict=True)]}


def read_rows(tables: dict[str, Table], name: str, state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    asked = {"snapshot_id": int(state["snapshot"])} if "snapshot" in state else {}
    asked |= {"ref": state["ref"]} if "ref" in state else {}
    types = dict(state["types"])
    if state["rows"]:
        types |= dict.fromkeys(sorted(state["rows"][0].keys() - types.keys()), "long")  # those of row lineage
    return types, answer(tables[name], types, **asked)


MALFORMED_VARIANTS = frozenset({"arrow-variant-both", "arrow-variant-field-twice", "arrow-variant-no-object"})
"""Tables that may be refused: variants that are shredded as none should be (contradiction E30)."""

BEYOND = frozenset({"arrow-int96-local"}) | MALFORMED_VARIANTS
"""Tables that may be refused; INT96 has instants, and no column of type timestamp does (contradiction E27)."""


def is_broken(name: str, state: dict[str, Any]) -> bool:
    return name in BEYOND or ("broken" in golden_tables.index(name) and state["label"] == "current")


@pytest.mark.parametrize(("name", "state"), [s for s in states() if not is_broken(*s.values)])
def test_rows_are_those_that_the_statements_made(tables: dict[str, Table], name: str, state: dict[str, Any]) -> None:
    # UPG011: the statements of row-lineage-* rewrite files, and state the ids and numbers that their rows had before
    types, got = read_rows(tables, name, state)
    assert compare_rows({"types": types}, {"rows": state["rows"]}, got) == ()


@pytest.mark.parametrize(("name", "state"), [s for s in states() if is_broken(*s.values)])
def test_a_broken_file_is_reported_with_its_location(
    tables: dict[str, Table], name: str, state: dict[str, Any]
) -> None:
    with pytest.raises((SpecError, FileAccessError)) as caught:
        read_rows(tables, name, state)
    location = caught.value.violation.file if isinstance(caught.value, SpecError) else caught.value.location
    assert location is not None
    assert f"{PLACE}/{name}/" in location
