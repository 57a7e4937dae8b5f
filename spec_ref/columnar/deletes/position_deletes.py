"""Position delete files as sorted arrays: the kernel beside `spec_ref.deletes.position_deletes.deleted_positions`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.deletes.position_deletes import check_position

Positions = npt.NDArray[np.int64]
DeletedPositions = Mapping[str, Positions]
"""The deleted positions by the path of their data file, ascending and without repetitions."""

NO_POSITIONS: Positions = np.zeros(0, np.int64)


class DeletedRows(Protocol):
    """The deleted rows of one data file: positions, or a deletion vector."""

    def deleted_mask(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """Find the deleted rows in a range.

        Args:
            first: the position of the first row.
            count: the number of rows.

        Returns:
            A flag per row.
        """
        ...


class PositionSet:
    """The deleted positions of one data file, as sorted numbers."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions

    def deleted_mask(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """Find the deleted rows in a range.

        Args:
            first: the position of the first row.
            count: the number of rows.

        Returns:
            A flag per row.
        """
        mask = np.zeros(count, bool)
        start, end = np.searchsorted(self.positions, (first, first + count))
        mask[self.positions[start:end] - first] = True
        return mask


def read_position_deletes(batches: Iterable[pa.RecordBatch]) -> DeletedPositions:
    """Read the deletes of one position delete file, in time and memory proportional to its rows.

    Args:
        batches: the columns `POSITION_DELETE_FIELDS`, projected.

    Returns:
        The deleted positions by data file.

    Raises:
        SpecError: DEL013 if a position is negative.
    """
    found: dict[str, list[Positions]] = {}
    for batch in batches:
        for path, positions in _by_path(batch):
            found.setdefault(path, []).append(positions)
    return {path: _sort_unique(parts) for path, parts in found.items()}


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


def _sort_unique(parts: list[Positions]) -> Positions:
    """Sort positions and drop repetitions; positions that are sorted already, as they should be, are kept."""
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return joined if (joined[1:] > joined[:-1]).all() else np.unique(joined)


def merge_deletes(deletes: Iterable[DeletedPositions], path: str) -> PositionSet:
    """Merge the positions that several position delete files delete in one data file.

    Args:
        deletes: the deletes of each file.
        path: the path of the data file.

    Returns:
        The positions.
    """
    return PositionSet(_sort_unique([file.get(path, NO_POSITIONS) for file in deletes] or [NO_POSITIONS]))
