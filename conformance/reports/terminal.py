"""The report for people: a table of suites and adapters, then the failures, grouped by requirement and operation.

A few failures are shown with all their evidence; for many, each group has three examples of one line. A report that is
written to a file has all the evidence. Output to a file or a pipe has no colours.
"""

from __future__ import annotations

import enum
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from conformance.core.colours import Paint, add_colour, plain
from conformance.core.counts import plural
from conformance.core.json_text import dump_json
from conformance.core.terminal_sanitizer import escape_for_file, one_line
from conformance.reports.evidence import evidence, reproduce_command, requirement_line, short_evidence
from conformance.reports.failure_groups import FailureGroup, failure_groups
from conformance.reports.matrix import suite_matrix
from conformance.runner.results import STATUSES, AdapterRun, Run

SIGNS = {
    "passed": ("✔", "32"),
    "failed": ("✖", "31"),
    "unsupported": ("–", "2"),
    "crashed": ("!", "31"),
    "known": ("k", "33"),
    "unexpected-pass": ("+", "31"),
}
"""The sign of each status, and its colour on a terminal."""

WIDTH = 120
"""The maximum number of columns of one table; further adapters follow in a table below it."""

MANY = 20
"""With more failures than this, a report shows only examples."""

EXAMPLES = 3
"""The number of examples for each group of failures."""


class Detail(enum.Enum):
    """How much of the failures to show."""

    ALL = "all"
    """Every failure with its evidence."""

    EXAMPLES = "examples"
    """The evidence of a few failures, and examples of many."""

    STATISTICS = "statistics"
    """Only the numbers of failures by requirement and operation."""


def show(run: Run, vectors: Path | None, stream: TextIO, detail: Detail = Detail.EXAMPLES) -> None:
    """Write the report to a stream, in colour on a terminal, unless NO_COLOR or FORCE_COLOR decides otherwise."""
    environ = os.environ
    wanted = not environ.get("NO_COLOR") and (bool(environ.get("FORCE_COLOR")) or stream.isatty())
    text = "".join(f"{one_line(line)}\n" for line in lines(run, vectors, add_colour if wanted else plain, detail))
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def render(run: Run, vectors: Path | None = None) -> str:
    """Return the report without colour, with all evidence."""
    return "".join(f"{escape_for_file(one_line(line))}\n" for line in lines(run, vectors, plain, Detail.ALL))


def lines(run: Run, vectors: Path | None, paint: Paint, detail: Detail) -> Iterator[str]:
    """Yield the report, line by line."""
    yield from _table(run, paint)
    groups = failure_groups(run)
    if detail is Detail.STATISTICS:
        yield from _statistics(groups)
    elif detail is Detail.EXAMPLES and len(run.failures) > MANY:
        for group in groups:
            yield from _examples(group, vectors, paint)
        yield ""
        yield f"examples of {plural(len(run.failures), 'failure')}; --verbose shows the evidence of all"
    else:
        for group in groups:
            for result in group.results:
                sign, colour = SIGNS[result.status]
                yield ""
                yield f"{paint(sign, colour)} {paint(result.id, '1')} · {group.adapter} · {result.status}"
                for line in evidence(run.cases[result.id], result, group.adapter, vectors):
                    yield f"    {line}"
            if group.requirement:
                yield f"    explain      iceberg-conformance explain {group.requirement}"
    yield from _known_lines(run)
    yield from _choices(run)
    yield from _without_answers(run)
    yield from _notes(run, paint)
    yield ""
    yield _summary(run, paint)


def _without_answers(run: Run) -> Iterator[str]:
    """Yield the most frequent reason of each adapter that supports none of the cases."""
    for adapter in run.adapters:
        results = [one for one in run.results if one.adapter == adapter.name]
        if results and all(one.status == "unsupported" for one in results):
            (reason, _), *_ = Counter(one.reason for one in results).most_common(1)
            yield ""
            yield f"{adapter.name} supports none of these cases: {reason}"


def _statistics(groups: Sequence[FailureGroup]) -> Iterator[str]:
    """Yield a line for each group."""
    if groups:
        yield ""
    rows = [(str(len(one.results)), one.requirement, one.operation, str(one.adapter)) for one in groups]
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    for number, *words in rows:
        cells = [word.ljust(width) for word, width in zip(words, widths[1:], strict=True)]
        yield f"{number.rjust(widths[0])}  {'  '.join(cells)}".rstrip()


