"""Locations of tables in catalogs of PyIceberg's configuration: ``catalog:NAME.TABLE``, and patterns of tables.

PyIceberg runs in a separate environment (`catalog_process`), with the configuration and the environment variables of
the caller. It only returns the names of tables and the locations of their metadata files.
"""

from __future__ import annotations

import json
import os
import queue
import re
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import attrs

from conformance.core.failures import NothingSelected, UsageError
from conformance.core.lazy_imports import lazy_imports
from conformance.validator.catalog_process import WILDCARD
from conformance.validator.table_root import UnreadableTable

with lazy_imports():
    import subprocess
    import tempfile

    from conformance import engine_setup


PREFIX = "catalog:"
SECONDS = 120

_FILE = ".pyiceberg.yaml"
_HOME = "PYICEBERG_HOME"
_UNREACHABLE = {
    "ConnectionError",
    "ConnectTimeout",
    "ConnectTimeoutError",
    "OperationalError",
    "TTransportException",
    "EndpointConnectionError",
    "NoCredentialsError",
    "NoRegionError",
    "URLError",
    "Timeout",
    "TimeoutError",
}
"""Classes of errors that the clients of PyIceberg's catalogs raise if nothing answers."""


def configuration_places(name: str) -> str:
    """Describe where PyIceberg looks for the configuration of a catalog, and what exists there, without values.

    Args:
        name: the catalog's name.
    """
    places = [f"{path} ({'exists' if path.is_file() else 'does not exist'})" for path in _files()]
    found = ", ".join(_variables(name)) or "none is set"
    return ", ".join([*places, f"the environment variables {_prefix(name)}* ({found})"])


def _files() -> list[Path]:
    directories = dict.fromkeys(filter(None, (os.environ.get(_HOME), str(Path.home()), str(Path.cwd()))))
    return [Path(directory, _FILE) for directory in directories]


def _prefix(name: str) -> str:
    return f"PYICEBERG_CATALOG__{name.upper()}__"


def _variables(name: str) -> list[str]:
    return sorted(key for key in os.environ if key.upper().startswith(_prefix(name)))


def explain_error(name: str, error: str, error_class: str | None = None) -> str:
    """Describe an error of a catalog, with the catalog's name and the places of its configuration.

    Args:
        name: the catalog's name.
        error: the error of PyIceberg: the name of the class, and the message.
        error_class: the name of the class; None if the process raised no error.
    """
    if not _variables(name) and not any(path.is_file() for path in _files()):
        return f"catalog {name} is not configured: its configuration was looked for in {configuration_places(name)}"
    unreachable = "the catalog cannot be reached: " if error_class in _UNREACHABLE else ""
    return f"catalog {name}: {unreachable}{error}; its configuration was looked for in {configuration_places(name)}"


@attrs.frozen
class CatalogLocation:
    """The catalog and the table that a location names."""

    catalog: str
    table: str
    """The identifier of a table, or a pattern of identifiers."""

    @property
    def is_pattern(self) -> bool:
        """Whether it may name several tables."""
        return WILDCARD in self.table

    @property
    def location(self) -> str:
        """The location."""
        return f"{PREFIX}{self.catalog}.{self.table}"

    def matching(self, identifiers: Iterable[str]) -> list[str]:
        """Select the identifiers that a pattern names, in order; a ``*`` matches any text, dots included."""
        pattern = re.compile(".*".join(map(re.escape, self.table.split(WILDCARD))), re.DOTALL)
        return sorted(one for one in identifiers if pattern.fullmatch(one))


def parse_location(location: str) -> CatalogLocation | None:
    """Return the catalog and the table that a location names; None if the location is not in a catalog.

    Args:
        location: the location from the command line; ``catalog:NAME`` alone means all tables.

    Raises:
        UsageError: it names no catalog or no table.
    """
    if not location.startswith(PREFIX):
        return None
    name, dot, table = location.removeprefix(PREFIX).partition(".")
    if not dot:
        table = WILDCARD
    if not name or not table or WILDCARD in name:
        raise UsageError(
            f"{location}: a table of a catalog is catalog:NAME.NAMESPACE.TABLE, many are catalog:NAME.NAMESPACE.* or"
            " catalog:NAME"
        )
    if WILDCARD not in table and "." not in table:
        raise UsageError(
            f"{location}: a table is named with its namespace, catalog:NAME.NAMESPACE.TABLE; all tables of a namespace"
            f" are {location}.*"
        )
    return CatalogLocation(name, table)


