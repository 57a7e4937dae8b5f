"""PQT005: shredded variants in Parquet files are read as the original variants."""

from __future__ import annotations

import functools
import io
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import attrs
import pyarrow as pa
import pytest
from arrow_layouts import layouts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.columnar.encodings.variant.shredding import unshred
from spec_ref.columnar.schemas.arrow_columns import arrow_type
from spec_ref.columnar.schemas.column_projection import compile_projection
from spec_ref.core.errors import SpecError
from spec_ref.data_files.parquet_schema import struct_from_parquet
from spec_ref.data_files.parquet_thrift import ParquetNode, read_parquet_schema
from spec_ref.data_files.reader import open_rows
from spec_ref.data_types.types import LONG, VARIANT, ListType, MapType, NestedField, StructType
from spec_ref.encodings.variant.physical_types import MAX_DEPTH, PhysicalType, Variant, VariantPrimitive, VariantValue
from spec_ref.encodings.variant.value import decode_variant
from spec_ref.encodings.variant.value_writer import encode_metadata, encode_value, encode_variant
from spec_ref.manifests.data_file import FileFormat
from tools.shredded_files import variant_bytes

EMPTY = encode_metadata([])


def named(field: str, type_: pa.DataType, id_: int) -> pa.Field:
    return pa.field(field, type_, metadata={"PARQUET:field_id": str(id_)})


def variant_type(*, value: bool = True, typed: pa.DataType | None = None) -> pa.StructType:
    return pa.struct([pa.field("metadata", pa.binary(), nullable=False), *pair(value=value, typed=typed)])


def pair(*, value: bool = True, typed: pa.DataType | None = None) -> list[pa.Field]:
    parts = [pa.field("value", pa.binary())] if value else []
    return parts + ([] if typed is None else [pa.field("typed_value", typed)])


def read(data: bytes, column: NestedField | None = None, **options: Any) -> list[Any]:
    opened = open_rows(io.BytesIO(data), FileFormat.PARQUET)
    column = column or NestedField(1, "v", False, VARIANT)
    project = compile_projection([column], opened.columns, {})
    made = []
    for batch in opened.batches(project.columns, options.get("rows", 1000)):
        out = project(batch).column(0)
        out.validate(full=True)
        made += to_python_values(column.type, out)
    return made


def write_file(type_: pa.DataType, rows: list[Any], **options: Any) -> bytes:
    return variant_bytes(pa.table([pa.array(rows, type_)], pa.schema([named("v", type_, 1)])), **options)


def refused(type_: pa.DataType, *rows: Any) -> str:
    with pytest.raises(SpecError) as error:
        read(write_file(type_, list(rows)))
    assert error.value.violation.requirement == "PQT005"
    return f"{error.value.violation.path} {error.value.violation.aspect}"


def scalar(value: Any, physical: PhysicalType) -> bytes:
    return encode_variant(VariantPrimitive(physical, value)).value


TEXT = scalar("a", PhysicalType.STRING)
NULL = b"\0"


# Every primitive type of Parquet's table, by a value of it


PRIMITIVES: list[tuple[PhysicalType, pa.DataType, Any]] = [
    (PhysicalType.TRUE, pa.bool_(), True),
    (PhysicalType.FALSE, pa.bool_(), False),
    (PhysicalType.INT8, pa.int8(), -(1 << 7)),
    (PhysicalType.INT16, pa.int16(), (1 << 15) - 1),
    (PhysicalType.INT32, pa.int32(), -(1 << 31)),
    (PhysicalType.INT64, pa.int64(), 1 << 62),
    (PhysicalType.FLOAT, pa.float32(), -0.0),
    (PhysicalType.DOUBLE, pa.float64(), 0.1),
    (PhysicalType.DECIMAL4, pa.decimal128(9, 4), Decimal("-12345.6789")),
    (PhysicalType.DECIMAL8, pa.decimal128(18, 9), Decimal("123456789.987654321")),
    (PhysicalType.DECIMAL16, pa.decimal128(38, 0), Decimal("-12345678901234567890123456789012345678")),
    (PhysicalType.DATE, pa.date32(), -719162),
    (PhysicalType.TIME_NTZ, pa.time64("us"), 86_399_999_999),
    (PhysicalType.TIMESTAMP, pa.timestamp("us", "UTC"), -62_135_596_800_000_000),
    (PhysicalType.TIMESTAMP_NTZ, pa.timestamp("us"), 253_402_300_799_999_999),
    (PhysicalType.TIMESTAMP_NANOS, pa.timestamp("ns", "UTC"), -1),
    (PhysicalType.TIMESTAMP_NTZ_NANOS, pa.timestamp("ns"), 1_730_982_834_123_456_789),
    (PhysicalType.BINARY, pa.binary(), b"\xff\0"),
    (PhysicalType.STRING, pa.string(), "\u00e9\U0001f600" * 30),
    (PhysicalType.UUID, pa.uuid(), uuid.UUID("f24f9b64-81fa-49d1-b74e-8c09a6e31c56")),
]


