"""The file of a matrix: JSON lines with a header first and a footer last (`schemas/matrix.json`)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
from attrs import fields

from conformance.core.json_text import dump_json
from conformance.core.json_types import JsonObject
from conformance.core.output_files import write_output
from conformance.interop.cells import Cell, MadeTable, Matrix, Participant, State, Writing
from conformance.runner.results import read_json_lines

RESULTS = 1
"""The version of the file format."""

_NOT_STORED = frozenset({"cases"})


def stored(record: Participant | MadeTable | Cell) -> JsonObject:
    """Return a record as JSON, without empty members."""
    content = {}
    for attribute in fields(type(record)):
        value = getattr(record, attribute.name)
        if attribute.name not in _NOT_STORED and value not in ("", (), None):
            content[attribute.name] = value.value if isinstance(value, State | Writing) else value
    return content


def lines(matrix: Matrix) -> list[JsonObject]:
    """Return the lines of the file."""
    return [
        {"kind": "header", **matrix.header},
        *({"kind": "participant", **stored(one)} for one in matrix.participants),
        *({"kind": "table", **stored(one)} for one in matrix.tables),
        *({"kind": "cell", **stored(one)} for one in matrix.cells),
        {"kind": "footer", "complete": matrix.complete, "exit_status": matrix.exit_status, "unmet": matrix.unmet},
    ]


def write(matrix: Matrix, path: Path) -> None:
    """Write the file.

    Raises:
        UsageError: it cannot be written.
    """
    write_output("--results", path, "".join(f"{dump_json(line)}\n" for line in lines(matrix)))


@cache
def _schema() -> jsonschema_rs.Validator:
    text = (files("conformance") / "schemas" / "matrix.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def read(path: Path) -> Matrix:
    """Read a matrix from a file, which does not contain the requests to consumers.

    Raises:
        UsageError: the file cannot be read or is malformed; the message names the place.
    """
    messages = read_json_lines(path, _schema(), "a matrix")
    header = next(messages)
    del header["kind"]
    matrix = Matrix(header)
    for message in messages:
        _take(matrix, message.pop("kind"), message)
    return matrix


def _take(matrix: Matrix, kind: str, message: JsonObject) -> None:
    match kind:
        case "participant":
            matrix.participants.append(Participant(**message))
        case "table":
            lists = {name: tuple(message.get(name, ())) for name in ("features", "findings", "shows")}
            matrix.tables.append(MadeTable(**{**message, **lists, "writing": Writing(message["writing"])}))
        case "cell":
            differences = tuple(message.pop("differences", ()))
            matrix.cells.append(Cell(**{**message, "state": State(message["state"])}, differences=differences))
        case _:
            matrix.complete, matrix.exit_status = message["complete"], message["exit_status"]
            matrix.unmet += message["unmet"]
