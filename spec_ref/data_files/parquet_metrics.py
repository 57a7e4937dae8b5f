"""Metrics of Parquet files (Data File Fields; Appendix A, Parquet).

Counts and bounds are computed from the values, not from the statistics in the footer, which may be missing, truncated
or wrong; sizes and split offsets are those of the footer.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.columnar.manifests.computed_metrics import compute_batch_metrics
from spec_ref.core.errors import spec_error
from spec_ref.core.records import evolve
from spec_ref.data_files.parquet_schema import struct_from_parquet
from spec_ref.data_files.parquet_thrift import ParquetNode, read_parquet_schema
from spec_ref.data_types.types import StructType
from spec_ref.manifests.computed_metrics import TRUNCATED, FileMetrics, MetricsMode
from spec_ref.schemas.name_mapping import MappedField

BATCH_ROWS = 1 << 16


def parquet_metrics(
    file: BinaryIO | bytes, mode: MetricsMode = TRUNCATED, mapping: Sequence[MappedField] | None = None
) -> FileMetrics:
    """Compute the metrics of a file, as its entry in a manifest has them (DFL012 to DFL017).

    Args:
        file: the bytes, or a seekable file that is opened for reading.
        mode: the metrics to keep for every column.
        mapping: the table's name mapping, for a file without field ids; None if it has none.

    Returns:
        The metrics.

    Raises:
        SpecError: a column has no Iceberg type (`struct_from_parquet`); PQT007 for a file that is damaged.
    """
    root = read_parquet_schema(file)
    struct = struct_from_parquet(root, mapping)
    opened = io.BytesIO(file) if isinstance(file, bytes) else file
    size = opened.seek(0, io.SEEK_END)
    opened.seek(0)
    try:
        reader = pq.ParquetFile(opened)
        footer = reader.metadata
        made = compute_batch_metrics(struct, reader.iter_batches(BATCH_ROWS), mode)
    except (pa.ArrowException, OSError) as error:
        raise spec_error("PQT007", f"the file cannot be read: {error}") from error
    sizes: dict[int, int] = {}
    for column, field_id in enumerate(_column_ids(root, struct)):
        if field_id is not None and mode.counts:
            of_groups = (footer.row_group(group).column(column) for group in range(footer.num_row_groups))
            sizes[field_id] = sizes.get(field_id, 0) + sum(chunk.total_compressed_size for chunk in of_groups)
    return evolve(made, file_size_in_bytes=size, column_sizes=sizes, split_offsets=tuple(sorted(group_offsets(footer))))


def group_offsets(footer: pq.FileMetaData) -> Iterator[int]:
    """Find the offset of each row group: that of the first page of its first column.

    Args:
        footer: the metadata of the file.

    Yields:
        The offset of each row group with columns, in bytes.
    """
    for group in range(footer.num_row_groups):
        row_group = footer.row_group(group)
        if row_group.num_columns:
            first = row_group.column(0)
            pages = [first.data_page_offset]
            if first.dictionary_page_offset:  # 0 means unset: the magic is at that offset
                pages.append(first.dictionary_page_offset)
            yield min(pages)


def _column_ids(root: ParquetNode, struct: StructType) -> Iterator[int | None]:
    """Find the field id of every physical column, in order; the parts of a variant have the id of the variant."""
    yield from _ids_below(root, (), None, dict(_paths(struct)))


def _ids_below(
    node: ParquetNode, path: tuple[str, ...], parent_id: int | None, ids: dict[tuple[str, ...], int]
) -> Iterator[int | None]:
    if not node.children:
        yield parent_id
    for child in node.children:
        here = (*path, child.name)
        own = child.field_id if child.field_id is not None else ids.get(here)
        yield from _ids_below(child, here, own if own is not None else parent_id, ids)


def _paths(struct: StructType, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    for field in struct.fields:
        here = (*path, field.name)
        if isinstance(field.type, StructType):
            yield from _paths(field.type, here)
        else:
            yield here, field.id
