"""Metrics of data files: those that Iceberg-Java records for its files, and hand-written ones of shapes and bytes.

No operation of the protocol returns them, so that the checks call the reference directly.
"""

from __future__ import annotations

import io
import json
import math
import struct
from functools import partial
from typing import Any

from tools.derive import avro, wkb
from tools.mutants.mutant import ROOT
from tools.mutants.values import Check, is_refused

GOLDEN = ROOT / "vectors" / "golden" / "data-files"

MAPS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
ORC_NESTED = frozenset({"16", "17", "18", "20", "22", "23", "24"})
"""Columns whose metrics differ in Iceberg-Java's ORC files: it counts lists, maps and structs, and leaves maps without
ids."""

ORC_OTHERWISE = {
    "column_sizes": frozenset({"22", "23", "24"}),
    "value_counts": ORC_NESTED | {"19", "21"},
    "null_value_counts": ORC_NESTED | {"19", "21"},
    "nan_value_counts": ORC_NESTED,
    "lower_bounds": ORC_NESTED | {"10"},
    "upper_bounds": ORC_NESTED | {"10"},
}


def _metrics_as_json(metrics: Any) -> dict[str, dict[str, Any]]:
    return {
        name: {
            str(key): item.hex().upper() if isinstance(item, bytes) else item
            for key, item in (getattr(metrics, name) or {}).items()
        }
        for name in MAPS
    }


def _java() -> dict[str, Any]:
    rows = json.loads((GOLDEN / "index.json").read_text(encoding="utf-8"))["data-files"]
    return {row["file"]: row["entry"] for row in rows}


def _parquet() -> bool:
    from spec_ref.data_files.parquet_metrics import parquet_metrics

    java, found = _java()["metrics.parquet"], parquet_metrics((GOLDEN / "metrics.parquet").read_bytes())
    return (
        _metrics_as_json(found) == {name: java[name] for name in MAPS}
        and list(found.split_offsets or ()) == java["split_offsets"]
    )


def _orc() -> bool:
    from spec_ref.data_files.orc_metrics import orc_metrics

    java, found = _java()["metrics.orc"], orc_metrics((GOLDEN / "metrics.orc").read_bytes())

    def alike(name: str) -> bool:
        left_out = ORC_OTHERWISE[name]
        ours, theirs = (
            {key: one for key, one in shown.items() if key not in left_out}
            for shown in (_metrics_as_json(found)[name], java[name])
        )
        return bool(ours == theirs)

    return all(map(alike, MAPS)) and list(found.split_offsets or ()) == java["split_offsets"]


def _avro() -> bool:
    """Check that an Avro file has the metrics that Iceberg-Java recorded for the same rows in Parquet, except sizes."""
    from spec_ref.data_files.avro_metrics import avro_metrics

    java, found = _java()["metrics.parquet"], _metrics_as_json(avro_metrics((GOLDEN / "metrics.avro").read_bytes()))
    return all(found[name] == java[name] for name in MAPS[1:]) and not found["column_sizes"]


def _parts_of_variants() -> bool:
    """Check that a record of metadata and value is a variant without ids, and a struct with ids (AVR011)."""
    from spec_ref.data_files.avro_metrics import avro_metrics

    def fields(*ids: int | None) -> list[dict[str, Any]]:
        return [
            {"name": name, "type": "bytes", **({} if id_ is None else {"field-id": id_})}
            for name, id_ in zip(("metadata", "value"), ids, strict=True)
        ]

    for of, parts, counted in (
        (fields(None, None), (b"\1\0\0", b"\0"), {"1": 2}),
        (fields(2, 3), (b"a", b"b"), {"2": 2, "3": 2}),
    ):
        record = {"type": "record", "name": "r1", "fields": of}
        schema = {"type": "record", "name": "table", "fields": [{"name": "v", "type": record, "field-id": 1}]}
        row = {"v": dict(zip(("metadata", "value"), parts, strict=True))}
        data = avro.container(schema, [(2, 2 * avro.encode(schema, row))], {})
        if _metrics_as_json(avro_metrics(data))["value_counts"] != counted:
            return False
    return True


