"""The interface for writing the rows of one data file, and its layout afterwards (Appendix A)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Protocol, TypeAlias

import pyarrow as pa

from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.records import record

OutputFile: TypeAlias = IO[bytes] | pa.NativeFile
"""A file that is opened for writing and has a position."""


@record
class FileLayout:
    """The locations of the columns in a file, for its manifest entry."""

    column_sizes: Mapping[int, int] | None = None
    """The number of bytes by the id of the column, element, key or value; None for a row-oriented file (DFL011)."""

    split_offsets: tuple[int, ...] | None = None
    """The offsets where the file can be split; None if the format has no such places (DFL019)."""


class DataFileWriter(Protocol):
    """Writes the rows of one file."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows.

        Args:
            batch: the columns of the file in the types of `spec_ref.columnar.schemas.column_projection`. Parquet makes
                a row group of them.

        Raises:
            SpecError: PQT007 or ORC008 if the rows cannot be written, or the code of the type of a value that Avro
                cannot represent.
        """

    def size(self) -> int:
        """About how many bytes the file has so far."""

    def close(self) -> FileLayout:
        """Write the rest of the file. The output stays open."""

    def abandon(self) -> None:
        """Stop writing, because the file is no longer needed."""


def write_error(requirement: str, error: Exception) -> SpecError:
    """Make the error for rows that the library behind a format cannot write.

    Args:
        requirement: the code of the rule.
        error: the error of the library.

    Returns:
        The error.
    """
    return spec_error(requirement, f"the rows cannot be written: {error}")
