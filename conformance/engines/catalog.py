"""The engines that can be set up here, as `engines.toml` states them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TypeAlias

import attrs


class EngineError(Exception):
    """An engine cannot be had; the message is one line that names the engine and the reason."""

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(f"{engine}: {' '.join(reason.split())}")
        self.engine = engine
        self.reason = reason


@attrs.frozen
class Jar:
    """A Java library by its Maven coordinates, and the SHA-256 that its file must have."""

    organization: str
    name: str
    revision: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.revision}.jar"


def _jars(rows: Iterable[dict[str, str]]) -> tuple[Jar, ...]:
    return tuple(Jar(**row) for row in rows)


@attrs.frozen(kw_only=True)
class Engine:
    """One engine at one version."""

    name: str
    version: str
    language: str
    """The language the tested implementation is written in."""

    adapter: str = ""
    """The module that speaks the protocol for it, run inside the engine's environment."""

    lock: str = ""
    """The name of the lock file with the Python packages of the environment."""

    sources: str = ""
    """The folder of `adapters` with a program in the engine's language, which takes the place of both; see `built`."""

    arguments: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    java: bool = False
    jars: tuple[Jar, ...] = attrs.field(default=(), converter=_jars)
    package_jars: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    """Jars that come inside a Python package: paths under ``site-packages``."""

    default: bool = False
    """Whether the bare name means this version."""

    @property
    def by_name(self) -> bool:
        """Whether it is installed when it is named only: building it takes minutes and gigabytes."""
        return bool(self.sources)

    @property
    def label(self) -> str:
        """The shortest name that means this engine: ``name``, or ``name@version``."""
        return self.name if self.default else f"{self.name}@{self.version}"

    @property
    def folder(self) -> str:
        """The folder with the sources, below the package."""
        return f"adapters/{self.sources}"

    @property
    def toolchain(self) -> str:
        """What builds the sources."""
        return self.language

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@attrs.frozen(kw_only=True)
class CatalogServer:
    """The server of a catalog, at one version."""

    name: str
    version: str
    title: str
    """What it is, in a few words."""

    toolchain: str = ""
    """What builds it from the folder of `catalogs/servers` that has its name; see `built`."""

    java: int = 0
    """The oldest release of Java that it runs on."""

    lock: str = ""
    """The name of the lock file with the Python packages of a server in Python."""

    @property
    def label(self) -> str:
        """Its name on the command line."""
        return self.name

    @property
    def folder(self) -> str:
        """The folder with the sources, below the package."""
        return f"catalogs/servers/{self.name}"

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


Installed: TypeAlias = Engine | CatalogServer
"""What `engines install` installs."""


@attrs.frozen
class JavaRange:
    """The Java releases that the engines run on, and the lock of the runtime for machines with none of them."""

    oldest: int
    newest: int
    lock: str


@attrs.frozen
class Catalog:
    """All that `engines.toml` says."""

    engines: tuple[Engine, ...]
    java: JavaRange
    locks: dict[str, tuple[str, ...]]
    """Lock name to the packages that it is resolved from."""

    servers: tuple[CatalogServer, ...]


@cache
def catalog() -> Catalog:
    """Read `engines.toml`."""
    document = tomllib.loads(files("conformance").joinpath("engines.toml").read_text(encoding="utf-8"))
    engines: list[Engine] = []
    for row in document["engine"]:
        first = all(engine.name != row["name"] for engine in engines)
        engines.append(Engine(**row, default=first))
    return Catalog(
        engines=tuple(engines),
        java=JavaRange(**document["java"]),
        locks={name: tuple(table["packages"]) for name, table in document["lock"].items()},
        servers=tuple(CatalogServer(**row) for row in document["server"]),
    )


def find_engine(name: str) -> Engine:
    """The engine that ``name`` or ``name@version`` means; the version may be shortened (``spark-reference@3.5``).

    Raises:
        EngineError: no engine or version is called so.
    """
    plain, _, version = name.partition("@")
    named = [engine for engine in catalog().engines if engine.name == plain]
    if not named:
        known = ", ".join(dict.fromkeys(engine.name for engine in catalog().engines))
        raise EngineError(name, f"no such engine; there are {known}")
    if not version:
        return next(engine for engine in named if engine.default)
    for engine in named:
        if engine.version == version or engine.version.startswith(version + "."):
            return engine
    raise EngineError(name, f"no such version; there are {', '.join(engine.version for engine in named)}")


def find_server(name: str) -> CatalogServer:
    """The server of a catalog that has a name.

    Raises:
        EngineError: none is called so.
    """
    for server in catalog().servers:
        if server.name == name:
            return server
    known = ", ".join(server.name for server in catalog().servers)
    raise EngineError(name, f"there is no such server of a catalog; there are {known}")


def lock_text(name: str) -> str:
    """The lock file of this name: packages, versions and hashes, as pip reads them."""
    return files("conformance").joinpath("engine_locks", f"{name}.txt").read_text(encoding="utf-8")


def lock_names() -> list[str]:
    """The names of all lock files."""
    folder = files("conformance").joinpath("engine_locks")
    return sorted(file.name.removesuffix(".txt") for file in folder.iterdir() if file.name.endswith(".txt"))
