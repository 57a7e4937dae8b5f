"""Annotations of GitHub Actions: workflow commands that a step prints and the page of a change shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.core.terminal_sanitizer import escape_for_file, one_line
from conformance.reports.evidence import reproduce_command, requirement_line, short_evidence
from conformance.reports.failure_groups import failure_groups
from conformance.runner.results import Run


def render(run: Run, vectors: Path | None = None) -> str:
    """Render an error for each group of failures, as a step shows only ten, and for each adapter not examined."""
    return "".join(f"{line}\n" for line in _lines(run, vectors))


def _lines(run: Run, vectors: Path | None) -> Iterator[str]:
    for group in failure_groups(run):
        first = group.results[0]
        lines = [
            *([requirement_line(group.requirement)] if group.requirement else []),
            f"{first.id}: {short_evidence(first)}",
            reproduce_command(first.id, group.adapter, vectors),
        ]
        yield annotation("error", f"{group.requirement} {group.operation}: {group.counts}".strip(), lines)
    for adapter in run.adapters:
        if adapter.not_examined:
            yield annotation("error", f"{adapter.name} was not examined", [adapter.not_examined])
        for unmet in adapter.unmet:
            yield annotation("error", f"{adapter.name} is not as expected", [unmet])
    if not run.complete:
        yield annotation("warning", "the run is not complete", [run.totals])


def annotation(level: str, title: str, lines: list[str], file: str = "") -> str:
    """Return a workflow command.

    Args:
        level: ``error``, ``warning`` or ``notice``.
        title: the title, in one line.
        lines: the text.
        file: the file of the repository that it is about, if any.
    """
    where = f"file={_escape(file, ':,')}," if file else ""
    text = "%0A".join(_escape(escape_for_file(one_line(line))) for line in lines)
    return f"::{level} {where}title={_escape(escape_for_file(one_line(title)), ':,')}::{text}"


def _escape(text: str, more: str = "") -> str:
    """Escape text, so that it cannot end the command, or with the characters in ``more`` one of its properties."""
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
