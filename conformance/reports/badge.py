"""The badge: the JSON that an endpoint badge of shields.io reads."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from conformance.runner.results import Run

BAD = ("failed", "crashed", "unexpected-pass")


def render(run: Run, _vectors: Path | None = None) -> str:
    """Render the document: how many results of the run passed and failed."""
    counts = Counter(result.status for result in run.results)
    failed = sum(counts[status] for status in BAD)
    part = (
        f" ({run.answered_count:,} of {run.possible_count:,} answered)"
        if run.answered_count < run.possible_count
        else ""
    )
    parts = [f"{counts['passed']} passed{part}"]
    kinds = run.known_kinds()
    deviations = kinds.pop("deviation", 0)
    parts += [f"{deviations} known deviation{'s' * (deviations != 1)}"] if deviations else []
    parts += [f"{sum(kinds.values())} otherwise known"] if kinds else []
    parts += [f"{failed} failed"] if failed else []
    good = run.complete and not failed and not any(adapter.not_examined for adapter in run.adapters)
    badge = {
        "schemaVersion": 1,
        "label": "iceberg conformance",
        "message": ", ".join(parts) if run.complete else "incomplete",
        "color": "brightgreen" if good else "red",
    }
    return json.dumps(badge) + "\n"
