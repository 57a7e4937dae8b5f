"""ORC001, PQT005: maps and variants in written files, and the addition of what pyarrow leaves out of footers."""

import io
import struct

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.schemas.column_projection import arrow_values
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_files.deferred_sink import DeferredSink, PartialFile, TailRecordingSink
from spec_ref.data_files.orc_metrics import orc_layout
from spec_ref.data_files.orc_schema import field_attributes
from spec_ref.data_files.orc_writer import OrcWriter
from spec_ref.data_files.parquet_arrow_types import WRITER_OPTIONS, arrow_schema
from spec_ref.data_files.parquet_footer import with_logical_types
from spec_ref.data_files.parquet_metrics import parquet_metrics
from spec_ref.data_files.parquet_schema import check_parquet_schema, struct_from_parquet
from spec_ref.data_files.parquet_thrift import read_footer, read_parquet_schema
from spec_ref.data_files.reader import open_rows
from spec_ref.data_files.records import open_records, write_records
from spec_ref.data_files.storage_arrays import to_storage_batch
from spec_ref.data_files.writer import open_writer
from spec_ref.data_types.types import (
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARIANT,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.data_types.values import value_key
from spec_ref.encodings.variant.physical_types import Variant
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.type_json import type_from_json
from tools.value_strategies import values

PARQUET, ORC, AVRO = FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO
KARNEY = type_from_json("geography(srid:4326, karney)")
POINT = struct.pack("<BI2d", 1, 1, 3.0, 4.0)
NUMBER = Variant(b"\x01\x00\x00", b"\x0c\x22")
NULL = Variant(b"\x01\x00\x00", b"\x00")
"""The variant that is null, which is a value."""

INSIDE = StructType(
    (
        NestedField(11, "v", required=False, type=VARIANT),
        NestedField(12, "m", required=True, type=MapType(13, INT, 14, ListType(15, VARIANT, element_required=True))),
    )
)
INNER = MapType(9, INT, 10, VARIANT, value_required=False)
LISTED = ListType(6, MapType(7, STRING, 8, INNER, value_required=False), element_required=False)
DEEP = StructType(
    (
        NestedField(1, "id", required=True, type=LONG),
        NestedField(2, "m", required=False, type=MapType(3, STRING, 4, INSIDE, value_required=True)),
        NestedField(5, "l", required=False, type=LISTED),
        NestedField(16, "v", required=True, type=VARIANT),
        NestedField(17, "g", required=False, type=KARNEY),
    )
)
ROWS = [
    {
        1: 1,
        2: (("a", {11: NUMBER, 12: ((1, (NUMBER, NULL)), (2, ()))}), ("b", {11: None, 12: ()})),
        5: ((("x", ((1, NUMBER), (2, None))), ("y", None)), None, ()),
        16: NULL,
        17: POINT,
    },
    {1: 2, 2: (), 5: (), 16: NUMBER, 17: None},
    {1: 3, 2: None, 5: None, 16: NUMBER, 17: POINT},
]


def make_batch(columns: StructType, rows) -> pa.RecordBatch:
    arrays = [arrow_values(field.type, [row[field.id] for row in rows]) for field in columns.fields]
    return pa.RecordBatch.from_arrays(arrays, [field.name for field in columns.fields])


def write_file(columns: StructType, rows, format_: FileFormat) -> bytes:
    out = io.BytesIO()
    writer = open_writer(out, columns, format_)
    write_records(writer, columns.fields, rows)
    writer.close()
    return out.getvalue()


def read(data: bytes, format_: FileFormat):
    """The columns and the rows of a file."""
    opened = open_rows(io.BytesIO(data), format_)
    columns = opened.columns.struct
    names = [field.name for field in columns.fields]
    rows = []
    for batch in opened.batches(names):
        made = [to_python_values(field.type, batch.column(field.name)) for field in columns.fields]
        rows += [dict(zip([field.id for field in columns.fields], row, strict=True)) for row in zip(*made, strict=True)]
    return columns, rows


def keys(columns: StructType, rows):
    return [value_key(columns, row) for row in rows]


def without_algorithm(type_: Type) -> Type:
    """ORC has no place for the parameters of a geography."""
    return StructType(
        tuple(
            evolve(field, type=type_from_json("geography")) if field.type == KARNEY else field for field in type_.fields
        )
    )


def test_maps_and_variants_at_every_depth_come_back():  # TYP037
    for format_ in (PARQUET, ORC):
        columns, rows = read(write_file(DEEP, ROWS, format_), format_)
        assert columns == (DEEP if format_ is PARQUET else without_algorithm(DEEP))
        assert rows == ROWS


LEAVES = st.sampled_from([INT, LONG, STRING, VARIANT, type_from_json("fixed[3]"), type_from_json("decimal(20, 2)")])


def _nested(inner):
    fields = st.lists(st.tuples(inner, st.booleans()), min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda key, value, required: MapType(0, key, 0, value, required), inner, inner, st.booleans()),
        st.builds(lambda element, required: ListType(0, element, required), inner, st.booleans()),
        fields.map(
            lambda made: StructType(
                tuple(NestedField(0, f"f{place}", required, type_) for place, (type_, required) in enumerate(made))
            )
        ),
    )


