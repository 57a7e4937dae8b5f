"""The folders of engines: where they are, and what their ``engine.toml`` contains.

A folder has everything about one engine. Those that come with the tool are in `conformance.engines`;
``ICEBERG_CONFORMANCE_ENGINES`` names further folders of such folders, separated as in ``PATH``. An ``engine.toml``::

    name = "my-engine"              # what the command line calls it
    title = "My Engine"             # what people call it
    about = "reads tables itself"   # a few words for the list of engines
    language = "c++"                # the language that the tested implementation is written in
    version = "1.2.3"
    adapter = "adapter.py"          # a file here, run by the Python of `lock`; without a lock, by the tool's own
    lock = "my-engine-1_2"          # a lock file of Python packages: of this folder, or one that several engines share
    matrix = ["producer", "consumer"]  # its roles in `matrix` if the command line names no engine

    [lock_packages]                 # what `python -m conformance.engine_setup lock NAME` resolves into NAME.txt here
    my-engine-1_2 = ["my-engine==1.2.3"]

Instead of ``adapter``, an engine may have one of these keys:

- ``command``: the words of a command; those that begin with ``./`` are files of the folder.
- ``sources``: a folder with a program that is built on this machine (`conformance.engine_setup.built`). In Java, an
  ``adapter`` beside it starts the program, whose folder is in ``ICEBERG_CONFORMANCE_PROGRAM``.
- ``module``: a module that answers inside the tool.

Further keys are:

- ``jdk = 25``: the sources are only a ``pom.xml`` and a ``jars.lock``, and ``JAVA_HOME`` is set to a full JDK of that
  release or newer. Each module of the pom may have its jars in a subfolder.
- ``unpack = { server = "server-1/lib" }``, if the pom names a ``tar.gz`` instead of jars: for each subfolder of jars,
  the folder of the archive with its files (`conformance.engine_setup.archives`).
- ``large = { disk_mb = 400, minutes = 3 }``: the disk space and time that installing the engine takes. Such an engine
  is installed only if it is named, or with ``--large``.
- ``java = true``, ``jars`` and ``package_jars``: the Java runtime and the jars of an engine that runs on Spark.
- ``classes``: folders with Java sources, which are compiled with those jars and Spark's when the engine is installed;
  beside ``sources``, they are compiled into that program.
- ``[[release]]``: a row for each version, the default one first, with the keys that differ from those above.

The other files of the folder are ``deviations.toml`` (`conformance.runner.expectations`), ``readability.toml``
(`conformance.validator.readability`), ``fingerprints.toml`` (`conformance.validator.fingerprints`) and, for tools of
this repository, ``golden_writer.py``.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import attrs
import rtoml

from conformance.core.failures import UsageError
from spec_ref.core.json_types import Json

VARIABLE = "ICEBERG_CONFORMANCE_ENGINES"
"""The environment variable that names folders of engines beside those that come with the tool."""

FILE = "engine.toml"
SHIPPED_ENGINES = Path(__file__).parent.parent / "engines"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?::[a-z0-9]+)?")
"""The name of an engine, optionally followed by a colon and the name of the form in which it answers."""

ROLES = ("producer", "consumer")

_TEXT = "a non-empty string"
_TEXTS = "a list of texts"
_RELEASE = {
    "version": _TEXT,
    "adapter": _TEXT,
    "command": _TEXTS,
    "sources": _TEXT,
    "module": _TEXT,
    "lock": _TEXT,
    "java": "a boolean",
    "jars": "a list of tables",
    "package_jars": _TEXTS,
    "classes": _TEXTS,
    "large": "a table of disk_mb and minutes, both integers above 0",
    "jdk": "an integer above 0",
    "unpack": "a non-empty table of strings",
    "matrix": f"a list of {' and '.join(ROLES)}",
}
"""The members of a release, with the form of each."""

_ENGINE = {
    **_RELEASE,
    "name": _TEXT,
    "title": _TEXT,
    "about": _TEXT,
    "language": _TEXT,
    "release": "a list of tables",
    "lock_packages": "a table of lists of strings",
}
_JAR = ("organization", "name", "revision", "sha256")
_STARTS = ("adapter", "command", "sources", "module")
BUILT_LANGUAGES = ("go", "rust", "java")
"""The languages of ``sources``: `conformance.engine_setup.built` has a toolchain of each of these names."""


@attrs.frozen(eq=False)
class EngineFolder:
    """A folder with everything about one engine."""

    path: Path
    name: str
    title: str
    about: str
    language: str
    releases: tuple[dict[str, Json], ...]
    """The releases, the default one first; each is complete."""

    lock_packages: dict[str, tuple[str, ...]]

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with the tool."""
        return self.path.parent == SHIPPED_ENGINES

    def data(self, name: str) -> Path | None:
        """Return a file of the folder; None if it does not exist."""
        path = self.path / name
        return path if path.is_file() else None


def engine_folders() -> tuple[EngineFolder, ...]:
    """Return all engines: the one inside the tool first, then by name.

    Raises:
        UsageError: a folder or its ``engine.toml`` is malformed, or two engines have the same name.
    """
    return _read_all(os.environ.get(VARIABLE, ""))


def engine_files(name: str) -> list[Path]:
    """List the files of a name in the folders of all engines, such as ``deviations.toml``."""
    return [path for folder in engine_folders() if (path := folder.data(name)) is not None]


