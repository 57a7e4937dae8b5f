"""DFL005, DFL011 to DFL019, DFL027: metrics computed from the values of data files."""

import functools
import io
import json
import math
import struct
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from arrow_layouts import AWKWARD_FLOATS, batch_layouts, layouts
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.manifests.computed_metrics import (
    compute_array_metrics,
    compute_batch_metrics,
    leaf_array,
    leaf_names,
)
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.core.errors import SpecError
from spec_ref.data_files import orc_footer, orc_schema, parquet_arrow_types
from spec_ref.data_files.avro_metrics import avro_metrics
from spec_ref.data_files.orc_metrics import orc_metrics
from spec_ref.data_files.parquet_metrics import parquet_metrics
from spec_ref.data_files.writer import open_writer
from spec_ref.data_types.types import (
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    UNKNOWN,
    UUID,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    ListType,
    NestedField,
    StructType,
    kind,
)
from spec_ref.data_types.values import value_key
from spec_ref.encodings.geo.wkb import wkt_to_wkb
from spec_ref.manifests.computed_metrics import (
    COUNTS,
    FULL,
    NO_METRICS,
    TRUNCATED,
    MetricsMode,
    bound_order,
    columns_with_metrics,
    compute_metrics,
    compute_value_metrics,
    encode_bounds,
)
from spec_ref.manifests.data_file import FileFormat
from spec_ref.single_value.binary import from_binary, to_binary
from tools.value_strategies import primitive_types, values

GOLDEN = Path(__file__).parents[2] / "vectors" / "golden" / "data-files"
JAVA = {row["file"]: row["entry"] for row in json.loads((GOLDEN / "index.json").read_text())["data-files"]}
MAPS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")


def as_java(metrics):
    """The members of an entry as the index of the golden files has them."""
    made = {}
    for name in MAPS:
        found = getattr(metrics, name) or {}
        made[name] = {str(key): item.hex().upper() if isinstance(item, bytes) else item for key, item in found.items()}
    return made


def test_metrics_of_a_parquet_file_are_those_of_iceberg_java():
    java = JAVA["metrics.parquet"]
    with (GOLDEN / "metrics.parquet").open("rb") as file:
        found = parquet_metrics(file)
    assert as_java(found) == {name: java[name] for name in MAPS}
    assert list(found.split_offsets) == java["split_offsets"]
    assert (found.record_count, found.file_size_in_bytes) == (java["record_count"], java["file_size_in_bytes"])


IN_MAP, IN_STRUCT, NESTED = {"22", "23", "24"}, {"19", "21"}, {"16", "17", "18", "20"}


def test_metrics_of_an_orc_file_are_those_of_iceberg_java_except_for_what_is_nested():
    # Iceberg-Java gives ORC lists, maps and structs counts, leaves null structs out of the counts of their fields, and
    # gives binary columns no bounds.
    java = JAVA["metrics.orc"]
    found = orc_metrics((GOLDEN / "metrics.orc").read_bytes())
    ours = as_java(found)
    for name in MAPS:
        left_out = NESTED if name != "column_sizes" else IN_MAP
        left_out = (
            left_out | (IN_STRUCT if name.endswith("value_counts") else set()) | ({"10"} if "bounds" in name else set())
        )
        assert {key: item for key, item in ours[name].items() if key not in left_out} == {
            key: item for key, item in java[name].items() if key not in left_out
        }
    assert list(found.split_offsets) == java["split_offsets"]
    parquet = JAVA["metrics.parquet"]
    for name in MAPS[1:]:
        assert ours[name] == parquet[name], "the same rows have the same metrics in both formats"


def test_metrics_of_an_avro_file_are_those_of_the_same_rows_in_parquet():
    found = avro_metrics((GOLDEN / "metrics.avro").read_bytes())
    assert (found.column_sizes, found.split_offsets) == (None, None)
    assert {name: as_java(found)[name] for name in MAPS[1:]} == {
        name: JAVA["metrics.parquet"][name] for name in MAPS[1:]
    }


# Bounds


