"""Reading written tables and Puffin files with a second engine.

Tables of ``table.write`` and ``table.change`` are validated and read with the reference, which does not detect errors
that it shares with the writer. Another engine shares no code with it, and its rows are compared with those of the
independent model. A difference may be the reader's fault, so it is reported separately from the results of vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.table_requests import local_path
from conformance.core.counts import plural
from conformance.core.failures import NotExamined
from conformance.operations.protocol import Answer, Ok, StartAnswer, Unsupported
from conformance.properties.scenario_tables import OtherSchema, ScriptedTable, make_vector, readings
from conformance.runner.adapter_interface import Adapter, Request
from conformance.runner.judge import Outcome, judge_answer
from conformance.runner.results import SecondReading
from conformance.scripts.model import run_model
from conformance.vectors import Vector
from spec_ref.core.errors import SpecError


def second_readings(
    writer: str, vector: Vector, answer: Answer, reader: Adapter, started: StartAnswer
) -> Iterator[SecondReading]:
    """Let a second reader read every state of a table that passed.

    Args:
        writer: the name of the writer.
        vector: the vector, as in its file.
        answer: the answer of the writer; the table must still exist.
        reader: the second reader.
        started: the answer of the reader to start.
    """
    if not isinstance(answer, Ok):
        return
    if vector.operation.name == "puffin.write":
        yield _puffin(writer, vector, answer.value, reader, started)
    if vector.operation.name not in WRITING:
        return
    script = vector.args.get("script") or {
        "operations": [*vector.args["base"]["operations"], *vector.args["operations"]]
    }
    snapshots = tuple(answer.value.get("snapshots", ())) if "script" in vector.args else ()
    table = ScriptedTable(script, run_model(script), local_path(answer.value["metadata"]), snapshots)
    try:
        cases = [
            (label, make_vector(vector.id, args, expected, table.states[-1].format_version))
            for label, args, expected in readings(table, history=bool(snapshots))
        ]
    except (SpecError, NotExamined, OtherSchema) as error:  # the table passed, so this is not the fault of the writer
        yield SecondReading(writer, vector.id, "current", Outcome.FAILED, str(error))
        return
    for label, case in cases:
        given: Answer = _undeclared(started, case) or next(iter(reader.ask([Request("table.read", case.args)])))
        verdict = judge_answer(case, given)
        reason = "; ".join(map(str, verdict.differences[:2])) or verdict.reason
        yield SecondReading(writer, vector.id, label, verdict.outcome, reason)


def _puffin(writer: str, vector: Vector, written: str, reader: Adapter, started: StartAnswer) -> SecondReading:
    """Compare a second reader's results for a written Puffin file and for the derived one."""
    derived = next(one.value for one in vector.permitted if isinstance(one, Ok))
    if "puffin.read" not in started.operations:
        return SecondReading(writer, vector.id, "file", Outcome.UNSUPPORTED, "the operation puffin.read (not declared)")
    before, after = reader.ask([Request("puffin.read", {"bytes": data}) for data in (derived, written)])
    if not isinstance(before, Ok):  # the derived file is right, so this is the fault of the reader
        return SecondReading(writer, vector.id, "file", Outcome.UNSUPPORTED, f"it does not read the file: {before}")
    if not isinstance(after, Ok):
        return SecondReading(writer, vector.id, "file", Outcome.FAILED, str(after))
    same = _blobs(before.value) == _blobs(after.value)
    return SecondReading(
        writer, vector.id, "file", Outcome.PASSED if same else Outcome.FAILED, "" if same else str(after.value)
    )


def _blobs(form: Any) -> Any:
    """Return the content of a Puffin file, without blob offsets and ``created-by``."""
    free = ("offset", "length")
    blobs = [{name: item for name, item in blob.items() if name not in free} for blob in form["blobs"]]
    properties = {name: item for name, item in form["properties"].items() if name != "created-by"}
    return blobs, properties


def _undeclared(started: StartAnswer, case: Vector) -> Unsupported | None:
    if "table.read" not in started.operations:
        return Unsupported("the operation table.read (not declared)")
    if started.format_versions and not set(case.versions) & set(started.format_versions):
        return Unsupported("the format version (not declared)")
    return None


def summary(reader: str, found: Sequence[SecondReading]) -> Iterator[str]:
    """Yield the results of a second reader in lines for people: the counts, then each difference."""
    counts = Counter(one.outcome for one in found)
    written = len({(one.writer, one.id) for one in found})
    summary = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome])
    yield f"second reader {reader}: {written} written, {plural(len(found), 'reading')}: {summary or 'none'}"
    for one in found:
        if one.is_difference:
            yield f"  {one.id} by {one.writer}, {one.label}: {one.outcome.value}: {one.reason[:300]}"