@pytest.mark.parametrize(("physical", "arrow", "value"), PRIMITIVES)
def test_every_primitive_type_is_put_together(physical: PhysicalType, arrow: pa.DataType, value: Any) -> None:
    stored = arrow.storage_type if isinstance(arrow, pa.UuidType) else arrow
    plain = value.bytes if isinstance(value, uuid.UUID) else value
    rows = pa.array(
        [
            {"metadata": EMPTY, "value": None, "typed_value": plain},
            {"metadata": EMPTY, "value": TEXT, "typed_value": None},
            None,
        ],
        variant_type(typed=stored),
    )
    if stored != arrow:  # pyarrow makes no arrays of UUIDs inside of structs of Python's values
        children = [rows.field(0), rows.field(1), pa.ExtensionArray.from_storage(arrow, rows.field(2))]
        fields = list(variant_type(typed=arrow))
        rows = pa.StructArray.from_arrays(children, fields=fields, mask=rows.is_null())
    found = read(variant_bytes(pa.table([rows], pa.schema([named("v", rows.type, 1)]))))
    assert found[1:] == [Variant(EMPTY, TEXT), None]
    assert found[0] == encode_variant(VariantPrimitive(physical, value))


# The examples of Parquet's text


def test_the_measurements_of_the_text() -> None:
    rows = [(None, 34), (NULL, None), (bytes.fromhex("0D6E2F61"), None), (None, 100)]
    data = write_file(
        variant_type(typed=pa.int64()),
        [{"metadata": bytes.fromhex("010000"), "value": value, "typed_value": typed} for value, typed in rows],
    )
    assert [decode_variant(one) for one in read(data)] == [
        VariantPrimitive(PhysicalType.INT64, 34),
        VariantPrimitive(PhysicalType.NULL, None),
        VariantPrimitive(PhysicalType.STRING, "n/a"),
        VariantPrimitive(PhysicalType.INT64, 100),
    ]


TAGS = pa.list_(pa.field("element", pa.struct(pair(typed=pa.string())), nullable=False))


def test_the_tags_of_the_text() -> None:
    def tags(*words: str | None) -> list[Any]:
        return [{"value": None if word else NULL, "typed_value": word} for word in words]

    rows = [tags("comedy", "drama"), tags("horror", None), tags("comedy", "drama", "romance"), None, []]
    data = write_file(
        variant_type(typed=TAGS),
        [{"metadata": EMPTY, "value": NULL if row is None else None, "typed_value": row} for row in rows],
    )
    text = functools.partial(VariantPrimitive, PhysicalType.STRING)
    null = VariantPrimitive(PhysicalType.NULL, None)
    for size in (1, 2, 100):
        assert [decode_variant(one) for one in read(data, rows=size)] == [
            (text("comedy"), text("drama")),
            (text("horror"), null),
            (text("comedy"), text("drama"), text("romance")),
            null,
            (),
        ]


EVENT = pa.struct(
    [
        pa.field("event_type", pa.struct(pair(typed=pa.string())), nullable=False),
        pa.field("event_ts", pa.struct(pair(typed=pa.timestamp("us", "UTC"))), nullable=False),
    ]
)
NAMES = ["click", "email", "error_msg", "event_ts", "event_type"]
IDS = {name: id_ for id_, name in enumerate(NAMES)}
MISSING = {"value": None, "typed_value": None}