def bounds(type_, listed, width=None):
    lower, upper = encode_bounds(compute_value_metrics(type_, listed), width)
    return (None if lower is None else lower.hex().upper(), None if upper is None else upper.hex().upper())


def test_nan_and_null_are_counted_and_are_no_bounds():
    found = compute_value_metrics(DOUBLE, [math.nan, 1.0, None, -2.0])
    assert (found.values, found.nulls, found.nans, found.lower, found.upper) == (4, 1, 1, -2.0, 1.0)
    assert bounds(FLOAT, [math.nan, None]) == (None, None)


@pytest.mark.parametrize("listed", [[0.0, -0.0], [-0.0, 0.0]])
def test_negative_zero_is_below_zero(listed):
    assert bounds(DOUBLE, listed) == ("0000000000000080", "0000000000000000")
    assert bounds(DOUBLE, [0.0]) == ("0000000000000000", "0000000000000000")
    assert bounds(DOUBLE, [-0.0]) == ("0000000000000080", "0000000000000080")


def test_an_upper_bound_that_is_cut_is_valid_and_above():
    # The code point after U+D7FF is U+E000, as those between are surrogates.
    assert bounds(STRING, ["a" * 15 + "\ud7ff" + "zz"], 16) == (
        ("a" * 15 + "\ud7ff").encode().hex().upper(),
        ("a" * 15 + "\ue000").encode().hex().upper(),
    )
    assert bounds(STRING, ["\U0010ffff" * 17], 16) == (("\U0010ffff" * 16).encode().hex().upper(), None)
    assert bounds(BINARY, [b"\xff" * 17], 16) == ("FF" * 16, None)
    assert bounds(BINARY, [b"a\xff\xff"], 2) == ("61FF", "62")


def test_a_geography_off_the_globe_has_no_bounds():
    assert bounds(GeographyType(), [wkt_to_wkb("POINT (0 91)")]) == (None, None)


def test_fixed_values_are_not_cut():
    assert bounds(FixedType(20), [bytes(20), b"\xff" * 20], 16) == ("00" * 20, "FF" * 20)


def test_an_empty_string_is_a_bound():
    assert bounds(STRING, ["", "a"], 16) == ("", "61")


def test_strings_are_compared_by_code_point():
    # In UTF-16 the surrogates of U+1F600 are below U+FFFD.
    assert bounds(STRING, ["\U0001f600", "\ufffd"]) == ("EFBFBD", "F09F9880")


def test_geometries_have_the_corners_of_their_box():
    points = [wkt_to_wkb("POINT (30 10)"), wkt_to_wkb("LINESTRING (0 20, 5 -1)")]
    expected = (struct.pack("<2d", 0, -1).hex().upper(), struct.pack("<2d", 30, 20).hex().upper())
    assert bounds(GeometryType(), points) == expected
    assert bounds(GeographyType(), points) == (None, None)


@given(st.data())
def test_cut_bounds_hold_for_every_value(data):
    type_, strategy = data.draw(st.sampled_from([(STRING, st.text(max_size=6)), (BINARY, st.binary(max_size=6))]))
    listed = data.draw(st.lists(strategy, min_size=1, max_size=8))
    width = data.draw(st.integers(1, 4))
    lower, upper = encode_bounds(compute_value_metrics(type_, listed), width)
    encoded = [to_binary(type_, value) for value in listed]
    assert all(lower <= value for value in encoded)
    assert upper is None or all(value <= upper for value in encoded)
    if upper is not None:
        assert len(from_binary(type_, upper)) <= max(width, 0)


@given(st.data())
def test_metrics_of_parts_merge_to_those_of_the_whole(data):
    type_ = data.draw(primitive_types().filter(lambda type_: kind(type_) not in ("geometry", "geography")))
    listed = data.draw(st.lists(st.none() | values(type_), max_size=12))
    cut = data.draw(st.integers(0, len(listed)))
    whole = compute_value_metrics(type_, listed)
    merged = compute_value_metrics(type_, listed[:cut]).merge(compute_value_metrics(type_, listed[cut:]))
    assert encode_bounds(merged, None) == encode_bounds(whole, None)
    assert (merged.values, merged.nulls, merged.nans) == (whole.values, whole.nulls, whole.nans)
    key = bound_order(type_)
    assert all(
        key(whole.lower) <= key(value) <= key(whole.upper) for value in listed if value is not None and value == value
    )