@cache
def _read_all(more: str) -> tuple[EngineFolder, ...]:
    roots = [SHIPPED_ENGINES, *(Path(text).expanduser().absolute() for text in more.split(os.pathsep) if text)]
    found: dict[str, EngineFolder] = {}
    for root in dict.fromkeys(roots):
        for path in _folders(root):
            folder = _read(path)
            if other := found.get(folder.name):
                what = f"found {folder.name!r}, which is the name of {other.path}; expected a unique name"
                raise UsageError(f"{path / FILE}: /name: {what}")
            found[folder.name] = folder
    return tuple(sorted(found.values(), key=lambda one: ("module" not in one.releases[0], one.name)))


def _folders(root: Path) -> list[Path]:
    try:
        paths = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "_")))
    except OSError as error:
        raise UsageError(f"{VARIABLE}: {root}: expected a directory of engine folders: {error.strerror}") from None
    return paths


def _read(path: Path) -> EngineFolder:
    file = path / FILE
    try:
        document = rtoml.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{path}: expected the folder of an engine, with a file {FILE}; found none") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not TOML: {error}") from None
    _check(file, "", document, _ENGINE)
    for key in ("name", "language"):
        if key not in document:
            raise UsageError(f"{file}: /{key}: expected {_ENGINE[key]}, found nothing")
    if not NAME.fullmatch(document["name"]):
        what = "expected lower-case letters and digits, in words separated by hyphens, and at most one colon"
        raise UsageError(f"{file}: /name: {what}, found {document['name']!r}")
    common = {key: value for key, value in document.items() if key in _RELEASE}
    releases = []
    for number, row in enumerate(document.get("release", [{}])):
        place = f"/release/{number}" if "release" in document else ""
        _check(file, place, row, _RELEASE)
        releases.append(_release(file, place, {**common, **row}))
        if "sources" in releases[-1] and document["language"] not in BUILT_LANGUAGES:
            what = f"expected {' or '.join(BUILT_LANGUAGES)} where sources are built, found {document['language']!r}"
            raise UsageError(f"{file}: /language: {what}; for a program that is already built, use command")
        if "sources" in releases[-1] and ("adapter" in releases[-1]) != (document["language"] == "java"):
            what = "expected an adapter beside sources in Java, which starts their program, and none beside others"
            raise UsageError(f"{file}: {place}/sources: {what}")
    return EngineFolder(
        path,
        document["name"],
        document.get("title", document["name"]),
        document.get("about", ""),
        document["language"],
        tuple(releases),
        {name: tuple(packages) for name, packages in document.get("lock_packages", {}).items()},
    )


def _release(file: Path, place: str, row: dict[str, Json]) -> dict[str, Json]:
    """Check that the keys of a release fit together, and return it."""
    started = [key for key in _STARTS if key in row]
    if len(started) != 1 and started != ["adapter", "sources"]:
        found = " and ".join(started) or "none of them"
        raise UsageError(f"{file}: {place or '/'}: expected one of {', '.join(_STARTS)}, found {found}")
    if "version" not in row and "module" not in row:
        raise UsageError(f"{file}: {place}/version: expected {_TEXT}, found nothing")
    if "lock" in row and started != ["adapter"]:
        raise UsageError(f"{file}: {place}/lock: expected none beside {started[-1]}, found {row['lock']!r}")
    if "unpack" in row and not ("jdk" in row and "sources" in row):
        raise UsageError(f"{file}: {place}/unpack: expected jdk and sources beside it")
    named = [(key, row[key]) for key in ("adapter", "sources") if key in row]
    for key, name in [*named, *(("classes", folder) for folder in row.get("classes", ()))]:
        if not (file.parent / name).exists():
            kind = "a file" if key == "adapter" else "a folder"
            raise UsageError(f"{file}: {place}/{key}: expected {kind} beside {FILE}, found no {name}")
    if "classes" in row and not (row.get("java") and ("lock" in row or "sources" in row)):
        what = "expected java and a lock beside it, or java and sources"
        found = " and ".join(key for key in ("java", "lock", "sources") if row.get(key)) or "neither"
        raise UsageError(f"{file}: {place}/classes: {what}; found {found}")
    return row


def _check(file: Path, place: str, row: Json, form: dict[str, str]) -> None:
    if not isinstance(row, dict):
        raise UsageError(f"{file}: {place}: expected a table, found {row!r}")
    for key, value in row.items():
        if key not in form:
            raise UsageError(f"{file}: {place}/{key}: expected one of {', '.join(sorted(form))}; there is no such key")
        if not _fits(key, value):
            raise UsageError(f"{file}: {place}/{key}: expected {form[key]}, found {value!r}")
    for number, jar in enumerate(row.get("jars", ())):
        if set(jar) != set(_JAR) or not _texts([*jar.values()]):
            what = f"expected a table of {', '.join(_JAR)}, found {jar!r}"
            raise UsageError(f"{file}: {place}/jars/{number}: {what}")


def _fits(key: str, value: Json) -> bool:
    match key:
        case "command":
            return _texts(value) and bool(value)
        case "package_jars" | "classes":
            return _texts(value)
        case "matrix":
            return _texts(value) and set(value) <= set(ROLES)
        case "java":
            return isinstance(value, bool)
        case "jdk":
            return type(value) is int and value > 0
        case "large":
            numbers = isinstance(value, dict) and set(value) == {"disk_mb", "minutes"}
            return numbers and all(type(one) is int and one > 0 for one in value.values())
        case "jars" | "release":
            return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
        case "unpack":
            return isinstance(value, dict) and bool(value) and _texts([*value.values()])
        case "lock_packages":
            return isinstance(value, dict) and all(map(_texts, value.values()))
    return isinstance(value, str) and bool(value)


def _texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)
