"""Conversion of days and calendar dates in the proleptic Gregorian calendar, for every day of a date or timestamp.

`datetime` is limited to the years 1 to 9999. The calendar repeats every 400 years, so its arithmetic is done on the
equivalent day of the 400 years that begin with 1970 and shifted back.
"""

from __future__ import annotations

import datetime

SECONDS_PER_DAY = 86_400
UNITS_PER_SECOND: dict[str, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""The number of units in a second, by the symbol of the unit."""

UNITS: dict[str, str] = {
    "time": "us",
    "timestamp": "us",
    "timestamptz": "us",
    "timestamp_ns": "ns",
    "timestamptz_ns": "ns",
}
"""The symbol of the unit in which values are counted, by the name of their type (Primitive Types)."""

UNITS_PER_DAY: dict[str, int] = {
    "date": 1,
    **{name: SECONDS_PER_DAY * UNITS_PER_SECOND[unit] for name, unit in UNITS.items() if name != "time"},
}
"""The number of units in a day, by the name of the type whose values are counted in them."""

MICROS_PER_DAY = SECONDS_PER_DAY * UNITS_PER_SECOND["us"]
NANOS_PER_MICRO = UNITS_PER_SECOND["ns"] // UNITS_PER_SECOND["us"]

EPOCH = datetime.date(1970, 1, 1)
CYCLE_YEARS = 400
CYCLE_DAYS = 146_097
"""The number of days of any 400 years: 400 * 365, and 97 leap days."""


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Convert a day to a calendar date.

    Args:
        days: the number of days from 1970-01-01, negative before it.

    Returns:
        The year (astronomical: 0 is 1 BC), month and day.
    """
    cycles, rest = divmod(days, CYCLE_DAYS)
    date = EPOCH + datetime.timedelta(days=rest)
    return date.year + cycles * CYCLE_YEARS, date.month, date.day


def days_from_civil(year: int, month: int, day: int) -> int | None:
    """Convert a calendar date to a day.

    Args:
        year: the astronomical year.
        month: the month, from 1.
        day: the day of the month, from 1.

    Returns:
        The number of days from 1970-01-01; None if the calendar has no such date.
    """
    cycles = (year - EPOCH.year) // CYCLE_YEARS
    try:
        date = datetime.date(year - cycles * CYCLE_YEARS, month, day)
    except ValueError:
        return None
    return (date - EPOCH).days + cycles * CYCLE_DAYS
