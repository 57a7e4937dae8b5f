"""Conversion of plain texts to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKUP = re.compile(r"([\\`*_{}\[\]<>|$~#])")
_LINK = re.compile(r"https?://[^\s,;)\]]+")


def plain(text: str) -> str:
    """Escape markup in a text, except addresses, which become links, and text in backticks, which stays code."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") and len(part) > 2 else _link_addresses(part) for part in parts)


def _link_addresses(text: str) -> str:
    made, end = "", 0
    for match in _LINK.finditer(text):
        address = match[0].rstrip(".:")
        made += _MARKUP.sub(r"\\\1", text[end : match.start()]) + f"<{address}>"
        end = match.start() + len(address)
    return made + _MARKUP.sub(r"\\\1", text[end:])


def code(text: str) -> str:
    """Format a text as inline code."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table; cells are Markdown."""
    titles = list(head)
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return lines + ["| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows]
