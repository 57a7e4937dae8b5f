"""What `spark_reference` runs inside PySpark's Python workers: questions of the protocol, answered on Arrow columns.

Questions of one operation, type and transform become one column, and its kernel answers them all. Where a kernel
refuses a column because of one of its values, the values are asked one by one. Operations and types without a kernel
are answered by the scalar definition.
"""

from __future__ import annotations

import base64
import contextlib
import json
import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from conformance.adapter_sdk import arrow_rows
from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import Invalid, perform
from conformance.core.failures import NotExamined
from conformance.engines.reference.adapter import REFUSALS, operations
from conformance.operations.wire import from_exchange, to_exchange
from conformance.table_io.read_tasks import arrow_schema, read_task
from spec_ref.columnar.hashing import hash_array
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.columnar.single_value.binary import binary_array
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import kind
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.type_json import type_from_json

Question = dict[str, Any]
Answer = dict[str, Any]

ANSWERS = "row long, answer string"
"""The Spark schema of what `answer_batches` yields."""

_STORAGE: dict[str, tuple[Any, Any]] = {
    "unknown": (pa.null(), pa.null()),
    "boolean": (pa.bool_(), pa.bool_()),
    "int": (pa.int32(), pa.int32()),
    "long": (pa.int64(), pa.int64()),
    "float": (pa.float32(), pa.float32()),
    "double": (pa.float64(), pa.float64()),
    "date": (pa.int32(), pa.date32()),
    "time": (pa.int64(), pa.time64("us")),
    "timestamp": (pa.int64(), pa.timestamp("us")),
    "timestamptz": (pa.int64(), pa.timestamp("us", "UTC")),
    "timestamp_ns": (pa.int64(), pa.timestamp("ns")),
    "timestamptz_ns": (pa.int64(), pa.timestamp("ns", "UTC")),
    "string": (pa.string(), pa.string()),
    "uuid": (pa.binary(16), pa.binary(16)),
    "binary": (pa.binary(), pa.binary()),
    "geometry": (pa.binary(), pa.binary()),
    "geography": (pa.binary(), pa.binary()),
}
"""By the name of a type: the Arrow type that its spec values are made to, and the one that these are then seen as."""


def _arrow(type_: Any) -> tuple[Any, Any] | None:
    match kind(type_):
        case "decimal":
            return (pa.decimal128(type_.precision, type_.scale),) * 2
        case "fixed":
            return (pa.binary(type_.length),) * 2
        case name:
            return _STORAGE.get(name)


def _column(type_: Any, arrow: tuple[Any, Any], values: Sequence[Any]) -> Any:
    storage, seen = arrow
    if kind(type_) == "uuid":
        values = [None if value is None else value.bytes for value in values]
    made = pa.array(values, storage)
    return made if storage == seen else made.view(seen)


def _values(type_: Any, column: Any) -> list[Any]:
    """The spec values in a result; a uuid stays bytes, for no transform but identity and void gives one."""
    storage, seen = _arrow(type_) or (column.type, column.type)
    plain = column if storage == seen else column.cast(seen).view(storage)
    values: list[Any] = plain.to_pylist()
    return values


def _hashes(type_: Any, column: Any, _: Question) -> list[Any]:
    hashes: list[Any] = hash_array(type_, column).to_pylist()
    return hashes


def _transformed(type_: Any, column: Any, args: Question) -> list[Any]:
    transform = parse_transform(args["transform"])
    result = transform.result_type(type_)
    values = _values(result, transform_array(transform, type_, column))
    if kind(result) == "uuid":
        values = [None if value is None else uuid.UUID(bytes=value) for value in values]
    return [to_exchange(result, value) for value in values]


def _encoded(type_: Any, column: Any, _: Question) -> list[Any]:
    return [None if data is None else data.hex().upper() for data in binary_array(type_, column).to_pylist()]


KERNELS: dict[str, Callable[[Any, Any, Question], list[Any]]] = {
    "hash": _hashes,
    "transform": _transformed,
    "single-value.encode": _encoded,
}
"""The operations that have a columnar kernel: from type, column and arguments to exchange values."""

SCALAR = {name: operation for name, operation in operations().items() if name not in WRITING}
"""The operations that a worker can be asked for, by their scalar definitions; a table is not written by one worker."""

TASK = "scan-task"
"""The question for the rows of one scan task; no request asks it."""


def packed(value: Any) -> str:
    """A value as JSON can carry it between the driver and its workers."""
    return base64.b64encode(pickle.dumps(value)).decode()


def _unpacked(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))  # noqa: S301 - packed by the driver of this session


def read_task_rows(args: Question) -> Any:
    """The rows of one scan task, in the form of the answer of ``table.read``."""
    reading = _unpacked(args["reading"])
    try:
        batches = read_task(_unpacked(args["task"]), reading)
        return arrow_rows.answer(pa.Table.from_batches(batches, arrow_schema(reading)), args["types"])
    except NotExamined as error:
        raise Invalid(str(error)) from None


_SCALAR = {**SCALAR, TASK: read_task_rows}


def answer_questions(questions: Sequence[Question]) -> list[Answer]:
    """The answers to questions (``op`` and ``args``), in their order."""
    answers: list[Answer] = [{} for _ in questions]
    columns: dict[str, list[int]] = {}
    for index, question in enumerate(questions):
        args = question["args"]
        key = json.dumps([question["op"], args.get("type"), args.get("transform")])
        columns.setdefault(key, []).append(index)
    for indices in columns.values():
        for index, answer in zip(indices, _answer_alike([questions[index] for index in indices]), strict=True):
            answers[index] = answer
    return answers


def _answer_alike(questions: list[Question]) -> list[Answer]:
    """Answer questions that differ in their values only."""
    op, args = questions[0]["op"], questions[0]["args"]
    kernel = KERNELS.get(op)
    type_ = arrow = None
    if kernel is not None:
        with contextlib.suppress(SpecError):  # the definition reports what is wrong with the type
            type_ = type_from_json(args["type"])
            arrow = _arrow(type_)
    if kernel is None or type_ is None or arrow is None:
        return [perform(_SCALAR, op, question["args"], REFUSALS) for question in questions]

    def ask(given: Question) -> list[Any]:
        values = [from_exchange(type_, value) for value in given["values"]]
        return kernel(type_, _column(type_, arrow, values), args)

    together = perform({op: ask}, op, {"values": [question["args"]["value"] for question in questions]}, REFUSALS)
    if "ok" in together:
        return [{"ok": value} for value in together["ok"]]
    alone = [perform({op: ask}, op, {"values": [question["args"]["value"]]}, REFUSALS) for question in questions]
    return [{"ok": answer["ok"][0]} if "ok" in answer else answer for answer in alone]


def answer_batches(batches: Iterator[Any]) -> Iterator[Any]:
    """The function for ``mapInArrow``: makes of batches of row and question one batch of row and answer, in JSON."""
    rows = [row for batch in batches for row in batch.to_pylist()]
    answers = answer_questions([json.loads(row["question"]) for row in rows])
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([row["row"] for row in rows], pa.int64()),
            pa.array([json.dumps(answer) for answer in answers], pa.string()),
        ],
        ["row", "answer"],
    )
