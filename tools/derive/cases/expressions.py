"""Predicates evaluated on rows (Iceberg Expressions)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive.cases import awkward_predicates, expression_planning
from tools.derive.cases.expression_forms import SchemaVector, and_, leaf, not_, or_, schema
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

COMPARISONS = "Comparisons"
TESTS = "Tests"
LOGIC = "Boolean logic"
PREDICATES = "Predicates"


# name, (type, predicate, value of x, expected, codes), rule
Row = tuple[str, tuple[Any, Any, Any, bool, tuple[str, ...]], str]

YES = True
NULL_SAFE = ("EXP008",)
NAN = ("EXP010",)
BYTES = ("EXP011",)
NUMERIC = ("EXP019",)
ALIGNED = ("EXP024",)

UUIDS = ("7fffffff-ffff-ffff-ffff-ffffffffffff", "80000000-0000-0000-0000-000000000000")

COMPARED: list[Row] = [
    ("int-lt", ("int", leaf("lt", 5), 4, True, NUMERIC), "4 is less than 5"),
    ("int-lt-same", ("int", leaf("lt", 5), 5, False, NUMERIC), "5 is not less than itself"),
    ("int-lt-eq-same", ("int", leaf("lt-eq", 5), 5, True, NUMERIC), "a <= b is (a = b) OR (a < b)"),
    ("int-gt-negative", ("int", leaf("gt", 1), -1, False, NUMERIC), "signed comparison: -1 is less than 1"),
    ("int-gt-eq-same", ("int", leaf("gt-eq", -5), -5, True, NUMERIC), "a >= b is (a = b) OR (a > b)"),
    (
        "long-eq-max",
        ("long", leaf("eq", 2**63 - 1), str(2**63 - 1), True, NUMERIC),
        "the largest long, which no double equals",
    ),
    ("long-not-eq-max", ("long", leaf("not-eq", 2**63 - 1), str(2**63 - 2), True, NUMERIC), "differs in the last bit"),
    ("decimal-lt", ("decimal(9, 2)", leaf("lt", "2.00"), "-10.00", True, NUMERIC), "by number, not by text"),
    ("decimal-eq", ("decimal(9, 2)", leaf("eq", "14.20"), "14.20", True, NUMERIC), "same unscaled value"),
    ("double-minus-zero-eq", ("double", leaf("eq", 0.0), -0.0, True, NUMERIC), "IEEE 754: -0.0 equals 0.0"),
    ("double-minus-zero-lt", ("double", leaf("lt", 0.0), -0.0, False, NUMERIC), "IEEE 754: -0.0 is not less than 0.0"),
    ("double-zero-eq-minus-zero", ("double", leaf("eq", -0.0), 0.0, True, NUMERIC), "IEEE 754: 0.0 equals -0.0"),
    ("float-minus-zero-eq", ("float", leaf("eq", 0.0), -0.0, True, NUMERIC), "IEEE 754: -0.0 equals 0.0"),
    (
        "double-infinity-gt",
        ("double", leaf("gt", 1e308), "Infinity", True, NUMERIC),
        "infinity is greater than any number",
    ),
    ("double-minus-infinity-lt", ("double", leaf("lt", -1e308), "-Infinity", True, NUMERIC), "less than any number"),
    ("date-lt", ("date", leaf("lt", "1970-01-01"), "1969-12-31", True, NUMERIC), "day -1 is less than day 0"),
    (
        "timestamp-gt",
        ("timestamp", leaf("gt", "2017-11-16T22:31:08.000000"), "2017-11-16T22:31:08.000001", True, NUMERIC),
        "one microsecond later",
    ),
    (
        "timestamptz-lt-eq",
        (
            "timestamptz",
            leaf("lt-eq", "2017-11-16T22:31:08.000000+00:00"),
            "2017-11-16T22:31:08.000000+00:00",
            True,
            NUMERIC,
        ),
        "the same instant",
    ),
    (
        "timestamp-ns-gt",
        ("timestamp_ns", leaf("gt", "2017-11-16T22:31:08.000000000"), "2017-11-16T22:31:08.000000001", True, NUMERIC),
        "one nanosecond later",
    ),
    ("time-lt", ("time", leaf("lt", "12:00:00.000000"), "11:59:59.999999", True, NUMERIC), "one microsecond earlier"),
    ("boolean-lt", ("boolean", leaf("lt", YES), False, True, BYTES), "false is less than true"),
    ("boolean-gt", ("boolean", leaf("gt", YES), False, False, BYTES), "false is not greater than true"),
    ("string-lt-prefix", ("string", leaf("lt", "ab"), "a", True, BYTES), "a prefix is less than what it begins"),
    (
        "string-upper-case-first",
        ("string", leaf("lt", "a"), "B", True, BYTES),
        "0x42 is less than 0x61: bytes are compared, without a collation",
    ),
    (
        "string-supplementary-gt-bmp",
        ("string", leaf("gt", "\uffff"), "\U0001f600", True, BYTES),
        "UTF-8 F0 9F 98 80 is greater than EF BF BF; by UTF-16 units it would be less",
    ),
    (
        "string-bmp-lt-supplementary",
        ("string", leaf("lt", "\U00010000"), "\ufffd", True, BYTES),
        "UTF-8 EF BF BD is less than F0 90 80 80; by UTF-16 units it would be greater",
    ),
    ("string-e-acute-gt-z", ("string", leaf("gt", "z"), "\u00e9", True, BYTES), "UTF-8 C3 A9 is greater than 7A"),
    ("binary-unsigned", ("binary", leaf("gt", "7F"), "80", True, BYTES), "0x80 is 128 unsigned, not -128"),
    ("binary-empty-lt", ("binary", leaf("lt", "00"), "", True, BYTES), "no bytes come before any"),
    ("binary-eq", ("binary", leaf("eq", "00FF"), "00FF", True, BYTES), "the same bytes"),
    ("fixed-unsigned", ("fixed[2]", leaf("lt", "FF00"), "7FFF", True, BYTES), "0x7F is less than 0xFF unsigned"),
    (
        "uuid-unsigned",
        ("uuid", leaf("gt", UUIDS[0]), UUIDS[1], True, BYTES),
        "first byte 0x80 is greater than 0x7F unsigned",
    ),
    ("uuid-eq", ("uuid", leaf("eq", UUIDS[1]), UUIDS[1], True, BYTES), "the same 16 bytes"),
    ("null-eq", ("int", leaf("eq", 34), None, False, NULL_SAFE), "34 = null is false"),
    ("null-not-eq", ("int", leaf("not-eq", 34), None, True, NULL_SAFE), "34 != null is true"),
    ("null-lt", ("int", leaf("lt", 34), None, False, NULL_SAFE), "null < 34 is false"),
    ("null-lt-eq", ("int", leaf("lt-eq", 34), None, False, NULL_SAFE), "false when only one operand is null"),
    ("null-gt", ("int", leaf("gt", 34), None, False, NULL_SAFE), "null > 34 is false"),
    ("null-gt-eq", ("int", leaf("gt-eq", 34), None, False, NULL_SAFE), "false when only one operand is null"),
    ("null-string-lt", ("string", leaf("lt", "a"), None, False, NULL_SAFE), "null < 'a' is false"),
    ("nan-eq", ("double", leaf("eq", 1.5), "NaN", False, NAN), "NaN is equal to NaN alone"),
    ("nan-not-eq", ("double", leaf("not-eq", 1.5), "NaN", True, NAN), "the negation of ="),
    ("nan-lt", ("double", leaf("lt", 1.5), "NaN", False, NAN), "NaN is not less than a number"),
    ("nan-gt", ("double", leaf("gt", 1.5), "NaN", False, NAN), "NaN is not greater than a number"),
    ("nan-lt-eq", ("float", leaf("lt-eq", 1.5), "NaN", False, NAN), "false when only one operand is NaN"),
    ("nan-gt-eq", ("float", leaf("gt-eq", 1.5), "NaN", False, NAN), "false when only one operand is NaN"),
]

ALIGNMENTS: list[Row] = [
    ("int-gt-5-0", ("int", leaf("gt", 5.0), 6, True, ALIGNED), "the text's example: int_col > 5.0"),
    ("int-gt-5-5", ("int", leaf("gt", 5.5), 5, False, ALIGNED), "5 is less than 5.5"),
    ("int-gt-eq-5-5", ("int", leaf("gt-eq", 5.5), 6, True, ALIGNED), "6 is greater than 5.5"),
    (
        "int-lt-minus-5-5",
        ("int", leaf("lt", -5.5), -5, False, ALIGNED),
        "-5 is greater than -5.5; truncated to -5 it would be equal",
    ),
    ("int-eq-5-5", ("int", leaf("eq", 5.5), 5, False, ALIGNED), "no int equals 5.5"),
]

TESTED: list[Row] = [
    ("is-null-of-null", ("int", leaf("is-null"), None, True, ("EXP007",)), "true iff null"),
    ("is-null-of-zero", ("int", leaf("is-null"), 0, False, ("EXP007",)), "zero is a value"),
    ("is-null-of-empty", ("string", leaf("is-null"), "", False, ("EXP007",)), "an empty string is a value"),
    ("is-null-of-nan", ("double", leaf("is-null"), "NaN", False, ("EXP007",)), "NaN is a value"),
    ("not-null-of-null", ("int", leaf("not-null"), None, False, ("EXP007",)), "true iff not null"),
    ("not-null-of-nan", ("float", leaf("not-null"), "NaN", True, ("EXP007",)), "NaN is a value"),
    ("is-nan-of-nan", ("double", leaf("is-nan"), "NaN", True, ("EXP007",)), "true iff NaN"),
    ("is-nan-of-null", ("double", leaf("is-nan"), None, False, ("EXP007",)), "null is not NaN"),
    ("is-nan-of-infinity", ("float", leaf("is-nan"), "Infinity", False, ("EXP007",)), "infinity is not NaN"),
    ("not-nan-of-null", ("double", leaf("not-nan"), None, True, ("EXP007",)), "null is not NaN"),
    ("not-nan-of-nan", ("double", leaf("not-nan"), "NaN", False, ("EXP007",)), "true iff not NaN"),
    ("starts-with", ("string", leaf("starts-with", "ic"), "iceberg", True, ("EXP007",)), "a prefix"),
    (
        "starts-with-itself",
        ("string", leaf("starts-with", "iceberg"), "iceberg", True, ("EXP007",)),
        "a prefix of itself",
    ),
    (
        "starts-with-longer",
        ("string", leaf("starts-with", "icebergs"), "iceberg", False, ("EXP007",)),
        "longer than the value",
    ),
    ("starts-with-empty", ("string", leaf("starts-with", ""), "", True, ("EXP007",)), "the empty prefix"),
    ("starts-with-null", ("string", leaf("starts-with", ""), None, False, ("EXP007",)), "null has no prefix"),
    ("starts-with-case", ("string", leaf("starts-with", "IC"), "iceberg", False, ("EXP007",)), "case counts"),
    ("not-starts-with", ("string", leaf("not-starts-with", "ic"), "iceberg", False, ("EXP007",)), "it is a prefix"),
    (
        "not-starts-with-null",
        ("string", leaf("not-starts-with", "ic"), None, True, ("EXP007",)),
        "the constant is not a prefix of null",
    ),
    ("in", ("int", leaf("in", [1, 2, 3]), 2, True, ("EXP007",)), "equal to a constant"),
    ("in-none", ("int", leaf("in", [1, 2, 3]), 4, False, ("EXP007",)), "equal to no constant"),
    ("in-null", ("int", leaf("in", [1, 2, 3]), None, False, ("EXP007", "EXP008")), "null equals no constant"),
    ("in-nan", ("double", leaf("in", [1.0, 2.0]), "NaN", False, ("EXP007", "EXP010")), "NaN equals no constant"),
    ("in-minus-zero", ("double", leaf("in", [0.0, 2.0]), -0.0, True, ("EXP007", "EXP019")), "-0.0 equals 0.0"),
    ("in-string", ("string", leaf("in", ["a", "b"]), "b", True, ("EXP007",)), "equal to a constant"),
    ("in-binary", ("binary", leaf("in", ["00", "01"]), "01", True, ("EXP007",)), "equal to a constant"),
    ("in-uuid", ("uuid", leaf("in", list(UUIDS)), UUIDS[1], True, ("EXP007",)), "equal to a constant"),
    ("not-in", ("int", leaf("not-in", [1, 2, 3]), 4, True, ("EXP007",)), "the negation of IN"),
    ("not-in-some", ("int", leaf("not-in", [1, 2, 3]), 2, False, ("EXP007",)), "the negation of IN"),
    ("not-in-null", ("int", leaf("not-in", [1, 2, 3]), None, True, ("EXP007", "EXP008")), "null equals no constant"),
]

LOGICAL: list[Row] = [
    ("true", ("int", True, 1, True, ("EXP012",)), "a constant"),
    ("false", ("int", False, 1, False, ("EXP012",)), "a constant"),
    (
        "not-lt-null",
        ("int", not_(leaf("lt", 5)), None, True, ("EXP008", "EXP012")),
        "null < 5 is false, and NOT false is true",
    ),
    (
        "not-gt-eq-nan",
        ("double", not_(leaf("gt-eq", 5.0)), "NaN", True, ("EXP010", "EXP012")),
        "NaN >= 5 is false, and NOT false is true",
    ),
    ("not-eq-null", ("int", not_(leaf("eq", 5)), None, True, ("EXP008", "EXP012")), "null = 5 is false"),
    ("not-in-null", ("int", not_(leaf("in", [5, 6])), None, True, ("EXP008", "EXP012")), "null IN (5, 6) is false"),
    ("not-not-lt-null", ("int", not_(not_(leaf("lt", 5))), None, False, ("EXP008", "EXP012")), "twice negated"),
    (
        "where-of-sql",
        ("int", and_(leaf("not-eq", 5), leaf("not-null")), None, False, ("EXP012", "EXP025")),
        "the WHERE clause x <> 5 selects no null",
    ),
    (
        "check-of-sql",
        ("int", or_(leaf("lt", 10), leaf("is-null")), None, True, ("EXP012", "EXP025")),
        "the CHECK constraint x < 10 lets null pass",
    ),
    ("and", ("int", and_(leaf("gt", 1), leaf("lt", 5)), 3, True, ("EXP012",)), "both are true"),
    ("and-one", ("int", and_(leaf("gt", 1), leaf("lt", 5)), 7, False, ("EXP012",)), "one is false"),
    ("or-one", ("int", or_(leaf("lt", 1), leaf("gt", 5)), 7, True, ("EXP012",)), "one is true"),
    (
        "not-and",
        ("int", not_(and_(leaf("gt", 1), leaf("lt", 5))), None, True, ("EXP008", "EXP012")),
        "null > 1 is false, so the conjunction is",
    ),
]


def _transform(text: str) -> dict[str, Any]:
    return {"type": "transform", "transform": text, "term": "x"}


TRANSFORMED: list[Row] = [
    (
        "bucket-34",
        ("int", leaf("eq", 3, term=_transform("bucket[16]")), 34, True, ("EXP014",)),
        "the hash of 34 is 2017239379 (Appendix B), and 2017239379 mod 16 is 3",
    ),
    (
        "bucket-34-other",
        ("int", leaf("lt", 3, term=_transform("bucket[16]")), 34, False, ("EXP014",)),
        "3 is not less than 3",
    ),
    (
        "truncate-minus-1",
        ("int", leaf("eq", -10, term=_transform("truncate[10]")), -1, True, ("EXP014",)),
        "down to -10",
    ),
    (
        "truncate-string",
        ("string", leaf("eq", "ice", term=_transform("truncate[3]")), "iceberg", True, ("EXP014",)),
        "the first three characters",
    ),
    (
        "year",
        ("date", leaf("eq", 47, term=_transform("year")), "2017-11-16", True, ("EXP014",)),
        "2017 is 47 years from 1970",
    ),
    (
        "month",
        ("timestamp", leaf("eq", 574, term=_transform("month")), "2017-11-16T22:31:08.000000", True, ("EXP014",)),
        "47 years of 12 months and 10 months",
    ),
    (
        "day",
        (
            "timestamp",
            leaf("eq", "2017-11-16", term=_transform("day")),
            "2017-11-16T22:31:08.000000",
            True,
            ("EXP014",),
        ),
        "day gives a date",
    ),
    (
        "day-before-1970",
        (
            "timestamp",
            leaf("eq", "1969-12-31", term=_transform("day")),
            "1969-12-31T23:59:59.999999",
            True,
            ("EXP014", "TRN012"),
        ),
        "rounded down",
    ),
    (
        "hour",
        ("timestamp", leaf("eq", 419686, term=_transform("hour")), "2017-11-16T22:31:08.000000", True, ("EXP014",)),
        "17486 days of 24 hours and 22 hours",
    ),
    (
        "transform-null",
        ("int", leaf("is-null", term=_transform("bucket[16]")), None, True, ("EXP014",)),
        "null for null",
    ),
]

X = {"type": "reference", "name": "x"}
X1 = {"type": "reference", "id": 1}
BUCKET = {"catalog": "iceberg_functions", "identifier": ["bucket"]}

CURRENT: list[Row] = [
    (
        "reference-name",
        ("int", {"type": "lt", "left": X, "right": 5}, 4, True, ("EXP015", "EXP017")),
        "a reference by name",
    ),
    ("reference-id", ("int", {"type": "lt", "left": X1, "right": 5}, 4, True, ("EXP003", "EXP015", "EXP017")), "by id"),
    (
        "literal-object",
        ("int", {"type": "eq", "left": X, "right": {"type": "literal", "value": 5}}, 5, True, ("EXP015", "EXP016")),
        "a literal as an object",
    ),
    (
        "literal-typed",
        (
            "long",
            {"type": "eq", "left": X, "right": {"type": "literal", "value": 5, "data-type": "int"}},
            "5",
            True,
            ("EXP015", "EXP016", "EXP024"),
        ),
        "an int constant is promoted to long",
    ),
    ("literal-left", ("int", {"type": "lt", "left": 5, "right": X}, 6, True, ("EXP015",)), "5 < x"),
    (
        "literals-object",
        (
            "int",
            {"type": "in", "child": X, "values": {"type": "literals", "values": [1, 2], "data-type": "int"}},
            2,
            True,
            ("EXP015", "EXP016"),
        ),
        "literals as an object",
    ),
    (
        "is-null-child",
        ("int", {"type": "is-null", "child": X}, None, True, ("EXP007", "EXP015")),
        "child in place of term",
    ),
    (
        "apply-bucket",
        (
            "int",
            {"type": "eq", "left": {"type": "apply", "function": BUCKET, "arguments": [16, X]}, "right": 3},
            34,
            True,
            ("EXP014", "EXP015", "EXP018"),
        ),
        "the hash of 34 is 2017239379 (Appendix B), and 2017239379 mod 16 is 3",
    ),
    (
        "same-column",
        ("int", {"type": "eq", "left": X, "right": X1}, None, True, ("EXP008", "EXP015")),
        "null = null is true",
    ),
    (
        "same-column-lt-eq",
        ("double", {"type": "lt-eq", "left": X, "right": X}, "NaN", True, ("EXP010", "EXP015")),
        "true when both operands are NaN",
    ),
]

REFUSED: list[tuple[str, tuple[Any, Any, Any, tuple[str, ...], str], str]] = [
    ("eq-null", ("int", leaf("eq", None), 1, ("EXP009",), COMPARISONS), "a null constant directly below a comparison"),
    (
        "lt-text",
        ("int", leaf("lt", "goats"), 1, ("EXP006", "EXP024"), COMPARISONS),
        "a string cannot be aligned with an int",
    ),
    (
        "eq-number-for-string",
        ("string", leaf("eq", 5), "5", ("EXP006", "EXP024"), COMPARISONS),
        "an int is not promoted to string",
    ),
    ("in-null", ("int", leaf("in", [1, None]), 1, ("EXP007",), TESTS), "constants are not null"),
    ("is-nan-of-int", ("int", leaf("is-nan"), 1, ("EXP007",), TESTS), "allowed types are float and double"),
    (
        "literal-as-predicate",
        ("boolean", {"type": "literal", "value": True}, True, ("EXP002",), PREDICATES),
        "a value expression is not a predicate",
    ),
    (
        "reference-as-predicate",
        ("boolean", {"type": "reference", "name": "x"}, True, ("EXP002",), PREDICATES),
        "a value expression is not a predicate, even when it gives a boolean",
    ),
    ("starts-with-of-int", ("int", leaf("starts-with", "1"), 1, ("EXP007",), TESTS), "the allowed type is string"),
]


def _vectors(prefix: str, rows: list[Row], origin: str) -> tuple[Vector, ...]:
    return tuple(
        SchemaVector(
            f"expression-{prefix}-{name}",
            codes,
            {"schema": schema(x=type_), "predicate": predicate, "row": {"1": value}},
            # Engines that do not align types (a "should") must refuse: no promotion turns 5.0 into an int.
            any_of(ok(expected), INVALID) if codes == ALIGNED else ok(expected),
            origin,
            note,
            ("B28",) if codes == ALIGNED else (),
        )
        for name, (type_, predicate, value, expected, codes), note in rows
    )


def _refusals(section: str) -> tuple[Vector, ...]:
    return tuple(
        SchemaVector(
            f"expression-refused-{name}",
            codes,
            {"schema": schema(x=type_), "predicate": predicate, "row": {"1": value}},
            INVALID,
            f"spec: Expressions, {section}",
            note,
        )
        for name, (type_, predicate, value, codes, where), note in REFUSED
        if where == section
    )


def files() -> Iterator[VectorFile]:
    """Yield the vector files of expressions."""

    def file(topic: str, section: str, vectors: tuple[Vector, ...]) -> VectorFile:
        return VectorFile(f"expressions/{topic}.json", "expression.evaluate", section, vectors)

    yield file("comparisons", COMPARISONS, _vectors("compare", COMPARED, "spec: Expressions, Comparisons"))
    yield file("awkward", COMPARISONS, tuple(awkward_predicates.vectors()))
    yield file("alignment", COMPARISONS, _vectors("align", ALIGNMENTS, "derivation: compared as exact numbers"))
    yield file("comparisons-refusals", COMPARISONS, _refusals(COMPARISONS))
    yield file("tests", TESTS, _vectors("test", TESTED, "spec: Expressions, Tests"))
    yield file("tests-refusals", TESTS, _refusals(TESTS))
    yield file("predicates-refusals", PREDICATES, _refusals(PREDICATES))
    yield file("logic", LOGIC, _vectors("logic", LOGICAL, "spec: Expressions, Boolean logic"))
    yield file(
        "transforms",
        "Partition transforms",
        _vectors("transform", TRANSFORMED, "derivation: the transform of the value, compared"),
    )
    yield file(
        "current-form",
        "Appendix B: JSON serialization / Predicates",
        _vectors("current", CURRENT, "spec: Expressions, Appendix B"),
    )
    yield from expression_planning.files()
