"""Strict reading and writing of JSON text (RFC 8259; Appendix C).

Metadata is written by other engines, so the text is not trusted: what two parsers could read differently is refused (a
repeated name in an object, text that is not UTF-8), integers stay exact and distinct from floats (``1.0`` is not an
integer), and depth and size are bounded.
"""

from __future__ import annotations

import json
import math
from typing import Any

import jiter

from spec_ref.core.errors import spec_error
from spec_ref.json.places import find_error_place

MAX_DEPTH = 180
"""The maximum number of levels of arrays and objects. A schema level takes three of them; no engine writes schemas
sixty levels deep."""

MAX_BYTES = 1 << 30
"""The maximum size of a document after decompression, in bytes."""

MAX_VALUES = 1 << 23
"""The maximum number of values of a document, which take about 100 bytes each; a table of a hundred thousand
snapshots has half as many."""

MIN_COUNTED_BYTES = 1 << 24
"""The size in bytes from which the values of a document are counted before it is parsed; smaller documents cannot
exceed `MAX_VALUES`."""

DOCUMENT = "TMD029"
"""The code for a text that is not a JSON document of the kinds in Appendix C."""


def loads(text: bytes | str) -> Any:
    """Parse one JSON document.

    Args:
        text: the JSON text, in UTF-8.

    Returns:
        The parsed JSON.

    Raises:
        SpecError: TMD029 if the text is not JSON or not UTF-8, repeats a name in an object, holds a lone surrogate,
            is nested too deeply, has an integer of thousands of digits, or is too large, in bytes or in values.
    """
    if len(text) > MAX_BYTES:
        raise spec_error(DOCUMENT, "the document is too large", found=len(text), expected=f"at most {MAX_BYTES} bytes")
    try:
        data = text.encode() if isinstance(text, str) else bytes(text)
    except UnicodeEncodeError as error:
        raise spec_error(DOCUMENT, "the text has a lone surrogate, which UTF-8 cannot encode") from error
    if len(data) >= MIN_COUNTED_BYTES:
        most = 1 + sum(data.count(mark) for mark in (b",", b"[", b"{"))  # counts marks in strings too, which are few
        if most > MAX_VALUES:
            raise spec_error(DOCUMENT, "the document has too many values", found=most, expected=f"at most {MAX_VALUES}")
    try:
        return jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="keys")
    except ValueError as error:
        message = str(error)
        path = "".join(f"/{escape_token(str(segment))}" for segment in find_error_place(data, message))
        raise spec_error(DOCUMENT, f"the text is not a JSON document: {message}", path=path) from error


def check_document(value: Any) -> None:
    """Check that a Python value can be written as JSON: no other types, names that are strings, limited depth.

    Args:
        value: the value.

    Raises:
        SpecError: TMD029 with the path of a part that cannot be written.
    """
    pending: list[tuple[Any, int, str]] = [(value, 0, "")]
    while pending:
        item, depth, path = pending.pop()
        if depth > MAX_DEPTH:
            raise spec_error(
                DOCUMENT, "the document is nested too deeply", expected=f"at most {MAX_DEPTH} levels", path=path
            )
        if type(item) is dict:
            for name, child in item.items():
                if type(name) is not str:
                    raise spec_error(DOCUMENT, "the name of a member is not a string", found=name, path=path)
                pending.append((child, depth + 1, child_pointer(path, name)))
        elif type(item) is list:
            pending.extend((child, depth + 1, f"{path}/{place}") for place, child in enumerate(item))
        elif type(item) is float and not math.isfinite(item):
            raise spec_error(DOCUMENT, "a number is not finite", found=item, path=path)
        elif type(item) not in (str, int, float, bool, type(None)):
            raise spec_error(DOCUMENT, "the value has no JSON form", found=type(item).__name__, path=path)


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)


def dumps(value: Any) -> str:
    """Write a value as compact JSON text; members keep their order.

    Args:
        value: parsed JSON.

    Returns:
        The text.

    Raises:
        SpecError: TMD029 if the value has no JSON form.
    """
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise spec_error(DOCUMENT, f"the value has no JSON form: {error}") from error


def child_pointer(path: str, name: str) -> str:
    """Build the JSON pointer of a member (RFC 6901).

    Args:
        path: the pointer of the object.
        name: the name of the member.

    Returns:
        The pointer.
    """
    return f"{path}/{escape_token(name)}"


def escape_token(name: str) -> str:
    """Escape a member's name as a segment of a JSON pointer.

    Args:
        name: the name.

    Returns:
        The segment.
    """
    return name.replace("~", "~0").replace("/", "~1")
