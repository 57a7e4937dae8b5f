"""Rows of Parquet files as Arrow batches (Appendix A, Parquet; PQT001 to PQT007).

A row group is decoded batch by batch. pyarrow carries all types but variants that are shredded: of those it gives the
parts, and `spec_ref.schemas.projection_columnar` refuses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.errors import violation
from spec_ref.formats.parquet_schema import has_ids, struct_from_parquet
from spec_ref.formats.parquet_thrift import read_parquet_schema
from spec_ref.schemas.name_mapping import MappedField
from spec_ref.schemas.projection import WrittenColumns


def open_parquet(
    file: Any, mapping: Sequence[MappedField] | None, *, threads: bool = False
) -> tuple[WrittenColumns, Any]:
    """The columns of a file and what reads its batches; see `spec_ref.formats.data_files.open_rows`."""
    root = read_parquet_schema(file)
    struct = struct_from_parquet(root, mapping)
    written = WrittenColumns(struct, mapped=mapping is not None and not has_ids(root))

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            opened = pq.ParquetFile(file, coerce_int96_timestamp_unit="us", page_checksum_verification=True)
            yield from opened.iter_batches(rows, columns=list(columns), use_threads=threads)
        except (pa.ArrowException, OSError) as error:
            raise violation("PQT007", f"the file cannot be read: {error}") from error

    return written, batches
