"""Write the vector files that changed, or verify all: ``python -m tools.derive.build [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.derive.cases import all_files
from tools.entry_point import run_without_parser

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def main(argv: list[str]) -> int:
    """Write the files that differ, or with ``--check`` list them; return 1 if a file is listed, or is not derived."""
    check = argv == ["--check"]
    if argv and not check:
        print("usage: python -m tools.derive.build [--check]", file=sys.stderr)
        return 2
    files = list(all_files())
    suites = {(VECTORS / file.path).parent for file in files}
    stale = sorted(
        {path for suite in suites for path in suite.glob("*.json")} - {VECTORS / file.path for file in files}
    )
    for file in files:
        target = VECTORS / file.path
        text = file.to_text()
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            continue
        if check:
            stale.append(target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for path in sorted(stale):
        print(f"{path.relative_to(VECTORS.parent)}: differs from the derived file, or is not derived", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