def numbered(type_: Type, ids: "list[int]") -> Type:
    """A type with ids of its own everywhere."""

    def next_id() -> int:
        ids[0] += 1
        return ids[0]

    match type_:
        case StructType(fields):
            made = [(next_id(), field) for field in fields]
            return StructType(
                tuple(NestedField(id_, field.name, field.required, numbered(field.type, ids)) for id_, field in made)
            )
        case ListType(_, element, required):
            return ListType(next_id(), numbered(element, ids), required)
        case MapType(_, key, _, value, required):
            return MapType(next_id(), numbered(key, ids), next_id(), numbered(value, ids), required)
    return type_


@st.composite
def files(draw):
    nested = _nested(st.recursive(LEAVES, _nested, max_leaves=4))
    fields = draw(st.lists(st.tuples(nested | LEAVES, st.booleans()), min_size=1, max_size=3))
    columns = StructType(tuple(NestedField(0, f"c{i}", required, type_) for i, (type_, required) in enumerate(fields)))
    columns = numbered(columns, [0])
    return columns, draw(st.lists(values(columns), max_size=6))


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(files())
def test_any_nested_rows_come_back_with_ids_and_what_is_required(case):
    columns, rows = case
    for format_ in (PARQUET, ORC, AVRO):
        data = write_file(columns, rows, format_)
        records = open_records(io.BytesIO(data), format_)
        assert records.columns.struct == columns
        assert keys(columns, records.rows(columns.fields)) == keys(columns, rows)
        if format_ is not AVRO:  # its columns are not values before they are projected
            found, back = read(data, format_)
            assert (found, keys(columns, back)) == (columns, keys(columns, rows))


def bare(columns: StructType, rows) -> bytes:
    """A Parquet file as pyarrow writes it."""
    out = io.BytesIO()
    schema = arrow_schema(columns)
    rows = to_storage_batch(columns, make_batch(columns, rows), schema)
    pq.write_table(pa.Table.from_batches([rows]), out, **WRITER_OPTIONS)
    return out.getvalue()


MAPPED = StructType((NestedField(1, "m", required=False, type=MapType(2, STRING, 3, INSIDE)),))


def test_pyarrow_leaves_the_annotation_out():
    """Else nothing of it would be tested, nor needed."""
    alone = StructType((NestedField(1, "v", required=False, type=VARIANT),))
    assert struct_from_parquet(read_parquet_schema(write_file(alone, [], PARQUET))) == alone
    with pytest.raises(SpecError, match="/v/metadata: PQT001"):
        struct_from_parquet(read_parquet_schema(bare(alone, [])))


def test_attributes_in_a_footer():
    schema = orc.ORCFile(io.BytesIO(write_file(MAPPED, [{1: None}], ORC))).schema
    map_ = schema.field("m").type
    assert field_attributes(schema.field("m")) == {"iceberg.id": "1", "iceberg.required": "false"}
    assert field_attributes(map_.key_field) == {"iceberg.id": "2", "iceberg.required": "true"}
    assert field_attributes(map_.item_field) == {"iceberg.id": "3", "iceberg.required": "true"}
    inside = map_.item_type
    variant = {"iceberg.id": "11", "iceberg.required": "false", "iceberg.struct-type": "VARIANT"}
    assert field_attributes(inside.field("v")) == variant


def test_a_parquet_footer_is_else_as_it_was():
    before = bare(DEEP, ROWS)
    after = before[:100] + with_logical_types(before[100:], DEEP)
    old, new = read_footer(before), read_footer(after)
    assert before[: -8 - len(old)] == after[: -8 - len(new)]
    variant = bytes([0x1C, 0x0C, 16 << 1, 0x13, 1, 0, 0])
    """Field 10, a union; in it field 16, a struct; in it field 1, a byte of 1; and the ends of both."""
    assert new.count(variant) == 4
    assert bytes([0x45, 16 << 1]) + variant + bytes([0]) in new  # behind field 9, the id, and before the end
    edges = bytes([0x0C, 18 << 1, 0x18, 9]) + b"srid:4326" + bytes([0x15, 4 << 1, 0, 0])
    assert new.count(edges) == 1
    one, other = (pq.ParquetFile(io.BytesIO(data)) for data in (before, after))
    assert one.metadata.to_dict() | {"serialized_size": 0} == other.metadata.to_dict() | {"serialized_size": 0}
    assert list(check_parquet_schema(read_parquet_schema(after))) == []


def test_a_footer_of_other_columns_is_refused():
    other = StructType(DEEP.fields[:2])
    with pytest.raises(SpecError, match=r"^PQT007: "):
        with_logical_types(bare(DEEP, []), other)


