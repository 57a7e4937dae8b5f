"""The JSON forms that a writer may give a value (Appendix D, JSON single-value serialization)."""

from __future__ import annotations

import struct
from typing import Any

from tools.derive.instants import DIGITS


def shortest_float(value: float) -> float:
    """The float that has the fewest decimal digits among those that round to the same binary32."""
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.pack("<f", short) == struct.pack("<f", value):
                return short
        except OverflowError:
            continue
    return value


def without_trailing_zeros(text: str) -> str:
    """A time or timestamp whose fraction has no zeros at its end, and no point if nothing is left."""
    body, zone = (text[:-6], "+00:00") if text.endswith("+00:00") else (text, "")
    return (body.rstrip("0").rstrip(".") if "." in body else body) + zone


def json_forms(type_: str, value: Any) -> list[Any]:
    """The JSON of a value in the form that the text shows first, then the others that it leaves room for."""
    if type_ == "long":
        return [int(value)]
    if type_ == "float":
        return [value, shortest_float(value)]
    if type_ in DIGITS:
        return [value, without_trailing_zeros(value)]
    if type_ == "binary" or type_.startswith("fixed"):
        return [value.lower(), value]
    return [value]
