"""Text in the colours of a terminal, and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Paint: TypeAlias = Callable[[str, str], str]
"""Takes a text, and the colour that it has on a terminal."""


def plain(text: str, _colour: str) -> str:
    """Return text without colour."""
    return text


def add_colour(text: str, colour: str) -> str:
    """Return text with the escape sequences that give it a colour on a terminal."""
    return f"\033[{colour}m{text}\033[0m"
