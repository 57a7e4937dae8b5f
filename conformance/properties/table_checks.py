"""The checks of a table after each operation of a script: against the model, and by the rules of the spec.

Only new snapshots and files are read and validated after an operation: a snapshot is immutable, so that reading it
again has the same result as long as its record, its schema and its files are the same, which is checked. At the end,
every snapshot for which one of these changed is read again, and all snapshots are validated together.
"""

from __future__ import annotations

import copy
import math
import os
import random
import traceback
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import attrs
from attrs import define, field, frozen

from conformance.core.failures import NotExamined
from conformance.operations.comparison import Difference
from conformance.operations.writing.comparators import Lineage, reading_differences, state_differences
from conformance.operations.writing.written import OperationNumbers, WrittenTable
from conformance.properties.errors import Broken
from conformance.properties.incremental import IncrementalLocal
from conformance.properties.script_maker import filter_constants
from conformance.properties.values import Chance, predicate_leaves
from conformance.scripts import ForbiddenOperation, ScriptError
from conformance.scripts.expected import reading_json
from conformance.scripts.model import MAIN, ModelTable
from conformance.scripts.model_rows import Fields, StoredRow, reading
from conformance.scripts.model_schemas import type_ids
from conformance.validator.context import Level
from conformance.validator.diff import forbidden_changes
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Finding, Severity, Tally
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import Json

Op = dict[str, Json]

LINEAGE_SINCE = 3
"""The first version with row lineage."""

FILTERS = 2
"""The number of filters with which a branch or tag is read after an operation that concerns it."""

EXPECTED_WARNINGS = frozenset({"LOC001", "DFL002", "SNP010", "SNP011", "VER005"})
"""Requirements whose warnings are not the fault of the writer: it was given the path (LOC001, DFL002), snapshots from
before an upgrade stay as they are (SNP010, SNP011; LIN013), and references in version 1 (VER005)."""


@frozen
class ExpectedSnapshot:
    """The expected content of a snapshot, which never changes."""

    fields: Fields
    rows: tuple[StoredRow, ...]


