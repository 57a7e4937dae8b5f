"""The verdict on one answer."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from attrs import frozen

from conformance.core.json_text import shorten
from conformance.core.lazy_imports import lazy_imports
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.operations.registry import ProtocolOperation
from conformance.vectors import Alternative, Vector

if TYPE_CHECKING:
    from conformance.operations.comparison import Differences

with lazy_imports():
    from conformance.operations import comparison


class Outcome(enum.Enum):
    """The outcome of one vector; the four numbers add up to the vectors that were run."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    CRASHED = "crashed"


@frozen
class Verdict:
    """The outcome of one vector, and why."""

    outcome: Outcome
    got: dict[str, Any]
    """The answer as JSON: ``ok``, ``error`` or ``unsupported`` as the protocol has it, or ``crash``."""

    reason: str = ""
    differences: Differences = ()
    chosen: dict[str, Any] | None = None
    """If the spec permits several outcomes: the one that the implementation chose."""

    stderr: str = ""


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON."""
    match answer:
        case Ok(value):
            return {"ok": value}
        case Refused(kind, message):
            return {"error": kind, "message": message} if message else {"error": kind}
        case Unsupported(message):
            return {"unsupported": message}
        case Crashed(reason):
            return {"crash": reason}


def judge_answer(vector: Vector, answer: Answer) -> Verdict:
    """Compare an answer with the outcomes that the vector permits."""
    match answer:
        case Crashed(reason, stderr):
            return Verdict(Outcome.CRASHED, {"crash": reason}, reason, stderr=stderr)
        case Unsupported(message):
            return Verdict(Outcome.UNSUPPORTED, {"unsupported": message}, message)
    got = answer_json(answer)
    wrong = vector.operation.answer_violation(answer.value) if isinstance(answer, Ok) else None
    if wrong is not None:
        reason = f"the answer does not have the form of {vector.operation.name}: {wrong}"
        return Verdict(Outcome.FAILED, got, reason)
    tried = []
    for permitted in vector.permitted:
        reason_or_none, differences = mismatch(vector.operation, vector.args, permitted, answer)
        if reason_or_none is None:
            chosen = answer_json(permitted) if len(vector.permitted) > 1 else None
            return Verdict(Outcome.PASSED, got, chosen=chosen)
        tried.append((reason_or_none, differences))
    # Of several permitted outcomes, report the one with the fewest differences.
    reason, differences = min(tried, key=lambda one: len(one[1]) or 1_000)
    if len(tried) > 1:
        reason = f"none of the {len(tried)} permitted outcomes: {reason}"
    return Verdict(Outcome.FAILED, got, reason, differences)


def mismatch(
    operation: ProtocolOperation, args: dict[str, Any], permitted: Alternative, answer: Ok | Refused
) -> tuple[str | None, Differences]:
    """Return why an answer is not a permitted outcome, and the differences; None if it is that outcome."""
    match permitted, answer:
        case Refused(kind), Refused(same) if kind == same:
            return None, ()
        case Refused(kind), Refused(other, message):
            return f"expected the error {kind}, got the error {other}{_message_suffix(message)}", ()
        case Ok(), Refused(kind, message):
            return f"expected an answer, got the error {kind}{_message_suffix(message)}", ()
        case Refused(kind), Ok():
            return f"expected the error {kind}, but the input was accepted", ()
        case Ok(expected), Ok(got):
            try:
                differences = operation.compare(args, expected, got)
            except comparison.Undecodable as error:
                return shorten(str(error)), ()
            return ("the answer differs", differences) if differences else (None, ())
    raise AssertionError(permitted, answer)


def _message_suffix(message: str) -> str:
    return f": {shorten(message)}" if message else ""
