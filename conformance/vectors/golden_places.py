"""Where golden tables are, in the files of the tables and in a folder of vectors."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json

PLACE = Path("/tmp/iceberg-conformance/tables")  # noqa: S108 - the location in the files of the tables
"""Where golden tables were written, by which vectors name them."""

LOCATION = "location.json"
"""Beside the tables of extracted vectors: where they are."""

FOLDER = PurePosixPath("golden/tables")
"""Where they are kept, in a folder of vectors."""


def named_place(folder: Path) -> str:
    """The folder below which the vectors of a folder name golden tables, with slashes.

    Raises:
        UsageError: the vectors were extracted to another folder than the one where they are.
    """
    path = folder / FOLDER / LOCATION
    if not path.is_file():
        return PLACE.as_posix()
    try:
        stated = parse_json(path.read_bytes())["location"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path}: it has to be an object with a location") from None
    here = location_of(path.parent)
    if stated != here:  # what is read for vectors is below their own folder, whatever they say
        raise UsageError(f"{path}: the vectors were extracted to {stated!r}; extract them again to read them in {here}")
    return here


def location_of(folder: Path) -> str:
    """A folder as locations in tables have it: absolute, with slashes, without links.

    Raises:
        UsageError: its name has a character that locations in JSON would have to escape.
    """
    text = folder.resolve().as_posix()
    if any(letter in '"\\' or ord(letter) < 32 for letter in text):
        raise UsageError(f"{text!r}: tables cannot be in a folder of this name")
    return text


def location_complaint(location: str, folder: Path) -> str | None:
    """Why a vector may not ask about the table at a location: only files of golden tables are read for vectors."""
    path, place = PurePosixPath(location), PurePosixPath(named_place(folder))
    below = path.parts[len(place.parts) :] if path.is_relative_to(place) else ()
    if len(below) > 1 and ".." not in below and "\0" not in location:
        return None
    return f"{location!r} is not a file of a golden table, which are below {place}"
