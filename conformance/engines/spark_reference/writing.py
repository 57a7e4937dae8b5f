"""Run scripts with the reference inside Spark: `conformance.table_io.writing.spark`, whose executors write files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from conformance.adapter_sdk.serve import Unsupported
from conformance.operations.writing.reference import ReferenceWriter, requested_mode, target_branch, writing_operations
from conformance.table_io.spark_types import spark_batch, spark_schema
from conformance.table_io.writing import spark as on_spark
from spec_ref.core.json_types import Json
from spec_ref.expressions.expression_json import predicate_from_json

NAME = "the reference in Spark"


class SparkWriter(ReferenceWriter):
    """A table whose rows are written by executors."""

    def __init__(self, location: str | None, spark: SparkSession) -> None:
        super().__init__(location)
        self._spark = spark

    def _frame(self, rows: list[Json]) -> DataFrame:
        return to_spark_frame(self._spark, self.rows(rows))

    def append(self, operation: Json) -> None:
        on_spark.append(self.table, self._frame(operation["rows"]), branch=target_branch(operation))

    def overwrite(self, operation: Json) -> None:
        where = predicate_from_json(operation["filter"])
        on_spark.overwrite(self.table, self._frame(operation["rows"]), where, branch=target_branch(operation))

    def delete(self, operation: Json) -> None:
        where = predicate_from_json(operation["filter"])
        on_spark.delete(self._spark, self.table, where, mode=requested_mode(operation), branch=target_branch(operation))

    def update(self, operation: Json) -> None:
        where = predicate_from_json(operation["filter"])
        values = self.assigned_values(operation)
        on_spark.update(
            self._spark, self.table, values, where, mode=requested_mode(operation), branch=target_branch(operation)
        )

    def merge(self, operation: Json) -> None:
        source = self.merge_rows(operation)
        on_spark.merge(
            self._spark,
            self.table,
            source,
            operation["on"],
            mode=requested_mode(operation),
            branch=target_branch(operation),
        )

    def compact(self, operation: Json) -> None:
        on_spark.compact(self._spark, self.table, branch=target_branch(operation))


def to_spark_frame(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """Convert rows to a DataFrame with Spark's types for those of the table.

    Raises:
        Unsupported: Spark has no type for a column.
    """
    if not rows.num_columns:
        return spark.range(rows.num_rows).select()  # rows without columns are lost on the way from Python
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    try:
        schema = from_arrow_schema(spark_schema(rows.schema), prefer_timestamp_ntz=True)
    except Exception as error:
        raise Unsupported(f"Spark has no type for a column: {error}") from None
    if any(field.dataType.typeName() == "void" for field in schema):
        raise Unsupported("Spark does not pass columns of type void to Python")

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for sent in batch.column("rows"):
                yield from map(spark_batch, pa.ipc.open_stream(sent.as_py()))

    sent = spark.createDataFrame([(sink.getvalue().to_pybytes(),)], "rows binary")
    return sent.coalesce(1).mapInArrow(read, schema)


def operations(spark: SparkSession) -> dict[str, Callable[[dict[str, Any]], object]]:
    """Return the operations by name."""
    return writing_operations(lambda location: SparkWriter(location, spark), NAME)
