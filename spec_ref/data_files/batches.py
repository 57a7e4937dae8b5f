"""Batches of rows, as the readers of all data file formats return them (Appendix A)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, TypeAlias

import pyarrow as pa

BATCH_ROWS = 1 << 18
"""The default number of rows of a batch; larger ones are not faster, and smaller ones slow filters down."""

InputFile: TypeAlias = IO[bytes] | pa.NativeFile
"""A seekable file that is opened for reading."""

Batches: TypeAlias = Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]


def slice_batch(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """Split a batch.

    Args:
        batch: a batch.
        rows: the maximum number of rows of a piece.

    Yields:
        Each piece.
    """
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def empty_batches(count: int, rows: int) -> Iterator[pa.RecordBatch]:
    """Make batches without columns that only have a number of rows.

    Args:
        count: the number of rows of all batches.
        rows: the maximum number of rows of a batch.

    Yields:
        Each batch.
    """
    for start in range(0, count, rows):
        yield empty_batch(min(rows, count - start))


def empty_batch(rows: int) -> Any:
    """Make a batch without columns.

    Args:
        rows: the number of its rows.

    Returns:
        The batch.
    """
    return pa.RecordBatch.from_arrays([pa.nulls(rows)], ["_"]).select([])
