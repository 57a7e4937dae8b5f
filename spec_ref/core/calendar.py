"""Days and calendar dates in the proleptic Gregorian calendar, for every day that a date or timestamp can hold.

`datetime` ends at the years 1 and 9999. The calendar repeats every 400 years, so its arithmetic is done on the equal
day of the 400 years that begin with 1970 and shifted back.
"""

from __future__ import annotations

import datetime

MICROS_PER_DAY = 86_400_000_000
NANOS_PER_DAY = 86_400_000_000_000

EPOCH = datetime.date(1970, 1, 1)
CYCLE_YEARS = 400
CYCLE_DAYS = 146_097
"""The days of any 400 years: 400 * 365, and 97 leap days."""


def civil_from_days(days: int) -> tuple[int, int, int]:
    """The year (astronomical: 0 is 1 BC), month and day that is ``days`` days after 1970-01-01."""
    cycles, rest = divmod(days, CYCLE_DAYS)
    date = EPOCH + datetime.timedelta(days=rest)
    return date.year + cycles * CYCLE_YEARS, date.month, date.day


def days_from_civil(year: int, month: int, day: int) -> int | None:
    """Days from 1970-01-01 to a calendar date; None where the calendar has no such date."""
    cycles = (year - EPOCH.year) // CYCLE_YEARS
    try:
        date = datetime.date(year - cycles * CYCLE_YEARS, month, day)
    except ValueError:
        return None
    return (date - EPOCH).days + cycles * CYCLE_DAYS
