"""Type promotion: which types a field may become, and what its values become (Schema Evolution)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spec_ref.core.calendar import UNITS_PER_DAY
from spec_ref.core.errors import spec_error
from spec_ref.core.records import record
from spec_ref.core.versions import PROMOTION_OF_DATE, PROMOTION_OF_UNKNOWN, V1, FormatVersion
from spec_ref.data_types.types import (
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TIMESTAMP,
    TIMESTAMP_NS,
    UNKNOWN,
    VARIANT,
    DecimalType,
    Type,
    is_primitive,
    kind,
)


@record
class Promotion:
    """A row of the table of valid promotions."""

    requirement: str
    since: FormatVersion
    promotes: Callable[[Type, Type], bool]


def _widens(old: Type, new: Type) -> bool:
    decimals = isinstance(old, DecimalType) and isinstance(new, DecimalType)
    return decimals and new.precision > old.precision and new.scale == old.scale  # type: ignore[union-attr]


PROMOTIONS: tuple[Promotion, ...] = (
    # "Any type" is in a table of primitive types; whether it means struct, list, map and variant is open (B36).
    Promotion("EVO004", PROMOTION_OF_UNKNOWN.since, lambda old, new: old == UNKNOWN != new and is_primitive(new)),
    Promotion("EVO003", V1, lambda old, new: (old, new) == (INT, LONG)),
    Promotion("EVO005", PROMOTION_OF_DATE.since, lambda old, new: old == DATE and new in (TIMESTAMP, TIMESTAMP_NS)),
    Promotion("EVO003", V1, lambda old, new: (old, new) == (FLOAT, DOUBLE)),
    Promotion("EVO003", V1, _widens),
)
"""The valid promotions, in the order of the spec."""


def is_promotion(old: Type, new: Type) -> bool:
    """Decide whether values of a type may be read as another one, in any format version.

    Args:
        old: the type of the values.
        new: the type that they are read as.

    Returns:
        Whether the table has the promotion.
    """
    return any(promotion.promotes(old, new) for promotion in PROMOTIONS)


def is_promotable(old: Type, new: Type, version: FormatVersion) -> bool:
    """Decide whether the type of a field may be promoted.

    Args:
        old: the type of the field.
        new: the type that it would get.
        version: the format version of the table.

    Returns:
        Whether the promotion is valid.
    """
    return any(promotion.promotes(old, new) for promotion in PROMOTIONS if version.includes(promotion.since))


def may_have_been_promoted(old: Type, new: Type, version: FormatVersion) -> bool:
    """Decide whether a table may have promoted a field: validly, or in a way that the text leaves open (B36).

    Args:
        old: the type of the field.
        new: the type that it has now.
        version: the format version of the table.

    Returns:
        Whether checks of tables accept the change.
    """
    left_open = old == UNKNOWN and not is_primitive(new) and PROMOTION_OF_UNKNOWN.is_supported(version)
    return left_open or is_promotable(old, new, version)


def refusal_requirement(old: Type, new: Type) -> str:
    """Find the requirement that an invalid promotion breaks.

    Args:
        old: the type of the field.
        new: the type that it would get.

    Returns:
        EVO013 between a primitive and a nested type, EVO005 from a date to any timestamp, EVO004 from unknown, and
        EVO003 for any other pair, because the spec's table lists every valid promotion.
    """
    if VARIANT not in (old, new) and is_primitive(old) != is_primitive(new):
        return "EVO013"
    if old == DATE and kind(new) in UNITS_PER_DAY:
        return "EVO005"
    return "EVO004" if old == UNKNOWN else "EVO003"


def promote_value(old: Type, new: Type, value: Any) -> Any:
    """Convert a value to the type that its column is promoted to.

    Args:
        old: the type of the value.
        new: the type that it is promoted to.
        value: a value of the old type, or None.

    Returns:
        The value of the new type.

    Raises:
        SpecError: EVO006 if a date is outside the range of the timestamp.
    """
    if value is None or old != DATE or new == DATE:
        return value
    promoted = value * UNITS_PER_DAY[kind(new)]
    if not -(1 << 63) <= promoted < 1 << 63:
        raise spec_error("EVO006", f"the date is outside the range of {new}", found=value)
    return promoted