def test_sizes_and_places_are_those_of_the_files():
    """Of a variant those of its parts, of maps those of keys and values; over several stripes, which are read as they
    pass."""
    many = [{**row, 1: place} for place in range(1500) for row in ROWS]
    out = io.BytesIO()
    writer = OrcWriter(out, DEEP, "uncompressed", stripe_bytes=20_000)
    for start in range(0, len(many), 3000):
        writer.write(make_batch(DEEP, many[start : start + 3000]))
    found = writer.close()
    data = out.getvalue()
    file = orc.ORCFile(io.BytesIO(data))
    assert file.nstripes > 3
    assert (found.column_sizes, found.split_offsets) == orc_layout(data, file.schema, DEEP)
    assert keys(DEEP, read(data, ORC)[1]) == keys(DEEP, many)
    out = io.BytesIO()
    made = open_writer(out, DEEP, PARQUET)
    made.write(make_batch(DEEP, many))
    found = made.close()
    metrics = parquet_metrics(out.getvalue())
    assert (found.column_sizes, found.split_offsets) == (metrics.column_sizes, metrics.split_offsets)
    assert metrics.value_counts[16] == len(many)
    assert 16 not in metrics.lower_bounds


class Sink:
    """An output that can only be appended to, and counts what it was not given at once."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data) -> int:
        self.data += bytes(data)
        return len(data)

    def tell(self) -> int:
        return len(self.data)


@pytest.mark.parametrize("format_", [PARQUET, ORC])
def test_a_file_is_passed_on_while_it_is_written(format_):
    out = Sink()
    rows = [{**row, 1: place} for place in range(1500) for row in ROWS]
    writer = (
        open_writer(out, DEEP, format_)
        if format_ is PARQUET
        else OrcWriter(out, DEEP, "uncompressed", stripe_bytes=10_000)
    )
    sizes = []
    for _ in range(4):
        writer.write(make_batch(DEEP, rows))
        sizes.append(len(out.data))
    assert 1000 < sizes[0] < sizes[-1]
    writer.abandon()
    del writer
    assert len(out.data) == sizes[-1]  # no footer


def test_what_is_held_is_passed_on_once():
    out = Sink()
    held = DeferredSink(out)
    held.write(b"abc")
    held.hold_back()
    held.write(b"def")
    assert (out.data, held.tell()) == (b"abc", 6)
    assert held.release() == b"def"
    held.write(b"DEF")
    assert out.data == b"abcDEF"


def test_known_parts_are_those_before_the_places():
    out = TailRecordingSink(Sink(), 4)
    for text in (b"01", b"23456", b"789"):
        out.write(text)
        out.record_tail()
    assert out.parts == [(0, b"01"), (3, b"3456"), (6, b"6789")]
    known = PartialFile(out.parts)
    assert (len(known), known[3:7], known[6:10], known[-1], known[0:2]) == (10, b"3456", b"6789", 0x39, b"01")
    for start, stop in ((2, 4), (5, 8)):
        with pytest.raises(SpecError, match="ORC008"):
            known[start:stop]


MOMENTS = (
    ListType(2, TIMESTAMP, element_required=False),
    MapType(2, INT, 3, TIMESTAMPTZ, value_required=False),
    ListType(2, StructType((NestedField(3, "a", required=True, type=TIMESTAMP),)), element_required=False),
    StructType((NestedField(2, "l", required=False, type=ListType(3, TIMESTAMP, element_required=False)),)),
)


@pytest.mark.parametrize("type_", MOMENTS, ids=str)
@pytest.mark.parametrize("moment", [-9_223_372_035_999_999, -1, 0, 9_223_372_035_999_999])
def test_a_timestamp_in_a_list_or_map_of_orc_is_read_as_it_was_written(type_: Type, moment: int) -> None:
    struct_ = StructType((NestedField(1, "c", required=False, type=type_),))
    out = io.BytesIO()
    writer = open_writer(out, struct_, ORC)
    value = _holding(type_, moment)
    writer.write(pa.RecordBatch.from_arrays([arrow_values(type_, [None, value])], names=["c"]))
    writer.close()
    rows = open_rows(io.BytesIO(out.getvalue()), ORC)
    (batch,) = rows.batches(("c",))
    assert to_python_values(type_, batch.column(0)) == [None, value]


@pytest.mark.parametrize("type_", MOMENTS, ids=str)
@pytest.mark.parametrize("moment", [-9_223_372_036_000_000, 9_223_372_036_000_000, -62_135_596_800_000_000])
def test_a_timestamp_in_a_list_or_map_that_nothing_here_reads_is_not_written_to_orc(type_: Type, moment: int) -> None:
    writer = open_writer(io.BytesIO(), StructType((NestedField(1, "c", required=False, type=type_),)), ORC)
    with pytest.raises(SpecError, match="ORC008"):
        writer.write(pa.RecordBatch.from_arrays([arrow_values(type_, [_holding(type_, moment)])], names=["c"]))
    writer.abandon()


def _holding(type_: Type, value: int) -> object:
    match type_:
        case StructType(fields):
            return {fields[0].id: _holding(fields[0].type, value)}
        case ListType(_, element):
            return (_holding(element, value),)
        case MapType(_, _, _, inner):
            return ((1, _holding(inner, value)),)
        case _:
            return value
