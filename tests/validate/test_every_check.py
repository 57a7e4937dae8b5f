"""Every check has a table that triggers it, and a row on the page of checks."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import test_diff

from conformance.rules import registry
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import CURRENT, validate
from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import materialize
from spec_ref.requirements import check_id
from tests.validate import corruptions
from tools.docs import checks as page
from tools.grid.run import stored_outcomes

HERE = Path(__file__).parent
SHOWN = tomllib.loads(HERE.joinpath("shown_checks.toml").read_text(encoding="utf-8"))


def of_grid() -> set[str]:
    """The checks that the grid of corruptions found last; a test of the grid runs a part of it again."""
    words = {outcome.split()[1] for by_table in stored_outcomes().values() for outcome in by_table.values()}
    return words & registry().keys()


def of_versions() -> set[str]:
    """The checks that a pair of versions shows."""
    return {check_id(*code.split()) for code, _ in (*test_diff.CASES.values(), *test_diff.FILES.values())}


def test_every_check_is_shown() -> None:
    elsewhere = [check for row in SHOWN["elsewhere"] for check in row["checks"]]
    listed = [*SHOWN["corruptions"], *SHOWN["golden"], *elsewhere]
    assert [check for check, count in Counter(listed).items() if count > 1] == []
    shown = of_grid() | of_versions()
    assert registry().keys() - shown - set(listed) == set(), "give them a corruption, and name it in shown_checks.toml"
    assert set(listed) - registry().keys() == set()


def test_the_corruptions_and_tests_that_show_checks_are_there() -> None:
    known = {one.id for one in corruptions.load()}
    assert set(SHOWN["corruptions"].values()) <= known
    for row in SHOWN["elsewhere"]:
        file, _, name = row["test"].partition("::")
        tree = ast.parse((HERE.parents[1] / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, row


@pytest.mark.parametrize("table", sorted(set(SHOWN["golden"].values())))
def test_a_golden_table_shows_its_checks(table: str) -> None:
    materialize([table])
    found = {one.check for one in validate(str(PLACE / table), Level.ROWS, LocalBackend(), CURRENT).findings}
    assert {check for check, name in SHOWN["golden"].items() if name == table} <= found


def test_every_check_is_on_the_page() -> None:
    rows = {line.split(" | ")[0] for line in page.page().splitlines()}
    assert {f'| <span id="check-{check}"></span>`{check}`' for check in registry()} <= rows
