"""JSON single values (Appendix D)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tools.derive.cases.binary import CRS84, LENGTHS, RANGES, SHAPES, SPHERE, TEXTS, hexadecimal
from tools.derive.cases.values import TOPICS, Value
from tools.derive.encoding import describe
from tools.derive.json_value import json_forms
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "JSON single-value serialization"
TABLE = "spec: Appendix D, JSON single-value serialization"

_CODES = {
    "boolean": "SVJ001", "int": "SVJ001", "long": "SVJ001", "float": "SVJ001", "double": "SVJ001", "decimal": "SVJ002",
    "date": "SVJ003", "time": "SVJ003", "timestamp": "SVJ004", "timestamptz": "SVJ004", "timestamp_ns": "SVJ005",
    "timestamptz_ns": "SVJ005", "string": "SVJ001", "uuid": "SVJ006", "fixed": "SVJ006", "binary": "SVJ006",
    "geometry": "SVJ008", "geography": "SVJ008", "struct": "SVJ007", "list": "SVJ007", "map": "SVJ007",
}  # fmt: skip


def code(type_: Any) -> str:
    """The requirement that says how the type is written in JSON."""
    name = type_["type"] if isinstance(type_, dict) else type_
    return _CODES[name.split("(")[0].split("[")[0]]


# name, type, JSON, the same value in the exchange form, note, contradictions: forms that a reader reads
READ: list[tuple[str, str, Any, Any, str, tuple[str, ...]]] = [
    ("float-integer", "float", 1, 1.0, "any JSON number", ("B33",)),
    ("double-integer", "double", 1, 1.0, "any JSON number", ("B33",)),
    ("double-exponent", "double", 1e2, 100.0, "", ()),
    ("double-minus-integer", "double", -34, -34.0, "any JSON number", ("B33",)),
    ("float-rounds", "float", 0.1, 0.10000000149011612, "rounded to the nearest float", ()),
    ("float-rounds-up", "float", 3.4028235e38, 3.4028234663852886e38, "rounded to the nearest float", ()),
    ("float-underflow", "float", 1e-50, 0.0, "rounded to the nearest float", ()),
    ("time-no-fraction", "time", "22:31:08", "22:31:08.000000", "a writer may drop a fraction of zero", ("B34",)),
    ("time-1-digit", "time", "22:31:08.1", "22:31:08.100000", "tenths", ("B34",)),
    ("time-2-digits", "time", "22:31:08.12", "22:31:08.120000", "", ("B34",)),
    ("time-3-digits", "time", "22:31:08.001", "22:31:08.001000", "milliseconds", ("B34",)),
    ("time-4-digits", "time", "22:31:08.1234", "22:31:08.123400", "", ("B34",)),
    ("time-5-digits", "time", "22:31:08.00001", "22:31:08.000010", "", ("B34",)),
    ("timestamp-no-fraction", "timestamp", "2017-11-16T22:31:08", "2017-11-16T22:31:08.000000", "", ("B34",)),
    ("timestamp-1-digit", "timestamp", "2017-11-16T22:31:08.1", "2017-11-16T22:31:08.100000", "", ("B34",)),
    ("timestamp-3-digits", "timestamp", "2017-11-16T22:31:08.001", "2017-11-16T22:31:08.001000", "", ("B34",)),
    ("timestamp-pre-epoch-3-digits", "timestamp", "1969-12-31T23:59:59.999", "1969-12-31T23:59:59.999000", "",
     ("B34",)),
    ("timestamptz-no-fraction", "timestamptz", "2017-11-16T22:31:08+00:00", "2017-11-16T22:31:08.000000+00:00", "",
     ("B34",)),
    ("timestamptz-2-digits", "timestamptz", "2017-11-16T22:31:08.12+00:00", "2017-11-16T22:31:08.120000+00:00", "",
     ("B34",)),
    *(
        (f"timestamp-ns-{digits}-digits", "timestamp_ns", "2017-11-16T22:31:08." + "123456789"[:digits],
         "2017-11-16T22:31:08." + "123456789"[:digits].ljust(9, "0"), "the fraction is decimal: padded on the right",
         ("B34",))
        for digits in range(1, 9)
    ),
    ("timestamp-ns-no-fraction", "timestamp_ns", "2017-11-16T22:31:08", "2017-11-16T22:31:08.000000000", "", ("B34",)),
    ("timestamp-ns-leading-zeros", "timestamp_ns", "2017-11-16T22:31:08.0000001", "2017-11-16T22:31:08.000000100",
     "seven digits are 100 ns", ("B34",)),
    ("timestamp-ns-pre-epoch-7-digits", "timestamp_ns", "1969-12-31T23:59:59.1234567", "1969-12-31T23:59:59.123456700",
     "seven digits, before 1970", ("B34",)),
    ("timestamptz-ns-7-digits", "timestamptz_ns", "2017-11-16T22:31:08.1234567+00:00",
     "2017-11-16T22:31:08.123456700+00:00", "", ("B34",)),
    ("fixed-upper-case", "fixed[4]", "000102FF", "000102FF", "the examples are lower-case, either is hexadecimal",
     ("B34",)),
    ("binary-upper-case", "binary", "0ABCDEF0", "0ABCDEF0", "", ("B34",)),
    ("binary-mixed-case", "binary", "0aBcDeF0", "0ABCDEF0", "", ("B34",)),
]  # fmt: skip

# Where the text does not say whether a reader takes it.
OPEN: list[tuple[str, str, Any, Any, str, tuple[str, ...]]] = [
    ("int-with-point", "int", 34.0, 34, "a JSON number with a point that is an integer", ()),
    ("long-with-point", "long", 34.0, "34", "a JSON number with a point that is an integer", ()),
    ("int-exponent", "int", 1e3, 1000, "a JSON number with an exponent that is an integer", ()),
    ("uuid-upper-case", "uuid", "F79C3E09-677C-4BBD-A479-3F349CB785E7", "f79c3e09-677c-4bbd-a479-3f349cb785e7",
     "lower case is written; whether upper case is read the text does not say", ()),
    ("decimal-plus", "decimal(9, 2)", "+14.20", "14.20", "a plus sign", ()),
    ("decimal-leading-zero", "decimal(9, 2)", "014.20", "14.20", "a leading zero", ()),
    ("decimal-no-integer-digit", "decimal(9, 2)", ".20", "0.20", "no digit before the point", ()),
    ("decimal-minus-0", "decimal(9, 2)", "-0.00", "0.00", "zero with a sign", ()),
    ("date-basic", "date", "20171116", "2017-11-16", "ISO 8601 has a basic format too", ()),
    ("date-ordinal", "date", "2017-320", "2017-11-16", "ISO 8601 has ordinal dates too", ()),
    ("date-week", "date", "2017-W46-4", "2017-11-16", "ISO 8601 has week dates too", ()),
    ("time-no-seconds", "time", "22:31", "22:31:00.000000", "reduced precision", ()),
    ("time-basic", "time", "223108.123456", "22:31:08.123456", "ISO 8601 has a basic format too", ()),
    ("time-comma", "time", "22:31:08,123456", "22:31:08.123456", "ISO 8601 has a decimal comma too", ()),
    ("timestamp-no-seconds", "timestamp", "2017-11-16T22:31", "2017-11-16T22:31:00.000000", "reduced precision", ()),
    ("date-10000", "date", "+10000-01-01", "+10000-01-01",
     "ISO 8601 takes more than four digits of a year by agreement", ()),
    ("date-year-0", "date", "0000-12-31", "0000-12-31", "ISO 8601 takes years before 1583 by agreement", ()),
    ("date-year-minus-1", "date", "-0001-12-31", "-0001-12-31", "ISO 8601 takes negative years by agreement", ()),
    ("timestamp-10000", "timestamp", "+10000-01-01T00:00:00.000000", "+10000-01-01T00:00:00.000000",
     "ISO 8601 takes more than four digits of a year by agreement", ()),
]  # fmt: skip

DATE_TEXTS = [
    ("one-digit-month", "2017-1-16", "a month has two digits"),
    ("one-digit-day", "2017-11-6", "a day has two digits"),
    ("month-0", "2017-00-16", "no such month"),
    ("month-13", "2017-13-16", "no such month"),
    ("day-0", "2017-11-00", "no such day"),
    ("day-31-in-november", "2017-11-31", "no such day"),
    ("2017-02-29", "2017-02-29", "2017 is no leap year"),
    ("1900-02-29", "1900-02-29", "1900 is no leap year"),
    ("with-time", "2017-11-16T00:00:00", "a date has no time"),
    ("slashes", "2017/11/16", "ISO 8601 has hyphens"),
    ("day-first", "16-11-2017", "the year comes first"),
    ("two-digit-year", "17-11-16", "a year has four digits"),
    ("leading-space", " 2017-11-16", "nothing around it"),
    ("trailing-newline", "2017-11-16\n", "nothing around it"),
    ("empty", "", "no date"),
    ("words", "today", "no date"),
    ("arabic-digits", "\u0662\u0660\u0661\u0667-11-16", "digits are 0 to 9"),
]
TIME_TEXTS = [
    ("hour-24", "24:00:00.000000", "a time of day ends before 24:00"),
    ("hour-25", "25:00:00.000000", "no such hour"),
    ("minute-60", "22:60:00.000000", "no such minute"),
    ("second-60", "23:59:60.000000", "there are no leap seconds"),
    ("7-digits", "22:31:08.1234567", "a time has microseconds"),
    ("9-digits", "22:31:08.123456789", "a time has microseconds"),
    ("point-only", "22:31:08.", "a point without digits"),
    ("one-digit-hour", "2:31:08.123456", "an hour has two digits"),
    ("zone-z", "22:31:08.123456Z", "a time has no zone"),
    ("zone-offset", "22:31:08.123456+00:00", "a time has no zone"),
    ("with-date", "2017-11-16T22:31:08.123456", "a time has no date"),
    ("am-pm", "10:31:08 PM", "not ISO 8601"),
    ("negative", "-01:00:00.000000", "no such hour"),
    ("leading-space", " 22:31:08.123456", "nothing around it"),
    ("empty", "", "no time"),
    ("arabic-digits", "22:31:0\u0668.123456", "digits are 0 to 9"),
]
TIMESTAMP_TEXTS = [
    ("zone-z", "2017-11-16T22:31:08.123456Z", "it has no zone"),
    ("zone-offset", "2017-11-16T22:31:08.123456+00:00", "it has no zone"),
    ("date-only", "2017-11-16", "no time"),
    ("space", "2017-11-16 22:31:08.123456", "ISO 8601 has a T"),
    ("february-30", "2017-02-30T22:31:08.123456", "no such day"),
    ("hour-24", "2017-11-16T24:00:01.000000", "no such hour"),
    ("second-60", "2016-12-31T23:59:60.000000", "there are no leap seconds"),
    ("7-digits", "2017-11-16T22:31:08.1234567", "it has microseconds"),
    ("9-digits", "2017-11-16T22:31:08.123456789", "it has microseconds"),
    ("point-only", "2017-11-16T22:31:08.", "a point without digits"),
    ("trailing-space", "2017-11-16T22:31:08.123456 ", "nothing around it"),
    ("empty", "", "no timestamp"),
    ("beyond-long", "+294247-01-10T04:00:54.775808", "2^63 us"),
]
TIMESTAMPTZ_TEXTS = [
    ("no-zone", "2017-11-16T22:31:08.123456", "the offset is missing", ()),
    ("zone-z", "2017-11-16T22:31:08.123456Z", "the offset is +00:00, written so", ("B35",)),
    ("zone-minus-00-00", "2017-11-16T22:31:08.123456-00:00", "the offset is +00:00, written so", ("B35",)),
    ("zone-plus-1", "2017-11-16T23:31:08.123456+01:00", "the offset is +00:00", ()),
    ("zone-minus-8", "2017-11-16T14:31:08.123456-08:00", "the offset is +00:00", ()),
    ("zone-no-colon", "2017-11-16T22:31:08.123456+0000", "the offset is +00:00, written so", ("B35",)),
    ("zone-hours-only", "2017-11-16T22:31:08.123456+00", "the offset is +00:00, written so", ("B35",)),
    ("zone-name", "2017-11-16T22:31:08.123456+00:00[UTC]", "the offset is +00:00, and no name", ()),
    ("zone-utc", "2017-11-16T22:31:08.123456 UTC", "the offset is +00:00", ()),
    ("zone-twice", "2017-11-16T22:31:08.123456+00:00+00:00", "one offset", ()),
    ("zone-with-seconds", "2017-11-16T22:31:08.123456+00:00:00", "the offset is +00:00, written so", ("B35",)),
    ("7-digits", "2017-11-16T22:31:08.1234567+00:00", "it has microseconds", ()),
    ("february-30", "2017-02-30T22:31:08.123456+00:00", "no such day", ()),
    ("date-only", "2017-11-16+00:00", "no time", ()),
]
NANOSECOND_TEXTS = [
    ("timestamp-ns-10-digits", "timestamp_ns", "2017-11-16T22:31:08.1234567890", "it has nanoseconds"),
    ("timestamp-ns-zone-z", "timestamp_ns", "2017-11-16T22:31:08.123456789Z", "it has no zone"),
    ("timestamp-ns-zone-offset", "timestamp_ns", "2017-11-16T22:31:08.123456789+00:00", "it has no zone"),
    ("timestamp-ns-space", "timestamp_ns", "2017-11-16 22:31:08.123456789", "ISO 8601 has a T"),
    ("timestamp-ns-2-63", "timestamp_ns", "2262-04-11T23:47:16.854775808", "2^63 ns"),
    ("timestamp-ns-below", "timestamp_ns", "1677-09-21T00:12:43.145224191", "-2^63 - 1 ns"),
    ("timestamp-ns-9999", "timestamp_ns", "9999-12-31T23:59:59.999999999", "beyond 64 bits of nanoseconds"),
    ("timestamp-ns-0001", "timestamp_ns", "0001-01-01T00:00:00.000000000", "beyond 64 bits of nanoseconds"),
    ("timestamp-ns-february-30", "timestamp_ns", "2017-02-30T22:31:08.123456789", "no such day"),
    ("timestamptz-ns-no-zone", "timestamptz_ns", "2017-11-16T22:31:08.123456789", "the offset is missing"),
    ("timestamptz-ns-zone-plus-1", "timestamptz_ns", "2017-11-16T23:31:08.123456789+01:00", "the offset is +00:00"),
    ("timestamptz-ns-10-digits", "timestamptz_ns", "2017-11-16T22:31:08.1234567890+00:00", "it has nanoseconds"),
    ("timestamptz-ns-2-63", "timestamptz_ns", "2262-04-11T23:47:16.854775808+00:00", "2^63 ns"),
    ("timestamptz-ns-below", "timestamptz_ns", "1677-09-21T00:12:43.145224191+00:00", "-2^63 - 1 ns"),
]
NUMBERS = [
    ("boolean-string", "boolean", "true", "a JSON boolean, not a string"),
    ("boolean-0", "boolean", 0, "a JSON boolean, not a number"),
    ("boolean-1", "boolean", 1, "a JSON boolean, not a number"),
    ("boolean-empty", "boolean", "", "a JSON boolean"),
    ("int-2-31", "int", 2147483648, "more than 32 bits"),
    ("int-minus-2-31-minus-1", "int", -2147483649, "more than 32 bits"),
    ("int-2-32", "int", 4294967296, "more than 32 bits, and not 0"),
    ("int-fraction", "int", 1.5, "not an integer"),
    ("int-string", "int", "34", "a JSON int, not a string"),
    ("int-true", "int", True, "a JSON int, not a boolean"),
    ("int-list", "int", [34], "a JSON int, not a list"),
    ("int-object", "int", {"1": 34}, "a JSON int, not an object"),
    ("long-2-63", "long", 9223372036854775808, "more than 64 bits"),
    ("long-minus-2-63-minus-1", "long", -9223372036854775809, "more than 64 bits"),
    ("long-2-64-minus-1", "long", 18446744073709551615, "more than 64 bits, and not -1"),
    ("long-fraction", "long", 0.5, "not an integer"),
    ("long-string", "long", "34", "a JSON number, not a string"),
    ("long-false", "long", False, "a JSON number, not a boolean"),
    ("float-string", "float", "1.0", "a JSON number, not a string"),
    ("float-nan", "float", "NaN", "JSON has no NaN, and a string is no number"),
    ("float-infinity", "float", "Infinity", "JSON has no infinity"),
    ("float-true", "float", True, "a JSON number, not a boolean"),
    ("float-too-large", "float", 1e39, "beyond the largest float"),
    ("double-string", "double", "1.0", "a JSON number, not a string"),
    ("double-nan", "double", "NaN", "JSON has no NaN, and a string is no number"),
    ("double-infinity", "double", "Infinity", "JSON has no infinity"),
    ("double-minus-infinity", "double", "-Infinity", "JSON has no infinity"),
    ("double-list", "double", [1.0], "a JSON number, not a list"),
]
DECIMAL_TEXTS = [
    ("number", 14.2, "a JSON string, not a number"),
    ("integer", 14, "a JSON string, not a number"),
    ("scale-1", "14.2", "one digit after the point of a scale of two"),
    ("scale-3", "14.200", "three digits after the point of a scale of two"),
    ("scale-0", "14", "no digit after the point of a scale of two"),
    ("point-only", "14.", "no digit after the point of a scale of two"),
    ("exponent", "1.420E+1", "an exponent is for a negative scale"),
    ("eight-integer-digits", "12345678.90", "ten digits in a precision of nine"),
    ("comma", "14,20", "a point, not a comma"),
    ("underscore", "1_4.20", "digits only"),
    ("space-inside", "1 4.20", "digits only"),
    ("space-around", " 14.20 ", "nothing around it"),
    ("empty", "", "no number"),
    ("nan", "NaN", "a decimal has no NaN"),
    ("infinity", "Infinity", "a decimal has no infinity"),
    ("hexadecimal", "0x0E.33", "decimal digits"),
    ("two-points", "14.2.0", "one point"),
    ("two-signs", "--14.20", "one sign"),
    ("words", "fourteen", "no number"),
    ("fullwidth-digits", "\uff11\uff14.\uff12\uff10", "digits are 0 to 9"),
    ("true", True, "a JSON string, not a boolean"),
]
UUID_TEXTS = [
    ("no-hyphens", "f79c3e09677c4bbda4793f349cb785e7", "a uuid has hyphens"),
    ("braces", "{f79c3e09-677c-4bbd-a479-3f349cb785e7}", "a uuid has no braces"),
    ("urn", "urn:uuid:f79c3e09-677c-4bbd-a479-3f349cb785e7", "a uuid has no prefix"),
    ("short", "f79c3e09-677c-4bbd-a479-3f349cb785e", "a digit is missing"),
    ("long", "f79c3e09-677c-4bbd-a479-3f349cb785e70", "a digit too many"),
    ("short-groups", "1-1-1-1-1", "each group has all its digits"),
    ("misplaced-hyphens", "f79c3e0-9677c-4bbd-a479-3f349cb785e7", "the groups have 8, 4, 4, 4 and 12 digits"),
    ("letter-g", "g79c3e09-677c-4bbd-a479-3f349cb785e7", "g is no hexadecimal digit"),
    ("space-around", " f79c3e09-677c-4bbd-a479-3f349cb785e7", "nothing around it"),
    ("empty", "", "no uuid"),
    ("number", 34, "a JSON string"),
]
HEX_TEXTS = [
    ("fixed-short", "fixed[4]", "000102", "three bytes in a fixed[4]"),
    ("fixed-long", "fixed[4]", "000102ff00", "five bytes in a fixed[4]"),
    ("fixed-empty", "fixed[4]", "", "no bytes in a fixed[4]"),
    ("fixed-odd", "fixed[4]", "000102f", "two digits a byte"),
    ("fixed-prefix", "fixed[4]", "0x000102ff", "no prefix"),
    ("fixed-base64", "fixed[4]", "AAEC/w==", "hexadecimal, not base64"),
    ("binary-odd", "binary", "1", "two digits a byte"),
    ("binary-odd-3", "binary", "001", "two digits a byte"),
    ("binary-letter-g", "binary", "0g", "g is no hexadecimal digit"),
    ("binary-prefix", "binary", "0x00", "no prefix"),
    ("binary-spaces", "binary", "00 01", "digits only"),
    ("binary-minus", "binary", "-1", "digits only"),
    ("binary-base64", "binary", "AAEC/w==", "hexadecimal, not base64"),
    ("binary-list", "binary", [0, 1, 2], "a JSON string"),
    ("binary-fullwidth-digits", "binary", "\uff10\uff10", "digits are 0 to 9 and a to f"),
]
KINDS = [
    ("string-number", "string", 34, "a JSON string"),
    ("string-true", "string", True, "a JSON string"),
    ("string-list", "string", ["iceberg"], "a JSON string"),
    ("date-number", "date", 17486, "a JSON string, not the days"),
    ("time-number", "time", 81068000000, "a JSON string, not the microseconds"),
    ("timestamp-number", "timestamp", 1510871468000000, "a JSON string, not the microseconds"),
    ("timestamptz-number", "timestamptz", 1510871468000000, "a JSON string, not the microseconds"),
    ("timestamp-ns-number", "timestamp_ns", 1510871468000000000, "a JSON string, not the nanoseconds"),
]

STRUCT = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"},
                                       {"id": 2, "name": "b", "required": False, "type": "string"}]}  # fmt: skip
LIST = {"type": "list", "element-id": 3, "element-required": True, "element": "int"}
OPTIONAL_LIST = {**LIST, "element-required": False}
MAP = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value-required": True, "value": "int"}
OPTIONAL_MAP = {**MAP, "value-required": False}
INT_MAP = {**MAP, "key": "int", "value": "string"}
LIST_OF_STRUCTS = {"type": "list", "element-id": 3, "element-required": True, "element": STRUCT}
MAP_OF_LISTS = {"type": "map", "key-id": 4, "key": "date", "value-id": 5, "value-required": False,
                "value": {**LIST, "element-id": 6, "element": "decimal(9, 2)"}}  # fmt: skip
DEEP = {"type": "struct", "fields": [{"id": 7, "name": "point", "required": True, "type": STRUCT}]}
STRUCT_OF_DATE = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "date"}]}

NESTED: list[tuple[str, dict[str, Any], Any, bool, str]] = [
    ("struct-spec", STRUCT, {"1": 1, "2": "bar"}, True, ""),
    ("struct-order", STRUCT, {"2": "foo", "1": -1}, False, "JSON objects have no order"),
    ("struct-deep", DEEP, {"7": {"1": 1, "2": "bar"}}, False, "field ids at every level"),
    ("struct-of-date", STRUCT_OF_DATE, {"1": "2017-11-16"}, False, "the values inside are JSON single values"),
    ("list-spec", LIST, [1, 2, 3], True, ""),
    ("list-empty", LIST, [], False, ""),
    ("list-null-element", OPTIONAL_LIST, [1, None, 3], False, "an optional element may be null"),
    ("list-of-structs", LIST_OF_STRUCTS, [{"1": 1, "2": "bar"}, {"1": 2, "2": ""}], False, ""),
    ("map-spec", MAP, {"keys": ["a", "b"], "values": [1, 2]}, True, ""),
    ("map-empty", MAP, {"keys": [], "values": []}, False, ""),
    ("map-int-keys", INT_MAP, {"keys": [1, 2], "values": ["a", "b"]}, False, "keys are no JSON member names"),
    ("map-null-value", OPTIONAL_MAP, {"keys": ["a"], "values": [None]}, False, "an optional value may be null"),
    ("map-of-lists", MAP_OF_LISTS, {"keys": ["2017-11-16", "1969-12-31"], "values": [["14.20"], []]}, False, ""),
]

BAD_NESTED: list[tuple[str, dict[str, Any], Any, str]] = [
    ("struct-list", STRUCT, [1, "bar"], "an object by field id, not a list"),
    ("struct-by-name", STRUCT, {"a": 1, "b": "bar"}, "fields go by id, not by name"),
    ("struct-bad-value", STRUCT, {"1": "one", "2": "bar"}, "a field's value is of its type"),
    ("struct-null-required", STRUCT, {"1": None, "2": "bar"}, "a required field is not null"),
    ("struct-string", STRUCT, "1", "an object by field id"),
    ("struct-too-large-int", STRUCT, {"1": 2147483648, "2": "bar"}, "more than 32 bits"),
    ("struct-deep-bad-value", DEEP, {"7": {"1": 1.5, "2": "bar"}}, "a value inside is of its type"),
    ("list-object", LIST, {"0": 1}, "an array"),
    ("list-string", LIST, "1, 2, 3", "an array"),
    ("list-bad-element", LIST, [1, "two", 3], "an element is of the element type"),
    ("list-null-required", LIST, [1, None, 3], "a required element is not null"),
    ("list-nested", LIST, [[1], [2]], "an element is of the element type"),
    ("map-object", MAP, {"a": 1, "b": 2}, "an array of keys and an array of values"),
    ("map-pairs", MAP, [["a", 1], ["b", 2]], "an array of keys and an array of values"),
    ("map-more-keys", MAP, {"keys": ["a", "b"], "values": [1]}, "a value for each key"),
    ("map-more-values", MAP, {"keys": ["a"], "values": [1, 2]}, "a key for each value"),
    ("map-no-values", MAP, {"keys": ["a", "b"]}, "the values are missing"),
    ("map-no-keys", MAP, {"values": [1, 2]}, "the keys are missing"),
    ("map-null-key", MAP, {"keys": [None], "values": [1]}, "a key is not null"),
    ("map-null-required-value", MAP, {"keys": ["a"], "values": [None]}, "a required value is not null"),
    ("map-bad-key", INT_MAP, {"keys": ["1"], "values": ["a"]}, "a key is of the key type"),
    ("map-bad-value", MAP, {"keys": ["a"], "values": ["1"]}, "a value is of the value type"),
    ("map-of-lists-bad-scale", MAP_OF_LISTS, {"keys": ["2017-11-16"], "values": [["14.2"]]}, "a scale of two"),
]

PRINTED = {
    "int-34", "long-34", "float-1", "double-1", "decimal-14-20", "date-2017-11-16", "time-22-31-08-123456",
    "timestamp-2017-11-16", "timestamptz-2017-11-16", "timestamp-ns-2017-11-16", "timestamptz-ns-2017-11-16",
    "string-iceberg", "uuid-spec", "fixed-4", "binary-000102ff",
}  # fmt: skip
"""The examples of the table."""


def _encode(row: Value) -> Vector:
    name, type_, value, note = row
    forms = json_forms(type_, value)
    several = len({json.dumps(form) for form in forms}) > 1
    if several:
        why = "any number that rounds to the float" if type_ == "float" else "the text leaves the form open"
        note = f"{note}; {why}" if note else why
    origin = TABLE if name in PRINTED else f"derivation: the bytes are those of the value ({describe(type_, value)})"
    return Vector(f"json-encode-{name}", (code(type_),), {"type": type_, "bytes": hexadecimal(type_, value)},
                  any_of(*(ok(form) for form in forms)), origin, note,
                  ("B34",) if several and type_ != "float" else ())  # fmt: skip


def _decode(name: str, type_: str, json_value: Any, value: Any, note: str, contradiction: tuple[str, ...]) -> Vector:
    return Vector(f"json-decode-{name}", (code(type_),), {"type": type_, "json": json_value},
                  ok(hexadecimal(type_, value)), f"derivation: {describe(type_, value)}", note,
                  contradiction)  # fmt: skip


def _open(row: tuple[str, str, Any, Any, str, tuple[str, ...]]) -> Vector:
    name, type_, json_value, value, note, contradiction = row
    return Vector(f"json-decode-open-{name}", (code(type_),), {"type": type_, "json": json_value},
                  any_of(INVALID, ok(hexadecimal(type_, value))), f"derivation: {describe(type_, value)}",
                  note, contradiction)  # fmt: skip


NEGATIVE_SCALE = [
    ("json-decode-negative-scale-2e20", "json-value.decode", {"type": "decimal(9, -20)", "json": "2E+20"}, ok("02"),
     "the printed example: unscaled 2, exponent 20 equals the negated scale"),
    ("json-decode-negative-scale-minus", "json-value.decode", {"type": "decimal(9, -3)", "json": "-129E+3"}, ok("FF7F"),
     "unscaled -129"),
    ("json-encode-negative-scale-2e20", "json-value.encode", {"type": "decimal(9, -20)", "bytes": "02"}, ok("2E+20"),
     "the printed example"),
]  # fmt: skip
NEGATIVE_SCALE_TEXTS = [
    ("other-exponent", "20E+19", "the exponent equals the negated scale"),
    ("plain-digits", "200000000000000000000", "scientific notation, whose exponent equals the negated scale"),
    ("fraction", "2.0E+20", "the exponent of the last digit is 19, not 20"),
]


def _refused(group: str, rows: list[tuple[str, str, Any, str]]) -> list[Vector]:
    return [
        Vector(f"json-refuse-{group}{name}", (code(type_),), {"type": type_, "json": value}, INVALID, TABLE, note)
        for name, type_, value, note in rows
    ]


def _geo() -> tuple[list[Vector], list[Vector]]:
    encode, decode = [], []
    for name, type_, text, shape in SHAPES:
        little, big = (shape(order).hex().upper() for order in "<>")
        origin = "derivation: well-known binary by tools/derive/wkb.py, ISO type codes, IEEE 754 coordinates"
        tight = text.replace(" (", "(")
        encode.append(
            Vector(
                f"json-encode-geo-{name}",
                ("SVJ008",),
                {"type": type_, "bytes": little},
                any_of(ok(text), ok(tight), ok(tight.replace(" Z", "Z").replace(" M", "M"))),
                origin,
                "the text shows a space before the parenthesis; WKT does not need it",
            )
        )
        decode.append(
            Vector(
                f"json-decode-geo-{name}",
                ("SVJ008",),
                {"type": type_, "json": text},
                any_of(ok(little), ok(big)),
                origin,
                "either byte order is well-known binary",
            )
        )
    return encode, decode  # fmt: skip


BAD_SHAPES = [
    ("empty", CRS84, "", "no geometry"),
    ("number", CRS84, 30, "a JSON string"),
    ("geojson", CRS84, {"type": "Point", "coordinates": [30, 10]}, "WKT, not GeoJSON"),
    ("wkb-hex", CRS84, "01010000000000000000003E400000000000002440", "WKT, not WKB"),
    ("unclosed", CRS84, "POINT (30 10", "the parenthesis is not closed"),
    ("one-coordinate", CRS84, "POINT (30)", "a point has X and Y"),
    ("comma", CRS84, "POINT (30, 10)", "coordinates are separated by a space"),
    ("no-such-type", CRS84, "DOT (30 10)", "no such geometry"),
    ("trailing", CRS84, "POINT (30 10) x", "text after the geometry"),
    ("words", SPHERE, "POINT (east north)", "coordinates are numbers"),
    ("srid-prefix", CRS84, "SRID=4326;POINT (30 10)", "the SRID prefix is an extension (EWKT)"),
]


def _bad_bytes() -> list[Vector]:
    """Bytes that stand for no value, or for one that JSON cannot write."""
    not_finite = [
        ("nan", "float", "0000C07F"), ("infinity", "float", "0000807F"), ("minus-infinity", "float", "000080FF"),
        ("nan", "double", "000000000000F87F"), ("infinity", "double", "000000000000F07F"),
        ("minus-infinity", "double", "000000000000F0FF"),
    ]  # fmt: skip
    why = "JSON has no such number, and null would mean no value"
    rows = [(f"{type_}-{name}", type_, data, why, TABLE) for name, type_, data in not_finite]
    binary = "spec: Appendix D, binary single-value serialization"
    rows += [(f"length-{name.replace('[4]', '')}", type_, data, note, binary) for name, type_, data, note in LENGTHS]
    rows += [(f"text-{name}", "string", data, note, "spec: Primitive Types, strings are UTF-8")
             for name, data, note in TEXTS]  # fmt: skip
    rows += [(f"range-{name}", type_, data, note, "spec: Primitive Types") for name, type_, data, _, note in RANGES]
    return [
        Vector(f"json-refuse-encode-{name}", (code(type_),), {"type": type_, "bytes": data}, INVALID, origin, note)
        for name, type_, data, note, origin in rows
    ]


def files() -> Iterator[VectorFile]:
    """The suite, a topic a file."""

    def file(topic: str, operation: str, vectors: list[Vector]) -> VectorFile:
        return VectorFile(f"single-values-json/{topic}.json", operation, SECTION, tuple(vectors))

    for topic, rows in TOPICS.items():
        yield file(f"encode-{topic}", "json-value.encode", [_encode(row) for row in rows])
        decode = [_decode(name, type_, json_forms(type_, value)[0], value, note, ())
                  for name, type_, value, note in rows]  # fmt: skip
        yield file(f"decode-{topic}", "json-value.decode", decode)
    yield file("decode-other-forms", "json-value.decode", [_decode(*row) for row in READ])
    yield file("decode-open", "json-value.decode", [_open(row) for row in OPEN])
    for operation in ("json-value.encode", "json-value.decode"):
        vectors = [Vector(id_, ("SVJ002",), args, expect, TABLE, note)
                   for id_, name, args, expect, note in NEGATIVE_SCALE if name == operation]  # fmt: skip
        yield file(f"{operation.split('.')[1]}-negative-scale", operation, vectors)
    encode_geo, decode_geo = _geo()
    yield file("encode-geo", "json-value.encode", encode_geo)
    yield file("decode-geo", "json-value.decode", decode_geo)
    yield file("encode-refusals", "json-value.encode", _bad_bytes())
    refused = _refused("", NUMBERS) + _refused(
        "decimal-", [(name, "decimal(9, 2)", *rest) for name, *rest in DECIMAL_TEXTS]
    )
    refused += _refused(
        "decimal-negative-scale-", [(name, "decimal(9, -20)", *rest) for name, *rest in NEGATIVE_SCALE_TEXTS]
    )
    refused += _refused("decimal-", [("too-precise", "decimal(2, 1)", "99.9", "three digits in a precision of two")])
    refused += _refused("decimal-", [("39-digits", "decimal(38, 0)", "1" + "0" * 38, "39 digits")])
    refused += _refused(
        "decimal-", [("scale-0-with-exponent", "decimal(3, 0)", "1E+2", "an exponent needs a negative scale")]
    )
    yield file("refusals-numbers", "json-value.decode", refused)
    refused = _refused("date-", [(name, "date", *rest) for name, *rest in DATE_TEXTS])
    refused += _refused("time-", [(name, "time", *rest) for name, *rest in TIME_TEXTS])
    refused += _refused("timestamp-", [(name, "timestamp", *rest) for name, *rest in TIMESTAMP_TEXTS])
    refused += [
        Vector(f"json-refuse-timestamptz-{name}", ("SVJ004",), {"type": "timestamptz", "json": text}, INVALID, TABLE,
               note, contradiction)
        for name, text, note, contradiction in TIMESTAMPTZ_TEXTS
    ]  # fmt: skip
    refused += _refused("", NANOSECOND_TEXTS)
    yield file("refusals-dates-and-times", "json-value.decode", refused)
    refused = _refused("uuid-", [(name, "uuid", *rest) for name, *rest in UUID_TEXTS])
    refused += _refused("", HEX_TEXTS) + _refused("", KINDS) + _refused("geo-", BAD_SHAPES)
    yield file("refusals-texts", "json-value.decode", refused)
    nested = [
        Vector(f"json-nested-{name}", ("SVJ007",), {"type": type_, "json": value}, ok(value),
               TABLE if printed else "derivation: nested JSON single values are written as they are read", note)
        for name, type_, value, printed, note in NESTED
    ]  # fmt: skip
    nested.append(
        Vector("json-nested-struct-null-field", ("SVJ007",), {"type": STRUCT, "json": {"1": 1, "2": None}},
               any_of(ok({"1": 1, "2": None}), ok({"1": 1})),
               "derivation: null is no value, so its member may be left out",
               "whether a null field is written the text does not say"),
    )  # fmt: skip
    yield file("nested", "json-value.round-trip", nested)
    bad = [Vector(f"json-refuse-nested-{name}", ("SVJ007",), {"type": type_, "json": value}, INVALID, TABLE, note)
           for name, type_, value, note in BAD_NESTED]  # fmt: skip
    yield file("nested-refusals", "json-value.round-trip", bad)
