"""Filters as text, in the syntax of SQL conditions: ``id < 20 AND name IS NOT NULL``.

The text is parsed by sqlglot. Conditions that predicates of the spec cannot express are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import reduce
from typing import Any

import sqlglot
from sqlglot import exp

from conformance.core.failures import UsageError
from spec_ref.data_types.types import Type, kind
from spec_ref.expressions.columns import ColumnReference, col
from spec_ref.expressions.predicates import FALSE, TRUE, Predicate
from spec_ref.schemas.schema import Schema

MAX_TEXT = 100_000
"""The maximum number of characters of a filter."""

MAX_NUMBER = 1_000
"""The maximum number of characters of a number in a filter. Python converts no integer of more than 4,300 digits."""

_COMPARED: dict[type[exp.Expr], Callable[[ColumnReference, Any], Any]] = {
    exp.LT: ColumnReference.__lt__,
    exp.LTE: ColumnReference.__le__,
    exp.GT: ColumnReference.__gt__,
    exp.GTE: ColumnReference.__ge__,
    exp.EQ: ColumnReference.__eq__,
    exp.NEQ: ColumnReference.__ne__,
}
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}


def parse_filter(text: str, schema: Schema, *, case_sensitive: bool = True) -> Predicate:
    """Parse a filter.

    Args:
        text: a condition: comparisons of columns with constants or columns, ``IN``, ``BETWEEN``, ``IS NULL``,
            ``LIKE 'prefix%'``, ``starts_with(column, 'prefix')``, ``is_nan(column)``, joined with ``AND``, ``OR`` and
            ``NOT``.
        schema: the schema of the table, which gives numbers and times in the text their types.
        case_sensitive: whether names must be spelled as in the schema.

    Returns:
        The unbound predicate. Its meaning is that of the spec, which differs from SQL: for null, every test except IS
        NULL is false and its negation is true (EXP012), so that ``id <> 5`` is true if id is null.

    Raises:
        UsageError: the text is not a condition, or predicates of the spec cannot express it.
    """
    if len(text) > MAX_TEXT:
        raise UsageError(f"the filter has {len(text)} characters; at most {MAX_TEXT} are allowed")
    try:
        tree = sqlglot.parse_one(text)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        details = getattr(error, "errors", None)
        if not details:
            raise UsageError(f"filter {text!r}: the text is not a condition") from None
        reason, place = details[0]["description"], details[0]["highlight"]
        if reason.startswith("Required keyword"):  # the reason names a class of sqlglot
            reason = "an operand is missing"
        raise UsageError(f"filter {text!r}: {reason} at {place!r}") from None
    try:
        predicate: Predicate = _Parser(text, schema, case_sensitive).predicate(tree)
    except RecursionError:
        raise UsageError(f"filter {text[:100]!r}: the condition is nested too deeply") from None
    return predicate


_OPERANDS = frozenset({"this", "expression"})
_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.In: frozenset({"this", "expressions"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Like: _OPERANDS | {"negate"},
}
"""The supported arguments of sqlglot's nodes, for each node with arguments besides operands."""

_TIMES = (exp.DType.DATE, exp.DType.TIME, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.DATETIME)
_NO_OFFSET = re.compile(r"T[0-9:.]+Z?$")
"""The end of a time without an offset, or with Z for UTC."""

_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


