"""Random requests find a planted disagreement and shrink it; requests about manifests are valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from patient import PATIENT

from conformance.adapter_sdk.serve import Arguments
from conformance.engine_setup import launch
from conformance.engines.reference.adapter import operations
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.operations.registry import OPERATIONS
from conformance.runner.adapter_interface import Request
from conformance.runner.judge import mismatch
from tools.fuzz import differential, manifest_questions
from tools.fuzz.differential import Difference, differences, reference_answer
from tools.fuzz.known import KNOWN
from tools.fuzz.questions import QUESTIONS

Planted = Callable[[Arguments, Any], Answer | None]


class Faulty:
    """An engine that answers as the reference does, but for what is planted."""

    def __init__(self, planted: Planted) -> None:
        self.planted = planted

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        (request,) = requests
        answer = reference_answer(request.op, request.args)
        return [self.planted(request.args, answer) or answer]


def _found(op: str, planted: Planted, examples: int = 60) -> list[Difference]:
    *found, count = differences("faulty", Faulty(planted), op, examples, 1)  # type: ignore[arg-type]
    assert isinstance(count, int)
    assert count >= examples, "every question is asked; those that make a fault small come on top"
    return found  # type: ignore[return-value]


def test_an_engine_without_fault_does_not_differ() -> None:
    assert _found("hash", lambda _args, _answer: None) == []
    assert _found("manifest-list.read", lambda _args, _answer: Unsupported("no")) == []


def test_a_planted_answer_is_found_and_made_small() -> None:
    def planted(args: Arguments, _answer: Any) -> Answer | None:
        return Ok(0) if args["type"] == "string" and len(args["value"]) > 2 else None

    (one,) = _found("hash", planted, 300)
    assert one.args == {"type": "string", "value": "000"}
    assert one.answer == {"ok": 0}
    assert '"operation": "hash"' in one.candidate()


def test_a_refusal_and_an_end_are_found_apart() -> None:
    def planted(args: Arguments, _answer: Any) -> Answer | None:
        if args["format_version"] == 3:
            return Crashed("it died")
        return Refused("invalid", "no") if args["format_version"] == 2 else None

    found = _found("manifest-list.write", planted)
    assert sorted(one.args["format_version"] for one in found) == [2, 3]
    assert [one.args["manifests"] for one in found] == [[], []]


def test_a_planted_loss_in_a_manifest_list_is_found_and_made_small() -> None:
    def planted(_args: Arguments, answer: Any) -> Answer | None:
        return Ok({"manifests": [{**one, "key_metadata": None} for one in answer.value["manifests"]]})

    (one,) = _found("manifest-list.read", planted)
    assert one.place == "//key_metadata"
    (manifest,) = one.reference["ok"]["manifests"]
    assert len(manifest["key_metadata"]) == 2
    assert "partitions" not in manifest


@pytest.mark.parametrize("op", manifest_questions.QUESTIONS)
def test_the_reference_takes_every_question_about_manifests(op: str) -> None:
    """What is asked is sound: the reference answers it, and its answer keeps its own rules for writers."""

    @settings(max_examples=20, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(QUESTIONS[op]())
    def ask(asked: tuple[str, Arguments]) -> None:
        answer = reference_answer(*asked)
        assert isinstance(answer, Ok)
        assert mismatch(OPERATIONS[op], asked[1], answer, answer) == (None, ())

    ask()


def test_questions_and_what_is_known_are_about_operations_that_there_are() -> None:
    assert set(QUESTIONS) <= set(operations())
    assert {one.op for one in KNOWN} <= set(QUESTIONS)
    assert {one.engine for one in KNOWN} <= set(differential.ENGINES)


@pytest.mark.engine
def test_pyiceberg_differs_as_is_known() -> None:
    launched = launch("pyiceberg")
    with differential.Process("pyiceberg", launched.command, env=launched.env, limits=PATIENT) as process:
        process.start()
        for op in ("hash", "manifest.write", "manifest-list.write", "manifest-list.read"):
            assert [one for one in differences("pyiceberg", process, op, 10, 0) if isinstance(one, Difference)] == []
