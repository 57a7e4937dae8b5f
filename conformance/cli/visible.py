r"""What is written to a terminal shows what it says: names and messages of others cannot move the cursor or hide text.

Control characters, and characters that turn the direction of text, are written as escapes (``\x1b``). Colours are left
alone, as are the marks with which progress is told at the beginning of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TextIO

_COLOUR = r"(?:[0-4]|2[2-4]|3[0-79]|9[0-7])"
_KEPT = rf"\A\r\x1b\[K|\x1b\[(?:{_COLOUR}(?:;{_COLOUR})*)?m"
_HIDDEN = re.compile(rf"({_KEPT})|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with escapes in place of characters that do something to a terminal."""
    return _HIDDEN.sub(lambda found: found[1] or found[0].encode("unicode_escape").decode(), text)


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