class _Process:
    """A process that queries one catalog."""

    def __init__(self, name: str) -> None:
        """Start it.

        Raises:
            EngineError: PyIceberg is not installed.
        """
        launched = engine_setup.launch("pyiceberg")
        script = str(Path(__file__).with_name("catalog_process.py"))
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._process = subprocess.Popen(
            [launched.command[0], script, name],
            env=launched.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises:
            OSError: the process ended, or did not answer in time.
        """
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # then there is no answer
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        try:
            line = self._answers.get(timeout=SECONDS)
        except queue.Empty:
            raise OSError(f"no answer for {SECONDS} seconds") from None
        if not line:
            raise OSError(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return f"PyIceberg's process ended: {lines[-1] if lines else f'exit status {self._process.returncode}'}"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream is not None
            with suppress(BrokenPipeError):  # the process ended before it read the last request
                stream.close()


class Catalogs:
    """The catalogs that one command uses; a process is started once for each."""

    def __init__(self) -> None:
        """Start no process yet."""
        self._processes: dict[str, _Process] = {}
        self._identifiers: dict[str, list[str]] = {}
        """The parts of the names of listed tables, by location."""

    def __enter__(self) -> Self:
        """Return the catalogs."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()

    def tables(self, name: CatalogLocation) -> tuple[list[str], dict[str, str]]:
        """Return the tables that a pattern names.

        Args:
            name: the catalog and the pattern.

        Returns:
            The locations of the tables, and the errors of namespaces that could not be listed, by their names.

        Raises:
            UnreadableTable: PyIceberg is not installed, or the catalog cannot be listed.
            NothingSelected: the catalog has no such table.
        """
        answer = self._ask(name, {"list": name.table})
        identifiers = {".".join(parts): parts for parts in answer["tables"]}
        found = {CatalogLocation(name.catalog, one).location: identifiers[one] for one in name.matching(identifiers)}
        self._identifiers |= found
        failed = dict(answer["failed"])
        if not found and not failed:
            raise NothingSelected(f"{name.location}: the catalog {name.catalog} has no such table")
        return list(found), failed

    def metadata_location(self, location: str) -> str:
        """Return the metadata file of a table in a catalog; return any other location unchanged.

        Args:
            location: the location of one table.

        Raises:
            UsageError: the location names no catalog, no table, or many tables.
            UnreadableTable: PyIceberg is not installed, or the catalog does not return the table.
        """
        parts = self._identifiers.get(location)
        name = parse_location(location)
        if name is None:
            return location
        if parts is None and name.is_pattern:
            raise UsageError(f"{location}: expected one table, and this may name many")
        found = self._ask(name, {"load": parts or name.table.split(".")})["location"]
        if not isinstance(found, str):
            raise UnreadableTable(f"{location}: the catalog {name.catalog} names no metadata file of it")
        return found

    def _ask(self, name: CatalogLocation, request: dict[str, Any]) -> dict[str, Any]:
        try:
            process = self._processes.get(name.catalog)
            if process is None:
                process = self._processes[name.catalog] = _Process(name.catalog)
            answer = process.request(request)
        except engine_setup.EngineError as error:
            raise UnreadableTable(f"{name.location}: catalogs are queried through PyIceberg: {error}") from None
        except OSError as error:
            if name.catalog in self._processes:
                self._processes.pop(name.catalog).close()
            raise UnreadableTable(f"{name.location}: {explain_error(name.catalog, str(error))}") from None
        if "error" not in answer:
            return answer
        described, error_class = answer["error"], answer["error_class"]
        if name.location in self._identifiers and error_class not in _UNREACHABLE:
            raise UnreadableTable(f"{name.location}: catalog {name.catalog}: {described}")
        raise UnreadableTable(f"{name.location}: {explain_error(name.catalog, described, error_class)}")


def resolve_location(location: str) -> str:
    """Return the metadata file of a table in a catalog; return any other location unchanged.

    Raises:
        UsageError: the location names no catalog, no table, or many tables.
        UnreadableTable: PyIceberg is not installed, or the catalog does not give the table.
    """
    with Catalogs() as catalogs:
        return catalogs.metadata_location(location)
