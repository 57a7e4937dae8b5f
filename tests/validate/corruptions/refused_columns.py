"""Corruptions for which a reader refuses a column or a blob before reading its rows (Appendix A; Puffin)."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.validate.corruptions import corruption
from tests.validate.corruptions.deletes import VECTORS, _footer
from tests.validate.corruptions.nested_bounds import VARIANTS
from tests.validate.corruptions.statistics import PARTITIONED, partition_statistics
from tests.validate.corruptions.stored_types import rewrite_columns, without_metrics
from tools.shredded_files import variant_bytes

PARQUET, ORC, ORC_V3 = "types-v3-parquet", "types-v2-orc", "types-v3-orc"


# ORC


def orc_column(bench: Any, name: str, attributes: dict[str, str], type_: pa.DataType | None = None) -> None:
    """Rewrite the ORC files of the table with other attributes of a column, and with nulls of another type."""

    def make(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        stored: Any = {**(field.metadata or {})} | attributes
        field = field.with_metadata(stored)
        column: Any = table.column(place)
        if type_ is not None:
            field, column = field.with_type(type_), pa.nulls(len(table)).cast(type_)
        return table.set_column(place, field, column)

    rewrite_columns(bench, make, is_orc=True)
    without_metrics(bench, next(field["id"] for field in bench.schema["fields"] if field["name"] == name))


@corruption("ORC002", "length-no-number", ORC, "files")
def _length(bench: Any) -> None:
    orc_column(bench, "fx", {"iceberg.length": "x"})


@corruption("ORC003", "unit-unknown", ORC, "files")
def _unit(bench: Any) -> None:
    orc_column(bench, "ts", {"iceberg.timestamp-unit": "MILLIS"})


@corruption("ORC005", "variant-of-one-part", ORC_V3, "files")
def _variant(bench: Any) -> None:
    orc_column(bench, "n", {"iceberg.struct-type": "VARIANT"}, pa.struct([("value", pa.binary())]))


@corruption("PRJ001", "two-columns-of-one-name-in-orc", ORC, "rows", also=("TYP002",))
def _one_name(bench: Any) -> None:
    rewrite_columns(bench, lambda table: table.append_column(table.schema.field(0), table.column(0)), is_orc=True)


@corruption("ORC003", "list-with-the-year-69", ORC, "rows", severity="info")
def _year_69(bench: Any) -> None:
    """Timestamps of lists are read by pyarrow alone, which counts nanoseconds."""
    attributes = {"iceberg.id": "901", "iceberg.required": "false", "iceberg.timestamp-unit": "MICROS"}
    inner = pa.list_(pa.field("element", pa.timestamp("us"), metadata=attributes))
    field = pa.field("times", inner, metadata={"iceberg.id": "900", "iceberg.required": "false"})
    for schema in bench.metadata["schemas"]:
        schema["fields"].append(
            {
                "id": 900,
                "name": "times",
                "required": False,
                "type": {"type": "list", "element-id": 901, "element": "timestamp", "element-required": False},
            }
        )
    bench.metadata["last-column-id"] = 901
    rewrite_columns(
        bench,
        lambda table: table.append_column(field, pa.array([[-60_000_000_000_000_000]] * len(table), inner)),
        is_orc=True,
    )


# Parquet


@corruption("PQT006", "column-of-nulls-written", PARQUET, "files")
def _nulls(bench: Any) -> None:
    field = pa.field("unk", pa.null(), metadata={"PARQUET:field_id": "900"})
    for schema in bench.metadata["schemas"]:
        schema["fields"].append({"id": 900, "name": "unk", "required": False, "type": "unknown"})
    bench.metadata["last-column-id"] = 900
    rewrite_columns(bench, lambda table: table.append_column(field, pa.nulls(len(table))))


def variants(bench: Any, *fields: pa.Field[Any], without_metadata: bool = False) -> None:
    """Let variants be stored as groups of these fields, with the values that there are."""
    table = pq.read_table(io.BytesIO(bench.read(bench.file["file_path"])))
    place = table.schema.get_field_index("v")
    rows = table.column(place).to_pylist()
    if without_metadata:
        rows = [None if row is None else {**row, "metadata": None} for row in rows]
    type_ = pa.struct(list(fields))
    table = table.set_column(place, table.schema.field(place).with_type(type_), pa.array(rows, type_))
    bench.replace(bench.file["file_path"], variant_bytes(table))
    bench.file["column_sizes"] = bench.file["split_offsets"] = None


METADATA, VALUE = pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())


@corruption("PQT005", "part-of-a-variant-with-an-id", VARIANTS, "files")
def _part_with_id(bench: Any) -> None:
    variants(bench, METADATA, VALUE.with_metadata({"PARQUET:field_id": "900"}))


@corruption("PQT005", "shredded-variant-of-unsigned-numbers", VARIANTS, "files")
def _unsigned(bench: Any) -> None:
    variants(bench, METADATA, VALUE, pa.field("typed_value", pa.uint32()))


@corruption("PQT005", "variant-without-metadata", VARIANTS, "rows")
def _no_metadata(bench: Any) -> None:
    variants(bench, METADATA.with_nullable(True), VALUE, pa.field("typed_value", pa.int8()), without_metadata=True)


# Puffin


@corruption("PUF018", "too-short-for-a-vector", VECTORS, "files", also=("PUF001",))
def _too_short(bench: Any) -> None:
    for file in bench.deletes.files:
        file["content_size_in_bytes"] = 6
    _footer(bench, lambda payload: [blob.update(length=6) for blob in payload["blobs"]])


# Partition statistics


@corruption("TRN012", "day-of-a-string-under-partition-statistics", PARTITIONED, "files")
def _day_of_a_string(bench: Any) -> None:
    """The type of the field is not known, and so not the unified partition type."""
    partition_statistics(bench)
    column = next(field["id"] for field in bench.schema["fields"] if field["type"] == "string")
    field = {"source-id": column, "field-id": 1900, "name": "of_text", "transform": "day"}
    bench.metadata["partition-specs"].append({"spec-id": 90, "fields": [field]})
    bench.metadata["last-partition-id"] = 1900
