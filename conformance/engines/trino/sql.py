"""The types, literals and filters of Trino's SQL."""

from __future__ import annotations

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.sql_predicates import Dialect, identifier, text
from conformance.core.json_types import Json

_MOMENT = "CAST(replace('{text}', 'T', ' ') AS "
LITERALS = {
    "float": "REAL '{text}'",
    "double": "DOUBLE '{text}'",
    "decimal": "CAST('{text}' AS {type})",
    "date": "DATE '{text}'",
    "time": "TIME '{text}'",
    "timestamp": _MOMENT + "TIMESTAMP(6))",
    "timestamptz": _MOMENT + "TIMESTAMP(6) WITH TIME ZONE)",
    "timestamp_ns": _MOMENT + "TIMESTAMP(9))",
    "timestamptz_ns": _MOMENT + "TIMESTAMP(9) WITH TIME ZONE)",
    "uuid": "UUID '{text}'",
    "fixed": "X'{text}'",
    "binary": "X'{text}'",
}
DIALECT = Dialect("Trino", is_nan="is_nan({column})", literals=LITERALS)

TYPED = {
    **LITERALS,
    "boolean": "{text}",
    "int": "INTEGER '{text}'",
    "long": "BIGINT '{text}'",
    "string": "{string}",
}
"""SQL literals by type, for types that need no cast."""

TYPES = {
    "boolean": "BOOLEAN",
    "int": "INTEGER",
    "long": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE",
    "date": "DATE",
    "time": "TIME(6)",
    "timestamp": "TIMESTAMP(6)",
    "timestamptz": "TIMESTAMP(6) WITH TIME ZONE",
    "timestamp_ns": "TIMESTAMP(9)",
    "timestamptz_ns": "TIMESTAMP(9) WITH TIME ZONE",
    "string": "VARCHAR",
    "uuid": "UUID",
    "binary": "VARBINARY",
}


def quoted(name: str) -> str:
    """Return the quoted name of a column or table.

    Raises:
        Unsupported: the name has upper-case letters, which Trino converts to lower case.
    """
    if name != name.lower():
        raise Unsupported("Trino has the names of all columns in lower case")
    return identifier((name,), DIALECT)


def sql_type(type_: Json) -> str:
    """Return the SQL of a type.

    Raises:
        Unsupported: Trino has no such type.
    """
    name = native.kind(type_)
    match name:
        case "struct":
            if any(field.get("required") for field in type_["fields"]):
                raise Unsupported("Trino has no required fields inside of a column")
            parts = (f"{quoted(field['name'])} {sql_type(field['type'])}" for field in type_["fields"])
            return f"ROW({', '.join(parts)})"
        case "list":
            if type_.get("element-required"):
                raise Unsupported("Trino has no required elements")
            return f"ARRAY({sql_type(type_['element'])})"
        case "map":
            if type_.get("value-required"):
                raise Unsupported("Trino has no required values of maps")
            return f"MAP({sql_type(type_['key'])}, {sql_type(type_['value'])})"
        case "decimal":
            return str(type_).upper()
    if name not in TYPES:
        raise Unsupported(f"Trino has no type for {name}")
    return TYPES[name]


def literal(type_: Json, value: Json) -> str:
    """Return the SQL of a literal of a script, in which structs are keyed by field name."""
    kind = sql_type(type_)
    if value is None:
        return f"CAST(NULL AS {kind})"
    match native.kind(type_):
        case "struct":
            parts = (literal(field["type"], value.get(field["name"])) for field in type_["fields"])
            return f"CAST(ROW({', '.join(parts)}) AS {kind})"
        case "list":
            return f"CAST(ARRAY[{', '.join(literal(type_['element'], item) for item in value)}] AS {kind})"
        case "map":
            keys, items = ([literal(type_[part], item) for item in value[f"{part}s"]] for part in ("key", "value"))
            return f"CAST(MAP(ARRAY[{', '.join(keys)}], ARRAY[{', '.join(items)}]) AS {kind})"
    return constant(type_, value)


def constant(type_: Json, value: Json) -> str:
    """Return the SQL of a value of a primitive type.

    Raises:
        Unsupported: Trino has no constants of the type, or none for the value.
    """
    name = native.kind(type_)
    if name not in TYPED:
        raise Unsupported(f"Trino has no constants of {name}")
    read = native.read(type_, value)
    exchange_form = str(read).upper() if isinstance(read, bool) else str(native.write(type_, read))
    return TYPED[name].format(text=exchange_form, type=type_, string=text(exchange_form, DIALECT))
