"""Decimals and their unscaled values (Primitive Types)."""

from __future__ import annotations

from decimal import Decimal

from spec_ref.errors import violation
from spec_ref.schemas.types import DecimalType


def unscaled(value: Decimal) -> int:
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


def decimal_of(type_: DecimalType, number: int) -> Decimal:
    """Make the decimal with an unscaled value.

    Args:
        type_: the decimal type; its scale becomes the negative exponent.
        number: the unscaled value.

    Returns:
        The decimal.

    Raises:
        SpecError: TYP013 if it has more digits than the type's precision.
    """
    if abs(number) >= 10**type_.precision:
        raise violation("TYP013", f"not a value of {type_}", found=number, expected=f"{type_.precision} digits at most")
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -type_.scale))
