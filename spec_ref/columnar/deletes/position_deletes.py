"""Position delete files as sorted arrays: the kernel beside `spec_ref.deletes.position_deletes.deleted_positions`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.deletes.position_deletes import check_position

Positions = npt.NDArray[np.int64]
Deleted = Mapping[str, Positions]
"""Deleted positions by the path of the data file, ascending and each once."""

NONE: Positions = np.zeros(0, np.int64)


class DeletedRows(Protocol):
    """What knows which rows of one data file are deleted: positions, or a deletion vector."""

    def deleted(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """For ``count`` rows from position ``first`` on, whether each is deleted."""
        ...


class PositionSet:
    """Deleted positions of one data file, as sorted numbers."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions

    def deleted(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """For ``count`` rows from position ``first`` on, whether each is deleted."""
        mask = np.zeros(count, bool)
        start, end = np.searchsorted(self.positions, (first, first + count))
        mask[self.positions[start:end] - first] = True
        return mask


def read_position_deletes(batches: Iterable[pa.RecordBatch]) -> Deleted:
    """The deletes of one position delete file by data file, in time and memory of the order of its rows.

    Args:
        batches: the columns `POSITION_DELETE_FIELDS`, projected.

    Raises:
        SpecError: DEL013, for a negative position.
    """
    found: dict[str, list[Positions]] = {}
    for batch in batches:
        for path, positions in _by_path(batch):
            found.setdefault(path, []).append(positions)
    return {path: _set_of(parts) for path, parts in found.items()}


def _by_path(batch: pa.RecordBatch) -> Iterator[tuple[str, Positions]]:
    positions = np.asarray(batch.column("pos"))
    if len(positions):
        check_position(int(positions.min()))
    encoded: Any = batch.column("file_path").dictionary_encode()
    codes = np.asarray(encoded.indices)
    if len(encoded.dictionary) == 1:
        yield encoded.dictionary[0].as_py(), positions
        return
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    yield from zip(encoded.dictionary.to_pylist(), np.split(positions[order], ends[:-1]), strict=True)


def _set_of(parts: list[Positions]) -> Positions:
    """Positions ascending and each once; those that are sorted already, as they should be, are not sorted again."""
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return joined if (joined[1:] > joined[:-1]).all() else np.unique(joined)


def merged(deletes: Iterable[Deleted], path: str) -> PositionSet:
    """The positions that several position delete files delete in the data file with a path."""
    return PositionSet(_set_of([file.get(path, NONE) for file in deletes] or [NONE]))
