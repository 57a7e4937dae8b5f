"""Predicates evaluated on partitions and their summaries (Scan Planning).

Skipping is permitted and never required. If a row might match, an inclusive answer has to be true; if none can match,
both answers are right, and the sharper one is first. For strict answers, the reverse applies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.cases import expression_metrics
from tools.derive.cases.expression_forms import SchemaVector, leaf, not_, schema
from tools.derive.cases.expression_metrics import FALSE, FIVE, NO, SECTION, SHARPNESS, TRUE, YES, bound, kinds
from tools.derive.vector import Vector, VectorFile, any_of, ok

# name, (type, transform, predicate, value, whether a row might match, whether a row might fail, codes), reason
Placed = tuple[str, tuple[str, str, Any, Any, bool, bool, tuple[str, ...]], str]

BUCKETS = ("SCN003", "TRN003")
TEXTS = ("SCN003", "TRN008")
DAYS = ("SCN003", "TRN012")
NUMBERS = ("SCN003", "TRN006")
X = "2017-11-16T22:31:08.000000"

PARTITIONS: list[Placed] = [
    (
        "day-gt",
        ("timestamp", "day", leaf("gt", X), "2017-11-16", YES, YES, DAYS),
        "later instants of the same day match",
    ),
    (
        "day-gt-before",
        ("timestamp", "day", leaf("gt", X), "2017-11-15", NO, YES, DAYS),
        "ts > X gives ts_day >= day(X)",
    ),
    ("day-gt-after", ("timestamp", "day", leaf("gt", X), "2017-11-17", YES, NO, DAYS), "all of the next day is later"),
    (
        "day-lt-midnight",
        ("timestamp", "day", leaf("lt", "2017-11-16T00:00:00.000000"), "2017-11-15", YES, NO, DAYS),
        "all of the day before is earlier",
    ),
    (
        "day-lt-eq-midnight",
        ("timestamp", "day", leaf("lt-eq", "2017-11-16T00:00:00.000000"), "2017-11-16", YES, YES, DAYS),
        "midnight itself matches",
    ),
    (
        "day-eq",
        ("timestamp", "day", leaf("eq", X), "2017-11-16", YES, YES, DAYS),
        "other instants of the day do not match",
    ),
    (
        "day-not-eq",
        ("timestamp", "day", leaf("not-eq", X), "2017-11-16", YES, YES, DAYS),
        "other instants of the day match",
    ),
    ("day-not-eq-other", ("timestamp", "day", leaf("not-eq", X), "2017-11-17", YES, NO, DAYS), "X lies in another day"),
    (
        "day-null-is-null",
        ("timestamp", "day", leaf("is-null"), None, YES, NO, ("SCN003", "TRN001")),
        "only null has the result null",
    ),
    (
        "day-null-not-eq",
        ("timestamp", "day", leaf("not-eq", X), None, YES, NO, ("EXP008", "SCN003", "TRN001")),
        "null != X is true",
    ),
    (
        "day-null-eq",
        ("timestamp", "day", leaf("eq", X), None, NO, YES, ("EXP008", "SCN003", "TRN001")),
        "null = X is false",
    ),
    (
        "day-before-1970",
        ("timestamp", "day", leaf("eq", "1969-12-31T23:59:59.999999"), "1969-12-31", YES, YES, DAYS),
        "rounded down",
    ),
    (
        "day-tz-second",
        ("timestamptz", "day", leaf("lt", "1969-12-31T00:00:00.000001+00:00"), "1969-12-31", YES, YES, DAYS),
        "its first microsecond matches",
    ),
    (
        "hour-gt-eq",
        ("timestamp", "hour", leaf("gt-eq", X), 419686, YES, YES, ("SCN003", "TRN014")),
        "hour 419686 contains X",
    ),
    (
        "hour-before-1970",
        ("timestamp", "hour", leaf("lt", "1970-01-01T00:00:00.000000"), -1, YES, NO, ("SCN003", "TRN014")),
        "hour -1 is the last before 1970",
    ),
    (
        "month-date-lt-eq",
        ("date", "month", leaf("lt-eq", "2017-11-30"), 574, YES, NO, ("SCN003", "TRN011")),
        "the last day of month 574, 2017-11",
    ),
    (
        "month-before-1970",
        ("date", "month", leaf("eq", "1969-12-31"), -1, YES, YES, ("SCN003", "TRN011")),
        "month -1 is 1969-12",
    ),
    (
        "year-timestamp-lt",
        ("timestamp", "year", leaf("lt", "2018-01-01T00:00:00.000000"), 47, YES, NO, ("SCN003", "TRN010")),
        "year 47 is 2017",
    ),
    (
        "year-ns-gt",
        ("timestamp_ns", "year", leaf("gt", "2017-12-31T23:59:59.999999998"), 47, YES, YES, ("SCN003", "TRN010")),
        "the last nanosecond of 2017 matches",
    ),
    ("bucket-eq", ("int", "bucket[16]", leaf("eq", 34), 3, YES, YES, BUCKETS), "2017239379 mod 16 is 3"),
    (
        "bucket-constant-is-null",
        ("int", "bucket[16]", {"type": "is-null", "child": FIVE}, 3, NO, YES, ("EXP002", *BUCKETS)),
        "a constant is not null in any row, and is not a column that the partition could restrict",
    ),
    ("bucket-eq-other", ("int", "bucket[16]", leaf("eq", 34), 4, NO, YES, BUCKETS), "2017239379 mod 16 is 3"),
    (
        "bucket-not-eq",
        ("int", "bucket[16]", leaf("not-eq", 34), 3, YES, YES, BUCKETS),
        "bucket 3 has other values too",
    ),
    ("bucket-not-eq-other", ("int", "bucket[16]", leaf("not-eq", 34), 4, YES, NO, BUCKETS), "34 is in bucket 3"),
    ("bucket-in", ("int", "bucket[16]", leaf("in", [34, 35]), 3, YES, YES, BUCKETS), "34 is in bucket 3"),
    ("bucket-not-in", ("int", "bucket[16]", leaf("not-in", [34, 35]), 3, YES, YES, BUCKETS), "others are in bucket 3"),
    ("bucket-lt", ("int", "bucket[16]", leaf("lt", 0), 3, YES, YES, BUCKETS), "a bucket does not keep the order"),
    (
        "bucket-string-starts-with",
        ("string", "bucket[16]", leaf("starts-with", "i"), 3, YES, YES, BUCKETS),
        "a bucket says nothing about prefixes",
    ),
    ("truncate-lt", ("int", "truncate[10]", leaf("lt", 100), 90, YES, NO, NUMBERS), "90 to 99"),
    ("truncate-lt-inside", ("int", "truncate[10]", leaf("lt", 95), 90, YES, YES, NUMBERS), "90 to 94 of 90 to 99"),
    ("truncate-lt-eq", ("int", "truncate[10]", leaf("lt-eq", 99), 90, YES, NO, NUMBERS), "90 to 99"),
    ("truncate-gt-eq", ("int", "truncate[10]", leaf("gt-eq", 90), 90, YES, NO, NUMBERS), "90 to 99"),
    ("truncate-gt-last", ("int", "truncate[10]", leaf("gt", 99), 90, NO, YES, NUMBERS), "90 to 99"),
    ("truncate-negative", ("int", "truncate[10]", leaf("eq", -1), -10, YES, YES, NUMBERS), "-1 goes down to -10"),
    ("truncate-negative-gt", ("long", "truncate[10]", leaf("gt", -11), "-10", YES, NO, NUMBERS), "-10 to -1"),
    (
        "truncate-decimal",
        ("decimal(9, 2)", "truncate[50]", leaf("lt", "10.50"), "10.00", YES, NO, ("SCN003", "TRN007")),
        "unscaled 1000 to 1049",
    ),
    (
        "truncate-not-in",
        ("int", "truncate[10]", leaf("not-in", [1, 11]), 0, YES, YES, NUMBERS),
        "0 matches and 1 does not",
    ),
    (
        "truncate-text-eq",
        ("string", "truncate[3]", leaf("eq", "abcd"), "abc", YES, YES, TEXTS),
        "abcd is truncated to abc",
    ),
    (
        "truncate-text-eq-short",
        ("string", "truncate[3]", leaf("eq", "ab"), "ab", YES, NO, TEXTS),
        "a text shorter than the width is the only one of its partition",
    ),
    (
        "truncate-text-eq-width",
        ("string", "truncate[3]", leaf("eq", "abc"), "abc", YES, YES, TEXTS),
        "abcd is in the same partition",
    ),
    (
        "truncate-text-not-eq-short",
        ("string", "truncate[3]", leaf("not-eq", "ab"), "ab", NO, YES, TEXTS),
        "nothing but ab",
    ),
    (
        "truncate-text-not-eq-width",
        ("string", "truncate[3]", leaf("not-eq", "abc"), "abc", YES, YES, TEXTS),
        "abcd matches",
    ),
    (
        "truncate-text-starts-with",
        ("string", "truncate[3]", leaf("starts-with", "ab"), "abc", YES, NO, TEXTS),
        "the prefix is shorter than the width",
    ),
    (
        "truncate-text-starts-with-width",
        ("string", "truncate[3]", leaf("starts-with", "abc"), "abc", YES, NO, TEXTS),
        "the prefix is as long as the width",
    ),
    (
        "truncate-text-starts-with-long",
        ("string", "truncate[3]", leaf("starts-with", "abcd"), "abc", YES, YES, TEXTS),
        "abcd begins with the prefix, abce does not",
    ),
    (
        "truncate-text-not-starts-with",
        ("string", "truncate[3]", leaf("not-starts-with", "ab"), "abc", NO, YES, TEXTS),
        "all begin with ab",
    ),
    (
        "truncate-text-not-starts-with-width",
        ("string", "truncate[3]", leaf("not-starts-with", "abc"), "abd", YES, NO, TEXTS),
        "none begins with abc",
    ),
    (
        "truncate-text-not-starts-with-long",
        ("string", "truncate[3]", leaf("not-starts-with", "abcd"), "abc", YES, YES, TEXTS),
        "abce does not begin with abcd",
    ),
    (
        "truncate-text-not-starts-with-longer-other",
        ("string", "truncate[3]", leaf("not-starts-with", "abcd"), "abd", YES, NO, TEXTS),
        "none begins with abcd",
    ),
    ("truncate-text-gt", ("string", "truncate[3]", leaf("gt", "abcd"), "abc", YES, YES, TEXTS), "abce is greater"),
    (
        "truncate-text-lt-supplementary",
        ("string", "truncate[1]", leaf("lt", "\U0001f600"), "\uffff", YES, NO, ("EXP011", "SCN003", "TRN008")),
        "UTF-8 EF BF BF is less than F0 9F 98 80",
    ),
    (
        "truncate-binary-gt",
        ("binary", "truncate[1]", leaf("gt", "7FFF"), "80", YES, NO, ("EXP011", "SCN003", "TRN009")),
        "0x80 is greater than 0x7F",
    ),
    ("identity-eq", ("string", "identity", leaf("eq", "a"), "a", YES, NO, ("SCN003", "TRN002")), "all values are a"),
    (
        "identity-minus-zero",
        ("double", "identity", leaf("eq", 0.0), -0.0, YES, NO, ("EXP019", "SCN003", "TRN002")),
        "-0.0 equals 0.0",
    ),
    (
        "identity-nan-not-eq",
        ("double", "identity", leaf("not-eq", 0.0), "NaN", YES, NO, ("EXP010", "SCN003", "TRN002")),
        "NaN != 0.0 is true",
    ),
    (
        "identity-nan-gt",
        ("double", "identity", leaf("gt", 0.0), "NaN", NO, YES, ("EXP010", "SCN003", "TRN002")),
        "NaN > 0.0 is false",
    ),
    ("identity-is-nan", ("float", "identity", leaf("is-nan"), "NaN", YES, NO, ("SCN003", "TRN002")), "all are NaN"),
    (
        "void-is-null",
        ("int", "void", leaf("is-null"), None, YES, YES, ("SCN003", "TRN015")),
        "the result is null for every value",
    ),
    (
        "void-eq",
        ("int", "void", leaf("eq", 34), None, YES, YES, ("SCN003", "TRN015")),
        "the result is null for every value",
    ),
    (
        "unknown-eq",
        ("int", "zorder", leaf("eq", 34), None, YES, YES, ("SCN004",)),
        "the field is not used in filtering",
    ),
    (
        "unknown-is-null",
        ("int", "zorder", leaf("is-null"), None, YES, YES, ("SCN004",)),
        "it is not known whether the source is null",
    ),
]

MIDNIGHT = "2017-11-17T00:00:00.000000"
NOT_ABCD = leaf("not-starts-with", "abcd")

RESIDUALS: list[tuple[str, tuple[str, str, Any, Any, Any, bool], str]] = [
    ("day-gt-same-day", ("timestamp", "day", leaf("gt", X), "2017-11-16", "2017-11-16T22:31:08.000001", True), "later"),
    ("day-gt-same-day-earlier", ("timestamp", "day", leaf("gt", X), "2017-11-16", X, False), "not later than itself"),
    ("day-gt-next-day", ("timestamp", "day", leaf("gt", X), "2017-11-17", MIDNIGHT, True), "all match"),
    ("bucket-eq", ("int", "bucket[16]", leaf("eq", 34), 3, 34, True), "34 is in bucket 3"),
    ("bucket-not-eq", ("int", "bucket[16]", leaf("not-eq", 34), 3, 34, False), "34 is in bucket 3"),
    ("truncate-lt", ("int", "truncate[10]", leaf("lt", 95), 90, 94, True), "94 < 95"),
    ("truncate-lt-eq-not", ("int", "truncate[10]", not_(leaf("lt-eq", 95)), 90, 96, True), "96 is greater than 95"),
    ("truncate-text", ("string", "truncate[3]", NOT_ABCD, "abc", "abce", True), "another fourth letter"),
    ("truncate-text-same", ("string", "truncate[3]", NOT_ABCD, "abc", "abcde", False), "it is a prefix"),
    ("identity-in", ("string", "identity", leaf("in", ["a", "b"]), "b", "b", True), "decided by the partition"),
    ("identity-zero", ("int", "identity", leaf("eq", 0), 0, 0, True), "0 is a value and not null"),
    ("identity-empty-text", ("string", "identity", leaf("not-eq", ""), "", "", False), "the empty text is not null"),
    ("void", ("int", "void", leaf("eq", 34), None, 34, True), "the partition decides nothing"),
    ("unknown", ("int", "zorder", leaf("eq", 34), None, 35, False), "the partition decides nothing"),
]

# name, (type, transform, predicate, null, nan, lower, upper, whether a file might match, codes), reason
Summed = tuple[str, tuple[str, str, Any, bool, bool | None, Any, Any, bool, tuple[str, ...]], str]
NULLS = ("MLS019", "SCN002")
NAN = ("MLS020", "SCN002")
ENDS = ("MLS021", "MLS022", "SCN002")

SUMMARIES: list[Summed] = [
    ("eq-inside", ("int", "identity", leaf("eq", 5), False, None, 1, 10, YES, ENDS), "5 lies between 1 and 10"),
    ("eq-above", ("int", "identity", leaf("eq", 11), False, None, 1, 10, NO, ENDS), "all partitions are at most 10"),
    ("is-null", ("int", "identity", leaf("is-null"), True, None, 1, 10, YES, NULLS), "a partition is null"),
    ("is-null-none", ("int", "identity", leaf("is-null"), False, None, 1, 10, NO, NULLS), "no partition is null"),
    (
        "not-eq-null",
        ("int", "identity", leaf("not-eq", 5), True, None, None, None, YES, ("EXP008", *NULLS)),
        "null != 5 is true",
    ),
    (
        "only-null-eq",
        ("int", "identity", leaf("eq", 5), True, None, None, None, NO, NULLS),
        "without bounds all are null",
    ),
    (
        "is-nan-unknown",
        ("float", "identity", leaf("is-nan"), False, None, 1.0, 2.0, YES, NAN),
        "contains_nan is not known",
    ),
    ("is-nan-none", ("float", "identity", leaf("is-nan"), False, False, 1.0, 2.0, NO, NAN), "no partition is NaN"),
    ("only-nan", ("float", "identity", leaf("is-nan"), False, True, None, None, YES, NAN), "all are NaN"),
    (
        "zero",
        ("double", "identity", leaf("eq", -0.0), False, False, 0.0, 0.0, YES, ("EXP019", *ENDS)),
        "-0.0 equals 0.0",
    ),
    (
        "day",
        ("timestamp", "day", leaf("gt", X), False, None, "2017-11-01", "2017-11-16", YES, ENDS),
        "the last day contains X",
    ),
    (
        "day-before",
        ("timestamp", "day", leaf("gt", X), False, None, "2017-11-01", "2017-11-15", NO, ENDS),
        "all days are earlier",
    ),
    ("bucket", ("int", "bucket[16]", leaf("eq", 34), False, None, 0, 3, YES, ENDS), "34 is in bucket 3"),
    ("bucket-outside", ("int", "bucket[16]", leaf("eq", 34), False, None, 4, 15, NO, ENDS), "34 is in bucket 3"),
    (
        "truncate-text",
        ("string", "truncate[3]", leaf("starts-with", "abcd"), False, None, "abc", "abc", YES, ENDS),
        "truncated to abc",
    ),
    (
        "truncate-not-starts-with",
        ("string", "truncate[3]", leaf("not-starts-with", "abcd"), False, None, "abc", "abc", YES, ENDS),
        "abce is truncated to abc too",
    ),
    ("void", ("int", "void", leaf("eq", 34), True, None, None, None, YES, NULLS), "the result is null for every value"),
]


def spec(transform: str) -> dict[str, Any]:
    """Return a spec with one field, p, whose source is x."""
    field = {"source-id": 1, "field-id": 1000, "name": "p", "transform": transform}
    return {"spec-id": 0, "fields": [field]}


def _partitions() -> Iterator[Vector]:
    for name, (type_, transform, predicate, value, match, fail, codes), note in PARTITIONS:
        args = {
            "schema": schema(x=type_),
            "spec": spec(transform),
            "predicate": predicate,
            "partition": {"1000": value},
        }
        origin = "derivation: whether source values of the partition match, and fail"
        yield from kinds(f"projection-{name}", codes, args, match=match, fail=fail, origin=origin, note=note)


def _residuals() -> Iterator[Vector]:
    for name, (type_, transform, predicate, value, row, expected), note in RESIDUALS:
        codes = ("SCN004",) if transform == "zorder" else ("SCN003",)
        args = {
            "schema": schema(x=type_),
            "spec": spec(transform),
            "predicate": predicate,
            "partition": {"1000": value},
            "row": {"1": row},
        }
        origin = "derivation: for a row of the partition the residual is the predicate"
        yield SchemaVector(f"residual-{name}", codes, args, ok(expected), origin, note)


RESULT_TYPES = {"day": "date", "bucket[16]": "int"}


def _summaries() -> Iterator[Vector]:
    for name, (type_, transform, predicate, null, nan, lower, upper, match, codes), note in SUMMARIES:
        stored = RESULT_TYPES.get(transform, type_)
        summary: dict[str, Any] = {"contains_null": null}
        summary |= {} if nan is None else {"contains_nan": nan}
        summary |= {} if lower is None else {"lower_bound": bound(stored, lower), "upper_bound": bound(stored, upper)}
        args = {"schema": schema(x=type_), "spec": spec(transform), "predicate": predicate, "summaries": [summary]}
        contradiction = ("B7",) if "EXP019" in codes else ()
        yield SchemaVector(
            f"summary-{name}",
            codes,
            args,
            TRUE if match else any_of(FALSE, TRUE),
            "derivation: whether partition values within the summary match",
            note,
            contradiction if match else SHARPNESS,
        )


def files() -> Iterator[VectorFile]:
    """Yield the vector files of scan planning."""
    yield from expression_metrics.files()
    yield VectorFile("expressions/projections.json", "projection.evaluate", SECTION, tuple(_partitions()))
    yield VectorFile("expressions/residuals.json", "residual.evaluate", SECTION, tuple(_residuals()))
    yield VectorFile("expressions/summaries.json", "summaries.evaluate", SECTION, tuple(_summaries()))