def event(value: VariantValue | bytes | None, *fields: Any) -> dict[str, Any]:
    typed = dict(zip(("event_type", "event_ts"), fields, strict=True)) if fields else None
    stored = value if value is None or isinstance(value, bytes) else encode_value(value, IDS)
    return {"metadata": encode_metadata(NAMES), "value": stored, "typed_value": typed}


def typed(value: Any) -> dict[str, Any]:
    return {"value": None, "typed_value": value}


def test_the_events_of_the_text() -> None:
    text, at = (
        functools.partial(VariantPrimitive, PhysicalType.STRING),
        functools.partial(VariantPrimitive, PhysicalType.TIMESTAMP),
    )
    null = VariantPrimitive(PhysicalType.NULL, None)
    email, message = {"email": text("user@example.com")}, {"error_msg": text("malformed: ...")}
    rows = [
        event(None, typed("noop"), typed(1)),
        event(email, typed("login"), typed(2)),  # type: ignore[arg-type]
        event(message, MISSING, MISSING),
        event(text("malformed: not an object")),  # type: ignore[arg-type]
        event({"click": text("_button")}, MISSING, typed(3)),
        event(None, {"value": NULL, "typed_value": None}, typed(4)),
        event(None, typed("noop"), {"value": encode_value(text("2024-10-24"), {}), "typed_value": None}),
        event(None, MISSING, MISSING),
        event(null),
        event(None),
        None,
    ]
    found = read(write_file(variant_type(typed=EVENT), rows))
    assert [None if one is None else decode_variant(one) for one in found] == [
        {"event_ts": at(1), "event_type": text("noop")},
        {"email": text("user@example.com"), "event_ts": at(2), "event_type": text("login")},
        message,
        text("malformed: not an object"),
        {"click": text("_button"), "event_ts": at(3)},
        {"event_ts": at(4), "event_type": null},
        {"event_ts": text("2024-10-24"), "event_type": text("noop")},
        {},
        null,
        null,
        None,
    ]
    assert {one.metadata for one in found if one is not None} == {encode_metadata(NAMES)}


def test_what_is_missing_in_an_array_is_null() -> None:
    row = {"metadata": EMPTY, "value": None, "typed_value": [MISSING]}
    assert [decode_variant(one) for one in read(write_file(variant_type(typed=TAGS), [row]))] == [
        (VariantPrimitive(PhysicalType.NULL, None),)
    ]


def test_a_variant_of_neither_shredded_nor_any_value_is_null() -> None:
    assert read(write_file(variant_type(), [{"metadata": EMPTY, "value": None}, None])) == [Variant(EMPTY, NULL), None]


def test_an_object_that_no_writer_should_leave_in_the_value_is_read() -> None:
    rows = [event({"event_type": VariantPrimitive(PhysicalType.STRING, "login")}), event({})]
    assert [decode_variant(one) for one in read(write_file(variant_type(typed=EVENT), rows))] == [
        {"event_type": VariantPrimitive(PhysicalType.STRING, "login")},
        {},
    ]


# Values that are refused


def test_a_value_beside_a_typed_value_that_is_no_object_is_refused() -> None:
    both = {"value": TEXT, "typed_value": "a"}
    assert refused(variant_type(typed=pa.string()), {"metadata": EMPTY, **both}) == ("/v two-values")
    assert refused(variant_type(typed=TAGS), {"metadata": EMPTY, "value": None, "typed_value": [both]}) == (
        "/v/element two-values"
    )
    assert refused(variant_type(typed=TAGS), {"metadata": EMPTY, "value": TEXT, "typed_value": []}) == "/v two-values"
    assert refused(variant_type(typed=EVENT), event(None, both, MISSING)) == ("/v/event_type two-values")


def test_shredded_fields_beside_a_value_that_is_no_object_are_refused() -> None:
    for value in (TEXT, NULL, encode_variant(()).value):
        assert refused(variant_type(typed=EVENT), event(value, MISSING, MISSING)) == "/v value-not-object"


