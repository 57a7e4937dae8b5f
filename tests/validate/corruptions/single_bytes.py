"""Corruptions of single bytes of Parquet files: pages that nothing is said of, and the Thrift structs of the footer."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.validate.corruptions import corruption
from tests.validate.corruptions.data_files import rewritten

V2, TYPES = "position-deletes-parquet", "types-v2-parquet"


@corruption("PQT007", "page-of-a-column-that-nothing-is-said-of", V2, "rows")
def _page_of_nothing(bench: Any) -> None:
    content = bytearray(bench.read(bench.file["file_path"]))
    column = pq.ParquetFile(io.BytesIO(bytes(content))).metadata.row_group(0).column(1)
    content[(column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1] ^= 1
    bench.replace(bench.file["file_path"], bytes(content))
    _nothing_said(bench.file)


@corruption("PQT007", "page-of-a-list", "nested-parquet", "rows")
def _page_of_a_list(bench: Any) -> None:
    content = bytearray(bench.read(bench.file["file_path"]))
    group = pq.ParquetFile(io.BytesIO(bytes(content))).metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    column = next(one for one in columns if ".list." in one.path_in_schema)
    content[(column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1] ^= 1
    bench.replace(bench.file["file_path"], bytes(content))


@corruption("TYP021", "string-no-utf-8-that-nothing-is-said-of", TYPES, "rows")
def _text_of_nothing(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("s")
        return table.set_column(place, table.schema.field(place), pa.array([b"\xff"] * len(table)).view(pa.string()))

    rewritten(bench, bench.file["file_path"], change, bench.file)
    _nothing_said(bench.file)


def _nothing_said(file: dict[str, Any]) -> None:
    for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        file[name] = None


@corruption("PQT001", "logical-type-no-struct", TYPES, "files")
def _no_struct(bench: Any) -> None:
    content = bench.read(bench.file["file_path"])
    text = b"\x18\x01s%\x005\x1c\x1c\x1c\x00\x00"  # the name s, converted type UTF8, id 14, logical type {1: {}}
    assert content.count(text) == 1
    bench.replace(bench.file["file_path"], content.replace(text, b"\x18\x01s%\x005\x1c\x1c\x14\x00\x00"))


@corruption("PQT007", "statistics-no-struct", TYPES, "files")
def _statistics_no_struct(bench: Any) -> None:
    content = bytearray(bench.read(bench.file["file_path"]))
    group = pq.ParquetFile(io.BytesIO(bytes(content))).metadata.row_group(0)
    at = content.rindex(b"&" + _zigzag(group.column(0).data_page_offset) + b"<") + len(_zigzag(4)) + 1
    assert content[at] == ord("<")  # field 12, a struct
    content[at] = 0x39  # field 12, a list
    bench.replace(bench.file["file_path"], bytes(content))


def _zigzag(value: int) -> bytes:
    made = bytearray()
    value <<= 1
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])
