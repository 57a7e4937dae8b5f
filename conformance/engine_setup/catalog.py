"""The engines and catalog servers that can be installed, as defined by their folders and ``shared.toml``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeAlias

import attrs
import rtoml

from conformance.core.counts import plural
from conformance.core.failures import UsageError
from conformance.engine_setup.folders import FILE, EngineFolder, engine_folders

HERE = Path(__file__).parent
SERVERS = HERE.parent / "table_io" / "catalogs" / "servers"


class EngineError(Exception):
    """An engine cannot be installed or used; the message names the engine and the reason in one line."""

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(f"{engine}: {' '.join(reason.split())}")
        self.engine = engine
        self.reason = reason


@attrs.frozen
class Jar:
    """A Java library: its Maven coordinates, and the SHA-256 of its file."""

    organization: str
    name: str
    revision: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.revision}.jar"


@attrs.frozen
class Large:
    """The disk space and time to install an engine that is not installed with all others."""

    disk_mb: int
    """The disk space in megabytes that the installation takes at most, including the caches of Maven, Go and Rust."""

    minutes: int
    """The duration of the installation on two processors with empty caches."""

    def __str__(self) -> str:
        return f"about {self.disk_mb} MB of disk and {plural(self.minutes, 'minute')}"


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


def _jars(rows: Iterable[dict[str, str]]) -> tuple[Jar, ...]:
    return tuple(Jar(**row) for row in rows)


def _large(row: dict[str, int] | None) -> Large | None:
    return None if row is None else Large(**row)


@attrs.frozen(kw_only=True)
class Engine:
    """One engine at one version."""

    name: str
    version: str
    language: str
    """The language in which the tested implementation is written."""

    folder: Path
    """The folder with everything about it."""

    adapter: str = ""
    """The adapter in the folder, which runs inside the engine's environment."""

    command: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """Instead of `adapter`: a command; words that begin with ``./`` are files of the folder."""

    module: str = ""
    """Instead of `adapter`: a module that answers inside the tool, so that nothing is installed."""

    sources: str = ""
    """The folder in `folder` with a program in the engine's language, which `adapter` starts if there is one; see
    `built`."""

    classes: tuple[str, ...] = attrs.field(default=(), converter=_names)
    """Folders with Java sources, relative to `folder`, which are compiled with the jars, or with `sources`."""

    lock: str = ""
    """The name of the lock file with the Python packages of the environment; without one, the tool's Python is used."""

    jdk: int = 0
    """The oldest release of a full JDK that `adapter` needs; 0 if it needs none."""

    unpack: dict[str, str] = attrs.field(factory=dict, eq=False)
    """For each folder of jars, the folder of the fetched archive with its files; empty where jars are fetched."""

    java: bool = False
    jars: tuple[Jar, ...] = attrs.field(default=(), converter=_jars)
    package_jars: tuple[str, ...] = attrs.field(default=(), converter=_names)
    """Jars that come inside a Python package: paths under ``site-packages``."""

    matrix: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """Its default roles in a matrix: ``producer``, ``consumer``, both or none."""

    large: Large | None = attrs.field(default=None, converter=_large)
    """The disk space and time for an engine that is too large to be installed with all others."""

    default: bool = False
    """Whether the name without a version means this version."""

    @property
    def by_name(self) -> bool:
        """Whether it is installed only if it is named or if all large engines are installed."""
        return self.large is not None

    @property
    def label(self) -> str:
        """The shortest name that means this engine: ``name``, or ``name@version``."""
        return self.name if self.default else f"{self.name}@{self.version}"

    @property
    def source_folder(self) -> Path:
        """The folder with the sources of its program."""
        return self.folder / self.sources

    @property
    def class_folders(self) -> tuple[Path, ...]:
        """The folders of `classes`."""
        return tuple(self.folder / one for one in self.classes)

    @property
    def toolchain(self) -> str:
        """The toolchain that builds the sources, or only fetches the jars that they name."""
        return "jars" if self.jdk else self.language

    @property
    def build_name(self) -> str:
        """The name of its build; builds of several versions exist side by side."""
        return f"{self.name}-{self.version}" if self.jdk else self.name

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@attrs.frozen(kw_only=True)
class CatalogServer:
    """One version of a catalog server."""

    name: str
    version: str
    title: str
    """A short description."""

    toolchain: str = ""
    """The toolchain that builds it from its folder in `catalogs/servers`; see `built`."""

    java: int = 0
    """The oldest release of Java on which it runs."""

    lock: str = ""
    """The name of the lock file with the Python packages of a server in Python."""

    @property
    def label(self) -> str:
        """Its name on the command line."""
        return self.name

    @property
    def source_folder(self) -> Path:
        """The folder with its sources."""
        return SERVERS / self.name

    @property
    def class_folders(self) -> tuple[Path, ...]:
        """Further folders with Java sources: a server has none."""
        return ()

    @property
    def build_name(self) -> str:
        """The name of the folder of its build."""
        return self.name

    @property
    def unpack(self) -> dict[str, str]:
        """The folders of an archive to unpack: a server has none."""
        return {}

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


