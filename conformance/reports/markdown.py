"""The Markdown report: for a pull request or the summary of a job."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from conformance.core.counts import plural
from conformance.core.json_text import shorten
from conformance.core.terminal_sanitizer import escape_for_file
from conformance.reports.evidence import reproduce_command, short_evidence
from conformance.reports.failure_groups import FailureGroup, failure_groups
from conformance.reports.matrix import suite_matrix
from conformance.runner.judge import Outcome
from conformance.runner.results import STATUSES, AdapterRun, Run, SecondReading

MAX_GROUPS = 20
"""The maximum number of failure groups that are shown for each implementation; the other reports have all."""

EXAMPLES = 3
"""The maximum number of failures of a group that are shown."""


def render(run: Run, vectors: Path | None = None) -> str:
    """Render the document."""
    matrix = suite_matrix(run)
    lines = [
        "## Iceberg conformance",
        "",
        f"{run.totals}; **{run.verdict}**.",
        "",
        table_row(["suite", *(escape_text(str(adapter)) for adapter in matrix.adapters)]),
        "|---" * (len(matrix.adapters) + 1) + "|",
        *(
            table_row(
                [
                    escape_text(suite),
                    *(_counts(adapter, matrix.cell(suite, adapter.name)) for adapter in matrix.adapters),
                ]
            )
            for suite in matrix.suites
        ),
        table_row(["**all**", *(_counts(adapter, matrix.total(adapter.name)) for adapter in matrix.adapters)]),
    ]
    groups = failure_groups(run)
    for adapter in matrix.adapters:
        lines += _failures([group for group in groups if group.adapter.name == adapter.name], adapter, vectors)
    lines += _second_readings(run.second_readings)
    return "\n".join(lines) + "\n"


def _second_readings(readings: list[SecondReading]) -> list[str]:
    """Return the differences of the second reader, which may be faults of the writer or the reader."""
    if not readings:
        return []
    counts = Counter(one.outcome for one in readings)
    summed = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome])
    found = [one for one in readings if one.is_difference]
    lines = [
        "",
        f"### Second reader: {escape_text(readings[0].reader)}",
        "",
        f"- {plural(len(readings), 'reading')}: {summed}",
    ]
    lines += [
        f"- {code_span(f'{one.id} by {one.writer}, {one.label}')}: {code_span(shorten(one.reason))}"
        for one in found[:MAX_GROUPS]
    ]
    if len(found) > MAX_GROUPS:
        lines.append(f"- and {len(found) - MAX_GROUPS} more")
    return lines


def table_row(cells: list[str]) -> str:
    """Return a row of a table; no text in a cell can end the cell."""
    return "| " + " | ".join(re.sub(r"\\*\|", r"\\|", cell).replace("\n", " ") for cell in cells) + " |"


def _counts(adapter: AdapterRun, counts: Counter[str]) -> str:
    if adapter.not_examined:
        return "not run"
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]) or "0"


def _failures(groups: list[FailureGroup], adapter: AdapterRun, vectors: Path | None) -> list[str]:
    notes = [f"not run: {adapter.not_examined}"] if adapter.not_examined else []
    notes += [f"broke the protocol at its end: {adapter.breach}"] if adapter.breach else []
    notes += [f"not as expected: {unmet}" for unmet in adapter.unmet]
    if not groups and not notes:
        return []
    lines = ["", f"### {escape_text(str(adapter))}", "", *(f"- {code_span(note)}" for note in notes)]
    for group in groups[:MAX_GROUPS]:
        lines.append(f"- {code_span(f'{group.requirement} {group.operation}'.strip())}: {group.counts}")
        lines += [f"  - {code_span(one.id)}: {code_span(short_evidence(one))}" for one in group.results[:EXAMPLES]]
        if len(group.results) > EXAMPLES:
            lines.append(f"  - and {len(group.results) - EXAMPLES} more")
        if group.requirement:
            lines.append(f"  - {code_span(f'iceberg-conformance explain {group.requirement}')}")
        lines.append(f"  - {code_span(reproduce_command(group.results[0].id, adapter, vectors))}")
    if left := sum(len(group.results) for group in groups[MAX_GROUPS:]):
        lines.append(f"- and {left} failures of other requirements and operations")
    return lines


def escape_text(text: str) -> str:
    """Escape text outside of code: no markup, on one line."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", escape_for_file(" ".join(text.split())))


_MARKUP = re.compile(r"[<>&`|\[\]\\*_~@:#!]|(?<=www)\.")


def code_span(text: str) -> str:
    """Return text as inline code, in which nothing becomes markup."""
    fence = "`" * (1 + max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0))
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    flat = escape_for_file(" ".join(text.split()))
    return f"{fence}{pad}{flat}{pad}{fence}"
