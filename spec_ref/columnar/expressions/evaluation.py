"""Predicates evaluated on Arrow tables: the kernel for `spec_ref.expressions.bound.evaluate`.

A column is found by the names along the path of its field, so the table has the names of the bound schema. The result
has no nulls, because predicates are two-valued.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.columnar.arrow_types import ARROW_TYPES, ArrowColumn, check_values, map_chunks
from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.types import DecimalType, FixedType, Type, kind
from spec_ref.expressions.bound import (
    BoundChoice,
    BoundComparison,
    BoundConstant,
    BoundPredicate,
    BoundPromotion,
    BoundReference,
    BoundSetTest,
    BoundTerm,
    BoundTermComparison,
    BoundTest,
    BoundTransform,
    evaluate_leaf,
    has_nan,
)
from spec_ref.expressions.predicates import And, Constant, Not, Operation, Or

Table: TypeAlias = Any
"""A `pyarrow.Table` or `pyarrow.RecordBatch`."""

_O = Operation


def evaluate_array(predicate: BoundPredicate, table: Table) -> Any:
    """Evaluate a predicate on the rows of a table.

    Args:
        predicate: a bound predicate.
        table: an Arrow table or record batch with the columns of the bound schema by name; others are ignored.

    Returns:
        A `pyarrow.BooleanArray` without nulls, one value per row.

    Raises:
        SpecError: EXP003 where a column is missing; the code of the type where its Arrow type or a value is not of it;
            EVO006 where a value is outside the range of the promoted type; what the scalar definition raises.
    """
    if isinstance(table, pa.RecordBatch):
        return _array(_evaluate(predicate, table))
    batches = [_array(_evaluate(predicate, batch)) for batch in table.to_batches()]
    return pa.concat_arrays(batches) if batches else pa.array([], pa.bool_())


def _array(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _all(value: bool, batch: Any) -> Any:
    return pa.array(np.full(batch.num_rows, value))


def _evaluate(predicate: BoundPredicate, batch: Any) -> Any:
    match predicate:
        case Constant(value):
            return _all(value, batch)
        case Not(child):
            return pc.invert(_evaluate(child, batch))
        case And(left, right):
            return pc.and_(_evaluate(left, batch), _evaluate(right, batch))
        case Or(left, right):
            return pc.or_(_evaluate(left, batch), _evaluate(right, batch))
        case BoundTermComparison(operation, left, right):
            return _compare(operation, left.type, _values(left, batch), _values(right, batch))
        case BoundTest(operation, term):
            return _test(operation, term.type, _values(term, batch))
        case BoundComparison() | BoundSetTest():
            column = _values(predicate.term, batch)
            found = map_chunks(predicate.term.type, column, pa.bool_(), lambda array: _constants(predicate, array))
            return pc.fill_null(found, evaluate_leaf(predicate, None))


def _test(operation: Operation, type_: Type, column: ArrowColumn) -> Any:
    if operation in (_O.IS_NULL, _O.NOT_NULL):
        return pc.is_null(column) if operation is _O.IS_NULL else pc.is_valid(column)
    nan = pc.fill_null(map_chunks(type_, column, pa.bool_(), pc.is_nan), False)  # noqa: FBT003
    return nan if operation is _O.IS_NAN else pc.invert(nan)


_KERNELS: dict[Operation, Callable[[Any, Any], Any]] = {
    _O.LT: pc.less,
    _O.LT_EQ: pc.less_equal,
    _O.GT: pc.greater,
    _O.GT_EQ: pc.greater_equal,
    _O.EQ: pc.equal,
    _O.NOT_EQ: pc.not_equal,
}
"""The comparisons of Arrow: text and bytes as unsigned bytes, floats as IEEE 754; null gives null."""


def _constants(leaf: BoundComparison | BoundSetTest, array: Any) -> Any:
    """Compare a plain array with constants; the result is null where the array is."""
    operation = leaf.operation
    if isinstance(leaf, BoundSetTest):
        equal = (pc.equal(array, _scalar(leaf.term.type, value, array.type)) for value in leaf.values)
        found: Any = reduce(lambda left, right: pc.or_(left, right), equal)
        return found if operation is _O.IN else pc.invert(found)
    if operation in (_O.STARTS_WITH, _O.NOT_STARTS_WITH):
        found = pc.starts_with(array, leaf.value)
        return found if operation is _O.STARTS_WITH else pc.invert(found)
    return _KERNELS[operation](array, _scalar(leaf.term.type, leaf.value, array.type))


def _scalar(type_: Type, value: Any, arrow_type: Any) -> Any:
    return pa.scalar(value.bytes if kind(type_) == "uuid" else value, arrow_type)


def _compare(operation: Operation, type_: Type, left: ArrowColumn, right: ArrowColumn) -> Any:
    """Compare two columns of one type; null equals null, and NaN equals NaN (EXP008, EXP010)."""
    left, right = _comparable(type_, left), _comparable(type_, right)
    found: Any = pc.fill_null(_KERNELS[operation](left, right), False)  # noqa: FBT003
    if operation in (_O.LT, _O.GT):
        return found
    same: Any = pc.and_(pc.is_null(left), pc.is_null(right))
    differ = pc.xor(pc.is_null(left), pc.is_null(right))
    if has_nan(type_):
        both_nan: Any = pc.and_(pc.is_nan(left), pc.is_nan(right))
        same = pc.or_(same, pc.fill_null(both_nan, False))  # noqa: FBT003
    if operation is _O.NOT_EQ:
        return pc.and_not(pc.or_(found, differ), same)
    return pc.or_(found, same)


_COMPARED_TYPES: dict[str, Any] = {
    **ARROW_TYPES,
    "unknown": pa.bool_(),  # every value is null, so any type that Arrow compares is suitable
    "string": pa.large_string(),
    "uuid": pa.binary(16),
    "binary": pa.large_binary(),
}


def _arrow_type(type_: Any) -> Any:
    """Find the common Arrow type of columns of a type."""
    match type_:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case FixedType(length):
            return pa.binary(length)
        case _:
            return _COMPARED_TYPES[kind(type_)]


def _comparable(type_: Type, column: ArrowColumn) -> Any:
    """Convert a column to the common layout of columns of its type."""
    check_values(type_, column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    return column.cast(_arrow_type(type_))


# Terms


def _values(term: BoundTerm, batch: Any) -> ArrowColumn:
    match term:
        case BoundReference():
            return _column(term, batch)
        case BoundTransform(transform, child):
            return transform_array(transform, child.type, _values(child, batch))
        case BoundConstant(value, type_):
            constant = value.bytes if isinstance(value, uuid.UUID) else value
            return pa.repeat(pa.scalar(constant, _arrow_type(type_)), batch.num_rows)
        case BoundPromotion(child, type_):
            narrow = _comparable(child.type, _values(child, batch))
            try:
                return narrow.cast(_arrow_type(type_))
            except pa.ArrowInvalid as error:
                raise spec_error(
                    "EVO006", f"a value is outside the range of {type_}", found=Description(str(error))
                ) from error
        case BoundChoice(condition, when_true, when_false):
            first, second = (_comparable(term.type, _values(side, batch)) for side in (when_true, when_false))
            return pc.if_else(_evaluate(condition, batch), first, second)


def _column(reference: BoundReference, batch: Any) -> ArrowColumn:
    first, *rest = reference.names
    if first not in batch.schema.names:
        raise spec_error("EXP003", "the table does not have a column for the field", found=".".join(reference.names))
    column = batch.column(first)
    for name in rest:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(name) < 0:
            raise spec_error(
                "EXP003", "the table does not have a column for the field", found=".".join(reference.names)
            )
        column = pc.struct_field(column, name)
    return column
