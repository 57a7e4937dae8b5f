"""Defaults of options from ``iceberg-conformance.toml``, or from ``[tool.iceberg-conformance]`` in ``pyproject.toml``.

A table for each command has its options by their long names; the command line takes precedence::

    [tool.iceberg-conformance.validate]
    level = "files"
    ignore = ["manifest-file-key-metadata", "SNP011"]

    [tool.iceberg-conformance.run]
    adapter = ["./my-adapter"]
    expect = "known.toml"

The file is the nearest one, in the current directory or above it. Files that it names are relative to it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from cyclopts import App
from cyclopts.config import Dict

from conformance.cli import deprecations
from conformance.core.failures import UsageError

OWN_FILE = "iceberg-conformance.toml"
SHARED_FILE = "pyproject.toml"
TABLE = "iceberg-conformance"

FILES = {"expect": ("known-deviations", "none"), "baseline": (), "results": (), "output": (), "vectors": ()}
"""The options that name files, with the values of each that are not file names."""


def find(directory: Path | None = None) -> tuple[Path, dict[str, Any]] | None:
    """Find the configuration of a directory.

    Args:
        directory: where to start; the current directory by default.

    Returns:
        The file, and its tables by the names of commands; None if there is none.

    Raises:
        UsageError: the file is not TOML, cannot be read, or does not hold tables of options.
    """
    start = (directory or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        for name in (OWN_FILE, SHARED_FILE):
            path = folder / name
            if path.is_file() and (tables := _tables(path)) is not None:
                return path, tables
    return None


def _tables(path: Path) -> dict[str, Any] | None:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        if path.name == SHARED_FILE:  # an error in a shared file is reported by the tools that it belongs to
            return None
        raise UsageError(f"{path}: not TOML: {error}") from None
    if path.name == SHARED_FILE:
        tools = document.get("tool")
        if not isinstance(tools, dict) or TABLE not in tools:
            return None
        document = tools[TABLE]
    if not isinstance(document, dict) or not all(isinstance(table, dict) for table in document.values()):
        raise UsageError(f"{path}: expected a table of options for each command, such as [validate] or [run]")
    return document


def apply(app: App) -> None:
    """Let a command line take defaults from the configuration of the current directory.

    Args:
        app: the command line.

    Raises:
        UsageError: as `find`; or the file has a table whose name is not a command.
    """
    found = find()
    if found is None:
        return
    path, given = found
    tables = deprecations.current_tables(given)
    commands = set(app) - {"--help", "-h", "--version"}
    for name in tables:
        if name not in commands:
            raise UsageError(f"{path}: [{name}] is not a command; the commands are {', '.join(sorted(commands))}")
    data = {name: _with_files(path.parent, table) for name, table in tables.items()}
    app.config = (Dict(data, source=str(path)),)


def _with_files(folder: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Resolve the files that options of a command name against the folder of the configuration."""

    def place(name: str, value: Any) -> Any:
        if name not in FILES or not isinstance(value, str) or value in FILES[name]:
            return value
        return str(folder / value)

    return {name: place(name, value) for name, value in table.items()}
