"""Parquet files of shredded variants: pyarrow writes everything except their annotation, which is added here."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.data_files.parquet_footer import VARIANT_UNION, add_logical_types
from spec_ref.data_files.parquet_thrift import ParquetNode, read_parquet_schema

OPTIONS: dict[str, Any] = {"version": "2.6", "store_decimal_as_integer": True, "store_schema": False}


def variant_bytes(table: pa.Table, **options: Any) -> bytes:
    """Yield a Parquet file of an Arrow table, whose groups with a field ``metadata`` are variants, shredded or not."""
    out = io.BytesIO()
    pq.write_table(table, out, **{**OPTIONS, **options})

    def unions(node: ParquetNode) -> Iterator[bytes | None]:
        yield VARIANT_UNION if any(child.name == "metadata" for child in node.children) else None
        for child in node.children:
            yield from unions(child)

    return add_logical_types(out.getvalue(), list(unions(read_parquet_schema(out))))
