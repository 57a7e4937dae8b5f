"""JSON text: strict parsing, writing on one line, and places in a document."""

from __future__ import annotations

import json
import re
from typing import Any

import jiter

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_MINUS_0 = re.compile(rb"-0(?<![^\[,: \t\r\n]-0)(?![^,\]} \t\r\n])")
"""A number -0, or the same text in a string. The pattern begins with the literal, for which the search is fast."""

_STRING_OR_MINUS_0 = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|' + _MINUS_0.pattern, re.DOTALL)


def pointer_prefix(path: list[str | int]) -> str:
    """Return a JSON pointer and a colon; an empty string for the whole document."""
    return f"{pointer(path)}: " if path else ""


def pointer(path: list[str | int]) -> str:
    """Return the JSON pointer (RFC 6901) of a path."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def shorten(text: str, limit: int = 300) -> str:
    """Put text on one line, and cut it after ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}... ({len(line)} characters)"


def parse_json(text: bytes) -> Any:
    """Read JSON strictly: no duplicate keys, no bare NaN, no lone surrogates, bounded depth; ValueError otherwise.

    The number -0 is read as a float, which keeps its sign: some libraries write negative zero without a fraction.
    """
    if _MINUS_0.search(text):
        text = _STRING_OR_MINUS_0.sub(lambda match: b"-0.0" if match[0] == b"-0" else match[0], text)
    return jiter.from_json(text, catch_duplicate_keys=True, allow_inf_nan=False)


def dump_json(value: Any) -> str:
    """Write JSON on one line, in ASCII.

    Raises:
        ValueError: the value has a number that JSON cannot represent.
    """
    return _ENCODER.encode(value)
