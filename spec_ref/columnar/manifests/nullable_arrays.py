"""The parts of the columns of a manifest: numbers with a mask, and bounds that are still encoded (Manifests)."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.columnar.encodings.avro.columns import DecodedColumn, NullColumn, NumberColumn, split_nulls
from spec_ref.core.errors import SpecError, error_path
from spec_ref.data_types.types import Type
from spec_ref.single_value.bounds import decode_bound

Mask: TypeAlias = npt.NDArray[np.bool_]
Longs: TypeAlias = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Nullable:
    """Values with a mask of those that exist; the other values have no meaning."""

    values: npt.NDArray[Any]
    valid: Mask

    def take(self, rows: npt.NDArray[np.intp]) -> Nullable:
        """Select some rows.

        Args:
            rows: their numbers.

        Returns:
            The values of the rows.
        """
        return Nullable(self.values[rows], self.valid[rows])

    def to_list(self) -> list[Any]:
        """List the values as Python objects, None for null."""
        there = self.valid.tolist()
        return [value if valid else None for value, valid in zip(self.values.tolist(), there, strict=True)]


def nullable_numbers(column: DecodedColumn | None, length: int) -> Nullable:
    """Read a column of integers or booleans as 64-bit integers.

    Args:
        column: the column; None if a file does not have it.
        length: the number of rows.

    Returns:
        The numbers, null where the column is.
    """
    values, valid = np.zeros(length, np.int64), np.zeros(length, np.bool_)
    if column is not None:
        rows, numbers = split_nulls(column)
        if not isinstance(numbers, NullColumn):
            assert isinstance(numbers, NumberColumn)
            here = slice(None) if rows is None else rows
            values[here], valid[here] = numbers.values, True
    return Nullable(values, valid)


@attrs.frozen(eq=False)
class Bounds:
    """The bounds of one column as stored: the location of each in the decompressed bytes."""

    data: tuple[bytes, ...]
    part: npt.NDArray[np.int64]
    """The index in `data` of the bytes that contain each bound."""

    offsets: Longs
    lengths: Longs
    valid: Mask

    def take(self, rows: npt.NDArray[np.intp]) -> Bounds:
        """Select the bounds of some files.

        Args:
            rows: the numbers of the files, in the order of the result.

        Returns:
            The bounds of these files.
        """
        return Bounds(self.data, self.part[rows], self.offsets[rows], self.lengths[rows], self.valid[rows])

    def to_bytes(self) -> list[bytes | None]:
        """List the stored bytes, None if there is no bound."""
        rows = zip(self.part.tolist(), self.offsets.tolist(), self.lengths.tolist(), self.valid.tolist(), strict=True)
        return [self.data[part][at : at + size] if valid else None for part, at, size, valid in rows]

    def to_list(self, type_: Type) -> list[Any]:
        """Decode the bounds as values of the column's current type, promoted if they were stored as another.

        Args:
            type_: the type that the column has now.

        Returns:
            The bounds, None if there is none.

        Raises:
            SpecError: the codes of `spec_ref.single_value.bounds.decode_bound`; the path is the number of the entry.
        """
        made: list[Any] = []
        for number, data in enumerate(self.to_bytes()):
            try:
                made.append(None if data is None else decode_bound(type_, data))
            except SpecError:
                with error_path(f"/{number}"):
                    raise
        return made

    def fixed(self, rows: npt.NDArray[np.intp], size: int, form: str) -> npt.NDArray[Any]:
        """Read the bounds of some files, all of one length, as numbers.

        Args:
            rows: the numbers of bounds that exist.
            size: the length of each in bytes.
            form: the numpy type of the stored bytes.

        Returns:
            The numbers, one per row.
        """
        values = np.zeros(len(rows), form)
        for number, data in enumerate(self.data):
            mine = slice(None) if len(self.data) == 1 else np.nonzero(self.part[rows] == number)[0]
            windows = np.ndarray((max(len(data) - size + 1, 0),), form, data, strides=(1,))
            values[mine] = windows[self.offsets[rows][mine]]
        return values
