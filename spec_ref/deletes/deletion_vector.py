"""Deletion vectors (Deletion Vectors; Puffin, `deletion-vector-v1` blob type).

A blob is the length of magic and vector (4 bytes, big-endian), the magic, the vector, and the CRC-32 of magic and
vector (4 bytes, big-endian). The vector is a 64-bit Roaring bitmap: a set bit at position P deletes the row at
position P (DEL008). The upper half of a position is the key of a 32-bit bitmap, and the lower half the position in it
(DEL009). A Puffin file may have vectors of several data files (DEL010).

Decided here, because the text leaves it open: a vector without positions is read (contradiction B17), and position 0 is
among the "positive" positions (contradiction B16).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable

import attrs
from pyroaring import BitMap64

from spec_ref.core.errors import Description, abbreviated_repr, spec_error
from spec_ref.core.records import record
from spec_ref.encodings.roaring import cardinality64

MAGIC = bytes.fromhex("D1D33964")
MAX_POSITION = (1 << 63) - 1

MAX_LISTED_POSITIONS = 1 << 27
"""The maximum number of positions in one array, which takes a gigabyte; a vector of a few kilobytes may have 2**32."""

_FRAME = len(MAGIC) + 8
"""The number of bytes of a blob outside of its vector."""


@record
class DeletionVector:
    """The positions of the deleted rows of one data file."""

    bitmap: BitMap64 = attrs.field(repr=False)
    """The set, which must not be changed."""

    cardinality: int
    """The number of positions."""

    def __contains__(self, position: int) -> bool:
        return 0 <= position <= MAX_POSITION and position in self.bitmap

    def positions(self) -> list[int]:
        """List all positions.

        Returns:
            The positions in ascending order.

        Raises:
            SpecError: PUF022, as `check_listable`.
        """
        self.check_listable()
        return list(self.bitmap.to_array())

    def check_listable(self) -> None:
        """Refuse to list more than `MAX_LISTED_POSITIONS` positions.

        Raises:
            SpecError: PUF022 if there are more than `MAX_LISTED_POSITIONS` positions.
        """
        if self.cardinality > MAX_LISTED_POSITIONS:
            expected = f"at most {MAX_LISTED_POSITIONS}"
            raise spec_error(
                "PUF022", "there are too many positions to list", found=self.cardinality, expected=expected
            )

    def ranges(self) -> list[tuple[int, int]]:
        """List the runs of consecutive positions.

        Returns:
            The first and the last position of each run, in ascending order.

        Raises:
            SpecError: PUF022, as `check_listable`.
        """
        found: list[tuple[int, int]] = []
        for position in self.positions():
            if found and position == found[-1][1] + 1:
                found[-1] = (found[-1][0], position)
            else:
                found.append((position, position))
        return found


def decode_deletion_vector(blob: bytes, count_positions: Callable[[bytes], int] = cardinality64) -> DeletionVector:
    """Decode the blob of a deletion vector.

    Args:
        blob: the bytes of the blob, as the Puffin file stores them.
        count_positions: checks the serialized bitmap and counts its positions; `cardinality64`, or a faster function.

    Returns:
        The deletion vector.

    Raises:
        SpecError: PUF018 if the length, the magic or the checksum is wrong; PUF019 if the vector is not well-formed in
            every container; PUF020 if a position is 2**63 or more.
    """
    if len(blob) < _FRAME:
        found, expected = Description(f"{len(blob)} bytes"), f"{_FRAME} bytes or more"
        raise spec_error("PUF018", "the blob is too short for a deletion vector", found=found, expected=expected)
    (length,) = struct.unpack_from(">I", blob)
    if length != len(blob) - 8:
        raise spec_error(
            "PUF018",
            "the length differs from that of the blob",
            found=length,
            expected=str(len(blob) - 8),
            aspect="length",
        )
    if blob[4:8] != MAGIC:
        raise spec_error(
            "PUF018",
            "the magic of a deletion vector is wrong",
            found=blob[4:8],
            expected=abbreviated_repr(MAGIC),
            aspect="magic",
        )
    (checksum,) = struct.unpack_from(">I", blob, len(blob) - 4)
    expected_checksum = zlib.crc32(memoryview(blob)[4:-4])
    if checksum != expected_checksum:
        expected = f"{expected_checksum:#010x}"
        raise spec_error(
            "PUF018",
            "the checksum does not match",
            found=Description(f"{checksum:#010x}"),
            expected=expected,
            aspect="checksum",
        )
    vector = blob[8:-4]
    cardinality = count_positions(vector)
    try:
        return DeletionVector(BitMap64.deserialize(vector), cardinality)
    except (ValueError, IndexError) as error:  # no bitmap is known that passes our checks and fails the library's
        raise spec_error("PUF019", f"the vector is not a bitmap: {error}") from error


def encode_deletion_vector(positions: Iterable[int] | BitMap64) -> bytes:
    """Encode a set of positions as the blob of a deletion vector.

    The bytes depend on the set alone: every container has the form that is smallest. Other writers may choose other
    forms, so vectors are compared by their positions, never by their bytes.

    Args:
        positions: the positions, in any order, possibly repeated.

    Returns:
        The bytes of the blob, with length, magic and checksum.

    Raises:
        SpecError: PUF020 if a position is not an integer from 0 to 2**63 - 1.
    """
    # Built from all positions at once: after single insertions, the containers would depend on their order.
    bitmap = BitMap64(_check_and_sort(positions))
    bitmap.run_optimize()
    body = MAGIC + bitmap.serialize()
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def _check_and_sort(positions: Iterable[int] | BitMap64) -> Iterable[int]:
    """Check the positions and return them in ascending order, without repetitions."""
    if isinstance(positions, BitMap64):
        if positions:
            check_position(positions.max())
        return positions
    listed = list(positions)
    for position in listed:
        check_position(position)
    return sorted(set(listed))


def check_position(position: object) -> None:
    """Check that a value is the position of a row.

    Args:
        position: the value to check.

    Raises:
        SpecError: PUF020 if it is not an integer from 0 to 2**63 - 1.
    """
    if type(position) is not int or not 0 <= position <= MAX_POSITION:
        raise spec_error(
            "PUF020", "the value is not a position", found=position, expected=f"an integer from 0 to {MAX_POSITION}"
        )
