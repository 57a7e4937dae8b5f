"""The file of a matrix: JSON lines with a header first and a footer last (`schemas/matrix.json`)."""

from __future__ import annotations

from pathlib import Path

from attrs import fields

from conformance.core.json_text import dump_json
from conformance.core.output_files import write_output
from conformance.interop.cells import Cell, Matrix, Participant, ProducedTable, TableOutcome
from conformance.runner.results import line_forms, read_json_lines
from spec_ref.core.json_types import JsonObject

RESULTS = 1
"""The version of the file format."""

_NOT_STORED = frozenset({"cases"})

DEPRECATED = ("state", "writing")
"""Deprecated members of a cell and of a table, which repeat the outcome in its former words for one more release."""

_FORMER_WORDS = {
    "state": ("right", "", "wrong", "refuses", "crashes", "cannot"),
    "writing": ("written", "invalid", "wrong", "refused", "crashed", "cannot"),
}
FORMER_OUTCOMES = {member: dict(zip(words, TableOutcome, strict=True)) for member, words in _FORMER_WORDS.items()}
"""The outcome for each former word, by deprecated member."""


def record_json(record: Participant | ProducedTable | Cell) -> JsonObject:
    """Return a record as JSON, without empty members."""
    content = {}
    for attribute in fields(type(record)):
        value = getattr(record, attribute.name)
        if attribute.name not in _NOT_STORED and value not in ("", (), None):
            content[attribute.name] = value.value if isinstance(value, TableOutcome) else value
    member = {Cell: "state", ProducedTable: "writing"}.get(type(record))
    if member:
        words = {outcome.value: word for word, outcome in FORMER_OUTCOMES[member].items()}
        content[member] = words[content["outcome"]]
    return content


def lines(matrix: Matrix) -> list[JsonObject]:
    """Return the lines of the file."""
    return [
        {"kind": "header", **matrix.header},
        *({"kind": "participant", **record_json(one)} for one in matrix.participants),
        *({"kind": "table", **record_json(one)} for one in matrix.tables),
        *({"kind": "cell", **record_json(one)} for one in matrix.cells),
        {"kind": "footer", "complete": matrix.complete, "exit_status": matrix.exit_status, "unmet": matrix.unmet},
    ]


def write(matrix: Matrix, path: Path) -> None:
    """Write the file.

    Raises:
        UsageError: it cannot be written.
    """
    write_output("--results", path, "".join(f"{dump_json(line)}\n" for line in lines(matrix)))


def read(path: Path) -> Matrix:
    """Read a matrix from a file, which does not contain the requests to consumers.

    Raises:
        UsageError: the file cannot be read or is malformed; the message names the place.
    """
    messages = read_json_lines(path, line_forms("matrix.json"), "a matrix")
    header = next(messages)
    del header["kind"]
    matrix = Matrix(header)
    for message in messages:
        _take(matrix, message.pop("kind"), message)
    return matrix


def _outcome(message: JsonObject, former: str) -> TableOutcome:
    """Return the outcome in a line; a file of the previous release has only the deprecated member."""
    word = message.pop(former, "")
    return TableOutcome(message["outcome"]) if "outcome" in message else FORMER_OUTCOMES[former][word]


def _take(matrix: Matrix, kind: str, message: JsonObject) -> None:
    match kind:
        case "participant":
            matrix.participants.append(Participant(**message))
        case "table":
            outcome = _outcome(message, "writing")
            lists = {name: tuple(message.get(name, ())) for name in ("features", "findings", "shows")}
            matrix.tables.append(ProducedTable(**{**message, **lists, "outcome": outcome}))
        case "cell":
            differences = tuple(message.pop("differences", ()))
            outcome = _outcome(message, "state")
            matrix.cells.append(Cell(**{**message, "outcome": outcome}, differences=differences))
        case _:
            matrix.complete, matrix.exit_status = message["complete"], message["exit_status"]
            matrix.unmet += message["unmet"]
