"""Rows of scripts as Arrow tables, which adapters give to engines."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.adapter_sdk import arrow_literals
from spec_ref.core.json_types import Json

INNER = {"type": "struct", "fields": [{"id": 9, "name": "x", "required": True, "type": "uuid"}]}


@pytest.mark.parametrize(
    ("type_", "arrow"),
    [
        ("boolean", pa.bool_()),
        ("int", pa.int32()),
        ("long", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("decimal(38, 38)", pa.decimal128(38, 38)),
        ("date", pa.date32()),
        ("time", pa.time64("us")),
        ("timestamp", pa.timestamp("us")),
        ("timestamptz", pa.timestamp("us", "UTC")),
        ("timestamp_ns", pa.timestamp("ns")),
        ("timestamptz_ns", pa.timestamp("ns", "UTC")),
        ("string", pa.large_string()),
        ("uuid", pa.uuid()),
        ("fixed[3]", pa.binary(3)),
        ("binary", pa.large_binary()),
        (INNER, pa.struct([pa.field("x", pa.uuid(), nullable=False)])),
        ({"type": "list", "element": "int"}, pa.list_(pa.int32())),
        ({"type": "map", "key": "string", "value": "int"}, pa.map_(pa.string(), pa.int32())),
    ],
    ids=str,
)
def test_a_null_struct_may_have_required_fields(type_: Json, arrow: pa.DataType) -> None:
    """Engines write the table to Parquet, which refuses nulls of a required column below a null struct."""
    struct = {"type": "struct", "fields": [{"id": 2, "name": "f", "required": True, "type": type_}]}
    outer = {"type": "struct", "fields": [{"id": 3, "name": "s", "required": False, "type": struct}]}
    inner = pa.struct([pa.field("f", arrow, nullable=False)])
    schema = pa.schema([pa.field("c", pa.struct([pa.field("s", inner)]))])
    table = arrow_literals.table(schema, {"c": outer}, [{"c": None}, {"c": {"s": None}}])
    file = io.BytesIO()
    pq.write_table(table, file)
    assert pq.read_table(file).to_pylist() == table.to_pylist() == [{"c": None}, {"c": {"s": None}}]
