"""Predicates of a request as the filters of engines: SQL in their dialects, or what an engine builds expressions with.

The logic of Iceberg's predicates is two-valued: each of them is true or false for null and NaN too. So that an engine
evaluates exactly this, a predicate is first converted to a form without negation that tests for null and NaN
explicitly (`normal`): a leaf there must be true where it says so, and may be false or null elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.predicates import older_form
from conformance.adapter_sdk.serve import Unsupported
from conformance.core.json_types import Json

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
"""What is true of an ordinary value where the comparison is false."""

TRUE_OF_NULL = ("not-eq", "not-in", "not-starts-with", "not-nan")
NAN_COUNTS = ("gt", "gt-eq")
"""Comparisons that engines which put NaN after all numbers hold true of it."""

FLOATS = ("float", "double")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One predicate of one column. It need not be false where the column is null: null is as good."""

    op: str
    path: tuple[str, ...]
    """The names from the column to the field in it."""

    type: Json
    """Its type; None where the schema has no such field, for the engine to say so."""

    constants: tuple[Any, ...] = ()
    """As `native` has values."""


@dataclass(frozen=True, slots=True)
class Both:
    """Two predicates joined by ``and`` or ``or``."""

    word: str
    left: Normal
    right: Normal


Normal = Leaf | Both | bool


def normal(predicate: Json, fields: list[dict[str, Json]]) -> Normal:
    """A predicate without negations.

    Args:
        predicate: its JSON, in either form.
        fields: the columns of the schema.

    Raises:
        Unsupported: it says what no filter of an engine says.
    """
    return _normal(older_form(predicate, fields), fields, holds=True)


def _normal(predicate: Json, fields: list[dict[str, Json]], *, holds: bool) -> Normal:
    match predicate:
        case bool():
            return predicate is holds
        case {"type": "not", "child": child}:
            return _normal(child, fields, holds=not holds)
        case {"type": "and" | "or" as word, "left": left, "right": right}:
            joined = word if holds else {"and": "or", "or": "and"}[word]
            return _joined(joined, _normal(left, fields, holds=holds), _normal(right, fields, holds=holds))
        case {"type": str(op), "term": str(name)} if op in NEGATED or op in OPPOSITE:
            path, type_ = _field(name, fields)
            given = predicate.get("values", [predicate["value"]] if "value" in predicate else [])
            constants = tuple(constant if type_ is None else native.read(type_, constant) for constant in given)
            return _leaf(op, path, type_, constants, holds=holds)
        case {"term": dict()}:
            raise Unsupported("filters are of columns, not of transforms of columns")
    raise Unsupported("no filter says this")


def _joined(word: str, left: Normal, right: Normal) -> Normal:
    deciding = word == "or"
    if isinstance(left, bool) or isinstance(right, bool):
        if deciding in (left, right):
            return deciding
        return right if isinstance(left, bool) else left
    return Both(word, left, right)


def _leaf(op: str, path: tuple[str, ...], type_: Json, constants: tuple[Any, ...], *, holds: bool) -> Normal:
    def leaf(name: str) -> Leaf:
        return Leaf(name, path, type_, () if name in _TESTS else constants)

    has_nan = native.kind(type_) in FLOATS
    if not holds:
        if op in OPPOSITE:
            # `x < c` is false of null and of NaN, so they match its negation.
            made: Normal = Both("or", leaf(OPPOSITE[op]), leaf("is-null"))
            return Both("or", made, leaf("is-nan")) if has_nan else made
        op = NEGATED[op]
    if op in ("in", "not-in") and not constants:
        return op == "not-in"
    if op in TRUE_OF_NULL:
        return Both("or", leaf(op), leaf("is-null"))
    if op in NAN_COUNTS and has_nan:
        return Both("and", leaf(op), leaf("not-nan"))
    return leaf(op)


_TESTS = ("is-null", "not-null", "is-nan", "not-nan")


