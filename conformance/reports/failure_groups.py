"""Groups of failures that may have one cause: those of one operation that break one requirement."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from conformance.runner.results import AdapterRun, Result, Run


@frozen
class FailureGroup:
    """The failures of one adapter with one operation that are about one requirement."""

    adapter: AdapterRun
    requirement: str
    """The most specific requirement of the vectors; empty if they name none."""

    operation: str
    results: tuple[Result, ...]

    @property
    def counts(self) -> str:
        """The number of results by status, in words."""
        counted = Counter(result.status for result in self.results)
        return ", ".join(f"{number} {status}" for status, number in counted.items())


def failure_groups(run: Run) -> tuple[FailureGroup, ...]:
    """Group the failures of a run: adapter by adapter, largest groups first.

    Of several requirements of a vector, the one with the fewest vectors in the run is the most specific.
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
