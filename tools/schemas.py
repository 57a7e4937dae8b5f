"""Write the published JSON Schemas of the protocol and of vectors, made from those of the families of operations.

python -m tools.schemas          write ``conformance/schemas/protocol.json`` and ``vectors/vectors.schema.json``
python -m tools.schemas --check  verify that they are up to date
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.operations.schemas import protocol_schema, vectors_schema
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED: dict[Path, Callable[[], dict[str, Any]]] = {
    ROOT / "conformance" / "schemas" / "protocol.json": protocol_schema,
    ROOT / "vectors" / "vectors.schema.json": vectors_schema,
}
WIDTH = 120


def text(value: Any, indent: int = 0, used: int = 0) -> str:
    """Format JSON for people: a value that fits in a line is in one line.

    Args:
        value: the value.
        indent: the number of columns by which its lines are indented.
        used: the number of columns that the text before the value and the comma after it take.
    """
    line = json.dumps(value, ensure_ascii=False)
    if indent + used + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        keys = {name: f"{json.dumps(name)}: " for name in value}
        rows = [f"{inner}{key}{text(value[name], indent + 2, len(key) + 1)}" for name, key in keys.items()]
    else:
        rows = [f"{inner}{text(item, indent + 2, 1)}" for item in value]
    begin, end = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return "\n".join([begin, ",\n".join(rows), " " * indent + end])


def main(arguments: list[str]) -> int:
    """Write or check the schemas; return the exit status."""
    stale = []
    for path, make in PUBLISHED.items():
        new = text(make()) + "\n"
        if "--check" not in arguments:
            path.write_text(new, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != new:
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        print(f"{' and '.join(stale)}: stale; run python -m tools.schemas", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