def _field(name: str, fields: list[dict[str, Json]]) -> tuple[tuple[str, ...], Json]:
    """Where a full name leads, and its type; a column whose own name has dots comes first."""
    for field in fields:
        if field["name"] == name:
            return (name,), field["type"]
        inside = field["type"].get("fields") if isinstance(field["type"], dict) else None
        if inside and name.startswith(field["name"] + "."):
            path, type_ = _field(name[len(field["name"]) + 1 :], inside)
            if type_ is not None:
                return (field["name"], *path), type_
    return (name,), None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one engine writes filters in SQL."""

    name: str
    quote: str = '"'
    """The quote around names of columns; doubled inside a name."""

    inside: str = ".{quoted}"
    """How a field of a struct is reached: ``{quoted}`` is its name as an identifier, ``{string}`` as a text."""

    is_nan: str = "isnan({column})"
    starts_with: str = "starts_with({column}, {constant})"
    escapes_backslash: bool = False
    """Whether a backslash in a text has to be doubled."""

    nul: str = ""
    """What a NUL is replaced with inside of a text, where SQL cannot have one; nothing where it can."""

    literals: Mapping[str, str] | None = None
    """By type, how a constant is written: ``{text}`` is its exchange form, ``{string}`` that as a text, ``{hex}`` that
    without hyphens, ``{type}`` the Iceberg type."""


COMPARED = {"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "<>"}
_PLAIN = {"boolean": "{text}", "int": "{text}", "long": "{text}", "string": "{string}"}


def sql_of(predicate: Json, fields: list[dict[str, Json]], dialect: Dialect) -> str:
    """The condition that says the same as a predicate.

    Raises:
        Unsupported: the dialect has no words for it.
    """
    return _sql(normal(predicate, fields), dialect)


def _sql(made: Normal, dialect: Dialect) -> str:
    match made:
        case bool():
            return "1 = 1" if made else "1 = 0"
        case Both(word, left, right):
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


def select_of(
    args: dict[str, Json],
    source: str,
    dialect: Dialect,
    fields: Callable[[], list[dict[str, Json]]],
    columns: Mapping[str, str] | None = None,
) -> str:
    """The query that a request of ``table.read`` is.

    Args:
        args: the request's arguments.
        source: what is read, in SQL.
        dialect: the engine's SQL.
        fields: gives the columns of the schema; asked only where there is a filter.
        columns: what the engine calls columns that have another name there.

    Raises:
        Unsupported: the dialect has no words for the filter.
    """
    names = args.get("select")
    renamed = columns or {}
    listed = "*" if names is None else ", ".join(identifier((renamed.get(name, name),), dialect) for name in names)
    query = f"SELECT {listed} FROM {source}"  # noqa: S608 - every part is quoted
    return f"{query} WHERE {sql_of(args['filter'], fields(), dialect)}" if "filter" in args else query


def identifier(path: tuple[str, ...], dialect: Dialect) -> str:
    """A column, or a field in it."""
    quoted = [f"{dialect.quote}{name.replace(dialect.quote, dialect.quote * 2)}{dialect.quote}" for name in path]
    inner = (
        dialect.inside.format(quoted=quoted[index], string=text(path[index], dialect)) for index in range(1, len(path))
    )
    return quoted[0] + "".join(inner)


def text(value: str, dialect: Dialect) -> str:
    """A text in SQL."""
    if dialect.escapes_backslash:  # Spark 3 takes '' between two texts for nothing
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    quoted = "'" + value.replace("'", "''") + "'"
    return "(" + quoted.replace("\0", dialect.nul) + ")" if dialect.nul and "\0" in value else quoted


def _literal(type_: Json, constant: Any, dialect: Dialect) -> str:
    name = native.kind(type_)
    form = {**_PLAIN, **(dialect.literals or {})}.get(name)
    if type_ is None or isinstance(type_, dict):  # no such column, or none that is compared: the engine will say so
        return text(str(constant), dialect)
    if form is None:
        raise Unsupported(f"{dialect.name} has no constants of {name}")
    told = native.write(type_, constant)
    told = {True: "TRUE", False: "FALSE"}.get(told, told) if isinstance(told, bool) else str(told)
    return form.format(text=told, type=type_, string=text(told, dialect), hex=told.replace("-", ""))


def built(made: Normal, leaf: Callable[[Leaf], Any]) -> Any:
    """A filter of an engine whose expressions are Python objects with ``&`` and ``|``, from its leaves."""
    match made:
        case Both(word, left, right):
            sides = built(left, leaf), built(right, leaf)
            return sides[0] & sides[1] if word == "and" else sides[0] | sides[1]
        case Leaf():
            return leaf(made)
    return made
