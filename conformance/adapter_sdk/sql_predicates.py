"""Convert predicates of requests to filters of engines: SQL in their dialects, or expression objects.

The logic of Iceberg's predicates is two-valued: each of them is true or false for null and NaN too. So that an engine
evaluates exactly this, a predicate is first converted to a form without negation that tests for null and NaN
explicitly (`push_down_not`): the engine must evaluate a leaf of it to true for the rows that match, and to false or
null for others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.predicates import to_legacy_form
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.sql_dialects import Dialect, identifier, primitive_sql, string_literal
from conformance.core.moved_modules import renamed_member
from spec_ref.core.json_types import Json

NEGATED = {
    "is-null": "not-null",
    "not-null": "is-null",
    "is-nan": "not-nan",
    "not-nan": "is-nan",
    "eq": "not-eq",
    "not-eq": "eq",
    "in": "not-in",
    "not-in": "in",
    "starts-with": "not-starts-with",
    "not-starts-with": "starts-with",
}
OPPOSITE = {"lt": "gt-eq", "lt-eq": "gt", "gt": "lt-eq", "gt-eq": "lt"}
"""The negation of each comparison, for values other than null and NaN."""

TRUE_OF_NULL = ("not-eq", "not-in", "not-starts-with", "not-nan")
NAN_COUNTS = ("gt", "gt-eq")
"""Comparisons that are true for NaN in engines that order NaN after all numbers."""

FLOATS = ("float", "double")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A predicate on one column. If the column is null, its result may be null instead of false."""

    op: str
    path: tuple[str, ...]
    """The names from the column to the field in it."""

    type: Json
    """The type of the field; None if the schema has no such field, so that the engine reports it."""

    constants: tuple[Any, ...] = ()
    """The constants, as `native` represents values."""


@dataclass(frozen=True, slots=True)
class LogicalOperation:
    """Two predicates joined by ``and`` or ``or``."""

    operator: str
    left: NegationFree
    right: NegationFree


NegationFree = Leaf | LogicalOperation | bool


def push_down_not(predicate: Json, fields: list[dict[str, Json]]) -> NegationFree:
    """Convert a predicate to a form without negations.

    Args:
        predicate: its JSON, in either form.
        fields: the columns of the schema.

    Raises:
        Unsupported: filters of engines cannot express it.
    """
    return _normal(to_legacy_form(predicate, fields), fields, holds=True)


def _normal(predicate: Json, fields: list[dict[str, Json]], *, holds: bool) -> NegationFree:
    match predicate:
        case bool():
            return predicate is holds
        case {"type": "not", "child": child}:
            return _normal(child, fields, holds=not holds)
        case {"type": "and" | "or" as word, "left": left, "right": right}:
            joined = word if holds else {"and": "or", "or": "and"}[word]
            return _join(joined, _normal(left, fields, holds=holds), _normal(right, fields, holds=holds))
        case {"type": str(op), "term": str(name)} if op in NEGATED or op in OPPOSITE:
            path, type_ = _field(name, fields)
            given = predicate.get("values", [predicate["value"]] if "value" in predicate else [])
            constants = tuple(constant if type_ is None else native.read(type_, constant) for constant in given)
            return _leaf(op, path, type_, constants, holds=holds)
        case {"term": dict()}:
            raise Unsupported("filters name columns, not transforms of columns")
    raise Unsupported("no filter can express this")


def _join(word: str, left: NegationFree, right: NegationFree) -> NegationFree:
    deciding = word == "or"
    if isinstance(left, bool) or isinstance(right, bool):
        if deciding in (left, right):
            return deciding
        return right if isinstance(left, bool) else left
    return LogicalOperation(word, left, right)


def _leaf(op: str, path: tuple[str, ...], type_: Json, constants: tuple[Any, ...], *, holds: bool) -> NegationFree:
    def leaf(name: str) -> Leaf:
        return Leaf(name, path, type_, () if name in _TESTS else constants)

    has_nan = native.kind(type_) in FLOATS
    if not holds:
        if op in OPPOSITE:
            # `x < c` is false for null and NaN, so they match its negation.
            made: NegationFree = LogicalOperation("or", leaf(OPPOSITE[op]), leaf("is-null"))
            return LogicalOperation("or", made, leaf("is-nan")) if has_nan else made
        op = NEGATED[op]
    if op in ("in", "not-in") and not constants:
        return op == "not-in"
    if op in TRUE_OF_NULL:
        return LogicalOperation("or", leaf(op), leaf("is-null"))
    if op in NAN_COUNTS and has_nan:
        return LogicalOperation("and", leaf(op), leaf("not-nan"))
    return leaf(op)


