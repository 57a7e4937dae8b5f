"""Predicates evaluated on metrics, partitions and summaries (Scan Planning).

Skipping is permitted and never required. If a row might match, an inclusive answer has to be true; if none can match,
both answers are right, and the sharper one is first. For strict answers, the reverse applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.derive.cases.expression_forms import SchemaVector, leaf, not_, schema
from tools.derive.encoding import single_value
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "Scan Planning"
SHARPNESS = ("E20",)

# name, type, predicate, metrics, whether a row might match, whether a row might fail, codes, reason
Judged = tuple[str, str, Any, dict[str, Any], bool, bool, tuple[str, ...], str]


def metrics(
    type_: str, lower: Any = None, upper: Any = None, *, of: str | None = None, **counts: int
) -> dict[str, Any]:
    """Return the metrics of a file of 10 rows, whose bounds were written when the column had the type ``of``."""
    written = of or type_
    found: dict[str, Any] = {"record_count": str(counts.pop("rows", 10))}
    names = {"values": "value_counts", "nulls": "null_value_counts", "nans": "nan_value_counts"}
    found |= {names[name]: {"1": str(count)} for name, count in counts.items()}
    if lower is not None:
        found["lower_bounds"] = {"1": _bytes(written, lower)}
    if upper is not None:
        found["upper_bounds"] = {"1": _bytes(written, upper)}
    return found


def _bytes(type_: str, value: Any) -> str:
    return single_value(type_, value).hex().upper()


def _full(type_: str, lower: Any, upper: Any, **counts: int) -> dict[str, Any]:
    return metrics(type_, lower, upper, of=None, **{"values": 10, "nulls": 0, **counts})


YES, NO = True, False
TRUE, FALSE = ok(value=True), ok(value=False)
BOUNDS = ("DFL016", "DFL017", "SCN005")
COUNTS = ("DFL012", "DFL013", "SCN005")
NANS = ("DFL014", "SCN005")
ZEROS = ("DFL027", "EXP019", "SCN005")
PROMOTED = ("EVO007", "SCN005")
INTS = _full("int", 1, 10)
WORDS = _full("string", "abc", "abd")

FIVE = {"type": "literal", "value": 5, "data-type": "int"}

FILES: list[Judged] = [
    ("constant-is-null", "int", {"type": "is-null", "child": FIVE}, INTS, NO, YES, ("EXP002", "SCN005"),
     "a constant is not null in any row"),
    ("constant-not-null", "int", {"type": "not-null", "child": FIVE}, INTS, YES, NO, ("EXP002", "SCN005"),
     "a constant is not null in any row"),
    ("int-eq-inside", "int", leaf("eq", 5), INTS, YES, YES, BOUNDS, "5 lies between 1 and 10"),
    ("int-eq-below", "int", leaf("eq", 0), INTS, NO, YES, BOUNDS, "all values are at least 1"),
    ("int-eq-upper", "int", leaf("eq", 10), INTS, YES, YES, BOUNDS, "a bound may be a value"),
    ("int-lt-lower", "int", leaf("lt", 1), INTS, NO, YES, BOUNDS, "all values are at least 1"),
    ("int-lt-eq-lower", "int", leaf("lt-eq", 1), INTS, YES, YES, BOUNDS, "1 may be a value"),
    ("int-gt-eq-lower", "int", leaf("gt-eq", 1), INTS, YES, NO, BOUNDS, "all values are at least 1"),
    ("int-gt-upper", "int", leaf("gt", 10), INTS, NO, YES, BOUNDS, "all values are at most 10"),
    ("int-not-eq-inside", "int", leaf("not-eq", 5), INTS, YES, YES, BOUNDS, "5 may be among the values"),
    ("int-not-eq-outside", "int", leaf("not-eq", 11), INTS, YES, NO, BOUNDS, "11 is not among the values"),
    ("int-eq-single", "int", leaf("eq", 7), _full("int", 7, 7), YES, NO, BOUNDS, "all values are 7"),
    ("int-not-eq-single", "int", leaf("not-eq", 7), _full("int", 7, 7), NO, YES, BOUNDS, "all values are 7"),
    ("int-in-outside", "int", leaf("in", [0, 11]), INTS, NO, YES, BOUNDS, "neither lies between 1 and 10"),
    ("int-in-around", "int", leaf("in", [0, 10]), INTS, YES, YES, BOUNDS, "10 may be a value"),
    ("int-not-in-outside", "int", leaf("not-in", [0, 11]), INTS, YES, NO, BOUNDS, "neither is a value"),
    ("int-not-lt", "int", not_(leaf("lt", 1)), INTS, YES, NO, BOUNDS, "no value is less than 1"),
    ("int-lower-alone", "int", leaf("gt", 0), metrics("int", 1, None, nulls=0), YES, NO, BOUNDS,
     "all values are at least 1"),
    ("int-upper-missing", "int", leaf("gt", 100), metrics("int", 1, None, nulls=0), YES, YES, BOUNDS,
     "without an upper bound values may be greater"),
    ("int-lower-missing", "int", leaf("lt", -100), metrics("int", None, 10, nulls=0), YES, YES, BOUNDS,
     "without a lower bound values may be less"),
    ("nothing-known", "int", leaf("eq", 5), metrics("int"), YES, YES, BOUNDS, "no metrics at all"),
    ("nothing-known-null", "int", leaf("is-null"), metrics("int"), YES, YES, COUNTS, "missing counts are not zero"),
    ("nothing-known-not-null", "int", leaf("not-null"), metrics("int"), YES, YES, COUNTS,
     "missing counts are not zero"),
    ("nulls-unknown-lt", "int", leaf("lt", 100), metrics("int", 1, 10), YES, YES, COUNTS,
     "a null, which no count rules out, is not less"),
    ("nulls-unknown-in", "int", leaf("in", [7, 8]), metrics("int", 7, 7), YES, YES, COUNTS,
     "a null may be among the rows"),
    ("some-null-lt", "int", leaf("lt", 100), _full("int", 1, 10, nulls=1), YES, YES, COUNTS, "null < 100 is false"),
    ("some-null-not-eq", "int", leaf("not-eq", 100), _full("int", 1, 10, nulls=1), YES, NO, ("EXP008", *COUNTS),
     "null != 100 is true"),
    ("some-null-is-null", "int", leaf("is-null"), _full("int", 1, 10, nulls=1), YES, YES, COUNTS, "one of ten is null"),
    ("no-null-is-null", "int", leaf("is-null"), INTS, NO, YES, COUNTS, "none is null"),
    ("no-null-not-null", "int", leaf("not-null"), INTS, YES, NO, COUNTS, "none is null"),
    ("all-null-is-null", "int", leaf("is-null"), metrics("int", values=10, nulls=10), YES, NO, COUNTS, "all are null"),
    ("all-null-eq", "int", leaf("eq", 5), metrics("int", values=10, nulls=10), NO, YES, COUNTS, "null = 5 is false"),
    ("all-null-not-eq", "int", leaf("not-eq", 5), metrics("int", values=10, nulls=10), YES, NO, ("EXP008", *COUNTS),
     "null != 5 is true"),
    ("all-null-not-in", "int", leaf("not-in", [5, 6]), metrics("int", values=10, nulls=10), YES, NO, ("EXP008",
     *COUNTS),
     "null equals neither"),
    ("all-null-not-lt", "int", not_(leaf("lt", 5)), metrics("int", values=10, nulls=10), YES, NO, ("EXP012", *COUNTS),
     "null < 5 is false, and NOT false is true"),
    ("all-null-not-starts-with", "string", leaf("not-starts-with", "a"), metrics("string", values=10, nulls=10), YES,
     NO,
     ("EXP007", *COUNTS), "no constant is a prefix of null"),
    ("all-nan-is-nan", "double", leaf("is-nan"), metrics("double", values=10, nulls=0, nans=10), YES, NO, NANS,
     "all are NaN"),
    ("all-nan-gt", "double", leaf("gt", 5.0), metrics("double", values=10, nulls=0, nans=10), NO, YES, NANS,
     "NaN > 5 is false"),
    ("no-nan-is-nan", "double", leaf("is-nan"), _full("double", 1.0, 2.0, nans=0), NO, YES, NANS, "none is NaN"),
    ("nans-unknown-is-nan", "double", leaf("is-nan"), _full("double", 1.0, 2.0), YES, YES, NANS,
     "NaN is never a bound, so a file with bounds may hold it"),
    ("nans-unknown-lt", "double", leaf("lt", 5.0), _full("double", 1.0, 2.0), YES, YES, NANS, "NaN < 5 is false"),
    ("nans-unknown-not-eq", "double", leaf("not-eq", 5.0), _full("double", 1.0, 2.0), YES, NO, ("EXP010", *NANS),
     "NaN != 5 is true"),
    ("no-nan-lt", "double", leaf("lt", 5.0), _full("double", 1.0, 2.0, nans=0), YES, NO, NANS, "all are at most 2"),
    ("some-nan-some-null", "double", leaf("is-null"), metrics("double", values=10, nulls=5, nans=5), YES, YES, NANS,
     "half of them null, half NaN"),
    ("some-nan-some-null-eq", "double", leaf("eq", 1.0), metrics("double", values=10, nulls=5, nans=5), NO, YES, NANS,
     "nothing but null and NaN"),
    ("zero-eq-minus-zero", "double", leaf("eq", -0.0), _full("double", 0.0, 0.0, nans=0), YES, NO, ZEROS,
     "-0.0 equals 0.0"),
    ("minus-zero-eq-zero", "float", leaf("eq", 0.0), _full("float", -0.0, -0.0, nans=0), YES, NO, ZEROS,
     "-0.0 equals 0.0"),
    ("zero-in-minus-zero", "double", leaf("in", [-0.0, 5.0]), _full("double", 0.0, 0.0, nans=0), YES, NO, ZEROS,
     "-0.0 equals 0.0"),
    ("zero-lt-eq-minus-zero", "double", leaf("lt-eq", -0.0), _full("double", 0.0, 1.0, nans=0), YES, YES, ZEROS,
     "0.0 <= -0.0 is true"),
    ("minus-zero-gt-eq-zero", "double", leaf("gt-eq", 0.0), _full("double", -1.0, -0.0, nans=0), YES, YES, ZEROS,
     "-0.0 >= 0.0 is true"),
    ("string-cut-eq", "string", leaf("eq", "abcz"), WORDS, YES, YES, BOUNDS, "between abc and the rounded-up abd"),
    ("string-cut-upper", "string", leaf("eq", "abd"), WORDS, YES, YES, BOUNDS, "a bound may be a value"),
    ("string-above", "string", leaf("eq", "abe"), WORDS, NO, YES, BOUNDS, "abe is greater than abd"),
    ("string-starts-with", "string", leaf("starts-with", "abcdef"), WORDS, YES, YES, BOUNDS,
     "values that begin with abcdef lie between the bounds"),
    ("string-starts-with-shared", "string", leaf("starts-with", "ab"), WORDS, YES, NO, BOUNDS, "all begin with ab"),
    ("string-starts-with-above", "string", leaf("starts-with", "b"), WORDS, NO, YES, BOUNDS, "b is greater than abd"),
    ("string-not-starts-with-shared", "string", leaf("not-starts-with", "ab"), WORDS, NO, YES, BOUNDS,
     "all begin with ab"),
    ("string-not-starts-with", "string", leaf("not-starts-with", "abc"), WORDS, YES, YES, BOUNDS,
     "abd does not begin with abc"),
    ("string-not-starts-with-long", "string", leaf("not-starts-with", "abcd"), WORDS, YES, YES, BOUNDS,
     "abc may be a value"),
    ("string-empty", "string", leaf("lt", "a"), _full("string", "", ""), YES, NO, BOUNDS, "an empty text is a bound"),
    ("string-empty-lt", "string", leaf("lt", ""), _full("string", "", "b"), NO, YES, BOUNDS,
     "nothing is less than the empty text"),
    ("string-supplementary", "string", leaf("gt", "\uffff"), _full("string", "a", "\U0001f600"), YES, YES,
     ("DFL017", "EXP011", "SCN005"), "UTF-8 F0 9F 98 80 is greater than EF BF BF"),
    ("binary-unsigned", "binary", leaf("gt", "7F"), _full("binary", "00", "80"), YES, YES, ("DFL017", "EXP011",
     "SCN005"),
     "0x80 is greater than 0x7F"),
    ("uuid-unsigned", "uuid", leaf("eq", "80000000-0000-0000-0000-000000000000"),
     _full("uuid", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"), YES, YES,
     ("DFL017", "EXP011", "SCN005"), "between the bounds by unsigned bytes; signed halves exclude it"),
    ("boolean-false", "boolean", leaf("eq", YES), _full("boolean", NO, NO), NO, YES, BOUNDS, "all are false"),
    ("promoted-long-eq", "long", leaf("eq", 1), metrics("long", 1, 1, of="int", values=10, nulls=0), YES, NO, PROMOTED,
     "4 bytes were written as int: 1"),
    ("promoted-long-gt", "long", leaf("gt", 1), metrics("long", -1, 1, of="int", values=10, nulls=0), NO, YES, PROMOTED,
     "4 bytes were written as int: -1 to 1"),
    ("promoted-double", "double", leaf("lt", 1.5), metrics("double", 1.5, 2.5, of="float", values=10, nulls=0, nans=0),
     NO, YES,
     PROMOTED, "4 bytes were written as float: 1.5 to 2.5"),
    ("promoted-decimal", "decimal(38, 2)", leaf("gt", "0.00"), metrics("decimal(38, 2)", "-1.28", "1.27",
     of="decimal(4, 2)",
     values=10, nulls=0), YES, YES, PROMOTED, "a decimal has the same bytes at any precision"),
    ("decimal-negative", "decimal(9, 2)", leaf("lt", "0.00"), _full("decimal(9, 2)", "-10.00", "-0.01"), YES, NO,
     BOUNDS,
     "two's complement: both are negative"),
    ("timestamp-before-1970", "timestamp", leaf("lt", "1970-01-01T00:00:00.000000"),
     _full("timestamp", "1969-12-31T23:59:59.000000", "1969-12-31T23:59:59.999999"), YES, NO, BOUNDS,
     "before the epoch"),
]  # fmt: skip

NAN_BOUNDS: list[tuple[str, Any, Any, Any]] = [
    ("both", leaf("eq", 100.0), "NaN", "NaN"),
    ("lower", leaf("lt", -100.0), "NaN", 5.0),
    ("upper", leaf("gt", 100.0), 1.0, "NaN"),
]

# name, type, transform, predicate, partition value, whether a row might match, whether a row might fail, codes, reason
Placed = tuple[str, str, str, Any, Any, bool, bool, tuple[str, ...], str]

BUCKETS = ("SCN003", "TRN003")
TEXTS = ("SCN003", "TRN008")
DAYS = ("SCN003", "TRN012")
NUMBERS = ("SCN003", "TRN006")
X = "2017-11-16T22:31:08.000000"

PARTITIONS: list[Placed] = [
    ("day-gt", "timestamp", "day", leaf("gt", X), "2017-11-16", YES, YES, DAYS, "later instants of the same day match"),
    ("day-gt-before", "timestamp", "day", leaf("gt", X), "2017-11-15", NO, YES, DAYS, "ts > X gives ts_day >= day(X)"),
    ("day-gt-after", "timestamp", "day", leaf("gt", X), "2017-11-17", YES, NO, DAYS, "all of the next day is later"),
    ("day-lt-midnight", "timestamp", "day", leaf("lt", "2017-11-16T00:00:00.000000"), "2017-11-15", YES, NO, DAYS,
     "all of the day before is earlier"),
    ("day-lt-eq-midnight", "timestamp", "day", leaf("lt-eq", "2017-11-16T00:00:00.000000"), "2017-11-16", YES, YES,
     DAYS,
     "midnight itself matches"),
    ("day-eq", "timestamp", "day", leaf("eq", X), "2017-11-16", YES, YES, DAYS,
     "other instants of the day do not match"),
    ("day-not-eq", "timestamp", "day", leaf("not-eq", X), "2017-11-16", YES, YES, DAYS,
     "other instants of the day match"),
    ("day-not-eq-other", "timestamp", "day", leaf("not-eq", X), "2017-11-17", YES, NO, DAYS, "X lies in another day"),
    ("day-null-is-null", "timestamp", "day", leaf("is-null"), None, YES, NO, ("SCN003", "TRN001"),
     "null of null alone"),
    ("day-null-not-eq", "timestamp", "day", leaf("not-eq", X), None, YES, NO, ("EXP008", "SCN003", "TRN001"),
     "null != X is true"),
    ("day-null-eq", "timestamp", "day", leaf("eq", X), None, NO, YES, ("EXP008", "SCN003", "TRN001"),
     "null = X is false"),
    ("day-before-1970", "timestamp", "day", leaf("eq", "1969-12-31T23:59:59.999999"), "1969-12-31", YES, YES, DAYS,
     "rounded down"),
    ("day-tz-second", "timestamptz", "day", leaf("lt", "1969-12-31T00:00:00.000001+00:00"), "1969-12-31", YES, YES,
     DAYS,
     "its first microsecond matches"),
    ("hour-gt-eq", "timestamp", "hour", leaf("gt-eq", X), 419686, YES, YES, ("SCN003", "TRN014"),
     "hour 419686 contains X"),
    ("hour-before-1970", "timestamp", "hour", leaf("lt", "1970-01-01T00:00:00.000000"), -1, YES, NO, ("SCN003",
     "TRN014"),
     "hour -1 is the last before 1970"),
    ("month-date-lt-eq", "date", "month", leaf("lt-eq", "2017-11-30"), 574, YES, NO, ("SCN003", "TRN011"),
     "the last day of month 574, 2017-11"),
    ("month-before-1970", "date", "month", leaf("eq", "1969-12-31"), -1, YES, YES, ("SCN003", "TRN011"),
     "month -1 is 1969-12"),
    ("year-timestamp-lt", "timestamp", "year", leaf("lt", "2018-01-01T00:00:00.000000"), 47, YES, NO, ("SCN003",
     "TRN010"),
     "year 47 is 2017"),
    ("year-ns-gt", "timestamp_ns", "year", leaf("gt", "2017-12-31T23:59:59.999999998"), 47, YES, YES, ("SCN003",
     "TRN010"),
     "the last nanosecond of 2017 matches"),
    ("bucket-eq", "int", "bucket[16]", leaf("eq", 34), 3, YES, YES, BUCKETS, "2017239379 mod 16 is 3"),
    ("bucket-constant-is-null", "int", "bucket[16]", {"type": "is-null", "child": FIVE}, 3, NO, YES,
     ("EXP002", *BUCKETS), "a constant is not null in any row, and is not a column that the partition could restrict"),
    ("bucket-eq-other", "int", "bucket[16]", leaf("eq", 34), 4, NO, YES, BUCKETS, "2017239379 mod 16 is 3"),
    ("bucket-not-eq", "int", "bucket[16]", leaf("not-eq", 34), 3, YES, YES, BUCKETS, "other values have the hash too"),
    ("bucket-not-eq-other", "int", "bucket[16]", leaf("not-eq", 34), 4, YES, NO, BUCKETS, "34 is in bucket 3"),
    ("bucket-in", "int", "bucket[16]", leaf("in", [34, 35]), 3, YES, YES, BUCKETS, "34 is in bucket 3"),
    ("bucket-not-in", "int", "bucket[16]", leaf("not-in", [34, 35]), 3, YES, YES, BUCKETS, "others are in bucket 3"),
    ("bucket-lt", "int", "bucket[16]", leaf("lt", 0), 3, YES, YES, BUCKETS, "a bucket does not keep the order"),
    ("bucket-string-starts-with", "string", "bucket[16]", leaf("starts-with", "i"), 3, YES, YES, BUCKETS,
     "a bucket says nothing about prefixes"),
    ("truncate-lt", "int", "truncate[10]", leaf("lt", 100), 90, YES, NO, NUMBERS, "90 to 99"),
    ("truncate-lt-inside", "int", "truncate[10]", leaf("lt", 95), 90, YES, YES, NUMBERS, "90 to 94 of 90 to 99"),
    ("truncate-lt-eq", "int", "truncate[10]", leaf("lt-eq", 99), 90, YES, NO, NUMBERS, "90 to 99"),
    ("truncate-gt-eq", "int", "truncate[10]", leaf("gt-eq", 90), 90, YES, NO, NUMBERS, "90 to 99"),
    ("truncate-gt-last", "int", "truncate[10]", leaf("gt", 99), 90, NO, YES, NUMBERS, "90 to 99"),
    ("truncate-negative", "int", "truncate[10]", leaf("eq", -1), -10, YES, YES, NUMBERS, "-1 goes down to -10"),
    ("truncate-negative-gt", "long", "truncate[10]", leaf("gt", -11), "-10", YES, NO, NUMBERS, "-10 to -1"),
    ("truncate-decimal", "decimal(9, 2)", "truncate[50]", leaf("lt", "10.50"), "10.00", YES, NO, ("SCN003", "TRN007"),
     "unscaled 1000 to 1049"),
    ("truncate-not-in", "int", "truncate[10]", leaf("not-in", [1, 11]), 0, YES, YES, NUMBERS,
     "0 matches and 1 does not"),
    ("truncate-text-eq", "string", "truncate[3]", leaf("eq", "abcd"), "abc", YES, YES, TEXTS, "abcd is cut to abc"),
    ("truncate-text-eq-short", "string", "truncate[3]", leaf("eq", "ab"), "ab", YES, NO, TEXTS,
     "a text shorter than the width is the only one of its partition"),
    ("truncate-text-eq-width", "string", "truncate[3]", leaf("eq", "abc"), "abc", YES, YES, TEXTS, "abcd is there too"),
    ("truncate-text-not-eq-short", "string", "truncate[3]", leaf("not-eq", "ab"), "ab", NO, YES, TEXTS,
     "nothing but ab"),
    ("truncate-text-not-eq-width", "string", "truncate[3]", leaf("not-eq", "abc"), "abc", YES, YES, TEXTS,
     "abcd matches"),
    ("truncate-text-starts-with", "string", "truncate[3]", leaf("starts-with", "ab"), "abc", YES, NO, TEXTS,
     "the prefix is shorter than the width"),
    ("truncate-text-starts-with-width", "string", "truncate[3]", leaf("starts-with", "abc"), "abc", YES, NO, TEXTS,
     "the prefix is as long as the width"),
    ("truncate-text-starts-with-long", "string", "truncate[3]", leaf("starts-with", "abcd"), "abc", YES, YES, TEXTS,
     "abcd begins so, abce does not"),
    ("truncate-text-not-starts-with", "string", "truncate[3]", leaf("not-starts-with", "ab"), "abc", NO, YES, TEXTS,
     "all begin with ab"),
    ("truncate-text-not-starts-with-width", "string", "truncate[3]", leaf("not-starts-with", "abc"), "abd", YES, NO,
     TEXTS,
     "none begins with abc"),
    ("truncate-text-not-starts-with-long", "string", "truncate[3]", leaf("not-starts-with", "abcd"), "abc", YES, YES,
     TEXTS,
     "abce does not begin with abcd"),
    ("truncate-text-not-starts-with-longer-other", "string", "truncate[3]", leaf("not-starts-with", "abcd"), "abd",
     YES, NO,
     TEXTS, "none begins with abcd"),
    ("truncate-text-gt", "string", "truncate[3]", leaf("gt", "abcd"), "abc", YES, YES, TEXTS, "abce is greater"),
    ("truncate-text-lt-supplementary", "string", "truncate[1]", leaf("lt", "\U0001f600"), "\uffff", YES, NO,
     ("EXP011", "SCN003", "TRN008"), "UTF-8 EF BF BF is less than F0 9F 98 80"),
    ("truncate-binary-gt", "binary", "truncate[1]", leaf("gt", "7FFF"), "80", YES, NO, ("EXP011", "SCN003", "TRN009"),
     "0x80 is greater than 0x7F"),
    ("identity-eq", "string", "identity", leaf("eq", "a"), "a", YES, NO, ("SCN003", "TRN002"), "all values are a"),
    ("identity-minus-zero", "double", "identity", leaf("eq", 0.0), -0.0, YES, NO, ("EXP019", "SCN003", "TRN002"),
     "-0.0 equals 0.0"),
    ("identity-nan-not-eq", "double", "identity", leaf("not-eq", 0.0), "NaN", YES, NO, ("EXP010", "SCN003", "TRN002"),
     "NaN != 0.0 is true"),
    ("identity-nan-gt", "double", "identity", leaf("gt", 0.0), "NaN", NO, YES, ("EXP010", "SCN003", "TRN002"),
     "NaN > 0.0 is false"),
    ("identity-is-nan", "float", "identity", leaf("is-nan"), "NaN", YES, NO, ("SCN003", "TRN002"), "all are NaN"),
    ("void-is-null", "int", "void", leaf("is-null"), None, YES, YES, ("SCN003", "TRN015"), "null of every value"),
    ("void-eq", "int", "void", leaf("eq", 34), None, YES, YES, ("SCN003", "TRN015"), "null of every value"),
    ("unknown-eq", "int", "zorder", leaf("eq", 34), None, YES, YES, ("SCN004",), "the field is not used in filtering"),
    ("unknown-is-null", "int", "zorder", leaf("is-null"), None, YES, YES, ("SCN004",),
     "what it is null of is not known"),
]  # fmt: skip

MIDNIGHT = "2017-11-17T00:00:00.000000"
NOT_ABCD = leaf("not-starts-with", "abcd")

RESIDUALS: list[tuple[str, str, str, Any, Any, Any, bool, str]] = [
    ("day-gt-same-day", "timestamp", "day", leaf("gt", X), "2017-11-16", "2017-11-16T22:31:08.000001", True, "later"),
    ("day-gt-same-day-earlier", "timestamp", "day", leaf("gt", X), "2017-11-16", X, False, "not later than itself"),
    ("day-gt-next-day", "timestamp", "day", leaf("gt", X), "2017-11-17", MIDNIGHT, True, "all match"),
    ("bucket-eq", "int", "bucket[16]", leaf("eq", 34), 3, 34, True, "34 is in bucket 3"),
    ("bucket-not-eq", "int", "bucket[16]", leaf("not-eq", 34), 3, 34, False, "34 is in bucket 3"),
    ("truncate-lt", "int", "truncate[10]", leaf("lt", 95), 90, 94, True, "94 < 95"),
    ("truncate-lt-eq-not", "int", "truncate[10]", not_(leaf("lt-eq", 95)), 90, 96, True, "96 is greater than 95"),
    ("truncate-text", "string", "truncate[3]", NOT_ABCD, "abc", "abce", True, "another fourth letter"),
    ("truncate-text-same", "string", "truncate[3]", NOT_ABCD, "abc", "abcde", False, "it is a prefix"),
    ("identity-in", "string", "identity", leaf("in", ["a", "b"]), "b", "b", True, "decided by the partition"),
    ("identity-zero", "int", "identity", leaf("eq", 0), 0, 0, True, "0 is a value and not null"),
    ("identity-empty-text", "string", "identity", leaf("not-eq", ""), "", "", False, "the empty text is not null"),
    ("void", "int", "void", leaf("eq", 34), None, 34, True, "the partition decides nothing"),
    ("unknown", "int", "zorder", leaf("eq", 34), None, 35, False, "the partition decides nothing"),
]

# name, type, transform, predicate, null, nan, lower, upper, whether a file might match, codes, reason
Summed = tuple[str, str, str, Any, bool, bool | None, Any, Any, bool, tuple[str, ...], str]
NULLS = ("MLS019", "SCN002")
NAN = ("MLS020", "SCN002")
ENDS = ("MLS021", "MLS022", "SCN002")

SUMMARIES: list[Summed] = [
    ("eq-inside", "int", "identity", leaf("eq", 5), False, None, 1, 10, YES, ENDS, "5 lies between 1 and 10"),
    ("eq-above", "int", "identity", leaf("eq", 11), False, None, 1, 10, NO, ENDS, "all partitions are at most 10"),
    ("is-null", "int", "identity", leaf("is-null"), True, None, 1, 10, YES, NULLS, "a partition is null"),
    ("is-null-none", "int", "identity", leaf("is-null"), False, None, 1, 10, NO, NULLS, "no partition is null"),
    ("not-eq-null", "int", "identity", leaf("not-eq", 5), True, None, None, None, YES, ("EXP008", *NULLS),
     "null != 5 is true"),
    ("only-null-eq", "int", "identity", leaf("eq", 5), True, None, None, None, NO, NULLS,
     "without bounds all are null"),
    ("is-nan-unknown", "float", "identity", leaf("is-nan"), False, None, 1.0, 2.0, YES, NAN,
     "contains_nan is not known"),
    ("is-nan-none", "float", "identity", leaf("is-nan"), False, False, 1.0, 2.0, NO, NAN, "no partition is NaN"),
    ("only-nan", "float", "identity", leaf("is-nan"), False, True, None, None, YES, NAN, "all are NaN"),
    ("zero", "double", "identity", leaf("eq", -0.0), False, False, 0.0, 0.0, YES, ("EXP019", *ENDS), "-0.0 equals 0.0"),
    ("day", "timestamp", "day", leaf("gt", X), False, None, "2017-11-01", "2017-11-16", YES, ENDS,
     "the last day contains X"),
    ("day-before", "timestamp", "day", leaf("gt", X), False, None, "2017-11-01", "2017-11-15", NO, ENDS,
     "all days are earlier"),
    ("bucket", "int", "bucket[16]", leaf("eq", 34), False, None, 0, 3, YES, ENDS, "34 is in bucket 3"),
    ("bucket-outside", "int", "bucket[16]", leaf("eq", 34), False, None, 4, 15, NO, ENDS, "34 is in bucket 3"),
    ("truncate-text", "string", "truncate[3]", leaf("starts-with", "abcd"), False, None, "abc", "abc", YES, ENDS,
     "cut to abc"),
    ("truncate-not-starts-with", "string", "truncate[3]", leaf("not-starts-with", "abcd"), False, None, "abc", "abc",
     YES, ENDS,
     "abce is cut to abc too"),
    ("void", "int", "void", leaf("eq", 34), True, None, None, None, YES, NULLS, "null of every value"),
]  # fmt: skip


def _kinds(
    name: str, codes: tuple[str, ...], args: Mapping[str, Any], *, match: bool, fail: bool, origin: str, note: str
) -> Iterator[Vector]:
    """Yield the vectors of the inclusive and the strict answer."""
    contradiction = ("B7",) if "EXP019" in codes else ()
    may_skip, may_claim = any_of(FALSE, TRUE), any_of(TRUE, FALSE)
    for kind, certain, expect in (
        ("inclusive", match, TRUE if match else may_skip),
        ("strict", fail, FALSE if fail else may_claim),
    ):
        open_ = contradiction if certain else tuple(sorted((*contradiction, *SHARPNESS)))
        yield SchemaVector(f"{name}-{kind}", codes, {**args, "kind": kind}, expect, origin, note, open_)


def _files() -> Iterator[Vector]:
    for name, type_, predicate, found, match, fail, codes, note in FILES:
        args = {"schema": schema(x=type_), "predicate": predicate, "metrics": found}
        origin = "derivation: whether values within the counts and bounds match, and fail"
        yield from _kinds(f"metrics-{name}", codes, args, match=match, fail=fail, origin=origin, note=note)


def _nan_bounds() -> Iterator[Vector]:
    for name, predicate, lower, upper in NAN_BOUNDS:
        args = {
            "schema": schema(x="double"),
            "predicate": predicate,
            "metrics": metrics("double", lower, upper, nulls=0),
        }
        yield SchemaVector(
            f"metrics-nan-bound-{name}-inclusive",
            ("DFL027", "SCN005"),
            {**args, "kind": "inclusive"},
            any_of(TRUE, INVALID),
            "derivation: NaN is never a bound, so it says nothing of values",
            "a NaN bound, as old writers left it, must not hide rows",
            ("C26",),
        )


def spec(transform: str) -> dict[str, Any]:
    """Return a spec with one field, p, whose source is x."""
    field = {"source-id": 1, "field-id": 1000, "name": "p", "transform": transform}
    return {"spec-id": 0, "fields": [field]}


def _partitions() -> Iterator[Vector]:
    for name, type_, transform, predicate, value, match, fail, codes, note in PARTITIONS:
        args = {
            "schema": schema(x=type_),
            "spec": spec(transform),
            "predicate": predicate,
            "partition": {"1000": value},
        }
        origin = "derivation: whether source values of the partition match, and fail"
        yield from _kinds(f"projection-{name}", codes, args, match=match, fail=fail, origin=origin, note=note)


def _residuals() -> Iterator[Vector]:
    for name, type_, transform, predicate, value, row, expected, note in RESIDUALS:
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
    for name, type_, transform, predicate, null, nan, lower, upper, match, codes, note in SUMMARIES:
        stored = RESULT_TYPES.get(transform, type_)
        summary: dict[str, Any] = {"contains_null": null}
        summary |= {} if nan is None else {"contains_nan": nan}
        summary |= {} if lower is None else {"lower_bound": _bytes(stored, lower), "upper_bound": _bytes(stored, upper)}
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
    yield VectorFile("expressions/metrics.json", "metrics.evaluate", SECTION, tuple(_files()))
    yield VectorFile("expressions/metrics-nan-bounds.json", "metrics.evaluate", SECTION, tuple(_nan_bounds()))
    yield VectorFile("expressions/projections.json", "projection.evaluate", SECTION, tuple(_partitions()))
    yield VectorFile("expressions/residuals.json", "residual.evaluate", SECTION, tuple(_residuals()))
    yield VectorFile("expressions/summaries.json", "summaries.evaluate", SECTION, tuple(_summaries()))
