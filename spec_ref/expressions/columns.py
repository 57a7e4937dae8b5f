"""Predicates in Python's own syntax: ``(col("id") < 20) & col("name").not_null()``.

The operators make the records that `spec_ref.expressions.expression_json` also reads. A constant keeps the JSON
single-value form (Appendix D) of its Python value; binding gives it the type of the column.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import attrs

from spec_ref.data_types.types import DecimalType
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation, SetTest, Test

PythonValue = bool | int | float | Decimal | str | bytes | uuid.UUID | datetime.date | datetime.time | datetime.datetime
"""The Python types that constants of predicates may have."""


def literal(value: PythonValue) -> Literal:
    """Make the constant of a predicate.

    Args:
        value: a Python value. A `datetime.datetime` with a time zone is a constant for timestamptz columns, and one
            without a time zone is a constant for timestamp columns; bytes are constants for binary and fixed columns.

    Returns:
        The constant. Only a `decimal.Decimal` has a type; for all others it is None, and binding uses that of the
        column.

    Raises:
        TypeError: the value has a type that constants do not have.
    """
    match value:
        case bool() | int() | float() | str():
            return Literal(value)
        case Decimal():
            return _decimal(value)
        case bytes():
            return Literal(value.hex())
        case uuid.UUID():
            return Literal(str(value))
        case datetime.datetime() if value.tzinfo is not None:
            return Literal(value.astimezone(datetime.UTC).isoformat())
        case datetime.datetime() | datetime.date():
            return Literal(value.isoformat())
        case datetime.time() if value.tzinfo is None:
            return Literal(value.isoformat())
    raise TypeError(f"a constant of a predicate cannot have the type {type(value).__name__}: {value!r}")


def _decimal(value: Decimal) -> Literal:
    """A decimal constant has a type, so that it is aligned exactly with decimal columns of any scale."""
    if not value.is_finite():
        raise TypeError(f"a decimal constant must be a finite number, not {value}")
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    return Literal(f"{value:f}", DecimalType(max(len(digits) + max(0, int(exponent)), scale, 1), scale))


@attrs.frozen(eq=False)
class ColumnReference:
    """A column in a predicate; comparison operators make predicates from it.

    Attributes:
        name: the name of the column, with dots for the fields of structs.
    """

    name: str

    def __lt__(self, value: PythonValue) -> Comparison:
        return self._compare(Operation.LT, value)

    def __le__(self, value: PythonValue) -> Comparison:
        return self._compare(Operation.LT_EQ, value)

    def __gt__(self, value: PythonValue) -> Comparison:
        return self._compare(Operation.GT, value)

    def __ge__(self, value: PythonValue) -> Comparison:
        return self._compare(Operation.GT_EQ, value)

    def __eq__(self, value: PythonValue) -> Comparison:  # type: ignore[override]
        return self._compare(Operation.EQ, value)

    def __ne__(self, value: PythonValue) -> Comparison:  # type: ignore[override]
        return self._compare(Operation.NOT_EQ, value)

    __hash__ = None  # type: ignore[assignment]

    def is_null(self) -> Test:
        """Make a predicate that is true where the column is null."""
        return Test(Operation.IS_NULL, self._term)

    def not_null(self) -> Test:
        """Make a predicate that is true where the column is not null."""
        return Test(Operation.NOT_NULL, self._term)

    def is_nan(self) -> Test:
        """Make a predicate that is true where the column is NaN."""
        return Test(Operation.IS_NAN, self._term)

    def not_nan(self) -> Test:
        """Make a predicate that is true where the column is not NaN."""
        return Test(Operation.NOT_NAN, self._term)

    def is_in(self, values: Iterable[PythonValue]) -> SetTest:
        """Make a predicate that is true where the column equals one of the constants.

        Args:
            values: the constants.

        Returns:
            The predicate.
        """
        return SetTest(Operation.IN, self._term, tuple(map(literal, values)))

    def not_in(self, values: Iterable[PythonValue]) -> SetTest:
        """Make a predicate that is true where the column equals none of the constants.

        Args:
            values: the constants.

        Returns:
            The predicate.
        """
        return SetTest(Operation.NOT_IN, self._term, tuple(map(literal, values)))

    def starts_with(self, prefix: str) -> Comparison:
        """Make a predicate that is true where the column, a string, begins with a prefix.

        Args:
            prefix: the prefix.

        Returns:
            The predicate.
        """
        return self._compare(Operation.STARTS_WITH, prefix)

    def not_starts_with(self, prefix: str) -> Comparison:
        """Make a predicate that is true where the column, a string, does not begin with a prefix.

        Args:
            prefix: the prefix.

        Returns:
            The predicate.
        """
        return self._compare(Operation.NOT_STARTS_WITH, prefix)

    @property
    def _term(self) -> NamedReference:
        return NamedReference(self.name)

    def _compare(self, operation: Operation, value: Any) -> Comparison:
        if isinstance(value, ColumnReference):
            return Comparison(operation, self._term, value._term)
        return Comparison(operation, self._term, literal(value))


def col(name: str) -> ColumnReference:
    """Name a column of a predicate.

    Args:
        name: the name of the column, with dots for the fields of structs.

    Returns:
        The column, from which comparison operators make predicates, as in ``col("id") < 20``.

    Raises:
        TypeError: the name is not a string.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a column must be a str, not {type(name).__name__}")
    return ColumnReference(name)
