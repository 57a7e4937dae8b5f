"""The evidence of one result as lines of text, which most reports share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from conformance.core.json_text import dump_json, shorten
from conformance.core.terminal_sanitizer import escape_for_file, one_line
from conformance.runner.results import AdapterRun, Case, Result
from spec_ref.requirements import register

MAX_SHORT_EVIDENCE = 240
"""The maximum number of characters of the line for one failure among many."""


def evidence(case: Case, result: Result, adapter: AdapterRun, vectors: Path | None = None) -> list[str]:
    """Return the lines: the request, the requirements, the expected and the actual answer, and how to reproduce it."""
    lines = [f"asked        {case.operation} {dump_json(case.args)}"]
    lines += [f"requirement  {requirement_line(code)}" for code in case.requirements]
    lines.append(f"expected     {expected_text(case.expect)}")
    if result.got is not None:
        lines.append(f"got          {dump_json(result.got)}")
    if result.reason:
        lines.append(f"reason       {result.reason}")
    lines += [f"difference   {difference_text(difference)}" for difference in result.differences]
    if result.deviation:
        name = " ".join(part for part in (result.deviation_kind, result.deviation_id) if part)
        lines.append(f"known        {f'{name}: ' if name else ''}{result.deviation}")
    if case.note:
        lines.append(f"note         {case.note}")
    if case.origin:
        lines.append(f"origin       {case.origin}")
    lines += [f"stderr       {line}" for line in result.stderr.splitlines()[-5:]]
    lines.append(f"reproduce    {reproduce_command(case.id, adapter, vectors)}")
    return [escape_for_file(one_line(line)) for line in lines]


def short_evidence(result: Result) -> str:
    """Return the failure in one line, which may be shortened."""
    first = "".join(difference_text(one) for one in result.differences[:1])
    return escape_for_file(one_line(shorten(first or result.reason or result.status, MAX_SHORT_EVIDENCE)))


def requirement_line(code: str) -> str:
    """Return a requirement in one line."""
    rule = register().get(code)
    return code if rule is None else f"{code} {rule.text} ({rule.section})"


def expected_text(expect: dict[str, Any]) -> str:
    """Return the expected outcomes as text."""
    return " or ".join(dump_json(one) for one in expect.get("any_of", [expect]))


def difference_text(difference: dict[str, Any]) -> str:
    """Return a difference with its path."""
    sides = (dump_json(difference[side]) if side in difference else "nothing" for side in ("expected", "got"))
    return "{}: expected {}, got {}".format(difference["path"] or "(the answer)", *sides)


def reproduce_command(id_: str, adapter: AdapterRun, vectors: Path | None = None) -> str:
    """Return the command that runs one vector again."""
    folder = f" --vectors {shlex.quote(str(vectors))}" if vectors is not None else ""
    return f"iceberg-conformance replay {id_} --adapter {adapter.reproduce}{folder}"
