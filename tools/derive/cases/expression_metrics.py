"""Predicates evaluated on the metrics of files (Scan Planning).

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

# name, (type, predicate, metrics, whether a row might match, whether a row might fail, codes), reason
Judged = tuple[str, tuple[str, Any, dict[str, Any], bool, bool, tuple[str, ...]], str]


def metrics(
    type_: str, lower: Any = None, upper: Any = None, *, of: str | None = None, **counts: int
) -> dict[str, Any]:
    """Return the metrics of a file of 10 rows, whose bounds have the column's type at the time, ``of``."""
    written = of or type_
    found: dict[str, Any] = {"record_count": str(counts.pop("rows", 10))}
    names = {"values": "value_counts", "nulls": "null_value_counts", "nans": "nan_value_counts"}
    found |= {names[name]: {"1": str(count)} for name, count in counts.items()}
    if lower is not None:
        found["lower_bounds"] = {"1": bound(written, lower)}
    if upper is not None:
        found["upper_bounds"] = {"1": bound(written, upper)}
    return found


def bound(type_: str, value: Any) -> str:
    """Return the bound of a value, in hexadecimal digits."""
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
    (
        "constant-is-null",
        ("int", {"type": "is-null", "child": FIVE}, INTS, NO, YES, ("EXP002", "SCN005")),
        "a constant is not null in any row",
    ),
    (
        "constant-not-null",
        ("int", {"type": "not-null", "child": FIVE}, INTS, YES, NO, ("EXP002", "SCN005")),
        "a constant is not null in any row",
    ),
    ("int-eq-inside", ("int", leaf("eq", 5), INTS, YES, YES, BOUNDS), "5 lies between 1 and 10"),
    ("int-eq-below", ("int", leaf("eq", 0), INTS, NO, YES, BOUNDS), "all values are at least 1"),
    ("int-eq-upper", ("int", leaf("eq", 10), INTS, YES, YES, BOUNDS), "a bound may be a value"),
    ("int-lt-lower", ("int", leaf("lt", 1), INTS, NO, YES, BOUNDS), "all values are at least 1"),
    ("int-lt-eq-lower", ("int", leaf("lt-eq", 1), INTS, YES, YES, BOUNDS), "1 may be a value"),
    ("int-gt-eq-lower", ("int", leaf("gt-eq", 1), INTS, YES, NO, BOUNDS), "all values are at least 1"),
    ("int-gt-upper", ("int", leaf("gt", 10), INTS, NO, YES, BOUNDS), "all values are at most 10"),
    ("int-not-eq-inside", ("int", leaf("not-eq", 5), INTS, YES, YES, BOUNDS), "5 may be among the values"),
    ("int-not-eq-outside", ("int", leaf("not-eq", 11), INTS, YES, NO, BOUNDS), "11 is not among the values"),
    ("int-eq-single", ("int", leaf("eq", 7), _full("int", 7, 7), YES, NO, BOUNDS), "all values are 7"),
    ("int-not-eq-single", ("int", leaf("not-eq", 7), _full("int", 7, 7), NO, YES, BOUNDS), "all values are 7"),
    ("int-in-outside", ("int", leaf("in", [0, 11]), INTS, NO, YES, BOUNDS), "neither lies between 1 and 10"),
    ("int-in-around", ("int", leaf("in", [0, 10]), INTS, YES, YES, BOUNDS), "10 may be a value"),
    ("int-not-in-outside", ("int", leaf("not-in", [0, 11]), INTS, YES, NO, BOUNDS), "neither is a value"),
    ("int-not-lt", ("int", not_(leaf("lt", 1)), INTS, YES, NO, BOUNDS), "no value is less than 1"),
    (
        "int-lower-alone",
        ("int", leaf("gt", 0), metrics("int", 1, None, nulls=0), YES, NO, BOUNDS),
        "all values are at least 1",
    ),
    (
        "int-upper-missing",
        ("int", leaf("gt", 100), metrics("int", 1, None, nulls=0), YES, YES, BOUNDS),
        "without an upper bound values may be greater",
    ),
    (
        "int-lower-missing",
        ("int", leaf("lt", -100), metrics("int", None, 10, nulls=0), YES, YES, BOUNDS),
        "without a lower bound values may be less",
    ),
    ("nothing-known", ("int", leaf("eq", 5), metrics("int"), YES, YES, BOUNDS), "no metrics at all"),
    ("nothing-known-null", ("int", leaf("is-null"), metrics("int"), YES, YES, COUNTS), "missing counts are not zero"),
    (
        "nothing-known-not-null",
        ("int", leaf("not-null"), metrics("int"), YES, YES, COUNTS),
        "missing counts are not zero",
    ),
    (
        "nulls-unknown-lt",
        ("int", leaf("lt", 100), metrics("int", 1, 10), YES, YES, COUNTS),
        "a null, which no count rules out, is not less",
    ),
    (
        "nulls-unknown-in",
        ("int", leaf("in", [7, 8]), metrics("int", 7, 7), YES, YES, COUNTS),
        "a null may be among the rows",
    ),
    ("some-null-lt", ("int", leaf("lt", 100), _full("int", 1, 10, nulls=1), YES, YES, COUNTS), "null < 100 is false"),
    (
        "some-null-not-eq",
        ("int", leaf("not-eq", 100), _full("int", 1, 10, nulls=1), YES, NO, ("EXP008", *COUNTS)),
        "null != 100 is true",
    ),
    (
        "some-null-is-null",
        ("int", leaf("is-null"), _full("int", 1, 10, nulls=1), YES, YES, COUNTS),
        "one of ten is null",
    ),
    ("no-null-is-null", ("int", leaf("is-null"), INTS, NO, YES, COUNTS), "none is null"),
    ("no-null-not-null", ("int", leaf("not-null"), INTS, YES, NO, COUNTS), "none is null"),
    (
        "all-null-is-null",
        ("int", leaf("is-null"), metrics("int", values=10, nulls=10), YES, NO, COUNTS),
        "all are null",
    ),
    ("all-null-eq", ("int", leaf("eq", 5), metrics("int", values=10, nulls=10), NO, YES, COUNTS), "null = 5 is false"),
    (
        "all-null-not-eq",
        ("int", leaf("not-eq", 5), metrics("int", values=10, nulls=10), YES, NO, ("EXP008", *COUNTS)),
        "null != 5 is true",
    ),
    (
        "all-null-not-in",
        ("int", leaf("not-in", [5, 6]), metrics("int", values=10, nulls=10), YES, NO, ("EXP008", *COUNTS)),
        "null equals neither",
    ),
    (
        "all-null-not-lt",
        ("int", not_(leaf("lt", 5)), metrics("int", values=10, nulls=10), YES, NO, ("EXP012", *COUNTS)),
        "null < 5 is false, and NOT false is true",
    ),
    (
        "all-null-not-starts-with",
        ("string", leaf("not-starts-with", "a"), metrics("string", values=10, nulls=10), YES, NO, ("EXP007", *COUNTS)),
        "no constant is a prefix of null",
    ),
    (
        "all-nan-is-nan",
        ("double", leaf("is-nan"), metrics("double", values=10, nulls=0, nans=10), YES, NO, NANS),
        "all are NaN",
    ),
    (
        "all-nan-gt",
        ("double", leaf("gt", 5.0), metrics("double", values=10, nulls=0, nans=10), NO, YES, NANS),
        "NaN > 5 is false",
    ),
    ("no-nan-is-nan", ("double", leaf("is-nan"), _full("double", 1.0, 2.0, nans=0), NO, YES, NANS), "none is NaN"),
    (
        "nans-unknown-is-nan",
        ("double", leaf("is-nan"), _full("double", 1.0, 2.0), YES, YES, NANS),
        "NaN is never a bound, so a file with bounds may hold it",
    ),
    ("nans-unknown-lt", ("double", leaf("lt", 5.0), _full("double", 1.0, 2.0), YES, YES, NANS), "NaN < 5 is false"),
    (
        "nans-unknown-not-eq",
        ("double", leaf("not-eq", 5.0), _full("double", 1.0, 2.0), YES, NO, ("EXP010", *NANS)),
        "NaN != 5 is true",
    ),
    ("no-nan-lt", ("double", leaf("lt", 5.0), _full("double", 1.0, 2.0, nans=0), YES, NO, NANS), "all are at most 2"),
    (
        "some-nan-some-null",
        ("double", leaf("is-null"), metrics("double", values=10, nulls=5, nans=5), YES, YES, NANS),
        "half of them null, half NaN",
    ),
    (
        "some-nan-some-null-eq",
        ("double", leaf("eq", 1.0), metrics("double", values=10, nulls=5, nans=5), NO, YES, NANS),
        "nothing but null and NaN",
    ),
    (
        "zero-eq-minus-zero",
        ("double", leaf("eq", -0.0), _full("double", 0.0, 0.0, nans=0), YES, NO, ZEROS),
        "-0.0 equals 0.0",
    ),
    (
        "minus-zero-eq-zero",
        ("float", leaf("eq", 0.0), _full("float", -0.0, -0.0, nans=0), YES, NO, ZEROS),
        "-0.0 equals 0.0",
    ),
    (
        "zero-in-minus-zero",
        ("double", leaf("in", [-0.0, 5.0]), _full("double", 0.0, 0.0, nans=0), YES, NO, ZEROS),
        "-0.0 equals 0.0",
    ),
    (
        "zero-lt-eq-minus-zero",
        ("double", leaf("lt-eq", -0.0), _full("double", 0.0, 1.0, nans=0), YES, YES, ZEROS),
        "0.0 <= -0.0 is true",
    ),
    (
        "minus-zero-gt-eq-zero",
        ("double", leaf("gt-eq", 0.0), _full("double", -1.0, -0.0, nans=0), YES, YES, ZEROS),
        "-0.0 >= 0.0 is true",
    ),
    ("string-cut-eq", ("string", leaf("eq", "abcz"), WORDS, YES, YES, BOUNDS), "between abc and the rounded-up abd"),
    ("string-cut-upper", ("string", leaf("eq", "abd"), WORDS, YES, YES, BOUNDS), "a bound may be a value"),
    ("string-above", ("string", leaf("eq", "abe"), WORDS, NO, YES, BOUNDS), "abe is greater than abd"),
    (
        "string-starts-with",
        ("string", leaf("starts-with", "abcdef"), WORDS, YES, YES, BOUNDS),
        "values that begin with abcdef lie between the bounds",
    ),
    ("string-starts-with-shared", ("string", leaf("starts-with", "ab"), WORDS, YES, NO, BOUNDS), "all begin with ab"),
    ("string-starts-with-above", ("string", leaf("starts-with", "b"), WORDS, NO, YES, BOUNDS), "b is greater than abd"),
    (
        "string-not-starts-with-shared",
        ("string", leaf("not-starts-with", "ab"), WORDS, NO, YES, BOUNDS),
        "all begin with ab",
    ),
    (
        "string-not-starts-with",
        ("string", leaf("not-starts-with", "abc"), WORDS, YES, YES, BOUNDS),
        "abd does not begin with abc",
    ),
    (
        "string-not-starts-with-long",
        ("string", leaf("not-starts-with", "abcd"), WORDS, YES, YES, BOUNDS),
        "abc may be a value",
    ),
    ("string-empty", ("string", leaf("lt", "a"), _full("string", "", ""), YES, NO, BOUNDS), "an empty text is a bound"),
    (
        "string-empty-lt",
        ("string", leaf("lt", ""), _full("string", "", "b"), NO, YES, BOUNDS),
        "nothing is less than the empty text",
    ),
    (
        "string-supplementary",
        ("string", leaf("gt", "\uffff"), _full("string", "a", "\U0001f600"), YES, YES, ("DFL017", "EXP011", "SCN005")),
        "UTF-8 F0 9F 98 80 is greater than EF BF BF",
    ),
    (
        "binary-unsigned",
        ("binary", leaf("gt", "7F"), _full("binary", "00", "80"), YES, YES, ("DFL017", "EXP011", "SCN005")),
        "0x80 is greater than 0x7F",
    ),
    (
        "uuid-unsigned",
        (
            "uuid",
            leaf("eq", "80000000-0000-0000-0000-000000000000"),
            _full("uuid", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            YES,
            YES,
            ("DFL017", "EXP011", "SCN005"),
        ),
        "between the bounds by unsigned bytes; signed halves exclude it",
    ),
    ("boolean-false", ("boolean", leaf("eq", YES), _full("boolean", NO, NO), NO, YES, BOUNDS), "all are false"),
    (
        "promoted-long-eq",
        ("long", leaf("eq", 1), metrics("long", 1, 1, of="int", values=10, nulls=0), YES, NO, PROMOTED),
        "4 bytes were written as int: 1",
    ),
    (
        "promoted-long-gt",
        ("long", leaf("gt", 1), metrics("long", -1, 1, of="int", values=10, nulls=0), NO, YES, PROMOTED),
        "4 bytes were written as int: -1 to 1",
    ),
    (
        "promoted-double",
        (
            "double",
            leaf("lt", 1.5),
            metrics("double", 1.5, 2.5, of="float", values=10, nulls=0, nans=0),
            NO,
            YES,
            PROMOTED,
        ),
        "4 bytes were written as float: 1.5 to 2.5",
    ),
    (
        "promoted-decimal",
        (
            "decimal(38, 2)",
            leaf("gt", "0.00"),
            metrics("decimal(38, 2)", "-1.28", "1.27", of="decimal(4, 2)", values=10, nulls=0),
            YES,
            YES,
            PROMOTED,
        ),
        "a decimal has the same bytes at any precision",
    ),
    (
        "decimal-negative",
        ("decimal(9, 2)", leaf("lt", "0.00"), _full("decimal(9, 2)", "-10.00", "-0.01"), YES, NO, BOUNDS),
        "two's complement: both are negative",
    ),
    (
        "timestamp-before-1970",
        (
            "timestamp",
            leaf("lt", "1970-01-01T00:00:00.000000"),
            _full("timestamp", "1969-12-31T23:59:59.000000", "1969-12-31T23:59:59.999999"),
            YES,
            NO,
            BOUNDS,
        ),
        "before the epoch",
    ),
]

