"""The SARIF 2.1.0 report of a run: the failures of implementations, for code-scanning views.

Each implementation is a run of the log. A known deviation is a suppressed result, with its reason.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.reports.evidence import evidence
from conformance.reports.sarif import artifact_location, make_log, sarif_tool, text_message
from conformance.runner.results import AdapterRun, Result, Run

REPORTED_STATUSES = ("failed", "crashed", "unexpected-pass", "known")
FINGERPRINT = "iceberg-conformance/case/v1"


def render(run: Run, vectors: Path | None = None) -> str:
    """Render the log."""
    return make_log([_run(run, adapter, vectors) for adapter in run.adapters])


def _run(run: Run, adapter: AdapterRun, vectors: Path | None) -> dict[str, Any]:
    reported = [result for result in run.adapter_results(adapter.name) if result.status in REPORTED_STATUSES]
    codes = list(dict.fromkeys(_code(run, result) for result in reported))
    place = _place(adapter)
    return {
        "tool": sarif_tool(codes),
        "automationDetails": {"id": f"iceberg-conformance/{adapter.name}/"},
        "invocations": [_invocation(run, adapter)],
        "results": [_result(run, adapter, result, codes, place, vectors) for result in reported],
        "properties": {"implementation": adapter.implementation, "version": adapter.version},
    }


def _code(run: Run, result: Result) -> str:
    return run.cases[result.id].requirements[0]


def _invocation(run: Run, adapter: AdapterRun) -> dict[str, Any]:
    notes = [{"level": "error", "message": text_message(text)} for text in _notes(run, adapter)]
    return {"executionSuccessful": run.complete and not notes, "toolExecutionNotifications": notes}


def _notes(run: Run, adapter: AdapterRun) -> Iterator[str]:
    if adapter.not_examined:
        yield f"not run: {adapter.not_examined}"
    if adapter.breach:
        yield f"broke the protocol at its end: {adapter.breach}"
    yield from (f"not as expected: {unmet}" for unmet in adapter.unmet)
    if not run.complete:
        yield "the run is not complete"


def _result(
    run: Run, adapter: AdapterRun, result: Result, codes: list[str], place: str | None, vectors: Path | None
) -> dict[str, Any]:
    case = run.cases[result.id]
    code = case.requirements[0]
    reason = result.reason or "known deviation now passes"
    found: dict[str, Any] = {
        "ruleId": code,
        "ruleIndex": codes.index(code),
        "level": "error",
        "kind": "fail",
        "message": text_message("\n".join([f"{case.id}: {reason}", *evidence(case, result, adapter, vectors)])),
        "locations": [{"logicalLocations": [{"name": case.id, "fullyQualifiedName": f"{case.suite}/{case.id}"}]}],
        "partialFingerprints": {FINGERPRINT: f"{adapter.name}/{case.id}"},
        "properties": {"status": result.status, "requirements": list(case.requirements)},
    }
    if place is not None:
        found["locations"][0]["physicalLocation"] = {
            "artifactLocation": artifact_location(place),
            "region": {"startLine": 1},
        }
    if result.status == "known":
        found["suppressions"] = [{"kind": "external", "justification": result.deviation}]
    return found


def _place(adapter: AdapterRun) -> str | None:
    """Return the file of the adapter, if its command names one: code-scanning views only show results with a file."""
    try:
        words = shlex.split(shlex.split(adapter.reproduce)[0]) if adapter.reproduce else []
    except (ValueError, IndexError):
        return None
    for word in words:
        path = Path(word.removeprefix("cmd:"))
        if not path.is_absolute() and path.is_file():
            return path.as_posix()
    return None
