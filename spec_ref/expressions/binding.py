"""Bind predicates to a schema (Iceberg Expressions, Field reference, Value expression types).

Binding resolves references to fields and functions to partition transforms, and converts constants to the type of the
values that they are compared with. A predicate that is impossible for its types is refused, never decided silently.
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import Description, error_path, spec_error
from spec_ref.core.records import record
from spec_ref.data_types.types import ListType, MapType
from spec_ref.expressions.alignment import align_terms
from spec_ref.expressions.bound import (
    BoundChoice,
    BoundConstant,
    BoundPredicate,
    BoundReference,
    BoundTerm,
    BoundTermComparison,
    BoundTest,
    BoundTransform,
    has_nan,
)
from spec_ref.expressions.literals import bind_comparison, bind_set_test, check_comparable
from spec_ref.expressions.predicates import (
    FALSE,
    ICEBERG_FUNCTIONS,
    MAX_DEPTH,
    PREFIX,
    TRUE,
    And,
    Apply,
    Comparison,
    Constant,
    FunctionReference,
    IdReference,
    Literal,
    NamedReference,
    Not,
    Operation,
    Or,
    Predicate,
    SetTest,
    Test,
    ValueExpression,
    and_,
    not_,
    or_,
)
from spec_ref.partitioning.transforms import PARAMETERIZED, Day, Hour, Identity, Month, Transform, Year
from spec_ref.schemas.schema import Column, Schema
from spec_ref.single_value.json_value import from_json

_O = Operation

_FLIPPED: dict[Operation, Operation] = {
    _O.LT: _O.GT,
    _O.LT_EQ: _O.GT_EQ,
    _O.GT: _O.LT,
    _O.GT_EQ: _O.LT_EQ,
    _O.EQ: _O.EQ,
    _O.NOT_EQ: _O.NOT_EQ,
}
"""The equivalent operation with the sides exchanged."""

_PLAIN: dict[str, Transform] = {str(transform): transform for transform in (Identity(), Year(), Month(), Day(), Hour())}


def bind(predicate: Predicate, schema: Schema, *, case_sensitive: bool = True) -> BoundPredicate:
    """Bind a predicate to the columns of a schema.

    Args:
        predicate: a predicate with references by name or by id.
        schema: the schema of the rows.
        case_sensitive: whether names have to be spelled as in the schema.

    Returns:
        The bound predicate, without constants inside logical operations.

    Raises:
        SpecError: EXP001 or EXP002 for a predicate in the place of a value or the reverse; EXP003 for a field that the
            schema does not have, has twice (by a name in any case), or has inside a list or map; EXP004 or EXP014 for a
            function that is not a partition transform; EXP006 to EXP009 for types or constants that cannot be compared;
            EXP015 for more than `MAX_DEPTH` levels; EXP016 for a constant without a type where nothing implies one; the
            code of the transform or the type if they do not fit.
    """
    return _Binder(schema, case_sensitive).predicate(predicate, 0)


@record
class _Binder:
    schema: Schema
    case_sensitive: bool

    def predicate(self, predicate: Predicate, depth: int) -> BoundPredicate:
        _check_depth(depth)
        match predicate:
            case Constant():
                return predicate
            case Not(child):
                with error_path("/child"):
                    return not_(self.predicate(child, depth + 1))  # type: ignore[no-any-return]
            case And(left, right) | Or(left, right):
                join = and_ if isinstance(predicate, And) else or_
                with error_path("/left"):
                    first = self.predicate(left, depth + 1)
                with error_path("/right"):
                    return join(first, self.predicate(right, depth + 1))  # type: ignore[no-any-return]
            case Test(operation, child):
                term = self.term(child, depth)
                if operation in (_O.IS_NAN, _O.NOT_NAN) and not has_nan(term.type):
                    raise spec_error("EXP007", "the type has no NaN", found=Description(str(term.type)))
                return BoundTest(operation, term)
            case Comparison():
                return self._comparison(predicate, depth)
            case SetTest(operation, child, values):
                return bind_set_test(operation, self.term(child, depth), values)
            case _:
                raise spec_error("EXP002", "the value is not a predicate", found=predicate)

    def _comparison(self, predicate: Comparison, depth: int) -> BoundPredicate:
        operation, left, right = predicate.operation, predicate.left, predicate.right
        if isinstance(right, Literal):
            return bind_comparison(operation, self.term(left, depth), right)
        if operation in PREFIX:
            raise spec_error("EXP007", "the prefix is not a constant", found=right)
        if isinstance(left, Literal):
            return bind_comparison(_FLIPPED[operation], self.term(right, depth), left)
        first, second = self.term(left, depth), self.term(right, depth)
        check_comparable(first.type)
        check_comparable(second.type)
        return BoundTermComparison(operation, *align_terms(first, second))

    def term(self, expression: ValueExpression | Predicate, depth: int) -> BoundTerm:
        _check_depth(depth)
        match expression:
            case NamedReference(name):
                return _reference(self._find_by_name(name))
            case IdReference(field_id):
                column = self.schema.find(field_id)
                if column is None:
                    raise spec_error("EXP003", "the schema does not have a field with the id", found=field_id)
                return _reference(column)
            case Literal(value, type_):
                if type_ is None:
                    raise spec_error("EXP016", "the type of the constant is missing", found=value)
                return BoundConstant(from_json(type_, value), type_)
            case Apply(function, arguments):
                return self._call(function, arguments, depth + 1)
            case _:
                raise spec_error("EXP001", "a predicate is not a value expression", found=expression)

    def _find_by_name(self, name: str) -> Column:
        if self.case_sensitive:
            found = [column for column in self.schema.columns() if column.name == name]
        else:
            found = [column for column in self.schema.columns() if column.name.lower() == name.lower()]
        if not found:
            raise spec_error("EXP003", "the schema does not have a field with the name", found=name)
        if len(found) > 1:
            raise spec_error("EXP003", "several fields of the schema match the name", found=name)
        return found[0]

    def _call(self, function: FunctionReference, arguments: tuple[Any, ...], depth: int) -> BoundTerm:
        if function.catalog != ICEBERG_FUNCTIONS or len(function.identifier) != 1:
            raise spec_error("EXP004", "the function is unknown", found=function, expected=ICEBERG_FUNCTIONS)
        (name,) = function.identifier
        match name, arguments:
            case "if_else", (condition, when_true, when_false):
                return self._choice(condition, when_true, when_false, depth)
            case _, (value,) if name in _PLAIN:
                return self._transform(_PLAIN[name], value, depth)
            case _, (Literal(parameter), value) if name in PARAMETERIZED:
                return self._transform(PARAMETERIZED[name](parameter), value, depth)
            case _:
                found = Description(f"{name} of {len(arguments)} arguments")
                raise spec_error("EXP014", "the function is unknown", found=found)

    def _transform(self, transform: Transform, value: Any, depth: int) -> BoundTerm:
        child = self.term(value, depth)
        return BoundTransform(transform, child, transform.result_type(child.type))

    def _choice(self, condition: Any, when_true: Any, when_false: Any, depth: int) -> BoundTerm:
        match condition:
            case Literal(bool(value)):  # an argument ``true`` is read as a constant, and is a predicate here
                bound: BoundPredicate = TRUE if value else FALSE
            case _:
                bound = self.predicate(condition, depth)
        first, second = align_terms(self.term(when_true, depth), self.term(when_false, depth))
        return BoundChoice(bound, first, second, first.type)


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise spec_error("EXP015", "the expression is nested too deeply", expected=f"at most {MAX_DEPTH} levels")


def _reference(column: Column) -> BoundReference:
    around = (*column.parents, column)
    if any(isinstance(parent.type, (ListType, MapType)) for parent in column.parents):
        raise spec_error("EXP003", "the field is inside a list or map", found=column.name)
    names = tuple(one.field.name for one in around if one.field is not None)
    return BoundReference(tuple(one.id for one in around), names, column.type)
