"""Writing data files and delete files of any format, from Arrow batches (Appendix A)."""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import spec_error
from spec_ref.data_files.row_writer import DataFileWriter, OutputFile
from spec_ref.data_types.types import StructType
from spec_ref.manifests.data_file import FileFormat


def open_writer(
    out: OutputFile,
    struct: StructType,
    file_format: FileFormat,
    *,
    codec: str | None = None,
    record_name: str = "table",
    encryption_properties: Any = None,
    target_bytes: int | None = None,
) -> DataFileWriter:
    """Open a writer for a new data file.

    Args:
        out: the output; the caller closes it.
        struct: the columns, with their ids.
        file_format: Parquet, ORC or Avro.
        codec: the compression codec, by its name in the format; zstd by default, deflate in Avro.
        record_name: the name of the outermost record of an Avro file.
        encryption_properties: pyarrow's ``FileEncryptionProperties`` for an encrypted Parquet file; None for a plain
            file, and for other formats.
        target_bytes: the size at which the caller ends the file; no stripe of an ORC file is larger.

    Returns:
        The writer of its rows.

    Raises:
        SpecError: DFL003 for a format without rows; PQT006, ORC005 or the code of a type for a column that cannot be
            written.
    """
    # Each format is imported on first use, because importing all of them, especially ORC, is slow.
    if file_format is FileFormat.PARQUET:
        from spec_ref.data_files.parquet_writer import ParquetWriter  # noqa: PLC0415

        return ParquetWriter(out, struct, codec or "zstd", encryption_properties)
    if file_format is FileFormat.ORC:
        from spec_ref.data_files.orc_writer import STRIPE_BYTES, OrcWriter  # noqa: PLC0415

        return OrcWriter(out, struct, codec or "zstd", min(STRIPE_BYTES, target_bytes or STRIPE_BYTES))
    if file_format is FileFormat.AVRO:
        from spec_ref.data_files.avro_writer import AvroWriter  # noqa: PLC0415

        return AvroWriter(out, struct, codec or "deflate", record_name)
    raise spec_error(
        "DFL003", "the file format does not store rows", found=file_format.value, expected="avro, orc or parquet"
    )
