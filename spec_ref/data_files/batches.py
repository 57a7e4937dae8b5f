"""Batches of rows of data files, as every format gives them (Appendix A)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, TypeAlias

import pyarrow as pa

BATCH_ROWS = 1 << 18
"""Rows of a batch unless asked otherwise; larger ones are not faster, and smaller ones hold up the filters."""

Input: TypeAlias = IO[bytes] | pa.NativeFile
"""A file that is opened for reading and can seek."""

Batches: TypeAlias = Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]


def sliced(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of at most so many rows."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def counted(count: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Batches without columns that say how many rows there are."""
    for start in range(0, count, rows):
        yield empty_batch(min(rows, count - start))


def empty_batch(rows: int) -> Any:
    """A batch of so many rows without columns."""
    return pa.RecordBatch.from_arrays([pa.nulls(rows)], ["_"]).select([])