@pytest.mark.parametrize("field", [MISSING, typed("b")])
def test_a_field_that_is_shredded_and_in_the_value_too_is_refused(field: Any) -> None:
    value: VariantValue = {"event_type": VariantPrimitive(PhysicalType.STRING, "a")}
    assert refused(variant_type(typed=EVENT), event(value, field, MISSING)) == "/v field-twice"


def test_parts_that_are_not_of_the_encoding_are_refused() -> None:
    for row, type_ in [
        ({**event(b"\xff", MISSING, MISSING)}, EVENT),
        ({**event(None, typed("noop"), MISSING), "metadata": b"\xff"}, EVENT),
        ({**event(None, typed("noop"), MISSING), "metadata": EMPTY}, EVENT),  # which does not have the name
        ({"metadata": EMPTY, "value": None, "typed_value": b"\xff"}, pa.binary()),
        ({"metadata": EMPTY, "value": None, "typed_value": -1}, pa.time64("us")),
    ]:
        if type_ == pa.binary():  # read back as a string, which Arrow does not check
            table = pa.array([b"\xff"]).view(pa.string())
            struct = pa.StructArray.from_arrays(
                [pa.array([EMPTY]), pa.nulls(1, pa.binary()), table], fields=list(variant_type(typed=pa.string()))
            )
            data = variant_bytes(pa.table([struct], pa.schema([named("v", struct.type, 1)])))
        else:
            data = write_file(variant_type(typed=type_), [row])
        with pytest.raises(SpecError, match="TYP006"):
            read(data)


def test_what_is_too_deep_together_with_what_is_around_it_is_refused() -> None:
    deep: VariantValue = ()
    for _ in range(MAX_DEPTH - 1):
        deep = (deep,)
    row = {"metadata": EMPTY, "value": None, "typed_value": [{"value": encode_value(deep, {}), "typed_value": None}]}
    with pytest.raises(SpecError, match="TYP006: "):
        read(write_file(variant_type(typed=TAGS), [row]))
    row["typed_value"] = [{"value": encode_value(deep[0], {}), "typed_value": None}]  # type: ignore[index]
    assert decode_variant(read(write_file(variant_type(typed=TAGS), [row]))[0]) == deep


# Schemas that are refused


def node(name: str, *children: ParquetNode, physical: str | None = None, **more: Any) -> ParquetNode:
    fields = {"repetition": "optional", "length": None, "field_id": None, "logical": None, **more}
    return ParquetNode(name=name, physical=physical, children=children, **fields)


METADATA, VALUE = node("metadata", physical="byte_array"), node("value", physical="byte_array")


