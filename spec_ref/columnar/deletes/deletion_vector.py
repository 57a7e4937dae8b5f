"""Deletion vectors as arrays: the kernels beside `spec_ref.deletes.deletion_vector`."""

from __future__ import annotations

from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from spec_ref.columnar.encodings.roaring import cardinality64
from spec_ref.deletes import deletion_vector
from spec_ref.deletes.deletion_vector import DeletionVector, check_position, encode_deletion_vector

Positions: TypeAlias = npt.NDArray[np.uint64]


@attrs.frozen
class PositionBitmap:
    """The deleted positions of one data file, in a deletion vector."""

    vector: DeletionVector

    def deleted_mask(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """Find the deleted rows in a range.

        Args:
            first: the position of the first row.
            count: the number of rows.

        Returns:
            A flag per row.
        """
        mask = np.zeros(count, dtype=bool)
        within = self.vector.bitmap & BitMap64(range(first, first + count))
        mask[np.asarray(within.to_array(), dtype=np.uint64).astype(np.int64) - first] = True
        return mask


def positions_array(vector: DeletionVector) -> Positions:
    """List all positions, as `DeletionVector.positions` does.

    Args:
        vector: the deletion vector.

    Returns:
        The positions in ascending order, as unsigned 64-bit integers.

    Raises:
        SpecError: PUF022 if there are too many positions to list.
    """
    vector.check_listable()
    return np.asarray(vector.bitmap.to_array(), dtype=np.uint64)


def position_ranges(vector: DeletionVector) -> list[tuple[int, int]]:
    """List the runs of consecutive positions, as `DeletionVector.ranges` does.

    Args:
        vector: the deletion vector.

    Returns:
        The first and the last position of each run, in ascending order.

    Raises:
        SpecError: PUF022 if there are too many positions to list.
    """
    positions = positions_array(vector)
    if not len(positions):
        return []
    ends = np.flatnonzero(np.diff(positions) != 1)
    firsts = positions[np.concatenate(([0], ends + 1))]
    lasts = positions[np.concatenate((ends, [len(positions) - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def decode_deletion_vector(blob: bytes) -> DeletionVector:
    """Decode a blob, as `spec_ref.deletes.deletion_vector.decode_deletion_vector` does.

    Args:
        blob: the bytes of the blob.

    Returns:
        The deletion vector.

    Raises:
        SpecError: PUF018 to PUF020, as the definition.
    """
    return deletion_vector.decode_deletion_vector(blob, cardinality64)


def encode_positions(positions: npt.NDArray[np.integer]) -> bytes:
    """Encode positions, as `spec_ref.deletes.deletion_vector.encode_deletion_vector` does.

    Args:
        positions: an array of integers, in any order, possibly repeated.

    Returns:
        The bytes of the blob.

    Raises:
        SpecError: PUF020 if a position is out of range.
    """
    unique = np.unique(positions)
    for position in (unique[:1], unique[-1:]):
        if position.size:
            check_position(int(position[0]))
    return encode_deletion_vector(BitMap64(unique.astype(np.uint64)))
