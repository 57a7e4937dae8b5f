"""Failures of a run that have one cause for all that is known: those of one operation that break one requirement."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from conformance.runner.results import AdapterRun, Result, Run


@frozen
class FailureGroup:
    """The failures of one adapter with one operation that are about one requirement."""

    adapter: AdapterRun
    requirement: str
    """The most specific requirement of the vectors; empty where they name none."""

    operation: str
    results: tuple[Result, ...]

    @property
    def counts(self) -> str:
        """How many results have each status, in words."""
        counted = Counter(result.status for result in self.results)
        return ", ".join(f"{number} {status}" for status, number in counted.items())


def failure_groups(run: Run) -> tuple[FailureGroup, ...]:
    """The failures of a run in groups: adapter by adapter, those with the most failures first.

    Of several requirements of a vector, the one that the fewest cases of the run are about says the most of a failure.
    """
    cited = Counter(code for case in run.cases.values() for code in case.requirements)
    found: dict[tuple[str, str, str], list[Result]] = {}
    for result in run.failures:
        case = run.cases[result.id]
        requirement = min(case.requirements, key=lambda code: cited[code], default="")
        found.setdefault((result.adapter, requirement, case.operation), []).append(result)
    order = {adapter.name: place for place, adapter in enumerate(run.adapters)}
    adapters = {adapter.name: adapter for adapter in run.adapters}
    keys = sorted(found, key=lambda key: (order[key[0]], -len(found[key]), key))
    return tuple(FailureGroup(adapters[key[0]], key[1], key[2], tuple(found[key])) for key in keys)
