"""Readers of values, types, predicates and other small parts."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

from tools.fuzz import mutations
from tools.fuzz.target import Target, argument_values, decode_text, document, json_members, return_refusals, vectors


@functools.cache
def _types() -> tuple[Any, ...]:
    from spec_ref.schemas.type_json import type_from_json

    names = (
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "date",
        "time",
        "timestamp",
        "timestamptz",
        "timestamp_ns",
        "timestamptz_ns",
        "string",
        "uuid",
        "fixed[4]",
        "binary",
        "decimal(9,2)",
        "decimal(38,10)",
        "variant",
        "geometry",
        "geography",
        "unknown",
    )
    nested = (
        {"type": "list", "element-id": 1, "element": "int", "element-required": False},
        {"type": "map", "key-id": 1, "key": "string", "value-id": 2, "value": "decimal(9,2)", "value-required": True},
        {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "timestamptz"}]},
    )
    return tuple(map(type_from_json, (*names, *nested)))


def _typed_reader(read: Callable[[Any, bytes], object]) -> Callable[[bytes], object]:
    """Return a reader of values of several types: the first byte selects the type."""
    types = _types()
    return return_refusals(lambda data: read(types[data[0] % len(types)], data[1:]) if data else None)


def _single_value() -> Callable[[bytes], object]:
    from spec_ref.single_value.binary import from_binary, to_binary

    return _typed_reader(lambda type_, data: to_binary(type_, from_binary(type_, data)))


def _bound() -> Callable[[bytes], object]:
    from spec_ref.single_value.bounds import decode_bound

    return _typed_reader(decode_bound)


def _json_value() -> Callable[[bytes], object]:
    from spec_ref.json.documents import loads
    from spec_ref.single_value.json_value import from_json, to_json

    return _typed_reader(lambda type_, data: to_json(type_, from_json(type_, loads(data))))


def _typed_seeds(operation: str, member: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for number, value in enumerate(argument_values(operation, member)):
            yield bytes([number % 24]) + (bytes.fromhex(value) if member == "bytes" else json.dumps(value).encode())

    return seeds


def _mutated_typed_json(rng: Any, data: bytes, seeds: Any) -> bytes:
    return bytes([rng.randrange(24)]) + mutations.mutate_json(rng, data[1:], [seed[1:] for seed in seeds[:50]])


def _type() -> Callable[[bytes], object]:
    from spec_ref.schemas.type_json import type_from_json, type_to_json

    return document(lambda json_: type_to_json(type_from_json(json_)))


def _predicate() -> Callable[[bytes], object]:
    from spec_ref.expressions.expression_json import predicate_from_json, predicate_to_json

    return document(lambda json_: predicate_to_json(predicate_from_json(json_)))


def _variant() -> Callable[[bytes], object]:
    from spec_ref.encodings.variant.value import decode_variant, split_variant

    return return_refusals(lambda data: decode_variant(split_variant(data)))


def _shredded_reader() -> Callable[[bytes], object]:
    """Return a reader of a shredded variant, an object with a list.

    Its input has the metadata, the value, a field and an element, each after its length.
    """
    import pyarrow as pa

    from spec_ref.columnar.encodings.variant.shredding import unshred
    from spec_ref.encodings.variant.physical_types import Variant
    from spec_ref.encodings.variant.value import decode_variant

    def group(typed: pa.DataType) -> list[pa.Field[Any]]:
        return [pa.field("value", pa.binary()), pa.field("typed_value", typed)]

    element = pa.struct(group(pa.string()))
    fields = pa.struct([("a", pa.struct(group(pa.int64()))), ("b", pa.struct(group(pa.list_(element))))])
    whole = pa.struct([pa.field("metadata", pa.binary()), *group(fields)])
    target = pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())])

    def read(data: bytes) -> object:
        parts = []
        for _ in range(4):
            size = data[0] if data else 0
            parts.append(data[1 : 1 + size] or None)
            data = data[1 + size :]
        metadata, value, field, item = parts
        elements = [{"value": item, "typed_value": None}, {"value": None, "typed_value": "x"}]
        typed = {
            "a": {"value": field, "typed_value": None if field else 5},
            "b": {"value": None, "typed_value": elements},
        }
        row = {"metadata": metadata or b"", "value": value, "typed_value": typed}
        made = unshred(pa.array([row, None], whole), target).to_pylist()[0]
        return decode_variant(Variant(made["metadata"], made["value"]))

    return return_refusals(read)


def _shreddings() -> Iterator[bytes]:
    names = bytes.fromhex("0104000102030461626364")
    for parts in (
        (names, b"", b"", b"\x0c\x01"),
        (names, bytes.fromhex("0201020002") + b"\x0c\x01", b"\x00", b"\x05a"),
        (names, bytes.fromhex("020103000100"), bytes.fromhex("0302000203" + "0C0104"), b""),
    ):
        yield b"".join(bytes([len(part)]) + part for part in parts)


def _variant_bound() -> Callable[[bytes], object]:
    from spec_ref.single_value.variant_bounds import decode_variant_bound

    return return_refusals(decode_variant_bound)


def _variants() -> Iterator[bytes]:
    yield bytes.fromhex("0100000C01")
    for operation, args in vectors():
        if operation == "bound.decode" and args["type"] == "variant":
            yield bytes.fromhex(args["bytes"])


def _wkb() -> Callable[[bytes], object]:
    from spec_ref.encodings.geo.wkb import read_wkb, write_wkb
    from spec_ref.encodings.geo.wkt import write_wkt

    def read(data: bytes) -> object:
        geometry = read_wkb(data)
        return write_wkb(geometry), write_wkt(geometry)

    return return_refusals(read)


def _wkbs() -> Iterator[bytes]:
    from spec_ref.encodings.geo.wkb import wkt_to_wkb

    return map(wkt_to_wkb, map(decode_text, _wkts()))


def _wkts() -> Iterator[bytes]:
    yield from (
        b"POINT (1 2)",
        b"POINT Z (1 2 3)",
        b"POINT EMPTY",
        b"LINESTRING ZM (1 2 3 4, 5 6 7 8)",
        b"POLYGON ((0 0, 1 0, 1 1, 0 0), (0 0, 1 0, 1 1, 0 0))",
        b"MULTIPOINT M ((1 2 3), (4 5 6))",
        b"MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))",
        b"GEOMETRYCOLLECTION (POINT (1 2))",
        b"GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (-1e10 .5)))",
    )


def _wkt() -> Callable[[bytes], object]:
    from spec_ref.encodings.geo.wkt import read_wkt, write_wkt

    return return_refusals(lambda data: write_wkt(read_wkt(decode_text(data))))


def _json_path() -> Callable[[bytes], object]:
    from spec_ref.encodings.variant.json_path import normalized_path, parse_normalized_path

    return return_refusals(lambda data: normalized_path(parse_normalized_path(decode_text(data))))


def _transforms() -> Iterator[bytes]:
    return (text.encode() for text in argument_values("transform", "transform"))


def _transform() -> Callable[[bytes], object]:
    from spec_ref.partitioning.transforms import parse_transform

    return return_refusals(lambda data: str(parse_transform(decode_text(data))))


TARGETS = (
    Target("single-value", _single_value, _typed_seeds("single-value.decode", "bytes")),
    Target("bound", _bound, _typed_seeds("bound.decode", "bytes")),
    Target("json-value", _json_value, _typed_seeds("json-value.decode", "json"), _mutated_typed_json),
    Target("type", _type, json_members("type.parse", member="type"), mutations.mutate_json),
    Target(
        "predicate",
        _predicate,
        json_members("expression.evaluate", "projection.evaluate", member="predicate"),
        mutations.mutate_json,
    ),
    Target("variant", _variant, _variants),
    Target("variant-shredded", _shredded_reader, _shreddings),
    Target("variant-bound", _variant_bound, _variants),
    Target("wkb", _wkb, _wkbs),
    Target("wkt", _wkt, _wkts),
    Target("json-path", _json_path, lambda: (b"$['a']['b']", b"$", b"$['\\u000b']['\\'']")),
    Target("transform", _transform, _transforms),
)
