"""The matrix for people at a terminal: counts by producers and by features, then new and known failures."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TextIO

from conformance.core.colours import Paint, add_colour, plain
from conformance.core.counts import plural
from conformance.core.terminal_sanitizer import escape_for_file, one_line
from conformance.interop.cells import Cell, Matrix, ProducedTable, TableOutcome
from conformance.interop.summary import (
    OutcomeCounts,
    by_feature,
    by_producer,
    reproduce,
    reproduce_table,
    status,
    verdict,
)
from conformance.reports.evidence import difference_text
from conformance.reports.terminal import WIDTH

SIGNS = {
    "passed": ("✔", "32"),
    "known": ("k", "33"),
    "failed": ("✖", "31"),
    "rejected": ("r", "31"),
    "crashed": ("!", "31"),
    "unsupported": ("–", "2"),
}
"""The sign of each count, and its colour."""


def show(matrix: Matrix, stream: TextIO) -> None:
    """Write the report to a stream, in colour if the stream supports it."""
    environ = os.environ
    wanted = not environ.get("NO_COLOR") and (bool(environ.get("FORCE_COLOR")) or stream.isatty())
    text = "".join(f"{one_line(line)}\n" for line in lines(matrix, add_colour if wanted else plain))
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def render(matrix: Matrix) -> str:
    """Return the report without colour."""
    return "".join(f"{escape_for_file(one_line(line))}\n" for line in lines(matrix, plain))


def lines(matrix: Matrix, paint: Paint) -> Iterator[str]:
    """Yield the report, line by line."""
    yield from _producers(matrix)
    for title, counted in (("producer", by_producer(matrix)), ("feature", by_feature(matrix))):
        yield ""
        yield from _table(title, counted, paint)
    yield "   ".join(f"{paint(sign, colour)} {name}" for name, (sign, colour) in SIGNS.items())
    tables: dict[tuple[str, ...], list[ProducedTable]] = defaultdict(list)
    for table in matrix.new_tables:
        tables[table.producer, table.outcome.value, table.reason].append(table)
    for like in tables.values():
        yield ""
        yield from table_evidence(like[0], paint)
        yield from _others(one.name for one in like[1:])
    cells: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for cell in matrix.new_cells:
        reason = "" if cell.differences else cell.reason  # cells with differences are not grouped
        cells[cell.consumer, cell.outcome.value, reason or f"{cell.producer} {cell.table}"].append(cell)
    for same in cells.values():
        yield ""
        yield from cell_evidence(same[0], paint)
        yield from _others(f"{one.table} of {one.producer}" for one in same[1:])
    yield from _known_lines(matrix)
    yield from _notes(matrix, paint)
    yield ""
    yield summary(matrix)


def _producers(matrix: Matrix) -> Iterator[str]:
    """Yield the number of tables of each producer."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for table in matrix.tables:
        is_known = table.outcome.is_bad and not table.is_new
        counts[table.producer]["known" if is_known else table.outcome.value] += 1
    names = {one.name: str(one) for one in matrix.participants}
    width = max((len(names.get(name, name)) for name in counts), default=0)
    for name, count in counts.items():
        summed = ", ".join(
            f"{count[word]} {word}" for word in (*(one.value for one in TableOutcome), "known") if count[word]
        )
        yield f"{names.get(name, name).ljust(width)}  {summed}"


def _table(title: str, counted: OutcomeCounts, paint: Paint) -> Iterator[str]:
    """Yield a table of counts, split into several if it is wider than `WIDTH`."""
    columns = [[name, *(_cell(counted.cell(row, name)) for row in counted.rows)] for name in counted.consumers]
    labels = [title, *counted.rows]
    first = max(map(len, labels))
    while columns:
        widths = [max(map(len, column)) for column in columns]
        taken = max(1, sum(first + sum(widths[:count]) + 2 * count <= WIDTH for count in range(1, len(widths) + 1)))
        for row in zip(labels, *columns[:taken], strict=True):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, [first, *widths], strict=False)).rstrip()
            for sign, colour in SIGNS.values():
                line = line.replace(f" {sign}", f" {paint(sign, colour)}")
            yield line
        columns = columns[taken:]
        if columns:
            yield ""


def _cell(counts: Counter[str]) -> str:
    return "  ".join(f"{counts[name]} {sign}" for name, (sign, _) in SIGNS.items() if counts[name]) or "."


def cell_evidence(cell: Cell, paint: Paint = plain) -> Iterator[str]:
    """Return the details of a cell."""
    sign, colour = SIGNS[cell.outcome.value]
    yield f"{paint(sign, colour)} {paint(cell.table, '1')} of {cell.producer} · {cell.consumer} · {cell.outcome.value}"
    yield f"    asked        {cell.case}"
    if cell.reason:
        yield f"    reason       {cell.reason}"
    yield from (f"    difference   {difference_text(one)}" for one in cell.differences)
    yield f"    reproduce    {reproduce(cell)}"


def table_evidence(table: ProducedTable, paint: Paint = plain) -> Iterator[str]:
    """Return the details of a table with a fault."""
    yield f"{paint('✖', '31')} {paint(table.name, '1')} · {table.producer} · {table.outcome.value}"
    yield f"    about        {table.about}"
    yield f"    reason       {table.reason}"
    yield f"    reproduce    {reproduce_table(table.producer, table.name)}"


def _others(names: Iterable[str]) -> Iterator[str]:
    """Group the tables with the same details."""
    likewise = ", ".join(names)
    if likewise:
        yield f"    likewise     {likewise}"


def _known_lines(matrix: Matrix) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for table in matrix.tables:
        if table.known:
            reasons[f"{table.producer} writes", table.known].append(table.outcome.value)
    for cell in matrix.cells:
        if status(cell) == "known":
            reasons[f"{cell.consumer} reads", cell.known].append(cell.outcome.value)
    if reasons:
        yield ""
        yield "known:"
    for (who, reason), outcomes in reasons.items():
        counts = ", ".join(f"{count} {one}" for one, count in Counter(outcomes).items())
        yield f"    {who}: {counts}: {reason}"


def _notes(matrix: Matrix, paint: Paint) -> Iterator[str]:
    notes = [f"{one.name}: not run: {one.not_examined}" for one in matrix.participants if one.not_examined]
    notes += [f"not as stated: {unmet}" for unmet in matrix.unmet]
    if notes:
        yield ""
    yield from (f"{paint('!', '31')} {note}" for note in notes)


def summary(matrix: Matrix) -> str:
    """Return the summary in one line."""
    counts = Counter(status(cell) for cell in matrix.cells)
    summed = ", ".join(f"{counts[name]} {name}" for name in SIGNS if counts[name]) or "no cells"
    return f"{plural(len(matrix.tables), 'table')}, {summed}; {verdict(matrix)}"
