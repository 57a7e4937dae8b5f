"""Rows of Parquet files as Arrow batches (Appendix A, Parquet; PQT001 to PQT007).

A row group is decoded batch by batch. Texts and bytes that a file stores as numbers of a dictionary can be given as
Arrow's dictionary arrays, so that rows which nobody wants are left out before they are copied. pyarrow carries all
types but variants that are shredded: of those it gives the parts, which `spec_ref.columnar.encodings.variant.shredding`
puts together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.core.errors import violation
from spec_ref.data_files.parquet_schema import columns_from_parquet
from spec_ref.data_files.parquet_thrift import read_parquet_schema
from spec_ref.data_types.types import BINARY, STRING, StructType
from spec_ref.schemas.column_projection import WrittenColumns
from spec_ref.schemas.name_mapping import MappedField

INDEX_BYTES = 4
DICTIONARY_BYTES = 1 << 20
"""A column chunk that has more bytes than an index for each value and this is not stored by a dictionary alone."""


def open_parquet(
    file: Any, mapping: Sequence[MappedField] | None, *, threads: bool = False, dictionaries: bool = False
) -> tuple[WrittenColumns, Any]:
    """The columns of a file and what reads its batches; see `spec_ref.data_files.reader.open_rows`."""
    written = columns_from_parquet(read_parquet_schema(file), mapping)

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            opened = _opened(file)
            if dictionaries and (coded := _by_dictionary(opened.metadata, written.struct)):
                opened = _opened(file, metadata=opened.metadata, read_dictionary=coded)
            yield from opened.iter_batches(rows, columns=list(columns), use_threads=threads)
        except (pa.ArrowException, OSError) as error:
            raise violation("PQT007", f"the file cannot be read: {error}") from error

    return written, batches


def _opened(file: Any, **options: Any) -> pq.ParquetFile:
    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us", page_checksum_verification=True, **options)


def _by_dictionary(footer: pq.FileMetaData, struct: StructType) -> list[str]:
    """The columns of texts and bytes of which every row group has a dictionary, and no page without, as far as sizes
    and encodings tell.

    Of a page without one pyarrow would make a dictionary, which takes longer than to read it.
    """
    names = [field.name for field in struct.fields if field.type in {STRING, BINARY} and "." not in field.name]
    places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    groups = [footer.row_group(group) for group in range(footer.num_row_groups)]
    return [
        name
        for name in names
        if name in places and groups and all(_one_dictionary(group.column(places[name])) for group in groups)
    ]


def _one_dictionary(chunk: pq.ColumnChunkMetaData) -> bool:
    most = INDEX_BYTES * chunk.num_values + DICTIONARY_BYTES
    plain = chunk.encodings.count("PLAIN")  # once for the dictionary itself
    return bool(chunk.has_dictionary_page) and plain <= 1 and chunk.total_uncompressed_size <= most
