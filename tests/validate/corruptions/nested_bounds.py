"""Corruptions of bounds that are not single values: boxes of geometries and geographies, and fields of variants."""

from __future__ import annotations

import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.data_files.parquet_arrow_types import arrow_type
from spec_ref.data_types.types import INT, STRING, GeographyType, GeometryType, Type
from spec_ref.single_value.variant_bounds import encode_variant_bound
from tests.validate.corruptions import corruption
from tools.shredded_files import variant_bytes

V3, VARIANTS = "row-lineage-parquet", "variant-parquet"
COLUMN = 2

POINTS = ((1.0, 5.0, 7.0, 9.0), (2.0, 6.0, 8.0, 10.0))


def point(*ordinates: float) -> bytes:
    """WKB of a point: XY, XYZ or XYZM, by the numbers of ISO 13249-3."""
    kind = {2: 1, 3: 1001, 4: 3001}[len(ordinates)]
    return struct.pack(f"<BI{len(ordinates)}d", 1, kind, *ordinates)


def corner(*ordinates: float) -> bytes:
    """A bound: two to four doubles, little-endian."""
    return struct.pack(f"<{len(ordinates)}d", *ordinates)


def objects(bench: Any, type_: Type, points: tuple[tuple[float, ...], ...]) -> None:
    """Let the second column be of geometries, in all files; bounds are left out."""
    for schema in bench.metadata["schemas"]:
        next(field for field in schema["fields"] if field["id"] == COLUMN)["type"] = str(type_)
    for manifest in bench.manifests:
        for file in manifest.files:
            table = pq.read_table(io.BytesIO(bench.read(file["file_path"])))
            values = [point(*points[row % len(points)]) for row in range(len(table))]
            arrow: Any = arrow_type(type_)
            column = pa.ExtensionArray.from_storage(arrow, pa.array(values, pa.binary()))
            place = table.schema.get_field_index("data")
            table = table.set_column(place, table.schema.field("data").with_type(arrow), column)
            out = io.BytesIO()
            pq.write_table(table, out, store_schema=False)
            bench.replace(file["file_path"], out.getvalue())
            file["column_sizes"] = file["split_offsets"] = None
            for name in ("value_counts", "null_value_counts", "lower_bounds", "upper_bounds"):
                file[name] = [one for one in file[name] or [] if one["key"] != COLUMN]


def bounds(bench: Any, lower: bytes | None, upper: bytes | None) -> None:
    """Give the second column of the first file bounds."""
    for name, data in (("lower_bounds", lower), ("upper_bounds", upper)):
        if data is not None:
            bench.file[name] = [*(bench.file[name] or []), {"key": COLUMN, "value": data}]


LOW, HIGH = (1.0, 5.0, 7.0, 9.0), (2.0, 6.0, 8.0, 10.0)
GEOMETRY, GEOGRAPHY = GeometryType(), GeographyType()

for _place, _name in enumerate("xyzm"):
    for _end, _sign in (("lower", 0.5), ("upper", -0.5)):

        @corruption("BND001", f"geometry-{_name}-beyond-{_end}", V3, "rows")
        def _beyond(bench: Any, place: int = _place, end: str = _end, sign: float = _sign) -> None:
            objects(bench, GEOMETRY, POINTS)
            corners = {"lower": list(LOW), "upper": list(HIGH)}
            corners[end][place] += sign
            bounds(bench, corner(*corners["lower"]), corner(*corners["upper"]))


@corruption("BND002", "geography-in-the-gap", V3, "rows")
def _gap(bench: Any) -> None:
    objects(bench, GEOGRAPHY, POINTS)
    bounds(bench, corner(170.0, 5.0), corner(1.5, 6.0))


@corruption("BND001", "geography-y-above", V3, "rows")
def _north(bench: Any) -> None:
    objects(bench, GEOGRAPHY, POINTS)
    bounds(bench, corner(170.0, 5.0), corner(2.0, 5.5))


