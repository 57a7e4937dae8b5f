"""Random operations of two writers of one table: the second plans on a snapshot that the first has replaced.

Its operation is refused and changes nothing, or the table is as if the operations had been done one after the other, as
the default isolation is serializable.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.operations.writing.comparators import reading_differences
from conformance.operations.writing.written import WrittenTable
from conformance.properties.errors import Broken
from conformance.properties.scenarios import ReferenceSubject, Refusal
from conformance.properties.script_maker import REFUSED, Size
from conformance.properties.script_operations import OPERATION_MAKERS
from conformance.properties.scripts import OPERATIONS, Maker
from conformance.properties.table_checks import TableChecks, check_no_findings, expected_heads
from conformance.properties.values import Chance
from conformance.scripts import ScriptError, UnspecifiedOperation
from conformance.scripts.expected import reading_json
from conformance.scripts.model import ModelTable
from conformance.scripts.model_rows import reading
from conformance.table_io.writing import open_stored
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.commits.changes import Validation
from spec_ref.core.json_types import Json

SIZE = Size(columns=3, rows=4, operations=6)


class SecondWriter(ReferenceSubject):
    """A writer of the table of another one, which it reads now, and not again before it commits."""

    def __init__(self, first: ReferenceSubject) -> None:
        self._writer = type(first._writer)(None)
        self._writer._made = open_stored(first._writer.table.store)
        self._mains = list(first._mains)

    def location(self) -> str:
        """Return the location of the current metadata, which another writer may have made."""
        return open_stored(self._writer.table.store).base.location


def draw(maker: Maker) -> Json:
    """Draw an operation that is valid after those of a script, without adding it."""
    while True:
        ahead = attrs.evolve(maker, operations=list(maker.operations), dropped=list(maker.dropped))
        name = maker.draw.choice(OPERATIONS)
        made = OPERATION_MAKERS[name](ahead)
        if made is not None and len(ahead.operations) == len(maker.operations):
            operation = {"op": name, **made}
            if maker.is_valid_next(operation):
                return operation


def follow(operations: list[Json], earlier: Json, later: Json, folder: Path) -> str:
    """Do some operations, and then two more by two writers; return what became of the last.

    Raises:
        Broken: the table is not as after any order of the operations that were done.
    """
    first, checks, model = ReferenceSubject(folder), TableChecks(str(folder), thorough=False), ModelTable()
    for index, operation in enumerate(operations):
        model = model.after(index, operation)
        checks.step(index, operation, model, first.do(operation))
    second, count = SecondWriter(first), len(operations)
    after_earlier = model.after(count, earlier)
    location = first.do(earlier)
    checks.step(count, earlier, after_earlier, location)
    try:
        second.do(later)
    except Refusal:
        checks.check_refused(count + 1, later, location)
        return "refused"
    changed = second.location()
    try:
        checks.step(count + 1, later, _model(after_earlier, (count + 1, later)), changed)
        return "after"
    except (Broken, ScriptError) as error:
        after = error
    try:
        before = _model(model, (count, later), (count + 1, earlier))
    except ScriptError:
        if isinstance(after, ScriptError):
            return "in no order"  # such as two upgrades to one version, of which the later one does nothing
        raise after from None
    _check_rows(before, changed, folder)
    return "before"


def _model(table: ModelTable, *operations: tuple[int, Json]) -> ModelTable:
    """Return the table after operations; what a writer may refuse was done."""
    for index, operation in operations:
        try:
            table = table.after(index, operation)
        except UnspecifiedOperation as error:
            if error.after is None:
                raise
            table = error.after
    return table


def _check_rows(table: ModelTable, location: str, folder: Path) -> None:
    """Check the rows of each branch and tag, and that the table is valid."""
    written = WrittenTable.load(location, str(folder))
    for name, head in expected_heads(table).items():
        wanted = reading_json(reading(head.fields, head.rows))
        found = list(reading_differences("", wanted, written.read(ref=name), None))
        if found:
            raise Broken("rows", f"{name}: {found}", differences=found)
    check_no_findings(
        "as after the other order", validate(location, Level.ROWS, LocalBackend(), SnapshotSelection("all")).findings
    )


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_table_is_as_after_both_operations_or_one_is_refused(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    maker = Maker(Chance(random.Random(seed), frozenset({REFUSED, "orc"}), nulls=0.2), SIZE)
    maker.create()
    maker.take({"op": "append", "rows": maker.rows()})
    for _ in range(3):
        maker.add(maker.pick())
    follow(maker.operations, draw(maker), draw(maker), tmp_path_factory.mktemp("stale") / "table")


ID = {"id": 1, "name": "id", "required": False, "type": "long"}
CREATE = {"op": "create", "format_version": 2, "schema": {"type": "struct", "fields": [ID]}}
ROWS = {"op": "append", "rows": [{"id": "1"}, {"id": "2"}]}
UPDATE = {"op": "update", "filter": True, "set": {"id": "3"}, "mode": "copy-on-write"}
MORE = {"op": "append", "rows": [{"id": "4"}]}


def test_an_update_of_rows_that_were_updated_meanwhile_is_refused(tmp_path: Path) -> None:
    assert follow([CREATE, ROWS], UPDATE, UPDATE, tmp_path / "table") == "refused"
    assert follow([CREATE, ROWS], UPDATE, MORE, tmp_path / "other") == "after"


def test_an_update_that_validates_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that two updates replace are there twice: each deletes the old row and adds a new one."""

    def nothing(*_args: Any, **_named: Any) -> Validation:
        return Validation()

    monkeypatch.setattr("conformance.table_io.writing.row_changes.validation_for", nothing)
    update = {**UPDATE, "filter": {"type": "eq", "term": "id", "value": 1}, "mode": "merge-on-read"}
    with pytest.raises(Broken, match="main: "):
        follow([CREATE, ROWS], update, update, tmp_path / "table")


def test_a_branch_of_a_stale_plan_comes_before(tmp_path: Path) -> None:
    assert follow([CREATE, ROWS], MORE, {"op": "branch", "name": "b"}, tmp_path / "table") == "before"
