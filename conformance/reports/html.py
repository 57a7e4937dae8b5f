"""The HTML report: what failed first, then every case, difference and command that reproduces it.

The failures, and the matrix of suites and implementations, are plain HTML. ``#case=ID`` opens the page at a case, and
``#cases?suite=S&adapter=A&status=S&words=W`` at a filter.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from conformance.core.spec_links import rule_link
from conformance.interop.cells import Matrix as Tables
from conformance.interop.summary import STATUSES as TABLE_STATUSES
from conformance.interop.summary import by_producer
from conformance.reports.evidence import reproduce_command, short_evidence
from conformance.reports.failure_groups import FailureGroup, failure_groups
from conformance.reports.golden_writers import golden_writers
from conformance.reports.matrix import suite_matrix
from conformance.reports.pages import render_page
from conformance.runner.judge import Outcome
from conformance.runner.results import STATUSES, AdapterRun, Result, Run, SecondReading
from spec_ref.requirements import Contradiction, Requirement, Status, contradictions, register

EXAMPLES = 3
"""The maximum number of failures of a group that are shown."""

LETTERS = {status: status[0] for status in STATUSES} | {"known": "k", "unexpected-pass": "+"}
"""A letter for each status, in the string with the results of an implementation; a space for no result."""


def render(run: Run, vectors: Path | None = None, tables: Tables | None = None) -> str:
    """Render the page.

    Args:
        run: the results.
        vectors: the folder of vectors from the command line.
        tables: a matrix of producers and consumers of tables, if there is one.
    """
    groups = _by_requirement(failure_groups(run))
    views = [
        *([("failures", "Failures")] if groups else []),
        ("matrix", "Matrix"),
        ("cases", "Cases"),
        ("deviations", "Deviations"),
        ("open-points", "Open points"),
        ("coverage", "Coverage"),
        *([("tables", "Tables")] if tables else []),
        ("writers", "Writers"),
        *([("second-reader", "Second reader")] if run.second_readings else []),
    ]
    return render_page(
        "page.html.j2",
        verdict=_verdict(run),
        views=views,
        scripts=("page.js",),
        data=payload(run, vectors),
        run=run,
        groups=groups,
        rules=register(),
        rule_link=rule_link,
        examples=EXAMPLES,
        short_evidence=short_evidence,
        reproduce=lambda group: reproduce_command(group.results[0].id, group.adapter, vectors),
        matrix=suite_matrix(run),
        statuses=STATUSES,
        writers=golden_writers(),
        second=second_reader_results(run),
        tables=tables,
        by_producer=None if tables is None else by_producer(tables),
        table_statuses=TABLE_STATUSES,
    )


def second_reader_results(run: Run) -> list[tuple[str, Counter[Outcome], list[SecondReading]]]:
    """Return each writer with the outcomes of the second reader for its tables, and the readings that differ."""
    found: dict[str, list[SecondReading]] = {}
    for one in run.second_readings:
        found.setdefault(one.writer, []).append(one)
    return [
        (writer, Counter(one.outcome for one in readings), [one for one in readings if one.is_difference])
        for writer, readings in found.items()
    ]


def _by_requirement(groups: tuple[FailureGroup, ...]) -> list[tuple[str, list[FailureGroup]]]:
    """Return the groups of failures by requirement, the one with the most failures first."""
    found: dict[str, list[FailureGroup]] = {}
    for group in groups:
        found.setdefault(group.requirement, []).append(group)
    return sorted(found.items(), key=lambda item: -sum(len(group.results) for group in item[1]))


def payload(run: Run, vectors: Path | None = None) -> dict[str, Any]:
    """Return the data of the page's script; repeated texts occur once."""
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
        for result in run.adapter_results(adapter.name):
            index = order[result.id]
            letters[index] = LETTERS[result.status]
            details[index] = _detail(result, text)
        adapters.append(
            {
                "name": adapter.name,
                "identity": adapter.identity,
                "notes": _notes(adapter),
                "reproduce": reproduce_command("ID", adapter, vectors),
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
    """Return the details of a result besides the status; nothing for a plain pass."""
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
        "link": rule_link(rule),
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
    """Return the style class of the verdict, and its words."""
    good = run.complete and not run.failures and run.exit_status in (None, 0)
    return "good" if good else "bad", run.verdict[0].upper() + run.verdict[1:]