# Arrow arrays


def arrow_array(type_, listed):
    """The values as an array that a Parquet file of the type is read as."""
    name = kind(type_)
    if name == "unknown":
        return pa.nulls(len(listed))
    arrow = pa.binary() if name in ("geometry", "geography") else parquet_arrow_types.arrow_type(type_)
    if name == "uuid":
        storage = pa.array([None if value is None else value.bytes for value in listed], pa.binary(16))
        return pa.ExtensionArray.from_storage(pa.uuid(), storage)
    if name == "date":
        return pa.array(listed, pa.int32()).cast(arrow)
    if name in ("time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"):
        return pa.array(listed, pa.int64()).cast(arrow)
    return pa.array(listed, arrow)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_arrays_have_the_metrics_of_their_values(data):
    type_ = data.draw(primitive_types())
    check_metrics(type_, data.draw(st.lists(st.none() | values(type_), max_size=10)), data)


@given(st.sampled_from([FLOAT, DOUBLE]), st.lists(AWKWARD_FLOATS, max_size=5), st.data())
def test_arrays_of_awkward_floats_have_the_metrics_of_their_values(type_, listed, data):
    check_metrics(type_, listed, data)


def check_metrics(type_, listed, data):
    array = arrow_array(type_, listed)
    found = compute_array_metrics(type_, data.draw(layouts(array, dictionary=True)))
    expected = compute_value_metrics(type_, listed)
    assert repr((found.values, found.nulls, found.nans)) == repr((expected.values, expected.nulls, expected.nans))
    assert encode_bounds(found, 16) == encode_bounds(expected, 16)


@st.composite
def tables(draw, primitives):
    """Columns of primitive types, some of them inside of structs, and rows."""
    drawn = draw(st.lists(primitives, min_size=1, max_size=4))
    fields = [NestedField(place, f"c{place}", False, type_) for place, type_ in enumerate(drawn, 1)]
    inner = StructType((NestedField(20, "s", False, StructType(tuple(fields[:1]))), *fields[1:2]))
    columns = StructType((NestedField(21, "t", False, inner), *fields[2:]))
    return columns, draw(st.lists(values(columns), max_size=8))


@settings(max_examples=60)
@given(tables(primitive_types()), st.integers(0, 8), st.data())
def test_batches_have_the_metrics_of_their_rows(case, cut, data):
    columns, rows = case
    batches = [
        data.draw(batch_layouts(make_batch(columns, part), dictionary=True)) for part in (rows[:cut], rows[cut:])
    ]
    assert compute_batch_metrics(columns, batches) == compute_metrics(columns, rows)
    for path, field_id, type_ in columns_with_metrics(columns):
        ids = {1: (21, 20, 1), 2: (21, 2)}.get(field_id, (field_id,))
        arrays = [leaf_array(batch, leaf_names(columns, path)) for batch in batches]
        found = [value_key(type_, one) for array in arrays for one in to_python_values(type_, array)]
        assert found == [value_key(type_, functools.reduce(lambda at, id_: at and at[id_], ids, row)) for row in rows]


def make_batch(columns, rows):
    arrays = [arrow_values(field.type, [row[field.id] for row in rows]) for field in columns.fields]
    return pa.RecordBatch.from_arrays(arrays, [field.name for field in columns.fields])


STORED = primitive_types().filter(lambda type_: kind(type_) not in ("unknown", "geometry", "geography"))
"""The types that every format has columns of and names in its schema: Avro's bytes may be WKB or not."""

METRICS = {FileFormat.PARQUET: parquet_metrics, FileFormat.ORC: orc_metrics, FileFormat.AVRO: avro_metrics}


