"""The JSON forms that a writer may give a value (Appendix D, JSON single-value serialization)."""

from __future__ import annotations

import struct
from typing import Any

from tools.derive.instants import DIGITS


def float_forms(value: float) -> list[float]:
    """Return the numbers of one to nine digits that round to the same binary32 value."""
    forms = []
    for digits in range(1, 10):
        number = float(f"{value:.{digits}g}")
        try:
            rounded = struct.pack("<f", number)
        except OverflowError:
            continue
        if rounded == struct.pack("<f", value) and number not in forms:
            forms.append(number)
    return forms


def without_trailing_zeros(text: str) -> list[str]:
    """Return the shorter forms of a time or timestamp whose fraction ends in zeros, the shortest first."""
    body, zone = (text[:-6], "+00:00") if text.endswith("+00:00") else (text, "")
    seconds, point, fraction = body.partition(".")
    fewest = len(fraction.rstrip("0"))
    return [f"{seconds}{point if digits else ''}{fraction[:digits]}{zone}" for digits in range(fewest, len(fraction))]


def json_forms(type_: str, value: Any) -> list[Any]:
    """Return the JSON forms of a value: first the one that the text shows, then the others that it permits."""
    if type_ == "long":
        return [int(value)]
    if type_ == "float":
        return [value, *float_forms(value)]
    if type_ in DIGITS:
        return [value, *without_trailing_zeros(value)]
    if type_ == "binary" or type_.startswith("fixed"):
        return [value.lower(), value]
    return [value]
