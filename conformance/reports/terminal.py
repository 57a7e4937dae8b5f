"""The report for people: a table of suites and adapters, then each failure with its evidence.

Text that goes to a file or a pipe is the same without colour. Nothing is ever cut.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from conformance.protocol import dump_json
from conformance.reports.evidence import evidence
from conformance.reports.matrix import matrix_of
from conformance.results import STATUSES, AdapterRun, Run
from conformance.visible import in_document, one_line

SIGNS = {
    "passed": ("✔", "32"),
    "failed": ("✖", "31"),
    "unsupported": ("–", "2"),
    "crashed": ("!", "31"),
    "known": ("k", "33"),
    "unexpected-pass": ("+", "31"),
}
"""The sign of each status, and the colour that it has on a terminal."""

WIDTH = 120
"""The columns that one table takes at the most; further adapters follow in a table below it."""

Paint = Callable[[str, str], str]


def plain(text: str, _colour: str) -> str:
    """Text without colour."""
    return text


def coloured(text: str, colour: str) -> str:
    """Text in a colour of the terminal."""
    return f"\033[{colour}m{text}\033[0m"


def show(run: Run, vectors: Path | None, stream: TextIO) -> None:
    """Write the report to a stream, in colour where that is wanted (NO_COLOR, FORCE_COLOR, or a terminal)."""
    environ = os.environ
    wanted = not environ.get("NO_COLOR") and (bool(environ.get("FORCE_COLOR")) or stream.isatty())
    text = "".join(f"{one_line(line)}\n" for line in lines(run, vectors, coloured if wanted else plain))
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def render(run: Run, vectors: Path | None = None) -> str:
    """The report without colour."""
    return "".join(f"{in_document(one_line(line))}\n" for line in lines(run, vectors, plain))


def lines(run: Run, vectors: Path | None, paint: Paint) -> Iterator[str]:
    """The report, line by line."""
    yield from _table(run, paint)
    for adapter in run.adapters:
        for result in run.results_of(adapter.name):
            if result.is_failure:
                sign, colour = SIGNS[result.status]
                yield ""
                yield f"{paint(sign, colour)} {paint(result.id, '1')} · {adapter} · {result.status}"
                for line in evidence(run.cases[result.id], result, adapter, vectors):
                    yield f"    {line}"
    yield from _known(run)
    yield from _choices(run)
    yield from _notes(run, paint)
    yield ""
    yield _summary(run, paint)


def _table(run: Run, paint: Paint) -> Iterator[str]:
    """Suites by adapters; as many tables, one below the other, as `WIDTH` asks for."""
    matrix = matrix_of(run)
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


def _known(run: Run) -> Iterator[str]:
    """The known results: how many cases each reason explains, by kind."""
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
    """Where the spec permits several outcomes and the adapters of this run chose different ones."""
    chosen: dict[str, dict[str, list[str]]] = {}
    for result in run.results:
        if result.chosen is not None:
            chosen.setdefault(result.id, {}).setdefault(dump_json(result.chosen), []).append(result.adapter)
    differing = {id_: answers for id_, answers in chosen.items() if len(answers) > 1}
    if chosen:
        yield ""
        yield f"{len(chosen)} cases permit several outcomes; in {len(differing)} of them the choices differ" + (
            ":" if differing else ""
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
    text = run.totals
    if not run.complete:
        return f"{text}; {paint('the run is not complete', '31')}"
    passed = run.exit_status == 0
    verdict = {0: "conformant", 1: "not conformant", 3: "not all could be examined"}.get(run.exit_status or 0, "")
    return f"{text}; {paint(verdict, '32' if passed else '31')}"
