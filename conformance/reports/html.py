"""The HTML report: one file that needs no network, with every case, difference and command that reproduces it.

The matrix of suites and implementations is plain HTML. What a person drills down to travels in the page as compressed
JSON, which its script unpacks; the script writes text only, so that nothing of a case or answer becomes markup.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from conformance.core.terminal_sanitizer import in_page
from conformance.interop.cells import Matrix as Tables
from conformance.interop.summary import STATUSES as TABLE_STATUSES
from conformance.interop.summary import by_producer
from conformance.reports.evidence import reproduce
from conformance.reports.golden_writers import golden_writers
from conformance.reports.matrix import matrix_of
from conformance.runner.results import STATUSES, AdapterRun, Result, Run
from spec_ref.requirements import Contradiction, Requirement, Status, contradictions, register

LETTERS = {status: status[0] for status in STATUSES} | {"known": "k", "unexpected-pass": "+"}
"""Each status as one letter, in the string that holds the results of an implementation; a space is no result."""


def render(run: Run, vectors: Path | None = None, tables: Tables | None = None) -> str:
    """The page.

    Args:
        run: what was found.
        vectors: the folder of vectors that was named on the command line.
        tables: a matrix of producers and consumers of tables, where there is one.
    """
    page: str = _template().render(
        run=run,
        matrix=matrix_of(run),
        verdict=_verdict(run),
        statuses=STATUSES,
        writers=golden_writers(),
        tables=tables,
        by_producer=None if tables is None else by_producer(tables),
        table_statuses=TABLE_STATUSES,
        data=Markup(_packed(payload(run, vectors))),  # noqa: S704 (base64 has no character that HTML knows)
        style=Markup(_resource("page.css")),  # noqa: S704 (our own files)
        script=Markup(_resource("page.js")),  # noqa: S704
    )
    return page


def payload(run: Run, vectors: Path | None = None) -> dict[str, Any]:
    """What the script of the page works on; texts that repeat are told once."""
    texts: dict[str, int] = {}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    order = {id_: index for index, id_ in enumerate(run.cases)}
    cases = [
        {
            "id": case.id,
            "suite": case.suite,
            "operation": case.operation,
            "section": case.section,
            "requirements": case.requirements,
            "versions": case.versions,
            "args": case.args,
            "expect": case.expect,
            "origin": text(case.origin),
            "note": text(case.note),
            "contradiction": case.contradiction,
        }
        for case in run.cases.values()
    ]
    adapters = []
    for adapter in run.adapters:
        letters = [" "] * len(cases)
        details = {}
        for result in run.results_of(adapter.name):
            index = order[result.id]
            letters[index] = LETTERS[result.status]
            details[index] = _detail(result, text)
        adapters.append(
            {
                "name": adapter.name,
                "identity": adapter.identity,
                "notes": _notes(adapter),
                "reproduce": reproduce("ID", adapter, vectors),
                "statuses": "".join(letters),
                "details": {index: detail for index, detail in details.items() if detail},
            }
        )
    known = contradictions()
    ids = dict.fromkeys(id_ for case in run.cases.values() for id_ in case.contradiction)
    return {
        "cases": cases,
        "adapters": adapters,
        "requirements": {code: _requirement(rule) for code, rule in register().items()},
        "contradictions": [_contradiction(known[id_]) for id_ in ids if id_ in known],
        "texts": list(texts),
    }


def _detail(result: Result, text: Any) -> dict[str, Any]:
    """What there is to tell beside the status; nothing for a plain pass."""
    found: dict[str, Any] = {
        "reason": text(result.reason) if result.reason else None,
        "deviation": text(result.deviation) if result.deviation else None,
        "kind": result.deviation_kind or None,
        "got": result.got if result.status != "unsupported" else None,
        "differences": result.differences or None,
        "chosen": result.chosen,
        "stderr": text(result.stderr) if result.stderr else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _notes(adapter: AdapterRun) -> list[str]:
    return [
        *([f"not run: {adapter.not_examined}"] if adapter.not_examined else []),
        *([f"broke the protocol at its end: {adapter.breach}"] if adapter.breach else []),
        *(f"not as expected: {unmet}" for unmet in adapter.unmet),
    ]


def _requirement(rule: Requirement) -> dict[str, Any]:
    return {
        "text": rule.text,
        "section": rule.section,
        "document": rule.document,
        "level": rule.level.value,
        "adopted": rule.status is Status.ADOPTED,
    }


def _contradiction(one: Contradiction) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": one.title,
        "texts": one.texts,
        "decision": one.decision,
        "status": one.status.value,
    }


def _verdict(run: Run) -> tuple[str, str]:
    """The verdict's class for the style, and its words."""
    good = run.complete and not run.failures and run.exit_status in (None, 0)
    return "good" if good else "bad", run.verdict[0].upper() + run.verdict[1:]


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
    environment.filters["share"] = share
    return environment.from_string(_resource("page.html.j2"))


def share(counts: Counter[str], status: str) -> str:
    """The share of a status in per cent, as the style sheet wants it."""
    return f"{100 * counts[status] / max(1, counts.total()):.2f}%"