def list_node(*inside: ParquetNode, repetition: str = "repeated", **more: Any) -> ParquetNode:
    return node("typed_value", node("list", *inside, repetition=repetition), logical="LIST", **more)


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ([METADATA], ""),
        ([VALUE], ""),
        ([METADATA, VALUE, VALUE], ""),
        ([METADATA, VALUE, node("more", VALUE)], ""),
        ([METADATA, node("value", physical="int32")], "/value"),
        ([METADATA, node("value", physical="byte_array", logical="STRING")], "/value"),
        ([METADATA, node("value", physical="byte_array", repetition="repeated")], "/value"),
        ([METADATA, node("value", VALUE)], "/value"),
        *(
            ([METADATA, VALUE, node("typed_value", **more)], "/typed_value")
            for more in (
                {"physical": "int32", "logical": "INTEGER", "parameters": (32, False)},
                {"physical": "int32", "logical": "TIME", "parameters": ("MILLIS", False)},
                {"physical": "int64", "logical": "TIME", "parameters": ("MICROS", True)},
                {"physical": "int64", "logical": "TIME", "parameters": ("NANOS", False)},
                {"physical": "int64", "logical": "TIMESTAMP", "parameters": ("MILLIS", True)},
                {"physical": "int96"},
                {"physical": "fixed_len_byte_array", "length": 4},
                {"physical": "fixed_len_byte_array", "length": 15, "logical": "UUID"},
                {"physical": "byte_array", "logical": "JSON"},
                {"physical": "byte_array", "logical": "UNKNOWN"},
                {"physical": "byte_array", "logical": "DECIMAL", "parameters": (39, 2)},
                {"physical": "double", "logical": "DECIMAL", "parameters": (9, 2)},
                {"physical": "int64", "repetition": "repeated"},
                {"logical": "MAP"},
                {"logical": "VARIANT"},
            )
        ),
        ([METADATA, VALUE, node("typed_value", VALUE, repetition="repeated")], "/typed_value"),
        ([METADATA, VALUE, list_node(node("element", VALUE), repetition="optional")], "/typed_value"),
        ([METADATA, VALUE, list_node(VALUE, VALUE)], "/typed_value"),
        ([METADATA, VALUE, node("typed_value", logical="LIST")], "/typed_value"),
        ([METADATA, VALUE, list_node(VALUE)], "/typed_value/element"),
        ([METADATA, VALUE, list_node(node("element", METADATA, VALUE))], "/typed_value/element"),
        ([METADATA, VALUE, list_node(node("element", logical="LIST"))], "/typed_value/element"),
        ([METADATA, VALUE, node("typed_value", node("a", VALUE), node("a", VALUE))], "/typed_value"),
        ([METADATA, VALUE, node("typed_value", node("a", physical="int32"))], "/typed_value/a"),
        ([METADATA, VALUE, node("typed_value", node("a", VALUE, repetition="repeated"))], "/typed_value/a"),
        (
            [METADATA, VALUE, node("typed_value", node("a", node("typed_value", physical="int96")))],
            "/typed_value/a/typed_value",
        ),
    ],
)
def test_groups_that_are_no_variants_are_refused(parts: list[ParquetNode], path: str) -> None:
    root = node("root", node("v", *parts, logical="VARIANT", field_id=1))
    with pytest.raises(SpecError) as error:
        struct_from_parquet(root)
    assert error.value.violation.requirement == "PQT005"
    assert error.value.violation.path == f"/v{path}"


# Any variant, shredded in any way


@attrs.frozen
class Shred:
    """How a value is shredded: as a primitive, as an array, as an object, or not at all."""

    physical: PhysicalType | None = None
    arrow: pa.DataType | None = None
    element: Shred | None = None
    fields: Mapping[str, Shred] | None = None


ABSENT = object()
NAME = st.text(max_size=3)
_NUMBERS = {
    PhysicalType.INT8: 8,
    PhysicalType.INT16: 16,
    PhysicalType.INT32: 32,
    PhysicalType.INT64: 64,
    PhysicalType.DATE: 32,
    PhysicalType.TIMESTAMP: 64,
    PhysicalType.TIMESTAMP_NTZ: 64,
    PhysicalType.TIMESTAMP_NANOS: 64,
    PhysicalType.TIMESTAMP_NTZ_NANOS: 64,
}
SHREDS = [
    Shred(physical, arrow)
    for physical, arrow, _ in PRIMITIVES
    if physical not in (PhysicalType.UUID, PhysicalType.FALSE)  # pyarrow makes no arrays of UUIDs inside of structs
]


def scalars(*physicals: PhysicalType) -> st.SearchStrategy[VariantValue]:
    def of(physical: PhysicalType) -> st.SearchStrategy[Any]:
        match physical:
            case PhysicalType.NULL:
                return st.none()
            case PhysicalType.TRUE | PhysicalType.FALSE:
                return st.just(physical is PhysicalType.TRUE)
            case PhysicalType.FLOAT | PhysicalType.DOUBLE:
                return st.floats(width=32 if physical is PhysicalType.FLOAT else 64)
            case PhysicalType.DECIMAL4 | PhysicalType.DECIMAL8 | PhysicalType.DECIMAL16:
                digits = {PhysicalType.DECIMAL4: 9, PhysicalType.DECIMAL8: 18, PhysicalType.DECIMAL16: 38}[physical]
                number = st.integers(-(10**digits) + 1, 10**digits - 1)
                return st.builds(lambda one, scale: Decimal(f"{one}E-{scale}"), number, st.sampled_from([0, 4, 9]))
            case PhysicalType.BINARY:
                return st.binary(max_size=3)
            case PhysicalType.STRING:
                return st.text(max_size=70)
            case PhysicalType.TIME_NTZ:
                return st.integers(0, 86_399_999_999)
            case PhysicalType.UUID:
                return st.uuids()
        bits = _NUMBERS[physical]
        return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)

    def draw_scalar(physical: PhysicalType) -> st.SearchStrategy[VariantValue]:
        return of(physical).map(functools.partial(VariantPrimitive, physical))

    return st.sampled_from(physicals or list(PhysicalType)).flatmap(draw_scalar)


