"""Filter pushdown: filtered reads equal filtering a full read.

Planning, partitions, metrics, row groups and residuals are all optimizations, and none of them may change the rows
(Scan Planning, SCN006). The tables and predicates are generated at random from a seed; failures are shrunk.
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
class FilterCounterexample:
    """A table and a predicate for which the property does not hold."""

    seed: int
    case: TableCase
    reason: str
    metadata: Path
    """The metadata file of the table, which is kept."""

    def lines(self, adapter: str) -> Iterator[str]:
        """Yield a description for people."""
        yield f"{adapter}: {self.reason}"
        for column in self.case.columns:
            later = f", in files from number {column.first_file} on" if column.first_file else ""
            default = f", initial default {dump_json(column.default)}" if column.default is not None else ""
            yield f"    column       {column.name} {column.type}{later}{default}"
        if self.case.partition is not None:
            yield f"    partitioned  {self.case.partition[0]} of {self.case.partition[1]}"
        for number, file in enumerate(self.case.files):
            yield f"    file {number}       {dump_json([list(row) for row in file])}"
        yield f"    filter       {dump_json(self.case.predicate)}"
        yield f"    table        {self.metadata}"


@frozen
class FilterPushdownResults:
    """The results of a run."""

    compared: int
    unsupported: int
    counterexamples: tuple[FilterCounterexample, ...]


def matching_rows(case: TableCase, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that match the predicate of a case; values are in exchange form."""
    schema: Schema = reader(SCHEMA, V3, "JSC006")(case.schema_json())
    predicate = bind(predicate_from_json(case.predicate), schema)
    return [
        row
        for row in rows
        if evaluate(predicate, {field.id: from_exchange(field.type, row[field.name]) for field in schema.fields})
    ]


def judge_case(case: TableCase, metadata: Path, adapter: Adapter) -> Broken | None:
    """Return how the property fails for a case; None if it holds.

    Raises:
        NotSupported: the implementation does not support what the case needs.
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
                return Broken(f"crashed: {asked}", f"it crashed on {asked}: {reason}")
    assert isinstance(all_rows, Ok)
    assert isinstance(some_rows, Ok)
    read = OPERATIONS["table.read"]
    for given, wanted, what in (
        (all_rows.value, case.rows(), "the full read differs from what was written"),
        (some_rows.value, None, "the filtered read differs from filtering the full read"),
    ):
        complaint = read.answer_violation(given)
        if complaint is not None:
            return Broken("form of the answer", f"the answer does not have the form of table.read: {complaint}")
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
    exclude: frozenset[str] = frozenset(),
    *,
    keep: Path | None = None,
    max_failures: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> FilterPushdownResults:
    """Check an implementation against the property.

    Args:
        adapter: a started adapter.
        seed: the seed of the examples.
        examples: how many tables and predicates.
        exclude: what they leave out, of `conformance.properties.tables.EXCLUDABLE`.
        keep: the folder for the tables of counterexamples; None for a new temporary folder.
        max_failures: the maximum number of counterexamples to find, all of different kinds.
        progress: called with the number of examples that are done, and the total.
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
            lambda: cases(exclude),
            attempt,
            seed=seed,
            examples=examples,
            max_failures=max_failures,
            progress=lambda done: progress(done, examples),
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    found = []
    for one in failures:
        kept = Path(tempfile.mkdtemp(prefix="iceberg-counterexample-", dir=keep)) / "table"
        found.append(FilterCounterexample(seed, one.example, one.reason, write_table(one.example, kept)))
    return FilterPushdownResults(counts["compared"] + len(found), counts["unsupported"], tuple(found))


def cases(exclude: frozenset[str]) -> Any:
    """Return the strategy of tables and predicates."""

    @st.composite
    def drawn(draw: Callable[[Any], Any]) -> TableCase:
        return draw_case(drawn_chance(draw, exclude))

    return drawn()