@settings(max_examples=25)
@given(tables(STORED), st.sampled_from(list(METRICS)))
def test_files_have_the_metrics_of_their_rows(case, format_):
    columns, rows = case
    expected = compute_metrics(columns, rows)
    data = io.BytesIO()
    writer = open_writer(data, columns, format_)
    try:
        writer.write(make_batch(columns, rows))
    except SpecError:  # ORC has no place for a timestamp so far away
        assert format_ is FileFormat.ORC
        return
    writer.close()
    found = METRICS[format_](data.getvalue())
    assert found.record_count == len(rows)
    for name in MAPS[1:]:
        assert getattr(found, name) == getattr(expected, name), name


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=6))
def test_nanoseconds_are_cut_to_the_microsecond_before(listed):
    array = pa.array(listed, pa.int64()).cast(pa.timestamp("ns"))
    found = compute_array_metrics(TIMESTAMP, array)
    assert (found.lower, found.upper) == (min(listed) // 1000, max(listed) // 1000)
    assert compute_array_metrics(TIMESTAMP_NS, array).lower == min(listed)


def test_coarser_units_are_multiplied():
    assert compute_array_metrics(TIMESTAMP, pa.array([-5], pa.int64()).cast(pa.timestamp("ms"))).lower == -5000
    assert compute_array_metrics(TIMESTAMP_NS, pa.array([3], pa.int64()).cast(pa.timestamp("us"))).upper == 3000


def test_dictionaries_are_looked_through():
    found = compute_array_metrics(STRING, pa.array(["b", None, "a", "b"]).dictionary_encode())
    assert (found.lower, found.upper, found.nulls, found.values) == ("a", "b", 1, 4)


# Files

COLUMNS = StructType(
    (
        NestedField(1, "i", True, INT),
        NestedField(
            2,
            "s",
            False,
            StructType((NestedField(3, "d", True, DecimalType(5, 2)), NestedField(4, "u", False, UNKNOWN))),
        ),
        NestedField(5, "l", False, ListType(6, LONG, False)),
        NestedField(7, "dt", False, DATE),
    )
)
ROWS = [
    {"i": 5, "s": {"d": Decimal("1.50")}, "l": [1], "dt": -1},
    {"i": -3, "s": None, "l": None, "dt": None},
    {"i": 4, "s": {"d": Decimal("-2.25")}, "l": [], "dt": 3},
]


def table(schema):
    rows = [{**row, "dt": row["dt"]} for row in ROWS]
    arrays = [
        pa.array([row["i"] for row in rows], pa.int32()),
        pa.array([row["s"] for row in rows], schema.field("s").type),
        pa.array([row["l"] for row in rows], schema.field("l").type),
        pa.array([row["dt"] for row in rows], pa.int32()).cast(pa.date32()),
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def parquet_file(**options):
    sink = io.BytesIO()
    pq.write_table(
        table(parquet_arrow_types.arrow_schema(COLUMNS)), sink, **parquet_arrow_types.WRITER_OPTIONS, **options
    )
    return sink.getvalue()


def orc_file(**options):
    sink = io.BytesIO()
    orc.write_table(table(orc_schema.arrow_schema(COLUMNS)), sink, **options)
    return sink.getvalue()


EXPECTED = {
    "value_counts": {1: 3, 3: 3, 7: 3},
    "null_value_counts": {1: 0, 3: 1, 7: 1},
    "nan_value_counts": {},
    "lower_bounds": {1: b"\xfd\xff\xff\xff", 3: b"\xff\x1f", 7: b"\xff\xff\xff\xff"},
    "upper_bounds": {1: b"\x05\0\0\0", 3: b"\x00\x96", 7: b"\x03\0\0\0"},
}


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
def test_orc_files_of_every_compression(compression):
    found = orc_metrics(orc_file(compression=compression))
    assert {name: dict(getattr(found, name)) for name in EXPECTED} == EXPECTED
    assert found.split_offsets == (3,)
    assert set(found.column_sizes) == {1, 2, 3, 5, 6, 7}
    assert min(found.column_sizes.values()) > 0


def test_a_parquet_file_of_several_row_groups_has_bounds_over_all_of_them():
    found = parquet_metrics(parquet_file(row_group_size=1))
    assert {name: dict(getattr(found, name)) for name in EXPECTED} == EXPECTED
    assert len(found.split_offsets) == 3
    assert list(found.split_offsets) == sorted(found.split_offsets)
    assert found.split_offsets[0] == 4
    assert set(found.column_sizes) == {1, 3, 6, 7}


def test_rows_have_the_metrics_of_the_file():
    rows = [{1: row["i"], 2: row["s"] and {3: row["s"]["d"]}, 5: row["l"], 7: row["dt"]} for row in ROWS]
    found = compute_metrics(COLUMNS, rows)
    assert {name: dict(getattr(found, name)) for name in MAPS[1:]} == {
        **EXPECTED,
        "value_counts": {**EXPECTED["value_counts"], 4: 3},
        "null_value_counts": {**EXPECTED["null_value_counts"], 4: 3},
    }


def test_modes_keep_what_they_name():
    data = parquet_file()
    assert parquet_metrics(data, COUNTS).lower_bounds == {}
    assert parquet_metrics(data, COUNTS).value_counts == EXPECTED["value_counts"]
    none = parquet_metrics(data, NO_METRICS)
    assert (none.value_counts, none.column_sizes, none.record_count) == ({}, {}, 3)
    assert (
        parquet_metrics(data, FULL) == parquet_metrics(data, TRUNCATED) == parquet_metrics(data, MetricsMode(width=1))
    )


def test_a_file_of_no_rows_has_counts_of_zero_and_no_bounds():
    sink = io.BytesIO()
    schema = parquet_arrow_types.arrow_schema(StructType((NestedField(1, "u", False, UUID),)))
    pq.write_table(schema.empty_table(), sink)
    found = parquet_metrics(sink.getvalue())
    assert (found.record_count, found.value_counts, found.lower_bounds) == (0, {1: 0}, {})


NO_FILES = [b"", b"ORC", b"PAR1", b"Obj\x01", bytes(64), b"ORC" + b"\xff" * 40, b"PAR1" + bytes(40) + b"PAR1"]


@pytest.mark.parametrize("read", [orc_metrics, parquet_metrics, avro_metrics])
@pytest.mark.parametrize(
    "data", [b"", b"ORC", b"PAR1", b"Obj\x01", bytes(64), b"ORC" + b"\xff" * 40, b"PAR1" + bytes(40) + b"PAR1"]
)
def test_what_is_no_such_file_is_refused(read, data):
    with pytest.raises(SpecError):
        read(data)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_read(data):
    file, read = data.draw(st.sampled_from([(orc_file(), orc_metrics), (parquet_file(), parquet_metrics)]))
    damaged = bytearray(file)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(4, len(file) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        read(bytes(damaged))
    except SpecError:
        return


@pytest.mark.parametrize("codec", ["none", "zlib", "snappy"])
def test_stripes_that_name_the_same_bytes_again_and_again_are_refused(codec, monkeypatch):
    monkeypatch.setattr(orc_footer, "MAX_METADATA", 1 << 21)

    def field(number, value):
        return (
            bytes([number << 3]) + varint(value)
            if isinstance(value, int)
            else (varint(number << 3 | 2) + varint(len(value)) + value)
        )

    def varint(value):
        return bytes([value & 0x7F | 0x80]) + varint(value >> 7) if value > 0x7F else bytes([value])

    footer = field(3, b"\x08\x03\x20\x80\x80\x40") * 30_000  # a stripe at 3, whose footer has 2**20 bytes
    compression = {"none": 0, "zlib": 1, "snappy": 2}[codec]
    if compression:
        size = len(footer) << 1 | 1
        footer = size.to_bytes(3, "little") + footer
    # Where chunks are compressed, a stripe's footer is one chunk header of length 0 after the other.
    body = (b"\x01\0\0" if compression else b"\x0a\0") * (1 << 19)
    tail = field(1, len(footer)) + field(2, compression) + field(8000, b"ORC")
    with pytest.raises(SpecError, match=r"^ORC\d+: .*; found .?over \d+"):
        orc_metrics(b"ORC" + body + footer + tail + bytes([len(tail)]))
