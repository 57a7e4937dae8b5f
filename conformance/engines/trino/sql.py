"""The types, literals and filters of Trino's SQL."""

from __future__ import annotations

from conformance.adapter_sdk import sql_dialects
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.sql_dialects import Dialect, identifier
from spec_ref.core.json_types import Json

_MOMENT = "CAST(replace('{text}', 'T', ' ') AS "
_CONSTANTS = {
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
DIALECT = Dialect(
    "Trino",
    is_nan="is_nan({column})",
    constants=_CONSTANTS,
    types={
        "boolean": "BOOLEAN",
        "int": "INTEGER",
        "long": "BIGINT",
        "float": "REAL",
        "double": "DOUBLE",
        "decimal": "{iceberg}",
        "date": "DATE",
        "time": "TIME(6)",
        "timestamp": "TIMESTAMP(6)",
        "timestamptz": "TIMESTAMP(6) WITH TIME ZONE",
        "timestamp_ns": "TIMESTAMP(9)",
        "timestamptz_ns": "TIMESTAMP(9) WITH TIME ZONE",
        "string": "VARCHAR",
        "uuid": "UUID",
        "binary": "VARBINARY",
        "struct": "ROW({fields})",
        "field": "{name} {type}",
        "list": "ARRAY({element})",
        "map": "MAP({key}, {value})",
    },
    literals={
        **_CONSTANTS,
        "boolean": "{text}",
        "int": "INTEGER '{text}'",
        "long": "BIGINT '{text}'",
        "string": "{string}",
        "struct": "CAST(ROW({items}) AS {type})",
        "list": "CAST(ARRAY[{items}] AS {type})",
        "map": "CAST(MAP(ARRAY[{keys}], ARRAY[{values}]) AS {type})",
    },
)


def quote_identifier(name: str) -> str:
    """Return the quoted name of a column or table.

    Raises:
        Unsupported: the name has upper-case letters, which Trino converts to lower case.
    """
    if name != name.lower():
        raise Unsupported("Trino stores column names in lower case")
    return identifier((name,), DIALECT)


def sql_type(type_: Json) -> str:
    """Return the SQL of a type.

    Raises:
        Unsupported: Trino has no such type, or none with required parts.
    """
    _check_parts(type_)
    return sql_dialects.sql_type(type_, DIALECT)


def _check_parts(type_: Json) -> None:
    """Refuse names and required parts that a type in SQL cannot express."""
    match type_:
        case {"type": "struct", "fields": fields}:
            if any(field.get("required") for field in fields):
                raise Unsupported("Trino has no required fields inside a column")
            for field in fields:
                quote_identifier(field["name"])
                _check_parts(field["type"])
        case {"type": "list"}:
            if type_.get("element-required"):
                raise Unsupported("Trino has no required elements")
            _check_parts(type_["element"])
        case {"type": "map"}:
            if type_.get("value-required"):
                raise Unsupported("Trino has no required values of maps")
            _check_parts(type_["key"])
            _check_parts(type_["value"])


def literal(type_: Json, value: Json) -> str:
    """Return the SQL of a literal of a script, in which structs are keyed by field name."""
    _check_parts(type_)
    return sql_dialects.literal(type_, value, DIALECT)
