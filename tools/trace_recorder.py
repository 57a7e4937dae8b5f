"""A pytest plugin that records which requirements are seen broken while tests run.

    pytest -p tools.trace_recorder --trace-out results/trace.json

Code that rejects input or reports a finding makes a `spec_ref.core.errors.Violation`. The file has, for each
requirement, the passing test functions during which one was made. A rule that no test sees broken may be a rule that
cannot fail; `python -m tools.trace --run results/trace.json` lists such rules.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, cast

import pytest

from spec_ref.core.errors import Violation

PROPERTY = "requirements"
"""The property of a test's report that carries the codes, also from the workers of pytest-xdist."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that turns the recorder on."""
    parser.addoption(
        "--trace-out", type=Path, metavar="FILE", help="the file to write the requirements to that tests saw broken"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the recorder if the option is given."""
    if config.getoption("--trace-out") is not None:
        config.pluginmanager.register(Recorder(config.getoption("--trace-out"), Path(str(config.rootpath))))


class Recorder:
    """Collects the codes of the running test, and writes those of all passed tests at the end."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path.absolute()
        self.root = root
        self.codes: set[str] = set()
        self.tests: dict[str, set[str]] = defaultdict(set)
        made = Violation.__init__

        def recorded(violation: Violation, *args: Any, **fields: Any) -> None:
            made(violation, *args, **fields)
            self.codes.add(violation.requirement)

        Violation.__init__ = recorded  # type: ignore[method-assign, assignment]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        self.codes.clear()
        try:
            return (yield)
        finally:
            item.user_properties.append((PROPERTY, sorted(self.codes)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            for name, codes in report.user_properties:
                if name == PROPERTY:
                    for code in cast("list[str]", codes):
                        self.tests[code].add(report.nodeid.partition("[")[0])

    def pytest_sessionfinish(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        found = {code: sorted(tests) for code, tests in sorted(self.tests.items())}
        self.path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
