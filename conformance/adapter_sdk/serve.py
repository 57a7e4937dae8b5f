"""The adapter's side of the protocol, for adapters written in Python.

Only the standard library is imported, so that an adapter runs in the environment of its engine::

    def hash_(args):
        return engine.hash(args["type"], args["value"])

    def main():
        serve({"implementation": "engine", "version": engine.__version__, "format_versions": [1, 2]}, {"hash": hash_})

The return value of an operation is the answer. An operation raises `Invalid` if the engine refuses the input and
`Unsupported` if the engine does not support the request; any other exception is reported as a bug (``internal``).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeAlias

PROTOCOL = 1
MAX_MESSAGE = 2000
"""The maximum number of characters of an exception's text in an answer."""

Arguments: TypeAlias = dict[str, Any]
"""The arguments of a request: a JSON object, whose members depend on the operation."""

Operation = Callable[[Arguments], object]


class Invalid(Exception):
    """The implementation refused the input because it breaks a rule."""


class Unsupported(Exception):
    """The implementation does not support the request."""


def describe(implementation: Mapping[str, Any], operations: Mapping[str, Operation]) -> dict[str, Any]:
    """Return the answer to ``start``."""
    return {"language": "python", **implementation, "protocol": PROTOCOL, "operations": sorted(operations)}


def perform(
    operations: Mapping[str, Operation],
    op: str,
    args: Arguments,
    refusals: tuple[type[Exception], ...] = (),
) -> dict[str, Any]:
    """Return the answer to one request, without its ``seq``; see `serve`."""
    operation = operations.get(op)
    if operation is None:
        return {"unsupported": f"the operation {op}"}
    refused: tuple[type[Exception], ...] = (Invalid, *refusals)
    try:
        return {"ok": operation(args)}
    except refused as error:
        return {"error": {"kind": "invalid", "message": str(error)[:MAX_MESSAGE]}}
    except Unsupported as error:
        return {"unsupported": str(error)[:MAX_MESSAGE]}
    except Exception as error:
        return internal(error)


def internal(error: Exception) -> dict[str, Any]:
    """Return the answer that reports a bug in the implementation."""
    return {"error": {"kind": "internal", "message": f"{type(error).__name__}: {error}"[:MAX_MESSAGE]}}


def serve(
    implementation: Mapping[str, Any],
    operations: Mapping[str, Operation],
    refusals: tuple[type[Exception], ...] = (),
    answers: BinaryIO | None = None,
) -> None:
    """Answer requests on standard input until ``stop`` or the end of the input.

    Args:
        implementation: ``implementation`` and ``version``, and the other members of ``start`` (``format_versions``,
            ``language``).
        operations: the operations by name.
        refusals: exceptions of the engine that mean, like `Invalid`, that it refused the input.
        answers: the result of `take_standard_output`, if the adapter called it before starting other processes.
    """
    answers = answers or take_standard_output()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        op = request["op"]
        if op == "stop":
            return
        if op == "start":
            answer: dict[str, Any] = {"ok": describe(implementation, operations)}
        else:
            answer = perform(operations, op, request["args"], refusals)
        answers.write(encode_answer({"seq": request["seq"], **answer}))
        answers.flush()


def encode_answer(answer: dict[str, Any]) -> bytes:
    """Encode an answer as one line of the protocol."""
    try:
        return json.dumps(answer, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:  # the operation's result is not JSON
        return json.dumps({"seq": answer["seq"], **internal(error)}).encode() + b"\n"


def take_standard_output() -> BinaryIO:
    """Reserve standard output for answers: what an engine prints, even from native code, goes to standard error."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers
