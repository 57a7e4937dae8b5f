"""Values of every type, which the suites of binary values, JSON values and bounds share."""

from __future__ import annotations

from typing import Any

from tools.derive.awkward import VERY_LONG, is_far, not_in

# name, type, value in the exchange form, note
Value = tuple[str, str, Any, str]

BOOLEANS: list[Value] = [("false", "boolean", False, ""), ("true", "boolean", True, "")]

INTEGERS: list[Value] = [
    ("int-0", "int", 0, ""),
    ("int-34", "int", 34, ""),
    ("int-minus-1", "int", -1, ""),
    ("int-255", "int", 255, ""),
    ("int-256", "int", 256, "little-endian"),
    ("int-67305985", "int", 67305985, "01 02 03 04: every byte at its place"),
    ("int-max", "int", 2147483647, ""),
    ("int-min", "int", -2147483648, ""),
    ("long-0", "long", "0", ""),
    ("long-34", "long", "34", ""),
    ("long-minus-1", "long", "-1", ""),
    ("long-2-31", "long", "2147483648", "beyond an int"),
    ("long-2-53-plus-1", "long", "9007199254740993", "not exact as a double"),
    ("long-max", "long", "9223372036854775807", ""),
    ("long-min", "long", "-9223372036854775808", ""),
]

FLOATS: list[Value] = [
    ("float-0", "float", 0.0, ""),
    ("float-minus-0", "float", -0.0, "the sign of zero stays"),
    ("float-1", "float", 1.0, ""),
    ("float-minus-1-5", "float", -1.5, ""),
    ("float-0-1", "float", 0.10000000149011612, "the float nearest to 0.1"),
    ("float-max", "float", 3.4028234663852886e38, ""),
    ("float-min-normal", "float", 1.1754943508222875e-38, ""),
    ("float-min-subnormal", "float", 1.401298464324817e-45, "2^-149"),
    ("float-2-24-plus-1-rounded", "float", 16777216.0, ""),
    ("double-0", "double", 0.0, ""),
    ("double-minus-0", "double", -0.0, "the sign of zero stays"),
    ("double-1", "double", 1.0, ""),
    ("double-minus-1-5", "double", -1.5, ""),
    ("double-0-1", "double", 0.1, ""),
    ("double-max", "double", 1.7976931348623157e308, ""),
    ("double-min-normal", "double", 2.2250738585072014e-308, ""),
    ("double-min-subnormal", "double", 5e-324, ""),
    ("double-2-53", "double", 9007199254740992.0, ""),
]

NOT_FINITE: list[Value] = [
    ("float-infinity", "float", "Infinity", ""),
    ("float-minus-infinity", "float", "-Infinity", ""),
    ("double-infinity", "double", "Infinity", ""),
    ("double-minus-infinity", "double", "-Infinity", ""),
]