def fitting(shred: Shred | None) -> st.SearchStrategy[VariantValue]:
    """Nodes that the schema may take, beside any others."""
    if shred is None:
        return NODES
    some: list[st.SearchStrategy[VariantValue]] = [NODES]
    if shred.physical is not None:
        some += [scalars(shred.physical)] * 2
    if shred.element is not None:
        some += [st.lists(fitting(shred.element), max_size=3).map(tuple)] * 3
    if shred.fields is not None:
        own = st.fixed_dictionaries({}, optional={name: fitting(one) for name, one in shred.fields.items()})
        some += [own, st.builds(lambda more, mine: {**more, **mine}, st.dictionaries(NAME, NODES, max_size=2), own)] * 2
    return st.one_of(some)


NODES: st.SearchStrategy[VariantValue] = st.recursive(
    scalars(),
    lambda inner: st.one_of(st.lists(inner, max_size=3).map(tuple), st.dictionaries(NAME, inner, max_size=3)),
    max_leaves=6,
)
SCHEMAS: st.SearchStrategy[Shred] = st.recursive(
    st.sampled_from([Shred(), *SHREDS]),
    lambda inner: st.one_of(
        st.builds(lambda one: Shred(element=one), inner),
        st.builds(lambda fields: Shred(fields=fields), st.dictionaries(NAME, inner, min_size=1, max_size=3)),
    ),
    max_leaves=5,
)


def fits(value: Any, shred: Shred) -> bool:
    if not isinstance(value, VariantPrimitive):
        return False
    if shred.physical is PhysicalType.TRUE:
        return value.physical in (PhysicalType.TRUE, PhysicalType.FALSE)
    if value.physical is not shred.physical:
        return False
    return not isinstance(value.value, Decimal) or -value.value.as_tuple().exponent == shred.arrow.scale  # type: ignore[union-attr]


def shredded(value: Any, shred: Shred, ids: Mapping[str, int]) -> dict[str, Any]:
    """The pair of value and typed_value of a value, by the tables of Parquet's text."""
    rest, stored = value, None
    if shred.physical is not None and fits(value, shred):
        rest, stored = ABSENT, value.value
    elif shred.element is not None and isinstance(value, tuple):
        rest, stored = ABSENT, [shredded(item, shred.element, ids) for item in value]
    elif shred.fields is not None and isinstance(value, dict):
        left = {name: item for name, item in value.items() if name not in shred.fields}
        stored = {name: shredded(value.get(name, ABSENT), one, ids) for name, one in shred.fields.items()}
        rest = left or ABSENT
    return {"value": None if rest is ABSENT else encode_value(rest, ids), "typed_value": stored}


def arrow_pair(shred: Shred) -> list[pa.Field]:
    if shred.element is not None:
        element = pa.field("element", pa.struct(arrow_pair(shred.element)), nullable=False)
        return pair(typed=pa.list_(element))
    if shred.fields is not None:
        fields = [pa.field(name, pa.struct(arrow_pair(one)), nullable=False) for name, one in shred.fields.items()]
        return pair(typed=pa.struct(fields))
    return pair(typed=shred.arrow)


def member_names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(member_names, value.values()))
    return set().union(*map(member_names, value)) if isinstance(value, tuple) else set()


