"""The logic of predicates: negation, and the translation from SQL (Iceberg Expressions)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_ref.data_types.types import INT, NestedField, Type
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundReference, BoundTermComparison, BoundTest, evaluate
from spec_ref.expressions.predicates import (
    COMPLEMENT,
    FALSE,
    TRUE,
    And,
    Comparison,
    Constant,
    Literal,
    NamedReference,
    Not,
    Operation,
    Or,
    SetTest,
    Test,
)
from spec_ref.expressions.rewrite_not import from_sql, rewrite_not
from spec_ref.schemas.schema import Schema
from tools.proofs.theorem import EXHAUSTIVE, World, theorem
from tools.proofs.theorems.predicates import (
    COLUMN,
    ORDERED,
    TYPES,
    leaf,
    nullable,
    operations,
    predicate_json,
    schema_json,
    value_json,
)

_O = Operation


@theorem(
    "rewrite-not-of-a-leaf",
    "EXP012",
    cases=({"type_": type_, "operation": operation} for type_ in TYPES for operation in operations(type_)),
    quick=17,
)
def negated_leaf(world: World, type_: Type, operation: Any) -> None:
    """The negation of a test or comparison, rewritten without NOT, is true exactly where the predicate is false: for
    ordinary values, for null, and for NaN.
    """
    row = {COLUMN: nullable(world, "row", type_)}
    predicate = leaf(world, operation, type_)
    world.request = lambda: {
        "operation": "expression.evaluate",
        "args": {
            "schema": schema_json(type_),
            "predicate": {"type": "not", "child": predicate_json(predicate)},
            "row": {str(COLUMN): value_json(type_, row[COLUMN])},
        },
        "expect": not evaluate(predicate, row),
    }
    rewritten = rewrite_not(Not(predicate))
    world.claim(evaluate(rewritten, row) != evaluate(predicate, row), "the predicate and its negation agree")


@theorem(
    "rewrite-not-of-two-columns",
    "EXP012",
    cases=({"type_": type_, "operation": operation} for type_ in TYPES for operation in ORDERED),
    quick=13,
)
def negated_comparison(world: World, type_: Type, operation: Any) -> None:
    """The negation of a comparison of two columns is true exactly where the comparison is false, also if one or both
    are null or NaN.
    """
    left, right = (BoundReference((place,), (f"x{place}",), type_) for place in (1, 2))
    row = {place: nullable(world, f"row {place}", type_) for place in (1, 2)}
    predicate = BoundTermComparison(operation, left, right)
    world.claim(
        evaluate(rewrite_not(Not(predicate)), row) != evaluate(predicate, row), "the predicate and its negation agree"
    )


def shapes(depth: int, leaves: tuple[Any, ...], kinds: tuple[Any, ...] = (Not, And, Or)) -> Iterator[Any]:
    """Yield every tree of logical operations up to some depth."""
    yield from leaves
    if depth:
        below = list(shapes(depth - 1, leaves, kinds))
        for kind in kinds:
            if kind is Not:
                yield from map(Not, below)
            else:
                yield from (kind(left, right) for left in below for right in below)


LEAVES = tuple(BoundTest(_O.IS_NULL, BoundReference((place,), (f"x{place}",), INT)) for place in (1, 2))


def has_not(predicate: Any) -> bool:
    """Whether a predicate has a NOT."""
    match predicate:
        case Not():
            return True
        case And(left, right) | Or(left, right):
            return has_not(left) or has_not(right)
        case _:
            return False


@theorem("rewrite-not-of-trees", "EXP012", method=EXHAUSTIVE)
def negated_trees(world: World) -> None:
    """Every tree of AND, OR and NOT over leaves that may be true or false, and over constants, keeps its meaning when
    it is rewritten, and then has no NOT. Trees of two levels are run; deeper ones follow, as the rewriting of a tree
    looks at one level at a time.
    """
    for tree in shapes(2, (*LEAVES, TRUE, FALSE)):
        made = rewrite_not(tree)
        world.claim(not has_not(made), f"{tree} keeps a NOT")
        for first in (None, 0):
            for second in (None, 0):
                row = {1: first, 2: second}
                world.claim(evaluate(made, row) == evaluate(tree, row), f"{tree} has another meaning")


@theorem("complements-are-complete", "EXP012", method=EXHAUSTIVE)
def complements(world: World) -> None:
    """Each operation that has a complement is the complement of its complement."""
    for one, other in COMPLEMENT.items():
        world.claim(COMPLEMENT[other] is one, f"{one} is not the complement of {other}")
        world.claim(one is not other, f"{one} is its own complement")


# SQL

SCHEMA = Schema(
    fields=tuple(NestedField(id=place, name=name, required=False, type=INT) for place, name in ((1, "a"), (2, "b")))
)
SQL_LEAVES = (
    Comparison(_O.LT, NamedReference("a"), Literal(5)),
    Comparison(_O.EQ, NamedReference("a"), NamedReference("b")),
    Test(_O.IS_NULL, NamedReference("b")),
    SetTest(_O.NOT_IN, NamedReference("b"), (Literal(1), Literal(2))),
)


def sql(predicate: Any, row: dict[str, Any]) -> bool | None:
    """Return the value of a predicate in SQL's logic: true, false, or None for unknown."""
    match predicate:
        case Constant(value):
            return value
        case Not(child):
            found = sql(child, row)
            return None if found is None else not found
        case And(left, right):
            both = (sql(left, row), sql(right, row))
            return False if False in both else None if None in both else True
        case Or(left, right):
            either = (sql(left, row), sql(right, row))
            return True if True in either else None if None in either else False
        case Test(operation, NamedReference(name)):
            return (row[name] is None) is (operation is _O.IS_NULL)
        case SetTest(_, NamedReference(name), values):
            return None if row[name] is None else row[name] not in [one.value for one in values]
        case Comparison(operation, NamedReference(name), right):
            other = row[right.name] if isinstance(right, NamedReference) else right.value
            if row[name] is None or other is None:
                return None
            return bool(row[name] < other if operation is _O.LT else row[name] == other)
    raise AssertionError(predicate)


@theorem("sql-is-translated", "EXP025", method=EXHAUSTIVE)
def translated(world: World) -> None:
    """A predicate with the logic of SQL, where a comparison with null is unknown, is translated into one that is true
    exactly where SQL's is true. Every tree of two levels is run on rows where each leaf has each of its values.
    """
    for tree in shapes(2, SQL_LEAVES[:3], (Not, And)):
        _check_translation(world, tree)
    for tree in shapes(1, SQL_LEAVES):
        for outer in (tree, Not(tree), Not(Not(tree))):
            _check_translation(world, outer)


def _check_translation(world: World, tree: Any) -> None:
    made = bind(from_sql(tree), SCHEMA)
    for first in (None, 1, 7):
        for second in (None, 1, 7):
            found = evaluate(made, {1: first, 2: second})
            world.claim(found == (sql(tree, {"a": first, "b": second}) is True), f"{tree} of {first} and {second}")