@define
class TableChecks:
    """The comparisons after each operation, with the results that are cached for the next."""

    place: str
    filters: int = FILTERS
    level: Level = Level.ROWS
    warnings: bool = True
    """Whether warnings count as failures, as they do for the reference."""

    thorough: bool = True
    """Whether everything is read and validated again at the end."""

    engine: IncrementalLocal = field(factory=IncrementalLocal)
    """The engine that validates the table after an operation."""

    before: WrittenTable | None = None
    """The table after the previous operation."""

    snapshots: dict[int, ExpectedSnapshot] = field(factory=dict)
    """The expected content of the snapshots that were current after an operation, by id."""

    validated: set[int] = field(factory=set)
    spans: dict[int, tuple[int, int]] = field(factory=dict)
    """The sequence numbers of each operation: greater than the first number, at most the second."""

    before_lineage: int = 0
    """The last sequence number before the table had row lineage; 0 if it always had it."""

    beginnings: dict[int, int] = field(factory=dict)
    """The sequence numbers of the snapshots with which row lineage began on a branch, expired ones too, by id."""

    known: dict[Any, Any] = field(factory=dict)
    """The rows of the model for readings that were right, by snapshot and schema."""

    readings: dict[int, tuple[Any, ExpectedSnapshot]] = field(factory=dict)
    """The inputs of readings that were right (`WrittenTable.reading_inputs`), by snapshot."""

    files: dict[str, tuple[int, int]] = field(factory=dict)
    lineage: Lineage = field(factory=lambda: Lineage(OperationNumbers()))

    @property
    def location(self) -> str | None:
        """The location of the metadata after the previous operation."""
        return None if self.before is None else self.before.table.metadata_location

    def step(self, index: int, operation: Op, model: ModelTable, location: str) -> None:
        """Check the table after an operation.

        Args:
            index: the index of the operation.
            operation: the operation.
            model: the model after the operation.
            location: the location of the metadata after the operation.

        Raises:
            Broken: the table differs from the model, or is not valid.
        """
        what = f"after operation {index}, {operation['op']}"
        try:
            self.files_remain(what, operation)
            if operation["op"] == "expire":  # may delete files
                self.forget()
            written = WrittenTable.load(location, self.place)
            self._state(what, model, written)
            self._sequence_numbers(index, operation, model, written)
            for name, expected in expected_heads(model).items():
                self._head(what, index, name, expected, model, written)
            if location != self.location:
                self._valid(what, written, location)
            if operation["op"] == "expire":
                self._time_travel(what, written)
        except Exception as error:
            raise reading_error(what, error) from error
        self.before = written

    def check_refused(self, index: int, operation: Op, location: str) -> None:
        """Check that a refused operation changed nothing."""
        what = f"after operation {index}, {operation['op']}, which was refused"
        if location != self.location:
            raise Broken("refused and committed", f"{what}: the table has new metadata, {location}")
        found = _files_below(self.place)
        if found != self.files:
            left = sorted(found.keys() ^ self.files.keys())
            raise Broken("refused and wrote", f"{what}: files changed: {', '.join(left) or 'in place'}")

    def forget(self) -> None:
        """Clear the cache, so that everything is read and validated again."""
        self.readings = {}
        self.engine = IncrementalLocal()

    def end(self) -> None:
        """Read every snapshot whose reading may have changed, and validate all of them together."""
        if self.before is None:
            return
        if self.thorough:
            self.forget()
        try:
            self._time_travel("at the end", self.before)
            location = self.before.table.metadata_location
            report = validate(location, self.level, self.engine, SnapshotSelection("all"), math.inf)
            check_no_findings("at the end", report.findings, warnings=self.warnings)
        except Exception as error:
            raise reading_error("at the end", error) from error

    def _state(self, what: str, model: ModelTable, written: WrittenTable) -> None:
        state = {
            "format_version": model.version,
            "schema": {"type": "struct", "fields": list(model.fields)},
            "partition": list(model.partition),
            "sort": list(model.sorted_by),
            "refs": expected_heads(model).keys(),
        }
        _no_differences(what, state_differences(state, written))

    def _sequence_numbers(self, index: int, operation: Op, model: ModelTable, written: WrittenTable) -> None:
        last = written.table.metadata.last_sequence_number or 0
        before = max((high for _, high in self.spans.values()), default=0)
        if model.target[0] is not None:
            self.spans[index] = (before, last)
        if operation["op"] == "upgrade" and model.version == LINEAGE_SINCE:
            self.before_lineage = last
        self.beginnings |= written.lineage_beginnings()
        self.lineage.numbers = OperationNumbers.with_upgrade(self.spans, self.before_lineage, self.beginnings.values())

    def _head(
        self, what: str, index: int, name: str, expected: ExpectedSnapshot, model: ModelTable, written: WrittenTable
    ) -> None:
        """Compare the rows of a branch or tag, with and without filters."""
        metadata = written.table.metadata
        current = metadata.current_snapshot_id if name == MAIN else None  # optional in version 1
        snapshot = metadata.refs[name].snapshot_id if name in metadata.refs else current
        if snapshot is not None and name in model.branches and snapshot not in self.snapshots:
            self.snapshots[snapshot] = ExpectedSnapshot(model.fields, expected.rows)
        key = (snapshot, _schema_key(expected.fields))
        if self.known.get(key) is expected.rows:
            return
        what = f"{what}: {name}"
        wanted = reading_json(reading(expected.fields, expected.rows))
        _no_differences(what, reading_differences("", wanted, written.read(ref=name), self.lineage))
        for predicate in choose_filters(index, expected, model, self.filters):
            differences = _filtered_differences(name, predicate, expected, written)
            _no_differences(f"{what} where {predicate}", differences, (name, predicate))
        self.known[key] = expected.rows
        if snapshot is not None:
            self.readings[snapshot] = (written.reading_inputs(ref=name), expected)

    def filter_fault(self, name: str, predicate: Json, model: ModelTable) -> Broken | None:
        """Return how a read of a branch or tag with a filter gives wrong rows.

        Args:
            name: the branch or tag; if the table does not have it yet, the branch main is read.
            predicate: the filter.
            model: the model of the last table that was checked.

        Returns:
            None if the rows are right, and if the table has no such column.
        """
        heads = expected_heads(model)
        there = name if name in heads else "main"
        if self.before is None or there not in heads:
            return None
        try:
            differences = _filtered_differences(there, predicate, heads[there], self.before)
            _no_differences(f"{there} where {predicate}", differences, (name, predicate))
        except (SpecError, ScriptError, ForbiddenOperation, NotExamined):
            return None
        except Broken as broken:
            return broken
        return None

    def copy(self) -> TableChecks:
        """Return a copy, whose further steps do not affect this one."""
        return attrs.evolve(
            self,
            snapshots=dict(self.snapshots),
            validated=set(self.validated),
            spans=dict(self.spans),
            beginnings=dict(self.beginnings),
            known=dict(self.known),
            readings=dict(self.readings),
            files=dict(self.files),
            lineage=copy.deepcopy(self.lineage),
        )

    def files_remain(self, what: str, operation: Op) -> None:
        """Check that no file was deleted or changed, except by expiration.

        Raises:
            Broken: a file was deleted or changed.
        """
        found = _files_below(self.place)
        for path, facts in self.files.items():
            if operation["op"] != "expire" and not path.endswith("version-hint.text") and found.get(path) != facts:
                raise Broken("lost file", f"{what}: {path} {'changed' if path in found else 'is missing'}")
        self.files = found

    def _valid(self, what: str, written: WrittenTable, location: str) -> None:
        """Validate new snapshots and files, and compare the metadata with the previous version."""
        new = [
            snapshot.snapshot_id
            for snapshot in written.table.metadata.snapshots
            if snapshot.snapshot_id not in self.validated
        ]
        self.validated.update(new)

        chosen = SnapshotSelection("one", new[-1]) if new else SnapshotSelection("current")
        report = validate(location, self.level if new else Level.METADATA, self.engine, chosen, math.inf)
        tally = Tally(report.findings)
        if self.before is not None:  # as `validate --diff` does
            old = self.before.table
            tally.add(forbidden_changes(old.metadata, written.table.metadata, old.metadata_location, location))
        check_no_findings(what, tally.findings(), warnings=self.warnings)

    def _time_travel(self, what: str, written: WrittenTable) -> None:
        """Compare every snapshot with the rows that it had when it was written."""
        for snapshot, expected in self.snapshots.items():
            if not written.has_snapshot(snapshot):
                continue
            asked = (written.reading_inputs(snapshot_id=snapshot), expected)
            if self.readings.get(snapshot) != asked:
                wanted = reading_json(reading(expected.fields, expected.rows))
                found = written.read(snapshot_id=snapshot)
                _no_differences(f"{what}: snapshot {snapshot}", reading_differences("", wanted, found, self.lineage))
                self.readings[snapshot] = asked


