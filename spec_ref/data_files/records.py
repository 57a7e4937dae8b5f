"""Rows of data files in any format, as values of Python (Appendix A).

The values of a column are decoded as pyarrow decodes them, and is a value of the spec from then on: nothing is
projected, promoted or left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.schemas.column_projection import canonical_array, find_column
from spec_ref.core.errors import error_path
from spec_ref.data_files.batches import InputFile
from spec_ref.data_files.reader import open_rows
from spec_ref.data_types.types import NestedField
from spec_ref.manifests.data_file import FileFormat
from spec_ref.scan_planning.rows import RecordFile
from spec_ref.schemas.name_mapping import MappedField

BATCH_ROWS = 1 << 12


def open_records(file: InputFile, file_format: FileFormat, mapping: Sequence[MappedField] | None = None) -> RecordFile:
    """Open a data file, position delete file or equality delete file.

    Args:
        file: is closed by the caller, after the rows.
        file_format: the format that the manifest entry names.
        mapping: the table's name mapping, for files without field ids.

    Returns:
        The columns of the file, and what reads its rows.

    Raises:
        SpecError: the file is not of the format, or has columns that no Iceberg type is stored as; then, while it is
            read, that it is damaged.
    """
    reader = open_rows(file, file_format, mapping)

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

    return RecordFile(reader.written, rows)
