"""Write the vector files from the tables of cases, or verify them: ``python -m tools.derive.build [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.derive.cases import all_files

VECTORS = Path(__file__).resolve().parents[2] / "vectors"


def main(argv: list[str]) -> int:
    """Write the files; with ``--check`` tell which differ and return 1 if any does."""
    check = argv == ["--check"]
    if argv and not check:
        print("usage: python -m tools.derive.build [--check]", file=sys.stderr)
        return 2
    stale = []
    for file in all_files():
        target = VECTORS / file.path
        text = file.to_text()
        if check and (not target.is_file() or target.read_text(encoding="utf-8") != text):
            stale.append(target)
        elif not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path.relative_to(VECTORS.parent)}: differs from its derivation", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
