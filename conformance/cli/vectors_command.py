"""``iceberg-conformance vectors``: extract vectors, and exchange them with apache/iceberg-verification."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from conformance.cli import command_group
from conformance.core.counts import plural
from conformance.core.failures import ExitStatus, UsageError
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    import attrs

    from conformance import vectors
    from conformance.vectors import extraction, interchange


Documents = dict[str, dict[str, Any]]

app = command_group("vectors")


@app.command(name="import")
def import_(
    checkout: Annotated[Path, Parameter(name="CHECKOUT")],
    folder: Annotated[Path, Parameter(name="FOLDER")],
    /,
    *,
    commit: str,
    format: Literal["text", "json"] = "text",
) -> int:
    """Convert the cases of apache/iceberg-verification to vectors, for run --vectors.

    Args:
        checkout: The root of a checkout of that project.
        folder: The folder to write the vectors to.
        commit: The commit that is checked out, which becomes part of each vector's origin.
        format: Text for people, or JSON.
    """
    if not re.fullmatch("[0-9a-f]{7,40}", commit):
        raise UsageError(f"--commit {commit}: expected 7 to 40 lower-case hexadecimal digits")
    documents = interchange.import_cases(checkout, commit)
    return _written(
        interchange.write_vectors, folder, documents, interchange.count_cases(documents.values(), "vectors"), format
    )


@app.command(name="export")
def export_(folder: Annotated[Path, Parameter(name="FOLDER")], /, *, format: Literal["text", "json"] = "text") -> int:
    """Write the vectors of types and schemas as cases of apache/iceberg-verification.

    Args:
        folder: The folder to write table-spec/SURFACE/DIRECTORY/cases.json to.
        format: Text for people, or JSON.
    """
    documents = interchange.export_cases(vectors.load(vectors.shipped()))
    return _written(
        interchange.write_cases, folder, documents, interchange.count_cases(documents.values(), "cases"), format
    )


@app.command(name="extract")
def extract_(
    folder: Annotated[Path, Parameter(name="DIR")],
    /,
    *,
    location: str | None = None,
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
    format: Literal["text", "json"] = "text",
) -> int:
    """Write the vectors and their golden tables to a folder, for use without this tool.

    The locations in the tables and in the vectors are rewritten to the folder. Everything else stays byte for byte:
    each file that changed is compared with its source, and only locations may differ, and the lengths, offsets and
    checksums that depend on them. run takes the folder as --vectors.

    Args:
        folder: An empty folder, or one that does not exist.
        location: The location to write into the tables, for a folder that is mounted or copied elsewhere.
        vectors_: A folder of vectors to use instead of those that come with the tool.
        format: Text for people, or JSON.
    """
    try:
        found = extraction.extract(vectors_ or vectors.shipped(), folder, location)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from None
    if format == "json":
        sys.stdout.write(json.dumps(attrs.asdict(found), indent=2) + "\n")
    else:
        print(f"{plural(found.vectors, 'vector')} in {folder}, {plural(found.tables, 'table')} at {found.location}")
        print(f"{found.rewritten:,} of {plural(found.files, 'table file')} rewritten, with changes only in locations")
    return ExitStatus.CONFORMANT


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
        print(f"{plural(cases, 'case')} in {plural(len(documents), 'file')} below {folder}")
    return ExitStatus.CONFORMANT