DECIMALS: list[Value] = [
    ("decimal-14-20", "decimal(9, 2)", "14.20", ""),
    ("decimal-0", "decimal(9, 2)", "0.00", "one byte"),
    ("decimal-1", "decimal(9, 2)", "0.01", ""),
    ("decimal-minus-1", "decimal(9, 2)", "-0.01", "one byte FF"),
    ("decimal-minus-14-20", "decimal(9, 2)", "-14.20", ""),
    ("decimal-127", "decimal(9, 0)", "127", ""),
    ("decimal-128", "decimal(9, 0)", "128", "the sign needs a second byte"),
    ("decimal-minus-128", "decimal(9, 0)", "-128", "one byte"),
    ("decimal-minus-129", "decimal(9, 0)", "-129", "two bytes"),
    ("decimal-minus-1-28", "decimal(5, 2)", "-1.28", "unscaled -128: one byte"),
    ("decimal-255", "decimal(9, 0)", "255", ""),
    ("decimal-256", "decimal(9, 0)", "256", ""),
    ("decimal-32767", "decimal(9, 0)", "32767", ""),
    ("decimal-32768", "decimal(9, 0)", "32768", "three bytes"),
    ("decimal-minus-32768", "decimal(9, 0)", "-32768", "two bytes"),
    ("decimal-minus-32769", "decimal(9, 0)", "-32769", "three bytes"),
    ("decimal-minus-8388608", "decimal(9, 0)", "-8388608", "three bytes"),
    ("decimal-minus-2-31", "decimal(10, 0)", "-2147483648", "four bytes"),
    ("decimal-2-31", "decimal(10, 0)", "2147483648", "five bytes"),
    ("decimal-minus-2-39", "decimal(12, 0)", "-549755813888", "five bytes"),
    ("decimal-minus-2-47", "decimal(15, 0)", "-140737488355328", "six bytes"),
    ("decimal-minus-2-55", "decimal(17, 0)", "-36028797018963968", "seven bytes"),
    ("decimal-minus-2-63", "decimal(19, 0)", "-9223372036854775808", "eight bytes"),
    ("decimal-2-63", "decimal(19, 0)", "9223372036854775808", "nine bytes, beyond a long"),
    ("decimal-minus-2-71", "decimal(22, 0)", "-2361183241434822606848", "nine bytes"),
    ("decimal-minus-2-95", "decimal(29, 0)", "-39614081257132168796771975168", "twelve bytes"),
    ("decimal-minus-2-119", "decimal(36, 0)", "-664613997892457936451903530140172288", "fifteen bytes"),
    ("decimal-38-nines", "decimal(38, 0)", "9" * 38, "sixteen bytes"),
    ("decimal-minus-38-nines", "decimal(38, 0)", "-" + "9" * 38, "sixteen bytes"),
    ("decimal-scale-38", "decimal(38, 38)", "-0." + "9" * 38, "scale as large as the precision"),
    ("decimal-least-scale-10", "decimal(38, 10)", "0.0000000001", "digits, no exponent"),
    ("decimal-0-scale-10", "decimal(38, 10)", "0.0000000000", "digits, no exponent"),
]

DATES: list[Value] = [
    ("date-2017-11-16", "date", "2017-11-16", ""),
    ("date-epoch", "date", "1970-01-01", ""),
    ("date-1969-12-31", "date", "1969-12-31", "day -1"),
    ("date-2000-02-29", "date", "2000-02-29", ""),
    ("date-1968-02-29", "date", "1968-02-29", ""),
    ("date-1900-02-28", "date", "1900-02-28", "the day before March in 1900"),
    ("date-1600-01-01", "date", "1600-01-01", ""),
    ("date-1582-10-10", "date", "1582-10-10", "proleptic Gregorian: no days are left out"),
    ("date-0001-01-01", "date", "0001-01-01", ""),
    ("date-9999-12-31", "date", "9999-12-31", ""),
]

TIMES: list[Value] = [
    ("time-22-31-08", "time", "22:31:08.000000", ""),
    ("time-22-31-08-123456", "time", "22:31:08.123456", ""),
    ("time-midnight", "time", "00:00:00.000000", ""),
    ("time-1us", "time", "00:00:00.000001", ""),
    ("time-100ms", "time", "00:00:00.100000", ""),
    ("time-noon", "time", "12:00:00.000000", ""),
    ("time-last", "time", "23:59:59.999999", ""),
]

TIMESTAMPS: list[Value] = [
    ("timestamp-2017-11-16", "timestamp", "2017-11-16T22:31:08.123456", ""),
    ("timestamp-whole-second", "timestamp", "2017-11-16T22:31:08.000000", ""),
    ("timestamp-120ms", "timestamp", "2017-11-16T22:31:08.120000", ""),
    ("timestamp-epoch", "timestamp", "1970-01-01T00:00:00.000000", ""),
    ("timestamp-minus-1us", "timestamp", "1969-12-31T23:59:59.999999", ""),
    ("timestamp-minus-1s", "timestamp", "1969-12-31T23:59:59.000000", ""),
    ("timestamp-minus-1d-plus-1us", "timestamp", "1969-12-31T00:00:00.000001", ""),
    ("timestamp-leap-day", "timestamp", "2000-02-29T23:59:59.999999", ""),
    ("timestamp-1600", "timestamp", "1600-02-29T00:00:00.000001", ""),
    ("timestamp-0001", "timestamp", "0001-01-01T00:00:00.000000", ""),
    ("timestamp-9999", "timestamp", "9999-12-31T23:59:59.999999", ""),
    ("timestamptz-2017-11-16", "timestamptz", "2017-11-16T22:31:08.123456+00:00", ""),
    ("timestamptz-whole-second", "timestamptz", "2017-11-16T22:31:08.000000+00:00", ""),
    ("timestamptz-minus-1us", "timestamptz", "1969-12-31T23:59:59.999999+00:00", ""),
    ("timestamptz-0001", "timestamptz", "0001-01-01T00:00:00.000000+00:00", ""),
    ("timestamptz-9999", "timestamptz", "9999-12-31T23:59:59.999999+00:00", ""),
]

