"""The statements of the page on races are true."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from conformance.cli import main
from conformance.races.table_fixtures import FIXTURES

PAGE = Path(__file__).parents[2] / "docs" / "races.md"


def test_the_python_of_the_page_runs() -> None:
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    test = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    results = doctest.DocTestRunner().run(test)
    assert results.attempted == blocks.count(">>> ") > 0
    assert results.failed == 0


def test_the_schedules_of_the_page_replay() -> None:
    lines = re.findall(r"^\$ iceberg-conformance (race play .*?)(?: +#.*)?$", PAGE.read_text(), re.MULTILINE)
    assert lines
    for line in lines:
        arguments = [first or second for first, second in re.findall(r"'([^']*)'|(\S+)", line)]
        assert main(arguments) == 0


def test_the_page_names_every_fixture() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", PAGE.read_text(), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
    assert set(FIXTURES) <= named
