"""Scenarios for adapters: ``table.write`` writes the table of a script, and all of its states are compared.

The answer has the snapshot after each operation, so that one table shows all of its states. An operation that the spec
forbids is the last one of a separate script.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from conformance.adapter_sdk.table_requests import local_path, metadata
from conformance.core.json_text import shorten
from conformance.operations.comparison import Undecodable
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.operations.writing.comparators import BrokenRule, compare_written_tables
from conformance.properties.errors import Broken, NotSupported
from conformance.properties.scenario_tables import READ, OtherSchema, ScriptedTable, expected_rows, write_script
from conformance.properties.table_checks import (
    ExpectedSnapshot,
    check_no_findings,
    choose_filters,
    expected_heads,
    reading_error,
)
from conformance.runner.adapter_interface import Adapter, Request
from conformance.scripts import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.expected import expected_table
from conformance.scripts.model import ModelTable
from conformance.scripts.model_rows import reading
from conformance.validator.context import Level
from conformance.validator.diff import compare_versions
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, TableReport, validate
from spec_ref.core.json_types import Json

Op = dict[str, Json]


def follow_written(
    script: Json, writer: Adapter, reader: Adapter | None, folder: Path, counts: Counter[str] | None = None
) -> None:
    """Let an adapter write the table of a script, and compare all of its states.

    Args:
        script: the script, in JSON.
        writer: an adapter with ``table.write``.
        reader: an adapter with ``table.read`` that also reads every branch and tag; None to read only with the
            reference.
        folder: the folder of the tables; it must not exist.
        counts: counts the operations that were done, by name, and refused ones as ``refused``.

    Raises:
        Broken: the table differs from the model, or is not valid.
        NotSupported: the adapter does not support the script.
    """
    counts = Counter() if counts is None else counts
    operations, model, forbidden = _split_operations(script)
    if operations:
        _follow_permitted(operations, model, writer, reader, folder, counts)
    for number, (before, operation, code) in enumerate(forbidden):
        _check_refused(writer, before, operation, code, folder / f"refused-{number}")
        counts["refused"] += 1


def _follow_permitted(
    operations: list[Op], model: ModelTable, writer: Adapter, reader: Adapter | None, folder: Path, counts: Counter[str]
) -> None:
    table = _write_table(writer, operations, folder / "table")
    counts.update(one["op"] for one in operations)
    try:
        answer = {"metadata": table.metadata, "snapshots": list(table.snapshots)}
        differences = compare_written_tables({"table": str(folder / "table")}, expected_table(table.states), answer)
        for one in differences[:1]:
            _, *path = one.path.split("/")
            kind = f"finding: {path[1]}" if path[0] == "table" and len(path) > 1 else f"differs: {path[-1]}"
            violations = [other.violation for other in differences[:3] if isinstance(other, BrokenRule)]
            raise Broken(kind, "; ".join(map(str, differences[:3])), violations, differences=differences[:3])
        _compare_versions(table)
        if reader is not None:
            _read(table, model, reader)
    except Exception as error:
        raise reading_error("the table", error) from error


def _split_operations(script: Json) -> tuple[list[Op], ModelTable, list[tuple[list[Op], Op, str]]]:
    """Return the permitted operations, the model after them, and the forbidden ones, each with those before it."""
    model, done, forbidden = ModelTable(), list[Op](), list[tuple[list[Op], Op, str]]()
    places: list[int] = []
    for operation in script["operations"]:
        moved = dict(operation)
        for name in ("at", "to"):
            if isinstance(operation.get(name), int):
                moved[name] = places[operation[name]]
        try:
            model = model.after(len(done), moved)
            done.append(moved)
        except UnspecifiedOperation:
            pass
        except ForbiddenOperation as error:
            forbidden.append((list(done), moved, error.code))
        except ScriptError as error:
            raise ScriptError(f"{operation['op']}: {error}") from None
        places.append(len(done) - 1)
    return done, model, forbidden


def _write_table(writer: Adapter, operations: list[Op], place: Path) -> ScriptedTable:
    made = write_script(writer, {"operations": operations}, place)
    if isinstance(made, ScriptedTable):
        return made
    raise _trouble("the script", made)


def _trouble(what: str, answer: Answer) -> Exception:
    match answer:
        case Unsupported(message):
            return NotSupported(message)
        case Refused(kind, message):
            return Broken(f"refused: {kind}", f"{what} was refused ({kind}): {message}")
        case Crashed(reason, stderr):
            return Broken("crashed", f"the adapter crashed on {what}: {reason}{_last_words(stderr)}")
    raise AssertionError(answer)


def _last_words(stderr: str) -> str:
    """Return the line of standard error that says why a process died: that of a panic, or the last one."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    panics = [line for line in lines if "panic" in line]
    return f"; it wrote: {shorten((panics or lines[-1:])[0])}" if lines else ""


