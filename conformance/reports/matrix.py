"""Suites by implementations: the counts at the start of every report for people."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from conformance.runner.results import AdapterRun, Run


@frozen
class SuiteMatrix:
    """The number of results by implementation, suite and status."""

    suites: tuple[str, ...]
    adapters: tuple[AdapterRun, ...]
    cases: Counter[str]
    """The number of vectors of each suite."""

    counts: dict[tuple[str, str], Counter[str]]
    """The number of results of each status, by suite and the name of the adapter."""

    def cell(self, suite: str, adapter: str) -> Counter[str]:
        """Return the number of results of each status in one suite."""
        return self.counts.get((suite, adapter), Counter())

    def suite_counts(self, adapter: str) -> list[tuple[str, Counter[str]]]:
        """Return the suites in which an implementation has results, with the number of each status."""
        return [(suite, counts) for suite in self.suites if (counts := self.cell(suite, adapter))]

    def total(self, adapter: str) -> Counter[str]:
        """Return the number of results of each status in all suites."""
        return sum((self.cell(suite, adapter) for suite in self.suites), Counter())


def suite_matrix(run: Run) -> SuiteMatrix:
    """Return the matrix of a run."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for result in run.results:
        counts.setdefault((run.cases[result.id].suite, result.adapter), Counter())[result.status] += 1
    cases = Counter(case.suite for case in run.cases.values())
    return SuiteMatrix(tuple(sorted(cases)), tuple(run.adapters), cases, counts)
