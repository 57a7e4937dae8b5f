"""Rows of data files in any format, as Python values (Appendix A).

pyarrow decodes the columns, and their values are converted to those of `spec_ref.data_types.values`: nothing is
projected, promoted or left out. pyarrow also encodes the rows that are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.schemas.arrow_columns import arrow_field
from spec_ref.columnar.schemas.column_projection import arrow_values, canonical_array, find_column
from spec_ref.core.errors import error_path
from spec_ref.data_files.batches import InputFile
from spec_ref.data_files.reader import open_rows
from spec_ref.data_files.row_writer import DataFileWriter
from spec_ref.data_types.types import NestedField
from spec_ref.manifests.data_file import FileFormat
from spec_ref.scan_planning.rows import RecordFile
from spec_ref.schemas.name_mapping import MappedField

BATCH_ROWS = 1 << 12


def open_records(
    file: InputFile,
    file_format: FileFormat,
    mapping: Sequence[MappedField] | None = None,
    *,
    decryption_properties: Any = None,
) -> RecordFile:
    """Open a data file, position delete file or equality delete file.

    Args:
        file: a seekable binary file object; the caller closes it after reading the rows.
        file_format: the format that the manifest entry names.
        mapping: the table's name mapping, for files without field ids.
        decryption_properties: pyarrow's ``FileDecryptionProperties``, if the file is a Parquet file with modular
            encryption.

    Returns:
        The columns of the file, and the function that reads its rows.

    Raises:
        SpecError: the file does not have the format, or has columns without an Iceberg type. If the file is damaged,
            the error may be raised only when rows are read.
    """
    reader = open_rows(file, file_format, mapping, decryption_properties=decryption_properties)

    def rows(columns: Sequence[NestedField]) -> Iterator[Mapping[int, Any]]:
        for batch in reader.batches([column.name for column in columns], BATCH_ROWS):
            values = []
            for column in columns:
                with error_path(f"/{column.name}"):
                    values.append(
                        to_python_values(column.type, canonical_array(column.type, find_column(batch, column.name)))
                    )
            for place in range(batch.num_rows):
                yield {column.id: own[place] for column, own in zip(columns, values, strict=True)}

    return RecordFile(reader.columns, rows)


def write_records(writer: DataFileWriter, fields: Sequence[NestedField], rows: Sequence[Mapping[int, Any]]) -> None:
    """Append rows to a file.

    Args:
        writer: the writer of the file, as `spec_ref.data_files.writer.open_writer` returns it.
        fields: the columns of the file.
        rows: the rows, with values by field id.

    Raises:
        SpecError: the code of the type of a value that the format cannot represent.
    """
    columns = [arrow_values(field.type, [row.get(field.id) for row in rows]) for field in fields]
    writer.write(pa.RecordBatch.from_arrays(columns, schema=pa.schema(list(map(arrow_field, fields)))))