Installed: TypeAlias = Engine | CatalogServer
"""The things that `engines install` installs."""


@attrs.frozen
class JavaRange:
    """The Java releases on which the engines run, and the lock of the runtime for machines without any of them."""

    oldest: int
    newest: int
    lock: str


@attrs.frozen
class Catalog:
    """The contents of the engines' folders and of ``shared.toml``."""

    all_versions: tuple[Engine, ...]
    """All versions of all engines, including those that answer inside the tool."""

    java: JavaRange
    locks: dict[str, tuple[str, ...]]
    """For each lock name, the packages from which it is resolved."""

    lock_files: dict[str, Path]
    """For each lock name, the file with the resolved packages."""

    servers: tuple[CatalogServer, ...]

    @property
    def engines(self) -> tuple[Engine, ...]:
        """The engines that are installed, or run as a command."""
        return tuple(engine for engine in self.all_versions if not engine.module)


def catalog() -> Catalog:
    """Read the folders of engines, and ``shared.toml``.

    Raises:
        UsageError: a folder is malformed.
    """
    return _catalog(engine_folders())


@cache
def _catalog(folders: tuple[EngineFolder, ...]) -> Catalog:
    document = rtoml.loads(HERE.joinpath("shared.toml").read_text(encoding="utf-8"))
    locks = {name: tuple(packages) for name, packages in document["lock_packages"].items()}
    places = dict.fromkeys(locks, HERE / "locks")
    servers = []
    for row in document["server"]:
        packages = row.pop("lock_packages", None)
        servers.append(CatalogServer(**row))
        if packages:
            locks[row["lock"]], places[row["lock"]] = tuple(packages), servers[-1].source_folder
    for folder in folders:
        for name, wanted in folder.lock_packages.items():
            if name in locks:
                what = f"expected a unique name, but {places[name]} has this lock, too"
                raise UsageError(f"{folder.path / FILE}: /lock_packages/{name}: {what}")
            locks[name], places[name] = wanted, folder.path
    engines = [
        Engine(
            name=folder.name,
            language=folder.language,
            folder=folder.path,
            default=number == 0,
            **{"version": "", **release},
        )
        for folder in folders
        for number, release in enumerate(folder.releases)
    ]
    for engine in engines:
        if engine.lock and engine.lock not in locks:
            known = ", ".join(sorted(locks))
            raise UsageError(f"{engine.folder / FILE}: /lock: expected one of {known}, found {engine.lock!r}")
    return Catalog(
        all_versions=tuple(engines),
        java=JavaRange(**document["java"]),
        locks=locks,
        lock_files={name: place / f"{name}.txt" for name, place in places.items()},
        servers=tuple(servers),
    )


def find_engine(name: str) -> Engine:
    """Return the engine for ``name`` or ``name@version``; the version may be shortened (``spark-reference@3.5``).

    Raises:
        EngineError: there is no such engine or version.
    """
    plain, _, version = name.partition("@")
    named = [engine for engine in catalog().engines if engine.name == plain]
    if not named:
        known = ", ".join(dict.fromkeys(engine.name for engine in catalog().engines))
        raise EngineError(name, f"unknown engine; the engines are {known}")
    if not version:
        return next(engine for engine in named if engine.default)
    for engine in named:
        if engine.version == version or engine.version.startswith(version + "."):
            return engine
    raise EngineError(name, f"unknown version; the versions are {', '.join(engine.version for engine in named)}")


def find_server(name: str) -> CatalogServer:
    """Return the catalog server with a name.

    Raises:
        EngineError: there is no such server.
    """
    for server in catalog().servers:
        if server.name == name:
            return server
    known = ", ".join(server.name for server in catalog().servers)
    raise EngineError(name, f"unknown catalog server; the servers are {known}")


def lock_text(name: str) -> str:
    """Return the text of a lock file: packages, versions and hashes, as pip reads them.

    Raises:
        EngineError: the lock file does not exist.
    """
    path = catalog().lock_files[name]
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        command = f"python -m conformance.engine_setup lock {name}"
        raise EngineError(name, f"the lock file {path} does not exist; run `{command}`") from None


def lock_names() -> list[str]:
    """Return the names of all locks that have a file."""
    return sorted(name for name, path in catalog().lock_files.items() if path.is_file())
