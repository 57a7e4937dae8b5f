"""The unscaled value of a decimal (Primitive Types)."""

from __future__ import annotations

from decimal import Decimal


def unscaled_value(value: Decimal) -> int:
    """Find the unscaled value of a decimal: 1420 for 14.20.

    Args:
        value: a decimal.

    Returns:
        The unscaled value.
    """
    negative, digits, _ = value.as_tuple()
    # Not value.scaleb(), which rounds to the precision of the thread's context.
    number = int("".join(map(str, digits)))
    return -number if negative else number
