"""The changes between two runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from conformance.core.json_text import dump_json, shorten
from conformance.core.terminal_sanitizer import one_line
from conformance.operations.comparison import same_json
from conformance.reports.markdown import code_span
from conformance.runner.results import AdapterRun, Result, Run, sparse_json

MAX_REPORTED = 50
"""The maximum number of changes of one kind that Markdown lists."""


@frozen
class ResultChange:
    """A result that changed; a side without a result is None."""

    adapter: str
    id: str
    old: Result | None
    new: Result | None

    @property
    def is_regression(self) -> bool:
        """Whether it fails now and did not fail before."""
        return self.new is not None and self.new.is_failure and not (self.old is not None and self.old.is_failure)

    def __str__(self) -> str:
        return f"{self.adapter} · {self.id}: {_status(self.old)} -> {_status(self.new)}"


def changed_results(old: Run, new: Run) -> Iterator[ResultChange]:
    """Yield the results whose status or answer changed, adapter by adapter, in the order of the new run."""
    before, after = ({(result.adapter, result.id): result for result in run.results} for run in (old, new))
    for key in dict.fromkeys([*after, *before]):
        one, other = before.get(key), after.get(key)
        if one is None or other is None or not _same(one, other):
            yield ResultChange(*key, one, other)


def lines(old: Run, new: Run) -> Iterator[str]:
    """Yield the report for people."""
    return map(one_line, _lines(old, new))


def _lines(old: Run, new: Run) -> Iterator[str]:
    yield from (f"{name}: {before} -> {after}" for name, before, after in _identities(old, new))
    found = False
    for title, members in _groups(old, new):
        found = True
        yield f"{len(members)} {title}:"
        yield from (f"    {change}" for change in members)
    if not found:
        yield "no result changed"


def markdown(old: Run, new: Run) -> Iterator[str]:
    """Yield the report as Markdown, for instance for a comment on a pull request."""
    yield "## Iceberg conformance: what changed"
    yield ""
    versions = [
        f"- {code_span(name)}: {code_span(before)} is now {code_span(after)}"
        for name, before, after in _identities(old, new)
    ]
    yield from [*versions, ""] if versions else []
    found = False
    for title, members in _groups(old, new):
        found = True
        yield f"### {len(members)} {title}"
        yield ""
        for change in members[:MAX_REPORTED]:
            sides = f"{code_span(_status(change.old))} is now {code_span(_status(change.new))}"
            yield f"- {code_span(change.id)} of {code_span(change.adapter)}: {sides}"
        if len(members) > MAX_REPORTED:
            yield f"- and {len(members) - MAX_REPORTED} more"
        yield ""
    if not found:
        yield "No result changed."


def as_json(old: Run, new: Run) -> dict[str, Any]:
    """Return the report as JSON."""
    return {
        "adapters": [{"name": name, "old": one, "new": other} for name, one, other in _identities(old, new)],
        "changes": [
            {
                "adapter": change.adapter,
                "id": change.id,
                "regression": change.is_regression,
                "old": None if change.old is None else sparse_json(change.old),
                "new": None if change.new is None else sparse_json(change.new),
            }
            for change in changed_results(old, new)
        ],
    }


def _identities(old: Run, new: Run) -> Iterator[tuple[str, str, str]]:
    """Yield the adapters whose implementation changed: the name, and the implementation before and now."""
    versions = {adapter.name: adapter for adapter in old.adapters}
    for adapter in new.adapters:
        former = versions.pop(adapter.name, None)
        if former is None or _identity(former) != _identity(adapter):
            yield adapter.name, _identity(former), _identity(adapter)
    yield from ((name, _identity(adapter), _identity(None)) for name, adapter in versions.items())


def _groups(old: Run, new: Run) -> Iterator[tuple[str, list[ResultChange]]]:
    """Yield the changes by kind, each with a title."""
    found = list(changed_results(old, new))
    groups = (
        ("new failures", [change for change in found if change.is_regression]),
        ("no longer failing", [c for c in found if c.old is not None and c.old.is_failure and not _failing(c.new)]),
        ("otherwise changed", [c for c in found if _failing(c.old) == _failing(c.new)]),
    )
    yield from ((title, members) for title, members in groups if members)


def _failing(result: Result | None) -> bool:
    return result is not None and result.is_failure


def _identity(adapter: AdapterRun | None) -> str:
    if adapter is None:
        return "not in this run"
    return (
        f"not run ({adapter.not_examined})" if adapter.not_examined else f"{adapter.implementation} {adapter.version}"
    )


def _same(one: Result, other: Result) -> bool:
    return one.status == other.status and same_json([one.got, one.chosen], [other.got, other.chosen])


def _status(result: Result | None) -> str:
    if result is None:
        return "none"
    answer = result.got or result.chosen
    return result.status if answer is None else f"{result.status} {shorten(dump_json(answer))}"
