"""Rows of data files in any format, as Arrow batches (Appendix A; Column Projection)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from spec_ref.core.errors import spec_error
from spec_ref.core.records import record
from spec_ref.data_files.batches import BATCH_ROWS, Batches, InputFile
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField


@record
class DataFileReader:
    """An opened data file: its columns, and the function that reads its rows."""

    columns: FileColumns
    """The columns with their ids, from the file or the name mapping."""

    _batches: Batches

    def batches(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Read the rows in the order of the file, so that the first one has position 0.

        Args:
            columns: the names of the top-level columns to read; batches may have others too. If it is empty, batches
                only have a number of rows.
            rows: the maximum number of rows of a batch.

        Returns:
            An iterator over the batches.

        Raises:
            SpecError: PQT007, ORC008 or AVR001 to AVR014 if the file is damaged, or has values that cannot be read
                here; PRJ001 if a name is missing or repeated.
        """
        return self._batches(columns, rows)


def open_rows(
    file: InputFile,
    file_format: FileFormat,
    mapping: Sequence[MappedField] | None = None,
    *,
    use_threads: bool = False,
    use_dictionaries: bool = False,
    decryption_properties: Any = None,
    parquet_columns: FileColumns | None = None,
) -> DataFileReader:
    """Open a data file, position delete file or equality delete file.

    Args:
        file: the file; the caller closes it, after reading the batches.
        file_format: the format that the manifest entry names.
        mapping: the table's name mapping, for files without field ids; None if it has none.
        use_threads: whether columns may be decoded in several threads, if the format supports that.
        use_dictionaries: whether columns of strings and bytes may be returned as Arrow's dictionary arrays, which the
            projection (`spec_ref.columnar.schemas.column_projection`) accepts.
        decryption_properties: pyarrow's ``FileDecryptionProperties``, if the file is a Parquet file with modular
            encryption.
        parquet_columns: the columns of a Parquet file with the mapping, if its schema was read before.

    Returns:
        The opened file.

    Raises:
        SpecError: DFL003 for a format without rows; PQT001 to PQT007, ORC001 to ORC008 or AVR001 to AVR014 if the file
            is not of the format, or has columns that Iceberg cannot read.
    """
    # Each format is imported on first use, because importing all of them, especially ORC, is slow.
    if file_format is FileFormat.PARQUET:
        from spec_ref.data_files.parquet_reader import open_parquet  # noqa: PLC0415

        options = {
            "use_threads": use_threads,
            "use_dictionaries": use_dictionaries,
            "decryption_properties": decryption_properties,
        }
        return DataFileReader(*open_parquet(file, mapping, **options, known_columns=parquet_columns))
    if file_format is FileFormat.ORC:
        from spec_ref.data_files.orc_reader import open_orc  # noqa: PLC0415

        return DataFileReader(*open_orc(file, mapping))
    if file_format is FileFormat.AVRO:
        from spec_ref.data_files.avro_reader import open_avro  # noqa: PLC0415

        return DataFileReader(*open_avro(file, mapping))
    raise spec_error(
        "DFL003", "the file format does not store rows", found=file_format.value, expected="avro, orc or parquet"
    )