def _point(*position: float) -> bytes:
    return wkb.point("<", {2: "", 3: "Z"}[len(position)], position)


LINE = wkb.line_string("<", "", [(0.0, 20.0), (5.0, -1.0)])
EMPTY = _point(math.nan, math.nan)
BOXES: tuple[tuple[str, str, tuple[bytes, ...], tuple[tuple[float, ...], tuple[float, ...]] | None], ...] = (
    ("points", "geometry", (_point(30.0, 10.0), _point(-1.0, 40.0)), ((-1.0, 10.0), (30.0, 40.0))),
    ("a-line", "geometry", (_point(30.0, 10.0), LINE), ((0.0, -1.0), (30.0, 20.0))),
    ("height", "geometry", (_point(1.0, 2.0, 3.0), _point(4.0, 0.0, 1.0)), ((1.0, 0.0, 1.0), (4.0, 2.0, 3.0))),
    ("empty", "geometry", (EMPTY,), None),
    ("empty-beside", "geometry", (EMPTY, _point(1.0, 2.0)), ((1.0, 2.0), (1.0, 2.0))),
    ("geography", "geography", (_point(30.0, 10.0), _point(-1.0, 40.0)), ((-1.0, 10.0), (30.0, 40.0))),
    ("geography-of-edges", "geography", (LINE,), None),
    ("geography-off-the-globe", "geography", (_point(0.0, 91.0),), None),
)
"""Objects, and the smallest and largest coordinates of each dimension, as `struct` packs them (BND001 to BND004).

There are no bounds if a dimension has no coordinates, or if edges of a geography may pass outside the coordinates."""


def _box(type_: str, objects: tuple[bytes, ...], corners: Any) -> bool:
    from spec_ref.manifests.computed_metrics import compute_value_metrics, encode_bounds
    from spec_ref.schemas.type_json import type_from_json

    found = encode_bounds(compute_value_metrics(type_from_json(type_), objects), 16)
    return found == ((None, None) if corners is None else tuple(struct.pack(f"<{len(one)}d", *one) for one in corners))


def _no_object() -> bool:
    """Check that bytes which are not well-known binary have no bounds, and that their file has a finding (NOT010)."""
    from spec_ref.manifests.computed_metrics import compute_value_metrics, encode_bounds
    from spec_ref.schemas.type_json import type_from_json

    type_ = type_from_json("geometry")
    return is_refused(lambda: encode_bounds(compute_value_metrics(type_, [b"\1\1\0"]), 16), "NOT010")


