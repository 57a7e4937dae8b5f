"""The SQL of Spark, for the adapters that use it."""

from __future__ import annotations

from conformance.adapter_sdk.sql_dialects import Dialect

_CONSTANTS = {
    "float": "CAST({string} AS FLOAT)",
    "double": "CAST({string} AS DOUBLE)",
    "decimal": "CAST({string} AS {type})",
    "date": "DATE '{text}'",
    "timestamp": "TIMESTAMP_NTZ '{text}'",
    "timestamptz": "TIMESTAMP '{text}'",
    "uuid": "{string}",
    "fixed": "X'{text}'",
    "binary": "X'{text}'",
}

SPARK = Dialect(
    "Spark",
    quote="`",
    starts_with="startswith({column}, {constant})",
    escapes_backslash=True,
    constants=_CONSTANTS,
    types={
        "boolean": "BOOLEAN",
        "int": "INT",
        "long": "BIGINT",
        "float": "FLOAT",
        "double": "DOUBLE",
        "decimal": "{iceberg}",
        "date": "DATE",
        "timestamptz": "TIMESTAMP",
        "timestamp": "TIMESTAMP_NTZ",
        "string": "STRING",
        "binary": "BINARY",
        "fixed": "BINARY",
        "uuid": "STRING",
        "struct": "STRUCT<{fields}>",
        "field": "{name}: {type}",
        "list": "ARRAY<{element}>",
        "map": "MAP<{key}, {value}>",
    },
    literals={
        **_CONSTANTS,
        "boolean": "{text}",
        "int": "CAST('{text}' AS {type})",
        "long": "CAST('{text}' AS {type})",
        "string": "{string}",
        "timestamp": "CAST(timestamp_micros({number}) AS {type})",
        "timestamptz": "timestamp_micros({number})",
        "struct": "named_struct({pairs})",
        "list": "CAST(array({items}) AS {type})",
        "map": "CAST(map({pairs}) AS {type})",
    },
)