NANOSECONDS: list[Value] = [
    ("timestamp-ns-2017-11-16", "timestamp_ns", "2017-11-16T22:31:08.123456789", ""),
    ("timestamp-ns-whole-second", "timestamp_ns", "2017-11-16T22:31:08.000000000", ""),
    ("timestamp-ns-whole-microsecond", "timestamp_ns", "2017-11-16T22:31:08.123456000", ""),
    ("timestamp-ns-epoch", "timestamp_ns", "1970-01-01T00:00:00.000000000", ""),
    ("timestamp-ns-1ns", "timestamp_ns", "1970-01-01T00:00:00.000000001", ""),
    ("timestamp-ns-minus-1ns", "timestamp_ns", "1969-12-31T23:59:59.999999999", ""),
    ("timestamp-ns-max", "timestamp_ns", "2262-04-11T23:47:16.854775807", "the largest long"),
    ("timestamp-ns-min", "timestamp_ns", "1677-09-21T00:12:43.145224192", "the smallest long"),
    ("timestamptz-ns-2017-11-16", "timestamptz_ns", "2017-11-16T22:31:08.123456789+00:00", ""),
    ("timestamptz-ns-minus-1ns", "timestamptz_ns", "1969-12-31T23:59:59.999999999+00:00", ""),
    ("timestamptz-ns-max", "timestamptz_ns", "2262-04-11T23:47:16.854775807+00:00", ""),
    ("timestamptz-ns-min", "timestamptz_ns", "1677-09-21T00:12:43.145224192+00:00", ""),
]

EXPANDED_YEARS: list[Value] = [
    ("date-10000", "date", "+10000-01-01", "the year after 9999"),
    ("date-year-0", "date", "0000-12-31", "the year before 1"),
    ("date-year-minus-1", "date", "-0001-12-31", "two years before 1"),
    ("date-max", "date", "+5881580-07-11", "the largest int"),
    ("date-min", "date", "-5877641-06-23", "the smallest int"),
    ("timestamp-10000", "timestamp", "+10000-01-01T00:00:00.000000", "the year after 9999"),
    ("timestamp-max", "timestamp", "+294247-01-10T04:00:54.775807", "the largest long"),
    ("timestamp-min", "timestamp", "-290308-12-21T19:59:05.224192", "the smallest long"),
    ("timestamptz-max", "timestamptz", "+294247-01-10T04:00:54.775807+00:00", "the largest long"),
    ("timestamptz-min", "timestamptz", "-290308-12-21T19:59:05.224192+00:00", "the smallest long"),
]

STRINGS: list[Value] = [
    ("string-iceberg", "string", "iceberg", ""),
    ("string-empty", "string", "", "no bytes"),
    ("string-nul", "string", "a\x00b", "a NUL does not end a string"),
    ("string-quote-backslash", "string", '"\\\n\t', ""),
    ("string-e-acute-composed", "string", "\u00e9", "no normalisation"),
    ("string-e-acute-combining", "string", "e\u0301", "no normalisation"),
    ("string-katakana", "string", "\u30a4\u30ed\u30cf\u30cb", "three bytes per character"),
    ("string-money-bag", "string", "\U0001f4b0", "four bytes, no surrogates"),
    ("string-d7ff", "string", "\ud7ff", ""),
    ("string-e000", "string", "\ue000", ""),
    ("string-ffff", "string", "\uffff", ""),
    ("string-10000", "string", "\U00010000", ""),
    ("string-10ffff", "string", "\U0010ffff", ""),
    ("string-bom", "string", "\ufeffa", "a byte order mark is kept"),
    ("string-long", "string", "0123456789abcdef" * 32, "512 characters, not truncated"),
]

