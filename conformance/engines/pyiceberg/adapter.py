"""The adapter of PyIceberg: its transforms, conversions, bounds and types."""

from __future__ import annotations

import json
import struct
import uuid
from collections.abc import Callable
from decimal import DecimalException
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from pyiceberg.conversions import from_bytes, from_json, to_bytes, to_json
from pyiceberg.exceptions import ValidationError
from pyiceberg.io.pyarrow import StatsAggregator
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, parse_transform
from pyiceberg.types import UnknownType, UUIDType

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported, serve
from conformance.engines.pyiceberg import commits, expressions, manifests, metadata, puffin, tables, writing

REFUSALS = (ValueError, ValidationError, struct.error, OverflowError, DecimalException)
"""Exceptions with which PyIceberg refuses input; `UnicodeError` and pydantic's errors are ValueErrors."""

MISSING_TYPES = {"variant"}
PHYSICAL = {"string": "BYTE_ARRAY", "binary": "BYTE_ARRAY"}


def engine_type(type_: Any) -> Any:
    """Parse a type as PyIceberg parses the type of a field in a schema.

    Raises:
        Unsupported: PyIceberg has no such type.
    """
    name = native.kind(type_)
    if name in MISSING_TYPES:
        raise Unsupported(f"PyIceberg has no type {name}")
    return _field_type(json.dumps(type_))


@lru_cache(maxsize=4096)
def _field_type(text: str) -> Any:
    field = f'{{"id": 1000000000, "name": "f", "required": false, "type": {text}}}'
    schema = Schema.model_validate_json(f'{{"type": "struct", "schema-id": 0, "fields": [{field}]}}')
    return schema.fields[0].field_type


def _value_type(type_: Any) -> Any:
    """Return the type of the value to convert."""
    if native.kind(type_) in ("geometry", "geography"):
        raise Unsupported("PyIceberg takes geometries only as WKB, and does not check it")
    found = engine_type(type_)
    if not found.is_primitive:
        raise Unsupported("PyIceberg does not convert nested values")
    return found


def _restore_uuid(type_: Any, value: Any) -> Any:
    """Convert a result of `from_bytes` for other functions: it returns a UUID as bytes."""
    return uuid.UUID(bytes=value) if isinstance(type_, UUIDType) and isinstance(value, bytes) else value


def _hash(args: Arguments) -> object:
    source = engine_type(args["type"])
    bucket: Any = BucketTransform(num_buckets=1)
    if not bucket.can_transform(source):
        if native.kind(args["type"]) in ("boolean", "float", "double", "unknown"):
            raise Unsupported("PyIceberg hashes only what can be bucketed")
        raise Invalid(f"{source} cannot be hashed")
    value = native.read(args["type"], args["value"])
    return bucket.transform(source)(None) if value is None else bucket.transform(source, bucket=False)(value)


def _transform(args: Arguments) -> object:
    source = engine_type(args["type"])
    transform: Any = parse_transform(args["transform"])
    if not transform.can_transform(source):
        raise Invalid(f"{transform} cannot be applied to {source}")
    value = native.read(args["type"], args["value"])
    result = transform.transform(source)(value)
    return native.write(str(transform.result_type(source)), result)


def _encode(args: Arguments) -> str:
    type_ = _value_type(args["type"])
    encoded: bytes = to_bytes(type_, native.read(args["type"], args["value"]))
    return encoded.hex().upper()


def _decode(args: Arguments) -> object:
    type_ = _value_type(args["type"])
    return native.write(args["type"], from_bytes(type_, bytes.fromhex(args["bytes"])))


def _json_encode(args: Arguments) -> object:
    type_ = _value_type(args["type"])
    _check_json(type_)
    return to_json(type_, _restore_uuid(type_, from_bytes(type_, bytes.fromhex(args["bytes"]))))


def _json_decode(args: Arguments) -> object:
    type_ = _value_type(args["type"])
    _check_json(type_)
    encoded: bytes = to_bytes(type_, from_json(type_, args["json"]))
    return encoded.hex().upper()


def _json_round_trip(args: Arguments) -> object:
    type_ = _value_type(args["type"])
    _check_json(type_)
    return to_json(type_, from_json(type_, args["json"]))


def _check_json(type_: Any) -> None:
    if type(type_) not in from_json.registry or type(type_) not in to_json.registry:
        if isinstance(type_, UnknownType):
            raise Invalid("PyIceberg has no JSON form of unknown values")
        raise Unsupported(f"PyIceberg has no JSON form of {type_}")


def _bound_encode(args: Arguments) -> str:
    if native.is_nan(args["type"], args["value"]):
        raise Unsupported("bounds come from Parquet statistics, which have no NaN")
    return _encode(args)


def _bound_truncate(args: Arguments) -> object:
    type_ = _value_type(args["type"])
    name = native.kind(args["type"])
    if name not in PHYSICAL:
        raise Unsupported(f"PyIceberg does not shorten bounds of {name}")
    value = native.read(args["type"], args["value"])
    column = StatsAggregator(type_, PHYSICAL[name], args["width"])
    column.update_min(value)
    column.update_max(value)
    bound = column.min_as_bytes() if args["side"] == "lower" else column.max_as_bytes()
    return None if bound is None else native.write(args["type"], from_bytes(type_, bound))


def _type_parse(args: Arguments) -> object:
    field = Schema(
        *Schema.model_validate(
            {
                "type": "struct",
                "schema-id": 0,
                "fields": [{"id": 1000000000, "name": "f", "required": False, "type": _known(args["type"])}],
            }
        ).fields
    )
    return json.loads(field.model_dump_json())["fields"][0]["type"]


def _known(type_: Any) -> Any:
    if "variant" in json.dumps(type_):
        raise Unsupported("PyIceberg has no type variant")
    return type_


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "hash": _hash,
        "transform": _transform,
        "single-value.encode": _encode,
        "single-value.decode": _decode,
        "json-value.encode": _json_encode,
        "json-value.decode": _json_decode,
        "json-value.round-trip": _json_round_trip,
        "bound.encode": _bound_encode,
        "bound.decode": _decode,
        "bound.truncate": _bound_truncate,
        "type.parse": _type_parse,
        **metadata.operations(engine_type),
        **commits.operations(),
        **expressions.operations(),
        **manifests.operations(),
        **puffin.operations(),
        **tables.operations(),
        **writing.operations(engine_type),
    }


def main() -> None:
    """Serve PyIceberg on standard input and output."""
    serve(
        {"implementation": "pyiceberg", "version": version("pyiceberg"), "format_versions": [1, 2, 3]},
        operations(),
        REFUSALS,
    )


if __name__ == "__main__":
    main()
