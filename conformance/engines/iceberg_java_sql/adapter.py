"""The adapter of the SQL functions of Iceberg's Spark catalog, which have a separate implementation."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import SparkSession

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk import sql_dialects
from conformance.adapter_sdk.file_locations import file_location
from conformance.adapter_sdk.serve import Arguments, Unsupported, serve, take_standard_output
from conformance.adapter_sdk.spark_dialect import SPARK

REFUSALS = (AnalysisException, IllegalArgumentException)

TRANSFORM = re.compile(r"(bucket|truncate)\[([0-9]{1,10})\]|(year|month|day|hour)")
BITS = {"int": 32, "date": 32, "long": 64, "timestamp": 64, "timestamptz": 64}

LITERALS: dict[str, Callable[[Any], str]] = {
    "boolean": lambda value: "true" if value else "false",
    "int": lambda value: f"CAST('{value}' AS INT)",
    "long": lambda value: f"CAST('{value}' AS BIGINT)",
    "float": lambda value: f"CAST('{value!r}' AS FLOAT)",
    "double": lambda value: f"CAST('{value!r}' AS DOUBLE)",
    "date": lambda value: f"date_from_unix_date(CAST('{value}' AS INT))",
    "timestamptz": lambda value: f"timestamp_micros(CAST('{value}' AS BIGINT))",
    "timestamp": lambda value: f"CAST(timestamp_micros(CAST('{value}' AS BIGINT)) AS TIMESTAMP_NTZ)",
    "string": lambda value: f"CAST(X'{value.encode().hex()}' AS STRING)",
    "binary": lambda value: f"X'{value.hex()}'",
}
"""SQL for the values of a type; dates and times are converted from numbers, so that no year has to be parsed."""


def literal(type_: Any, json: Any) -> str:
    """Return the SQL of a value.

    Raises:
        Unsupported: Spark has no such type, or no such value of it.
    """
    name = native.kind(type_)
    if name != "decimal" and name not in LITERALS:
        raise Unsupported(f"Spark has no type for {name}")
    value = native.read(type_, json)
    sql_type = sql_dialects.sql_type(type_, SPARK)
    if value is None:
        return f"CAST(NULL AS {sql_type})"
    if name == "decimal":
        _check_decimal(str(type_), value)
        return f"CAST('{value:f}' AS {sql_type})"
    if name in BITS and not -(1 << BITS[name] - 1) <= value < 1 << BITS[name] - 1:
        raise Unsupported(f"{sql_type} does not hold {value}")
    return LITERALS[name](value)


def _check_decimal(type_: str, value: Decimal) -> None:
    precision, scale = (int(number) for number in re.findall(r"-?\d+", type_))
    if -int(value.as_tuple().exponent) != scale or len(value.as_tuple().digits) > precision or scale < 0:
        raise Unsupported(f"{type_} of Spark does not hold {value}")


class Functions:
    """Calls the functions in one Spark session."""

    def __init__(self, jars: str, warehouse: str) -> None:
        settings = {
            "spark.driver.extraClassPath": jars,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.ansi.enabled": "true",
            "spark.sql.warehouse.dir": warehouse,
            "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.local.type": "hadoop",
            "spark.sql.catalog.local.warehouse": file_location(warehouse),
        }
        builder = SparkSession.builder.master("local[1]").appName("iceberg-java-sql")
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("OFF")

    @property
    def version(self) -> str:
        """Return the result of ``iceberg_version()``."""
        return str(self._ask("local.system.iceberg_version()"))

    def _ask(self, expression: str) -> Any:
        return self.spark.sql(f"SELECT {expression} AS answer").collect()[0]["answer"]

    def transform(self, args: Arguments) -> object:
        """Call the function with the name of the transform."""
        found = TRANSFORM.fullmatch(args["transform"])
        if not found:
            raise Unsupported(f"there is no function for {args['transform']}")
        value = literal(args["type"], args["value"])
        if found[3] is None:
            result = self._ask(f"local.system.{found[1]}(CAST('{found[2]}' AS INT), {value})")
            return native.write("int" if found[1] == "bucket" else args["type"], _bytes(result))
        expression = f"local.system.{found[3]}s({value})"
        if found[3] == "day":
            return native.write("date", self._ask(f"unix_date({expression})"))
        return native.write("int", self._ask(expression))


def _bytes(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value


def main() -> None:
    """Serve the functions on standard input and output."""
    answers = take_standard_output()
    with tempfile.TemporaryDirectory() as warehouse:
        functions = Functions(os.environ["ICEBERG_CONFORMANCE_JARS"], warehouse)
        try:
            serve(
                {
                    "implementation": "iceberg-java-sql",
                    "version": functions.version,
                    "language": "java",
                    "format_versions": [1, 2, 3],
                },
                {"transform": functions.transform},
                REFUSALS,
                answers,
            )
        finally:
            functions.spark.stop()


if __name__ == "__main__":
    main()
