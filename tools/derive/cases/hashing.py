"""32-bit hashes (Appendix B)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import hashing
from tools.derive.awkward import VERY_LONG, not_in
from tools.derive.cases.values import BAD_VALUES, MALFORMED
from tools.derive.vector import Vector, VectorFile, ok, refusals

SECTION = "Appendix B: 32-bit Hash Requirements"

# name, type, value, the hash printed in the text or None, note
Row = tuple[str, str, Any, int | None, str]

INTEGERS: list[Row] = [
    ("int-34", "int", 34, 2017239379, "an int hashes as the long of the same value"),
    ("long-34", "long", "34", 2017239379, ""),
    ("int-0", "int", 0, None, "eight zero bytes, not four"),
    ("long-0", "long", "0", None, ""),
    ("int-1", "int", 1, None, ""),
    ("int-minus-1", "int", -1, None, "sign-extended to eight bytes"),
    ("long-minus-1", "long", "-1", None, ""),
    ("int-127", "int", 127, None, ""),
    ("int-128", "int", 128, None, ""),
    ("int-255", "int", 255, None, ""),
    ("int-256", "int", 256, None, "little-endian: 00 01, not 01 00"),
    ("int-minus-128", "int", -128, None, ""),
    ("int-minus-129", "int", -129, None, ""),
    ("int-max", "int", 2147483647, None, ""),
    ("int-min", "int", -2147483648, None, ""),
    ("long-of-int-max", "long", "2147483647", None, "equals the int"),
    ("long-of-int-min", "long", "-2147483648", None, "equals the int"),
    ("long-int-max-plus-1", "long", "2147483648", None, ""),
    ("long-int-min-minus-1", "long", "-2147483649", None, ""),
    ("long-2-53-plus-1", "long", "9007199254740993", None, "not exact as a double"),
    ("long-max", "long", "9223372036854775807", None, ""),
    ("long-min", "long", "-9223372036854775808", None, ""),
    ("long-alternating", "long", "6148914691236517205", None, "55 in every byte"),
    ("int-1087118125", "int", 1087118125, None, ""),
]

DECIMALS: list[Row] = [
    ("decimal-14-20", "decimal(9, 2)", "14.20", -500754589, ""),
    ("decimal-14-20-precision-38", "decimal(38, 2)", "14.20", None, "padding of the storage is not hashed"),
    ("decimal-1420-scale-0", "decimal(4, 0)", "1420", None, "the scale is not hashed: equals 14.20"),
    ("decimal-0-1420", "decimal(9, 4)", "0.1420", None, "the scale is not hashed: equals 14.20"),
    ("decimal-minus-14-20", "decimal(9, 2)", "-14.20", None, ""),
    ("decimal-0", "decimal(9, 2)", "0.00", None, "one zero byte"),
    ("decimal-1", "decimal(9, 0)", "1", None, ""),
    ("decimal-minus-1", "decimal(9, 0)", "-1", None, "one byte FF"),
    ("decimal-127", "decimal(9, 0)", "127", None, ""),
    ("decimal-128", "decimal(9, 0)", "128", None, "two bytes 00 80: the sign needs a bit"),
    ("decimal-255", "decimal(9, 0)", "255", None, ""),
    ("decimal-256", "decimal(9, 0)", "256", None, ""),
    ("decimal-minus-127", "decimal(9, 0)", "-127", None, ""),
    ("decimal-minus-128", "decimal(9, 0)", "-128", None, "one byte 80, although abs(v) needs eight bits"),
    ("decimal-minus-129", "decimal(9, 0)", "-129", None, "two bytes FF 7F"),
    ("decimal-minus-1-28", "decimal(5, 2)", "-1.28", None, "unscaled -128"),
    ("decimal-32767", "decimal(9, 0)", "32767", None, ""),
    ("decimal-32768", "decimal(9, 0)", "32768", None, "three bytes"),
    ("decimal-minus-32768", "decimal(9, 0)", "-32768", None, "two bytes 80 00"),
    ("decimal-minus-32769", "decimal(9, 0)", "-32769", None, "three bytes"),
    ("decimal-8388607", "decimal(9, 0)", "8388607", None, ""),
    ("decimal-8388608", "decimal(9, 0)", "8388608", None, ""),
    ("decimal-minus-8388608", "decimal(9, 0)", "-8388608", None, "three bytes 80 00 00"),
    ("decimal-minus-8388609", "decimal(9, 0)", "-8388609", None, ""),
    ("decimal-minus-2-31", "decimal(10, 0)", "-2147483648", None, "four bytes"),
    ("decimal-2-31", "decimal(10, 0)", "2147483648", None, "five bytes"),
    ("decimal-minus-2-39", "decimal(12, 0)", "-549755813888", None, "five bytes"),
    ("decimal-minus-2-47", "decimal(15, 0)", "-140737488355328", None, "six bytes"),
    ("decimal-minus-2-55", "decimal(17, 0)", "-36028797018963968", None, "seven bytes"),
    ("decimal-2-63-minus-1", "decimal(19, 0)", "9223372036854775807", None, "eight bytes"),
    ("decimal-2-63", "decimal(19, 0)", "9223372036854775808", None, "nine bytes, beyond a long"),
    ("decimal-minus-2-63", "decimal(19, 0)", "-9223372036854775808", None, "eight bytes"),
    ("decimal-minus-2-63-minus-1", "decimal(19, 0)", "-9223372036854775809", None, "nine bytes"),
    ("decimal-2-64", "decimal(20, 0)", "18446744073709551616", None, ""),
    ("decimal-minus-2-95", "decimal(29, 0)", "-39614081257132168796771975168", None, "twelve bytes"),
    ("decimal-minus-2-119", "decimal(36, 0)", "-664613997892457936451903530140172288", None, "fifteen bytes"),
    ("decimal-38-nines", "decimal(38, 0)", "9" * 38, None, "sixteen bytes"),
    ("decimal-minus-38-nines", "decimal(38, 0)", "-" + "9" * 38, None, "sixteen bytes"),
    ("decimal-38-nines-scale-38", "decimal(38, 38)", "0." + "9" * 38, None, "equals the integer of 38 nines"),
    ("decimal-smallest-scale-38", "decimal(38, 38)", "0." + "0" * 37 + "1", None, "unscaled 1"),
]

INSTANTS: list[Row] = [
    ("date-2017-11-16", "date", "2017-11-16", -653330422, "days as an eight-byte long: four bytes give 1087118125"),
    ("date-epoch", "date", "1970-01-01", None, ""),
    ("date-1969-12-31", "date", "1969-12-31", None, "day -1, sign-extended"),
    ("date-1968-02-29", "date", "1968-02-29", None, ""),
    ("date-1600-02-29", "date", "1600-02-29", None, ""),
    ("date-0001-01-01", "date", "0001-01-01", None, ""),
    ("date-9999-12-31", "date", "9999-12-31", None, ""),
    ("date-10000-01-01", "date", "+10000-01-01", None, "the year after 9999"),
    ("date-max", "date", "+5881580-07-11", None, "the largest int"),
    ("date-min", "date", "-5877641-06-23", None, "the smallest int"),
    ("timestamp-max", "timestamp", "+294247-01-10T04:00:54.775807", None, "the largest long"),
    ("timestamp-min", "timestamp", "-290308-12-21T19:59:05.224192", None, "the smallest long"),
    ("time-22-31-08", "time", "22:31:08.000000", -662762989, ""),
    ("time-midnight", "time", "00:00:00.000000", None, ""),
    ("time-1us", "time", "00:00:00.000001", None, ""),
    ("time-noon", "time", "12:00:00.000000", None, ""),
    ("time-last", "time", "23:59:59.999999", None, ""),
    ("timestamp-2017-11-16", "timestamp", "2017-11-16T22:31:08.000000", -2047944441, ""),
    ("timestamp-2017-11-16-1us", "timestamp", "2017-11-16T22:31:08.000001", -1207196810, ""),
    (
        "timestamptz-2017-11-16",
        "timestamptz",
        "2017-11-16T22:31:08.000000+00:00",
        -2047944441,
        "printed as 2017-11-16T14:31:08-08:00, the same instant",
    ),
    (
        "timestamptz-2017-11-16-1us",
        "timestamptz",
        "2017-11-16T22:31:08.000001+00:00",
        -1207196810,
        "printed as 2017-11-16T14:31:08.000001-08:00, the same instant",
    ),
    ("timestamp-epoch", "timestamp", "1970-01-01T00:00:00.000000", None, ""),
    ("timestamp-minus-1us", "timestamp", "1969-12-31T23:59:59.999999", None, ""),
    ("timestamp-minus-1s", "timestamp", "1969-12-31T23:59:59.000000", None, ""),
    ("timestamp-0001", "timestamp", "0001-01-01T00:00:00.000000", None, ""),
    ("timestamp-1600-leap-day", "timestamp", "1600-02-29T23:59:59.999999", None, ""),
    ("timestamp-9999-last", "timestamp", "9999-12-31T23:59:59.999999", None, ""),
    ("timestamp-2038", "timestamp", "2038-01-19T03:14:08.000000", None, "beyond 32 bits of seconds"),
    ("timestamptz-minus-1us", "timestamptz", "1969-12-31T23:59:59.999999+00:00", None, ""),
    ("timestamptz-9999-last", "timestamptz", "9999-12-31T23:59:59.999999+00:00", None, ""),
]

NANOSECONDS: list[Row] = [
    (
        "timestamp-ns-2017-11-16",
        "timestamp_ns",
        "2017-11-16T22:31:08.000000000",
        -2047944441,
        "hashed as microseconds; the nanoseconds themselves give -737750069",
    ),
    (
        "timestamp-ns-2017-11-16-1001ns",
        "timestamp_ns",
        "2017-11-16T22:31:08.000001001",
        -1207196810,
        "hashed as microseconds; the nanoseconds themselves give 1434433853",
    ),
    (
        "timestamptz-ns-2017-11-16",
        "timestamptz_ns",
        "2017-11-16T22:31:08.000000000+00:00",
        -2047944441,
        "printed as 2017-11-16T14:31:08-08:00, the same instant",
    ),
    (
        "timestamptz-ns-2017-11-16-1001ns",
        "timestamptz_ns",
        "2017-11-16T22:31:08.000001001+00:00",
        -1207196810,
        "printed as 2017-11-16T14:31:08.000001001-08:00, the same instant",
    ),
    ("timestamp-ns-epoch", "timestamp_ns", "1970-01-01T00:00:00.000000000", None, ""),
    ("timestamp-ns-999ns", "timestamp_ns", "1970-01-01T00:00:00.000000999", None, "0 us"),
    ("timestamp-ns-1000ns", "timestamp_ns", "1970-01-01T00:00:00.000001000", None, "1 us"),
    (
        "timestamp-ns-minus-1ns",
        "timestamp_ns",
        "1969-12-31T23:59:59.999999999",
        None,
        "floored to -1 us; rounded toward zero it would be 1669671676",
    ),
    ("timestamp-ns-minus-1000ns", "timestamp_ns", "1969-12-31T23:59:59.999999000", None, "exactly -1 us"),
    ("timestamp-ns-minus-1001ns", "timestamp_ns", "1969-12-31T23:59:59.999998999", None, "floored to -2 us"),
    (
        "timestamp-ns-minus-1501ns",
        "timestamp_ns",
        "1969-12-31T23:59:59.999998499",
        None,
        "floored to -2 us; raw nanoseconds give -398303651, toward zero 1651860712",
    ),
    ("timestamp-ns-max", "timestamp_ns", "2262-04-11T23:47:16.854775807", None, "the largest long"),
    ("timestamp-ns-min", "timestamp_ns", "1677-09-21T00:12:43.145224192", None, "the smallest long, floored"),
    ("timestamptz-ns-minus-1ns", "timestamptz_ns", "1969-12-31T23:59:59.999999999+00:00", None, "floored to -1 us"),
    ("timestamptz-ns-minus-1501ns", "timestamptz_ns", "1969-12-31T23:59:59.999998499+00:00", None, "-2 us"),
]

STRINGS: list[Row] = [
    ("string-iceberg", "string", "iceberg", 1210000089, ""),
    ("string-34", "string", "34", -427558391, "the example of Schema Evolution: not the hash of the int 34"),
    ("string-empty", "string", "", None, "nothing to hash, and not null"),
    ("string-a", "string", "a", None, "a tail of one byte"),
    ("string-ab", "string", "ab", None, "a tail of two bytes"),
    ("string-abc", "string", "abc", None, "a tail of three bytes"),
    ("string-abcd", "string", "abcd", None, "one block, no tail"),
    ("string-abcde", "string", "abcde", None, ""),
    ("string-nul", "string", "\x00", None, "a NUL is a character"),
    ("string-four-nuls", "string", "\x00\x00\x00\x00", None, ""),
    ("string-nul-inside", "string", "a\x00b", None, ""),
    ("string-space", "string", " ", None, ""),
    ("string-e-acute-composed", "string", "\u00e9", None, "two bytes C3 A9; no normalisation"),
    ("string-e-acute-combining", "string", "e\u0301", None, "three bytes; not equal to the composed letter"),
    ("string-hiragana", "string", "\u30a4\u30ed\u30cf\u30cb", None, "three bytes per character"),
    (
        "string-astral-money-bag",
        "string",
        "\U0001f4b0",
        None,
        "four bytes F0 9F 92 B0, not two surrogates of three bytes",
    ),
    ("string-astral-joy", "string", "\U0001f602", None, ""),
    ("string-astral-twice", "string", "\U0001f4b0\U0001f602", None, ""),
    ("string-ascii-then-astral", "string", "a\U0001f4b0", None, "five bytes: the character crosses a block"),
    ("string-d7ff", "string", "\ud7ff", None, "the last character before the surrogates"),
    ("string-e000", "string", "\ue000", None, "the first character after the surrogates"),
    ("string-ffff", "string", "\uffff", None, ""),
    ("string-10000", "string", "\U00010000", None, ""),
    ("string-10ffff", "string", "\U0010ffff", None, "the last code point"),
    ("string-bom", "string", "\ufefficeberg", None, "a byte order mark is kept"),
    ("string-bytes-over-7f", "string", "\u00ff\u00ff\u00ff", None, "bytes are unsigned in the tail"),
    ("string-64", "string", "0123456789abcdef" * 4, None, ""),
    ("string-1023", "string", ("x" * 1022) + "y", None, "long, with a tail of three bytes"),
]

BYTES: list[Row] = [
    ("uuid-spec", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340, "big-endian"),
    ("uuid-nil", "uuid", "00000000-0000-0000-0000-000000000000", None, ""),
    ("uuid-max", "uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", None, ""),
    ("uuid-high-bit", "uuid", "80000000-0000-0000-0000-000000000000", None, "the top bit is not a sign"),
    ("uuid-high-bit-low-half", "uuid", "00000000-0000-0000-8000-000000000000", None, ""),
    ("uuid-ascending", "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f", None, "each byte at its own place"),
    ("fixed-00010203", "fixed[4]", "00010203", -188683207, "the first version of the text printed it without the sign"),
    ("binary-00010203", "binary", "00010203", -188683207, "the first version of the text printed it without the sign"),
    ("fixed-1", "fixed[1]", "FF", None, ""),
    ("fixed-3-zeros", "fixed[3]", "000000", None, "the length is hashed: not equal to fixed[4] of zeros"),
    ("fixed-4-zeros", "fixed[4]", "00000000", None, ""),
    ("fixed-16", "fixed[16]", "F79C3E09677C4BBDA4793F349CB785E7", None, "equals the uuid of the same bytes"),
    ("binary-empty", "binary", "", None, "nothing to hash, and not null"),
    ("binary-00", "binary", "00", None, ""),
    ("binary-80", "binary", "80", None, "a byte is unsigned in the tail"),
    ("binary-0080", "binary", "0080", None, ""),
    ("binary-ffffff", "binary", "FFFFFF", None, "a tail of three high bytes"),
    ("binary-ffffffff", "binary", "FFFFFFFF", None, ""),
    ("binary-invalid-utf8", "binary", "C3288080", None, "bytes are not text"),
    ("binary-17", "binary", "000102030405060708090A0B0C0D0E0F10", None, ""),
    ("binary-256", "binary", bytes(range(256)).hex().upper(), None, "every byte value"),
]

RESERVED: list[Row] = [
    ("boolean-true", "boolean", True, 1392991556, "hashInt(1) through eight bytes: four give -68075478"),
    ("boolean-false", "boolean", False, None, "hashInt(0) through eight bytes"),
    ("float-1", "float", 1.0, -142385009, "hashed as a double"),
    ("double-1", "double", 1.0, -142385009, ""),
    ("float-0", "float", 0.0, 1669671676, ""),
    ("float-minus-0", "float", -0.0, 1669671676, "the first rule, raw bits, gave 1366273829"),
    ("double-0", "double", 0.0, 1669671676, ""),
    ("double-minus-0", "double", -0.0, 1669671676, "the first rule, raw bits, gave 1366273829"),
    ("float-nan", "float", "NaN", None, "every NaN hashes as 0x7FF8000000000000"),
    ("double-nan", "double", "NaN", None, "every NaN hashes as 0x7FF8000000000000"),
    ("float-infinity", "float", "Infinity", None, ""),
    ("float-minus-infinity", "float", "-Infinity", None, ""),
    ("double-infinity", "double", "Infinity", None, ""),
    ("double-minus-infinity", "double", "-Infinity", None, ""),
    ("float-minus-1-5", "float", -1.5, None, ""),
    ("double-minus-1-5", "double", -1.5, None, "equals the float"),
    ("float-max", "float", 3.4028234663852886e38, None, "the largest float, exactly this double"),
    ("float-min-subnormal", "float", 1.401298464324817e-45, None, "2^-149, exactly this double"),
    ("double-max", "double", 1.7976931348623157e308, None, ""),
    ("double-min-subnormal", "double", 5e-324, None, ""),
    ("double-0-1", "double", 0.1, None, "not equal to the float nearest to 0.1"),
    ("float-0-1", "float", 0.10000000149011612, None, "the float nearest to 0.1, as a double"),
]

NO_HASH: list[tuple[str, dict[str, Any], str]] = [
    (
        "variant",
        {"type": "variant", "value": {"metadata": "010000", "value": "0C22"}},
        "equal variant values have several representations",
    ),
    ("geometry", {"type": "geometry(OGC:CRS84)", "value": "POINT (30 10)"}, "geometry is in neither table"),
    (
        "geography",
        {"type": "geography(OGC:CRS84, spherical)", "value": "POINT (30 10)"},
        "geography is in neither table",
    ),
]

NESTED_HASH: list[tuple[str, dict[str, Any], str]] = [
    (
        "struct",
        {
            "type": {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]},
            "value": {"1": 34},
        },
        "a struct has no hash",
    ),
    (
        "list",
        {"type": {"type": "list", "element-id": 3, "element-required": True, "element": "int"}, "value": [34]},
        "a list has no hash",
    ),
    (
        "map",
        {
            "type": {"type": "map", "key-id": 4, "key": "int", "value-id": 5, "value-required": True, "value": "int"},
            "value": {"keys": [34], "values": [34]},
        },
        "a map has no hash",
    ),
]

# name, type, value that the type does not have, the rule of the type, why


def _vectors(rows: list[Row]) -> tuple[Vector, ...]:
    vectors = []
    for name, type_, value, printed, note in rows:
        expected = hashing.hash_value(type_, value)
        if printed not in (None, expected):
            raise AssertionError(f"{name}: the text prints {printed}, derived is {expected}")
        section = "Schema Evolution" if name == "string-34" else "Appendix B"
        origin = f"derivation: {hashing.describe(type_, value)}" if printed is None else f"spec: {section}"
        contradiction = {
            "date-2017-11-16": ("A2",),
            "boolean-true": ("A2",),
            "fixed-00010203": ("A1",),
            "binary-00010203": ("A1",),
            "float-minus-0": ("A4",),
            "double-minus-0": ("A4",),
            "string-34": ("B19",),
        }.get(name, ())
        vectors.append(
            Vector(
                f"hash-{name}",
                _codes(type_),
                {"type": type_, "value": value},
                ok(expected),
                origin,
                note,
                contradiction,
            )
        )
    return tuple(vectors)


def _codes(type_: str) -> tuple[str, ...]:
    by_type = {
        "int": ("HSH001", "HSH002"),
        "long": ("HSH001", "HSH002"),
        "date": ("HSH001", "HSH004"),
        "time": ("HSH005",),
        "timestamp": ("HSH005",),
        "timestamptz": ("HSH005", "TYP018"),
        "timestamp_ns": ("HSH006",),
        "timestamptz_ns": ("HSH006",),
        "string": ("HSH001", "HSH007"),
        "uuid": ("HSH007",),
        "binary": ("HSH001", "HSH007"),
        "boolean": ("HSH008",),
        "float": ("HSH008",),
        "double": ("HSH008",),
    }
    return by_type.get(type_) or (("HSH003",) if type_.startswith("decimal") else ("HSH001", "HSH007"))


def files() -> Iterator[VectorFile]:
    """Yield the suite, one file per topic."""
    topics = {
        "integers": INTEGERS,
        "decimals": DECIMALS,
        "dates-and-times": INSTANTS,
        "nanoseconds": NANOSECONDS,
        "strings": STRINGS,
        "bytes": BYTES,
    }
    for topic, rows in topics.items():
        yield VectorFile(f"hashing/{topic}.json", "hash", SECTION, _vectors(rows))
    asked = [(row[1], row[2]) for rows in (*topics.values(), RESERVED) for row in rows]
    awkward: list[Row] = [(name, type_, value, None, note) for name, type_, value, note in not_in(asked)]
    awkward.append(("awkward-binary-very-long", "binary", VERY_LONG, None, "33,024 bytes"))
    yield VectorFile("hashing/awkward.json", "hash", SECTION, _vectors(awkward))
    unknown = Vector(
        "hash-unknown", ("HSH009",), {"type": "unknown", "value": None}, ok(None), "spec: Appendix B", "always null"
    )
    yield VectorFile("hashing/reserved.json", "hash", SECTION, (*_vectors(RESERVED), unknown))
    table = "spec: Appendix B, the types with a hash"
    refused = [
        *refusals("hash-no-hash", ("HSH009",), NO_HASH, table),
        *refusals("hash-no-hash", ("HSH001", "TRN003"), NESTED_HASH, table),
        *(
            Vector(
                f"hash-bad-{name}",
                (_codes(type_)[0], code),
                {"type": type_, "value": value},
                {"error": "invalid"},
                "spec: Primitive Types",
                note,
                tags=MALFORMED,
            )
            for name, type_, value, code, note in BAD_VALUES
        ),
    ]
    yield VectorFile("hashing/refusals.json", "hash", SECTION, tuple(refused))
