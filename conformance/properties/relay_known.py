"""Known failures of relays and scenarios.

Sections of ``deviations.toml`` of an engine, or of a file that ``--expect`` names; ``[[scenario]]`` has the same form::

    [[relay]]
    id = "pyiceberg-refuses-two-fields-of-a-column"  # unique; starts with the engine's name
    engine = "pyiceberg"               # the name of the implementation
    versions = ["0.12.0"]              # optional: the versions that have it
    fails = "refused"                  # the kind of failure; "finding: DEL011" for a finding of the validator
    operations = ["create"]            # optional: the operations that fail
    asks = "bucket"                    # optional: a part of the JSON of the operation that fails, or of the script, or
                                       # several in a list, which must all occur
    features = ["orc", "uuid"]         # optional: file formats, types and transforms that the table has
    says = "redundant partitions"      # optional: a part of the engine's message, or several in a list, which must all
                                       # occur
    rows = "missing"                   # optional: whether a row of the answer or table is missing or unexpected
    values = "null"                    # optional: a part of the differing values, or several, which must all occur
    filter = '"type": "lt"'            # optional: a part of the JSON of the filter of a read, or several in a list
    check = "position-delete-sorted"   # optional: the check that finds the fault (`list checks`)
    found = "0.0"                      # optional: the end of the found value, or a list of alternatives
    expected = "identity"              # optional: the start of the expected value
    kind = "limitation"                # one of `conformance.runner.expectations.DeviationKind`; deviation by default
    requirements = ["PAR001"]          # the requirements that it breaks, or is about
    does = "what the engine does"
    reason = "why it is wrong, by the spec"
    evidence = "where it can be seen"
    counter = "the counterargument"    # optional: the best argument that the engine is right
    upstream = ["https://..."]         # optional: reports to the engine's project

Messages of this tool may be reworded at any time. Therefore only entries for what an engine says have ``says``; only
those for findings, or for tables that cannot be read, have ``check``, ``found`` and ``expected``; and only those for
tables and reads that differ from the model have ``rows``, ``values`` and ``filter``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import rtoml
from attrs import NOTHING, field, fields, frozen

from conformance.core.failures import UsageError
from conformance.engine_setup.deviations import shipped_entries
from conformance.operations.comparison import ABSENT, Difference
from conformance.rules import registry
from conformance.runner.expectations import DeviationKind
from spec_ref.core.errors import Violation
from spec_ref.core.json_types import Json
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
    rows: str = ""
    values: tuple[str, ...] = field(default=(), converter=_parts)
    filter: tuple[str, ...] = field(default=(), converter=_parts)
    check: str = ""
    found: tuple[str, ...] = field(default=(), converter=_parts)
    expected: str = ""
    versions: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    asks: tuple[str, ...] = field(default=(), converter=_parts)
    features: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    kind: str = DeviationKind.DEVIATION.value
    counter: str = ""
    upstream: tuple[str, ...] = ()

    def applies_to(self, implementation: str, version: str) -> bool:
        """Return whether the entry is about an implementation in a version."""
        return self.engine == implementation and (not self.versions or version in self.versions)

    def matches(
        self,
        kind: str,
        operations: Iterable[str],
        reason: str,
        violations: Iterable[Violation] = (),
        earlier: Iterable[str] = (),
        *,
        differences: Sequence[Difference] = (),
        predicate: Json = None,
        operation_text: str = "",
        features: Collection[str] = (),
    ) -> bool:
        """Return whether a failure is the one of the entry.

        Args:
            kind: the kind of the failure.
            operations: the operation that failed; all operations of the script if it is not known.
            reason: the message of the engine.
            violations: the violations in the table.
            earlier: the operations that made the table before.
            differences: how rows or the table differ from the expected ones.
            predicate: the filter of a read that gives the wrong rows.
            operation_text: the JSON of the operation that failed; that of the script if it is not known.
            features: the file format, types and transforms of the table.
        """
        return (
            kind == self.fails
            and (not self.after or not set(self.after).isdisjoint(earlier))
            and (not self.operations or not set(self.operations).isdisjoint(operations))
            and all(part in operation_text for part in self.asks)
            and set(self.features) <= set(features)
            and all(part in reason for part in self.says)
            and (not self.rows or any(self._rows_are(one) for one in differences))
            and _all_occur(self.values, _values_text(differences))
            and _all_occur(self.filter, json.dumps(predicate))
            and (not (self.check or self.found or self.expected) or any(map(self._is_about, violations)))
        )

    def _rows_are(self, difference: Difference) -> bool:
        return (difference.got if self.rows == "missing" else difference.expected) is ABSENT

    def _is_about(self, violation: Violation) -> bool:
        return (
            self.check in ("", check_id(violation.requirement, violation.aspect))
            and (not self.found or (violation.found or "").endswith(self.found))
            and (violation.expected or "").startswith(self.expected)
        )


def _all_occur(parts: Iterable[str], text: str) -> bool:
    return all(part in text for part in parts)


def _values_text(differences: Iterable[Difference]) -> str:
    values = (value for one in differences for value in (one.expected, one.got) if value is not ABSENT)
    return " ".join(value if isinstance(value, str) else json.dumps(value, default=str) for value in values)


def operation_features(operations: Sequence[dict[str, Json]]) -> frozenset[str]:
    """Return the file format, the types at any depth and the transforms of the table that operations make."""
    create = operations[0]
    types = [field["type"] for field in create["schema"]["fields"]]
    transforms = [part["transform"] for part in create.get("partition", ())]
    for operation in operations[1:]:
        for change in operation.get("changes", ()):
            types += [change["type"]] if "type" in change else []
            transforms += [change["transform"]] if "transform" in change else []
    names = {name for one in types for name in _type_names(one)} | {one.partition("[")[0] for one in transforms}
    return frozenset({str(create.get("properties", {}).get("write.format.default")), *names})


def _type_names(type_: Json) -> Iterator[str]:
    """Yield the names of a type and of the types inside it, without parameters."""
    if isinstance(type_, str):
        yield type_.partition("[")[0].partition("(")[0]
        return
    yield type_["type"]
    inner = [field["type"] for field in type_.get("fields", ())]
    inner += [type_[part] for part in ("element", "key", "value") if part in type_]
    for one in inner:
        yield from _type_names(one)


VIOLATION_KINDS = ("finding: ", "unreadable: ")
"""The prefixes of the kinds of failures that are violations."""


DIFFERENCE_KINDS = ("differs: ", "read")
"""The prefixes of the kinds of failures that are differences from the model."""

WORDED_BY_THIS_TOOL = (*VIOLATION_KINDS, *DIFFERENCE_KINDS, "form of the answer")
"""The prefixes of the kinds of failures whose messages this tool writes. For one more release, users' files may have
``says`` for those that are differences."""

LISTS = ("requirements", "versions", "operations", "after", "features", "upstream")
ONE_OR_MORE = ("says", "found", "asks", "values", "filter")


def load_known(path: Path | None = None, table: str = "relay") -> tuple[KnownRelay, ...]:
    """Load the known failures of a file.

    Args:
        path: the file; None for the failures that come with the tool.
        table: the kind of entries: ``relay`` or ``scenario``.

    Raises:
        UsageError: the file has a wrong form; the message says where.
    """
    files = shipped_entries(table) if path is None else [(path, _read(path, table))]
    found = tuple(
        _entry(f"{file}: /{table}/{number}", row, WORDED_BY_THIS_TOOL if path is None else VIOLATION_KINDS)
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
        content = rtoml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: not known failures: {error}") from None
    if content.keys() - {table} or not isinstance(content.get(table, []), list):
        raise UsageError(f"{path}: not known failures: expected only entries [[{table}]]")
    return content


def _entry(place: str, row: Any, of_this_tool: tuple[str, ...]) -> KnownRelay:
    names = {one.name: one for one in fields(KnownRelay)}
    if not isinstance(row, dict):
        raise UsageError(f"{place}: not a table")
    unknown = sorted(row.keys() - names.keys())
    missing = [name for name, one in names.items() if name not in row and one.default is NOTHING]
    if unknown or missing:
        raise UsageError(f"{place}: {f'unknown member {unknown[0]}' if unknown else f'{missing[0]} is missing'}")
    for name, value in row.items():
        some = value if name in ONE_OR_MORE and isinstance(value, list) and value else [value]
        if name in LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise UsageError(f"{place}/{name}: not a list of strings")
        if name not in LISTS and not all(isinstance(one, str) and one for one in some):
            raise UsageError(f"{place}/{name}: not a string")
    if not row["id"].startswith(f"{row['engine']}-"):
        raise UsageError(f"{place}/id: {row['id']} does not start with {row['engine']}-")
    if row.get("kind", DeviationKind.DEVIATION.value) not in [one.value for one in DeviationKind]:
        raise UsageError(f"{place}/kind: unknown kind {row['kind']}")
    kinds = {"check": VIOLATION_KINDS, "found": VIOLATION_KINDS, "expected": VIOLATION_KINDS}
    kinds |= dict.fromkeys(("rows", "values", "filter"), DIFFERENCE_KINDS)
    strays = [name for name, starts in kinds.items() if name in row and not row["fails"].startswith(starts)]
    strays += ["says"] if "says" in row and row["fails"].startswith(of_this_tool) else []
    if stray := next(iter(strays), None):
        raise UsageError(f"{place}/{stray}: not allowed for the failure {row['fails']!r}")
    if row.get("rows", "missing") not in ("missing", "unexpected"):
        raise UsageError(f"{place}/rows: expected missing or unexpected")
    if row.get("check", next(iter(registry()))) not in registry():
        raise UsageError(f"{place}/check: unknown check {row['check']}")
    wrong = next((code for code in row["requirements"] if code not in register()), None)
    if wrong is not None:
        raise UsageError(f"{place}/requirements: unknown requirement {wrong}")
    members: dict[str, Any] = {name: tuple(value) if name in LISTS else value for name, value in row.items()}
    return KnownRelay(**members)
