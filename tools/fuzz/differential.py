"""The same random questions to the reference and to an engine: ``python -m tools.fuzz.differential``.

Questions are drawn by hypothesis from the strategies of `conformance.strategies`, so that one whose answers differ is
made small. What is known to differ is recognised by `KNOWN` and not told again; what is new is told as a candidate for
a vector, with both answers. Which of them is right, the text has to say.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from conformance import strategies, strategies_metadata
from conformance.adapters.asking import Request
from conformance.adapters.process import Process
from conformance.adapters.reference import REFUSALS, operations
from conformance.adapters.serve import perform
from conformance.engines import launch
from conformance.exchange import to_exchange
from conformance.judge import answer_json, mismatch
from conformance.operations import OPERATIONS
from conformance.protocol import Answer, Crashed, Ok, Refused, Unsupported
from spec_ref.partitioning.transforms import Bucket, Day, Hour, Identity, Month, Truncate, Year
from spec_ref.schemas.type_json import type_to_json
from spec_ref.schemas.types import Type, kind
from spec_ref.table_metadata import write_metadata

ENGINES = ("iceberg-java", "pyiceberg")
ROUNDS = 6
"""Differences that are looked for one after the other in one operation."""

NO_VALUES = frozenset({"unknown", "variant", "geometry", "geography"})

Asked = tuple[str, dict[str, Any]]
"""An operation and its arguments."""


def _typed() -> st.SearchStrategy[tuple[Type, Any]]:
    plain = strategies.primitive_types().filter(lambda type_: kind(type_) not in NO_VALUES)
    return plain.flatmap(lambda type_: st.tuples(st.just(type_), strategies.values(type_)))


def _of_value(op: str) -> st.SearchStrategy[Asked]:
    return _typed().map(lambda pair: (op, {"type": type_to_json(pair[0]), "value": to_exchange(*pair)}))


def _encoded(op: str, member: str) -> st.SearchStrategy[Asked]:
    """Questions about what the reference makes of values."""

    def asked(pair: tuple[Type, Any]) -> Asked:
        from spec_ref.single_value.binary import to_binary
        from spec_ref.single_value.json_value import to_json

        value = to_json(*pair) if member == "json" else to_binary(*pair).hex().upper()
        return op, {"type": type_to_json(pair[0]), member: value}

    return _typed().filter(lambda pair: pair[1] == pair[1] and _absolute(pair[1]) != float("inf")).map(asked)


def _absolute(value: Any) -> Any:
    """The absolute value of a float; anything else as it is."""
    return abs(value) if isinstance(value, float) else value


def _transforms() -> st.SearchStrategy[Asked]:
    numbers = st.one_of(st.integers(1, 1000), st.sampled_from([2**31 - 1, 2**30, 10**9]))
    made = st.one_of(
        numbers.map(Bucket), numbers.map(Truncate), st.sampled_from([Identity(), Year(), Month(), Day(), Hour()])
    )

    def asked(drawn: tuple[tuple[Type, Any], Any]) -> Asked:
        (type_, value), transform = drawn
        return "transform", {
            "transform": str(transform), "type": type_to_json(type_), "value": to_exchange(type_, value)
        }  # fmt: skip

    fits = st.tuples(_typed(), made).filter(
        lambda drawn: drawn[1].sources is None or kind(drawn[0][0]) in drawn[1].sources
    )
    return fits.map(asked)


def _truncated() -> st.SearchStrategy[Asked]:
    text = st.tuples(st.just("string"), st.text())
    data = st.tuples(st.just("binary"), st.binary().map(lambda data: data.hex().upper()))
    return st.tuples(st.one_of(text, data), st.integers(1, 20), st.sampled_from(["lower", "upper"])).map(
        lambda d: ("bound.truncate", {"type": d[0][0], "value": d[0][1], "width": d[1], "side": d[2]})
    )


def _types() -> st.SearchStrategy[Asked]:
    return strategies.types().map(lambda type_: ("type.parse", {"type": type_to_json(type_)}))


def _metadata() -> st.SearchStrategy[Asked]:
    select = ["format-version", "table-uuid", "location", "last-column-id", "properties", "current-snapshot-id", "refs"]
    return strategies_metadata.table_metadata().map(
        lambda table: ("metadata.read", {"metadata": json.loads(json.dumps(write_metadata(table))), "select": select})
    )


COMPARISONS = ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq")


def _predicates() -> st.SearchStrategy[Asked]:
    def asked(drawn: tuple[Type, Any, Any, str, bool]) -> Asked:
        from spec_ref.single_value.json_value import to_json

        type_, row, constant, op, turned = drawn
        schema = {"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "x", "required": False, "type": type_to_json(type_)}
        ]}  # fmt: skip
        leaf: dict[str, Any] = {"type": op, "term": "x", "value": to_json(type_, constant)}
        if op in ("is-null", "not-null"):
            del leaf["value"]
        predicate = {"type": "not", "child": leaf} if turned else leaf
        return "expression.evaluate", {"schema": schema, "predicate": predicate, "row": {"1": to_exchange(type_, row)}}

    plain = strategies.primitive_types().filter(lambda type_: kind(type_) not in (*NO_VALUES, "float", "double"))
    return plain.flatmap(
        lambda type_: st.tuples(
            st.just(type_), strategies.values(type_), strategies.values(type_),
            st.sampled_from((*COMPARISONS, "is-null", "not-null")), st.booleans(),
        )
    ).map(asked)  # fmt: skip


QUESTIONS: dict[str, Callable[[], st.SearchStrategy[Asked]]] = {
    "hash": lambda: _of_value("hash"),
    "single-value.encode": lambda: _of_value("single-value.encode"),
    "single-value.decode": lambda: _encoded("single-value.decode", "bytes"),
    "json-value.encode": lambda: _encoded("json-value.encode", "bytes"),
    "json-value.decode": lambda: _encoded("json-value.decode", "json"),
    "bound.encode": lambda: _of_value("bound.encode"),
    "bound.decode": lambda: _encoded("bound.decode", "bytes"),
    "bound.truncate": _truncated,
    "transform": _transforms,
    "type.parse": _types,
    "metadata.read": _metadata,
    "expression.evaluate": _predicates,
}


@dataclass(frozen=True)
class Known:
    """A difference that is known: vectors and deviations tell of it."""

    engine: str
    op: str
    holds: Callable[[dict[str, Any]], bool]
    """Whether the question is one of those whose answers differ."""

    where: str
    """The file of the known deviations, or the contradiction."""


def _kind_of(args: dict[str, Any]) -> str:
    type_ = args.get("type", "")
    return type_.partition("(")[0].partition("[")[0] if isinstance(type_, str) else type_["type"]


def _ends_in_zeros(args: dict[str, Any]) -> bool:
    """Whether a time has a fraction that may be written shorter."""
    of_time = _kind_of(args).startswith("time")
    return of_time and int.from_bytes(bytes.fromhex(args["bytes"]), "little", signed=True) % 10 == 0


def _small(args: dict[str, Any]) -> bool:
    type_ = args["type"]
    return isinstance(type_, str) and type_.startswith("decimal") and int(type_.rstrip(")").partition(",")[2]) > 6


def _far(args: dict[str, Any]) -> bool:
    """Whether a date or timestamp is outside of the years 1 to 9999."""
    days = {"date": 1, "timestamp": 86_400 * 10**6, "timestamptz": 86_400 * 10**6}.get(_kind_of(args))
    number = int.from_bytes(bytes.fromhex(args["bytes"]), "little", signed=True)
    return days is not None and not -719_162 <= number // days <= 2_932_896


def _of_nanoseconds(args: dict[str, Any]) -> bool:
    return str(args["schema"]["fields"][0]["type"]).endswith("_ns")


def _has(text: str) -> Callable[[dict[str, Any]], bool]:
    return lambda args: text in json.dumps(args)


def _fields_without_ids(args: dict[str, Any]) -> bool:
    specs = args["metadata"].get("partition-specs", ())
    return any("field-id" not in field for spec in specs for field in spec["fields"])


KNOWN: tuple[Known, ...] = (
    *(Known(engine, "json-value.encode", _ends_in_zeros, "contradiction B34") for engine in ENGINES),
    Known("pyiceberg", "json-value.encode", _small, "values.toml: small decimals with an exponent"),
    Known("pyiceberg", "json-value.encode", _far, "values.toml: years beyond Python's; contradiction E4"),
    Known("pyiceberg", "type.parse", _has("geometry("), "values.toml: geometry with a CRS"),
    Known("pyiceberg", "type.parse", _has("geography("), "values.toml: geography with a CRS"),
    Known("pyiceberg", "metadata.read", _has("geometry("), "values.toml: geometry with a CRS"),
    Known("pyiceberg", "metadata.read", _has("geography("), "values.toml: geography with a CRS"),
    Known("pyiceberg", "metadata.read", _fields_without_ids, "table_metadata.toml: v1 partition fields without ids"),
    *(
        Known(engine, "metadata.read", _has('-default": {'), "table_metadata.toml: defaults of structs")
        for engine in ENGINES
    ),
    Known("iceberg-java", "metadata.read", _has("source-ids"), "table_metadata.toml: source-ids"),
    Known("iceberg-java", "expression.evaluate", _of_nanoseconds, "expressions.toml: constants of timestamp_ns"),
)


@dataclass
class Difference:
    """A question whose answers differ, as small as it was made."""

    engine: str
    op: str
    args: dict[str, Any]
    reference: Any
    answer: Any
    reason: str

    def signature(self) -> tuple[str, str, str, str]:
        """What differences have in common that are one."""
        transform = str(self.args.get("transform", "")).partition("[")[0]
        return self.op, _kind_of(self.args), transform, f"{next(iter(self.answer))}"

    def candidate(self) -> str:
        """A candidate for a vector, in one line."""
        told = {"operation": self.op, "args": self.args, "reference": self.reference, self.engine: self.answer}
        return json.dumps(told, ensure_ascii=True, default=str)


def asked_of_reference(op: str, args: dict[str, Any]) -> Ok | Refused:
    """What the reference answers."""
    answer = perform(operations(), op, args, REFUSALS)
    return Ok(answer["ok"]) if "ok" in answer else Refused(answer["error"]["kind"], answer["error"]["message"])


def difference(engine: str, op: str, args: dict[str, Any], answer: Answer) -> Difference | None:
    """How an engine's answer differs from the reference's; None where it does not, or the engine does not have it."""
    reference = asked_of_reference(op, args)
    if isinstance(answer, Unsupported):
        return None
    if isinstance(answer, Crashed):
        return Difference(engine, op, args, answer_json(reference), answer_json(answer), answer.reason)
    reason, _ = mismatch(OPERATIONS[op], args, reference, answer)
    if reason is None:
        return None
    return Difference(engine, op, args, answer_json(reference), answer_json(answer), reason)


def differences(engine: str, process: Process, op: str, examples: int, seed_: int) -> Iterator[Difference | int]:
    """The differences in one operation, each kind once, then the number of questions."""
    seen: set[tuple[str, str, str, str]] = set()
    last: list[Difference] = []
    count = 0
    for round_ in range(ROUNDS):

        @seed(seed_ + round_)
        @settings(
            max_examples=examples, database=None, deadline=None, report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(QUESTIONS[op]())
        def ask(asked: Asked) -> None:
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
    """Ask the engines; 1 where something differs that is not known."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz.differential", description=__doc__)
    parser.add_argument("operations", nargs="*", help=f"of {', '.join(QUESTIONS)}; all where none is given")
    parser.add_argument("--engine", action="append", help=f"of {', '.join(ENGINES)}; all where none is given")
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
                        print(f"  {one.candidate()[:8000]}", flush=True)
                    else:
                        print(f"{engine} {op}: {one} questions", flush=True)
    print(f"{found} differences")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
