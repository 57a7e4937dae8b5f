"""The grid by hand.

    python -m tools.grid            run every cell (three minutes), and write what is found and the page about it
    python -m tools.grid --check    run every cell, and compare
    python -m tools.grid --page     write the page again from what was found

1 where something differs, nothing is found of a cell and nothing explains it, or an explanation is of no use or too
wide.
"""

from __future__ import annotations

import sys

from tools.grid.page import PAGE, page
from tools.grid.run import KEPT, UNEXPLAINED, every_outcome, kept, to_json, unneeded


def main(argv: list[str]) -> int:
    """Run the grid."""
    if argv not in ([], ["--check"], ["--page"]):
        print(__doc__, file=sys.stderr)
        return 2
    if argv == ["--page"]:
        PAGE.write_text(page(kept()), encoding="utf-8")
        return 0
    found = every_outcome()
    problems = [
        f"{cell}: {table}: {outcome}"
        for cell, by_table in found.items()
        for table, outcome in by_table.items()
        if outcome == UNEXPLAINED
    ]
    problems += unneeded(found)
    if argv == ["--check"]:
        for path, text in ((KEPT, to_json(found)), (PAGE, page(found))):
            if path.read_text(encoding="utf-8") != text:
                problems.append(f"{path.name} is not what the grid gives")
    else:
        KEPT.write_text(to_json(found), encoding="utf-8")
        PAGE.write_text(page(found), encoding="utf-8")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
