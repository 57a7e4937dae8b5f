"""Golden tables: tables that engines wrote, copied to a place where they can be read.

The files of an Iceberg table name each other by absolute location, and golden tables were written below `PLACE`. Their
bytes are in ``vectors/golden/tables/NAME/`` beside an ``index.json`` with the engine, its statements, the resulting
rows, and the sha256 of each file. `materialize` copies them to a folder and rewrites the locations inside
(`conformance.vectors.relocation`). A run uses a folder of the current user (`tables_folder`), which other users do not
share.

Vectors name the tables by their location below `PLACE`. `LocationMapping` replaces it with the actual location in
requests, and back in answers, so that results do not depend on the machine. Vectors from ``vectors extract`` name the
actual locations, as stated in a file `LOCATION` beside their tables.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json
from conformance.core.lazy_imports import lazy_imports
from conformance.engine_setup.environments import engines_directory, file_lock
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.vectors import Vector, shipped
from conformance.vectors.golden_places import FOLDER, PLACE, absolute_location, named_location
from conformance.vectors.relocation.paths import Paths

with lazy_imports():
    from conformance.vectors.relocation import tables as relocated_tables


INDEX = "index.json"
RELOCATION = Path(__file__).parent / "relocation"


def table_names(source: Path | None = None) -> list[str]:
    """Return the names of the golden tables of a folder of vectors; by default, of the tool's."""
    folder = (source or shipped()) / FOLDER
    return sorted(path.parent.name for path in folder.glob(f"*/{INDEX}"))


def index(name: str, source: Path | None = None) -> dict[str, Any]:
    """Load the index of a golden table: the engine, its statements, the resulting rows, the sha256 of each file.

    Raises:
        UsageError: there is no such table, or its index is malformed.
    """
    if name in ("", ".", "..") or "/" in name:
        raise UsageError(f"{name!r} is not the name of a golden table")
    path = (source or shipped()) / FOLDER / name / INDEX
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"there is no golden table {name!r}: {path}: {error.strerror}") from None
    return parse_index(data, path)


def parse_index(data: bytes, path: object) -> dict[str, Any]:
    """Parse an index; the files that it lists must be below its folder.

    Raises:
        UsageError: it is not an index, or lists a file outside its folder.
    """
    try:
        read = parse_json(data)
    except ValueError as error:
        raise UsageError(f"{path}: broken index: {error}") from None
    if not isinstance(read, dict) or not isinstance(read.get("files"), dict):
        raise UsageError(f"{path}: broken index: files is missing")
    for name, sha256 in read["files"].items():
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name or type(sha256) is not str:
            raise UsageError(f"{path}: broken index: {name!r} is not a file of the table")
    return read


def tables_folder() -> Path:
    """Return the folder from which a run reads golden tables: ``$ICEBERG_CONFORMANCE_TABLES``, or one of this user."""
    if given := os.environ.get("ICEBERG_CONFORMANCE_TABLES"):
        return Path(given).expanduser().absolute()
    return engines_directory() / "golden-tables"


