"""Functions of expressions: ``if_else`` with every kind of condition, and calls of undefined functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.cases.expression_forms import SchemaVector, leaf, schema
from tools.derive.metadata import topic_files
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

ORIGIN = "spec: Expressions, Functions"
X = {"type": "reference", "name": "x"}
IF_ELSE = {"catalog": "iceberg_functions", "identifier": ["if_else"]}


def _apply(function: Any, *arguments: Any) -> dict[str, Any]:
    return {"type": "apply", "function": function, "arguments": list(arguments)}


def _int(value: int) -> dict[str, Any]:
    return {"type": "literal", "value": value, "data-type": "int"}


def _is(left: Any, right: Any) -> dict[str, Any]:
    return {"type": "eq", "left": left, "right": right}


ABOVE = {"type": "gt", "left": X, "right": _int(5)}

YES, NO = True, False

CHOSEN: list[tuple[str, Any, int | None, bool, str]] = [
    ("row-true", _is(_apply(IF_ELSE, ABOVE, X, _int(7)), _int(9)), 9, True, "9 > 5, so the value is x"),
    ("row-false", _is(_apply(IF_ELSE, ABOVE, X, _int(7)), _int(7)), 2, True, "2 > 5 is false, so the value is 7"),
    ("row-null", _is(_apply(IF_ELSE, ABOVE, X, _int(7)), _int(7)), None, True, "null > 5 is false, so the value is 7"),
    ("constant-true", _is(_apply(IF_ELSE, YES, X, _int(7)), _int(2)), 2, True, "the condition is true for all rows"),
    ("constant-false", _is(_apply(IF_ELSE, NO, X, _int(7)), _int(7)), 2, True, "the condition is true for no row"),
    ("constant-false-other", _is(_apply(IF_ELSE, NO, X, _int(7)), _int(2)), 2, False, "the value is 7 for all rows"),
]

REFUSED: list[tuple[str, str, Any, Any, tuple[str, ...], str]] = [
    (
        "unknown-function",
        "int",
        _is(_apply({"catalog": "iceberg_functions", "identifier": ["halve"]}, X), _int(1)),
        2,
        ("EXP014",),
        "the catalog has no such function",
    ),
    (
        "too-many-arguments",
        "int",
        _is(_apply({"catalog": "iceberg_functions", "identifier": ["year"]}, X, X), _int(1)),
        2,
        ("EXP014",),
        "year takes one argument",
    ),
    (
        "if-else-of-two-types",
        "string",
        _is(_apply(IF_ELSE, YES, X, _int(7)), _int(7)),
        "7",
        ("EXP006", "EXP020"),
        "no promotion makes a string and an int values of one type",
    ),
]


def _vectors() -> Iterator[Vector]:
    for name, predicate, value, expected, note in CHOSEN:
        args = {"schema": schema(x="int"), "predicate": predicate, "row": {"1": value}}
        yield SchemaVector(f"expression-if-else-{name}", ("EXP020",), args, ok(expected), ORIGIN, note)
    for name, type_, predicate, value, codes, note in REFUSED:
        args = {"schema": schema(x=type_), "predicate": predicate, "row": {"1": value}}
        yield SchemaVector(f"expression-refused-{name}", codes, args, INVALID, ORIGIN, note)
    for operation, expected, note in (
        ("in", False, "all values are null, and null equals no constant"),
        ("not-in", True, "all values are null, and null equals no constant"),
    ):
        args = {"schema": schema(x="unknown"), "predicate": leaf(operation, [1, 2]), "row": {"1": None}}
        codes = ("EXP007", "EXP008")
        expect = any_of(ok(expected), INVALID)  # no promotion aligns an int with an unknown
        yield SchemaVector(
            f"expression-test-{operation}-unknown", codes, args, expect, ORIGIN, note, ("B28",), only=(3,)
        )


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield from topic_files("expressions/functions", "expression.evaluate", list(_vectors()))
