"""Tables as a source of ``spark.read``, for Spark 4.1 and later.

    spark.dataSource.register(IcebergReference)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    spark.read.format("iceberg-reference").option("columns", "id,s").load("s3://bucket/table").where("id > 5")

Spark passes the filters of a query to a source in Python, but not the columns; therefore these are an option. A filter
is used only if it means the same in Spark and in Iceberg. This excludes floating-point columns, as Spark orders NaN
above all numbers.

Options: ``columns`` (names with commas between them), ``snapshot-id``, ``ref``, ``as-of-timestamp`` (milliseconds), and
``keys``, the key file of an encrypted table (`conformance.table_io.encryption.load_key_file`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)
from pyspark.sql.pandas.types import from_arrow_schema

from conformance.table_io.daemon_pool import read_ahead
from conformance.table_io.encryption import load_key_file
from conformance.table_io.local import plan_read_batches
from conformance.table_io.planning import pickle_tasks
from conformance.table_io.read_tasks import arrow_schema
from conformance.table_io.reading import ReadPlan
from conformance.table_io.spark import group_batches
from conformance.table_io.spark_types import spark_schema
from conformance.table_io.spark_worker import prepare_worker
from conformance.table_io.tables import Table, load_table
from spec_ref.data_types.types import BOOLEAN, INT, LONG, STRING
from spec_ref.expressions.predicates import (
    TRUE,
    And,
    Comparison,
    IdReference,
    Literal,
    Operation,
    Predicate,
    SetTest,
    Test,
)
from spec_ref.schemas.schema import Schema

NAME = "iceberg-reference"

_COMPARISONS: dict[type, Operation] = {
    EqualTo: Operation.EQ,
    GreaterThan: Operation.GT,
    GreaterThanOrEqual: Operation.GT_EQ,
    LessThan: Operation.LT,
    LessThanOrEqual: Operation.LT_EQ,
    StringStartsWith: Operation.STARTS_WITH,
}
_TESTS: dict[type, Operation] = {IsNull: Operation.IS_NULL, IsNotNull: Operation.NOT_NULL}
_COMPARED = frozenset({BOOLEAN, INT, LONG, STRING})
"""The types whose values mean the same in Spark and in Iceberg, and are passed as plain Python values."""


def to_predicate(spark_filter: Filter, schema: Schema) -> Predicate | None:
    """Convert a filter of Spark to an equivalent predicate; None if there is none."""
    path = getattr(spark_filter, "attribute", None)
    column = next((one for one in schema.columns() if one.path == path), None)
    if column is None:
        return None
    reference = IdReference(column.id)
    kind = type(spark_filter)
    if kind in _TESTS:
        return Test(_TESTS[kind], reference)
    if column.type not in _COMPARED:
        return None
    if kind in _COMPARISONS and spark_filter.value is not None:
        return Comparison(_COMPARISONS[kind], reference, Literal(spark_filter.value))
    if kind is In and None not in spark_filter.value:
        return SetTest(Operation.IN, reference, tuple(map(Literal, spark_filter.value)))
    return None


class IcebergReference(DataSource):  # type: ignore[misc]
    """A table, read by the reference implementation."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.options = options

    def reading_options(self) -> dict[str, Any]:
        """Return the options as arguments of `plan_read_batches`."""
        columns, snapshot, time = (self.options.get(key) for key in ("columns", "snapshot-id", "as-of-timestamp"))
        return {
            "select": None if columns is None else [name.strip() for name in columns.split(",")],
            "snapshot_id": None if snapshot is None else int(snapshot),
            "ref": self.options.get("ref"),
            "timestamp_ms": None if time is None else int(time),
        }

    def table(self) -> Table:
        """Load the table."""
        keys = self.options.get("keys")
        return load_table(self.options["path"], key_service=None if keys is None else load_key_file(keys))

    def schema(self) -> Any:
        read_plan, _ = plan_read_batches(self.table(), **self.reading_options())
        return from_arrow_schema(spark_schema(arrow_schema(read_plan)), prefer_timestamp_ntz=True)

    def reader(self, schema: Any) -> DataSourceReader:
        return IcebergReader(self.table, self.reading_options())


class Task(InputPartition):  # type: ignore[misc]
    """Scan tasks and the columns to read."""

    def __init__(self, tasks: bytes, read_plan: ReadPlan) -> None:
        super().__init__(tasks)
        self.read_plan = read_plan


class IcebergReader(DataSourceReader):  # type: ignore[misc]
    """Plans the scan on the driver, and reads on the executors."""

    def __init__(self, load: Callable[[], Table], asked: dict[str, Any]) -> None:
        self.load = load
        self.reading_options = asked
        self.filter: Predicate = TRUE

    def pushFilters(self, filters: Sequence[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Use the filters that have an equivalent predicate, and return the other filters."""
        schema = plan_read_batches(self.load(), **self.reading_options)[0].schema
        for spark_filter in filters:
            predicate = to_predicate(spark_filter, schema)
            if predicate is None:
                yield spark_filter
            else:
                self.filter = predicate if self.filter == TRUE else And(self.filter, predicate)

    def partitions(self) -> Sequence[InputPartition]:
        read_plan, batches = plan_read_batches(self.load(), filter=self.filter, **self.reading_options)
        _, groups = pickle_tasks(batches)
        return [Task(group, read_plan) for group in groups]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Task)
        prepare_worker()
        return read_ahead(group_batches(partition.value, partition.read_plan), 1)
