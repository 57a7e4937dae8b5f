"""Positions of values in JSON text."""

from __future__ import annotations

import json

JsonPath = tuple[str | int, ...]

_DECODER = json.JSONDecoder()


def find_offset(text: str, path: JsonPath) -> int:
    """Return the offset of a value in JSON text, or of the innermost enclosing value that exists."""
    at = _skip_space(text, 0)
    for step in path:
        inner = _child(text, at, step)
        if inner is None:
            break
        at = inner
    return at


def _child(text: str, at: int, step: str | int) -> int | None:
    """Return the offset of a member or item of the object or array at an offset."""
    is_object = text[at] == "{"
    position = _skip_space(text, at + 1)
    index: str | int = 0
    while text[position] not in "}]":
        if is_object:
            index, position = _DECODER.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        if index == step:
            return position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip_space(text, position)
        if text[position] == ",":
            position = _skip_space(text, position + 1)
        if not is_object:
            index = int(index) + 1
    return None


def _skip_space(text: str, position: int) -> int:
    while text[position] in " \t\r\n":
        position += 1
    return position
