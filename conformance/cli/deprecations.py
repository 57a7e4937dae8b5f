"""Old names of commands and options, which work for one more release."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

COMMANDS = {"equivalence": "filter-pushdown", "laws": "metamorphic"}
"""The new names of commands, by the old ones."""

OPTIONS = {
    "filter-pushdown": {"avoid": "exclude", "most": "max-failures"},
    "matrix": {"known": "expect"},
    "metamorphic": {"avoid": "exclude", "law": "property", "most": "max-failures"},
    "relay": {"avoid": "exclude"},
    "run": {"pipeline": "max-in-flight"},
    "scenarios": {"avoid": "exclude"},
}
"""The new long names of options, by the command and the old ones."""


def replace_old_arguments(given: Sequence[str]) -> list[str]:
    """Replace the old names in the arguments of the command line, and print a line about each to standard error.

    Args:
        given: the arguments, the command first.

    Returns:
        The arguments with the new names.
    """
    if not given:
        return []
    command = _command(given[0], "the command")
    options = {f"--{old}": f"--{new}" for old, new in OPTIONS.get(command, {}).items()}
    renamed = []
    for argument in given[1:]:
        name, equals, value = argument.partition("=")
        if name in options:
            _report(f"the option {name} of {command}", options[name])
            name = options[name]
        renamed.append(name + equals + value)
    return [command, *renamed]


def replace_old_keys(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Replace the old names in the tables of a configuration, and print a line about each to standard error.

    Args:
        tables: the options by their long names, by the names of commands.

    Returns:
        The tables with the new names. Where both names of an option or a command are given, the new one counts.
    """
    renamed: dict[str, dict[str, Any]] = {}
    for name, table in tables.items():
        command = name if COMMANDS.get(name) in tables else _command(name, "the table")
        options = OPTIONS.get(command, {})
        found: dict[str, Any] = {}
        for option, value in table.items():
            if option in options:
                _report(f"the option {option} in [{name}]", options[option])
                found.setdefault(options[option], value)
            else:
                found[option] = value
        renamed[command] = found
    return renamed


def _command(name: str, what: str) -> str:
    if name in COMMANDS:
        _report(f"{what} {name}", COMMANDS[name])
    return COMMANDS.get(name, name)


def _report(old: str, new: str) -> None:
    print(f"iceberg-conformance: {old} is deprecated; use {new}", file=sys.stderr)
