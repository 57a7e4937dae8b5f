"""The page of a matrix: every table, cell, difference and command; the counts are plain HTML."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.interop.cells import Cell, Matrix
from conformance.interop.results import DEPRECATED, record_json
from conformance.interop.summary import (
    STATUSES,
    by_feature,
    by_layout,
    by_producer,
    reproduce_table,
    status,
    verdict,
    version_and_format,
)
from conformance.reports.pages import render_page

MEANINGS = {
    "passed": "reads all rows correctly",
    "known": "fails for a known reason",
    "failed": "returns wrong rows",
    "rejected": "refuses the table",
    "crashed": "dies or does not answer",
    "unsupported": "does not support the table",
}


VIEWS = (
    ("producers", "Producers"),
    ("features", "Features"),
    ("layouts", "Versions and formats"),
    ("grid", "Tables"),
    ("causes", "Causes"),
)


def render(matrix: Matrix) -> str:
    """Render the page."""
    return render_page(
        "matrix_page.html.j2",
        verdict=("good" if matrix.exit_status == 0 else "bad", verdict(matrix).capitalize()),
        views=VIEWS,
        styles=("page.css", "matrix_page.css"),
        scripts=("matrix_page.js",),
        data=payload(matrix),
        matrix=matrix,
        identities={one.name: f"{one.implementation} {one.version}".strip() for one in matrix.participants},
        statuses=STATUSES,
        meanings=MEANINGS,
        by_producer=by_producer(matrix),
        by_feature=by_feature(matrix),
        by_layout=by_layout(matrix),
        notes=_notes(matrix),
        causes=_causes(matrix),
    )


def payload(matrix: Matrix) -> dict[str, Any]:
    """Return the data of the page's script."""
    consumers = [one.name for one in matrix.consumers]
    features = sorted({feature for table in matrix.tables for feature in table.features})
    cells = {(cell.producer, cell.table, cell.consumer): cell for cell in matrix.cells}
    return {
        "consumers": consumers,
        "features": features,
        "tables": [
            {
                "producer": table.producer,
                "name": table.name,
                "about": table.about,
                "features": [features.index(one) for one in table.features],
                "layout": version_and_format(table),
                "outcome": table.outcome.value,
                "reason": table.reason,
                "known": table.known,
                "reproduce": reproduce_table(table.producer, table.name),
                "cells": [_cell(cells.get((table.producer, table.name, name))) for name in consumers],
            }
            for table in matrix.tables
        ],
    }


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {
        key: value
        for key, value in record_json(cell).items()
        if key not in ("producer", "consumer", "table", "known_id", *DEPRECATED)
    }


def _notes(matrix: Matrix) -> list[str]:
    notes = [f"{one.name}: not run: {one.not_examined}" for one in matrix.participants if one.not_examined]
    return notes + [f"not as stated: {unmet}" for unmet in matrix.unmet]


def _causes(matrix: Matrix) -> list[tuple[str, str, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    for table in matrix.tables:
        if table.known:
            counts[f"{table.producer} writes", table.known] += 1
    for cell in matrix.cells:
        if status(cell) == "known":
            counts[f"{cell.consumer} reads", cell.known] += 1
    return [(who, reason, count) for (who, reason), count in sorted(counts.items())]