class _Parser:
    def __init__(self, text: str, schema: Schema, case_sensitive: bool) -> None:
        self.text = text
        self.schema = schema
        self.case_sensitive = case_sensitive

    def refusal(self, node: exp.Expr, reason: str) -> UsageError:
        return UsageError(f"filter {self.text[:200]!r}: {node.sql()[:200]}: {reason}")

    def predicate(self, node: exp.Expr) -> Any:
        # Otherwise, unknown arguments of a newer sqlglot would be ignored.
        known = _ARGUMENTS.get(type(node), _OPERANDS)
        if unknown := sorted(name for name, value in node.args.items() if value and name not in known):
            raise self.refusal(node, f"predicates of the spec have no {', '.join(unknown)}")
        match node:
            case exp.Paren():
                return self.predicate(node.this)
            case exp.And():
                return reduce(lambda left, right: left & right, map(self.predicate, node.flatten()))
            case exp.Or():
                return reduce(lambda left, right: left | right, map(self.predicate, node.flatten()))
            case exp.Not():
                return ~self.predicate(node.this)
            case exp.Boolean():
                return TRUE if node.this else FALSE
            case exp.Is():
                return self.is_null(node)
            case exp.IsNan():
                return self.column(node.this).is_nan()
            case exp.In() if node.expressions:
                column = self.column(node.this)
                return column.is_in([self.constant(one, column) for one in node.expressions])
            case exp.Between():
                column = self.column(node.this)
                low, high = (self.constant(node.args[name], column) for name in ("low", "high"))
                return (column >= low) & (column <= high)
            case exp.Like():
                test = self.column(node.this).starts_with(self.prefix(node))
                return ~test if node.args.get("negate") else test
            case exp.StartsWith():
                return self.column(node.this).starts_with(self.string(node.expression))
        if type(node) in _COMPARED:
            return self.comparison(node)
        raise self.refusal(node, "not a condition that predicates of the spec have")

    def comparison(self, node: exp.Expr) -> Any:
        left, right = node.this.unnest(), node.expression.unnest()
        kind_: type[exp.Expr] = type(node)
        if not isinstance(left, exp.Column):
            left, right, kind_ = right, left, _MIRRORED[kind_]
        column = self.column(left)
        value = self.column(right) if isinstance(right, exp.Column) else self.constant(right, column)
        return _COMPARED[kind_](column, value)

    def is_null(self, node: exp.Is) -> Any:
        if not isinstance(node.expression, exp.Null):
            raise self.refusal(node, "expected IS NULL or IS NOT NULL")
        return self.column(node.this).is_null()

    def column(self, node: exp.Expr) -> ColumnReference:
        node = node.unnest()
        if isinstance(node, exp.Column):
            return col(".".join(part.name for part in node.parts))
        if isinstance(node, exp.Dot):
            return col(".".join(part.name for part in node.parts))
        raise self.refusal(node, "expected the name of a column")

    def column_type(self, column: ColumnReference) -> Type | None:
        if self.case_sensitive:
            found = self.schema.find_name(column.name)
        else:
            found = next((one for one in self.schema.columns() if one.name.lower() == column.name.lower()), None)
        return None if found is None else found.type

    def constant(self, node: exp.Expr, column: ColumnReference) -> Any:
        type_ = self.column_type(column)
        name = "" if type_ is None else kind(type_)
        match node.unnest():
            case exp.Neg() as negative if isinstance(negative.this, exp.Literal) and not negative.this.is_string:
                return -self.number(negative.this, name)
            case exp.Literal() as literal if literal.is_string:
                return self.converted(literal.this, name)
            case exp.Literal() as literal:
                return self.number(literal, name)
            case exp.Boolean() as boolean:
                return bool(boolean.this)
            case exp.Cast() as cast if (
                cast.to.this in _TIMES and isinstance(cast.this, exp.Literal) and cast.this.is_string
            ):
                return self.converted(cast.this.this, name)
        raise self.refusal(node, "expected a constant")

    def number(self, node: exp.Literal, name: str) -> int | float | Decimal:
        text = node.this
        if len(text) > MAX_NUMBER:
            raise self.refusal(node, f"the number has {len(text)} characters; at most {MAX_NUMBER} are allowed")
        try:
            if name == "decimal":
                return Decimal(text)
            return int(text) if text.isdigit() else float(text)
        except (ValueError, InvalidOperation):
            raise self.refusal(node, "the number cannot be represented") from None

    def converted(self, text: str, name: str) -> Any:
        """Convert a string constant: ISO 8601 for times, with a space or a T between date and time."""
        if name.startswith("timestamp") and len(text) > 10 and text[10] == " ":
            text = f"{text[:10]}T{text[11:]}"
        if name.startswith("timestamp") and len(text) == 10:
            text += "T00:00:00"
        if name.startswith("timestamptz"):
            text = f"{text.removesuffix('Z')}+00:00" if _NO_OFFSET.search(text) else text
        return Decimal(text) if name == "decimal" and _DECIMAL.fullmatch(text) else text

    def string(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Literal) and node.is_string:
            return str(node.this)
        raise self.refusal(node, "expected a string")

    def prefix(self, node: exp.Like) -> str:
        text = self.string(node.expression)
        if not text.endswith("%") or any(character in text[:-1] for character in "%_\\"):
            raise self.refusal(node, "only LIKE with a prefix, such as 'abc%', is a predicate of the spec")
        return text[:-1]
