"""``iceberg-conformance vectors``: exchanging them with apache/iceberg-verification."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from conformance.failures import ExitStatus, UsageError

Documents = dict[str, dict[str, Any]]

app = App(name="vectors", help="Import and export vectors of types and schemas.", help_format="plaintext")


@app.command(name="import")
def import_(
    checkout: Annotated[Path, Parameter(name="CHECKOUT")],
    folder: Annotated[Path, Parameter(name="FOLDER")],
    /,
    *,
    commit: str,
    format: Literal["text", "json"] = "text",
) -> int:
    """Make vectors of the cases of apache/iceberg-verification; run takes the folder as --vectors.

    Args:
        checkout: The root of a checkout of that project.
        folder: Where the vectors go.
        commit: The commit that is checked out; the origin of each vector names it.
        format: Text for people, or JSON.
    """
    from conformance.interchange import counted, imported, write_vectors

    if not re.fullmatch("[0-9a-f]{7,40}", commit):
        raise UsageError(f"--commit {commit}: 7 to 40 lower-case hexadecimal digits")
    documents = imported(checkout, commit)
    return _written(write_vectors, folder, documents, counted(documents.values(), "vectors"), format)


@app.command(name="export")
def export_(folder: Annotated[Path, Parameter(name="FOLDER")], /, *, format: Literal["text", "json"] = "text") -> int:
    """Write our vectors of types and schemas as cases of apache/iceberg-verification.

    Args:
        folder: Where table-spec/SURFACE/DIRECTORY/cases.json go.
        format: Text for people, or JSON.
    """
    from conformance import vectors
    from conformance.interchange import counted, exported, write_cases

    documents = exported(vectors.load(vectors.shipped()))
    return _written(write_cases, folder, documents, counted(documents.values(), "cases"), format)


def _written(
    write: Callable[[Path, Documents], None], folder: Path, documents: Documents, cases: int, format: str
) -> int:
    try:
        write(folder, documents)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from None
    if format == "json":
        sys.stdout.write(json.dumps({"files": sorted(documents), "cases": cases}, indent=2) + "\n")
    else:
        print(f"{cases} cases in {len(documents)} files below {folder}")
    return ExitStatus.CONFORMANT
