"""Write spec_ref/README.md (`python -m tools.index`), or check that it is current (`--check`)."""

from __future__ import annotations

import argparse
import sys

from tools.index import INDEX, IndexProblem, page


def main() -> int:
    """Run the command; the exit status is 1 where the index does not fit the texts or is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.index", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when spec_ref/README.md is stale")
    check = parser.parse_args().check
    try:
        text = "\n".join(page()) + "\n"
    except IndexProblem as problem:
        print(problem, file=sys.stderr)
        return 1
    if not check:
        INDEX.write_text(text, encoding="utf-8")
    elif not INDEX.exists() or INDEX.read_text(encoding="utf-8") != text:
        print("spec_ref/README.md is stale: run `python -m tools.index`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