def choose_filters(index: int, expected: ExpectedSnapshot, model: ModelTable, count: int = FILTERS) -> Iterator[Json]:
    """Yield filters for a reading, which depend only on the script; every other one is on a partition source.

    Args:
        index: the index of the operation.
        expected: the rows, whose values the filters use.
        model: the table.
        count: how many filters.
    """
    leaves = list(predicate_leaves(expected.fields))
    if not leaves:
        return
    values = filter_constants(attrs.evolve(model, fields=expected.fields), expected.rows)
    chance = Chance(random.Random(f"{index} {len(expected.rows)}"))
    sources = {source.id for source in model.specs}
    names = {field["name"] for field in expected.fields if sources & {field["id"], *type_ids(field["type"])}}
    once = [leaf for leaf in leaves if leaf[0].partition(".")[0] in names]
    for number in range(count):
        yield chance.predicate(once if once and number % 2 == 0 else leaves, 1, values)


def expected_heads(model: ModelTable) -> dict[str, ExpectedSnapshot]:
    """Return the rows of each branch and tag, with the schema for reading it."""
    heads = {"main": ExpectedSnapshot(model.fields, ())}
    heads |= {name: ExpectedSnapshot(model.fields, snapshot.rows) for name, snapshot in model.branches.items()}
    return heads | {name: ExpectedSnapshot(snapshot.fields, snapshot.rows) for name, snapshot in model.tags.items()}


def _schema_key(fields: Fields) -> str:
    return str(fields)


def _files_below(place: str) -> dict[str, tuple[int, int]]:
    found = {}
    for folder, _, names in os.walk(place):
        for name in names:
            facts = os.stat(f"{folder}/{name}")
            found[f"{folder}/{name}".removeprefix(f"{place}/")] = (facts.st_size, facts.st_mtime_ns)
    return found


def _filtered_differences(
    name: str, predicate: Json, expected: ExpectedSnapshot, written: WrittenTable
) -> Iterator[Difference]:
    """Compare the rows of a branch or tag that match a filter."""
    matching = ModelTable(fields=expected.fields).matcher(predicate)
    rows = [row for row in expected.rows if matching(row)]
    wanted = reading_json(reading(expected.fields, rows))
    yield from reading_differences("", wanted, written.read(ref=name, filter=predicate), None)


def _no_differences(what: str, differences: Iterable[Difference], filtered: tuple[str, Json] | None = None) -> None:
    found = list(islice(differences, 3))
    if found:
        where = "filter" if filtered else found[0].path.rpartition("/")[2]
        message = f"{what}: {'; '.join(map(str, found))}"
        raise Broken(f"differs: {where}", message, differences=found, filtered=filtered)


def reading_error(what: str, error: Exception) -> Broken:
    """Convert an error of reading a table."""
    if isinstance(error, Broken):
        return error
    broken_rule = error.__cause__ if isinstance(error, NotExamined) else error
    if isinstance(broken_rule, SpecError):
        found = broken_rule.violation
        return Broken(f"unreadable: {found.requirement}", f"{what}: {error}", [found])
    if isinstance(error, NotExamined):
        return Broken("unreadable", f"{what}: {error}")
    where = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{what}: an internal error, {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
    return Broken(f"internal error: {type(error).__name__} in {where.name}", message)


def check_no_findings(what: str, findings: Iterable[Finding], *, warnings: bool = True) -> None:
    """Check that there are no errors among findings, and if warnings count, no unexpected warnings.

    Raises:
        Broken: there is one.
    """
    found = [one for one in findings if _counts(one) and (warnings or one.severity is Severity.ERROR)]
    if found:
        message = f"{what}: {'; '.join(str(one) for one in found[:3])}"
        raise Broken(f"finding: {found[0].requirement}", message, [one.violation for one in found[:3]])


def _counts(finding: Finding) -> bool:
    if finding.severity is Severity.ERROR:
        return True
    return finding.severity is Severity.WARNING and finding.requirement not in EXPECTED_WARNINGS
