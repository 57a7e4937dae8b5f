"""The JSON report: one document (`schemas/report.json`)."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.reports.matrix import suite_matrix
from conformance.runner.results import Run, sparse_json

REPORT = 1
"""The version of the report's format."""


def render(run: Run, _vectors: Path | None = None) -> str:
    """Render the document."""
    matrix = suite_matrix(run)
    document = {
        "report": REPORT,
        "run": run.header,
        "complete": run.complete,
        "exit_status": run.exit_status,
        "adapters": [
            {
                **sparse_json(adapter),
                "outcome_counts": run.outcomes(adapter.name),
                "outcomes": run.outcomes(adapter.name),  # the former name, for one more release
                "counts": run.counts(adapter.name),
                "known": run.known_kinds(adapter.name),
                "suites": {suite: dict(counts) for suite, counts in matrix.suite_counts(adapter.name)},
            }
            for adapter in run.adapters
        ],
        "cases": [sparse_json(case) for case in run.cases.values()],
        "results": [sparse_json(result) for result in run.results],
        **({"second_readings": [sparse_json(one) for one in run.second_readings]} if run.second_readings else {}),
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