@corruption("NOT010", "object-without-bounds-no-wkb", V3, "rows")
def _no_wkb(bench: Any) -> None:
    objects(bench, GEOMETRY, POINTS)
    bench_points = bench.file["file_path"]
    table = pq.read_table(io.BytesIO(bench.read(bench_points)))
    place = table.schema.get_field_index("data")
    arrow: Any = arrow_type(GEOMETRY)
    values = pa.ExtensionArray.from_storage(arrow, pa.array([b"\x01\x02"] * len(table), pa.binary()))
    out = io.BytesIO()
    pq.write_table(
        table.set_column(place, table.schema.field("data").with_type(arrow), values), out, store_schema=False
    )
    bench.replace(bench_points, out.getvalue())


@corruption("NOT010", "object-no-wkb", V3, "rows")
def _no_wkb_in_a_box(bench: Any) -> None:
    _no_wkb(bench)
    bounds(bench, corner(0.0, 0.0), corner(9.0, 9.0))


# Variants: 1, "ab", null, a variant null, [1, true], {"a": 1}


@corruption("BND007", "variant-field-below", VARIANTS, "rows")
def _field_below(bench: Any) -> None:
    bounds(bench, encode_variant_bound({"$['a']": (INT, 2)}), None)


@corruption("BND007", "variant-field-above", VARIANTS, "rows")
def _field_above(bench: Any) -> None:
    bounds(bench, None, encode_variant_bound({"$['a']": (INT, 0)}))


@corruption("BND008", "variant-root-of-many-types", VARIANTS, "rows")
def _many_types(bench: Any) -> None:
    bounds(bench, encode_variant_bound({"$": (INT, 0)}), None)


@corruption("BND008", "variant-field-of-another-type", VARIANTS, "rows")
def _another_type(bench: Any) -> None:
    bounds(bench, encode_variant_bound({"$['a']": (STRING, "")}), None)


@corruption("BND006", "variant-bounds-of-two-types", VARIANTS)
def _two_types(bench: Any) -> None:
    bounds(bench, encode_variant_bound({"$['a']": (INT, 0)}), encode_variant_bound({"$['a']": (STRING, "z")}))


# The same variants, whose numbers are shredded


def shredded(bench: Any, typed: tuple[int | None, ...] = (1, None, None, None, None, None)) -> None:
    """Let int8 be a shredded type of the variants; of rows that have both parts, the value stays."""
    table = pq.read_table(io.BytesIO(bench.read(bench.file["file_path"])))
    place = table.schema.get_field_index("v")
    rows = table.column(place).to_pylist()
    made = [
        None if row is None else {**row, "value": None if place == 0 else row["value"], "typed_value": one}
        for place, (row, one) in enumerate(zip(rows, typed, strict=True))
    ]
    type_ = pa.struct(
        [pa.field("metadata", pa.binary(), nullable=False), ("value", pa.binary()), ("typed_value", pa.int8())]
    )
    table = table.set_column(place, table.schema.field(place).with_type(type_), pa.array(made, type_))
    bench.replace(bench.file["file_path"], variant_bytes(table))
    bench.file["column_sizes"] = bench.file["split_offsets"] = None


@corruption("BND008", "shredded-variant-root-of-many-types", VARIANTS, "rows")
def _shredded_types(bench: Any) -> None:
    shredded(bench)
    bounds(bench, encode_variant_bound({"$": (INT, 0)}), None)


@corruption("BND007", "shredded-variant-field-above", VARIANTS, "rows")
def _shredded_above(bench: Any) -> None:
    shredded(bench)
    bounds(bench, None, encode_variant_bound({"$['a']": (INT, 0)}))


@corruption("PQT005", "shredded-variant-of-two-values", VARIANTS, "rows")
def _two_values(bench: Any) -> None:
    shredded(bench, (1, 2, None, None, None, None))
