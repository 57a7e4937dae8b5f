"""The page of a matrix: one file that needs no network, with every table, cell, difference and command.

The counts are plain HTML. What a person drills down to travels in the page as compressed JSON, which its script
unpacks; the script writes text only, so that nothing of a table or answer becomes markup.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from conformance.core.terminal_sanitizer import in_page
from conformance.interop.cells import Cell, Matrix
from conformance.interop.results import stored
from conformance.interop.summary import (
    STATUSES,
    by_feature,
    by_layout,
    by_producer,
    layout,
    reproduce_table,
    status,
    verdict,
)

MEANINGS = {
    "right": "reads right",
    "known": "not right, as is known",
    "wrong": "reads wrong",
    "refuses": "refuses",
    "crashes": "crashes",
    "cannot": "cannot",
}


def render(matrix: Matrix) -> str:
    """The page."""
    page: str = _template().render(
        matrix=matrix,
        verdict=verdict(matrix).capitalize(),
        identities={one.name: f"{one.implementation} {one.version}".strip() for one in matrix.participants},
        statuses=STATUSES,
        meanings=MEANINGS,
        by_producer=by_producer(matrix),
        by_feature=by_feature(matrix),
        by_layout=by_layout(matrix),
        notes=_notes(matrix),
        causes=_causes(matrix),
        data=Markup(_packed(payload(matrix))),  # noqa: S704 (base64 has no character that HTML knows)
        style=Markup(_resource("page.css") + _resource("matrix_page.css")),  # noqa: S704 (our own files)
        script=Markup(_resource("matrix_page.js")),  # noqa: S704
    )
    return page


def payload(matrix: Matrix) -> dict[str, Any]:
    """What the script of the page works on."""
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
                "layout": layout(table),
                "writing": table.writing.value,
                "reason": table.reason,
                "known": matrix.known_tables.get((table.producer, table.name), ""),
                "reproduce": reproduce_table(table.producer, table.name),
                "cells": [_cell(cells.get((table.producer, table.name, name))) for name in consumers],
            }
            for table in matrix.tables
        ],
    }  # fmt: skip


def _cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    return {key: value for key, value in stored(cell).items() if key not in ("producer", "consumer", "table")}


def _notes(matrix: Matrix) -> list[str]:
    notes = [f"{one.name}: not run: {one.not_examined}" for one in matrix.participants if one.not_examined]
    return notes + [f"not as stated: {unmet}" for unmet in matrix.unmet]


def _causes(matrix: Matrix) -> list[tuple[str, str, int]]:
    counts: Counter[tuple[str, str]] = Counter()
    for (producer, _), reason in matrix.known_tables.items():
        counts[f"{producer} writes", reason] += 1
    for cell in matrix.cells:
        if status(cell) == "known":
            counts[f"{cell.consumer} reads", cell.known] += 1
    return [(who, reason, count) for (who, reason), count in sorted(counts.items())]


def _packed(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _resource(name: str) -> str:
    return (files("conformance.reports") / "page" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=in_page
    )
    environment.filters["share"] = lambda counts, name: f"{100 * counts[name] / max(1, counts.total()):.2f}%"
    return environment.from_string(_resource("matrix_page.html.j2"))