BYTES: list[Value] = [
    ("uuid-spec", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "big-endian"),
    ("uuid-nil", "uuid", "00000000-0000-0000-0000-000000000000", ""),
    ("uuid-max", "uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", ""),
    ("uuid-high-bit", "uuid", "80000000-0000-0000-0000-000000000000", "the top bit is not a sign"),
    ("uuid-ascending", "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f", "each byte at its own place"),
    ("fixed-4", "fixed[4]", "000102FF", ""),
    ("fixed-1", "fixed[1]", "80", ""),
    ("fixed-4-zeros", "fixed[4]", "00000000", "zeros are kept"),
    ("fixed-16", "fixed[16]", "F79C3E09677C4BBDA4793F349CB785E7", ""),
    ("binary-000102ff", "binary", "000102FF", ""),
    ("binary-empty", "binary", "", "no bytes"),
    ("binary-00", "binary", "00", "two digits a byte"),
    ("binary-00010f", "binary", "00010F", "two digits a byte"),
    ("binary-256", "binary", bytes(range(256)).hex().upper(), "every byte value"),
    ("binary-very-long", "binary", VERY_LONG, "33,024 bytes, more than 16 bits with a sign count"),
]

TOPICS: dict[str, list[Value]] = {
    "numbers": BOOLEANS + INTEGERS + FLOATS,
    "decimals": DECIMALS,
    "dates-and-times": DATES + TIMES + TIMESTAMPS,
    "nanoseconds": NANOSECONDS,
    "strings": STRINGS,
    "bytes": BYTES,
}

_AWKWARD = not_in(
    (type_, value)
    for rows in (*TOPICS.values(), NOT_FINITE, EXPANDED_YEARS, [("", "float", "NaN", ""), ("", "double", "NaN", "")])
    for _, type_, value, _ in rows
)
"""Awkward values that are not in the lists above; NaN has separate vectors."""

EXPANDED_YEARS += [row for row in _AWKWARD if is_far(row[0], row[1])]
TOPICS["awkward"] = [row for row in _AWKWARD if row not in EXPANDED_YEARS]

