"""Writing data files and delete files of any format, from Arrow batches (Appendix A)."""

from __future__ import annotations

from typing import IO, Any, Protocol, TypeAlias

import pyarrow as pa

from spec_ref.errors import violation
from spec_ref.manifests.data_file import FileFormat
from spec_ref.records import record
from spec_ref.schemas.types import StructType

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


def open_writer(
    out: Output, struct: StructType, file_format: FileFormat, *, codec: str | None = None, name: str = "table"
) -> DataFileWriter:
    """Begin a file.

    Args:
        out: where to; it is closed by the caller.
        struct: the columns, with their ids.
        file_format: Parquet, ORC or Avro.
        codec: how it is compressed, by the name that the format has for it; zstd where not given, deflate in Avro.
        name: the name of the record, in Avro.

    Raises:
        SpecError: DFL003, for a format that has no rows; PQT006, ORC005 and the codes of types for a column that
            cannot be written here.
    """
    # Each is imported when it is needed, since ORC alone takes a while.
    if file_format is FileFormat.PARQUET:
        from spec_ref.data_files.parquet_writer import ParquetWriter

        return ParquetWriter(out, struct, codec or "zstd")
    if file_format is FileFormat.ORC:
        from spec_ref.data_files.orc_writer import OrcWriter

        return OrcWriter(out, struct, codec or "zstd")
    if file_format is FileFormat.AVRO:
        from spec_ref.data_files.avro_writer import AvroWriter

        return AvroWriter(out, struct, codec or "deflate", name)
    raise violation("DFL003", "the file format has no rows", found=file_format.value, expected="avro, orc or parquet")


def refused(requirement: str, error: Exception) -> Any:
    """The error for what the library behind a format cannot write."""
    return violation(requirement, f"the rows cannot be written: {error}")
