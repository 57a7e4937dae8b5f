"""Failures of relays and scenarios that are known (``relay.toml`` and ``scenarios.toml`` in known_deviations).

A TOML file, with ``[[scenario]]`` for scenarios::

    [[relay]]
    id = "pyiceberg-refuses-two-fields-of-a-column"  # unique; begins with the engine's name
    engine = "pyiceberg"               # the implementation
    versions = ["0.12.0"]              # the versions it was seen in; any where left out
    fails = "refused"                  # the kind of failure; "finding: DEL011" for one of the validator
    operations = ["create"]            # the operations that fail so; any where left out
    says = "redundant partitions"      # a part of the reason
    kind = "limitation"                # of conformance.expectations.Kind; a deviation where left out
    requirements = ["PAR001"]          # what is broken, or would be allowed
    does = "what the engine does"
    reason = "why it is wrong, by the text"
    evidence = "where it can be seen"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import NOTHING, fields, frozen

from conformance.expectations import Kind, shipped
from conformance.failures import UsageError
from spec_ref.requirements import register

FILES = {"relay": "relay.toml", "scenario": "scenarios.toml"}
"""The file of each kind of entries."""


@frozen(kw_only=True)
class KnownRelay:
    """One known failure of one engine."""

    id: str
    engine: str
    fails: str
    says: str
    requirements: tuple[str, ...]
    does: str
    reason: str
    evidence: str
    versions: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    kind: str = Kind.DEVIATION.value

    def is_of(self, implementation: str, version: str) -> bool:
        """Whether it speaks of an implementation at a version."""
        return self.engine == implementation and (not self.versions or version in self.versions)

    def happened(self, kind: str, operation: str, reason: str) -> bool:
        """Whether a failure is what it says."""
        return kind == self.fails and (not self.operations or operation in self.operations) and self.says in reason

    def happened_in(self, kind: str, operations: Iterable[str], reason: str) -> bool:
        """Whether the failure of a script with some operations is what it says."""
        return any(self.happened(kind, operation, reason) for operation in operations)


LISTS = ("requirements", "versions", "operations")


def load_known(path: Path | None = None, table: str = "relay") -> tuple[KnownRelay, ...]:
    """The known failures of a file; of the one that comes with the tool where none is given.

    Args:
        path: the file.
        table: what the entries are of: ``relay`` or ``scenario``.

    Raises:
        UsageError: the file is not of the form; says where.
    """
    chosen = path or shipped() / FILES[table]
    try:
        content = tomllib.loads(chosen.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{chosen}: known failures cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{chosen}: broken known failures: {error}") from None
    rows = content.get(table, [])
    if content.keys() - {table} or not isinstance(rows, list):
        raise UsageError(f"{chosen}: broken known failures: the file has entries [[{table}]] and nothing else")
    found = tuple(_entry(f"{chosen}: /{table}/{number}", row) for number, row in enumerate(rows))
    ids = [one.id for one in found]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"{chosen}: two entries have the id {twice}")
    return found


def _entry(place: str, row: Any) -> KnownRelay:
    names = {field.name: field for field in fields(KnownRelay)}
    if not isinstance(row, dict):
        raise UsageError(f"{place}: not a table")
    unknown = sorted(row.keys() - names.keys())
    missing = [name for name, one in names.items() if name not in row and one.default is NOTHING]
    if unknown or missing:
        raise UsageError(f"{place}: {f'unknown member {unknown[0]}' if unknown else f'{missing[0]} is missing'}")
    for name, value in row.items():
        if name in LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise UsageError(f"{place}/{name}: not a list of strings")
        if name not in LISTS and not (isinstance(value, str) and value):
            raise UsageError(f"{place}/{name}: not a text")
    if not row["id"].startswith(f"{row['engine']}-"):
        raise UsageError(f"{place}/id: {row['id']} does not begin with {row['engine']}-")
    if row.get("kind", Kind.DEVIATION.value) not in [one.value for one in Kind]:
        raise UsageError(f"{place}/kind: there is no kind {row['kind']}")
    wrong = next((code for code in row["requirements"] if code not in register()), None)
    if wrong is not None:
        raise UsageError(f"{place}/requirements: there is no requirement {wrong}")
    members: dict[str, Any] = {name: tuple(value) if name in LISTS else value for name, value in row.items()}
    return KnownRelay(**members)
