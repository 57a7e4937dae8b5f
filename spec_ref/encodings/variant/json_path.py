"""Normalized JSON paths of the fields of a variant (Bounds for Variant; RFC 9535, section 2.7; BND005).

The root is ``$``, and each step into an object is ``['name']``. A path leads through an array without a separate step
(``$['addresses']['zip']`` is the zip of every address), so the index selectors of RFC 9535 are not used here and are
refused: they identify an element, not a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from spec_ref.core.errors import spec_error

_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "'": "\\'", "\\": "\\\\"}
_ESCAPED = {chr(code): _ESCAPES.get(chr(code), f"\\u{code:04x}") for code in [*range(0x20), *map(ord, "'\\")]}
"""The characters that a normalized path escapes, and the only way to write each."""

_UNESCAPED = {text: character for character, text in _ESCAPED.items()}
_TRANSLATION = str.maketrans(_ESCAPED)

_SEGMENT = re.compile(r"\['((?:[^'\\\x00-\x1F\uD800-\uDFFF]|\\(?:[btnfr'\\]|u00[01][0-9a-f]))*)'\]")
_ESCAPE = re.compile(r"\\(?:u00[01][0-9a-f]|.)")


def normalized_path(names: Iterable[str]) -> str:
    """Write the normalized path of a field.

    Args:
        names: the names of the fields from the root to it.

    Returns:
        The path; ``$`` for no names.

    Raises:
        SpecError: BND005 if a name has a lone surrogate.
    """
    steps = [name.translate(_TRANSLATION) for name in names]
    path = "".join(["$", *(f"['{step}']" for step in steps)])
    parse_normalized_path(path)
    return path


def parse_normalized_path(path: str) -> tuple[str, ...]:
    """Parse a normalized path.

    Args:
        path: the text of the path.

    Returns:
        The names of the fields from the root; ``()`` for the root.

    Raises:
        SpecError: BND005 if the text is not in normalized form, or selects by index.
    """
    if not path.startswith("$"):
        raise spec_error(
            "BND005", "the JSON path does not begin with $", found=path, expected="for example $['a']['b']"
        )
    names = []
    position = 1
    while position < len(path):
        match = _SEGMENT.match(path, position)
        if match is None:
            message = f"the text is not a segment of a normalized JSON path (at character {position})"
            raise spec_error("BND005", message, found=path, expected="['name'], with ', \\ and controls escaped")
        names.append(_unescape(match[1], path))
        position = match.end()
    return tuple(names)


def _unescape(text: str, path: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[0] not in _UNESCAPED:
            message = "a character is not escaped as a normalized JSON path escapes it"
            raise spec_error("BND005", message, found=path, expected="\\b, \\t, \\n, \\f and \\r for these controls")
        return _UNESCAPED[match[0]]

    return _ESCAPE.sub(character, text)
