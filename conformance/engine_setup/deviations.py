"""The files of known deviations that come with the tool: ``deviations.toml`` of each engine, and one of servers.

Each file has the entries of one engine for all commands: ``[[deviation]]`` (`conformance.runner.expectations`),
``[[cell]]`` and ``[[table]]`` (`conformance.interop.known`), ``[[relay]]`` and ``[[scenario]]``
(`conformance.properties.relay_known`), and ``[[catalog]]`` (`conformance.races.stress.known`). Each command reads its
own sections, and checks their entries.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import rtoml

from conformance.core.failures import UsageError
from conformance.engine_setup.catalog import SERVERS
from conformance.engine_setup.folders import engine_folders
from spec_ref.core.json_types import Json

FILE = "deviations.toml"

OWNERS = {
    "deviation": "engine",
    "cell": "consumer",
    "table": "producer",
    "relay": "engine",
    "scenario": "engine",
    "catalog": "",
}
"""The sections, and the key of an entry that names its engine."""


def shipped_entries(*sections: str) -> list[tuple[Path, dict[str, Json]]]:
    """Read some sections of the files of all engines; files without them are left out.

    Raises:
        UsageError: a file cannot be read, has another section, or has an entry of another engine.
    """
    places = [(path, folder.name) for folder in engine_folders() if (path := folder.data(FILE)) is not None]
    found = []
    for path, engine in [*places, (SERVERS / FILE, "")]:
        content = {name: rows for name, rows in _read(path, engine).items() if name in sections}
        if content:
            found.append((path, content))
    return found


@cache
def _read(path: Path, engine: str) -> dict[str, Json]:
    try:
        content = rtoml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: known deviations cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: broken known deviations: {error}") from None
    for section, rows in content.items():
        if section not in OWNERS:
            raise UsageError(f"{path}: /{section}: expected one of {', '.join(OWNERS)}; there is no such section")
        if not isinstance(rows, list):
            raise UsageError(f"{path}: /{section}: expected entries [[{section}]], found {rows!r}")
        key = OWNERS[section]
        for number, row in enumerate(rows):
            if engine and key and isinstance(row, dict) and row.get(key, engine) != engine:
                raise UsageError(f"{path}: /{section}/{number}/{key}: expected {engine!r}, found {row[key]!r}")
    return content
