"""SQL of engines: how each writes names, types, constants of filters and literals of scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Unsupported
from conformance.core.moved_modules import renamed_member
from spec_ref.core.json_types import Json


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one engine writes SQL. An engine that only reads needs no `types` and `literals`."""

    name: str
    quote: str = '"'
    """The quotation mark around names of columns; doubled inside a name."""

    inside: str = ".{quoted}"
    """The SQL of a struct's field: ``{quoted}`` is its name as an identifier, ``{string}`` as a string literal."""

    is_nan: str = "isnan({column})"
    starts_with: str = "starts_with({column}, {constant})"
    escapes_backslash: bool = False
    """Whether a backslash in a string literal must be doubled."""

    nul: str = ""
    """The replacement of a NUL in a string literal, if the SQL cannot contain one; empty if it can."""

    constants: Mapping[str, str] = field(default_factory=dict)
    """The SQL of a constant of a filter, by type.

    ``{text}`` is its exchange form, ``{string}`` the same as a string literal, ``{hex}`` the same without hyphens,
    ``{number}`` the number of a date or time, ``{type}`` the Iceberg type.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    """The SQL of a type: ``{iceberg}`` is the type in upper case, ``{length}`` that of a fixed type.

    A nested type has ``{fields}``, ``{element}``, or ``{key}`` and ``{value}``; ``field`` is one of the ``{fields}``,
    with a ``{name}`` and a ``{type}``.
    """

    not_null: str = ""
    """The SQL that follows the type of a required field, element or value."""

    literals: Mapping[str, str] = field(default_factory=dict)
    """The SQL of a literal, by type, as in `constants`; ``{type}`` is the type in SQL.

    A struct has ``{items}``, or ``{pairs}`` of names and values; a list has ``{items}``; a map has ``{keys}`` and
    ``{values}``, or ``{pairs}``. ``no-items`` replaces an array of them if there are none, with a ``{null}`` of their
    type; then ``empty-list`` and ``empty-map`` replace the list and the map.
    """

    check: Callable[[Json, Json], None] | None = None
    """A function that raises `Unsupported` if the engine has no literal for a value of a type."""


def identifier(path: tuple[str, ...], dialect: Dialect) -> str:
    """Return the SQL of a column, or of a field in it."""
    quoted = [f"{dialect.quote}{name.replace(dialect.quote, dialect.quote * 2)}{dialect.quote}" for name in path]
    inner = (
        dialect.inside.format(quoted=quoted[index], string=string_literal(path[index], dialect))
        for index in range(1, len(path))
    )
    return quoted[0] + "".join(inner)


def identifiers(names: Iterable[str], dialect: Dialect, prefix: str = "") -> str:
    """Return the SQL of a list of columns, each with a prefix such as ``s.``."""
    return ", ".join(prefix + identifier((name,), dialect) for name in names)


def string_literal(value: str, dialect: Dialect) -> str:
    """Return a SQL string literal."""
    if dialect.escapes_backslash:  # Spark 3 ignores '' between two string literals
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    quoted = "'" + value.replace("'", "''") + "'"
    return "(" + quoted.replace("\0", dialect.nul) + ")" if dialect.nul and "\0" in value else quoted


def primitive_sql(type_: Json, value: Any, forms: Mapping[str, str], dialect: Dialect, sql: str | None = None) -> str:
    """Return the SQL of a value of a primitive type.

    Args:
        type_: the Iceberg type.
        value: the value, as `lenient_values` represents it.
        forms: the SQL by type, `Dialect.constants` or `Dialect.literals`.
        dialect: the engine's SQL.
        sql: the ``{type}`` of the form; the Iceberg type if not given.

    Raises:
        Unsupported: the engine has no constants of the type.
    """
    name = native.kind(type_)
    if name not in forms:
        raise Unsupported(f"{dialect.name} has no constants of {name}")
    exchange = native.write(type_, value)
    written = ("TRUE" if exchange else "FALSE") if isinstance(exchange, bool) else str(exchange)
    return forms[name].format(
        text=written,
        string=string_literal(written, dialect),
        hex=written.replace("-", ""),
        number=value,
        type=type_ if sql is None else sql,
    )


def sql_type(type_: Json, dialect: Dialect) -> str:
    """Return the SQL of a type.

    Raises:
        Unsupported: the engine has no such type.
    """
    name = native.kind(type_)
    if name not in dialect.types:
        raise Unsupported(f"{dialect.name} has no type for {name}")

    def inner(part: str) -> str:
        return sql_type(type_[part], dialect) + (dialect.not_null if type_.get(f"{part}-required", False) else "")

    form = dialect.types[name]
    match name:
        case "struct":
            one = dialect.types["field"]
            fields = (
                one.format(
                    name=identifier((field["name"],), dialect),
                    type=sql_type(field["type"], dialect) + (dialect.not_null if field.get("required") else ""),
                )
                for field in type_["fields"]
            )
            return form.format(fields=", ".join(fields))
        case "list":
            return form.format(element=inner("element"))
        case "map":
            return form.format(key=sql_type(type_["key"], dialect) + dialect.not_null, value=inner("value"))
    return form.format(iceberg=str(type_).upper(), length=str(type_)[len("fixed[") : -1])


def literal(type_: Json, value: Json, dialect: Dialect) -> str:
    """Return the SQL of a literal of a script, in which structs are keyed by field name.

    Raises:
        Unsupported: the engine has no such type, or no literals of it.
    """
    sql, forms, name = sql_type(type_, dialect), dialect.literals, native.kind(type_)
    if value is None:
        return f"CAST(NULL AS {sql})"
    match name:
        case "struct":
            names = [field["name"] for field in type_["fields"]]
            items = [literal(field["type"], value.get(field["name"]), dialect) for field in type_["fields"]]
            pairs = _pairs([string_literal(name, dialect) for name in names], items)
            return forms[name].format(items=", ".join(items), pairs=pairs, type=sql)
        case "list":
            form = forms[name] if value else forms.get("empty-list", forms[name])
            return form.format(items=_items(type_["element"], value, dialect), type=sql)
        case "map":
            keys, values = ([literal(type_[part], item, dialect) for item in value[f"{part}s"]] for part in _ENTRY)
            form = forms[name] if keys else forms.get("empty-map", forms[name])
            listed = {f"{part}s": _items(type_[part], value[f"{part}s"], dialect) for part in _ENTRY}
            return form.format(**listed, pairs=_pairs(keys, values), type=sql)
    if dialect.check is not None:
        dialect.check(type_, value)
    return primitive_sql(type_, native.read(type_, value), forms, dialect, sql)


_ENTRY = ("key", "value")


def _pairs(left: list[str], right: list[str]) -> str:
    return ", ".join(f"{name}, {item}" for name, item in zip(left, right, strict=True))


def _items(type_: Json, values: list[Json], dialect: Dialect) -> str:
    if not values and "no-items" in dialect.literals:
        return dialect.literals["no-items"].format(null=literal(type_, None, dialect))
    return ", ".join(literal(type_, item, dialect) for item in values)


_RENAMED = {"text": "string_literal"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)
