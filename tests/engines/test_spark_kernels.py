"""Kernels and definitions give equal answers: here without Spark, in `test_real_engines` inside it."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
from shipped_vectors import shipped_vectors

from conformance.adapter_sdk.script_steps import WRITING
from conformance.adapter_sdk.serve import perform
from conformance.engines.reference.adapter import REFUSALS
from conformance.engines.spark_reference.kernels import KERNELS, SCALAR, answer_batches, answer_questions
from conformance.operations.registry import OPERATIONS
from conformance.vectors import Vector

WITHOUT_KERNEL = 5
"""How many vectors of an operation without a kernel are asked: in columns, too, the definition answers each."""


def questions() -> list[dict[str, Any]]:
    """The vectors of the operations that workers answer: all with a kernel, and the last few of the others."""
    vectors: dict[str, list[Vector]] = {}
    for vector in shipped_vectors():
        vectors.setdefault(vector.operation.name, []).append(vector)
    assert vectors.keys() - SCALAR.keys() == WRITING
    chosen = [
        vector
        for name in sorted(SCALAR.keys() & vectors.keys())
        for vector in (vectors[name] if name in KERNELS else vectors[name][-WITHOUT_KERNEL:])
    ]
    return [{"op": vector.operation.name, "args": vector.args} for vector in chosen]


def outcome(answer: dict[str, Any]) -> str:
    return json.dumps(answer["ok"]) if "ok" in answer else str(answer["error"]["kind"])


def test_vectors_are_answered_in_columns_as_one_by_one_and_in_their_order() -> None:
    asked = questions()
    random.Random(7).shuffle(asked)
    answers = answer_questions(asked)
    for question, answer in zip(asked, answers, strict=True):
        alone = perform(SCALAR, question["op"], question["args"], REFUSALS)
        if question["op"] == "gcm.encrypt" and "ok" in answer:  # nonces are random
            assert OPERATIONS["gcm.encrypt"].compare(question["args"], alone["ok"], answer["ok"]) == (), question
        else:
            assert outcome(answer) == outcome(alone), question


def test_one_bad_value_spoils_no_other_of_its_column() -> None:
    def ask(value: object) -> dict[str, Any]:
        return {"op": "hash", "args": {"type": "int", "value": value}}

    answers = answer_questions([ask(34), ask(2**31), ask(None)])
    assert answers[0] == {"ok": 2017239379}
    assert answers[1]["error"]["kind"] == "invalid"
    assert answers[2] == {"ok": None}


def test_the_operations_with_kernels_are_operations() -> None:
    assert KERNELS.keys() <= SCALAR.keys()


def test_batches_go_in_and_one_batch_comes_out() -> None:
    question = json.dumps({"op": "hash", "args": {"type": "string", "value": "iceberg"}})
    batches = [pa.record_batch({"row": [row], "question": [question]}) for row in (5, 3)]
    (answered,) = answer_batches(iter(batches))
    assert answered.to_pylist() == [{"row": row, "answer": '{"ok": 1210000089}'} for row in (5, 3)]
