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

from pathlib import Path
from typing import Any

import rtoml
from cyclopts import App

from conformance.cli import deprecations
from conformance.core.failures import UsageError, suggest_names
from conformance.core.lazy_imports import lazy_imports

with lazy_imports():
    from cyclopts import config

OWN_FILE = "iceberg-conformance.toml"
SHARED_FILE = "pyproject.toml"
TABLE = "iceberg-conformance"

UNCONFIGURED = frozenset({"doctor"})
"""The commands that take no options from the configuration: one reports what is wrong with it."""

FILES = {"expect": ("known-deviations", "none"), "baseline": (), "results": (), "output": (), "vectors": ()}
"""The options that name files, with the values of each that are not file names."""


def find(directory: Path | None = None) -> tuple[Path, dict[str, Any]] | None:
    """Find the configuration of a directory.

    Args:
        directory: where to start; the current directory by default.

    Returns:
        The file, and its tables by the names of commands; None if there is no file.

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
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        document = rtoml.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, rtoml.TomlParsingError) as error:
        if path.name == SHARED_FILE and TABLE.encode() not in data:  # the tools that use the file report the error
            return None
        raise UsageError(f"{path}: not TOML: {error}") from None
    if path.name == SHARED_FILE:
        tools = document.get("tool")
        if not isinstance(tools, dict) or TABLE not in tools:
            return None
        options: Any = tools[TABLE]
        document = options if isinstance(options, dict) else {TABLE: options}
    for name, table in document.items():
        if not isinstance(table, dict):
            prefix = f"tool.{TABLE}." if path.name == SHARED_FILE else ""
            raise UsageError(
                f"{path}: {name}: expected a table of options for each command, such as [{prefix}validate] or "
                f"[{prefix}run]; found {table!r}"
            )
    return document


def apply(app: App, command: str) -> None:
    """Let a command line take defaults from the configuration of the current directory.

    Args:
        app: the command line.
        command: the command that runs.

    Raises:
        UsageError: as `find`; or the name of a table is not a command that takes options from the configuration, or
            a name in the table of this command is not an option.
    """
    found = find()
    if found is None:
        return
    path, given = found
    tables = deprecations.replace_old_keys(given)
    for name, table in tables.items():
        named = _command(path, name, app)
        if name == command:
            _check_options(path, name, table, named)
    data = {name: _with_files(path.parent, table) for name, table in tables.items()}
    app.config = (config.Dict(data, source=str(path)),)


def check(path: Path, given: dict[str, Any], app: App) -> None:
    """Check the names of all commands and options in a configuration; a run checks those of its command, and values.

    Args:
        path: the file.
        given: its tables, as `find` returns them.
        app: the command line.

    Raises:
        UsageError: a name is not that of a command or of an option.
    """
    for name, table in deprecations.replace_old_keys(given).items():
        _check_options(path, name, table, _command(path, name, app))


def _command(path: Path, name: str, app: App) -> App:
    """Return the command that a table of the configuration names; `name` may end with a subcommand."""
    commands = sorted(_subcommands(app))
    last = name.rpartition(".")[2]
    if name in UNCONFIGURED:
        raise UsageError(f"{path}: [{name}]: {name} takes no options from the configuration; remove the table")
    if last not in commands:
        hint = suggest_names(last, commands) or ";"
        raise UsageError(f"{path}: [{name}] is not a command{hint} the commands are {', '.join(commands)}")
    return app[last]


def _check_options(path: Path, name: str, table: dict[str, Any], command: App) -> None:
    if _subcommands(command):
        for key, options in table.items():
            if not isinstance(options, dict):
                raise UsageError(f"{path}: {name}.{key}: {name} has no options; its commands have")
            _check_options(path, f"{name}.{key}", options, _command(path, f"{name}.{key}", command))
        return
    arguments = command.assemble_argument_collection()
    named = {name for one in arguments for name in {*one.names} - {*one.negatives}}
    options = sorted(name.removeprefix("--") for name in named if name.startswith("--"))
    for key in table:
        if key not in options:
            hint = suggest_names(key, options) or ";"
            raise UsageError(
                f"{path}: {name}.{key}: not an option of {name}{hint} the options are {', '.join(options)}"
            )


def _subcommands(app: App) -> set[str]:
    return set(app) - {"--help", "-h", "--version"}


def _with_files(folder: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Resolve the files that options of a command name against the folder of the configuration."""

    def place(name: str, value: Any) -> Any:
        if name not in FILES or not isinstance(value, str) or value in FILES[name]:
            return value
        return str(folder / value)

    return {name: place(name, value) for name, value in table.items()}
