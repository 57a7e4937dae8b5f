"""Counterexamples of theorems as golden vectors, which ``iceberg-conformance replay`` replays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.core.json_text import dump_json
from spec_ref.requirements import register
from tools.proofs.theorem import Failure, Theorem, Verdict

SUITE = "counterexamples"


def vectors(verdict: Verdict) -> Iterator[tuple[Failure, dict[str, Any]]]:
    """Make the vectors of the counterexamples of a theorem.

    Args:
        verdict: the result of proving it.

    Yields:
        Each failure that a vector can show, with a document that has this vector.
    """
    one = verdict.theorem
    for number, failure in enumerate(verdict.failures, 1):
        request = failure.request
        if request is not None and "expect" in request:
            yield failure, _document(one, f"counterexample-{one.id}-{number}", failure, request)


def _document(one: Theorem, id_: str, failure: Failure, request: dict[str, Any]) -> dict[str, Any]:
    row = {
        "id": id_,
        "requirements": sorted(one.codes),
        "versions": [3] if "_ns" in json.dumps(request["args"]) else [1, 2, 3],
        "args": request["args"],
        "expect": {"ok": request["expect"]},
        "origin": f"derivation: the theorem {one.id}",
        "note": failure.reason,
    }
    section = register()[one.codes[0]].section
    return {"suite": SUITE, "operation": request["operation"], "section": section, "vectors": [row]}


def write(verdict: Verdict, folder: Path) -> list[Path]:
    """Write the vectors of the counterexamples of a theorem into a folder of vectors.

    Args:
        verdict: the result of proving it.
        folder: the folder, which is created if it does not exist.

    Returns:
        The files that were written.
    """
    paths = []
    for _, document in vectors(verdict):
        path = folder / SUITE / f"{document['vectors'][0]['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump_json(document) + "\n", encoding="utf-8")
        paths.append(path)
    return paths
