"""The columnar decoder, fastavro and the plain decoder give equal results for any schema and any records."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import fastavro
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_ref.columnar.encodings.avro.batches import ColumnDecoder, DecompressedBlock
from spec_ref.columnar.encodings.avro.columns import decode_lazy
from spec_ref.columnar.encodings.avro.vectorized import compile_type, footprint
from spec_ref.columnar.encodings.avro.vectorized_buffer import VectorizedBuffer
from spec_ref.core.errors import SpecError
from spec_ref.encodings.avro.container import open_container
from spec_ref.encodings.avro.types import Record, parse_schema
from spec_ref.encodings.avro.values import decode_all
from spec_ref.encodings.avro.values_writer import encoder

CODE = "MAN001"

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(1 << 31), (1 << 31) - 1),
    "long": st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-70, 70),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=90),
    "string": st.text(max_size=40),
}


@st.composite
def schemas(draw: st.DrawFn, names: Any = None, depth: int = 3) -> tuple[Any, st.SearchStrategy[Any]]:
    """An Avro schema, and a strategy for its values as fastavro takes them."""
    names = iter(range(10_000)) if names is None else names
    kinds = [*SCALARS, "fixed", "enum"] + ["record", "array", "map", "optional"] * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "fixed":
            size = draw(st.integers(0, 20))
            return {"type": "fixed", "name": f"f{next(names)}", "size": size}, st.binary(min_size=size, max_size=size)
        case "enum":
            return {"type": "enum", "name": f"e{next(names)}", "symbols": ["A", "B", "C"]}, st.sampled_from("ABC")
        case "record":
            return draw(records(names, depth - 1))
        case "array":
            items, values = draw(schemas(names, depth - 1))
            return {"type": "array", "items": items}, st.lists(values, max_size=6)
        case "map":
            items, values = draw(schemas(names, depth - 1))
            return {"type": "map", "values": items}, st.dictionaries(st.text(max_size=5), values, max_size=4)
        case "optional":
            inner, values = draw(
                schemas(names, depth - 1).filter(lambda made: made[0] != "null" and type(made[0]) is not list)
            )
            return draw(st.permutations(["null", inner])), st.none() | values
        case name:
            return name, SCALARS[name]


@st.composite
def records(draw: st.DrawFn, names: Any = None, depth: int = 3) -> tuple[Any, st.SearchStrategy[Any]]:
    names = iter(range(10_000)) if names is None else names
    fields, values = [], {}
    for _ in range(draw(st.integers(1, 4))):
        name = f"x{next(names)}"
        schema, strategy = draw(schemas(names, depth))
        fields.append({"name": name, "type": schema, "field-id": len(fields)})
        values[name] = strategy
    return {"type": "record", "name": f"r{next(names)}", "fields": fields}, st.fixed_dictionaries(values)


def plain(value: Any) -> Any:
    """What fastavro gives, in the form of `spec_ref.encodings.avro.values`."""
    if isinstance(value, dict) and value and all(name.startswith("x") and name[1:].isdecimal() for name in value):
        return tuple(map(plain, value.values()))
    if isinstance(value, dict):
        return [(key, plain(item)) for key, item in value.items()]
    return list(map(plain, value)) if isinstance(value, list) else value


def written(schema: Any, rows: list[Any], codec: str, sync_interval: int) -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec=codec, sync_interval=sync_interval)
    return out.getvalue()


@st.composite
def files(draw: st.DrawFn) -> tuple[Any, list[Any], bytes]:
    schema, values = draw(records())
    rows = draw(st.lists(values, min_size=1, max_size=5))
    rows = (rows * 60)[: draw(st.sampled_from([1, 5, 60, 70]))]
    codec = draw(st.sampled_from(["null", "deflate", "snappy", "zstandard"]))
    return schema, rows, written(schema, rows, codec, draw(st.sampled_from([1, 40, 1 << 20])))


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_any_file_of_fastavro_decodes_to_the_same_records(file: tuple[Any, list[Any], bytes]) -> None:
    _, _, data = file
    expected = [plain(row) for row in fastavro.reader(io.BytesIO(data))]
    container = open_container(data, CODE)
    type_ = parse_schema(container.metadata["avro.schema"], CODE)
    assert isinstance(type_, Record)
    parts = [DecompressedBlock(count, payload) for count, payload in container.payloads()]
    one_by_one = [row for part in parts for row in decode_all(type_, part.count, part.payload, CODE)]
    assert one_by_one == expected
    for lazy in ((), range(4)):
        assert ColumnDecoder(type_, (), lazy).decode(parts, CODE).to_list() == expected


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_lanes_decode_and_pass_over_every_value_to_the_same_end(file: tuple[Any, list[Any], bytes]) -> None:
    _, _, data = file
    container = open_container(data, CODE)
    type_ = parse_schema(container.metadata["avro.schema"], CODE)
    parts = [payload for _, payload in container.payloads()]
    expected, starts, base = [], [], 0
    encode = encoder(type_)
    for count, payload in container.payloads():
        position = base
        for row in decode_all(type_, count, payload, CODE):
            expected.append(row)
            starts.append(position)
            again = bytearray()
            encode(row, again)
            position += len(again)  # fastavro's encoding is the one of our writer, byte for byte
        assert position == base + len(payload)
        base = position
    buffer = VectorizedBuffer(parts, footprint(type_))
    node = compile_type(type_)
    column, ends = node.decode(buffer, np.array(starts, np.intp))
    assert column.to_list() == expected
    assert ends.tolist() == [*starts[1:], base]
    assert node.skip(buffer, np.array(starts, np.intp)).tolist() == ends.tolist()
    rows = np.arange(0, len(expected), 2)
    assert column.take(rows).to_list() == expected[::2]


PATHS = {
    "type": "record",
    "name": "e",
    "fields": [
        {"name": "s", "type": ["null", "long"]},
        {
            "name": "file",
            "type": {
                "type": "record",
                "name": "f",
                "fields": [
                    {"name": "path", "type": "string"},
                    {
                        "name": "sizes",
                        "type": [
                            "null",
                            {
                                "type": "array",
                                "items": {
                                    "type": "record",
                                    "name": "kv",
                                    "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "long"}],
                                },
                            },
                        ],
                        "field-id": 9,
                    },
                    {"name": "other", "type": ["null", "string"]},
                ],
            },
        },
    ],
}


def entries(count: int, other: bool) -> list[Any]:
    return [
        {
            "s": None if number % 3 else number << 40,
            "file": {
                "path": f"s3://bucket/table/data/{number % 7}/{'é' * (number % 90)}{number}.parquet",
                "sizes": None if number % 11 == 0 else [{"key": n, "value": -(n << n)} for n in range(number % 25)],
                "other": f"s3://bucket/table/data/{number}" if other and number % 2 else None,
            },
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("other", [False, True], ids=["paths once", "paths twice"])
@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("sync_interval", [100, 4000, 1 << 30])
def test_objects_found_by_their_paths_are_all_objects(*, sync_interval: int, optional: bool, other: bool) -> None:
    schema = json.loads(json.dumps(PATHS))
    if optional:
        schema["fields"][1]["type"] = ["null", schema["fields"][1]["type"]]
        inner = schema["fields"][1]["type"][1]["fields"][0]
        inner["type"] = ["null", "string"]
    rows = entries(400, other)
    data = written(schema, rows, "null", sync_interval)
    container = open_container(data, CODE)
    type_ = parse_schema(container.metadata["avro.schema"], CODE)
    assert isinstance(type_, Record)
    parts = [DecompressedBlock(count, payload) for count, payload in container.payloads()]
    expected = [row for part in parts for row in decode_all(type_, part.count, part.payload, CODE)]
    for lazy in ((), {9}):
        decoder = ColumnDecoder(type_, ("file", "path"), lazy)
        assert decoder._decode_vectorized(parts) is not None
        assert decoder.decode(parts, CODE).to_list() == expected


def test_a_path_that_only_looks_like_one_is_not_an_object() -> None:
    # The paths of 200 files stand once more inside the statistics' neighbour, with bytes before them as of a length.
    rows = entries(200, other=False)
    for row in rows:
        row["file"]["other"] = "\x40" + row["file"]["path"] * 2
    data = written(PATHS, rows, "null", 1 << 30)
    container = open_container(data, CODE)
    type_ = parse_schema(container.metadata["avro.schema"], CODE)
    assert isinstance(type_, Record)
    parts = [DecompressedBlock(count, payload) for count, payload in container.payloads()]
    assert ColumnDecoder(type_, ("file", "path")).decode(parts, CODE).to_list() == decode_all(
        type_, 200, parts[0].payload, CODE
    )


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        63,
        64,
        -65,
        8191,
        8192,
        1 << 27,
        (1 << 31) - 1,
        1 << 55,
        -(1 << 55) - 1,
        (1 << 62),
        (1 << 63) - 1,
        -(1 << 63),
    ],
)
def test_integers_of_every_length_decode_in_lanes(value: int) -> None:
    type_ = parse_schema('"long"', CODE)
    out, ends = bytearray(), []
    for one in (value, 1, value, -value - 1):
        encoder(type_)(one, out)
        ends.append(len(out))
    buffer = VectorizedBuffer([bytes(out)], 1)
    starts = np.array([0, *ends[:-1]], np.intp)
    column, found = compile_type(type_).decode(buffer, starts)
    assert column.to_list() == [value, 1, value, -value - 1]
    assert found.tolist() == ends == compile_type(type_).skip(buffer, starts).tolist()


@pytest.mark.parametrize(
    "malformed",
    [b"\xff" * 9 + b"\x02", b"\xff" * 10, b"\xff" * 20, b"\x80" * 9 + b"\x7e"],
    ids=["65 bits", "ten continued", "endless", "high bits"],
)
def test_integers_of_more_than_64_bits_lose_their_lane(malformed: bytes) -> None:
    type_ = parse_schema('"long"', CODE)
    buffer = VectorizedBuffer([b"\x02" + malformed], 1)
    _, ends = compile_type(type_).decode(buffer, np.array([0, 1], np.intp))
    assert ends[0] == 1
    assert ends[1] > buffer.end


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        ({"type": "array", "items": "long"}, b"\x05\x06\x02\x04\x06\x00"),  # -3 items in 3 bytes
        ({"type": "array", "items": "long"}, b"\x02\x02\x04\x04\x06\x00"),  # one item, two items
        ({"type": "map", "values": "long"}, b"\x01\x06\x02k\x02\x00"),
        ({"type": "array", "items": ["null", "string"]}, b"\x04\x00\x02\x02a\x01\x02\x00\x00"),
    ],
)
def test_items_in_several_blocks_and_blocks_with_sizes_decode(schema: Any, payload: bytes) -> None:
    record = {"type": "record", "name": "r", "fields": [{"name": "x", "type": schema}, {"name": "y", "type": "int"}]}
    type_ = parse_schema(json.dumps(record), CODE)
    assert isinstance(type_, Record)
    parts = [DecompressedBlock(100, (payload + b"\x0e") * 100)]
    expected = [
        tuple(plain(row).values()) if isinstance(row, dict) else row
        for row in decode_all(type_, 100, parts[0].payload, CODE)
    ]
    buffer = VectorizedBuffer([parts[0].payload], footprint(type_))
    starts = np.arange(100) * (len(payload) + 1)
    node = compile_type(type_)
    column, ends = node.decode(buffer, starts)
    assert column.to_list() == expected
    assert ends.tolist() == (starts + len(payload) + 1).tolist() == node.skip(buffer, starts).tolist()
    reference = [fastavro.schemaless_reader(io.BytesIO(payload + b"\x0e"), record, None)["x"]]
    assert plain(reference) == [row[0] for row in expected[:1]]


def test_a_lying_block_size_of_items_loses_the_lane() -> None:
    type_ = parse_schema('{"type": "array", "items": "long"}', CODE)
    buffer = VectorizedBuffer([b"\x05\x08\x02\x04\x06\x00" + b"\x05\x06\x02\x04\x06\x00"], 1)
    _, ends = compile_type(type_).decode(buffer, np.array([0, 6], np.intp))
    assert ends[0] > buffer.end
    assert ends[1] == 12


@settings(max_examples=200, deadline=None)
@given(files(), st.data())
def test_damaged_blocks_end_as_the_plain_decoder_ends(file: tuple[Any, list[Any], bytes], data: st.DataObject) -> None:
    """Whatever bytes stand in a block, the columns are those of the plain decoder, or it refuses them too."""
    container = open_container(file[2], CODE)
    type_ = parse_schema(container.metadata["avro.schema"], CODE)
    assert isinstance(type_, Record)
    parts = [DecompressedBlock(count, payload) for count, payload in container.payloads()]
    if sum(len(part.payload) for part in parts) == 0:
        return
    place = data.draw(st.integers(0, len(parts) - 1))
    payload = bytearray(parts[place].payload)
    if payload:
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    parts[place] = DecompressedBlock(parts[place].count, bytes(payload))
    try:
        expected = [row for part in parts for row in decode_all(type_, part.count, part.payload, CODE)]
    except SpecError:
        expected = None
    try:
        found = decode_lazy(ColumnDecoder(type_, ()).decode(parts, CODE)).to_list()
    except SpecError:
        found = None
    assert repr(found) == repr(expected) or math.nan in (found or [])
