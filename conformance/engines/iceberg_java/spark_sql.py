"""The settings of the Spark inside Iceberg-Java's adapter, and SQL for the types, values and filters of scripts."""

from __future__ import annotations

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.spark_settings import LOCAL
from conformance.adapter_sdk.sql_predicates import Dialect, predicate_sql, text
from conformance.core.json_types import Json

CATALOG = "scripts"
"""The name of the catalog in statements."""

SETTINGS = {
    **LOCAL,
    "spark.app.name": "iceberg-java",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.ansi.enabled": "true",
    f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
    f"spark.sql.catalog.{CATALOG}.catalog-impl": "org.apache.iceberg.ScriptCatalog",
    f"spark.sql.catalog.{CATALOG}.cache-enabled": "false",
}
"""The settings of Spark, which reads them from the properties of its virtual machine."""

DIALECT = Dialect(
    "Spark",
    quote="`",
    starts_with="startswith({column}, {constant})",
    escapes_backslash=True,
    literals={
        "float": "CAST({string} AS FLOAT)",
        "double": "CAST({string} AS DOUBLE)",
        "decimal": "CAST({string} AS {type})",
        "date": "DATE '{text}'",
        "timestamp": "TIMESTAMP_NTZ '{text}'",
        "timestamptz": "TIMESTAMP '{text}'",
        "uuid": "{string}",
        "fixed": "X'{text}'",
        "binary": "X'{text}'",
    },
)

TYPES = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamptz": "TIMESTAMP",
    "timestamp": "TIMESTAMP_NTZ",
    "string": "STRING",
    "binary": "BINARY",
    "fixed": "BINARY",
    "uuid": "STRING",
}


def sql_type(type_: Json) -> str:
    """Return the SQL of a type.

    Raises:
        Unsupported: Spark has no such type.
    """
    name = native.kind(type_)
    match name:
        case "struct":
            parts = (f"`{field['name']}`: {sql_type(field['type'])}" for field in type_["fields"])
            return f"STRUCT<{', '.join(parts)}>"
        case "list":
            return f"ARRAY<{sql_type(type_['element'])}>"
        case "map":
            return f"MAP<{sql_type(type_['key'])}, {sql_type(type_['value'])}>"
        case "decimal":
            return str(type_).upper()
    if name not in TYPES:
        raise Unsupported(f"Spark has no type for {name}")
    return TYPES[name]


def literal(type_: Json, value: Json) -> str:
    """Return the SQL of a literal of a script."""
    kind = sql_type(type_)
    if value is None:
        return f"CAST(NULL AS {kind})"
    match native.kind(type_):
        case "struct":
            parts = (
                f"{text(field['name'], DIALECT)}, {literal(field['type'], value.get(field['name']))}"
                for field in type_["fields"]
            )
            return f"named_struct({', '.join(parts)})"
        case "list":
            items = ", ".join(literal(type_["element"], item) for item in value)
            return f"CAST(array({items}) AS {kind})"
        case "map":
            pairs = zip(value["keys"], value["values"], strict=True)
            entries = ", ".join(f"{literal(type_['key'], key)}, {literal(type_['value'], item)}" for key, item in pairs)
            return f"CAST(map({entries}) AS {kind})"
        case "timestamp":
            return f"CAST(timestamp_micros({native.read(type_, value)}) AS TIMESTAMP_NTZ)"
        case "timestamptz":
            return f"timestamp_micros({native.read(type_, value)})"
        case "binary" | "fixed":
            return f"X'{value}'"
        case "date":
            return f"DATE'{value}'"
        case "boolean":
            return str(value).lower()
        case "string" | "uuid":
            return text(value, DIALECT)
    return f"CAST('{value}' AS {kind})"


def condition(filter_: Json, fields: list[Json]) -> str:
    """Return the SQL of a filter of a script."""
    return predicate_sql(filter_, fields, DIALECT)
