"""What writes the rows of one data file, and what it says of the file afterwards (Appendix A)."""

from __future__ import annotations

from typing import IO, Any, Protocol, TypeAlias

import pyarrow as pa

from spec_ref.core.errors import violation
from spec_ref.core.records import record

Output: TypeAlias = IO[bytes] | pa.NativeFile
"""A file that is opened for writing and tells its position."""


@record
class FileLayout:
    """Where a file has its columns, as its manifest entry tells."""

    column_sizes: dict[int, int] | None = None
    """Bytes by the id of the column, element, key or value; None for a row-oriented file (DFL011)."""

    split_offsets: tuple[int, ...] | None = None
    """Where the file can be split; None where the format has no such places (DFL019)."""


class DataFileWriter(Protocol):
    """What writes the rows of one file."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows.

        Args:
            batch: the columns of the file in the types of `spec_ref.columnar.schemas.column_projection`. Parquet makes
                a row group of them.
        """

    def size(self) -> int:
        """About how many bytes the file has by now."""

    def close(self) -> FileLayout:
        """Write what is left. The output stays open."""

    def abandon(self) -> None:
        """Write no more, as the file is not wanted any longer."""


def refused(requirement: str, error: Exception) -> Any:
    """The error for what the library behind a format cannot write."""
    return violation(requirement, f"the rows cannot be written: {error}")
