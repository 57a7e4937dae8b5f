"""The settings of the Spark inside Iceberg-Java's adapter."""

from __future__ import annotations

from conformance.adapter_sdk.spark_settings import LOCAL

CATALOG = "scripts"
"""The name of the catalog in statements."""

SETTINGS = {
    **LOCAL,
    "spark.app.name": "iceberg-java",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",  # two columns may have names that differ only in case
    f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
    f"spark.sql.catalog.{CATALOG}.catalog-impl": "conformance.LocalCatalog",
    f"spark.sql.catalog.{CATALOG}.cache-enabled": "false",
}
"""The settings of Spark, which reads them from the properties of its virtual machine."""
