"""Corruptions that differ from a valid table in one small point: a sign, a bit, a name."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.validate.corruptions import corruption
from tests.validate.corruptions.statistics import V2, _statistics, _theta

TYPES = "types-v2-parquet"


@corruption("DFL021", "minus-zero-behind-zero", TYPES, "rows")
def _minus_zero(bench: Any) -> None:
    column = next(field for field in bench.schema["fields"] if field["type"] == "double")
    fields = [
        {"transform": "identity", "source-id": column["id"], "direction": "asc", "null-order": "nulls-first"},
    ]
    bench.metadata["sort-orders"].append({"order-id": 1, "fields": fields})
    bench.file["sort_order_id"] = 1
    table = pq.read_table(io.BytesIO(bench.read(bench.file["file_path"])))
    place = table.schema.get_field_index(column["name"])
    two = pa.concat_tables([table.slice(0, 1)] * 2).set_column(
        place, table.schema.field(place), pa.array([0.0, -0.0], pa.float64())
    )
    out = io.BytesIO()
    pq.write_table(two, out, store_schema=False, version="2.6", store_decimal_as_integer=True)
    for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        bench.file[name] = None
    bench.file["column_sizes"] = bench.file["split_offsets"] = None
    bench.file["record_count"] = 2
    bench.replace(bench.file["file_path"], out.getvalue())


@corruption("PUF017", "ndv-of-an-estimate-no-number", V2, "files")
def _estimate(bench: Any) -> None:
    header = bytes([3, 3, 3, 0, 0, 0x1A]) + (0x93CC).to_bytes(2, "little")
    _theta(bench, header + struct.pack("<IfQ", 0, 1.0, 12345), ndv="about 1")


@corruption("PUF005", "reserved-flag", V2, "files", severity="warning")
def _flag(bench: Any) -> None:
    path = _statistics(bench)["statistics-path"]
    content = bytearray(bench.replaced[path])
    content[-7] |= 0x10  # the second of the four bytes of flags before the magic
    bench.replaced[path] = bytes(content)


@corruption("NAM007", "name-of-two-columns", V2, "metadata")
def _two_names(bench: Any) -> None:
    mapping = [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["data", "id"]}]
    bench.metadata.setdefault("properties", {})["schema.name-mapping.default"] = json.dumps(mapping)
