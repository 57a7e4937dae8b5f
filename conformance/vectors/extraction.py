"""Extract vectors to a folder, with golden tables at the locations that they name, for use by other tools."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.core.failures import HarnessFault, UsageError
from conformance.vectors import vector_files
from conformance.vectors.golden_places import FOLDER, LOCATION, PLACE, absolute_location
from conformance.vectors.golden_tables import INDEX, index, table_files, table_names
from conformance.vectors.relocation.check import table_differences
from conformance.vectors.relocation.paths import Paths
from conformance.vectors.relocation.tables import relocate

COMPLAINTS = 5
"""The maximum number of differences in the message about an incorrectly relocated table."""


@frozen
class ExtractionCounts:
    """The counts of what was extracted."""

    location: str
    vectors: int
    tables: int
    files: int
    """The number of files of tables."""

    rewritten: int
    """The number of these files that contain locations."""


def extract(source: Path, folder: Path, location: str | None = None) -> ExtractionCounts:
    """Write the vectors of a folder and their golden tables to another folder.

    Args:
        source: the folder of vectors.
        folder: the target, which must be empty or not exist.
        location: the location of the tables in their files; by default, their path in the folder.

    Raises:
        UsageError: the folder has files, or its name cannot be a location.
        HarnessFault: a table differs in more than locations and the lengths that follow.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: must be empty or not exist")
    place = location if location is not None else f"{absolute_location(folder)}/{FOLDER}"
    if any(letter in '"\\' or ord(letter) < 32 for letter in place) or place.endswith("/"):
        raise UsageError(f"{place!r}: the name has characters that locations cannot contain")
    tables = folder / FOLDER
    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=lambda at, _: _others(source, Path(at)))
    in_json = Paths(PLACE.as_posix(), json.dumps(place)[1:-1])
    vectors = 0
    for path in vector_files(source):
        target = folder / path.relative_to(source)
        data = in_json.replace(path.read_bytes())
        target.write_bytes(data)
        vectors += len(json.loads(data)["vectors"])
    files = rewritten = 0
    for name in table_names(source):
        known = index(name, source)
        before = table_files(source / FOLDER / name, known["files"])
        after = _relocate_table(before, name, Paths(PLACE.as_posix(), place))
        for file, data in after.items():
            target = tables / name / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        _write_index(source / FOLDER / name / INDEX, tables / name / INDEX, in_json, after)
        files += len(after)
        rewritten += sum(after[file] != before[file] for file in before)
    tables.mkdir(parents=True, exist_ok=True)
    (tables / LOCATION).write_text(json.dumps({"location": place}) + "\n", encoding="utf-8", newline="\n")
    return ExtractionCounts(place, vectors, len(table_names(source)), files, rewritten)


def _others(source: Path, at: Path) -> list[str]:
    """Return the entries that are not copied from a folder: the tables, which are rewritten."""
    return ["tables"] if at == source / FOLDER.parent else []


def _relocate_table(before: dict[str, bytes], name: str, paths: Paths) -> dict[str, bytes]:
    """Return the files of a table for a new location, after comparing them with the original files."""
    after = relocate(before, name, paths).files
    wrong = list(table_differences(before, after, name, paths))
    if wrong:
        raise HarnessFault("a golden table was relocated incorrectly: " + "; ".join(wrong[:COMPLAINTS]))
    return after


def _write_index(source: Path, target: Path, paths: Paths, files: dict[str, bytes]) -> None:
    document: dict[str, Any] = json.loads(paths.replace(source.read_bytes()))
    document["files"] = {name: hashlib.sha256(files[name]).hexdigest() for name in document["files"]}
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8", newline="\n")
