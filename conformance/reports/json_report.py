"""The JSON report: one document (`schemas/report.json`)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from conformance.results import Run, sparse

REPORT = 1
"""The version of the form of the report."""


def render(run: Run, _vectors: Path | None = None) -> str:
    """The document."""
    document = {
        "report": REPORT,
        "run": run.header,
        "complete": run.complete,
        "exit_status": run.exit_status,
        "adapters": [
            {
                **sparse(adapter),
                "outcomes": run.outcomes(adapter.name),
                "counts": run.counts(adapter.name),
                "suites": _suites(run, adapter.name),
            }
            for adapter in run.adapters
        ],
        "cases": [sparse(case) for case in run.cases.values()],
        "results": [sparse(result) for result in run.results],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _suites(run: Run, adapter: str) -> dict[str, dict[str, int]]:
    suites: dict[str, Counter[str]] = {}
    for result in run.results_of(adapter):
        suites.setdefault(run.cases[result.id].suite, Counter())[result.status] += 1
    return {suite: dict(counts) for suite, counts in sorted(suites.items())}