NAN_BOUNDS: list[tuple[str, Any, Any, Any]] = [
    ("both", leaf("eq", 100.0), "NaN", "NaN"),
    ("lower", leaf("lt", -100.0), "NaN", 5.0),
    ("upper", leaf("gt", 100.0), 1.0, "NaN"),
]


def kinds(
    name: str, codes: tuple[str, ...], args: Mapping[str, Any], *, match: bool, fail: bool, origin: str, note: str
) -> Iterator[Vector]:
    """Yield the vectors of the inclusive and the strict answer.

    Args:
        name: the start of their ids.
        codes: the requirements.
        args: the arguments, except for the kind of the answer.
        match: whether a row might match.
        fail: whether a row might fail.
        origin: where the answers come from.
        note: the reason.
    """
    contradiction = ("B7",) if "EXP019" in codes else ()
    may_skip, may_claim = any_of(FALSE, TRUE), any_of(TRUE, FALSE)
    for kind, certain, expect in (
        ("inclusive", match, TRUE if match else may_skip),
        ("strict", fail, FALSE if fail else may_claim),
    ):
        open_ = contradiction if certain else tuple(sorted((*contradiction, *SHARPNESS)))
        yield SchemaVector(f"{name}-{kind}", codes, {**args, "kind": kind}, expect, origin, note, open_)


def _files() -> Iterator[Vector]:
    for name, (type_, predicate, found, match, fail, codes), note in FILES:
        args = {"schema": schema(x=type_), "predicate": predicate, "metrics": found}
        origin = "derivation: whether values within the counts and bounds match, and fail"
        yield from kinds(f"metrics-{name}", codes, args, match=match, fail=fail, origin=origin, note=note)


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


def files() -> Iterator[VectorFile]:
    """Yield the vector files of metrics."""
    yield VectorFile("expressions/metrics.json", "metrics.evaluate", SECTION, tuple(_files()))
    yield VectorFile("expressions/metrics-nan-bounds.json", "metrics.evaluate", SECTION, tuple(_nan_bounds()))
