"""Find the place of an error in a JSON text, for texts that cannot be parsed.

A parser reports the line and the column; to fix a file that is one long line, its author needs the names on the path.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

Segments: TypeAlias = tuple[str | int, ...]
"""The names of members and the indexes of items on the path from the root."""

MAX_SEARCHED_BYTES = 1 << 23
"""The maximum number of bytes that are searched for a place; searching all of them takes a second or two."""

_POSITION = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
_TOKEN = re.compile(rb'[{}\[\],]|"[^"\\]*+(?:\\.[^"\\]*+)*+\\?(?:"|\Z)', re.DOTALL)


def split_position(message: str) -> tuple[str, int, int] | None:
    """Split the position of an error from its message, the only place where jiter states it.

    Args:
        message: the text of the error.

    Returns:
        What is wrong, the line and the column, counted from 1; None if the message names no position.
    """
    found = _POSITION.fullmatch(message)
    return None if found is None else (found[1], int(found[2]), int(found[3]))


def find_error_place(text: bytes, message: str) -> Segments:
    """Find the place where a parser stopped.

    Args:
        text: the JSON text, in UTF-8.
        message: the message of the parser, with line and column.

    Returns:
        The path; that of the root if the message has no position. The text before the position is valid, but
        the value around it may be incomplete.
    """
    position = split_position(message)
    if position is None:
        return ()
    _, line, column = position
    start = sum(len(before) + 1 for before in text.split(b"\n", line - 1)[: line - 1])
    return _place_at(text, start + column - 1) if start + column <= MAX_SEARCHED_BYTES else ()


def _place_at(text: bytes, end: int) -> Segments:
    around: list[str | int | None] = []  # an index for each list; for each object a name, or None before its first name
    for match in _TOKEN.finditer(text, 0, end):
        token = match[0]
        inner = around[-1] if around else ""
        if token == b"{":
            around.append(None)
        elif token == b"[":
            around.append(0)
        elif token in (b"}", b"]"):
            around = around[:-1]
        elif token == b"," and around:
            around[-1] = inner + 1 if isinstance(inner, int) else None
        elif inner is None:
            around[-1] = _name(token)
    return tuple(segment for segment in around if segment is not None)


def _name(token: bytes) -> str | None:
    try:
        return str(json.loads(token))
    except ValueError:  # a truncated name
        return None
