"""The arithmetic of partition transforms (Partition Transforms)."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spec_ref.columnar.partitioning.transforms import transform_array
from spec_ref.core.calendar import CYCLE_DAYS, CYCLE_YEARS, EPOCH, UNITS_PER_DAY, civil_from_days
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import (
    DATE,
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    TIMESTAMPTZ_NS,
    DecimalType,
    Type,
    kind,
)
from spec_ref.partitioning.transforms import Day, Hour, Month, Truncate, Year
from tools.proofs.explorer import Impossible, Unsupported
from tools.proofs.theorem import BOUNDED, DECIMAL, EXHAUSTIVE, MAX_CODE_POINT, World, theorem
from tools.proofs.theorems.predicates import (
    INSTANTS,
    TEXTS,
    sources,
    transform_named,
    value,
    value_json,
)

WIDEST = (1 << 31) - 1
WIDE = Context(prec=60)
"""A precision that is sufficient for all decimals."""


def _request(transform: Any, type_: Type, one: Any) -> dict[str, Any]:
    args = {"transform": str(transform), "type": str(type_), "value": value_json(type_, one)}
    made: dict[str, Any] = {"operation": "transform", "args": args}
    expected = _expected_result(transform, type_, one)
    return made if expected is None else {**made, "expect": value_json(transform.result_type(type_), expected)}


def _expected_result(transform: Any, type_: Type, one: Any) -> Any:
    """Return the result of a transform by plain arithmetic; None for a bucket, whose hash the vectors check."""
    match transform:
        case Truncate(width) if isinstance(one, str | bytes):
            return one[:width]
        case Truncate(width) if isinstance(type_, DecimalType):
            number = int(one.scaleb(type_.scale, WIDE))
            return Decimal(number - number % width).scaleb(-type_.scale, WIDE)
        case Truncate(width):
            return one - one % width
        case Hour():
            return one // (UNITS_PER_DAY[kind(type_)] // 24)
        case Year() | Month() | Day():
            days = one // UNITS_PER_DAY[kind(type_)]
            unit = {Year: "Y", Month: "M", Day: "D"}[type(transform)]
            return int(np.datetime64(days, "D").astype(f"datetime64[{unit}]").astype(np.int64))
    return None


def _apply(transform: Any, type_: Type, one: Any) -> Any:
    try:
        return transform.apply(type_, one)
    except SpecError as error:  # contradiction C6: there is no defined result
        raise Impossible from error


def _unscaled(one: Any) -> Any:
    from spec_ref.core import decimals

    if isinstance(one, int):
        return one
    return decimals.unscaled_value(one)


@theorem(
    "truncate-is-a-floor",
    "TRN005",
    "TRN006",
    "TRN007",
    cases=({"type_": type_} for type_ in (INT, LONG, DECIMAL)),
    quick=3,
    without=("truncation",),
)
def truncate_floor(world: World, type_: Type) -> None:
    """Truncating a number to a width returns the largest multiple of the width that is not above the number: at most
    the number, and less than a width below it.
    """
    transform = Truncate(world.int("width", 1, WIDEST))
    one = value(world, "value", type_)
    world.request = lambda: _request(transform, type_, one)
    result = _unscaled(_apply(transform, type_, one))
    number = _unscaled(one)
    world.claim(result <= number, "the result is above the value")
    world.claim(number - result < transform.width, "the result is a width or more below the value")
    world.claim((number - result) == number % transform.width, "the result is not a multiple of the width")


@theorem(
    "truncate-never-falls",
    "TRN005",
    "TRN006",
    "TRN007",
    without=("truncation",),
)
def truncate_order(world: World) -> None:
    """If one number is not above another, then neither are their truncations to a width: truncation keeps the order.
    The theorems about planning use only this property of truncation.
    """
    transform = Truncate(world.int("width", 1, WIDEST))
    low, high = world.int("low"), world.int("high")
    world.assume(low <= high)
    world.request = lambda: _request(transform, LONG, low)
    world.claim(transform._floor(low) <= transform._floor(high), "the truncations are in another order")


@theorem(
    "truncate-twice",
    "TRN005",
    "TRN006",
    "TRN007",
    # The solver does not always decide this for any width, as it multiplies two unknowns. For any width it follows from
    # `truncate-is-a-floor`: the largest multiple of a width that is not above a multiple is the multiple.
    cases=({"type_": type_, "width": width} for type_ in (INT, LONG, DECIMAL) for width in (1, 10, 97, WIDEST)),
    quick=5,
    without=("truncation",),
)
def truncate_twice(world: World, type_: Type, width: Any) -> None:
    """Truncating a number that was truncated to the same width does not change it."""
    transform = Truncate(width)
    one = value(world, "value", type_)
    world.request = lambda: _request(transform, type_, one)
    once = _apply(transform, type_, one)
    world.claim(_apply(transform, type_, once) == once, "the second truncation changes the value")


@theorem(
    "truncate-of-text",
    "TRN008",
    "TRN009",
    method=BOUNDED,
    cases=({"type_": type_} for type_ in TEXTS),
)
def truncate_text(world: World, type_: Type) -> None:
    """The truncation of a string or binary is its prefix of at most the width; truncating twice has the same result as
    truncating once; and truncation keeps the order.
    """
    transform = Truncate(world.int("width", 1, WIDEST))
    low, high = value(world, "low", type_), value(world, "high", type_)
    world.request = lambda: _request(transform, type_, low)
    cut = transform.apply(type_, low)
    world.claim(len(cut) <= transform.width, "the result is longer than the width")
    world.claim(low[: len(cut)] == cut, "the result is not a prefix")
    world.claim(len(cut) == len(low) or len(cut) == transform.width, "the result is shorter than it has to be")
    world.claim(transform.apply(type_, cut) == cut, "the second truncation changes the value")
    if low <= high:
        world.claim(cut <= transform.apply(type_, high), "the truncations are in another order")


class _Long:
    """A string or binary of any length, of which only the length and the order relative to one other are known.

    Both have a common prefix of the length ``same``; after it, if they are longer, they have the units ``here``.
    """

    length: Any
    same: Any
    here: Any

    def __new__(cls, length: Any, same: Any, here: Any) -> Any:
        self = super().__new__(cls)
        self.length, self.same, self.here = length, same, here
        return self

    def __getitem__(self, part: Any) -> Any:
        if not isinstance(part, slice) or part.start is not None or part.step is not None:
            raise Unsupported("a part of a long value that is not its prefix")
        return type(self)(min(self.length, part.stop), min(self.same, part.stop), self.here)

    def __le__(self, other: Any) -> Any:
        """Whether this value is a prefix of the other one, or less at the first difference: the order of the spec."""
        return self.same == self.length or (self.same < other.length and self.here < other.here)


class _LongText(_Long, str):
    pass


class _LongBytes(_Long, bytes):
    pass


@theorem(
    "truncate-of-long-text",
    "TRN008",
    "TRN009",
    cases=({"source": source} for source in TEXTS),
)
def truncate_long(world: World, source: Type) -> None:
    """If one string or binary is not after another, then neither are their truncations, whatever their lengths and the
    width: the first difference of two of them decides their order, and that of their truncations unless these are
    equal.
    """
    transform = Truncate(world.int("width", 1, WIDEST))
    same = world.int("same", 0)
    made, last = (_LongText, MAX_CODE_POINT) if source == STRING else (_LongBytes, 255)
    low, high = (
        made(world.int(f"length of {name}", same), same, world.int(f"{name} there", 0, last))
        for name in ("low", "high")
    )
    world.assume((low.here != high.here) | (low.length == same) | (high.length == same))
    if low <= high:
        cut = transform.apply(source, low)
        world.claim(cut <= transform.apply(source, high), "the truncations are in another order")
        world.claim(cut.length <= transform.width, "the result is longer than the width")


@theorem(
    "times-never-fall",
    "TRN010",
    "TRN011",
    "TRN012",
    "TRN014",
    cases=(
        {"transform": transform, "type_": type_}
        for transform in (Year(), Month(), Day(), Hour())
        for type_ in INSTANTS
        if (transform, type_) != (Hour(), DATE)
    ),
    quick=4,
)
def times_order(world: World, transform: Any, type_: Type) -> None:
    """If one date or timestamp is not after another, then neither is its year, month, day or hour."""
    low, high = value(world, "low", type_), value(world, "high", type_)
    world.assume(low <= high)
    world.request = lambda: _request(transform, type_, low)
    world.claim(
        _apply(transform, type_, low) <= _apply(transform, type_, high), "the earlier one has the later partition"
    )


@theorem(
    "times-agree",
    "TRN010",
    "TRN011",
    "TRN012",
    "TRN014",
    cases=({"type_": type_} for type_ in INSTANTS),
)
def times_agree(world: World, type_: Type) -> None:
    """The year of a date or timestamp is that of its month, its month that of its day, and its day that of its hour,
    before 1970 as well as after it.
    """
    one = value(world, "value", type_)
    year, month, day = (transform.apply(type_, one) for transform in (Year(), Month(), Day()))
    world.request = lambda: _request(Day(), type_, one)
    world.claim(month // 12 == year, "the year is not that of the month")
    world.claim(Month().apply(DATE, day) == month, "the month is not that of the day")
    units = UNITS_PER_DAY[kind(type_)]
    world.claim(one - day * units >= 0, "the day begins after the value")
    world.claim(one - day * units < units, "the day ends before the value")
    if type_ != DATE:
        hour = _apply(Hour(), type_, one)
        world.claim(hour // 24 == day, "the day is not that of the hour")
        world.claim(one - hour * (units // 24) >= 0, "the hour begins after the value")
        world.claim(one - hour * (units // 24) < units // 24, "the hour ends before the value")


@theorem(
    "nanoseconds-agree",
    "TRN010",
    "TRN011",
    "TRN012",
    "TRN014",
    "HSH006",
    cases=(
        {"micros": micros, "nanos": nanos}
        for micros, nanos in ((TIMESTAMP, TIMESTAMP_NS), (TIMESTAMPTZ, TIMESTAMPTZ_NS))
    ),
    without=("the bucket",),
)
def nanoseconds_agree(world: World, micros: Type, nanos: Type) -> None:
    """A timestamp in nanoseconds and the microsecond that it lies in have the same year, month, day, hour and
    bucket.
    """
    one = value(world, "value", nanos)
    for transform in (Year(), Month(), Day(), Hour(), transform_named(world, "bucket")):
        world.request = lambda transform=transform: _request(transform, nanos, one)
        same = transform.apply(nanos, one) == transform.apply(micros, one // 1000)
        world.claim(same, f"the {transform} differs")


@theorem(
    "buckets-are-in-range",
    "TRN003",
    "TRN004",
    cases=({"type_": type_} for type_ in sources("bucket")),
    quick=5,
    without=("the bucket",),
)
def buckets(world: World, type_: Type) -> None:
    """The bucket of a value is at least 0 and below the number of buckets, and equal values have equal buckets,
    whatever the hash function is.
    """
    transform = transform_named(world, "bucket")
    one, other = value(world, "value", type_), value(world, "other", type_)
    world.request = lambda: _request(transform, type_, one)
    bucket = transform.apply(type_, one)
    world.claim(bucket >= 0, "the bucket is negative")
    world.claim(bucket < transform.num_buckets, "the bucket is beyond the last one")
    if one == other:
        world.claim(transform.apply(type_, other) == bucket, "equal values have two buckets")


# The calendar


@theorem(
    "months-of-one-cycle",
    "TRN010",
    "TRN011",
    method=EXHAUSTIVE,
)
def months_of_a_cycle(world: World) -> None:
    """In the 400 years that begin with 1970, the month of each day is that of the previous day, or the next month if
    the day is the first of a month; these years have 4800 months, after which the calendar repeats.
    """
    year, month, day = civil_from_days(0)
    world.claim((year, month, day) == (EPOCH.year, 1, 1), "day 0 is not 1970-01-01")
    lengths = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    for days in range(1, CYCLE_DAYS + 1):
        leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        day += 1
        if day > lengths[month - 1] + leap:
            day, month = 1, month + 1
            if month > 12:
                year, month = year + 1, 1
        world.claim(civil_from_days(days) == (year, month, day), f"day {days} has another date")
    world.claim((year, month, day) == (EPOCH.year + CYCLE_YEARS, 1, 1), "the cycle has another length")


@theorem(
    "the-calendar-repeats",
    "TRN010",
    "TRN011",
    without=("the calendar",),
)
def calendar_repeats(world: World) -> None:
    """For any day, the date 146,097 days later is 400 years later and has the same month and day: a property of one
    cycle of the calendar holds for all of them.
    """
    days = world.int("days")
    cycles = world.int("cycles")
    year, month, day = civil_from_days(days)
    later = civil_from_days(days + cycles * CYCLE_DAYS)
    world.claim(later[0] == year + cycles * CYCLE_YEARS, "the years do not differ by 400")
    world.claim(later[1] == month, "the months differ")
    world.claim(later[2] == day, "the days differ")


@theorem(
    "months-fit-an-int",
    "TRN010",
    "TRN011",
    method=EXHAUSTIVE,
)
def months_fit(world: World) -> None:
    """The months of the first and of the last day that a date can represent fit an int; all other months are between
    them.
    """
    for day in (-HALF, HALF - 1):
        month = Month().apply(DATE, day)
        world.claim(-(1 << 31) <= month < 1 << 31, "the month does not fit")
        world.claim(Year().apply(DATE, day) == month // 12, "the year is not that of the month")


HALF = 1 << 31
PARTS = 32
"""The number of cases into which the run of all days is divided."""


@cache
def _cycle() -> npt.NDArray[np.int64]:
    """Return the months of the 400 years that begin with 1970, by the definition."""
    return np.array([Month().apply(DATE, day) for day in range(CYCLE_DAYS)], np.int64)


@theorem(
    "kernels-know-every-day",
    "TRN010",
    "TRN011",
    method=EXHAUSTIVE,
    cases=(
        {"transform": transform, "part": part}
        for transform, parts in ((Month(), range(PARTS)), (Year(), (0, PARTS // 2 - 1, PARTS // 2, PARTS - 1)))
        for part in parts
    ),
    quick=35,
)
def every_day(world: World, transform: Any, part: Any) -> None:
    """For each of the 4,294,967,296 days that a date can represent, the kernel that transforms columns returns the
    month of the definition, which is run for the days of 400 years and repeats after them. It also returns the year of
    an eighth of the days, including the first and the last ones, and those around 1970.
    """
    size = 2 * HALF // PARTS
    first, end = part * size - HALF, (part + 1) * size - HALF
    while first < end:
        cycle, begin = divmod(first, CYCLE_DAYS)
        last = min(end, (cycle + 8) * CYCLE_DAYS)
        whole = np.concatenate([_cycle() + (cycle + more) * CYCLE_YEARS * 12 for more in range(8)])
        months = whole[begin : begin + last - first]
        expected = months if transform == Month() else months // 12
        days = pa.array(np.arange(first, last, dtype=np.int32)).cast(pa.date32())
        found = transform_array(transform, DATE, days).to_numpy()
        world.claim(bool(np.array_equal(found, expected)), f"a day from {first} to {last - 1} has another {transform}")
        first = last
