"""Each statement of SECURITY.md has a test, and the tool writes and runs nothing that it does not list."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.vectors.golden_places import PLACE
from conformance.vectors.golden_tables import index, materialize

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
TABLE = "types-v2-parquet"

SECTIONS = [
    "What the tool runs",
    "What the tool reads",
    "What the tool writes",
    "Limits on input",
    "What the tool shows",
]


def _statements(section: str) -> list[str]:
    """The items of the list of a section, or its paragraphs where it has none."""
    body = TEXT.partition(f"## {section}\n")[2].partition("\n## ")[0]
    items = re.split(r"\n(?=- )|\n\n", body.strip())
    return [" ".join(item.split()) for item in items if item.strip()]


def _tests() -> dict[str, set[str]]:
    """The names of all tests by the path of their file."""
    return {
        path.relative_to(ROOT).as_posix(): set(re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M))
        for path in (ROOT / "tests").rglob("test_*.py")
    }


@pytest.mark.parametrize("section", SECTIONS)
def test_each_statement_names_a_test_that_there_is(section: str) -> None:
    tests = _tests()
    known = set().union(*tests.values())
    statements = _statements(section)
    assert statements
    for statement in statements:
        named = re.findall(r"`((?:tests/[\w/]+\.py)?(?:::)?(?:test_\w+)?)`", statement)
        named = [one for one in named if "test_" in one]
        assert named, statement
        for one in named:
            path, _, name = one.rpartition("::") if "::" in one else (one, "", "") if "/" in one else ("", "", one)
            assert not path or path in tests, one
            assert not name or name in (tests[path] if path else known), one


def _run(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conformance", *arguments]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, timeout=300)


def test_what_is_not_asked_for_is_not_written(tmp_path: Path) -> None:
    """Neither to a table that is checked, nor where the command is run."""
    materialize([TABLE])
    table = PLACE / TABLE
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in table.rglob("*")}
    done = _run(tmp_path, "validate", str(table / index(TABLE)["metadata"]), "--level", "rows", "--format", "json")
    assert json.loads(done.stdout)["tables"][0]["counts"]["error"] == 0
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in table.rglob("*")} == before
    done = _run(tmp_path, "run", "--adapter", "reference", "-k", "bucket-int")
    assert "passed" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_is_asked_for_is_written_where_an_option_says(tmp_path: Path) -> None:
    asked = ["run", "--adapter", "reference", "-k", "bucket-int", "--results", "a/r.jsonl", "--report", "html:b.html"]
    done = _run(tmp_path, *asked)
    assert done.returncode == 0, done.stderr
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert written == ["a/r.jsonl", "b.html"]
