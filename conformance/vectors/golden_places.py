"""The locations of golden tables, in the files of the tables and in a folder of vectors."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json

PLACE = Path("/tmp/iceberg-conformance/tables")  # noqa: S108 - the location in the files of the tables
"""The folder to which golden tables were written, and by which vectors name them."""

LOCATION = "location.json"
"""The file beside the tables of extracted vectors that states their location."""

FOLDER = PurePosixPath("golden/tables")
"""The path of golden tables in a folder of vectors."""


def named_location(folder: Path) -> str:
    """Return the location, with slashes, below which the vectors of a folder name golden tables.

    Raises:
        UsageError: the vectors were extracted to a different folder than the one where they are.
    """
    path = folder / FOLDER / LOCATION
    if not path.is_file():
        return PLACE.as_posix()
    try:
        stated = parse_json(path.read_bytes())["location"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path}: must be an object with a location") from None
    here = absolute_location(path.parent)
    if stated != here:  # vectors may only cause reads below their own folder, whatever they name
        raise UsageError(f"{path}: the vectors were extracted to {stated!r}; extract them again to read them in {here}")
    return here


def absolute_location(folder: Path) -> str:
    """Return a folder in the form of locations in tables: absolute, with slashes, without symbolic links.

    Raises:
        UsageError: its name has a character that must be escaped in JSON.
    """
    text = folder.resolve().as_posix()
    if any(letter in '"\\' or ord(letter) < 32 for letter in text):
        raise UsageError(f"{text!r}: the name has characters that locations cannot contain")
    return text


def location_violation(location: str, named: str) -> str | None:
    """Describe why a vector must not use the table at a location; None if it may. Only golden tables are read.

    Args:
        location: the location that a vector names.
        named: the location below which its folder names golden tables (`named_location`).
    """
    path, place = PurePosixPath(location), PurePosixPath(named)
    below = path.parts[len(place.parts) :] if path.is_relative_to(place) else ()
    if len(below) > 1 and ".." not in below and "\0" not in location:
        return None
    return f"{location!r} is not a file of a golden table; golden tables are below {place}"
