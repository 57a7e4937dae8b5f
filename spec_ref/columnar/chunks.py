"""Chunks of arrays: kernels work on a part at a time, so that what a step touches stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

CHUNK_SIZE = 1 << 15
"""The number of values that are handled together."""


def chunk_slices(count: int, size: int | None = None) -> Iterator[slice]:
    """Divide values into slices.

    Args:
        count: the number of values.
        size: the maximum size of a slice; `CHUNK_SIZE` if None.

    Returns:
        The slices.
    """
    step = CHUNK_SIZE if size is None else size
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
