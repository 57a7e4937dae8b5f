"""JSON forms of single values that a reader accepts, besides those that a writer writes."""

from __future__ import annotations

from typing import Any

# name, type, JSON, the same value in the exchange form, note, contradictions: forms that a reader accepts
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
    (
        "timestamp-pre-epoch-3-digits",
        "timestamp",
        "1969-12-31T23:59:59.999",
        "1969-12-31T23:59:59.999000",
        "",
        ("B34",),
    ),
    (
        "timestamptz-no-fraction",
        "timestamptz",
        "2017-11-16T22:31:08+00:00",
        "2017-11-16T22:31:08.000000+00:00",
        "",
        ("B34",),
    ),
    (
        "timestamptz-2-digits",
        "timestamptz",
        "2017-11-16T22:31:08.12+00:00",
        "2017-11-16T22:31:08.120000+00:00",
        "",
        ("B34",),
    ),
    *(
        (
            f"timestamp-ns-{digits}-digits",
            "timestamp_ns",
            "2017-11-16T22:31:08." + "123456789"[:digits],
            "2017-11-16T22:31:08." + "123456789"[:digits].ljust(9, "0"),
            "the fraction is decimal: padded on the right",
            ("B34",),
        )
        for digits in range(1, 9)
    ),
    ("timestamp-ns-no-fraction", "timestamp_ns", "2017-11-16T22:31:08", "2017-11-16T22:31:08.000000000", "", ("B34",)),
    (
        "timestamp-ns-leading-zeros",
        "timestamp_ns",
        "2017-11-16T22:31:08.0000001",
        "2017-11-16T22:31:08.000000100",
        "seven digits are 100 ns",
        ("B34",),
    ),
    (
        "timestamp-ns-pre-epoch-7-digits",
        "timestamp_ns",
        "1969-12-31T23:59:59.1234567",
        "1969-12-31T23:59:59.123456700",
        "seven digits, before 1970",
        ("B34",),
    ),
    (
        "timestamptz-ns-7-digits",
        "timestamptz_ns",
        "2017-11-16T22:31:08.1234567+00:00",
        "2017-11-16T22:31:08.123456700+00:00",
        "",
        ("B34",),
    ),
    (
        "fixed-upper-case",
        "fixed[4]",
        "000102FF",
        "000102FF",
        "the examples are lower-case, either is hexadecimal",
        ("B34",),
    ),
    ("binary-upper-case", "binary", "0ABCDEF0", "0ABCDEF0", "", ("B34",)),
    ("binary-mixed-case", "binary", "0aBcDeF0", "0ABCDEF0", "", ("B34",)),
]

# Forms that the text neither requires a reader to accept nor forbids.
