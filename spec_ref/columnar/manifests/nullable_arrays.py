"""What the columns of a manifest are made of: numbers with a mask, and bounds that are still encoded."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.core.errors import SpecError, at
from spec_ref.data_types.types import Type
from spec_ref.single_value.bounds import decode_bound

Mask: TypeAlias = npt.NDArray[np.bool_]
Longs: TypeAlias = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Nullable:
    """Values with a mask of those that are there; the values elsewhere mean nothing."""

    values: npt.NDArray[Any]
    valid: Mask

    def to_list(self) -> list[Any]:
        """The values as Python objects, None for null."""
        there = self.valid.tolist()
        return [value if valid else None for value, valid in zip(self.values.tolist(), there, strict=True)]


@attrs.frozen(eq=False)
class Bounds:
    """The bounds of one column, as they are stored: where each stands in the decompressed bytes."""

    data: tuple[bytes, ...]
    part: npt.NDArray[np.int64]
    """Which of `data` each bound stands in."""

    offsets: Longs
    lengths: Longs
    valid: Mask

    def to_bytes(self) -> list[bytes | None]:
        """The stored bytes, None where there is no bound."""
        rows = zip(self.part.tolist(), self.offsets.tolist(), self.lengths.tolist(), self.valid.tolist(), strict=True)
        return [self.data[part][at : at + size] if valid else None for part, at, size, valid in rows]

    def to_list(self, type_: Type) -> list[Any]:
        """The bounds as values of the column's type of today, promoted where they were stored as another.

        Raises:
            SpecError: a bound is not one of the type; the path is the number of the entry.
        """
        made: list[Any] = []
        for number, data in enumerate(self.to_bytes()):
            try:
                made.append(None if data is None else decode_bound(type_, data))
            except SpecError:
                with at(f"/{number}"):
                    raise
        return made

    def fixed(self, rows: npt.NDArray[np.intp], size: int, form: str) -> npt.NDArray[Any]:
        """The bounds of some files, all of them of one length, as numbers.

        Args:
            rows: the places of bounds that are there.
            size: the length of each.
            form: the numpy type of the stored bytes.
        """
        values = np.zeros(len(rows), form)
        for number, data in enumerate(self.data):
            mine = slice(None) if len(self.data) == 1 else np.nonzero(self.part[rows] == number)[0]
            windows = np.ndarray((max(len(data) - size + 1, 0),), form, data, strides=(1,))
            values[mine] = windows[self.offsets[rows][mine]]
        return values
