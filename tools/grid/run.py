"""Run the grid: find the outcome of each cell in each table."""

from __future__ import annotations

import collections
import concurrent.futures
import functools
import json
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from conformance.rules import registry
from conformance.validator.context import Level
from conformance.validator.run import CURRENT
from conformance.validator.table_root import UnreadableTable
from spec_ref.checks import LEVELS
from spec_ref.checks.findings import Finding, Severity
from tools.grid.cells import Cell, NoCell, cells, mutate
from tools.grid.tables import MORE_TABLES, TABLES
from tools.grid.workbench import Workbench

UNEXPLAINED = "no finding, and no explanation"

KEPT = Path(__file__).with_name("outcomes.json")
"""The stored outcomes; a test runs a part of the grid again and compares."""

Outcomes = dict[Cell, dict[str, str]]
"""The outcomes, by cell and table."""


@attrs.frozen
class Explanation:
    """Cells without findings, and the reason."""

    cells: re.Pattern[str]
    tables: re.Pattern[str]
    kind: str
    """``legal`` or ``not observable``."""

    reason: str

    def explains(self, cell: Cell, table: str) -> bool:
        """Return whether the explanation applies to a cell of a table."""
        return self.cells.fullmatch(str(cell)) is not None and self.tables.fullmatch(table) is not None


@functools.cache
def explanations() -> tuple[Explanation, ...]:
    """Return the explanations of ``explained.toml``."""
    text = Path(__file__).with_name("explained.toml").read_text(encoding="utf-8")
    return tuple(
        Explanation(re.compile(row["cells"]), re.compile(row.get("tables", ".*")), row["kind"], row["reason"])
        for row in tomllib.loads(text)["explained"]
    )


@attrs.frozen
class MissingCells:
    """Cells that no table has, and why."""

    cells: re.Pattern[str]
    reason: str


@functools.cache
def missing_cells() -> tuple[MissingCells, ...]:
    """Return the reasons of ``explained.toml`` for cells that no table has."""
    text = Path(__file__).with_name("explained.toml").read_text(encoding="utf-8")
    return tuple(MissingCells(re.compile(row["cells"]), row["reason"]) for row in tomllib.loads(text)["not_made"])


def reason_not_made(cell: Cell) -> str | None:
    """Return the reason why no table has a cell; None if none is given."""
    return next((one.reason for one in missing_cells() if one.cells.fullmatch(str(cell))), None)


def unexplained_cells(found: Outcomes) -> list[str]:
    """List the cells that no table has without a reason, and reasons that no cell needs.

    Args:
        found: the outcomes of all cells.
    """
    absent = [cell for cell in cells() if not found.get(cell)]
    problems = [f"{cell}: no table has it, and no reason is given" for cell in absent if reason_not_made(cell) is None]
    needed = {reason_not_made(cell) for cell in absent}
    problems += [
        f"explained.toml: no cell needs {one.cells.pattern}" for one in missing_cells() if one.reason not in needed
    ]
    return problems


def unneeded_explanations(found: Outcomes) -> list[str]:
    """Return the explanations that no cell needs, and the explained cells that have findings anyway.

    Args:
        found: the outcomes of all cells.
    """
    problems = []
    for one in explanations():
        explained = [
            (cell, outcome == f"{one.kind}: {one.reason}")
            for cell, by_table in found.items()
            for table, outcome in by_table.items()
            if one.explains(cell, table)
        ]
        needed = {cell for cell, needs in explained if needs}
        if not needed:
            problems.append(f"explained.toml: no cell needs {one.cells.pattern}")
        else:
            wide = dict.fromkeys(cell for cell, _ in explained if cell not in needed)
            problems += [f"explained.toml: {cell} has findings, and its explanation is not needed" for cell in wide]
    return problems


def outcomes(selected: Iterable[Cell], tables: Iterable[str] = TABLES) -> Outcomes:
    """Return the outcome of each cell; tables that do not have a cell are left out."""
    found: Outcomes = {cell: {} for cell in selected}
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-grid-") as folder:
        root = Path(folder)
        for table in tables:
            open_ = (TABLES | MORE_TABLES)[table]
            before = _counts(_findings(open_(root, _scratch(root))))
            for cell, shown in found.items():
                bench = open_(root, _scratch(root))
                try:
                    mutate(cell, bench)
                    made = _findings(bench)
                except NoCell:
                    continue
                shown[table] = _outcome(before, made, cell, table)
    return found


def every_outcome() -> Outcomes:
    """Return the outcomes of all cells in all tables."""
    found: Outcomes = {cell: {} for cell in cells()}
    with concurrent.futures.ProcessPoolExecutor(max_workers=2) as pool:
        for tables in (TABLES, MORE_TABLES):
            chosen = [cell for cell, shown in found.items() if tables is TABLES or not shown]
            for part in pool.map(_table_outcomes, tables, [chosen] * len(tables)):
                for cell, shown in part.items():
                    found[cell] |= shown
    return found


def _table_outcomes(table: str, chosen: list[Cell]) -> Outcomes:
    return outcomes(chosen, [table])


def _scratch(root: Path) -> Path:
    place = root / "scratch"
    place.mkdir(exist_ok=True)
    return place


def _findings(bench: Workbench) -> tuple[Finding, ...] | None:
    """Return the findings; None if the metadata cannot even be read."""
    try:
        return bench.validate(Level.ROWS, CURRENT).findings
    except UnreadableTable:
        return None


def _counts(findings: Iterable[Finding] | None) -> Mapping[tuple[str, Severity], int]:
    assert findings is not None
    counts: collections.Counter[tuple[str, Severity]] = collections.Counter()
    for one in findings:
        counts[one.check, one.severity] += one.count
    return counts


def _outcome(
    before: Mapping[tuple[str, Severity], int], made: tuple[Finding, ...] | None, cell: Cell, table: str
) -> str:
    if made is None:
        return "refused: not table metadata"
    new = [key for key, count in _counts(made).items() if count > before.get(key, 0)]
    if new:
        severity = min((one for _, one in new), key=list(Severity).index)
        checks = [check for check, one in new if one is severity]
        check = min(checks, key=lambda check: (_level(check), check))
        return f"{severity.value}: {check} ({LEVELS[_level(check)]})"
    reason = next((one for one in explanations() if one.explains(cell, table)), None)
    return UNEXPLAINED if reason is None else f"{reason.kind}: {reason.reason}"


def _level(check: str) -> int:
    known = registry().get(check)
    return LEVELS.index(known.level) if known is not None else 0


def to_json(found: Outcomes) -> str:
    """Format outcomes as the text of a file."""
    return json.dumps({str(cell): shown for cell, shown in found.items() if shown}, indent=1) + "\n"


def stored_outcomes() -> Outcomes:
    """Return the stored outcomes."""
    read = json.loads(KEPT.read_text(encoding="utf-8"))
    return {Cell(*name.split(" / ")): found for name, found in read.items()}


def sample(chosen: Iterable[Cell], every: int) -> Iterator[Cell]:
    """Yield every nth of some cells, so that all structures are covered."""
    return (cell for number, cell in enumerate(chosen) if number % every == 0)
