"""Convert the cases of apache/iceberg-verification to vectors: ``python -m tools.golden.make_verification [--check]``.

`verification.json` has the cases, each file at the named commit, without their prose. They become the suites
``iv-types`` and ``iv-schema``, as with ``vectors import``, except where the texts leave something open: that project
requires readers to refuse schemas that break rules for writers, and writers to use one of two spellings of some types.
Here both outcomes are permitted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from conformance.vectors.interchange import spellings, vector_file
from conformance.vectors.lint import canonical
from tools.entry_point import run_without_parser

CASES = Path(__file__).parent / "verification.json"
VECTORS = Path(__file__).parents[2] / "vectors"

LEFT_OPEN = {
    "iv/schema-core-reject-identifier-field-does-not-exist": "E17",
    "iv/schema-core-reject-identifier-optional-field": "E17",
    "iv/schema-core-reject-identifier-double-field": "E17",
    "iv/schema-core-reject-identifier-float-field": "E17",
    "iv/schema-core-reject-identifier-non-primitive-field": "E17",
    "iv/schema-core-reject-identifier-nested-in-list": "E17",
    "iv/schema-core-reject-identifier-nested-in-map-value": "E17",
    "iv/schema-core-reject-identifier-map-key": "E17",
    "iv/schema-core-reject-identifier-nested-in-optional-struct": "E17",
    "iv/schema-unknown-reject-unknown-required": "E17",
}
"""Vectors that a reader need not refuse, and the contradiction that explains why."""

SPELLINGS = {"decimal": "B12", "geometry": "B13", "geography": "B13"}
"""Types with several permitted spellings, by contradiction."""


def documents() -> dict[str, dict[str, Any]]:
    """Return the vector files, by path below the folder of vectors."""
    found: dict[str, dict[str, Any]] = {}
    for file in json.loads(CASES.read_text(encoding="utf-8"))["files"]:
        made = vector_file(file["surface"], file["directory"], file["commit"], file["cases"])
        if file["surface"] == "types":
            (document,) = made.values()
            for row, case in zip(document["vectors"], file["cases"], strict=True):
                _leave_spelling_open(row, case)
        found |= made
    rows = {row["id"]: row for document in found.values() for row in document["vectors"]}
    for name, contradiction in LEFT_OPEN.items():
        row = rows[name]
        schemas = row["args"]["metadata"]["schemas"]
        row["expect"] = {"any_of": [row["expect"], {"ok": {"schemas": schemas}}]}
        row["contradiction"] = [contradiction]
    return found


def _leave_spelling_open(row: dict[str, Any], case: dict[str, Any]) -> None:
    contradiction = SPELLINGS.get(case.get("decoded", {}).get("type"))
    if contradiction is None:
        return
    outcomes = row["expect"].get("any_of", [row["expect"]])
    outcomes += [one for one in ({"ok": way} for way in spellings(case["decoded"])) if one not in outcomes]
    if len(outcomes) > 1:
        row["expect"] = {"any_of": outcomes}
        row["contradiction"] = [contradiction]


def main() -> int:
    """Write the files; with ``--check`` report the stale ones."""
    texts = {VECTORS / name: canonical(document) for name, document in documents().items()}
    if "--check" not in sys.argv[1:]:
        for path, text in texts.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path}is stale: run python -m tools.golden.make_verification", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    run_without_parser(main)
