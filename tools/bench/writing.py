"""Writing ten million rows into 64 bucket partitions, compared with PyIceberg's append of the same Arrow table.

Both write zstd Parquet files to a new table in every round, and commit.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial

import pyarrow.parquet as pq

from conformance.table_io.writing import append, create_table
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket
from tools.bench.measure import BenchError, Claim, Peer, Scale, in_turns, timed
from tools.bench.rows import FIELDS, columns

BUCKETS = 64
SPEC = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="b", transform=Bucket(BUCKETS)),))

PYICEBERG = """
import gc, json, shutil, sys, time
import pyarrow.parquet as pq
import pyiceberg
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import DoubleType, IntegerType, LongType, NestedField, StringType
rows, folder = pq.read_table(sys.argv[1]), sys.argv[2]
schema = Schema(*(NestedField(number, name, type_, required=False) for number, (name, type_) in enumerate(
    (("id", LongType()), ("v", DoubleType()), ("k", IntegerType()), ("s", StringType())), 1)))
spec = PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=BucketTransform(int(sys.argv[3])), name="b"))
print(json.dumps(f"PyIceberg {pyiceberg.__version__}"), flush=True)
for line in sys.stdin:
    catalog = SqlCatalog("bench", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/peer")
    catalog.create_namespace_if_not_exists("bench")
    table = catalog.create_table("bench.t", schema, partition_spec=spec)
    gc.collect()
    start = time.perf_counter()
    table.append(rows)
    seconds = time.perf_counter() - start
    added = [int(table.current_snapshot().summary[key]) for key in ("added-records", "added-data-files")]
    catalog.drop_table("bench.t")
    shutil.rmtree(f"{folder}/peer")
    print(json.dumps([seconds, *added]), flush=True)
"""


def claims(scale: Scale) -> Iterator[Claim]:
    """Measure one append."""
    count = scale.size(10_000_000, 500_000)
    rows = columns(0, count)
    with tempfile.TemporaryDirectory(prefix="bench-write-") as folder:
        source, place = f"{folder}/rows.parquet", f"{folder}/ours"
        pq.write_table(rows, source)
        with Peer("pyiceberg", PYICEBERG, source, folder, str(BUCKETS)) as peer:

            def ours() -> float:
                table = create_table(place, FIELDS, spec=SPEC, properties={"write.parquet.compression-codec": "zstd"})
                seconds = timed(partial(append, table, rows))
                snapshot = table.metadata.current_snapshot
                assert snapshot is not None
                counts = [int((snapshot.summary or {})[key]) for key in ("added-records", "added-data-files")]
                table.close()
                shutil.rmtree(place)
                if counts != [count, BUCKETS]:
                    message = f"rows and files are {counts}"
                    raise BenchError(message)
                return seconds

            def theirs() -> float:
                seconds, *counts = peer()
                if counts != [count, BUCKETS]:
                    message = f"rows and files of {peer.version} are {counts}"
                    raise BenchError(message)
                return float(seconds)

            taken = in_turns({"theirs": theirs, "ours": ours}, min(3, scale.rounds))
            yield Claim(
                path="rows written",
                case=f"{count:,} rows, {BUCKETS} bucket partitions",
                ours=taken["ours"],
                peer=peer.version,
                theirs=taken["theirs"],
                goal=0.5,
            )
