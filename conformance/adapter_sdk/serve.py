"""The adapter's side of the protocol, for adapters written in Python.

Only the standard library is imported, so that an adapter runs in the environment of the engine it speaks for::

    def hash_(args):
        return engine.hash(args["type"], args["value"])

    def main():
        serve({"implementation": "engine", "version": engine.__version__, "format_versions": [1, 2]}, {"hash": hash_})

What an operation returns is the answer. It raises `Invalid` where the engine refuses the input and `Unsupported` where
the engine does not have what is asked; any other exception is answered as a bug of the engine (``internal``).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeAlias

PROTOCOL = 1
MAX_MESSAGE = 2000
"""Characters of an exception's text that an answer carries."""

Arguments: TypeAlias = dict[str, Any]
"""What a request asks with: a JSON object, which differs by operation."""

Operation = Callable[[Arguments], object]


class Invalid(Exception):
    """The implementation refused the input: it breaks a rule."""


class Unsupported(Exception):
    """The implementation does not have what is asked."""


def describe(implementation: Mapping[str, Any], operations: Mapping[str, Operation]) -> dict[str, Any]:
    """The answer to ``start``."""
    return {"language": "python", **implementation, "protocol": PROTOCOL, "operations": sorted(operations)}


def perform(
    operations: Mapping[str, Operation],
    op: str,
    args: Arguments,
    refusals: tuple[type[Exception], ...] = (),
) -> dict[str, Any]:
    """The answer to one request, without its ``seq``; see `serve`."""
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
        operations: what can be asked, by name.
        refusals: exceptions of the engine that say, as `Invalid` does, that it refused the input.
        answers: what `take_standard_output` gave to an adapter that called it first, since it starts other processes.
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
    """One line of the protocol."""
    try:
        return json.dumps(answer, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:  # what the operation returned is not JSON
        return json.dumps({"seq": answer["seq"], **internal(error)}).encode() + b"\n"


def take_standard_output() -> BinaryIO:
    """Keep standard output for answers: what an engine prints, from Python or below it, goes to standard error."""
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers
