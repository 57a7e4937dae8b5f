"""Faults of the partition transforms."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from conformance.operations.wire import from_exchange, to_exchange
from spec_ref.data_types.types import DATE, DecimalType, Type
from spec_ref.hashing import hash_value
from spec_ref.partitioning.transforms import parse_transform
from spec_ref.schemas.type_json import type_from_json
from tests.faulty_adapters import Fault, Operation
from tests.faulty_adapters.hashing import toward_zero, unscaled

Wrong = Callable[[Arguments, Operation], Any]

UNITS = {"date": 1, "timestamp": 86_400_000_000, "timestamptz": 86_400_000_000}
UNITS |= {"timestamp_ns": 86_400_000_000_000, "timestamptz_ns": 86_400_000_000_000}
"""How many units a day has, by type."""


def instead(transforms: str, types: str = ".*") -> Callable[[Callable[[Any, Type, int], Any]], Wrong]:
    """Make a fault that computes the result of the transforms that match, for valid requests with a value.

    The function takes the value, its type and the transform's parameter (0 where it has none).
    """

    def decorate(compute: Callable[[Any, Type, int], Any]) -> Wrong:
        def wrong(arguments: Arguments, right: Operation) -> Any:
            answer = right(arguments)
            name, _, parameter = arguments["transform"].partition("[")
            type_ = type_from_json(arguments["type"])
            if answer is None or not re.fullmatch(transforms, name) or not re.fullmatch(types, str(type_)):
                return answer
            result = compute(from_exchange(type_, arguments["value"]), type_, int(parameter.rstrip("]") or 0))
            return to_exchange(parse_transform(arguments["transform"]).result_type(type_), result)

        return wrong

    return decorate


@instead("bucket")
def _bucket_signed(value: Any, type_: Type, count: int) -> int:
    hashed = hash_value(type_, value) or 0
    return hashed - toward_zero(hashed, count) * count


@instead("bucket")
def _bucket_floor(value: Any, type_: Type, count: int) -> int:
    return (hash_value(type_, value) or 0) % count


@instead("bucket")
def _bucket_absolute(value: Any, type_: Type, count: int) -> int:
    return abs(hash_value(type_, value) or 0) % count


@instead("bucket")
def _bucket_unsigned(value: Any, type_: Type, count: int) -> int:
    return ((hash_value(type_, value) or 0) & 0xFFFFFFFF) % count


@instead("bucket", "int|long|date")
def _bucket_of_value(value: int, _: Type, count: int) -> int:
    return value % count


@instead("truncate", "int|long")
def _truncate_toward_zero(value: int, _: Type, width: int) -> int:
    return toward_zero(value, width) * width


@instead("truncate", "int|long")
def _truncate_to_nearest(value: int, _: Type, width: int) -> int:
    return (value + width // 2) // width * width


@instead("truncate", "decimal.*")
def _truncate_decimal_toward_zero(value: Decimal, type_: Type, width: int) -> Decimal:
    return _decimal(toward_zero(unscaled(value), width) * width, type_)


@instead("truncate", "decimal.*")
def _truncate_decimal_whole(value: Decimal, type_: Type, width: int) -> Decimal:
    """Takes the width as a number at scale 0, not at the column's scale."""
    assert isinstance(type_, DecimalType)
    step = width * 10**type_.scale
    result = unscaled(value) // step * step
    return _decimal(result if abs(result) < 10**type_.precision else unscaled(value), type_)


def _decimal(number: int, type_: Type) -> Decimal:
    assert isinstance(type_, DecimalType)
    return Decimal((number < 0, tuple(map(int, str(abs(number)))), -type_.scale))


@instead("truncate", "string")
def _truncate_bytes(value: str, _: Type, width: int) -> str:
    return value.encode()[:width].decode("utf-8", "ignore")


@instead("truncate", "string")
def _truncate_utf16_units(value: str, _: Type, width: int) -> str:
    return value.encode("utf-16-le")[: 2 * width].decode("utf-16-le", "ignore")


@instead("truncate", "string")
def _truncate_with_marks(value: str, _: Type, width: int) -> str:
    """Counts what a person sees: a combining mark does not count."""
    import unicodedata

    seen = 0
    for at, letter in enumerate(value):
        seen += not unicodedata.combining(letter)
        if seen > width:
            return value[:at]
    return value


