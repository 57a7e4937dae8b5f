"""Golden tables: tables that engines wrote, put where their files say they are.

The files of an Iceberg table name each other by absolute location, so a golden table was written at the fixed place
`PLACE`/NAME and can be read only there. Its bytes are kept in ``vectors/golden/tables/NAME/`` beside an ``index.json``
that tells the engine, its statements, what rows they make, and the sha256 of each file. `materialize` copies them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from conformance.failures import UsageError
from conformance.protocol import parse_json
from conformance.vectors import Vector, shipped

PLACE = Path("/tmp/iceberg-conformance/tables")  # noqa: S108 - the place that stands in the files of the tables
"""Where golden tables were written and have to be read."""

FOLDER = PurePosixPath("golden/tables")
"""Where they are kept, in a folder of vectors."""

INDEX = "index.json"


def names(source: Path | None = None) -> list[str]:
    """The golden tables of a folder of vectors; of the one that comes with the tool where none is given."""
    folder = (source or shipped()) / FOLDER
    return sorted(path.parent.name for path in folder.glob(f"*/{INDEX}"))


def index(name: str, source: Path | None = None) -> dict[str, Any]:
    """What is known about a golden table: the engine, its statements, the rows they make, the sha256 of each file.

    Raises:
        UsageError: there is no such table, or its index is broken.
    """
    if name in ("", ".", "..") or "/" in name:
        raise UsageError(f"{name!r} is no name of a golden table")
    path = (source or shipped()) / FOLDER / name / INDEX
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"there is no golden table {name!r}: {path}: {error.strerror}") from None
    return checked_index(data, path)


def checked_index(data: bytes, path: object) -> dict[str, Any]:
    """The index that a file holds; its files are below the folder that it lies in.

    Raises:
        UsageError: it is no index, or names a file elsewhere.
    """
    try:
        read = parse_json(data)
    except ValueError as error:
        raise UsageError(f"{path}: broken index: {error}") from None
    if not isinstance(read, dict) or not isinstance(read.get("files"), dict):
        raise UsageError(f"{path}: broken index: it has no files")
    for name, sha256 in read["files"].items():
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name or type(sha256) is not str:
            raise UsageError(f"{path}: broken index: {name!r} is no file of the table")
    return read


def named_in(vectors: Iterable[Vector]) -> Iterator[tuple[Path, str]]:
    """The golden tables that vectors ask about: the folder of the vectors, and the name."""
    seen = set()
    for vector in vectors:
        location = vector.args.get("table")
        if isinstance(location, str) and Path(location).is_relative_to(PLACE):
            parts = Path(location).relative_to(PLACE).parts
            found = Path(vector.file).parent.parent, parts[0] if parts else ""
            if found not in seen:
                seen.add(found)
                yield found


def location_complaint(location: str) -> str | None:
    """Why a vector may not ask about the table at a location: only files of golden tables are read for vectors."""
    path = PurePosixPath(location)
    below = path.parts[len(PLACE.parts) :] if path.is_relative_to(PLACE) else ()
    if len(below) > 1 and ".." not in below and "\0" not in location:
        return None
    return f"{location!r} is no file of a golden table, which are below {PLACE}"


def materialize_for(vectors: Iterable[Vector]) -> None:
    """Put the golden tables that vectors ask about where they have to be; see `materialize`."""
    folders: dict[Path, list[str]] = {}
    for folder, name in named_in(vectors):
        folders.setdefault(folder, []).append(name)
    for folder, wanted in folders.items():
        materialize(wanted, folder)


def materialize(wanted: Iterable[str] | None = None, source: Path | None = None, place: Path = PLACE) -> None:
    """Put golden tables where their files say they are.

    A table that is there with exactly its files is left alone, any other is replaced as a whole. Several processes may
    do this at a time.

    Args:
        wanted: names of tables; all where it is left out.
        source: a folder of vectors; the one that comes with the tool where it is left out.
        place: where to; tables can be read only at the place that is the default.

    Raises:
        UsageError: there is no such table, a file is not what the index says, or the place belongs to someone else.
    """
    folder = source or shipped()
    tables = list(dict.fromkeys(names(folder) if wanted is None else wanted))
    indexes = {name: index(name, folder) for name in tables}
    _own(place.parent)
    _own(place)
    with _locked(place.parent / "tables.lock"):
        for name, known in indexes.items():
            if not _is_there(place / name, known["files"]):
                _put(folder / FOLDER / name, place, known["files"])


def _own(place: Path) -> None:
    """Make a folder that only this user writes to, or make sure that it is one: others write to /tmp too."""
    if os.name != "posix":
        raise UsageError(f"golden tables have to be at {place}, which this system does not have")
    try:
        place.mkdir(mode=0o700, parents=False)
    except FileExistsError:
        pass
    except OSError as error:
        raise UsageError(f"golden tables have to be at {place}, which cannot be made: {error.strerror}") from None
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise UsageError(f"golden tables have to be at {place}, which is no folder that only this user writes to")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl  # POSIX alone has it, and this module is imported everywhere

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_there(table: Path, files: dict[str, str]) -> bool:
    if table.is_symlink() or not table.is_dir():
        return False
    found = {str(path.relative_to(table)): path for path in table.rglob("*") if path.is_symlink() or not path.is_dir()}
    return found.keys() == files.keys() and all(
        path.is_file() and not path.is_symlink() and _sha256(path) == files[name] for name, path in found.items()
    )


def _put(kept: Path, place: Path, files: dict[str, str]) -> None:
    made = Path(tempfile.mkdtemp(prefix=f".{kept.name}.", dir=place))
    try:
        for name, sha256 in files.items():
            _copy(kept, made, name, sha256)
        made.chmod(0o755)
        target = place / kept.name
        if target.is_symlink() or target.exists():
            away = Path(tempfile.mkdtemp(prefix=f".{kept.name}.old.", dir=place))
            target.rename(away / kept.name)
            made.rename(target)
            shutil.rmtree(away)
        else:
            made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _copy(kept: Path, made: Path, name: str, sha256: str) -> None:
    relative = PurePosixPath(name)
    try:
        data = (kept / relative).read_bytes()
    except OSError as error:
        raise UsageError(f"{kept / relative}: a file of a golden table: {error.strerror}") from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise UsageError(f"{kept / relative}: not the bytes that the engine wrote, by the sha256 in {INDEX}")
    target = made / relative
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
