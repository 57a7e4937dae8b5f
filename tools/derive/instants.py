"""Conversion of dates, times and timestamps between ISO-8601 text and the integers that the types store.

The calendar is the standard library's proleptic Gregorian one; years outside 1 to 9999 go through it shifted by whole
cycles of 400 years, each of 146,097 days.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

_EPOCH = date(1970, 1, 1)
_CYCLE_DAYS = 146_097
DIGITS = {"time": 6, "timestamp": 6, "timestamptz": 6, "timestamp_ns": 9, "timestamptz_ns": 9}
"""The number of decimal digits of a second that a type stores."""

_DATE = re.compile(r"([+-]?\d{4,})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)


def _power(digits: int) -> int:
    return int(10**digits)


def days(text: str) -> int:
    """Return the number of days from 1970-01-01 to a date."""
    year, month, day = (int(part) for part in _DATE.fullmatch(text).groups())  # type: ignore[union-attr]
    cycles, year_in_cycle = divmod(year - 1, 400)
    return (date(year_in_cycle + 1, month, day) - _EPOCH).days + cycles * _CYCLE_DAYS


def year_month(day: int) -> tuple[int, int]:
    """Return the year and the month of a day since 1970-01-01."""
    cycles, day_in_cycle = divmod(day - (date(1, 1, 1) - _EPOCH).days, _CYCLE_DAYS)
    moment = date(1, 1, 1) + timedelta(days=day_in_cycle)
    return moment.year + 400 * cycles, moment.month


def date_text(day: int) -> str:
    """Return a date as text; a year that does not have four digits has a sign (ISO 8601, expanded representation)."""
    cycles, day_in_cycle = divmod(day - (date(1, 1, 1) - _EPOCH).days, _CYCLE_DAYS)
    moment = date(1, 1, 1) + timedelta(days=day_in_cycle)
    year = moment.year + 400 * cycles
    return f"{'-' if year < 0 else '+' if year > 9999 else ''}{abs(year):04}{moment.isoformat()[4:]}"


def since_midnight(text: str, digits: int) -> int:
    """Return a time as the number of units of 10**-digits seconds since midnight."""
    hour, minute, second, fraction = _TIME.fullmatch(text).groups()  # type: ignore[union-attr]
    second_of_day = (int(hour) * 60 + int(minute)) * 60 + int(second)
    return second_of_day * _power(digits) + int((fraction or "").ljust(digits, "0"))


def since_epoch(text: str, digits: int) -> int:
    """Return a timestamp as the number of units of 10**-digits seconds since 1970-01-01T00:00:00 (UTC)."""
    day, time = text.removesuffix("+00:00").split("T")
    return days(day) * 86_400 * _power(digits) + since_midnight(time, digits)


def count(type_: str, text: str) -> int:
    """Return the integer that a date, time or timestamp type stores for a textual value."""
    if type_ == "date":
        return days(text)
    return (since_midnight if type_ == "time" else since_epoch)(text, DIGITS[type_])