def _examples(group: FailureGroup, vectors: Path | None, paint: Paint) -> Iterator[str]:
    """Yield a group in a few lines."""
    sign, colour = SIGNS[group.results[0].status]
    title = " · ".join(part for part in (group.requirement, group.operation) if part)
    yield ""
    yield f"{paint(sign, colour)} {paint(title, '1')} · {group.adapter} · {group.counts}"
    if group.requirement:
        yield f"    {requirement_line(group.requirement)}"
    for result in group.results[:EXAMPLES]:
        yield f"      {result.id}: {short_evidence(result)}"
    if len(group.results) > EXAMPLES:
        yield f"      and {len(group.results) - EXAMPLES} more"
    if group.requirement:
        yield f"    explain      iceberg-conformance explain {group.requirement}"
    yield f"    reproduce    {reproduce_command(group.results[0].id, group.adapter, vectors)}"


def _table(run: Run, paint: Paint) -> Iterator[str]:
    """Yield a table of suites by adapters, split into several if it is wider than `WIDTH`."""
    matrix = suite_matrix(run)
    columns = [
        [
            adapter.name,
            adapter.identity,
            *(_cell(adapter, matrix.cell(suite, adapter.name)) for suite in matrix.suites),
            _cell(adapter, matrix.total(adapter.name)),
        ]
        for adapter in matrix.adapters
    ]
    labels = ["", "", *matrix.suites, "all"]
    first = max(map(len, labels))
    while columns:
        widths = [max(map(len, column)) for column in columns]
        taken = max(1, sum(first + sum(widths[:count]) + 2 * count <= WIDTH for count in range(1, len(widths) + 1)))
        for index, row in enumerate(zip(labels, *columns[:taken], strict=True)):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, [first, *widths], strict=False)).rstrip()
            for sign, colour in SIGNS.values():
                line = line.replace(f" {sign}", f" {paint(sign, colour)}") if index > 1 else line
            if line:
                yield line
        columns = columns[taken:]
        if columns:
            yield ""
    if run.adapters:
        yield "   ".join(f"{paint(sign, colour)} {status}" for status, (sign, colour) in SIGNS.items())


def _cell(adapter: AdapterRun, counts: Counter[str]) -> str:
    if adapter.not_examined:
        return "not run"
    return "  ".join(f"{counts[status]} {SIGNS[status][0]}" for status in STATUSES if counts[status]) or "0"


def _known_lines(run: Run) -> Iterator[str]:
    """Yield the known results: the number of vectors that each reason explains, by kind."""
    reasons = Counter(
        (result.deviation_kind or "deviation", result.adapter, result.deviation)
        for result in run.results
        if result.status == "known"
    )
    for kind in dict.fromkeys(kind for kind, _, _ in reasons):
        yield ""
        yield f"known, {kind}:"
        for (own, adapter, reason), cases in reasons.items():
            if own == kind:
                yield f"    {adapter}: {cases} {'case' if cases == 1 else 'cases'}: {reason}"


def _choices(run: Run) -> Iterator[str]:
    """Yield the vectors that permit several outcomes and for which adapters of this run chose different ones."""
    chosen: dict[str, dict[str, list[str]]] = {}
    for result in run.results:
        if result.chosen is not None:
            chosen.setdefault(result.id, {}).setdefault(dump_json(result.chosen), []).append(result.adapter)
    differing = {id_: answers for id_, answers in chosen.items() if len(answers) > 1}
    if chosen:
        yield ""
        yield (
            f"{plural(len(chosen), 'case')} with several permitted outcomes; the choices differ in {len(differing):,}"
            + (":" if differing else "")
        )
        for id_, answers in differing.items():
            yield f"    {id_}: " + "; ".join(f"{answer} by {', '.join(who)}" for answer, who in answers.items())


def _notes(run: Run, paint: Paint) -> Iterator[str]:
    notes = [
        (adapter.name, note)
        for adapter in run.adapters
        for note in (
            *([f"not run: {adapter.not_examined}"] if adapter.not_examined else []),
            *([f"broke the protocol at its end: {adapter.breach}"] if adapter.breach else []),
            *(f"not as expected: {unmet}" for unmet in adapter.unmet),
        )
    ]
    if notes:
        yield ""
    for name, note in notes:
        yield f"{paint('!', '31')} {name}: {note}"


def _summary(run: Run, paint: Paint) -> str:
    return f"{run.totals}; {paint(run.verdict, '32' if run.complete and run.exit_status == 0 else '31')}"
