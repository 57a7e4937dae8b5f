"""Predicates that are bound to a schema, and how they are evaluated on a row (Iceberg Expressions, Predicates).

A bound predicate is a tree of the logical records of `spec_ref.expressions.predicates` over the leaves defined here.
Its logic is two-valued: every leaf is true or false, even for null and NaN (EXP012), by these rules.

======================  ==========================  ==========================
leaf, constant ``c``    for null                    for NaN
======================  ==========================  ==========================
``x = c``, ``x IN``     false                       false
``x != c``, NOT IN      true                        true
``<``, ``<=``, ...      false                       false
STARTS WITH             false
NOT STARTS WITH         true
``x = y``               true where both are null    true where both are NaN
``x <= y``, ``x >= y``  true where both are null    true where both are NaN
======================  ==========================  ==========================

This is not the logic of SQL, where ``x != c`` is not true for null; `spec_ref.expressions.rewrite_not.from_sql`
translates. It also differs from Iceberg-Java's evaluator, which orders null before and NaN after all values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

from spec_ref.core.records import record
from spec_ref.data_types.promotion import promote_value
from spec_ref.data_types.types import DOUBLE, FLOAT, Type
from spec_ref.expressions.predicates import And, Constant, Not, Operation, Or
from spec_ref.partitioning.transforms import Transform

Row: TypeAlias = Mapping[int, Any]
"""The values of a row by field id; an absent one is null. A struct value is such a mapping too."""


@record
class BoundReference:
    """The value of one field of the row."""

    path: tuple[int, ...]
    """The ids from the top-level column to the field; a null on the way makes the field null."""

    names: tuple[str, ...]
    """The names along the path, in the schema that the predicate is bound to."""

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
    type: Type

    def promote(self, value: Any) -> Any:
        """Convert a value of the child.

        Args:
            value: a value of the child's type, or None.

        Returns:
            The value of the type; an int that is compared with a float or double is a double (contradiction B28).

        Raises:
            SpecError: EVO006 if a date is outside the range of the timestamp.
        """
        if value is not None and self.type == DOUBLE:
            return float(value)
        return promote_value(self.child.type, self.type, value)


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
    """A test of whether a value is null, is not null, is NaN or is not NaN."""

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
    """A test of whether a value is one of several constants of its type; there are at least two constants."""

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
    """Decide whether a value of any type is NaN, the only value that does not equal itself.

    Args:
        value: a value, not None.

    Returns:
        Whether it is NaN.
    """
    return bool(value != value)


def equal(left: Any, right: Any) -> bool:
    """Evaluate ``left = right``.

    Args:
        left: a value, or None.
        right: a value of the same type, or None.

    Returns:
        True if both are null, both are NaN (EXP008, EXP010), or they are equal; -0.0 equals 0.0 (EXP019).
    """
    if left is None or right is None:
        return left is right
    if is_nan(left) or is_nan(right):
        return is_nan(left) and is_nan(right)
    return bool(left == right)


def is_less(left: Any, right: Any) -> bool:
    """Evaluate ``left < right``.

    Python orders the values of all types as the spec requires: str by code points, which is the order of UTF-8; bytes
    and UUID by unsigned bytes; False before True; Decimal by number (EXP011, EXP019).

    Args:
        left: a value, or None.
        right: a value of the same type, or None.

    Returns:
        Whether it is less; false if one of them is null or NaN.
    """
    return left is not None and right is not None and bool(left < right)


def _starts_with(value: Any, prefix: Any) -> bool:
    return value is not None and bool(value.startswith(prefix))


_O = Operation

COMPARE: dict[Operation, Callable[[Any, Any], bool]] = {
    _O.LT: is_less,
    _O.LT_EQ: lambda left, right: equal(left, right) or is_less(left, right),
    _O.GT: lambda left, right: is_less(right, left),
    _O.GT_EQ: lambda left, right: equal(left, right) or is_less(right, left),
    _O.EQ: equal,
    _O.NOT_EQ: lambda left, right: not equal(left, right),
    _O.STARTS_WITH: _starts_with,
    _O.NOT_STARTS_WITH: lambda value, prefix: not _starts_with(value, prefix),
}
"""The result of each comparison for any two values of one type."""

TEST: dict[Operation, Callable[[Any], bool]] = {
    _O.IS_NULL: lambda value: value is None,
    _O.NOT_NULL: lambda value: value is not None,
    _O.IS_NAN: is_nan,
    _O.NOT_NAN: lambda value: not is_nan(value),
}
"""The result of each test for a value."""


def has_nan(type_: Type) -> bool:
    """Decide whether NaN is a value of a type.

    Args:
        type_: any type.

    Returns:
        True for float and double.
    """
    return type_ in (FLOAT, DOUBLE)


def evaluate_leaf(leaf: Leaf, value: Any) -> bool:
    """Evaluate a leaf for a value of its term.

    Args:
        leaf: a test, comparison or set test.
        value: a value of the term's type; None for null.

    Returns:
        Whether the leaf is true.
    """
    match leaf:
        case BoundTest(operation):
            return TEST[operation](value)
        case BoundComparison(operation, _, constant):
            return COMPARE[operation](value, constant)
        case BoundSetTest(operation, _, values):
            return any(equal(value, constant) for constant in values) is (operation is Operation.IN)


def evaluate(predicate: BoundPredicate, row: Row) -> bool:
    """Evaluate a predicate on a row.

    Args:
        predicate: a bound predicate.
        row: the values of the row, by field id.

    Returns:
        Whether the row matches.

    Raises:
        SpecError: the code of a transform that has no result for the row's value (contradiction C6), or of a type that
            cannot represent a promoted value.
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
            return COMPARE[operation](evaluate_term(left, row), evaluate_term(right, row))
        case _:
            return evaluate_leaf(predicate, evaluate_term(predicate.term, row))


def evaluate_term(term: BoundTerm, row: Row) -> Any:
    """Compute the value of a term for a row.

    Args:
        term: a bound term.
        row: the values of the row, by field id.

    Returns:
        The value; None for null.

    Raises:
        SpecError: as `evaluate`.
    """
    match term:
        case BoundReference(path):
            value: Any = row
            for field_id in path:
                value = value.get(field_id)
                if value is None:
                    return None
            return value
        case BoundTransform(transform, child):
            return transform.apply(child.type, evaluate_term(child, row))
        case BoundConstant(constant):
            return constant
        case BoundPromotion(child):
            return term.promote(evaluate_term(child, row))
        case BoundChoice(condition, when_true, when_false):
            return evaluate_term(when_true if evaluate(condition, row) else when_false, row)
