"""Decimals of a type from their unscaled values (Primitive Types)."""

from __future__ import annotations

from decimal import Decimal

from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import DecimalType


def decimal_from_unscaled(type_: DecimalType, number: int) -> Decimal:
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
        raise spec_error(
            "TYP013", f"the value is not a valid {type_}", found=number, expected=f"at most {type_.precision} digits"
        )
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -type_.scale))


def decimal_size(precision: int) -> int:
    """Compute the fewest bytes whose two's complement holds every unscaled value of a precision (AVR006, PQT003).

    Args:
        precision: the number of decimal digits.

    Returns:
        The number of bytes.
    """
    return (int(10**precision - 1).bit_length() + 8) // 8
