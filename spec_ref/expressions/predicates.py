"""Predicates and value expressions as they are stored and exchanged (Iceberg Expressions, Structure).

A predicate is true or false for a row and nothing else (EXP012); a value expression gives a value of some type. Both
are unbound: `spec_ref.expressions.binding` resolves references and gives constants a type, for one schema.
"""

from __future__ import annotations

import enum
from typing import Any, NoReturn, TypeAlias

import attrs

from spec_ref.core.errors import spec_error
from spec_ref.core.records import record
from spec_ref.data_types.types import Type

ICEBERG_FUNCTIONS = "iceberg_functions"
"""The reserved catalog of the functions that the spec defines."""

MAX_DEPTH = 200
"""The maximum number of levels of nesting that are read."""


class Operation(enum.Enum):
    """The operations of predicates that are not logical; the value is the type in JSON (EXP015)."""

    IS_NULL = "is-null"
    NOT_NULL = "not-null"
    IS_NAN = "is-nan"
    NOT_NAN = "not-nan"
    LT = "lt"
    LT_EQ = "lt-eq"
    GT = "gt"
    GT_EQ = "gt-eq"
    EQ = "eq"
    NOT_EQ = "not-eq"
    STARTS_WITH = "starts-with"
    NOT_STARTS_WITH = "not-starts-with"
    IN = "in"
    NOT_IN = "not-in"

    # Members are singletons, so they can be hashed by identity; the hash of the base class runs Python code.
    __hash__ = object.__hash__


_O = Operation

UNARY = frozenset({_O.IS_NULL, _O.NOT_NULL, _O.IS_NAN, _O.NOT_NAN})
ORDERED = frozenset({_O.LT, _O.LT_EQ, _O.GT, _O.GT_EQ, _O.EQ, _O.NOT_EQ})
PREFIX = frozenset({_O.STARTS_WITH, _O.NOT_STARTS_WITH})
COMPARING = ORDERED | PREFIX
SETS = frozenset({_O.IN, _O.NOT_IN})

COMPLEMENT: dict[Operation, Operation] = {
    _O.IS_NULL: _O.NOT_NULL,
    _O.IS_NAN: _O.NOT_NAN,
    _O.EQ: _O.NOT_EQ,
    _O.STARTS_WITH: _O.NOT_STARTS_WITH,
    _O.IN: _O.NOT_IN,
}
COMPLEMENT |= {negated: plain for plain, negated in COMPLEMENT.items()}
"""The operation that is true exactly where another is false. The inequalities have none: ``x < 5`` and ``x >= 5`` are
both false where x is null or NaN."""


@record
class Literal:
    """A constant value."""

    value: Any
    """The JSON single value (Appendix D) of the constant; the context implies its type if ``type`` is None."""

    type: Type | None = None


@record
class NamedReference:
    """A reference to a field by its full name, with dots between the parts, in the schema that binding uses."""

    name: str


@record
class IdReference:
    """A reference to a field by its id."""

    id: int


@record
class FunctionReference:
    """A reference to a function by catalog and identifier; None is the catalog of the expression's owner (EXP022).

    The writer of an expression resolves the reference, so that it does not depend on a session (EXP005), and should
    leave the catalog out, because other environments have other names for it (EXP023).
    """

    identifier: tuple[str, ...] = attrs.field(converter=tuple)
    catalog: str | None = None

    def __attrs_post_init__(self) -> None:
        if not self.identifier:
            raise spec_error("EXP004", "the function identifier is empty", found=self.identifier)


@record
class Apply:
    """A function applied to arguments."""

    function: FunctionReference
    arguments: tuple[ValueExpression | Predicate, ...] = attrs.field(converter=tuple)


ValueExpression: TypeAlias = Literal | NamedReference | IdReference | Apply


class _Operators:
    """Python's operators on predicates: ``&``, ``|`` and ``~`` are AND, OR and NOT."""

    __slots__ = ()

    def __and__(self, other: Any) -> Any:
        return and_(self, other) if isinstance(other, _Operators) else NotImplemented

    def __or__(self, other: Any) -> Any:
        return or_(self, other) if isinstance(other, _Operators) else NotImplemented

    def __invert__(self) -> Any:
        return not_(self)

    def __bool__(self) -> NoReturn:
        # `1 < column < 5` and `a and b` would silently drop one of their sides.
        raise TypeError("a predicate has no truth value; combine predicates with &, | and ~")


@record
class Constant(_Operators):
    """True or false for every row."""

    value: bool


TRUE = Constant(True)  # noqa: FBT003
FALSE = Constant(False)  # noqa: FBT003


@record
class Not(_Operators):
    """True where the child is false."""

    child: Any


@record
class And(_Operators):
    """True where both are true."""

    left: Any
    right: Any


@record
class Or(_Operators):
    """True where at least one of them is true."""

    left: Any
    right: Any


def _check_operation(requirement: str, operation: Operation, known: frozenset[Operation]) -> None:
    if operation not in known:
        expected = ", ".join(sorted(member.value for member in known))
        raise spec_error(requirement, "the operation is not allowed here", found=operation.value, expected=expected)


@record
class Test(_Operators):
    """A test of whether a value is null, is not null, is NaN or is not NaN (Tests)."""

    operation: Operation
    child: ValueExpression

    def __attrs_post_init__(self) -> None:
        _check_operation("EXP007", self.operation, UNARY)


@record
class Comparison(_Operators):
    """A comparison of two values (Comparisons), or a test of whether a value begins with a constant prefix (Tests)."""

    operation: Operation
    left: ValueExpression
    right: ValueExpression

    def __attrs_post_init__(self) -> None:
        _check_operation("EXP008", self.operation, COMPARING)


@record
class SetTest(_Operators):
    """A test of whether a value equals one of several constants, or none of them (Tests)."""

    operation: Operation
    child: ValueExpression
    values: tuple[Literal, ...] = attrs.field(converter=tuple)

    def __attrs_post_init__(self) -> None:
        _check_operation("EXP007", self.operation, SETS)


Predicate: TypeAlias = Constant | Not | And | Or | Test | Comparison | SetTest


def not_(child: Any) -> Any:
    """Negate a predicate, bound or not; a constant or a Not is simplified.

    Args:
        child: the predicate.

    Returns:
        Its negation.
    """
    match child:
        case Constant(value):
            return FALSE if value else TRUE
        case Not(inner):
            return inner
        case _:
            return Not(child)


def and_(left: Any, right: Any) -> Any:
    """Join two predicates, bound or not, with AND; constants are simplified.

    Args:
        left: a predicate.
        right: a predicate.

    Returns:
        A predicate that is true if both are.
    """
    if left == FALSE or right == FALSE:
        return FALSE
    if left == TRUE:
        return right
    return left if right == TRUE else And(left, right)


def or_(left: Any, right: Any) -> Any:
    """Join two predicates, bound or not, with OR; constants are simplified.

    Args:
        left: a predicate.
        right: a predicate.

    Returns:
        A predicate that is true if at least one of them is.
    """
    if left == TRUE or right == TRUE:
        return TRUE
    if left == FALSE:
        return right
    return left if right == FALSE else Or(left, right)
