"""Whole numbers in text: metrics of summaries, table properties, and entries of file headers."""

from __future__ import annotations

LONG_DIGITS = 19
"""The number of digits of the largest long. Python converts no text of more than 4,300 digits."""


def parse_whole_number(text: str) -> int | None:
    """Parse a whole number in ASCII digits.

    Args:
        text: the text.

    Returns:
        The number, 0 or more; None if the text is anything else, or the number is beyond the range of a long.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= LONG_DIGITS):
        return None
    number = int(text)
    return number if number < 1 << 63 else None
