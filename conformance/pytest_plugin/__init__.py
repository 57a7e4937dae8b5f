"""A pytest plugin: the vectors as tests in an engine's test suite.

    pytest --iceberg-adapter "./my-adapter --stdio"

With ``--iceberg-adapter`` each vector becomes a test ``iceberg::SUITE::ID``; without it the plugin does nothing. ``-k``
finds ids, suites, operations and requirements; ``-m`` takes marks such as ``iceberg_suite(name="hashing")``,
``iceberg_requirement(code="HSH007")`` and ``iceberg_version(number=3)``. With the id of a test, or ``iceberg::SUITE``,
as an argument, only that test or suite runs. A vector that the engine does not support is skipped. A deviation in
``--iceberg-expect`` is an expected failure; its test fails when the deviation no longer happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

MARKS = {
    "iceberg_suite(name)": "the suite of a vector",
    "iceberg_requirement(code)": "a requirement that a vector proves",
    "iceberg_version(number)": "a format version that a vector applies to",
}

PREFIX = "iceberg::"
"""The prefix of the ids of the tests."""

SELECTED = pytest.StashKey[Sequence[str]]()
"""The test ids that the command line names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, in a separate group."""
    group = parser.getgroup("iceberg", "conformance to the Apache Iceberg table spec")
    group.addoption(
        "--iceberg-adapter", metavar="NAME or CMD", help="the adapter to test; nothing is tested without it"
    )
    group.addoption("--iceberg-suite", action="append", default=[], metavar="SUITE", help="only vectors of this suite")
    group.addoption("--iceberg-requirement", action="append", default=[], metavar="CODE", help="only vectors of this")
    group.addoption("--iceberg-format-version", type=int, metavar="N", help="only vectors for this format version")
    group.addoption("--iceberg-expect", metavar="FILE", help="known deviations: a file, or known-deviations")
    group.addoption("--iceberg-vectors", type=Path, metavar="FOLDER", help="vectors to use instead of those shipped")
    group.addoption("--iceberg-timeout", type=float, metavar="SECONDS", help="time limit of one answer (default: 30)")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and keep pytest from looking for the ids of vectors in files."""
    for mark, meaning in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {meaning}")
    selected = [arg for arg in config.args if arg.startswith(PREFIX)]
    if config.getoption("--iceberg-adapter") is not None:
        config.stash[SELECTED] = selected
        config.args[:] = [arg for arg in config.args if not arg.startswith(PREFIX)]
    elif selected:
        raise pytest.UsageError(f"{selected[0]}: the test of a vector needs --iceberg-adapter")


@pytest.hookimpl(tryfirst=True)  # -k and -m select among the tests that are added here
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the vectors to the collected tests."""
    if config.getoption("--iceberg-adapter") is None:
        return
    # pytest looks at every attribute of a plugin, which would load a module that is imported lazily at the top.
    from conformance.pytest_plugin.items import collect  # noqa: PLC0415

    added = collect(session, config.stash[SELECTED])
    items.extend(added)
    report = pytest.CollectReport(nodeid="iceberg", outcome="passed", longrepr=None, result=list(added))
    session.ihook.pytest_collectreport(report=report)  # so that pytest counts them
