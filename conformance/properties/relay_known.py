"""Failures of relays and scenarios that are known.

Sections of ``deviations.toml`` of an engine, or of a file that ``--expect`` names; ``[[scenario]]`` has the same form::

    [[relay]]
    id = "pyiceberg-refuses-two-fields-of-a-column"  # unique; begins with the engine's name
    engine = "pyiceberg"               # the implementation
    versions = ["0.12.0"]              # the versions it was seen in; any where left out
    fails = "refused"                  # the kind of failure; "finding: DEL011" for one of the validator
    operations = ["create"]            # the operations that fail so; any where left out
    says = "redundant partitions"      # a part of what the engine says, or of values that differ, or several parts in
                                       # a list, all of which are there; any where left out
    check = "position-delete-sorted"   # the check that finds the table broken (`list checks`); any where left out
    found = "0.0"                      # the end of what it finds; any where left out
    expected = "identity"              # the beginning of what it expects; any where left out
    kind = "limitation"                # of conformance.runner.expectations.Kind; a deviation where left out
    requirements = ["PAR001"]          # what is broken, or would be allowed
    does = "what the engine does"
    reason = "why it is wrong, by the text"
    evidence = "where it can be seen"
    counter = "what speaks for it"     # the best argument that the engine is right; none where left out
    upstream = ["https://..."]         # reports of it to the engine's project; none where left out

What this tool says of a broken table may be reworded at any time, so failures that are findings, or a table that cannot
be read, have no ``says``; those that are not have no ``check``, ``found`` and ``expected``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import NOTHING, field, fields, frozen

from conformance.core.failures import UsageError
from conformance.engine_setup.deviations import shipped_entries
from conformance.rules import registry
from conformance.runner.expectations import Kind
from spec_ref.core.errors import Violation
from spec_ref.requirements import check_id, register


def _parts(says: str | Iterable[str]) -> tuple[str, ...]:
    return (says,) if isinstance(says, str) else tuple(says)


@frozen(kw_only=True)
class KnownRelay:
    """One known failure of one engine."""

    id: str
    engine: str
    fails: str
    requirements: tuple[str, ...]
    does: str
    reason: str
    evidence: str
    says: tuple[str, ...] = field(default=(), converter=_parts)
    check: str = ""
    found: str = ""
    expected: str = ""
    versions: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    kind: str = Kind.DEVIATION.value
    counter: str = ""
    upstream: tuple[str, ...] = ()

    def is_of(self, implementation: str, version: str) -> bool:
        """Whether it speaks of an implementation at a version."""
        return self.engine == implementation and (not self.versions or version in self.versions)

    def happened(self, kind: str, operations: Iterable[str], reason: str, violations: Iterable[Violation] = ()) -> bool:
        """Whether a failure is what it says.

        Args:
            kind: the kind of the failure.
            operations: the operation that failed; all of a script, where that is not known.
            reason: what the engine says, or how the table differs.
            violations: what the table breaks.
        """
        return (
            kind == self.fails
            and (not self.operations or not set(self.operations).isdisjoint(operations))
            and all(part in reason for part in self.says)
            and (not (self.check or self.found or self.expected) or any(map(self._is_about, violations)))
        )

    def _is_about(self, violation: Violation) -> bool:
        return (
            self.check in ("", check_id(violation.requirement, violation.aspect))
            and (violation.found or "").endswith(self.found)
            and (violation.expected or "").startswith(self.expected)
        )


OF_TABLES = ("finding: ", "unreadable: ")
"""How the kinds begin of failures that are broken requirements."""


LISTS = ("requirements", "versions", "operations", "upstream")


def load_known(path: Path | None = None, table: str = "relay") -> tuple[KnownRelay, ...]:
    """The known failures of a file; of those that come with the tool where none is given.

    Args:
        path: the file.
        table: what the entries are of: ``relay`` or ``scenario``.

    Raises:
        UsageError: the file is not of the form; says where.
    """
    files = shipped_entries(table) if path is None else [(path, _read(path, table))]
    found = tuple(
        _entry(f"{file}: /{table}/{number}", row)
        for file, content in files
        for number, row in enumerate(content.get(table, []))
    )
    ids = [one.id for one in found]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError(f"{path or 'known deviations'}: two entries have the id {twice}")
    return found


def _read(path: Path, table: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: known failures cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: broken known failures: {error}") from None
    if content.keys() - {table} or not isinstance(content.get(table, []), list):
        raise UsageError(f"{path}: broken known failures: the file has entries [[{table}]] and nothing else")
    return content


def _entry(place: str, row: Any) -> KnownRelay:
    names = {one.name: one for one in fields(KnownRelay)}
    if not isinstance(row, dict):
        raise UsageError(f"{place}: not a table")
    unknown = sorted(row.keys() - names.keys())
    missing = [name for name, one in names.items() if name not in row and one.default is NOTHING]
    if unknown or missing:
        raise UsageError(f"{place}: {f'unknown member {unknown[0]}' if unknown else f'{missing[0]} is missing'}")
    for name, value in row.items():
        if name == "says" and isinstance(value, list) and value and all(isinstance(one, str) and one for one in value):
            continue
        if name in LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise UsageError(f"{place}/{name}: not a list of strings")
        if name not in LISTS and not (isinstance(value, str) and value):
            raise UsageError(f"{place}/{name}: not a text")
    if not row["id"].startswith(f"{row['engine']}-"):
        raise UsageError(f"{place}/id: {row['id']} does not begin with {row['engine']}-")
    if row.get("kind", Kind.DEVIATION.value) not in [one.value for one in Kind]:
        raise UsageError(f"{place}/kind: there is no kind {row['kind']}")
    others = ("says",) if row["fails"].startswith(OF_TABLES) else ("check", "found", "expected")
    if stray := next((name for name in others if name in row), None):
        raise UsageError(f"{place}/{stray}: not of a failure that is {row['fails']!r}")
    if row.get("check", next(iter(registry()))) not in registry():
        raise UsageError(f"{place}/check: there is no check {row['check']}")
    wrong = next((code for code in row["requirements"] if code not in register()), None)
    if wrong is not None:
        raise UsageError(f"{place}/requirements: there is no requirement {wrong}")
    members: dict[str, Any] = {name: tuple(value) if name in LISTS else value for name, value in row.items()}
    return KnownRelay(**members)
