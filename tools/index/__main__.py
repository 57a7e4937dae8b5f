"""Write spec_ref/README.md and docs/layers.svg (`python -m tools.index`), or check them (`--check`)."""

from __future__ import annotations

import argparse
import sys

from tools.entry_point import run_main
from tools.index import INDEX, IndexProblem, page
from tools.index.layers import DRAWING, svg


def main() -> int:
    """Run the command; the exit status is 1 if the index does not match the texts or is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.index", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when one of them is stale")
    check = parser.parse_args().check
    try:
        text = "\n".join(page()) + "\n"
    except IndexProblem as problem:
        print(problem, file=sys.stderr)
        return 1
    stale = 0
    for path, wanted in ((INDEX, text), (DRAWING, svg())):
        if not check:
            path.write_text(wanted, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != wanted:
            print(f"{path.parent.name}/{path.name} is stale: run `python -m tools.index`", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    run_main(main)
