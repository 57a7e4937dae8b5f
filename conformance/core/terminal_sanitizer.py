r"""Escapes for untrusted text, so that it cannot move the cursor, hide or reverse text, or add lines.

Control characters, characters that change the direction of text, and lone surrogates are written as escapes
(``\x1b``). Colours stay, as do the sequences that rewrite the progress line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TextIO

_COLOUR = r"(?:[0-4]|2[2-4]|3[0-79]|9[0-7])"
_KEPT = rf"\A\r\x1b\[K|\x1b\[(?:{_COLOUR}(?:;{_COLOUR})*)?m"
_ESCAPED = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_HIDDEN = rf"({_KEPT})|[{_ESCAPED}]"
_IN_LINE = rf"(\x1b\[(?:{_COLOUR}(?:;{_COLOUR})*)?m)|[\n{_ESCAPED}]"
_IN_DOCUMENT = f"()[{_ESCAPED}]"
_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def escape_controls(text: str) -> str:
    """Escape the characters that control a terminal."""
    return _escape(_HIDDEN, text)


def one_line(text: str) -> str:
    """Escape text like `escape_controls`, and line ends too."""
    return _escape(_IN_LINE, text)


def escape_for_file(text: str) -> str:
    """Escape text like `escape_controls`, but for files: of the control characters, only line ends and tabs stay."""
    return _escape(_IN_DOCUMENT, text)


def escape_for_page(value: Any) -> Any:
    """Escape a value that a template writes, like `escape_for_file`, unless it is already markup."""
    return escape_for_file(value) if type(value) is str else value


def xml_text(text: str) -> str:
    """Escape control characters, and remove other characters that XML cannot represent."""
    return re.sub(_NOT_XML, "\ufffd", escape_for_file(text))


def _escape(pattern: str, text: str) -> str:
    return re.sub(pattern, lambda found: found[1] or found[0].encode("unicode_escape").decode(), text)


class SanitizedStream:
    """A stream that escapes text with `escape_controls`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; return the number of characters that were given."""
        self._stream.write(escape_controls(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
