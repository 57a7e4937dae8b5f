"""Find where a rule of the spec is code: `python -m tools.where "sequence number inheritance"`."""

from __future__ import annotations

import argparse
import sys

from tools.entry_point import run_main
from tools.index import Match, search

BEST = 3
"""The maximum number of matches that are printed."""


def main() -> int:
    """Run the command; the exit status is 1 if nothing is found."""
    parser = argparse.ArgumentParser(prog="python -m tools.where", description=__doc__)
    parser.add_argument("words", nargs="+", help="words of a heading, a requirement or a module")
    words = " ".join(parser.parse_args().words)
    matches = search(words)[:BEST]
    if not matches:
        print(f"no heading, requirement or module has the words {words!r}", file=sys.stderr)
        return 1
    print("\n\n".join(_describe(match) for match in matches))
    return 0


def _describe(match: Match) -> str:
    """Format a match as lines of text."""
    heading = match.heading
    lines = [f"{heading.title} ({heading.document})"]
    lines += [f"  spec_ref/{name}" for name in heading.modules] or [f"  no module: {heading.reason}"]
    for one in match.requirements:
        place = heading.place(one.code)
        lines.append(f"  {one.code} {one.text}" + (f"\n         spec_ref/{place}" if place else ""))
    return "\n".join(lines)


if __name__ == "__main__":
    run_main(main)