def _sizes() -> bool:
    """Check that the recorded column sizes are those of the file's footer, by the paths of the columns (DFL011)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from spec_ref.data_files.parquet_writer import ParquetWriter
    from spec_ref.schemas.type_json import type_from_json

    def field(id_: int, name: str, type_: Any) -> dict[str, Any]:
        return {"id": id_, "name": name, "required": False, "type": type_}

    prices = {"type": "map", "key-id": 3, "key": "string", "value-id": 4, "value": "long", "value-required": False}
    tags = {"type": "list", "element-id": 6, "element": "string", "element-required": False}
    inside = {"type": "struct", "fields": [field(8, "x", "int"), field(9, "y", "string")]}
    struct_: Any = type_from_json(
        {
            "type": "struct",
            "fields": [
                field(1, "id", "long"),
                field(2, "prices", prices),
                field(5, "tags", tags),
                field(7, "point", inside),
            ],
        }
    )
    paths = {
        "id": 1,
        "prices.key_value.key": 3,
        "prices.key_value.value": 4,
        "tags.list.element": 6,
        "point.x": 8,
        "point.y": 9,
    }
    rows = 100
    columns = [
        pa.array(range(rows), pa.int64()),
        pa.array([[(f"key {row}", row)] for row in range(rows)], pa.map_(pa.string(), pa.int64())),
        pa.array([[f"a longer tag {row}"] for row in range(rows)], pa.list_(pa.string())),
        pa.array(
            [{"x": row, "y": f"the longest text {row * row}"} for row in range(rows)],
            pa.struct([("x", pa.int32()), ("y", pa.string())]),
        ),
    ]
    out = io.BytesIO()
    made = ParquetWriter(out, struct_, "none")
    made.write(pa.RecordBatch.from_arrays(columns, ["id", "prices", "tags", "point"]))
    sizes = dict(made.close().column_sizes or {})
    group = pq.read_metadata(io.BytesIO(out.getvalue())).row_group(0)
    chunks = [group.column(place) for place in range(group.num_columns)]
    return sizes == {paths[one.path_in_schema]: one.total_compressed_size for one in chunks}


def _chunks() -> bool:
    """Check that a stored chunk that declares more bytes than its part of an ORC file is damaged (ORC008)."""
    import pyarrow as pa
    from pyarrow import orc

    from spec_ref.data_files.orc_footer import read_stripes

    out = io.BytesIO()
    orc.write_table(pa.table({"a": pa.array([1, 2, 3])}), out, compression="ZLIB")
    data = out.getvalue()
    stripes = len(read_stripes(data))
    postscript = data[-1]
    (footer,) = _varint(data, len(data) - 1 - postscript)
    at = len(data) - 1 - postscript - footer
    header = int.from_bytes(data[at : at + 3], "little")
    inflated = _inflate(data, at, header)

    def written(size: int) -> bytes:
        stored = (size << 1 | 1).to_bytes(3, "little") + inflated
        length = data[len(data) - 1 - postscript :]
        return data[:at] + stored + _with_length(length, len(stored))

    return len(read_stripes(written(len(inflated)))) == stripes and is_refused(
        lambda: read_stripes(written(len(inflated) + 5)), "ORC008"
    )


def _varint(data: bytes, at: int) -> tuple[int]:
    """Return the length of the footer, which is the first field of the postscript."""
    assert data[at] == 1 << 3
    value = shift = 0
    while True:
        at += 1
        value |= (data[at] & 0x7F) << shift
        shift += 7
        if data[at] < 0x80:
            return (value,)


def _inflate(data: bytes, at: int, header: int) -> bytes:
    import zlib

    chunk = data[at + 3 : at + 3 + (header >> 1)]
    return chunk if header & 1 else zlib.decompress(chunk, -15)


def _with_length(tail: bytes, length: int) -> bytes:
    """Return the postscript with a different footer length, and with its own new size at the end."""
    end = next(place for place in range(1, len(tail)) if tail[place] < 0x80) + 1
    number = bytearray()
    while length > 0x7F:
        number.append(length & 0x7F | 0x80)
        length >>= 7
    made = tail[:1] + bytes([*number, length]) + tail[end:-1]
    return made + bytes([len(made)])


def _units() -> bool:
    """Check that times stored in a coarser or finer unit are converted to the unit of the column."""
    import pyarrow as pa

    from spec_ref.columnar.manifests.computed_metrics import comparable_array
    from spec_ref.data_types.types import TIMESTAMP

    stored = ((pa.timestamp("ms"), 7, 7000), (pa.timestamp("us"), 7, 7), (pa.timestamp("ns"), -1, -1))
    return all(comparable_array(TIMESTAMP, pa.array([n], type_)).to_pylist() == [m] for type_, n, m in stored)


def metrics() -> dict[str, Check]:
    """Return the checks of metrics, on golden files and on shapes."""
    rows: tuple[tuple[Any, ...], ...] = BOXES
    boxes = {f"box {name}": partial(_box, *case) for name, *case in rows}
    return {
        "parquet": _parquet,
        "orc": _orc,
        "avro": _avro,
        "parts of variants": _parts_of_variants,
        **boxes,
        "no object": _no_object,
        "chunks": _chunks,
        "sizes": _sizes,
        "units": _units,
    }
