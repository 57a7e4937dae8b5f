"""The matrix in Markdown: for a page of documentation or the summary of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.interop.cells import Cell, Matrix, TableOutcome
from conformance.interop.summary import (
    STATUSES,
    OutcomeCounts,
    by_feature,
    by_layout,
    by_producer,
    reproduce,
    reproduce_table,
)
from conformance.reports.evidence import difference_text
from conformance.reports.markdown import code_span, escape_text, table_row
from conformance.reports.matrix_terminal import summary


def render(matrix: Matrix) -> str:
    """Render the document."""
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield "## Which engine reads which tables"
    yield ""
    yield f"{summary(matrix)}."
    yield ""
    yield table_row(["producer", *(one.value for one in TableOutcome)])
    yield "|---" * (len(TableOutcome) + 1) + "|"
    for name in matrix.producers:
        counts = Counter(table.outcome for table in matrix.tables if table.producer == name)
        yield table_row([escape_text(name), *(str(counts[one]) for one in TableOutcome)])
    for title, counted in (
        ("producer", by_producer(matrix)),
        ("version and format", by_layout(matrix)),
        ("feature", by_feature(matrix)),
    ):
        yield ""
        yield from _table(matrix, title, counted)
    if matrix.new_tables:
        yield from ("", "### Tables that were not written correctly", "")
    for table in matrix.new_tables:
        made = f"{code_span(table.name)} of {escape_text(table.producer)}"
        yield f"- {made}: {table.outcome.value}: {code_span(table.reason)}"
        yield f"  - {code_span(reproduce_table(table.producer, table.name))}"
    if matrix.new_cells:
        yield from ("", "### Tables that were not read correctly", "")
    for cell in matrix.new_cells:
        yield from _cell_lines(cell)
    if matrix.unmet:
        yield from ("", "### Expectations that were not met", "")
    yield from (f"- {code_span(unmet)}" for unmet in matrix.unmet)


def _table(matrix: Matrix, title: str, counted: OutcomeCounts) -> Iterator[str]:
    names = {one.name: str(one) for one in matrix.consumers}
    yield table_row([title, *(escape_text(names[name]) for name in counted.consumers)])
    yield "|---" * (len(counted.consumers) + 1) + "|"
    for name in counted.rows:
        yield table_row([escape_text(name), *(_cell(counted.cell(name, consumer)) for consumer in counted.consumers)])


def _cell(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in STATUSES if counts[word])


def _cell_lines(cell: Cell) -> Iterator[str]:
    who = f"{escape_text(cell.producer)}, {escape_text(cell.consumer)} {cell.outcome.value}"
    yield f"- {code_span(cell.table)} of {who}: {code_span(cell.reason)}"
    yield from (f"  - {code_span(difference_text(one))}" for one in cell.differences)
    yield f"  - {code_span(reproduce(cell))}"
