"""The grid of corruptions: part of it is run again, and the last recorded results have no unexplained cell."""

from __future__ import annotations

import os
import re

import pytest

from conformance.rules import registry
from tools.grid import run
from tools.grid.cells import CHANGES, Cell, cells
from tools.grid.page import PAGE, page
from tools.grid.run import (
    UNEXPLAINED,
    Explanation,
    MissingCells,
    outcomes,
    sample,
    stored_outcomes,
    unexplained_cells,
    unneeded_explanations,
)
from tools.grid.tables import MORE_TABLES, TABLES

EVERY = 1 if os.environ.get("GRID") == "all" else 11
"""Which cells are run: GRID=all runs all of them, as `python -m tools.grid --check` does."""


@pytest.mark.parametrize("table", [*TABLES, *MORE_TABLES])
def test_a_part_of_the_grid_finds_what_it_found(table: str) -> None:
    known = stored_outcomes()
    asked = [cell for cell in cells() if table in TABLES or not known.get(cell, {}).keys() & TABLES.keys()]
    part = list(sample(asked, EVERY))
    found = outcomes(part, [table])
    assert found
    for cell in part:
        assert found[cell].get(table) == known.get(cell, {}).get(table), cell


def test_every_cell_is_found_or_explained_and_every_explanation_is_needed() -> None:
    outcomes_kept = {outcome for by_table in stored_outcomes().values() for outcome in by_table.values()}
    assert UNEXPLAINED not in outcomes_kept
    assert unneeded_explanations(stored_outcomes()) == []


def test_every_cell_that_no_table_has_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unexplained_cells(stored_outcomes()) == []
    useless = MissingCells(re.compile("a / b / null"), "a reason")
    monkeypatch.setattr(run, "missing_cells", lambda: (useless,))
    found = unexplained_cells(stored_outcomes())
    assert "manifest header / schema / null: no table has it, and no reason is given" in found
    assert found[-1] == "explained.toml: no cell needs a / b / null"


def test_an_explanation_that_no_cell_needs_or_that_is_too_wide_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    legal = Explanation(re.compile("a / b / (null|absent)"), re.compile(".*"), "legal", "a reason")
    useless = Explanation(re.compile("a / c / null"), re.compile(".*"), "legal", "another")
    monkeypatch.setattr(run, "explanations", lambda: (legal, useless))
    found = {Cell("a", "b", "null"): {"x": "legal: a reason"}, Cell("a", "b", "absent"): {"x": "error: y (files)"}}
    assert unneeded_explanations(found) == [
        "explained.toml: a / b / absent has findings, and its explanation is not needed",
        "explained.toml: no cell needs a / c / null",
    ]


def test_cells_name_checks_of_the_registry() -> None:
    for cell, by_table in stored_outcomes().items():
        for outcome in by_table.values():
            kind, _, rest = outcome.partition(": ")
            if kind not in ("legal", "not observable", "refused"):
                assert rest.partition(" ")[0] in registry(), cell


def test_the_cells_are_those_of_the_changes_and_tables() -> None:
    assert {cell.change for cell in cells()} == set(CHANGES)
    assert all(by_table.keys() <= TABLES.keys() | MORE_TABLES.keys() for by_table in stored_outcomes().values())


def test_the_page_is_made_of_what_was_found() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(stored_outcomes())