def shown(value: Any) -> str:
    """A key that distinguishes two values: floats by their sign, and decimals by their scale, but no two NaNs."""
    if isinstance(value, dict):
        return repr({name: shown(value[name]) for name in sorted(value)})
    return repr([shown(item) for item in value]) if isinstance(value, tuple) else repr(value)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_variant_that_is_shredded_in_any_way_is_put_together(data: st.DataObject) -> None:
    shred = data.draw(SCHEMAS)
    nodes = data.draw(st.lists(st.one_of(st.none(), fitting(shred)), max_size=4))
    rows = []
    for one in nodes:
        names = data.draw(st.permutations(sorted(member_names(one)))) if one is not None else []
        dictionary = _metadata(names)
        ids = {name: id_ for id_, name in enumerate(names)}
        rows.append(None if one is None else {"metadata": dictionary, **shredded(one, shred, ids)})
    type_ = pa.struct([pa.field("metadata", pa.binary(), nullable=False), *arrow_pair(shred)])
    found = read(write_file(type_, rows), rows=data.draw(st.integers(1, 4)))
    assert [None if one is None else shown(decode_variant(one)) for one in found] == [
        None if one is None else shown(one) for one in nodes
    ]
    assert [one.metadata for one in found if one is not None] == [row["metadata"] for row in rows if row is not None]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_shredded_variants_of_any_array_are_put_together(data: st.DataObject) -> None:
    shred = data.draw(SCHEMAS)
    nodes = data.draw(st.lists(st.one_of(st.none(), fitting(shred)), max_size=4))
    rows = []
    for one in nodes:
        names = sorted(member_names(one)) if one is not None else []
        ids = {name: id_ for id_, name in enumerate(names)}
        rows.append(None if one is None else {"metadata": _metadata(names), **shredded(one, shred, ids)})
    type_ = pa.struct([pa.field("metadata", pa.binary()), *arrow_pair(shred)])
    made = unshred(data.draw(layouts(pa.array(rows, type_))), arrow_type(VARIANT))
    made.validate(full=True)
    found = to_python_values(VARIANT, made)
    assert [one and shown(decode_variant(one)) for one in found] == [
        None if one is None else shown(one) for one in nodes
    ]


def _metadata(names: list[str]) -> bytes:
    """A dictionary of names in any order, with sizes of two bytes."""
    texts = [name.encode() for name in names]
    ends = [sum(map(len, texts[:place])) for place in range(len(texts) + 1)]
    return b"\x41" + b"".join(number.to_bytes(2, "little") for number in (len(names), *ends)) + b"".join(texts)


# Where variants are


def test_shredded_variants_inside_of_structs_lists_and_maps_are_put_together() -> None:
    shredded_type = variant_type(typed=pa.int32())
    one, two = ({"metadata": EMPTY, **part} for part in (typed(7), {"value": TEXT, "typed_value": None}))
    columns: list[tuple[Any, Any, Any, Any]] = [
        (
            pa.struct([named("x", shredded_type, 2), named("y", pa.int64(), 3)]),
            [{"x": one, "y": 1}, {"x": None}, None],
            StructType((NestedField(2, "x", False, VARIANT), NestedField(3, "y", False, LONG))),
            lambda first, _: [{2: first, 3: 1}, {2: None, 3: None}, None],
        ),
        (
            pa.list_(named("element", shredded_type, 2)),
            [[one, None, two], None, []],
            ListType(2, VARIANT, False),
            lambda first, second: [(first, None, second), None, ()],
        ),
        (
            pa.map_(named("key", pa.int64(), 2).with_nullable(False), named("value", shredded_type, 3)),
            [[(1, two)], [(2, None), (3, one)], None],
            MapType(2, LONG, 3, VARIANT, False),
            lambda first, second: [((1, second),), ((2, None), (3, first)), None],
        ),
    ]
    first, second = encode_variant(VariantPrimitive(PhysicalType.INT32, 7)), Variant(EMPTY, TEXT)
    for arrow, rows, type_, wanted in columns:
        assert read(write_file(arrow, rows), NestedField(1, "v", False, type_)) == wanted(first, second)


def test_the_schema_of_a_shredded_variant_is_a_variant() -> None:
    data = write_file(variant_type(value=False, typed=EVENT), [event(None, typed("a"), MISSING)])
    assert struct_from_parquet(read_parquet_schema(data)).fields == (NestedField(1, "v", False, VARIANT),)
    assert decode_variant(read(data)[0]) == {"event_type": VariantPrimitive(PhysicalType.STRING, "a")}
