"""Counts of things in messages."""

from __future__ import annotations


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count and its noun: "1 script", "2 scripts".

    Args:
        count: the number.
        noun: the noun in the singular.
        nouns: the noun in the plural; the singular with an s by default.
    """
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"
