import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.calendar import civil_from_days, days_from_civil


@given(st.dates())
def test_days_agree_with_the_calendar_of_the_standard_library(date: datetime.date) -> None:
    days = date.toordinal() - datetime.date(1970, 1, 1).toordinal()
    assert civil_from_days(days) == (date.year, date.month, date.day)
    assert days_from_civil(date.year, date.month, date.day) == days


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_day_of_a_date_has_one_calendar_date(days: int) -> None:
    assert days_from_civil(*civil_from_days(days)) == days


@pytest.mark.parametrize(
    ("days", "date"),
    [
        # java.time.LocalDate.ofEpochDay(Integer.MIN_VALUE), (Integer.MAX_VALUE); a year 0 is a leap year.
        (-(2**31), (-5877641, 6, 23)),
        (2**31 - 1, (5881580, 7, 11)),
        (-719528, (0, 1, 1)),
        (-719529, (-1, 12, 31)),
    ],
)
def test_days_beyond_the_standard_library(days: int, date: tuple[int, int, int]) -> None:
    assert civil_from_days(days) == date
    assert days_from_civil(*date) == days


@pytest.mark.parametrize(
    "date", [(2017, 2, 29), (1900, 2, 29), (2017, 13, 1), (2017, 0, 1), (2017, 4, 31), (-1, 2, 29)]
)
def test_dates_that_the_calendar_does_not_have(date: tuple[int, int, int]) -> None:
    assert days_from_civil(*date) is None
