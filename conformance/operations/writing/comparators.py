"""Check that a table that a script wrote or changed is valid at every level and has the rows of the script.

An answer only names the table. Writers may choose files, ids and methods freely; the schema, the rows of every branch,
tag and step, and the identity of rows are prescribed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import frozen

from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.table_requests import local_path, metadata
from conformance.core.counts import plural
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.comparison import ABSENT, MAX_DIFFERENCES, Comparator, Difference, Differences
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.json_types import JsonObject
from spec_ref.schemas.type_json import type_from_json, type_to_json

with lazy_imports():
    from conformance.core import failures
    from conformance.operations.writing import written


if TYPE_CHECKING:  # reading a table needs Arrow, whose import takes longer than most requests
    from conformance.operations.writing.written import CanonicalRows, OperationNumbers, WrittenTable

MADE_BY_WRITERS = ("void",)
"""Partition fields with these transforms are ignored: version 1 keeps them in place of removed fields."""


@frozen(kw_only=True)
class BrokenRule(Difference):
    """A requirement that a table breaks, or that prevents reading it."""

    violation: Violation


def compare_written_tables(args: JsonObject, expected: JsonObject, got: JsonObject) -> Differences:
    """Compare the table at a location with the script's result."""
    return tuple(islice(_differences(args, expected, got), MAX_DIFFERENCES))


def _differences(args: JsonObject, expected: JsonObject, got: JsonObject) -> Iterator[Difference]:
    folder = local_path(metadata(args["table"])["location"]) if "operations" in args else args["table"]
    place = os.path.realpath(folder)
    try:
        location = os.path.realpath(local_path(got["metadata"]))
    except Unsupported:
        location = ""
    if not location.startswith(f"{place}{os.sep}"):
        yield Difference("/metadata", f"a file below {folder}", got["metadata"])
        return
    try:
        table = written.WrittenTable.load(location, place)
        for violation in list(table.broken_rules()):
            text = str(violation).replace(table.place, "")
            yield BrokenRule(f"/table/{violation.requirement}", ABSENT, text, violation=violation)
        yield from state_differences(expected, table)
        yield from _rows(expected, args.get("history", []), got.get("snapshots", []), table)
    except SpecError as error:
        yield BrokenRule("/table", "a table that can be read", str(error), violation=error.violation)
    except failures.NotExamined as error:
        yield Difference("/table", "a table that can be read", str(error))


def state_differences(expected: JsonObject, table: WrittenTable) -> Iterator[Difference]:
    """Compare the version, schema, spec, sort order and references of a table with the script's result."""
    sides = {
        "format_version": (expected["format_version"], table.format_version),
        "schema": (without_ids(expected["schema"]), without_ids(table.schema_json())),
        "partition": (_counted(expected.get("partition", [])), _counted(table.partition())),
        "sort": (expected.get("sort", []), table.sort()),
        "refs": (sorted(expected["refs"]), sorted({"main", *table.refs()})),
    }
    for name, (wanted, found) in sides.items():
        if wanted != found:
            yield Difference(f"/{name}", wanted, found)


def _counted(fields: list[JsonObject]) -> list[JsonObject]:
    return [field for field in fields if field["transform"] not in MADE_BY_WRITERS]


IDS = frozenset({"id", "element-id", "key-id", "value-id", "schema-id", "identifier-field-ids"})


def without_ids(json: Any) -> Any:
    """Return a schema or type in JSON without ids, with types in this tool's spelling."""
    return _without_ids(type_to_json(type_from_json(json)))


def _without_ids(json: Any) -> Any:
    if isinstance(json, dict):
        return {name: _without_ids(member) for name, member in json.items() if name not in IDS}
    return [_without_ids(item) for item in json] if isinstance(json, list) else json


# Rows


def _rows(
    expected: JsonObject, history: list[str | None], given: list[str | None], table: WrittenTable
) -> Iterator[Difference]:
    """Compare the rows of every state and reference.

    Args:
        expected: the rows by the model or the derivation.
        history: the snapshots of main after the operations of the existing table.
        given: the snapshots that the writer reported.
        table: the table.
    """
    # The snapshots of earlier operations are known only for main, not for other branches.
    unknown = {state["after"] for state in expected["states"] if state["ref"] != "main"} & set(range(len(history)))
    snapshots = [*(None if index in unknown else id_ for index, id_ in enumerate(history)), *given]
    lineage = Lineage(table.operation_numbers(snapshots))
    for state in expected["states"]:
        if state["after"] >= len(snapshots) or state["after"] in unknown:
            continue
        snapshot = snapshots[state["after"]]
        path = f"/states/{state['after']}"
        # An operation that changes nothing may leave its branch at an earlier snapshot, which has the schema of that
        # time.
        if not state["changed"] and snapshot in (None, *snapshots[: state["after"]]):
            continue
        if snapshot is None and state["changed"]:
            yield Difference(path, "a snapshot", ABSENT)
        elif snapshot is not None and table.has_snapshot(int(snapshot)):
            yield from reading_differences(path, state, table.read(snapshot_id=int(snapshot)), lineage)
    for ref, state in expected["refs"].items():
        if ref == "main" or ref in table.refs():
            yield from reading_differences(f"/refs/{ref}", state, table.read(ref=ref), lineage)


