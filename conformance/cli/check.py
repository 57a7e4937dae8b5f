"""``iceberg-conformance check``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Literal

from conformance.cli import command_group
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import attrs

    from conformance import vectors
    from conformance.vectors import lint


app = command_group("check")


@app.command(name="vectors")
def check_vectors(*files: Path, format: Literal["text", "json"] = "text") -> int:
    """Lint vector files, and print one line for each finding.

    Exit status: 1 with findings, 2 if a file is not JSON.

    Args:
        files: Vector files or folders of them; by default those that come with the tool.
        format: Text for people, or JSON.
    """
    if format == "json":
        found = lint.lint_files(list(files) or [vectors.shipped()])
        sys.stdout.write(json.dumps([attrs.asdict(finding) for finding in found], indent=2) + "\n")
        return 2 if any(finding.fatal for finding in found) else 1 if found else 0

    return lint.main(["--", *map(str, files or (vectors.shipped(),))])
