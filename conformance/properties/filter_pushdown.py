"""Filter pushdown: what an engine reads with a filter is what the filter leaves of all that it reads.

Planning, partitions, metrics, row groups and residuals are all shortcuts, and none of them may be seen in the rows
(Scan Planning, SCN006). The tables and predicates are made at random from a seed; what fails is made as small as it
goes.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from conformance.core.json_text import dump_json
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.comparison import Undecodable
from conformance.operations.protocol import Crashed, Ok, Refused, Unsupported
from conformance.operations.registry import OPERATIONS
from conformance.operations.wire import from_exchange
from conformance.properties.errors import Broken, NotSupported
from conformance.properties.searching import drawn_chance, search
from conformance.properties.tables import TableCase, draw_case, write_table
from conformance.runner.adapter_interface import Adapter, Request
from spec_ref.core.versions import V3
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import evaluate
from spec_ref.expressions.expression_json import predicate_from_json
from spec_ref.json.reading import reader
from spec_ref.schemas.schema import SCHEMA, Schema

with lazy_imports():
    from hypothesis import strategies as st


@frozen
class Counterexample:
    """A table and a predicate for which the property does not hold."""

    seed: int
    case: TableCase
    reason: str
    metadata: Path
    """The table, which is kept."""

    def lines(self, adapter: str) -> Iterator[str]:
        """What a person has to know about it."""
        yield f"{adapter}: {self.reason}"
        for column in self.case.columns:
            later = f", in files from the number {column.born} on" if column.born else ""
            default = f", initial default {dump_json(column.default)}" if column.default is not None else ""
            yield f"    column       {column.name} {column.type}{later}{default}"
        if self.case.partition is not None:
            yield f"    partitioned  {self.case.partition[0]} of {self.case.partition[1]}"
        for number, file in enumerate(self.case.files):
            yield f"    file {number}       {dump_json([list(row) for row in file])}"
        yield f"    filter       {dump_json(self.case.predicate)}"
        yield f"    table        {self.metadata}"


@frozen
class Findings:
    """What a run came to."""

    compared: int
    unsupported: int
    counterexamples: tuple[Counterexample, ...]


def matching_rows(case: TableCase, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that match the predicate of a case; values are in exchange form."""
    schema: Schema = reader(SCHEMA, V3, "JSC006")(case.schema_json())
    predicate = bind(predicate_from_json(case.predicate), schema)
    return [
        row
        for row in rows
        if evaluate(predicate, {field.id: from_exchange(field.type, row[field.name]) for field in schema.fields})
    ]


def judge_case(case: TableCase, metadata: Path, adapter: Adapter) -> Broken | None:
    """Why the property does not hold for a case; None where it does.

    Raises:
        NotSupported: the implementation does not have what this takes.
    """
    everything = {"table": str(metadata), "types": case.types}
    filtered = {**everything, "filter": case.predicate}
    all_rows, some_rows = adapter.ask([Request("table.read", everything), Request("table.read", filtered)])
    for answer, asked in ((all_rows, "the whole table"), (some_rows, "the filter")):
        match answer:
            case Unsupported(message):
                raise NotSupported(message)
            case Refused(kind, message):
                return Broken(f"refused: {asked}: {kind}", f"it refuses {asked} ({kind}): {message}")
            case Crashed(reason):
                return Broken(f"crashed: {asked}", f"it crashed with {asked}: {reason}")
    assert isinstance(all_rows, Ok)
    assert isinstance(some_rows, Ok)
    read = OPERATIONS["table.read"]
    for given, wanted, what in (
        (all_rows.value, case.rows(), "what is read of the whole table is not what was written"),
        (some_rows.value, None, "what is read with the filter is not what it leaves of the whole table"),
    ):
        complaint = read.answer_complaint(given)
        if complaint is not None:
            return Broken("form of the answer", f"the answer is not of the form that table.read has: {complaint}")
        expected = {"rows": matching_rows(case, all_rows.value["rows"]) if wanted is None else wanted}
        try:
            differences = read.compare(everything, expected, given)
        except Undecodable as error:
            return Broken("undecodable", str(error))
        if differences:
            return Broken(what, f"{what}: {'; '.join(map(str, differences[:3]))}")
    return None


def check(
    adapter: Adapter,
    seed: int,
    examples: int,
    avoid: frozenset[str] = frozenset(),
    *,
    keep: Path | None = None,
    most: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Findings:
    """Check an implementation against the property.

    Args:
        adapter: an adapter that was started.
        seed: of the examples.
        examples: how many tables and predicates.
        avoid: what they leave out, of `conformance.properties.tables.AVOIDABLE`.
        keep: where the tables of counterexamples are kept; a new temporary folder where None.
        most: the most counterexamples to look for, each of another kind.
        progress: is told how many were done of all.
    """
    counts: Counter[str] = Counter()
    scratch = Path(tempfile.mkdtemp(prefix="iceberg-filter-pushdown-"))
    numbers = itertools.count()

    def attempt(case: TableCase) -> None:
        folder = scratch / str(next(numbers))
        try:
            broken = judge_case(case, write_table(case, folder), adapter)
        except NotSupported:
            counts["unsupported"] += 1
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if broken is not None:
            raise broken
        counts["compared"] += 1

    try:
        failures = search(
            lambda: cases(avoid),
            attempt,
            seed=seed,
            examples=examples,
            max_failures=most,
            progress=lambda done: progress(done, examples),
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    found = []
    for one in failures:
        kept = Path(tempfile.mkdtemp(prefix="iceberg-counterexample-", dir=keep)) / "table"
        found.append(Counterexample(seed, one.example, one.reason, write_table(one.example, kept)))
    return Findings(counts["compared"] + len(found), counts["unsupported"], tuple(found))


def cases(avoid: frozenset[str]) -> Any:
    """The strategy of tables and predicates."""

    @st.composite
    def drawn(draw: Callable[[Any], Any]) -> TableCase:
        return draw_case(drawn_chance(draw, avoid))

    return drawn()