@instead("truncate", "string|binary")
def _truncate_one_less(value: Any, _: Type, width: int) -> Any:
    return value if len(value) <= width else value[: width - 1]


@instead("truncate", "string")
def _truncate_strips(value: str, _: Type, width: int) -> str:
    return value[:width].rstrip()


@instead("truncate", "binary")
def _truncate_binary_pads(value: bytes, _: Type, width: int) -> bytes:
    return value[:width].ljust(width, b"\0")


def _days(value: int, type_: Type) -> tuple[int, int]:
    """Whole days, floored, and the units that are left."""
    return divmod(value, UNITS[str(type_)])


def _civil(days: int) -> tuple[int, int]:
    """Year and month of a day, by counting whole 400-year cycles and then years."""
    cycles, left = divmod(days + 719_468, 146_097)
    year = (left - left // 1460 + left // 36_524 - left // 146_096) // 365
    month = (5 * (left - (365 * year + year // 4 - year // 100)) + 2) // 153
    return cycles * 400 + year + (month >= 10), month + 3 if month < 10 else month - 9


@instead("day", "timestamp.*")
def _day_toward_zero(value: int, type_: Type, _: int) -> int:
    return toward_zero(value, UNITS[str(type_)])


@instead("hour")
def _hour_toward_zero(value: int, type_: Type, _: int) -> int:
    return toward_zero(value, UNITS[str(type_)] // 24)


@instead("month")
def _month_toward_zero(value: int, type_: Type, _: int) -> int:
    days, left = _days(value, type_)
    year, month = _civil(days)
    _, earlier = _civil(days - 1)
    whole = left == 0 and earlier != month
    months = (year - 1970) * 12 + month - 1
    return months if months >= 0 or whole else months + 1


@instead("year")
def _year_toward_zero(value: int, type_: Type, _: int) -> int:
    days, left = _days(value, type_)
    year, _month = _civil(days)
    whole = left == 0 and _civil(days - 1)[0] != year
    return year - 1970 if year >= 1970 or whole else year - 1969


@instead("year")
def _year_of_calendar(value: int, type_: Type, _: int) -> int:
    return _civil(_days(value, type_)[0])[0]


@instead("month")
def _month_of_year(value: int, type_: Type, _: int) -> int:
    return _civil(_days(value, type_)[0])[1]


@instead("month")
def _month_from_one(value: int, type_: Type, _: int) -> int:
    year, month = _civil(_days(value, type_)[0])
    return (year - 1970) * 12 + month


@instead("month")
def _month_of_thirty_days(value: int, type_: Type, _: int) -> int:
    return _days(value, type_)[0] // 30


@instead("year")
def _year_of_365_days(value: int, type_: Type, _: int) -> int:
    return _days(value, type_)[0] // 365


@instead("year|month|day|hour", ".*_ns")
def _nanoseconds_as_microseconds(value: int, type_: Type, _: int) -> int:
    return value // 86_400_000_000 % 2**31


@instead("hour", ".*_ns")
def _nanosecond_hour_by_ten(value: int, _type: Type, _: int) -> int:
    return value // 360_000_000_000


def _late_instant(transform: str) -> Wrong:
    """One too small in the last microsecond or nanosecond before a second of a time before 1970."""

    @instead(transform, "timestamp.*")
    def wrong(value: int, type_: Type, _: int) -> int:
        result: int = parse_transform(transform).apply(type_, value)
        second = UNITS[str(type_)] // 86_400
        first_second = (value + 1) % (UNITS[str(type_)] // 24) == second
        return (
            result - 1 if value < 0 and (value + 1) % second == 0 and (first_second or transform != "hour") else result
        )

    return wrong


def _null_as(result: Any) -> Wrong:
    def wrong(arguments: Arguments, right: Operation) -> Any:
        answer = right(arguments)
        name = arguments["transform"].partition("[")[0]
        return result if answer is None and name in ("bucket", "day", "hour", "month", "year") else answer

    return wrong


def _falsy_as_null(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    type_ = type_from_json(arguments["type"])
    value = arguments["value"]
    return answer if value is None or from_exchange(type_, value) else None


def _void_keeps_value(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    return arguments["value"] if arguments["transform"] == "void" else answer


def accepting(transforms: str, types: str, substitute: str) -> Wrong:
    """Make a fault that takes a source type it must refuse, by treating it as ``substitute`` of the same value."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        name = arguments["transform"].partition("[")[0]
        if re.fullmatch(transforms, name) and re.fullmatch(types, str(type_from_json(arguments["type"]))):
            return right({**arguments, "transform": substitute, "type": "string", "value": str(arguments["value"])})
        return right(arguments)

    return wrong


def _parameter_unchecked(name: str) -> Wrong:
    def wrong(arguments: Arguments, right: Operation) -> Any:
        text = arguments["transform"]
        if re.fullmatch(name + r"\[-?\d+\]", text) and int(text[len(name) + 1 : -1]) <= 0:
            return right({**arguments, "transform": f"{name}[1]"})
        return right(arguments)

    return wrong


def _unknown_as_identity(arguments: Arguments, right: Operation) -> Any:
    known = r"(bucket|truncate)\[.*\]?|identity|year|month|day|hour|void"
    text = arguments["transform"]
    return right(arguments if re.fullmatch(known, text) else {**arguments, "transform": "identity"})


def _day_of_date_shifted(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    if arguments["transform"] != "day" or arguments["type"] != "date" or answer is None:
        return answer
    return to_exchange(DATE, from_exchange(DATE, arguments["value"]) - 1)


@instead("truncate", "int|long")
def _truncate_formula_uncorrected(value: int, type_: Type, width: int) -> int:
    """The remainder moved once too often for exact negative multiples."""
    return value - (width + value - toward_zero(value, width) * width) if value < 0 else value // width * width


FAULTS = tuple(
    Fault(f"transform-{name}", "transform", wrong)
    for name, wrong in {
        "bucket-signed-modulo": _bucket_signed,
        "bucket-floor-modulo": _bucket_floor,
        "bucket-absolute-hash": _bucket_absolute,
        "bucket-unsigned-hash": _bucket_unsigned,
        "bucket-of-value": _bucket_of_value,
        "truncate-toward-zero": _truncate_toward_zero,
        "truncate-to-nearest": _truncate_to_nearest,
        "truncate-multiples-moved": _truncate_formula_uncorrected,
        "truncate-decimal-toward-zero": _truncate_decimal_toward_zero,
        "truncate-decimal-at-scale-zero": _truncate_decimal_whole,
        "truncate-string-by-bytes": _truncate_bytes,
        "truncate-string-by-utf16-units": _truncate_utf16_units,
        "truncate-string-by-graphemes": _truncate_with_marks,
        "truncate-string-trimmed": _truncate_strips,
        "truncate-one-less": _truncate_one_less,
        "truncate-binary-padded": _truncate_binary_pads,
        "day-toward-zero": _day_toward_zero,
        "day-of-date-shifted": _day_of_date_shifted,
        "hour-toward-zero": _hour_toward_zero,
        "month-toward-zero": _month_toward_zero,
        "year-toward-zero": _year_toward_zero,
        "year-of-calendar": _year_of_calendar,
        "year-of-365-days": _year_of_365_days,
        "month-of-year": _month_of_year,
        "month-from-one": _month_from_one,
        "month-of-thirty-days": _month_of_thirty_days,
        "nanoseconds-as-microseconds": _nanoseconds_as_microseconds,
        "nanosecond-hour-by-ten": _nanosecond_hour_by_ten,
        "day-late-instant": _late_instant("day"),
        "hour-late-instant": _late_instant("hour"),
        "null-as-zero": _null_as(0),
        "falsy-as-null": _falsy_as_null,
        "void-keeps-value": _void_keeps_value,
        "bucket-takes-floats": accepting("bucket", "float|double", "bucket[16]"),
        "bucket-takes-boolean": accepting("bucket", "boolean", "bucket[16]"),
        "truncate-takes-floats": accepting("truncate", "float|double", "truncate[1]"),
        "truncate-takes-fixed": accepting("truncate", r"fixed\[.*\]", "truncate[1]"),
        "truncate-takes-dates": accepting("truncate", "date|time.*", "truncate[1]"),
        "hour-takes-date": accepting("hour", "date", "bucket[16]"),
        "day-takes-time": accepting("day|hour|month|year", "time", "bucket[16]"),
        "bucket-count-unchecked": _parameter_unchecked("bucket"),
        "truncate-width-unchecked": _parameter_unchecked("truncate"),
        "unknown-as-identity": _unknown_as_identity,
    }.items()
)
