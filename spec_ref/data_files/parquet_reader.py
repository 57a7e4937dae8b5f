"""Rows of Parquet files as Arrow batches (Appendix A, Parquet; PQT001 to PQT007).

A row group is decoded batch by batch. Texts and bytes that a file stores as indexes of a dictionary can be returned as
Arrow's dictionary arrays, so that unwanted rows are dropped before they are copied. pyarrow supports all types except
shredded variants: it returns their parts, which `spec_ref.columnar.encodings.variant.shredding` joins.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.core.errors import spec_error
from spec_ref.data_files.parquet_schema import columns_from_parquet
from spec_ref.data_files.parquet_thrift import read_parquet_schema
from spec_ref.data_types.types import BINARY, STRING, StructType
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField

INDEX_BYTES = 4
DICTIONARY_BYTES = 1 << 20
"""A column chunk is not stored by a dictionary alone if it has more bytes than this plus an index for each value."""


def open_parquet(
    file: Any,
    mapping: Sequence[MappedField] | None,
    *,
    use_threads: bool = False,
    use_dictionaries: bool = False,
    decryption_properties: Any = None,
    known_columns: FileColumns | None = None,
) -> tuple[FileColumns, Any]:
    """Open a Parquet file; see `spec_ref.data_files.reader.open_rows`.

    Args:
        file: a seekable file that is opened for reading.
        mapping: the table's name mapping; None if it has none.
        use_threads: whether pyarrow may decode columns in several threads.
        use_dictionaries: whether texts and bytes may be returned as dictionary arrays.
        decryption_properties: pyarrow's ``FileDecryptionProperties``, if the file is encrypted.
        known_columns: the columns of the file with the mapping, if its schema was read before.

    Returns:
        The columns of the file, and the function that reads its batches.

    Raises:
        SpecError: PQT001 to PQT007 if the file cannot be read.
    """
    written = known_columns
    if written is None:
        footer = file if decryption_properties is None else decrypted_footer(file, decryption_properties)
        written = columns_from_parquet(read_parquet_schema(footer), mapping)
    options = {} if decryption_properties is None else {"decryption_properties": decryption_properties}

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            opened = _open_file(file, **options)
            if use_dictionaries and (coded := _dictionary_columns(opened.metadata, written.struct)):
                opened = _open_file(file, metadata=opened.metadata, read_dictionary=coded, **options)
            yield from opened.iter_batches(rows, columns=list(columns), use_threads=use_threads)
        except (pa.ArrowException, OSError) as error:
            raise spec_error("PQT007", f"the file cannot be read: {error}") from error

    return written, batches


def decrypted_footer(file: Any, decryption_properties: Any) -> io.BytesIO:
    """Write the footer of an encrypted file as that of a file without encryption and without rows.

    Args:
        file: a seekable file that is opened for reading.
        decryption_properties: pyarrow's ``FileDecryptionProperties``.

    Returns:
        A file with the footer alone.

    Raises:
        SpecError: PQT007 if the file cannot be decrypted.
    """
    found = io.BytesIO()
    try:
        _open_file(file, decryption_properties=decryption_properties).metadata.write_metadata_file(found)
    except (pa.ArrowException, OSError) as error:
        raise spec_error("PQT007", f"the file cannot be decrypted: {error}") from error
    found.seek(0)
    return found


def _open_file(file: Any, **options: Any) -> pq.ParquetFile:
    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us", page_checksum_verification=True, **options)


def _dictionary_columns(footer: pq.FileMetaData, struct: StructType) -> list[str]:
    """Find the columns of strings and bytes that every row group stores by a dictionary only, judging by sizes.

    If a page has no dictionary, pyarrow would build one, which takes longer than reading the values.

    Returns:
        The names of the columns.
    """
    names = [field.name for field in struct.fields if field.type in {STRING, BINARY} and "." not in field.name]
    places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
    return [
        name
        for name in names
        if name in places and groups and all(_has_only_dictionary_pages(group.column(places[name])) for group in groups)
    ]


def _has_only_dictionary_pages(chunk: pq.ColumnChunkMetaData) -> bool:
    most = INDEX_BYTES * chunk.num_values + DICTIONARY_BYTES
    plain = chunk.encodings.count("PLAIN")  # once for the dictionary itself
    return bool(chunk.has_dictionary_page) and plain <= 1 and chunk.total_uncompressed_size <= most