_TESTS = ("is-null", "not-null", "is-nan", "not-nan")


def _field(name: str, fields: list[dict[str, Json]]) -> tuple[tuple[str, ...], Json]:
    """Resolve a full name to a path and a type; a column whose own name has dots takes precedence."""
    for field in fields:
        if field["name"] == name:
            return (name,), field["type"]
        inside = field["type"].get("fields") if isinstance(field["type"], dict) else None
        if inside and name.startswith(field["name"] + "."):
            path, type_ = _field(name[len(field["name"]) + 1 :], inside)
            if type_ is not None:
                return (field["name"], *path), type_
    return (name,), None


COMPARED = {"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "<>"}
_PLAIN = {"boolean": "{text}", "int": "{text}", "long": "{text}", "string": "{string}"}


def predicate_sql(predicate: Json, fields: list[dict[str, Json]], dialect: Dialect) -> str:
    """Return the SQL condition that is equivalent to a predicate.

    Raises:
        Unsupported: the dialect cannot express it.
    """
    return _sql(push_down_not(predicate, fields), dialect)


def _sql(made: NegationFree, dialect: Dialect) -> str:
    match made:
        case bool():
            return "1 = 1" if made else "1 = 0"
        case LogicalOperation(word, left, right):
            return f"({_sql(left, dialect)} {word.upper()} {_sql(right, dialect)})"
    column = identifier(made.path, dialect)
    constants = [_literal(made.type, constant, dialect) for constant in made.constants]
    match made.op:
        case "is-null":
            return f"{column} IS NULL"
        case "not-null":
            return f"{column} IS NOT NULL"
        case "is-nan":
            return dialect.is_nan.format(column=column)
        case "not-nan":
            return f"NOT {dialect.is_nan.format(column=column)}"
        case "starts-with":
            return dialect.starts_with.format(column=column, constant=constants[0])
        case "not-starts-with":
            return f"NOT {dialect.starts_with.format(column=column, constant=constants[0])}"
        case "in" | "not-in":
            word = "IN" if made.op == "in" else "NOT IN"
            return f"{column} {word} ({', '.join(constants)})"
    return f"{column} {COMPARED[made.op]} {constants[0]}"


def select_statement(
    args: dict[str, Json],
    source: str,
    dialect: Dialect,
    fields: Callable[[], list[dict[str, Json]]],
    columns: Mapping[str, str] | None = None,
) -> str:
    """Return the query for a request of ``table.read``.

    Args:
        args: the request's arguments.
        source: the table or subquery to read, in SQL.
        dialect: the engine's SQL.
        fields: returns the columns of the schema; called only if there is a filter.
        columns: the engine's names of columns that differ from those in the request.

    Raises:
        Unsupported: the dialect cannot express the filter.
    """
    names = args.get("select")
    renamed = columns or {}
    listed = "*" if names is None else ", ".join(identifier((renamed.get(name, name),), dialect) for name in names)
    query = f"SELECT {listed} FROM {source}"  # noqa: S608 - every part is quoted
    return f"{query} WHERE {predicate_sql(args['filter'], fields(), dialect)}" if "filter" in args else query


def _literal(type_: Json, constant: Any, dialect: Dialect) -> str:
    if type_ is None or isinstance(type_, dict):  # no such column, or not comparable: the engine reports this error
        return string_literal(str(constant), dialect)
    return primitive_sql(type_, constant, {**_PLAIN, **dialect.constants}, dialect)


def build_predicate(predicate: NegationFree, leaf: Callable[[Leaf], Any]) -> Any:
    """Build a filter for an engine whose expressions are Python objects with ``&`` and ``|``."""
    match predicate:
        case LogicalOperation(word, left, right):
            sides = build_predicate(left, leaf), build_predicate(right, leaf)
            return sides[0] & sides[1] if word == "and" else sides[0] | sides[1]
        case Leaf():
            return leaf(predicate)
    return predicate


_RENAMED = {
    "Both": "LogicalOperation",
    "Normal": "NegationFree",
    "normal": "push_down_not",
    "built": "build_predicate",
    "select_of": "select_statement",
    "sql_of": "predicate_sql",
}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)
