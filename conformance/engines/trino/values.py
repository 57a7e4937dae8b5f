"""Convert values from the JSON of Trino's protocol to exchange form."""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Unsupported
from spec_ref.core.json_types import Json

GEOSPATIAL = ("geometry", "geography")


def value(type_: Json, value_json: Any) -> Json:
    """Return the exchange form of a value.

    Args:
        type_: the Iceberg type; None if it is unknown.
        value_json: the value in the protocol's JSON.

    Raises:
        Unsupported: Trino has no exact form for values of the type.
    """
    name = native.kind(type_)
    if value_json is None:
        return None
    read = _READ.get(name)
    return value_json if read is None else read(type_, value_json)


def _struct(type_: Json, found: Any) -> Json:
    """Convert a struct, which Trino returns as a list in field order, to an object of values by field id."""
    fields = type_["fields"]
    if not isinstance(found, list) or len(found) != len(fields):
        return found
    return {str(field["id"]): value(field["type"], item) for field, item in zip(fields, found, strict=True)}


def _list(type_: Json, found: Any) -> Json:
    return [value(type_["element"], item) for item in found] if isinstance(found, list) else found


def _map(type_: Json, found: Any) -> Json:
    """Convert a map to keys and values; the keys of a JSON object are strings, whatever their type."""
    if not isinstance(found, dict):
        return found
    return {
        "keys": [_key(type_["key"], key) for key in found],
        "values": [value(type_["value"], item) for item in found.values()],
    }


def _key(type_: Json, text: str) -> Json:
    match native.kind(type_):
        case "struct" | "list" | "map":
            raise Unsupported("Trino's protocol returns nested map keys as text that cannot be parsed")
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "int":
            return int(text)
        case "float" | "double":
            return value(type_, text if text in ("NaN", "Infinity", "-Infinity") else float(text))
    return value(type_, text)


def _float(type_: Json, found: Any) -> Json:
    """Convert a 32-bit float, which Trino writes with the fewest digits that identify it."""
    return struct.unpack("f", struct.pack("f", found))[0] if isinstance(found, int | float) else found


def _double(_: Json, found: Any) -> Json:
    return float(found) if isinstance(found, int | float) else found


def _text(_: Json, found: Any) -> Json:
    return str(found)


def _bytes(_: Json, found: Any) -> Json:
    try:
        return base64.b64decode(found, validate=True).hex().upper()
    except (TypeError, binascii.Error):
        return found


def _instant(_: Json, found: Any) -> Json:
    return str(found).replace(" ", "T", 1)


def _zoned(_: Json, found: Any) -> Json:
    return str(found).replace(" ", "T", 1).replace(" UTC", "+00:00")


def _not_exact(type_: Json, _: Any) -> Json:
    raise Unsupported(f"Trino does not return the bytes of a {native.kind(type_)}")


_READ: dict[str, Callable[[Json, Any], Json]] = {
    "struct": _struct,
    "list": _list,
    "map": _map,
    "long": _text,
    "float": _float,
    "double": _double,
    "decimal": _text,
    "uuid": _text,
    "fixed": _bytes,
    "binary": _bytes,
    "timestamp": _instant,
    "timestamp_ns": _instant,
    "timestamptz": _zoned,
    "timestamptz_ns": _zoned,
    "variant": _not_exact,
    "geometry": _not_exact,
    "geography": _not_exact,
}