def _check_refused(writer: Adapter, before: list[Op], operation: Op, code: str, place: Path) -> None:
    """Check that a forbidden operation is refused."""
    args = {"table": str(place), "script": {"operations": [*before, operation]}}
    (answer,) = writer.ask([Request("table.write", args)])
    if isinstance(answer, Ok):
        raise Broken(f"accepted: {code}", f"{operation['op']} was accepted, which {code} forbids: {operation}")
    if isinstance(answer, Crashed):
        raise _trouble(f"{operation['op']}, which {code} forbids", answer)


def _compare_versions(table: ScriptedTable) -> None:
    """Compare each version of the metadata in the last one's log with the one before."""

    def check(place: str, _: SnapshotSelection) -> TableReport:
        return validate(place, Level.METADATA, LocalBackend(), SnapshotSelection("current"), math.inf)

    log = metadata(table.metadata).get("metadata-log") or ()
    versions = [local_path(one["metadata-file"]) for one in log] + [local_path(table.metadata)]
    for old, new in pairwise(one for one in versions if Path(one).exists()):
        check_no_findings(
            f"from {Path(old).name} to {Path(new).name}", compare_versions(old, new, check, math.inf).findings
        )


def _read(table: ScriptedTable, model: ModelTable, reader: Adapter) -> None:
    """Let a reader read every branch and tag, with filters and without."""
    for name, expected in expected_heads(model).items():
        if name != "main" and name not in table.states[-1].refs:
            continue
        args = table.reading() if name == "main" else table.reading(ref=name)
        for predicate, rows in _questions(expected, model):
            asked = args if predicate is None else {**args, "filter": predicate}
            what = name if predicate is None else f"{name} where {predicate}"
            try:
                wanted = expected_rows(reading(expected.fields, rows), args["types"])
            except OtherSchema as error:
                raise Broken("differs: columns", f"{name}: {error}") from None
            (answer,) = reader.ask([Request("table.read", asked)])
            if isinstance(answer, Unsupported):
                continue
            if not isinstance(answer, Ok):
                raise _trouble(f"reading {what}", answer)
            complaint = READ.answer_violation(answer.value)
            if complaint is not None:
                raise Broken("form of the answer", f"reading {what}: {complaint}")
            try:
                differences = READ.compare(asked, wanted, answer.value)
            except Undecodable as error:
                raise Broken("form of the answer", f"reading {what}: {error}") from None
            if differences:
                kind = "read" if predicate is None else "read with a filter"
                message = f"reading {what}: {'; '.join(map(str, differences[:3]))}"
                filtered = None if predicate is None else (name, predicate)
                raise Broken(kind, message, differences=differences[:3], filtered=filtered)


def _questions(expected: ExpectedSnapshot, model: ModelTable) -> Iterator[tuple[Json, Any]]:
    yield None, expected.rows
    for predicate in choose_filters(len(expected.rows), expected, model):
        matches = ModelTable(fields=expected.fields).matcher(predicate)
        yield predicate, [row for row in expected.rows if matches(row)]
