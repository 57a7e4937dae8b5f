"""Annotations of GitHub Actions: workflow commands that a step prints and the page of a change shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.core.terminal_sanitizer import in_document, one_line
from conformance.reports.evidence import reproduce, requirement_line, short_evidence
from conformance.reports.failure_groups import failure_groups
from conformance.runner.results import Run


def render(run: Run, vectors: Path | None = None) -> str:
    """An error for each group of failures, as a step has only ten, and one for each adapter that was not examined."""
    return "".join(f"{line}\n" for line in _lines(run, vectors))


def _lines(run: Run, vectors: Path | None) -> Iterator[str]:
    for group in failure_groups(run):
        first = group.results[0]
        lines = [
            *([requirement_line(group.requirement)] if group.requirement else []),
            f"{first.id}: {short_evidence(first)}",
            reproduce(first.id, group.adapter, vectors),
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
    """One workflow command.

    Args:
        level: ``error``, ``warning`` or ``notice``.
        title: in one line.
        lines: the text.
        file: the file of the repository that it is about, if any.
    """
    where = f"file={_escaped(file, ':,')}," if file else ""
    text = "%0A".join(_escaped(in_document(one_line(line))) for line in lines)
    return f"::{level} {where}title={_escaped(in_document(one_line(title)), ':,')}::{text}"


def _escaped(text: str, more: str = "") -> str:
    """Text in which nothing ends the command, or a property of it where ``more`` has the signs for that."""
    for sign in f"%\r\n{more}":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