UNSUPPORTED: dict[str, tuple[Any, Any]] = {
    "struct": ({"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}, {"1": 34}),
    "list": ({"type": "list", "element-id": 3, "element-required": True, "element": "int"}, [34]),
    "map": (
        {"type": "map", "key-id": 4, "key": "int", "value-id": 5, "value-required": True, "value": "int"},
        {"keys": [34], "values": [34]},
    ),
}
"""The nested types, with a value of each."""

# name, type, value that the type does not have, the rule of the type, why
BAD_VALUES: list[tuple[str, str, Any, str, str]] = [
    ("int-2-31", "int", 2147483648, "TYP009", "more than 32 bits"),
    ("int-minus-2-31-minus-1", "int", -2147483649, "TYP009", "more than 32 bits"),
    ("long-2-63", "long", "9223372036854775808", "TYP010", "more than 64 bits"),
    ("long-minus-2-63-minus-1", "long", "-9223372036854775809", "TYP010", "more than 64 bits"),
    ("decimal-too-precise", "decimal(2, 1)", "99.9", "TYP013", "three digits in a precision of two"),
    ("decimal-minus-too-precise", "decimal(2, 1)", "-10.0", "TYP013", "three digits in a precision of two"),
    ("decimal-39-digits", "decimal(38, 0)", "1" + "0" * 38, "TYP013", "39 digits"),
    ("date-month-13", "date", "2017-13-01", "TYP015", "no such month"),
    ("date-2017-02-29", "date", "2017-02-29", "TYP015", "2017 is not a leap year"),
    ("time-24h", "time", "24:00:00.000000", "TYP016", "a time of day ends before 24:00"),
    ("time-minute-60", "time", "22:60:00.000000", "TYP016", "no such minute"),
    ("timestamp-ns-2-63", "timestamp_ns", "2262-04-11T23:47:16.854775808", "TYP019", "more than 64 bits"),
    ("timestamp-ns-below", "timestamp_ns", "1677-09-21T00:12:43.145224191", "TYP019", "more than 64 bits"),
    ("timestamptz-ns-year-9999", "timestamptz_ns", "9999-12-31T23:59:59.999999999+00:00", "TYP020", "over 64 bits"),
    ("fixed-short", "fixed[4]", "000102", "TYP023", "three bytes in a fixed[4]"),
    ("fixed-long", "fixed[4]", "0001020304", "TYP023", "five bytes in a fixed[4]"),
    ("fixed-empty", "fixed[4]", "", "TYP023", "no bytes in a fixed[4]"),
    ("int-fraction", "int", 34.5, "TYP009", "not an integer"),
    ("decimal-five-of-four", "decimal(4, 2)", "100.00", "TYP013", "five digits in a precision of four"),
    ("decimal-letters", "decimal(9, 2)", "fourteen", "SVJ002", "not a number"),
    ("date-february-30", "date", "2017-02-30", "TYP015", "no such day"),
    ("date-1900-leap-day", "date", "1900-02-29", "TYP015", "1900 is not a leap year"),
    ("date-day-0", "date", "2017-11-00", "TYP015", "days count from 1"),
    ("date-month-0", "date", "2017-00-16", "TYP015", "months count from 1"),
    ("time-letters", "time", "noon", "SVJ003", "not a time of day"),
    ("time-hour-25", "time", "25:00:00.000000", "TYP016", "no such hour"),
    ("timestamp-february-30", "timestamp", "2017-02-30T22:31:08.000000", "TYP017", "no such day"),
    ("timestamp-month-13", "timestamp", "2017-13-16T22:31:08.000000", "TYP017", "no such month"),
    ("timestamp-hour-25", "timestamp", "2017-11-16T25:31:08.000000", "TYP017", "no such hour"),
    ("timestamp-letters", "timestamp", "yesterday", "SVJ004", "not a timestamp"),
    ("timestamptz-no-zone", "timestamptz", "2017-11-16T22:31:08.000000", "TYP018", "an instant of UTC has an offset"),
    ("timestamptz-february-30", "timestamptz", "2017-02-30T22:31:08.000000+00:00", "TYP018", "no such day"),
    ("timestamp-ns-february-30", "timestamp_ns", "2017-02-30T22:31:08.000000000", "TYP019", "no such day"),
    ("timestamptz-ns-month-13", "timestamptz_ns", "2017-13-16T22:31:08.000000000+00:00", "TYP020", "no such month"),
    ("uuid-short", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e", "SVJ006", "a digit is missing"),
    ("uuid-letter-g", "uuid", "g79c3e09-677c-4bbd-a479-3f349cb785e7", "SVJ006", "g is not a hexadecimal digit"),
    ("uuid-empty", "uuid", "", "SVJ006", "no digits"),
    ("binary-odd", "binary", "001", "SVJ006", "two digits a byte"),
    ("binary-letter-g", "binary", "0g", "SVJ006", "g is not a hexadecimal digit"),
    ("fixed-odd", "fixed[4]", "0001020", "SVJ006", "two digits a byte"),
    ("string-number", "string", 34, "SVJ009", "not a string"),
    ("boolean-string", "boolean", "true", "SVJ001", "not a boolean"),
    ("float-letters", "float", "one", "SVJ001", "not a number"),
    ("double-letters", "double", "one", "SVJ001", "not a number"),
]
"""Values that a type does not have: every operation has to refuse them."""

MALFORMED = ("malformed-value",)
"""The tags of a vector with a malformed value. An engine's function takes values of its language, so that the adapter's
JSON reader refuses such a value, not the engine."""
