"""The expectations of writing vectors equal those of the model, which shares no code with the reference."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
from shipped_vectors import shipped_vectors

from conformance import vectors
from conformance.operations.protocol import Ok
from conformance.scripts import parse_script, script_json
from conformance.scripts.expected import expected_table
from conformance.scripts.model import run_model

VECTORS = [vector for vector in shipped_vectors() if vector.operation.name == "table.write"]
ROOT = Path(__file__).parents[2]
MODULES = {
    "spec_ref.core.json_types",  # names of types only
    "conformance.scripts.errors",
    "conformance.scripts.expected",
    "conformance.scripts.model",
    "conformance.scripts.model_rows",
    "conformance.scripts.model_schemas",
    "conformance.scripts.model_specs",
    "conformance.scripts.model_values",
    "conformance.scripts.states",
}
"""All that the model is made of."""

OUTSIDE = {*sys.stdlib_module_names, "attrs"}


def test_there_are_scripts_for_every_version() -> None:
    assert {version for vector in VECTORS for version in vector.versions} == {1, 2, 3}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
def test_vectors_expect_what_the_model_says(vector: vectors.Vector) -> None:
    script = vector.args["script"]
    assert script_json(parse_script(script)) == json.loads(json.dumps(script))
    (permitted,) = vector.permitted
    assert isinstance(permitted, Ok)
    assert expected_table(run_model(script)) == permitted.value


def test_the_model_shares_nothing_with_the_reference() -> None:
    """What it imports is the standard library, attrs, names of types and itself, all the way down."""
    waiting, seen = (
        ["conformance.scripts.model", "conformance.scripts.expected"],
        set(),
    )
    while waiting:
        name = waiting.pop()
        seen.add(name)
        assert name in MODULES, name
        tree = ast.parse((ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                imported = [node.module or ""]
            else:
                imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            waiting += [one for one in imported if one.partition(".")[0] not in OUTSIDE and one not in seen]
    assert seen == MODULES
