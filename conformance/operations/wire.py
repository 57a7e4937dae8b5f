"""The exchange form of values between the harness and an adapter.

It is JSON single-value serialization (Appendix D) with changes that keep values exact in every language:

- a long is a decimal string, because many JSON parsers convert numbers to doubles; a JSON integer is accepted, too;
- bytes are upper-case hexadecimal; lower case is accepted, too;
- floats may be ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``;
- a variant is ``{"metadata": hexadecimal, "value": hexadecimal}``;
- unknown is null.
"""

from __future__ import annotations

import math
import re
from typing import Any

from spec_ref.core.errors import error_path, spec_error
from spec_ref.core.json_types import Json
from spec_ref.data_types.types import Type
from spec_ref.data_types.values import value_key
from spec_ref.encodings.variant.physical_types import Variant
from spec_ref.single_value.json_value import APPENDIX_D, JsonForm, read_float, read_hex, read_integer

_LONG = re.compile(r"0|-?[1-9][0-9]{0,18}")


def _read_long(type_: Type, json: Json) -> int:
    if not isinstance(json, str):
        return read_integer(type_, json)
    if not _LONG.fullmatch(json):
        raise spec_error("SVJ001", "the value is not a long", found=json, expected="a decimal integer in a string")
    return int(json)


_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _write_float(_: Type, value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _read_float(type_: Type, json: Json) -> float:
    if isinstance(json, str) and json in _NOT_FINITE:
        return _NOT_FINITE[json]
    return read_float(type_, json)


def _write_hex(_: Type, value: bytes) -> str:
    return value.hex().upper()


def _write_variant(type_: Type, value: Variant) -> dict[str, str]:
    return {"metadata": _write_hex(type_, value.metadata), "value": _write_hex(type_, value.value)}


def _read_variant(type_: Type, json: Json) -> Variant:
    if not isinstance(json, dict) or json.keys() != {"metadata", "value"}:
        raise spec_error("TYP006", "the value is not a variant", found=json, expected="an object of metadata and value")
    parts = {}
    for name, text in json.items():
        with error_path(f"/{name}"):
            parts[name] = read_hex(type_, text)
    return Variant(**parts)


_FLOAT = JsonForm(_write_float, _read_float)
_BYTES = JsonForm(_write_hex, read_hex)

EXCHANGE = APPENDIX_D.with_forms(
    {
        "long": JsonForm(lambda _, value: str(value), _read_long),
        "float": _FLOAT,
        "double": _FLOAT,
        "fixed": _BYTES,
        "binary": _BYTES,
        "variant": JsonForm(_write_variant, _read_variant),
    }
)


def to_exchange(type_: Type, value: Any) -> Json:
    """Return the exchange form of a value; null for null.

    Raises:
        SpecError: ``value`` is not of the type; the code is one of the type's.
    """
    return EXCHANGE.to_json(type_, value)


def from_exchange(type_: Type, json: Json) -> Any:
    """Parse a value in exchange form; null for null.

    Raises:
        SpecError: the JSON has a wrong form, or a value that is not of the type.
    """
    return EXCHANGE.from_json(type_, json)


def values_equal(type_: Type, left: Any, right: Any) -> bool:
    """Return whether two values of the type are equal.

    NaN equals NaN, -0.0 and 0.0 differ, decimals are equal by value and scale, and the entries of a map may be in
    any order.
    """
    return value_key(type_, left) == value_key(type_, right)
