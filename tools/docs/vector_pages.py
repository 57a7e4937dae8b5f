"""Pages of the vectors, one for each suite: every vector has an address, with its arguments and its outcomes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from conformance.core.spec_links import areas_by_code
from conformance.vectors import Vector
from tools.docs import html
from tools.docs.findings import all_vectors
from tools.docs.results import LETTERS, NOT_ASKED, vector_results
from tools.docs.support import Cause, vector_causes

SHOWN = 300
"""The maximum number of characters of arguments and outcomes; `iceberg-conformance replay` prints them in full."""

SIGNS = {"p": "✔", "o": "✔", "w": "✖", "r": "✖", "c": "✖", "u": "–"}


@cache
def by_suite() -> dict[str, list[Vector]]:
    """Return the vectors of each suite, by suite."""
    found: dict[str, list[Vector]] = defaultdict(list)
    for vector in all_vectors().values():
        found[vector.suite].append(vector)
    return dict(sorted(found.items()))


def page(suite: str) -> str:
    """Return the page of a suite."""
    vectors = by_suite()[suite]
    operations = sorted({vector.operation.name for vector in vectors})
    lines = [
        f"# Vectors: {suite}",
        "",
        f"{len(vectors)} vectors of {', '.join(f'`{one}`' for one in operations)}. Each has an address, which ends in",
        "its id. `iceberg-conformance replay ID --adapter ENGINE` repeats one and prints it in full.",
        "[Vectors](vectors.md) describes the form.",
        "",
        *html.block("vectors.html.j2", vectors=[_row(vector) for vector in vectors], letters=LETTERS, signs=SIGNS),
    ]
    return "\n".join(lines)


def _row(vector: Vector) -> dict[str, Any]:
    results = vector_results()
    letters = results.letters.get(vector.id, "")
    answered: dict[str, list[str]] = defaultdict(list)
    for one, letter in zip(results.engines, letters, strict=False):
        if letter != NOT_ASKED:
            answered[letter.lower()].append(one.name)
    return {
        "id": vector.id,
        "note": vector.note,
        "operation": vector.operation.name,
        "requirements": [
            (code, f"requirements-{areas_by_code()[code]}.html#{code.lower()}") for code in vector.requirements
        ],
        "versions": ", ".join(f"v{version}" for version in vector.versions),
        "points": [(one, f"contradictions.html#point-{one.lower()}") for one in vector.contradiction],
        "origin": vector.origin,
        "args": _shorten(html.portable(vector.args)),
        "expect": _shorten(vector.expect),
        "answered": [(letter, names) for letter in LETTERS if (names := answered.get(letter))],
        "causes": _causes(vector, answered),
    }


def _causes(vector: Vector, answered: dict[str, list[str]]) -> list[Cause]:
    names = [name for letter, members in answered.items() if letter not in ("p", "u") for name in members]
    return list(dict.fromkeys(cause for name in names for cause in vector_causes(name, vector.id)))


def _shorten(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 4] + " ..."


def index(suites: Iterable[str]) -> list[str]:
    """Return the end of the page of all vectors: links to the pages of the suites."""
    names = list(suites)
    rows = [f"- [{name}](vectors-{name}.md): {len(by_suite()[name])} vectors" for name in names]
    hidden = ["```{toctree}", ":hidden:", "", *(f"vectors-{name}" for name in names), "```", ""]
    return ["", "## Pages of the suites", "", *rows, "", *hidden]
