"""A family of operations is a folder: commands, schemas and the protocol's page include one at any path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance import operations
from conformance.core.failures import UsageError
from conformance.operations import VARIABLE
from conformance.operations.families import families

Run = Callable[..., "subprocess.CompletedProcess[str]"]

OPERATION = {
    "description": "Twice a number.",
    "roles": ["reader"],
    "args": {"type": "object", "properties": {"number": {"$ref": "#/$defs/int32"}}, "required": ["number"]},
    "answer": {"$ref": "#/$defs/even"},
}
SCHEMA = {
    "title": "Doubles",
    "operations": {"double": OPERATION},
    "$defs": {"even": {"type": "integer", "multipleOf": 2}},
}
MODULES = {
    "comparators.py": """
from conformance.operations.comparison import compare_exact

COMPARATORS = {"double": compare_exact}
""",
    "reference.py": """
def operations(_):
    return {"double": lambda args: 2 * args["number"]}
""",
    "README.md": """# Doubles

Nobody needs them.

<!-- operations -->
<!-- end of operations -->

```json
{"seq": 1, "op": "double", "args": {"number": 2}}
{"seq": 1, "ok": 4}
```
""",
}


def write(folder: Path, schema: Any = SCHEMA, **files: str) -> Path:
    """Write the folder of a family."""
    folder.mkdir(parents=True)
    (folder / "schema.json").write_text(schema if isinstance(schema, str) else json.dumps(schema), encoding="utf-8")
    for name, text in {**MODULES, **files}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs Python with the families of ``tmp_path / "operations"``."""

    def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, words)],
            env={**os.environ, VARIABLE: str(tmp_path / "operations")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return command


def vectors(folder: Path, expected: Any, number: Any = 4) -> Path:
    """Write a folder with one vector of the operation."""
    case = {
        "id": "double-four",
        "requirements": ["HSH001"],
        "versions": [1, 2, 3],
        "args": {"number": number},
        "expect": {"ok": expected},
        "origin": "derivation: 4 + 4",
    }
    file = {"suite": "doubles", "operation": "double", "section": "Appendix B", "vectors": [case]}
    (folder / "doubles").mkdir(parents=True)
    (folder / "doubles" / "double.json").write_text(json.dumps(file))
    return folder


def test_a_family_is_listed_run_compared_and_documented(tmp_path: Path, run: Run) -> None:
    write(tmp_path / "operations" / "doubles")
    listed = run("-m", "conformance", "list", "operations", "--format", "json")
    (row,) = [one for one in json.loads(listed.stdout) if one["name"] == "double"]
    assert (row["family"], row["roles"], row["description"]) == ("doubles", ["reader"], "Twice a number.")

    for expected, status in ((8, 0), (10, 1)):
        folder = vectors(tmp_path / f"vectors-{expected}", expected)
        done = run("-m", "conformance", "run", "--adapter", "reference", "--vectors", folder)
        assert done.returncode == status, done.stdout + done.stderr
    assert "double-four" in done.stdout

    for name, expected, number, place in (("odd", 7, 4, "/expect"), ("text", 8, "4", "/args/number")):
        folder = vectors(tmp_path / name, expected, number)
        done = run("-m", "conformance", "run", "--adapter", "reference", "--vectors", folder)
        assert done.returncode == 2
        assert f"/vectors/0{place}" in done.stderr

    asked = "from tools.docs import protocol; print(protocol.page(protocol.PAGE.read_text()) + protocol.reference())"
    page = run("-c", asked).stdout
    assert "## Doubles\n\nNobody needs them." in page
    assert "| `double` | `number` | Twice a number. `integer` |" in page
    assert "## double\n" in page
    asked = "from conformance.operations.protocol import request_line; print(request_line(1, 'double', {'number': 2}))"
    assert "double" in run("-c", asked).stdout


def test_operations_that_come_with_the_tool_are_listed_by_their_families(tmp_path: Path, run: Run) -> None:
    (tmp_path / "operations").mkdir()
    listed = run("-m", "conformance", "list", "operations", "--format", "json")
    assert [one["name"] for one in json.loads(listed.stdout)] == [
        name for family in families() for name in family.operations
    ]


WRONG = {
    "not-json": ("{", "schema.json: it is not JSON"),
    "no-title": ({"operations": {"double": OPERATION}}, 'schema.json: /: "title" is a required property'),
    "no-answer": (
        {"title": "x", "operations": {"double": {**OPERATION, "answer": 1}}},
        "schema.json: /operations/double/answer: 1 is not",
    ),
    "role": (
        {"title": "x", "operations": {"double": {**OPERATION, "roles": ["nobody"]}}},
        "/operations/double/roles/0: ",
    ),
    "name": ({"title": "x", "operations": {"Double": OPERATION}}, "schema.json: /operations: "),
    "an-operation-of-ours": ({"title": "x", "operations": {"hash": OPERATION}}, "hash is already defined in .*hashing"),
    "a-definition-of-ours": ({**SCHEMA, "$defs": {"delete-file": {}}}, "delete-file is already defined in .*reading"),
}


@pytest.fixture
def more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder of families that this process uses, too."""
    root = tmp_path / "operations"
    monkeypatch.setattr(operations, "__path__", [*operations.__path__, str(root)])
    return root


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_schema_is_refused_with_its_place(case: str, more: Path) -> None:
    schema, expected = WRONG[case]
    write(more / "doubles", schema)
    with pytest.raises(UsageError, match=expected) as error:
        families.__wrapped__()
    assert str(more) in str(error.value)


def test_a_folder_without_a_schema_or_with_a_name_of_no_module_is_refused(more: Path) -> None:
    with pytest.raises(UsageError, match=f"{VARIABLE}: {more}: expected a directory"):
        families.__wrapped__()
    more.mkdir()
    (more / "doubles").mkdir()
    with pytest.raises(UsageError, match="expected the folder of a family of operations"):
        families.__wrapped__()
    (more / "doubles").rmdir()
    write(more / "two-fold")
    with pytest.raises(UsageError, match="two-fold: expected a name of letters, digits and underscores"):
        families.__wrapped__()


def test_an_operation_that_nothing_compares_and_a_comparison_of_none_are_refused(tmp_path: Path, run: Run) -> None:
    folder = write(tmp_path / "operations" / "doubles", **{"comparators.py": "COMPARATORS = {'triple': None}"})
    done = run("-m", "conformance", "run", "--adapter", "reference", "--vectors", vectors(tmp_path / "vectors", 8))
    assert done.returncode == 2
    assert f"{folder}: double: not in COMPARATORS of comparators.py" in done.stderr
