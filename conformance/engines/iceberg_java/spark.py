"""Spark in the virtual machine of Iceberg-Java's adapter, and SQL for the values and filters of scripts."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from py4j import java_gateway, protocol
from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.serve import Unsupported
from conformance.adapter_sdk.spark_settings import LOCAL
from conformance.adapter_sdk.sql_predicates import Dialect, predicate_sql, text
from conformance.core.json_types import Json

SETTINGS = {
    **LOCAL,
    "spark.app.name": "iceberg-java",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.ansi.enabled": "true",
}

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

CATALOG = "scripts"
"""The name of the catalog in statements."""

IN_MEMORY = "org.apache.iceberg.inmemory.InMemoryCatalog"


class Spark:
    """A session with an in-memory catalog; both start when they are first needed."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self._session: SparkSession | None = None

    @property
    def session(self) -> SparkSession:
        """The session."""
        if self._session is None:
            conf = SparkConf()
            for key, value in SETTINGS.items():
                conf.set(key, value)
            context = SparkContext(gateway=self._jvm.gateway, conf=conf)
            context.setLogLevel("OFF")
            self._session = SparkSession(context)
            # PySpark replaces Py4J's exceptions with its own, but `JVM.judged` needs Py4J's.
            java_gateway.get_return_value = protocol.get_return_value
        return self._session

    def stop(self) -> None:
        """Stop the session."""
        if self._session is not None:
            self._session.stop()

    @cached_property
    def catalog(self) -> Any:
        """The Iceberg catalog behind `CATALOG`, which registers tables in local files by their metadata files."""
        for key, value in {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".catalog-impl": IN_MEMORY,
            ".cache-enabled": "false",
        }.items():
            self.session.conf.set(f"spark.sql.catalog.{CATALOG}{key}", value)
        session: Any = self.session
        made = session._jsparkSession.sessionState().catalogManager().catalog(CATALOG).icebergCatalog()
        # Releases before 1.12 also keep the files in memory, regardless of the catalog's properties.
        files = self._jvm.class_(IN_MEMORY).getDeclaredField("io")
        files.setAccessible(True)
        hadoop = self._jvm.root.org.apache.hadoop.conf.Configuration()
        files.set(made, self._jvm.root.org.apache.iceberg.hadoop.HadoopFileIO(hadoop))
        return made

    def run(self, statement: str) -> list[Any]:
        """Run a statement.

        Raises:
            Refused: Spark or Iceberg refused the statement; the message says why.
        """
        try:
            rows: list[Any] = self.session.sql(statement).collect()
        except (PySparkException, Py4JJavaError) as error:
            raise Refused(_said(error)) from None
        return rows


class Refused(Exception):
    """A statement was refused."""


def _said(error: Exception) -> str:
    """Return the messages of an exception and of its innermost cause."""
    thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    messages = [str(error).split("\n")[0]]
    while thrown is not None:
        messages.append(str(thrown.toString()).split("\n")[0])
        thrown = thrown.getCause()
    return " <- ".join(dict.fromkeys(os.fsdecode(text) for text in messages if text))


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
