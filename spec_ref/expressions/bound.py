"""Predicates that are bound to a schema, and their value for a row (Iceberg Expressions, Predicates).

A bound predicate is a tree of the logical records of `spec_ref.expressions.predicates` over the leaves defined here.
Its logic is two-valued: every leaf is true or false of null and of NaN too (EXP012), by these rules.

======================  ==========================  ==========================
leaf, constant ``c``    of null                     of NaN
======================  ==========================  ==========================
``x = c``, ``x IN``     false                       false
``x != c``, NOT IN      true                        true
``<``, ``<=``, ...      false                       false
STARTS WITH             false
NOT STARTS WITH         true
``x = y``               true where both are null    true where both are NaN
``x <= y``, ``x >= y``  true where both are null    true where both are NaN
======================  ==========================  ==========================

This is not the logic of SQL, where ``x != c`` is not true of null; `spec_ref.expressions.rewriting.from_sql`
translates. Nor is it the order of Iceberg-Java's evaluator, which puts null before and NaN after all values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.expressions.predicates import And, Constant, Not, Operation, Or
from spec_ref.partitioning.transforms import Transform
from spec_ref.records import record
from spec_ref.schemas.types import DOUBLE, FLOAT, Type

Row: TypeAlias = Mapping[int, Any]
"""Values by field id; what is left out is null. A struct is such a mapping too."""


@record
class BoundReference:
    """The value of one field of the row."""

    path: tuple[int, ...]
    """The ids from the top-level column to the field; null in between makes the field null."""

    names: tuple[str, ...]
    """The names along the path, in the schema that was bound to."""

    type: Type

    @property
    def id(self) -> int:
        """The field's id."""
        return self.path[-1]


@record
class BoundTransform:
    """A partition transform of a value (Appendix A, Partition transforms)."""

    transform: Transform
    child: BoundTerm
    type: Type


@record
class BoundConstant:
    """The same value for every row."""

    value: Any
    type: Type


@record
class BoundPromotion:
    """A value as a wider type (Value expression types)."""

    child: BoundTerm
    promote: Callable[[Any], Any]
    type: Type


@record
class BoundChoice:
    """``if_else``: one value where a predicate is true, the other where it is false (EXP020)."""

    condition: BoundPredicate
    when_true: BoundTerm
    when_false: BoundTerm
    type: Type


BoundTerm: TypeAlias = BoundReference | BoundTransform | BoundConstant | BoundPromotion | BoundChoice


@record
class BoundTest:
    """Whether a value is null, is NaN, or not."""

    operation: Operation
    term: BoundTerm


@record
class BoundComparison:
    """A comparison with a constant that is a value of the term's type, neither null nor NaN."""

    operation: Operation
    term: BoundTerm
    value: Any


@record
class BoundSetTest:
    """Whether a value is one of some constants of its type; there are two constants at least."""

    operation: Operation
    term: BoundTerm
    values: tuple[Any, ...] = attrs.field(converter=tuple)


@record
class BoundTermComparison:
    """A comparison of two terms of one type."""

    operation: Operation
    left: BoundTerm
    right: BoundTerm


Leaf: TypeAlias = BoundTest | BoundComparison | BoundSetTest
"""A predicate of one term."""

BoundPredicate: TypeAlias = Constant | Not | And | Or | Leaf | BoundTermComparison


def is_nan(value: Any) -> bool:
    """Whether a value of any type is NaN, the only value that is not itself."""
    return bool(value != value)


def equal(left: Any, right: Any) -> bool:
    """``left = right``, which is true where both are null or both NaN (EXP008, EXP010); -0.0 is 0.0 (EXP019)."""
    if left is None or right is None:
        return left is right
    if is_nan(left) or is_nan(right):
        return is_nan(left) and is_nan(right)
    return bool(left == right)


def less(left: Any, right: Any) -> bool:
    """``left < right``, false where one is null or NaN.

    Python orders the values of all types as the text asks: str by code points, which is the order of UTF-8, bytes and
    UUID by unsigned bytes, False before True, Decimal by number (EXP011, EXP019).
    """
    return left is not None and right is not None and bool(left < right)


def _starts_with(value: Any, prefix: Any) -> bool:
    return value is not None and bool(value.startswith(prefix))


_O = Operation

COMPARE: dict[Operation, Callable[[Any, Any], bool]] = {
    _O.LT: less,
    _O.LT_EQ: lambda left, right: equal(left, right) or less(left, right),
    _O.GT: lambda left, right: less(right, left),
    _O.GT_EQ: lambda left, right: equal(left, right) or less(right, left),
    _O.EQ: equal,
    _O.NOT_EQ: lambda left, right: not equal(left, right),
    _O.STARTS_WITH: _starts_with,
    _O.NOT_STARTS_WITH: lambda value, prefix: not _starts_with(value, prefix),
}
"""What each comparison says of any two values of one type."""

TEST: dict[Operation, Callable[[Any], bool]] = {
    _O.IS_NULL: lambda value: value is None,
    _O.NOT_NULL: lambda value: value is not None,
    _O.IS_NAN: is_nan,
    _O.NOT_NAN: lambda value: not is_nan(value),
}
"""What each test says of a value."""


def has_nan(type_: Type) -> bool:
    """Whether NaN is a value of the type."""
    return type_ in (FLOAT, DOUBLE)


def holds(leaf: Leaf, value: Any) -> bool:
    """Whether a leaf is true where its term has a value; null and NaN among them."""
    match leaf:
        case BoundTest(operation):
            return TEST[operation](value)
        case BoundComparison(operation, _, constant):
            return COMPARE[operation](value, constant)
        case BoundSetTest(operation, _, values):
            return any(equal(value, constant) for constant in values) is (operation is Operation.IN)


def evaluate(predicate: BoundPredicate, row: Row) -> bool:
    """Whether a row matches.

    Raises:
        SpecError: a transform has no result for the row's value (contradiction C6), or a promotion none in its type.
    """
    match predicate:
        case Constant(value):
            return value
        case Not(child):
            return not evaluate(child, row)
        case And(left, right):
            return evaluate(left, row) and evaluate(right, row)
        case Or(left, right):
            return evaluate(left, row) or evaluate(right, row)
        case BoundTermComparison(operation, left, right):
            return COMPARE[operation](value_of(left, row), value_of(right, row))
        case _:
            return holds(predicate, value_of(predicate.term, row))


def value_of(term: BoundTerm, row: Row) -> Any:
    """The value of a term for a row; None for null."""
    match term:
        case BoundReference(path):
            value: Any = row
            for field_id in path:
                value = value.get(field_id)
                if value is None:
                    return None
            return value
        case BoundTransform(transform, child):
            return transform.apply(child.type, value_of(child, row))
        case BoundConstant(constant):
            return constant
        case BoundPromotion(child, promote):
            narrow = value_of(child, row)
            return None if narrow is None else promote(narrow)
        case BoundChoice(condition, when_true, when_false):
            return value_of(when_true if evaluate(condition, row) else when_false, row)
