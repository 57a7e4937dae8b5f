"""Values of the transforms year, month, day and hour (Partition Transforms)."""

from __future__ import annotations

from tools.derive.cases.transform_kit import (
    TIMESTAMPS,
    case,
)
from tools.derive.vector import Vector

INSTANTS: list[tuple[str, str, str]] = [
    ("spec", "2017-11-16T22:31:08.000000", ""),
    ("epoch", "1970-01-01T00:00:00.000000", "zero is not null"),
    ("1us", "1970-01-01T00:00:00.000001", ""),
    ("minus-1us", "1969-12-31T23:59:59.999999", "floored, not rounded toward zero"),
    ("minus-1s", "1969-12-31T23:59:59.000000", ""),
    ("minus-1h", "1969-12-31T23:00:00.000000", "exactly on the boundary"),
    ("minus-1h-minus-1us", "1969-12-31T22:59:59.999999", ""),
    ("minus-1h-plus-1us", "1969-12-31T23:00:00.000001", ""),
    ("minus-1h-first-second", "1969-12-31T23:00:00.999999", "in the first second of a unit"),
    ("minus-1d", "1969-12-31T00:00:00.000000", "exactly on the boundary"),
    ("minus-1d-minus-1us", "1969-12-30T23:59:59.999999", ""),
    ("minus-1d-plus-1us", "1969-12-31T00:00:00.000001", ""),
    ("minus-1d-first-second", "1969-12-31T00:00:00.999999", "in the first second of a unit"),
    ("minus-1mo", "1969-12-01T00:00:00.000000", "exactly on the boundary"),
    ("minus-1mo-minus-1us", "1969-11-30T23:59:59.999999", ""),
    ("minus-1mo-first-second", "1969-12-01T00:00:00.999999", "in the first second of a unit"),
    ("minus-1y", "1969-01-01T00:00:00.000000", "exactly on the boundary"),
    ("minus-1y-minus-1us", "1968-12-31T23:59:59.999999", ""),
    ("minus-1y-first-second", "1969-01-01T00:00:00.999999", "in the first second of a unit"),
    ("leap-day-2000", "2000-02-29T12:34:56.789012", "2000 is a leap year"),
    ("leap-day-1968", "1968-02-29T23:59:59.999999", ""),
    ("after-february-1900", "1900-03-01T00:00:00.000000", "1900 is not a leap year"),
    ("year-1600", "1600-02-29T00:00:00.000000", "proleptic Gregorian"),
    ("year-1", "0001-01-01T00:00:00.000000", "proleptic Gregorian"),
    ("year-9999", "9999-12-31T23:59:59.999999", ""),
    ("year-10000", "+10000-01-01T00:00:00.000000", "the year after 9999"),
    ("2038", "2038-01-19T03:14:08.000000", "beyond 32 bits of seconds"),
]

NANOSECOND_INSTANTS: list[tuple[str, str, str]] = [
    ("spec", "2017-11-16T22:31:08.000001001", ""),
    ("epoch", "1970-01-01T00:00:00.000000000", "zero is not null"),
    ("1ns", "1970-01-01T00:00:00.000000001", ""),
    ("minus-1ns", "1969-12-31T23:59:59.999999999", "floored, not rounded toward zero"),
    ("minus-1000ns", "1969-12-31T23:59:59.999999000", ""),
    ("minus-1h", "1969-12-31T23:00:00.000000000", "exactly on the boundary"),
    ("minus-1h-minus-1ns", "1969-12-31T22:59:59.999999999", ""),
    ("minus-1d", "1969-12-31T00:00:00.000000000", "exactly on the boundary"),
    ("minus-1d-minus-1ns", "1969-12-30T23:59:59.999999999", ""),
    ("minus-1mo", "1969-12-01T00:00:00.000000000", "exactly on the boundary"),
    ("minus-1mo-minus-1ns", "1969-11-30T23:59:59.999999999", ""),
    ("minus-1y", "1969-01-01T00:00:00.000000000", "exactly on the boundary"),
    ("minus-1y-minus-1ns", "1968-12-31T23:59:59.999999999", ""),
    ("max", "2262-04-11T23:47:16.854775807", "the largest long"),
    ("min", "1677-09-21T00:12:43.145224192", "the smallest long"),
]

DATES: list[tuple[str, str, str]] = [
    ("spec", "2017-11-16", ""),
    ("2018-05-13", "2018-05-13", ""),
    ("epoch", "1970-01-01", "zero is not null"),
    ("1969-12-31", "1969-12-31", ""),
    ("1969-12-01", "1969-12-01", ""),
    ("1969-11-30", "1969-11-30", ""),
    ("1969-01-01", "1969-01-01", ""),
    ("1968-12-31", "1968-12-31", ""),
    ("1970-01-31", "1970-01-31", ""),
    ("1970-02-01", "1970-02-01", ""),
    ("leap-day-2000", "2000-02-29", ""),
    ("leap-day-2024", "2024-02-29", ""),
    ("1900-03-01", "1900-03-01", "1900 is not a leap year"),
    ("year-1600", "1600-12-31", ""),
    ("year-1", "0001-01-01", ""),
    ("year-9999", "9999-12-31", ""),
    ("year-10000", "+10000-01-01", "the year after 9999"),
    ("year-0", "0000-12-31", "the year before 1"),
    ("max", "+5881580-07-11", "the largest int"),
    ("min", "-5877641-06-23", "the smallest int"),
]

FAR: list[tuple[str, str, str]] = [
    ("long-max", "+294247-01-10T04:00:54.775807", "the largest long"),
    ("long-min", "-290308-12-21T19:59:05.224192", "the smallest long, floored"),
]
"""Instants whose hour does not fit an int."""

FEW = (
    "spec",
    "epoch",
    "minus-1us",
    "minus-1ns",
    "minus-1d-first-second",
    "minus-1mo-first-second",
    "minus-1y",
    "min",
    "max",
    "minus-1d-minus-1ns",
    "year-9999",
    "year-1",
)


def calendar_vectors(name: str) -> list[Vector]:
    """Return the vectors of a transform of dates and instants."""
    vectors = []
    if name != "hour":
        vectors += [case(f"{name}-date-{slug}", name, "date", text, note) for slug, text, note in DATES]
    for type_, instants in zip(TIMESTAMPS, (INSTANTS, INSTANTS, NANOSECOND_INSTANTS, NANOSECOND_INSTANTS), strict=True):
        zoned = "tz" in type_
        for slug, text, note in instants:
            if zoned and slug not in FEW:
                continue
            value = text + "+00:00" if zoned else text
            vectors.append(case(f"{name}-{type_.replace('_', '-')}-{slug}", name, type_, value, note))
    if name != "hour":
        vectors += [case(f"{name}-timestamp-{slug}", name, "timestamp", text, note) for slug, text, note in FAR]
    return vectors
