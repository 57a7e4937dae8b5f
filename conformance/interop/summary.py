"""Summarize a matrix: counts of outcomes by producer, feature or layout, and commands to reproduce a cell."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from attrs import frozen

from conformance.interop.cells import GOLDEN, Cell, Matrix, ProducedTable

Key = Callable[[Cell, ProducedTable], Iterable[str]]


@frozen
class OutcomeCounts:
    """Counts of outcomes by row and consumer; known bad cells are counted separately."""

    rows: tuple[str, ...]
    consumers: tuple[str, ...]
    counts: dict[tuple[str, str], Counter[str]]

    def cell(self, row: str, consumer: str) -> Counter[str]:
        """Return the counts of one row and consumer."""
        return self.counts.get((row, consumer), Counter())


STATUSES = ("passed", "known", "failed", "rejected", "crashed", "unsupported")
"""The statuses that are counted: an outcome, or ``known`` for a cell that is bad and known to be."""


def status(cell: Cell) -> str:
    """Return the status of a cell."""
    return "known" if cell.outcome.is_bad and cell.known else cell.outcome.value


def by_producer(matrix: Matrix) -> OutcomeCounts:
    """Count the outcomes by producer and consumer."""
    return _count(matrix, lambda cell, _: (cell.producer,), matrix.producers)


def by_feature(matrix: Matrix) -> OutcomeCounts:
    """Count the outcomes by feature and consumer, for all producers."""
    features = sorted({feature for table in matrix.tables for feature in table.features})
    return _count(matrix, lambda _, table: table.features, features)


def by_layout(matrix: Matrix) -> OutcomeCounts:
    """Count the outcomes by format version, file format and consumer."""
    rows = sorted({version_and_format(table) for table in matrix.tables})
    return _count(matrix, lambda _, table: (version_and_format(table),), rows)


def version_and_format(table: ProducedTable) -> str:
    """Return the format version and the file format of a table."""
    return f"v{table.format_version} {table.file_format}"


def _count(matrix: Matrix, key: Key, rows: Iterable[str]) -> OutcomeCounts:
    tables = {(table.producer, table.name): table for table in matrix.tables}
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in matrix.cells:
        for row in key(cell, tables[cell.producer, cell.table]):
            counts[row, cell.consumer][status(cell)] += 1
    return OutcomeCounts(tuple(rows), tuple(one.name for one in matrix.consumers), dict(counts))


def reproduce(cell: Cell) -> str:
    """Return the command that reproduces one cell."""
    return f"{reproduce_table(cell.producer, cell.table)} --consumer {shlex.quote(cell.consumer)}"


def reproduce_table(producer: str, table: str) -> str:
    """Return the command that reproduces one table."""
    name = GOLDEN if producer.startswith(GOLDEN) else producer
    return f"iceberg-conformance matrix --producer {shlex.quote(name)} --script {shlex.quote(table)}"


def verdict(matrix: Matrix) -> str:
    """Describe the result of the run in words."""
    if not matrix.complete:
        return "the run is not complete"
    words = {0: "nothing new", 1: "new differences", 3: "not all could be examined", 5: "no table was read"}
    return words.get(matrix.exit_status or 0, "")
