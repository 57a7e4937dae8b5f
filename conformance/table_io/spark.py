"""Reading tables in Spark: scan tasks on the executors, whose rows come back as a DataFrame through Arrow.

The executors run the same function as `conformance.table_io.local`; this package and ``spec_ref`` have to be on their
Python path. Columns and filter are given to the planning of the scan, so that what is not needed is not read. With
Spark 4.1 and later, `conformance.table_io.spark_source` makes tables a source of ``spark.read`` too.

Types that Spark does not have come as what it can hold: a uuid as text, a fixed as binary, a time as its microseconds,
a timestamp of nanoseconds as its nanoseconds, a variant as its two parts, geometry and geography as WKB.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.local import plan_reading
from conformance.table_io.read_tasks import arrow_schema, read_task
from conformance.table_io.reading import Reading
from conformance.table_io.spark_types import spark_batch, spark_schema
from conformance.table_io.spark_worker import settle_in
from conformance.table_io.tables import load_table
from spec_ref.expressions.predicates import TRUE, Predicate

MOST_PARTITIONS = 10_000


def read_dataframe(
    spark: SparkSession,
    location: str,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    timestamp_ms: int | None = None,
    select: Sequence[str] | None = None,
    filter: Predicate = TRUE,
    case_sensitive: bool = True,
    partitions: int | None = None,
) -> DataFrame:
    """The rows of a table as a DataFrame, whose partitions are scan tasks.

    Args:
        spark: the session that reads.
        location: a metadata file or the directory of a table, as executors see it too.
        snapshot_id: as the following arguments, what `conformance.table_io.local.read_table` takes.
        ref: the snapshot by a branch or tag.
        timestamp_ms: the snapshot by a time.
        select: the columns; all of them where None.
        filter: which rows to give.
        case_sensitive: whether names have to be spelled as in the schema.
        partitions: how many partitions; where None, one for each data file.

    Raises:
        SpecError: the table, the selection or the filter is wrong. What is wrong with a data file fails the Spark job.
        FileAccessError: a metadata file is missing or may not be read.
    """
    reading, tasks = plan_reading(
        load_table(location),
        snapshot_id=snapshot_id,
        ref=ref,
        timestamp_ms=timestamp_ms,
        select=select,
        filter=filter,
        case_sensitive=case_sensitive,
    )
    sent = [(pickle.dumps(task),) for task in tasks]
    number = max(1, min(partitions or len(sent), MOST_PARTITIONS))
    # Out of one partition the tasks are dealt out evenly.
    frame = spark.createDataFrame(sent, "task binary").coalesce(1).repartition(number)
    schema = from_arrow_schema(spark_schema(arrow_schema(reading)), prefer_timestamp_ntz=True)
    return frame.mapInArrow(reader_of(reading), schema)


def collect_arrow(frame: DataFrame) -> pa.Table:
    """The rows of a DataFrame as an Arrow table, which holds times that Python's own do not."""
    if hasattr(frame, "toArrow"):
        made: pa.Table = frame.toArrow()
        return made
    # Spark 3.5 does the same, and has no public name for it.
    return pa.Table.from_batches(frame._collect_as_arrow(), schema=to_arrow_schema(frame.schema))


def reader_of(reading: Reading) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that executors apply to batches of tasks."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_in()
        deletes = DeleteFiles(reading)
        for batch in batches:
            for sent in batch.column("task"):
                yield from rows_of(sent.as_py(), reading, deletes)

    return read


def rows_of(sent: Any, reading: Reading, deletes: DeleteFiles | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a pickled task, in Arrow types that Spark takes."""
    task = pickle.loads(sent)  # noqa: S301 - made by the driver of this session
    return map(spark_batch, read_task(task, reading, deletes))
