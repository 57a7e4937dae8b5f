"""What vectors of writing expect is derived twice, and the two derivations share no code."""

from __future__ import annotations

import json

import pytest

from conformance import vectors
from conformance.protocol import Ok
from conformance.scripts import parse_script, script_json
from conformance.scripts.expected import expected_of
from conformance.scripts.model import run_model

VECTORS = [vector for vector in vectors.load(vectors.shipped()) if vector.operation.name == "table.write"]
MINIMUM = 80


def test_there_are_scripts_for_every_version() -> None:
    assert len(VECTORS) >= MINIMUM
    assert {version for vector in VECTORS for version in vector.versions} == {1, 2, 3}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.id)
def test_the_model_says_what_the_derivation_says(vector: vectors.Vector) -> None:
    script = parse_script(vector.args["script"])
    assert script_json(script) == json.loads(json.dumps(vector.args["script"]))
    (permitted,) = vector.permitted
    assert isinstance(permitted, Ok)
    assert _comparable(expected_of(run_model(script))) == _comparable(permitted.value)


def _comparable(expected: dict[str, object]) -> object:
    """Rows in an order, as they have none; who a row is by the order in which rows came."""
    read = json.loads(json.dumps(expected))
    for reading in (*read["refs"].values(), *read["states"]):
        rows = zip(reading["identity"], reading["updated"], reading["rows"], strict=True)
        reading["rows"] = sorted(rows, key=lambda row: row[0])
        del reading["identity"], reading["updated"]
    return read
