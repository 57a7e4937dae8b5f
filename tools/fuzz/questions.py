"""Random questions to engines about values, types, metadata and predicates, and the list of all questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.operations.wire import to_exchange
from spec_ref.data_types.types import Type, kind
from spec_ref.partitioning.transforms import Bucket, Day, Hour, Identity, Month, Truncate, Year
from spec_ref.schemas.type_json import type_to_json
from spec_ref.table_metadata import write_metadata
from tools import metadata_strategies, value_strategies
from tools.fuzz import manifest_questions

NO_VALUES = frozenset({"unknown", "variant", "geometry", "geography"})

Question = tuple[str, dict[str, Any]]
"""An operation and its arguments."""


def _typed_values() -> st.SearchStrategy[tuple[Type, Any]]:
    plain = value_strategies.primitive_types().filter(lambda type_: kind(type_) not in NO_VALUES)
    return plain.flatmap(lambda type_: st.tuples(st.just(type_), value_strategies.values(type_)))


def _value_questions(op: str) -> st.SearchStrategy[Question]:
    return _typed_values().map(lambda pair: (op, {"type": type_to_json(pair[0]), "value": to_exchange(*pair)}))


def _encoded_questions(op: str, member: str) -> st.SearchStrategy[Question]:
    """Draw questions about values that the reference encoded."""

    def asked(pair: tuple[Type, Any]) -> Question:
        from spec_ref.single_value.binary import to_binary
        from spec_ref.single_value.json_value import to_json

        value = to_json(*pair) if member == "json" else to_binary(*pair).hex().upper()
        return op, {"type": type_to_json(pair[0]), member: value}

    return _typed_values().filter(lambda pair: pair[1] == pair[1] and _absolute(pair[1]) != float("inf")).map(asked)


def _absolute(value: Any) -> Any:
    """Return the absolute value of a float, and any other value unchanged."""
    return abs(value) if isinstance(value, float) else value


def _transforms() -> st.SearchStrategy[Question]:
    numbers = st.one_of(st.integers(1, 1000), st.sampled_from([2**31 - 1, 2**30, 10**9]))
    made = st.one_of(
        numbers.map(Bucket), numbers.map(Truncate), st.sampled_from([Identity(), Year(), Month(), Day(), Hour()])
    )

    def asked(drawn: tuple[tuple[Type, Any], Any]) -> Question:
        (type_, value), transform = drawn
        return "transform", {
            "transform": str(transform),
            "type": type_to_json(type_),
            "value": to_exchange(type_, value),
        }

    fits = st.tuples(_typed_values(), made).filter(
        lambda drawn: drawn[1].sources is None or kind(drawn[0][0]) in drawn[1].sources
    )
    return fits.map(asked)


def _truncation_questions() -> st.SearchStrategy[Question]:
    text = st.tuples(st.just("string"), st.text())
    data = st.tuples(st.just("binary"), st.binary().map(lambda data: data.hex().upper()))
    return st.tuples(st.one_of(text, data), st.integers(1, 20), st.sampled_from(["lower", "upper"])).map(
        lambda d: ("bound.truncate", {"type": d[0][0], "value": d[0][1], "width": d[1], "side": d[2]})
    )


def _types() -> st.SearchStrategy[Question]:
    return value_strategies.types().map(lambda type_: ("type.parse", {"type": type_to_json(type_)}))


def _metadata() -> st.SearchStrategy[Question]:
    select = ["format-version", "table-uuid", "location", "last-column-id", "properties", "current-snapshot-id", "refs"]
    return metadata_strategies.table_metadata().map(
        lambda table: ("metadata.read", {"metadata": json.loads(json.dumps(write_metadata(table))), "select": select})
    )


COMPARISONS = ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq")


def _predicates() -> st.SearchStrategy[Question]:
    def asked(drawn: tuple[Type, Any, Any, str, bool]) -> Question:
        from spec_ref.single_value.json_value import to_json

        type_, row, constant, op, turned = drawn
        schema = {
            "type": "struct",
            "schema-id": 0,
            "fields": [{"id": 1, "name": "x", "required": False, "type": type_to_json(type_)}],
        }
        leaf: dict[str, Any] = {"type": op, "term": "x", "value": to_json(type_, constant)}
        if op in ("is-null", "not-null"):
            del leaf["value"]
        predicate = {"type": "not", "child": leaf} if turned else leaf
        return "expression.evaluate", {"schema": schema, "predicate": predicate, "row": {"1": to_exchange(type_, row)}}

    plain = value_strategies.primitive_types().filter(lambda type_: kind(type_) not in (*NO_VALUES, "float", "double"))
    return plain.flatmap(
        lambda type_: st.tuples(
            st.just(type_),
            value_strategies.values(type_),
            value_strategies.values(type_),
            st.sampled_from((*COMPARISONS, "is-null", "not-null")),
            st.booleans(),
        )
    ).map(asked)


QUESTIONS: dict[str, Callable[[], st.SearchStrategy[Question]]] = {
    "hash": lambda: _value_questions("hash"),
    "single-value.encode": lambda: _value_questions("single-value.encode"),
    "single-value.decode": lambda: _encoded_questions("single-value.decode", "bytes"),
    "json-value.encode": lambda: _encoded_questions("json-value.encode", "bytes"),
    "json-value.decode": lambda: _encoded_questions("json-value.decode", "json"),
    "bound.encode": lambda: _value_questions("bound.encode"),
    "bound.decode": lambda: _encoded_questions("bound.decode", "bytes"),
    "bound.truncate": _truncation_questions,
    "transform": _transforms,
    "type.parse": _types,
    "metadata.read": _metadata,
    "expression.evaluate": _predicates,
    **manifest_questions.QUESTIONS,
}
