"""``iceberg-conformance replay``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from attrs import evolve
from cyclopts import Parameter

from conformance import vectors
from conformance.adapters.asking import Request
from conformance.adapters.process import Limits, Process
from conformance.cli.targets import REFERENCE, limits_of, target
from conformance.failures import ExitStatus, UsageError
from conformance.golden_tables import materialize_for
from conformance.judge import Outcome, Verdict, judge
from conformance.protocol import Answer, dump_json, shorten
from conformance.reports.evidence import evidence
from conformance.results import AdapterRun, Case, Result
from conformance.runner import difference_json, undeclared

MAX_LINE_SHOWN = 10_000
"""Characters of a line of the protocol that are shown."""

DEFAULTS = Limits()


def replay(
    id_: Annotated[str, Parameter(name="ID")],
    /,
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
) -> int:
    """Ask one case again and show all evidence: the lines that went to and fro, and what was expected.

    Exit status: 0 if the case passes or is unsupported, 1 if not, 3 if the adapter cannot be started.

    Args:
        id_: The id of the vector.
        adapter: As for run.
        vectors_: A folder of vectors other than the one that comes with the tool.
        start_timeout: Seconds that the adapter may take to start.
        timeout: Seconds that it may take for the answer.
    """
    folder = vectors_ or vectors.shipped()
    vector = _find(vectors.load(folder), id_, folder)
    materialize_for([vector])
    transcript: list[tuple[str, bytes]] = []
    limits = limits_of(start_timeout, timeout)
    chosen = target(adapter, limits, lambda direction, line: transcript.append((direction, line)))
    with chosen.open() as opened:
        started = opened.start()
        answer: Answer | None = undeclared(started, vector)
        stderr = ""
        if answer is None:
            answer = next(opened.ask([Request(vector.operation.name, vector.args)]))
            stderr = opened.stderr if isinstance(opened, Process) else ""
    verdict = judge(vector, answer)
    print(f"{vector.id} · {started} · {verdict.outcome.value}")
    for direction, line in transcript:
        text = line.decode(errors="replace").rstrip("\n")
        print(f"    {direction} {shorten(text, MAX_LINE_SHOWN)}")
    found = AdapterRun(chosen.name, chosen.reproduce or chosen.name)
    result = _result(chosen.name, vector.id, evolve(verdict, stderr=verdict.stderr or stderr))
    for text in evidence(Case.of(vector), result, found, vectors_):
        print(f"    {text}")
    if verdict.chosen is not None:
        print(f"    chosen       {dump_json(verdict.chosen)}")
    sys.stdout.flush()
    return ExitStatus.FAILURES if verdict.outcome in (Outcome.FAILED, Outcome.CRASHED) else ExitStatus.CONFORMANT


def _find(every: tuple[vectors.Vector, ...], id_: str, folder: Path) -> vectors.Vector:
    found = next((vector for vector in every if vector.id == id_), None)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(id_, [vector.id for vector in every], 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UsageError(f"no vector {id_!r} in {folder}{hint}")
    return found


def _result(adapter: str, id_: str, verdict: Verdict) -> Result:
    return Result(
        adapter=adapter,
        id=id_,
        outcome=verdict.outcome,
        status=verdict.outcome.value,
        reason=verdict.reason,
        got=verdict.got,
        differences=tuple(map(difference_json, verdict.differences)),
        stderr=verdict.stderr,
    )
