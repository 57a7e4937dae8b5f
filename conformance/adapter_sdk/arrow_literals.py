"""Convert rows of scripts to Arrow, for engines that take Arrow tables.

This module runs in the environments of engines, so it imports only pyarrow.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pyarrow as pa

from conformance.adapter_sdk import lenient_values as native
from spec_ref.core.json_types import Json

COUNTED = {
    "date": pa.int32(),
    "time": pa.int64(),
    "timestamp": pa.int64(),
    "timestamptz": pa.int64(),
    "timestamp_ns": pa.int64(),
    "timestamptz_ns": pa.int64(),
}
"""Types that Arrow counts in the same units as `native`, and the Arrow type of the count."""


def table(schema: Any, types: dict[str, Json], rows: list[dict[str, Json]]) -> Any:
    """Convert rows to an Arrow table.

    Args:
        schema: the Arrow schema of the columns that the rows have.
        types: the types of the columns in JSON, by name.
        rows: the rows, each with its literals by column name.
    """
    columns = [array(field.type, types[field.name], [row[field.name] for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def array(arrow: Any, type_: Json, values: list[Json]) -> Any:
    """Convert literals of a type to an Arrow array."""
    name = native.kind(type_)
    missing = pa.array([value is None for value in values], pa.bool_())
    match name:
        case "struct":
            children = []
            for child, field in zip(arrow, type_["fields"], strict=True):
                other = None if child.nullable else native.placeholder(field["type"])
                inner = [other if one is None else one.get(field["name"]) for one in values]
                children.append(array(child.type, field["type"], inner))
            return pa.StructArray.from_arrays(children, fields=list(arrow), mask=missing)
        case "list":
            lists = [value or [] for value in values]
            items = array(arrow.value_type, type_["element"], [item for one in lists for item in one])
            offsets = _offsets(values, [len(one) for one in lists])
            kind: Any = pa.LargeListArray if pa.types.is_large_list(arrow) else pa.ListArray
            width = pa.int64() if kind is pa.LargeListArray else pa.int32()
            return kind.from_arrays(pa.array(offsets, width), items, type=arrow)
        case "map":
            maps = [value or {"keys": [], "values": []} for value in values]
            keys = array(arrow.key_type, type_["key"], [key for one in maps for key in one["keys"]])
            items = array(arrow.item_type, type_["value"], [item for one in maps for item in one["values"]])
            offsets = _offsets(values, [len(one["keys"]) for one in maps])
            maker: Any = pa.MapArray
            return maker.from_arrays(pa.array(offsets, pa.int32()), keys, items, type=arrow)
    read = [native.read(type_, value) for value in values]
    if name in COUNTED:
        return pa.array(read, COUNTED[name]).cast(arrow)
    if name == "uuid":
        data = pa.array([None if value is None else value.bytes for value in read], pa.binary(16))
        return pa.ExtensionArray.from_storage(arrow, data) if isinstance(arrow, pa.BaseExtensionType) else data
    return pa.array(read, arrow)


def _offsets(values: list[Json], lengths: list[int]) -> list[int | None]:
    """Return the offset of each value's first item, and the end; None where a value is null."""
    starts = list(accumulate(lengths, initial=0))
    return [*(None if value is None else start for value, start in zip(values, starts, strict=False)), starts[-1]]
