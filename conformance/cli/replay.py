"""``iceberg-conformance replay``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

from attrs import evolve
from cyclopts import Parameter

from conformance import vectors
from conformance.core.failures import ExitStatus, NotExamined, UsageError, suggest_names
from conformance.core.json_text import dump_json, shorten
from conformance.operations.protocol import Answer
from conformance.reports.evidence import evidence
from conformance.runner.adapter_interface import Request
from conformance.runner.execution import difference_json, undeclared_operations
from conformance.runner.judge import Outcome, Verdict, judge_answer
from conformance.runner.process import AdapterLimits, Process
from conformance.runner.results import AdapterRun, Case, Result, sparse_json
from conformance.runner.scratch_dir import table_folders
from conformance.runner.targets import REFERENCE, make_limits, target
from conformance.vectors.golden_tables import materialize_for, tables_folder

MAX_LINE_SHOWN = 10_000
"""The maximum number of characters of a protocol line that are shown."""

DEFAULTS = AdapterLimits()


def replay(
    id_: Annotated[str, Parameter(name="ID")],
    /,
    *,
    adapter: Annotated[str, Parameter(name=["--adapter", "-a"])] = REFERENCE,
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
    start_timeout: float = DEFAULTS.start,
    timeout: float = DEFAULTS.request,
    format: Literal["text", "json"] = "text",
) -> int:
    """Run one vector again and show all evidence: the request, the answer, and what was expected.

    Exit status: 0 if the vector passes or is unsupported, 1 if not, 3 if the adapter cannot be started.

    Args:
        id_: The id of the vector.
        adapter: As for run.
        vectors_: A folder of vectors to use instead of those that come with the tool.
        start_timeout: Seconds that the adapter may take to start.
        timeout: Seconds that the adapter may take to answer.
        format: Text for people, or JSON.
    """
    folder = vectors_ or vectors.shipped()
    vector = _find(id_, folder)
    golden = materialize_for([vector], tables_folder())
    transcript: list[tuple[str, bytes]] = []
    limits = make_limits(start_timeout, timeout)
    chosen = target(adapter, limits, lambda direction, line: transcript.append((direction, line)))
    with chosen.open() as opened, table_folders([vector]) as (vector,):
        try:
            started = opened.start()
        except NotExamined as error:
            raise NotExamined(f"{chosen.name}: not run: {error}") from None
        answer: Answer | None = undeclared_operations(started, vector)
        stderr = ""
        if answer is None:
            answer = golden.answer(next(opened.ask([Request(vector.operation.name, golden.request(vector.args))])))
            stderr = opened.stderr if isinstance(opened, Process) else ""
        verdict = judge_answer(vector, answer)
    case, found = Case.from_vector(vector), AdapterRun(chosen.name, chosen.reproduce or chosen.name)
    result = _result(chosen.name, vector.id, evolve(verdict, stderr=verdict.stderr or stderr))
    lines = [(direction, line.decode(errors="replace").rstrip("\n")) for direction, line in transcript]
    if format == "json":
        who = {"implementation": started.implementation, "version": started.version}
        content = {
            **who,
            "case": sparse_json(case),
            "result": sparse_json(result),
            "transcript": [" ".join(one) for one in lines],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        print(f"{vector.id} · {started} · {verdict.outcome.value}")
        for direction, text in lines:
            print(f"    {direction} {shorten(text, MAX_LINE_SHOWN)}")
        for text in evidence(case, result, found, vectors_):
            print(f"    {text}")
        if verdict.chosen is not None:
            print(f"    chosen       {dump_json(verdict.chosen)}")
    sys.stdout.flush()
    return ExitStatus.FAILURES if verdict.outcome in (Outcome.FAILED, Outcome.CRASHED) else ExitStatus.CONFORMANT


def _find(id_: str, folder: Path) -> vectors.Vector:
    found = next((vector for vector in vectors.load(folder, id_) if vector.id == id_), None)
    if found is None:
        ids = [vector.id for vector in vectors.load(folder)]
        raise UsageError(f"no vector {id_!r} in {folder}{suggest_names(id_, ids)}")
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
        chosen=verdict.chosen,
        stderr=verdict.stderr,
    )