@frozen
class LocationMapping:
    """The mapping of golden tables' locations in requests and answers."""

    paths: Paths | None = None
    """From the location that vectors name to the actual one; None if they are the same."""

    def request(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a vector with actual locations."""
        return args if self.paths is None else self.paths.replace_all(args)

    def answer(self, answer: Answer) -> Answer:
        """Return an answer with the locations that vectors name."""
        if self.paths is None:
            return answer
        back = self.paths.reversed()
        match answer:
            case Ok(value):
                return Ok(back.replace_all(value))
            case Refused(kind, message):
                return Refused(kind, back.replace_text(message))
            case Unsupported(message):
                return Unsupported(back.replace_text(message))
            case Crashed(reason, stderr):
                return Crashed(back.replace_text(reason), back.replace_text(stderr))


def used_golden_tables(vectors: Iterable[Vector]) -> Iterator[tuple[Path, str]]:
    """Yield the golden tables that vectors use: the folder of the vectors, and the name."""
    seen = set()
    for vector in vectors:
        location = vector.args.get("table")
        if not isinstance(location, str):
            continue
        folder = Path(vector.file).parent.parent
        place = named_location(folder)
        if location.startswith(f"{place}/"):
            found = folder, location.removeprefix(f"{place}/").split("/")[0]
            if found not in seen:
                seen.add(found)
                yield found


def materialize_for(vectors: Iterable[Vector], place: Path = PLACE) -> LocationMapping:
    """Copy the golden tables that vectors use to a folder; see `materialize`.

    Args:
        vectors: vectors of one or several folders.
        place: the target folder. Tables of extracted vectors stay where they are.

    Returns:
        The mapping of their locations.
    """
    folders: dict[Path, list[str]] = {}
    for folder, name in used_golden_tables(vectors):
        folders.setdefault(folder, []).append(name)
    moved = False
    for folder, wanted in folders.items():
        if named_location(folder) == PLACE.as_posix():
            materialize(wanted, folder, place)
            moved = True
        else:
            _check_extracted(folder, wanted)
    return golden_location(place) if moved else LocationMapping()


def golden_location(place: Path) -> LocationMapping:
    """Return the mapping from the location that vectors name to a folder."""
    return LocationMapping() if place == PLACE else LocationMapping(Paths(PLACE.as_posix(), absolute_location(place)))


def materialize(names: Iterable[str] | None = None, source: Path | None = None, place: Path = PLACE) -> None:
    """Copy golden tables to a folder, and rewrite the locations inside.

    A table that is already there with exactly its files is kept; any other is replaced completely. Several processes
    may do this at the same time.

    Args:
        names: the names of tables; all by default.
        source: a folder of vectors; by default, the one that comes with the tool.
        place: the target folder; with the default, locations stay unchanged.

    Raises:
        UsageError: a table does not exist, a file differs from the index, or a different user owns the folder.
    """
    folder = source or shipped()
    tables = list(dict.fromkeys(table_names(folder) if names is None else names))
    indexes = {name: index(name, folder) for name in tables}
    if place == PLACE:
        _own(place.parent)
    else:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        absolute_location(place)
    _own(place)
    with file_lock(place.parent / f"{place.name}.lock"):
        for name, known in indexes.items():
            if not _is_materialized(place, name, known["files"]):
                _place_table(folder / FOLDER / name, place, known["files"])


def _check_extracted(folder: Path, wanted: Iterable[str]) -> None:
    for name in wanted:
        known = index(name, folder)["files"]
        if not _has(folder / FOLDER / name, {**known, INDEX: None}):
            raise UsageError(f"{folder / FOLDER / name}: the files differ from the index; extract the vectors again")


def _own(place: Path) -> None:
    """Create a folder to which only this user can write, or check that it is one, as others can write to /tmp."""
    if os.name != "posix" and place.is_relative_to(PLACE.parent):
        raise UsageError(f"golden tables cannot be at {place}, which does not exist on this system")
    try:
        place.mkdir(mode=0o700, parents=False)
    except FileExistsError:
        pass
    except OSError as error:
        raise UsageError(f"golden tables cannot be at {place}, which cannot be created: {error.strerror}") from None
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or (
        os.name == "posix" and (found.st_uid != os.getuid() or found.st_mode & 0o022)
    ):
        raise UsageError(f"golden tables cannot be at {place}, which is not a folder that only this user can write to")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_materialized(place: Path, name: str, files: dict[str, str]) -> bool:
    """Return whether a table is there with its files, unchanged or as relocated to this place."""
    if place != PLACE:
        try:
            made = parse_json(_digest_file(place, name).read_bytes())
        except (OSError, ValueError):
            return False
        if not isinstance(made, dict) or made.get("of") != _digest(place, files):
            return False
        files = made["files"]
    return _has(place / name, files)


def _digest_file(place: Path, name: str) -> Path:
    """Return the path of the file with the digest of a relocated table."""
    return place.parent / f"{place.name}.made" / f"{name}.json"


def _digest(place: Path, files: dict[str, str]) -> str:
    """Return a digest of the inputs from which a relocated table is made, of which the relocating code is one."""
    inputs = [_relocating_code(), absolute_location(place), files]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


@cache
def _relocating_code() -> str:
    """Return a digest of the relocating code: a table that different code relocated is relocated again."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(RELOCATION.glob("*.py")))).hexdigest()


def _has(table: Path, files: Mapping[str, str | None]) -> bool:
    if table.is_symlink() or not table.is_dir():
        return False
    found = {
        path.relative_to(table).as_posix(): path for path in table.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    return found.keys() == files.keys() and all(
        path.is_file() and not path.is_symlink() and files[name] in (None, _sha256(path))
        for name, path in found.items()
    )


def table_files(source: Path, files: dict[str, str]) -> dict[str, bytes]:
    """Return the files of a golden table as the engine wrote them.

    Raises:
        UsageError: a file is missing, or differs from the index.
    """
    found = {}
    for name, sha256 in files.items():
        path = source / PurePosixPath(name)
        try:
            found[name] = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path}: a file of a golden table: {error.strerror}") from None
        if hashlib.sha256(found[name]).hexdigest() != sha256:
            raise UsageError(f"{path}: the sha256 differs from {INDEX}")
    return found


def relocate_files(source: Path, files: dict[str, str], place: Path) -> dict[str, bytes]:
    """Return the files of a golden table, relocated to a folder.

    Raises:
        UsageError: as `table_files`.
    """
    found = table_files(source, files)
    if place == PLACE:
        return found
    return relocated_tables.relocate(found, source.name, Paths(PLACE.as_posix(), absolute_location(place))).files


def _place_table(source: Path, place: Path, files: dict[str, str]) -> None:
    content = relocate_files(source, files, place)
    made = Path(tempfile.mkdtemp(prefix=f".{source.name}.", dir=place))
    try:
        for name, data in content.items():
            target = made / PurePosixPath(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        made.chmod(0o755)
        target = place / source.name
        if target.is_symlink() or target.exists():
            away = Path(tempfile.mkdtemp(prefix=f".{source.name}.old.", dir=place))
            target.rename(away / source.name)
            made.rename(target)
            shutil.rmtree(away)
        else:
            made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    if place != PLACE:
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
        record = _digest_file(place, source.name)
        record.parent.mkdir(mode=0o700, exist_ok=True)
        record.write_text(json.dumps({"of": _digest(place, files), "files": digests}), encoding="utf-8")
