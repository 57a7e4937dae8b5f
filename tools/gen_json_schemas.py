"""Write the JSON Schemas of table metadata that ship with the package; with `--check`, report stale ones."""

from __future__ import annotations

import sys
from pathlib import Path

from spec_ref.table_metadata.json_schemas import SCHEMA_FILE_NAMES, schema_text
from tools.entry_point import run_without_parser

FOLDER = Path(__file__).parent.parent / "spec_ref" / "table_metadata"


def main() -> int:
    """Write the files; with `--check` only compare them, and return 1 if one is stale."""
    stale = [
        version
        for version, name in SCHEMA_FILE_NAMES.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != schema_text(version)
    ]
    if "--check" in sys.argv[1:]:
        for version in stale:
            print(f"{SCHEMA_FILE_NAMES[version]} is stale: run python -m tools.gen_json_schemas", file=sys.stderr)
        return 1 if stale else 0
    for version in stale:
        (FOLDER / SCHEMA_FILE_NAMES[version]).write_text(schema_text(version), "utf-8")
    return 0


if __name__ == "__main__":
    run_without_parser(main)
