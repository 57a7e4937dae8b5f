"""Corruptions of how columns are stored: another type, annotation or length than the appendix asks for (Appendix A)."""

from __future__ import annotations

import copy
import io
import zlib
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from tests.validate.corruptions import corruption
from tests.validate.corruptions.nested_bounds import VARIANTS

PARQUET, ORC = "types-v3-parquet", "types-v3-orc"

METRICS = ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds", "column_sizes")


def declared(bench: Any, name: str, type_: str) -> None:
    """Let all schemas declare a column as of another type; entries say nothing of it."""
    for schema in bench.metadata["schemas"]:
        field = next(field for field in schema["fields"] if field["name"] == name)
        field["type"] = type_
    without_metrics(bench, field["id"])


def without_metrics(bench: Any, field_id: int) -> None:
    """Let entries say nothing of a column, and nothing of the layout of files."""
    for manifest in bench.manifests:
        for file in manifest.files:
            file["split_offsets"] = None
            for metric in METRICS:
                file[metric] = [one for one in file.get(metric) or [] if one["key"] != field_id] or None


def rewrite_columns(bench: Any, make: Any, *, is_orc: bool = False) -> None:
    """Rewrite the files of the table with other columns."""
    for manifest in bench.manifests:
        for file in manifest.files:
            data, out = io.BytesIO(bench.read(file["file_path"])), io.BytesIO()
            if is_orc:
                orc.write_table(make(orc.ORCFile(data).read()), out)
            else:
                pq.write_table(make(pq.read_table(data)), out, store_schema=False, store_decimal_as_integer=True)
            bench.replace(file["file_path"], out.getvalue())
            file["column_sizes"] = file["split_offsets"] = None


def cast(name: str, type_: pa.DataType) -> Any:
    """What gives a column another Arrow type."""

    def make(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        column = table.column(place).combine_chunks()
        stored = column.storage if isinstance(column, pa.ExtensionArray) else column
        field = table.schema.field(place).with_type(type_)
        return table.set_column(place, field, stored.cast(type_, safe=False))

    return make


def values(name: str, given: list[bytes | None]) -> Any:
    """What gives a column other values, in turns."""

    def make(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        rows = [given[row % len(given)] for row in range(len(table))]
        return table.set_column(place, field, pa.array(rows, field.type))

    return make


for _type in ("geometry", "geography"):
    for _format, _table, _code in (("parquet", PARQUET, "PQT005"), ("orc", ORC, "ORC005")):

        @corruption(_code, f"{_type}-as-plain-bytes-in-{_format}", _table, "files")
        def _plain(bench: Any, type_: str = _type) -> None:
            declared(bench, "bin", type_)


for _format, _table, _code in (("parquet", PARQUET, "PQT006"), ("orc", ORC, "ORC005")):

    @corruption(_code, f"column-of-type-unknown-in-{_format}", _table, "files")
    def _unknown(bench: Any) -> None:
        declared(bench, "n", "unknown")


@corruption("PQT004", "timestamps-of-milliseconds", PARQUET, "files", severity="warning")
def _milliseconds(bench: Any) -> None:
    rewrite_columns(bench, cast("ts", pa.timestamp("ms")))


@corruption("PQT004", "uuid-without-annotation", PARQUET, "files", severity="tolerated")
def _plain_uuid(bench: Any) -> None:
    rewrite_columns(bench, cast("u", pa.binary(16)))


@corruption("EVO001", "file-wider-than-the-newest-schema", PARQUET, "files", severity="warning")
def _narrowed(bench: Any) -> None:
    """The newest schema goes back from long to int, as an older one may have been; files have longs."""
    newest = copy.deepcopy(bench.schema)
    newest["schema-id"] = bench.metadata["current-schema-id"] = 50
    next(field for field in newest["fields"] if field["name"] == "l")["type"] = "int"
    bench.metadata["schemas"].append(newest)
    without_metrics(bench, 4)


@corruption("PQT002", "list-called-a-map", PARQUET, "files")
def _list_called_map(bench: Any) -> None:
    """The footer says MAP, in both annotations, of a group that has one element below it."""
    field = {"id": 900, "name": "l3", "required": False}
    for schema in bench.metadata["schemas"]:
        schema["fields"].append(
            {**field, "type": {"type": "list", "element-id": 901, "element": "int", "element-required": False}}
        )
    bench.metadata["last-column-id"] = 901
    element = pa.field("element", pa.int32(), metadata={"PARQUET:field_id": "901"})
    column = pa.field("l3", pa.list_(element), metadata={"PARQUET:field_id": "900"})
    rewrite_columns(bench, lambda table: table.append_column(column, pa.nulls(len(table), column.type)))
    for manifest in bench.manifests:
        for file in manifest.files:
            content = bench.read(file["file_path"])
            # SchemaElement: converted_type LIST, then the field id; its logical type LIST
            for before, after in (
                (b"\x15\x02\x15\x06\x35\x88\x0e", b"\x15\x02\x15\x02\x35\x88\x0e"),
                (b"\x88\x0e\x1c\x3c\x00\x00", b"\x88\x0e\x1c\x2c\x00\x00"),
            ):
                assert content.count(before) == 1
                content = content.replace(before, after)
            bench.replace(file["file_path"], content)


@corruption("TYP023", "fixed-too-long-in-orc", ORC, "rows")
def _long_fixed(bench: Any) -> None:
    without_metrics(bench, 16)
    rewrite_columns(bench, values("fx", [b"four"]), is_orc=True)


@corruption("ORC002", "uuid-too-short-in-orc", ORC, "rows")
def _short_uuid(bench: Any) -> None:
    without_metrics(bench, 15)
    rewrite_columns(bench, values("u", [b"fifteen bytes.."]), is_orc=True)


# The pages of the file are stored as they are, in frames of Zstandard, so that their bytes can be changed.


@corruption("TYP006", "variant-of-version-2", VARIANTS, "rows")
def _variant_version(bench: Any) -> None:
    _patched(bench, b"\x03\x00\x00\x00\x01\x00\x00", b"\x03\x00\x00\x00\x02\x00\x00")


@corruption("TYP006", "variant-cut-off", VARIANTS, "rows")
def _variant_cut(bench: Any) -> None:
    """An int of 8 bits becomes one of 64, of which there is one byte."""
    _patched(bench, b"\x02\x00\x00\x00\x0c\x01", b"\x02\x00\x00\x00\x18\x01")


def _patched(bench: Any, before: bytes, after: bytes) -> None:
    """Change bytes of a page, and its checksum with them."""
    location = bench.file["file_path"]
    content = bench.read(location)
    at = content.index(before)
    start = content.rindex(ZSTD_MAGIC, 0, at)
    header, page = content[start - 40 : start], content[start:]
    length = next(length for length in range(at + len(before) - start, 400) if _checksum(page[:length]) in header)
    changed = page[:length].replace(before, after)
    header = header.replace(_checksum(page[:length]), _checksum(changed))
    assert len(header) == 40
    bench.replace(location, content[: start - 40] + header + changed + page[length:])


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def _checksum(page: bytes) -> bytes:
    """The CRC as the header of a page has it: a signed number, in zigzag, in seven bits a byte."""
    crc = zlib.crc32(page)
    number = ((crc << 1) ^ (0xFFFFFFFF if crc >> 31 else 0)) & 0xFFFFFFFF
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
