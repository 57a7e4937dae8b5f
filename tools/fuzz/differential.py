"""Compare the reference and an engine with random questions: ``python -m tools.fuzz.differential``.

Hypothesis draws the questions, and shrinks each one whose answers differ. `KNOWN` recognises known differences, which
are not reported. A new difference is reported as a candidate for a vector, with both answers; the text of the spec
decides which of them is right.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from conformance.adapter_sdk.serve import perform
from conformance.engine_setup import launch
from conformance.engines.reference.adapter import REFUSALS, operations
from conformance.operations.protocol import Answer, Crashed, Ok, Refused, Unsupported
from conformance.operations.registry import OPERATIONS
from conformance.runner.adapter_interface import Request
from conformance.runner.judge import answer_json, mismatch
from conformance.runner.process import Process
from tools.entry_point import run_main
from tools.fuzz.known import KNOWN
from tools.fuzz.questions import QUESTIONS, Question

ENGINES = ("iceberg-java", "pyiceberg")
ROUNDS = 6
"""The maximum number of differences that are searched for in one operation."""


@dataclass
class Difference:
    """A question whose answers differ, shrunk as far as possible."""

    engine: str
    op: str
    args: dict[str, Any]
    reference: Any
    answer: Any
    reason: str
    place: str = ""
    """The path of the first difference, without numbers."""

    def signature(self) -> tuple[str, str, str, str]:
        """Return the key that equal differences share."""
        transform = str(self.args.get("transform", "")).partition("[")[0]
        type_ = self.args.get("type", "")
        kind = re.split(r"[(\[]", type_)[0] if isinstance(type_, str) else str(type_["type"])
        return self.op, kind, transform, f"{next(iter(self.answer))} {self.place}"

    def candidate(self) -> str:
        """Format a candidate for a vector in one line."""
        fields = {
            "operation": self.op,
            "reason": self.reason,
            "place": self.place,
            "args": self.args,
            "reference": self.reference,
            self.engine: self.answer,
        }
        return json.dumps(fields, ensure_ascii=True, default=str)


def reference_answer(op: str, args: dict[str, Any]) -> Ok | Refused:
    """Return the reference's answer."""
    answer = perform(operations(), op, args, REFUSALS)
    return Ok(answer["ok"]) if "ok" in answer else Refused(answer["error"]["kind"], answer["error"]["message"])


def difference(engine: str, op: str, args: dict[str, Any], answer: Answer) -> Difference | None:
    """Return how an engine's answer differs from the reference's; None if not, or if the engine lacks the operation."""
    reference = reference_answer(op, args)
    if isinstance(answer, Unsupported):
        return None
    if isinstance(answer, Crashed):
        return Difference(engine, op, args, answer_json(reference), answer_json(answer), answer.reason)
    reason, places = mismatch(OPERATIONS[op], args, reference, answer)
    if reason is None:
        return None
    place = re.sub(r"[0-9]+", "", str(places[0].path)) if places else ""
    return Difference(engine, op, args, answer_json(reference), answer_json(answer), reason, place)


def differences(engine: str, process: Process, op: str, examples: int, seed_: int) -> Iterator[Difference | int]:
    """Yield the differences in one operation, one of each kind, then the number of questions."""
    seen: set[tuple[str, str, str, str]] = set()
    last: list[Difference] = []
    count = 0
    for round_ in range(ROUNDS):

        @seed(seed_ + round_)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(QUESTIONS[op]())
        def ask(asked: Question) -> None:
            nonlocal count
            name, args = asked
            assume(not any(one.engine == engine and one.op == name and one.holds(args) for one in KNOWN))
            count += 1
            (answer,) = process.ask([Request(name, args)])
            found = difference(engine, name, args, answer)
            assume(found is None or found.signature() not in seen)
            if found is not None:
                last.append(found)
                raise AssertionError(found.reason)

        try:
            ask()
        except AssertionError:
            seen.add(last[-1].signature())
            yield last[-1]
        else:
            break
    yield count


def main(arguments: list[str]) -> int:
    """Query the engines; return 1 if there is an unknown difference."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.differential", description=__doc__)
    parser.add_argument("operations", nargs="*", help=f"of {', '.join(QUESTIONS)}; all by default")
    parser.add_argument("--engine", action="append", help=f"of {', '.join(ENGINES)}; all by default")
    parser.add_argument("--examples", type=int, default=200, help="questions about each operation")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    found = 0
    for engine in chosen.engine or ENGINES:
        launched = launch(engine)
        with Process(engine, launched.command, env=launched.env) as process:
            has = process.start().operations
            for op in chosen.operations or QUESTIONS:
                if op not in has:
                    continue
                for one in differences(engine, process, op, chosen.examples, chosen.seed):
                    if isinstance(one, Difference):
                        found += 1
                        print(f"  {one.candidate()[:60_000]}", flush=True)
                    else:
                        print(f"{engine} {op}: {one} questions", flush=True)
    print(f"{found} differences")
    return int(found > 0)


if __name__ == "__main__":
    run_main(main, sys.argv[1:])
