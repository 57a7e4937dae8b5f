"""Run the grid of corruptions.

    python -m tools.grid            run every cell (three minutes), and write the outcomes and the page about them
    python -m tools.grid --check    run every cell, and compare
    python -m tools.grid --page     write the page again from the stored outcomes

The exit status is 1 if an outcome differs, if a cell has neither a finding nor an explanation, or if an explanation is
unused or too broad.
"""

from __future__ import annotations

import sys

from tools.entry_point import run_without_parser
from tools.grid.page import PAGE, page
from tools.grid.run import (
    KEPT,
    UNEXPLAINED,
    every_outcome,
    stored_outcomes,
    to_json,
    unexplained_cells,
    unneeded_explanations,
)


def main(argv: list[str]) -> int:
    """Run the grid; return the exit status."""
    if argv not in ([], ["--check"], ["--page"]):
        print(__doc__, file=sys.stderr)
        return 2
    if argv == ["--page"]:
        PAGE.write_text(page(stored_outcomes()), encoding="utf-8")
        return 0
    found = every_outcome()
    problems = [
        f"{cell}: {table}: {outcome}"
        for cell, by_table in found.items()
        for table, outcome in by_table.items()
        if outcome == UNEXPLAINED
    ]
    problems += [*unneeded_explanations(found), *unexplained_cells(found)]
    if argv == ["--check"]:
        for path, text in ((KEPT, to_json(found)), (PAGE, page(found))):
            if path.read_text(encoding="utf-8") != text:
                problems.append(f"{path.name} is stale: run python -m tools.grid")
    else:
        KEPT.write_text(to_json(found), encoding="utf-8")
        PAGE.write_text(page(found), encoding="utf-8")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
