r"""What is shown says what it is: names and messages of others cannot move a cursor, hide or turn text, or add lines.

Control characters, characters that turn the direction of text, and halves of surrogate pairs are written as escapes
(``\x1b``). Colours are left alone, as are the marks with which progress is told at the beginning of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TextIO

_COLOUR = r"(?:[0-4]|2[2-4]|3[0-79]|9[0-7])"
_KEPT = rf"\A\r\x1b\[K|\x1b\[(?:{_COLOUR}(?:;{_COLOUR})*)?m"
_ESCAPED = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_HIDDEN = re.compile(rf"({_KEPT})|[{_ESCAPED}]")
_IN_LINE = re.compile(rf"(\x1b\[(?:{_COLOUR}(?:;{_COLOUR})*)?m)|[\n{_ESCAPED}]")
_IN_DOCUMENT = re.compile(f"()[{_ESCAPED}]")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    """The text with escapes in place of characters that do something to a terminal."""
    return _escaped(_HIDDEN, text)


def one_line(text: str) -> str:
    """As `visible`, of text that has its line to itself: what would begin another is written as an escape, too."""
    return _escaped(_IN_LINE, text)


def in_document(text: str) -> str:
    """As `visible`, for files, in which nothing but line ends and tabs is left of the control characters."""
    return _escaped(_IN_DOCUMENT, text)


def in_page(value: Any) -> Any:
    """As `in_document`, of what a template writes and is not markup of ours already."""
    return in_document(value) if type(value) is str else value


def xml_text(text: str) -> str:
    """Text whose control characters are escapes, and without the others that XML has no way to write."""
    return _NOT_XML.sub("\ufffd", in_document(text))


def _escaped(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: found[1] or found[0].encode("unicode_escape").decode(), text)


class Visible:
    """A stream to which only `visible` text is written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; the number of characters that were given."""
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
