"""Reading tables in Spark: scan tasks run on the executors, and their rows become a DataFrame through Arrow.

The executors run the same function as `conformance.table_io.local`; this package and ``spec_ref`` must be on their
Python path. Scan planning gets the columns and the filter, so that only the necessary files and columns are read. With
Spark 4.1 and later, `conformance.table_io.spark_source` also makes tables a source of ``spark.read``.

Values of types that Spark does not have are converted: a uuid to a string, a fixed to binary, a time to a number of
microseconds, a timestamp of nanoseconds to a number of nanoseconds, a variant to its two binary parts, and geometry and
geography to WKB.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from conformance.table_io.daemon_pool import read_ahead
from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.encryption import KeyService
from conformance.table_io.local import plan_read_batches
from conformance.table_io.planning import pickle_tasks, unpickle_tasks
from conformance.table_io.read_tasks import arrow_schema, read_task
from conformance.table_io.reading import ReadPlan
from conformance.table_io.spark_types import spark_batch, spark_schema
from conformance.table_io.spark_worker import prepare_worker
from conformance.table_io.tables import load_table
from spec_ref.data_files import batches
from spec_ref.expressions.predicates import TRUE, Predicate

SPARK_TAKES_ARROW = int(pyspark.__version__.partition(".")[0]) >= 4
"""Whether a DataFrame can be made of an Arrow table. One of Python rows passes through additional Python workers."""

MAX_SENT_BYTES = 32 << 20
"""The bytes of scan tasks in one task of Spark, which may not exceed `spark.rpc.message.maxSize` (128 MiB)."""

BATCH_ROWS = batches.BATCH_ROWS // 2
"""The rows of a batch: half of those elsewhere, because a worker holds two batches at once."""


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
    key_service: KeyService | None = None,
) -> DataFrame:
    """Read a table as a DataFrame, whose partitions are scan tasks.

    Args:
        spark: the session.
        location: a metadata file or the directory of a table, which the executors can read.
        snapshot_id: the id of the snapshot, as for `conformance.table_io.local.read_table`.
        ref: the name of a branch or tag, instead of a snapshot id.
        timestamp_ms: a time, to read the snapshot that was current then.
        select: the columns; None for all of them.
        filter: the condition on rows.
        case_sensitive: whether names must be spelled as in the schema.
        partitions: the number of partitions; None for one per data file.
        key_service: unwraps the keys of an encrypted table, on the driver; executors get the keys of their files.

    Raises:
        SpecError: the table, the selection or the filter is wrong. Errors in a data file fail the Spark job.
        FileAccessError: a metadata file is missing or cannot be read.
    """
    read_plan, planned = plan_read_batches(
        load_table(location, key_service=key_service),
        snapshot_id=snapshot_id,
        ref=ref,
        timestamp_ms=timestamp_ms,
        select=select,
        filter=filter,
        case_sensitive=case_sensitive,
    )
    number, groups = pickle_tasks(planned, partitions)
    frames = [_task_frame(spark, part) for part in _parts(groups)]
    if len(frames) == 1:
        frames = [frames[0].coalesce(1)]  # Spark distributes the rows of one partition evenly
    frame = functools.reduce(DataFrame.union, frames).repartition(number)
    schema = from_arrow_schema(spark_schema(arrow_schema(read_plan)), prefer_timestamp_ntz=True)
    return frame.mapInArrow(make_reader(read_plan), schema)


def _parts(groups: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Divide pickled groups of tasks into as few parts as can be sent, at least one."""
    part: list[bytes] = []
    size = 0
    for group in groups:
        if part and size + len(group) > MAX_SENT_BYTES:
            yield part
            part, size = [], 0
        part.append(group)
        size += len(group)
    yield part


def _task_frame(spark: SparkSession, part: Sequence[bytes]) -> DataFrame:
    """Make a DataFrame with a row for each group of tasks."""
    if SPARK_TAKES_ARROW:
        return spark.createDataFrame(pa.table({"tasks": pa.array(part, pa.binary())}))
    return spark.createDataFrame([(group,) for group in part], "tasks binary")


def make_reader(read_plan: ReadPlan) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that executors apply to batches of pickled groups of tasks."""

    def read(sent: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        deletes = DeleteFiles(read_plan)
        groups = (group.as_py() for batch in sent for group in batch.column("tasks"))
        yield from read_ahead((made for group in groups for made in group_batches(group, read_plan, deletes)), 1)

    return read


def group_batches(
    pickled_tasks: bytes, read_plan: ReadPlan, deletes: DeleteFiles | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a pickled group of tasks, in Arrow types that Spark supports."""
    for task in unpickle_tasks(pickled_tasks):
        yield from map(spark_batch, read_task(task, read_plan, deletes, batch_rows=BATCH_ROWS))
