"""The code of `spark_reference` that runs in PySpark's Python workers: it answers requests on Arrow columns.

Questions with the same operation, type and transform become one column, which one kernel call answers. If a kernel
refuses a column because of one of its values, it is called for each value. Operations and types without a kernel
use the scalar definition.
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
"""The Spark schema of the results of `answer_batches`."""

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
"""For each type name: the Arrow type of arrays of its spec values, and the type to which they are then cast."""


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
    """Return the spec values in a result; UUIDs stay bytes, as only identity and void return them."""
    storage, seen = _arrow(type_) or (column.type, column.type)
    plain = column if storage == seen else column.cast(seen).view(storage)
    values: list[Any] = plain.to_pylist()
    return values


def _hashes(type_: Any, column: Any, _: Question) -> list[Any]:
    hashes: list[Any] = hash_array(type_, column).to_pylist()
    return hashes


def _transform(type_: Any, column: Any, args: Question) -> list[Any]:
    transform = parse_transform(args["transform"])
    result = transform.result_type(type_)
    values = _values(result, transform_array(transform, type_, column))
    if kind(result) == "uuid":
        values = [None if value is None else uuid.UUID(bytes=value) for value in values]
    return [to_exchange(result, value) for value in values]


def _encode(type_: Any, column: Any, _: Question) -> list[Any]:
    return [None if data is None else data.hex().upper() for data in binary_array(type_, column).to_pylist()]


KERNELS: dict[str, Callable[[Any, Any, Question], list[Any]]] = {
    "hash": _hashes,
    "transform": _transform,
    "single-value.encode": _encode,
}
"""The operations with a columnar kernel: functions of type, column and arguments that return exchange values."""

SCALAR = {name: operation for name, operation in operations().items() if name not in WRITING}
"""The scalar definitions of the operations that workers run, which exclude those that write tables."""

TASK = "scan-task"
"""The name of the internal question for the rows of one scan task, which is not an operation of the protocol."""


def pack_value(value: Any) -> str:
    """Encode a value as a string, to pass it in JSON between the driver and the workers."""
    return base64.b64encode(pickle.dumps(value)).decode()


def _unpack_value(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))  # noqa: S301 - packed by the driver of this session


def read_task_rows(args: Question) -> Any:
    """Return the rows of one scan task, in the form that ``table.read`` returns."""
    reading = _unpack_value(args["reading"])
    try:
        batches = read_task(_unpack_value(args["task"]), reading)
        return arrow_rows.answer(pa.Table.from_batches(batches, arrow_schema(reading)), args["types"])
    except NotExamined as error:
        raise Invalid(str(error)) from None


_SCALAR = {**SCALAR, TASK: read_task_rows}


def answer_questions(questions: Sequence[Question]) -> list[Answer]:
    """Return the answers to questions (``op`` and ``args``) in order."""
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
    """Answer questions that differ only in their values."""
    op, args = questions[0]["op"], questions[0]["args"]
    kernel = KERNELS.get(op)
    type_ = arrow = None
    if kernel is not None:
        with contextlib.suppress(SpecError):  # the scalar definition reports what is wrong with the type
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
    """Convert batches of row and question to one batch of row and answer, in JSON; for ``mapInArrow``."""
    rows = [row for batch in batches for row in batch.to_pylist()]
    answers = answer_questions([json.loads(row["question"]) for row in rows])
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([row["row"] for row in rows], pa.int64()),
            pa.array([json.dumps(answer) for answer in answers], pa.string()),
        ],
        ["row", "answer"],
    )