def reading_differences(
    path: str, expected: JsonObject, found: CanonicalRows, lineage: Lineage | None
) -> Iterator[Difference]:
    """Compare the rows of one reading; if they are equal and a lineage is given, compare their row ids, too."""
    columns = {name: without_ids(type_) for name, type_ in expected["columns"].items()}
    others = {name: without_ids(type_) for name, type_ in found.columns.items()}
    if columns != others:
        yield Difference(f"{path}/columns", columns, others)
        return
    wanted = found.canonical(expected["columns"], expected["rows"])
    missing = Counter(wanted)
    missing.subtract(found.keys)
    if any(missing.values()):
        yield from (
            Difference(f"{path}/rows", _times(row, count), ABSENT) for row, count in missing.items() if count > 0
        )
        yield from (
            Difference(f"{path}/rows", ABSENT, _times(row, -count)) for row, count in missing.items() if count < 0
        )
        return
    if lineage is None:
        return
    rows = zip(wanted, expected["identity"], expected["updated"], strict=True)
    yield from lineage.differences(path, list(rows), found)


def _times(row: str, count: int) -> str:
    return row if count == 1 else f"{row} ({count} times)"


class Lineage:
    """The row ids from the readings so far.

    An unchanged row keeps its id; a changed row keeps it or gets a new one (writers may implement an update as a delete
    and an insert). The last update of a row is the sequence number of the snapshot that changed it.
    """

    def __init__(self, numbers: OperationNumbers) -> None:
        """Initialize without any ids.

        Args:
            numbers: the sequence numbers and ids that operations may assign.
        """
        self._ids: dict[tuple[int, int], list[int]] = {}
        self._owners: dict[int, int] = {}
        self.numbers = numbers

    def differences(self, path: str, rows: list[tuple[str, int, int]], found: CanonicalRows) -> Iterator[Difference]:
        """Compare the row ids of a reading with those of earlier readings."""
        if found.row_ids is None:
            return
        ids = [row_id for row_id in found.row_ids if row_id is not None]
        if found.assigns_row_ids and len(ids) < len(found.keys):
            yield Difference(
                f"{path}/_row_id", "an id for each row", f"{plural(len(found.keys) - len(ids), 'row')} without an id"
            )
            return
        twice = [row_id for row_id, count in Counter(ids).items() if count > 1]
        if twice:
            yield Difference(f"{path}/_row_id", "different ids", f"{twice[0]} more than once")
            return
        if not found.assigns_row_ids:
            return
        for row, facts in sorted(_group_rows(rows).items(), key=lambda one: len(one[1])):
            yield from self._same(path, row, facts, found.lineage(row))

    def _same(
        self, path: str, row: str, facts: list[tuple[int, int]], found: list[tuple[int, int | None]]
    ) -> Iterator[Difference]:
        """Compare the ids of the rows that have the same values."""
        left = dict(found)
        new = []
        for fact in facts:
            known = self._ids.get(fact, [])
            row_id = next((one for one in known if one in left), None)
            if row_id is not None:
                yield from self._check_update(path, row, fact[1], left.pop(row_id))
            elif len(known) < self._most_ids(fact[1]):
                new.append(fact)
            else:
                yield Difference(f"{path}/_row_id", f"{known[0]}, as before, for {row}", sorted(left))
                return
        for row_id in [row_id for row_id in left if row_id in self._owners]:
            kept = next((fact for fact in new if fact[0] == self._owners[row_id]), None)
            if kept is None:
                yield Difference(f"{path}/_row_id", f"a unique id for {row}", f"{row_id}, the id of another row")
                return
            new.remove(kept)
            yield from self._settle(path, row, kept, row_id, left.pop(row_id))
        if len(new) == 1:  # several equal rows cannot be distinguished
            (row_id,) = left
            yield from self._settle(path, row, new[0], row_id, left[row_id])

    def _most_ids(self, operation: int) -> int:
        """Return the maximum number of ids of a row that the operation changed last."""
        return max(1, self.numbers.beginnings) if operation in self.numbers.before_lineage else 1

    def _settle(
        self, path: str, row: str, fact: tuple[int, int], row_id: int, updated: int | None
    ) -> Iterator[Difference]:
        self._ids.setdefault(fact, []).append(row_id)
        self._owners[row_id] = fact[0]
        yield from self._check_update(path, row, fact[1], updated)

    def _check_update(self, path: str, row: str, operation: int, found: int | None) -> Iterator[Difference]:
        low, high = self.numbers.spans.get(operation, (None, None))
        if low is None or high is None:
            return
        if found is None or not (low < found <= high or found == high):
            wanted = str(high) if low + 1 >= high else f"{low + 1} to {high}"
            yield Difference(f"{path}/_last_updated_sequence_number", f"{wanted} for {row}", found)


def _group_rows(rows: list[tuple[str, int, int]]) -> dict[str, list[tuple[int, int]]]:
    groups: dict[str, list[tuple[int, int]]] = {}
    for row, identity, updated in rows:
        groups.setdefault(row, []).append((identity, updated))
    return groups


COMPARATORS: dict[str, Comparator] = {
    "table.write": compare_written_tables,
    "table.change": compare_written_tables,
}
"""The comparator of each operation."""
