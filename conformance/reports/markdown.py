"""The Markdown report: for a pull request or the summary of a job."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from conformance.core.json_text import dump_json, shorten
from conformance.core.terminal_sanitizer import in_document
from conformance.reports.evidence import expected_text, reproduce
from conformance.reports.matrix import matrix_of
from conformance.runner.results import STATUSES, AdapterRun, Run

MOST_FAILURES = 20
"""The failures of each implementation that are told one by one; all are in the other reports."""


def render(run: Run, vectors: Path | None = None) -> str:
    """The document."""
    matrix = matrix_of(run)
    lines = [
        "## Iceberg conformance",
        "",
        f"{run.totals}; **{run.verdict}**.",
        "",
        row(["suite", *(plain(str(adapter)) for adapter in matrix.adapters)]),
        "|---" * (len(matrix.adapters) + 1) + "|",
        *(
            row([plain(suite), *(_counts(adapter, matrix.cell(suite, adapter.name)) for adapter in matrix.adapters)])
            for suite in matrix.suites
        ),
        row(["**all**", *(_counts(adapter, matrix.total(adapter.name)) for adapter in matrix.adapters)]),
    ]
    for adapter in matrix.adapters:
        lines += _failures(run, adapter, vectors)
    return "\n".join(lines) + "\n"


def row(cells: list[str]) -> str:
    """A row of a table; what a cell says cannot end it."""
    return "| " + " | ".join(re.sub(r"\\*\|", r"\\|", cell).replace("\n", " ") for cell in cells) + " |"


def _counts(adapter: AdapterRun, counts: Counter[str]) -> str:
    if adapter.not_examined:
        return "not run"
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]) or "0"


def _failures(run: Run, adapter: AdapterRun, vectors: Path | None) -> list[str]:
    failures = [result for result in run.results_of(adapter.name) if result.is_failure]
    notes = [f"not run: {adapter.not_examined}"] if adapter.not_examined else []
    notes += [f"broke the protocol at its end: {adapter.breach}"] if adapter.breach else []
    notes += [f"not as expected: {unmet}" for unmet in adapter.unmet]
    if not failures and not notes:
        return []
    lines = ["", f"### {plain(str(adapter))}", "", *(f"- {code(note)}" for note in notes)]
    for result in failures[:MOST_FAILURES]:
        case = run.cases[result.id]
        got = result.reason if result.got is None else dump_json(result.got)
        lines += [
            (
                f"- {code(result.id)} ({plain(', '.join(case.requirements))}): {result.status}, "
                f"expected {code(shorten(expected_text(case.expect)))}, got {code(shorten(got))}"
            ),
            f"  - {code(reproduce(case.id, adapter, vectors))}",
        ]
    if len(failures) > MOST_FAILURES:
        lines.append(f"- and {len(failures) - MOST_FAILURES} more")
    return lines


def plain(text: str) -> str:
    """Text of others outside of code: no markup, on one line."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", in_document(" ".join(text.split())))


_MARKUP = re.compile(r"[<>&`|\[\]\\*_~@:#!]|(?<=www)\.")


def code(text: str) -> str:
    """Text as it stands: nothing in it becomes markup."""
    fence = "`" * (1 + max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0))
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    flat = in_document(" ".join(text.split()))
    return f"{fence}{pad}{flat}{pad}{fence}"
