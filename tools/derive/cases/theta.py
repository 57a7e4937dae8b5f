"""Theta sketches: blobs of distinct values, the content of blobs, and defects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.encoding import single_value
from tools.derive.theta import WHOLE, sketch, theta_hash
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "`apache-datasketches-theta-v1` blob type"
CODES = ("PUF016",)
ORIGIN = "derivation: tools/derive/theta.py hashes the values and lays out the sketch by the DataSketches format"


def _hashes(type_: str, values: list[Any]) -> list[int]:
    return sorted({theta_hash(single_value(type_, value)) for value in values})


def _writes() -> Iterator[Vector]:
    rows: list[tuple[str, str, list[Any], str]] = [
        ("none", "int", [], "no values"),
        ("int", "int", [34], "one value"),
        ("ints", "int", [0, -1, 2147483647, -2147483648], "4 bytes each, and not longs as in partition hashes"),
        ("long", "long", ["34"], "the same number as a long is a different value: 8 bytes"),
        ("repeated", "int", [7, 7, 8, 7], "a value counts once"),
        ("boolean", "boolean", [True, False], "one byte each"),
        ("float", "float", [1.5, -0.0], "4 bytes"),
        ("double", "double", [1.5, -0.0, 0.0], "8 bytes, by which 0.0 and -0.0 differ"),
        ("string", "string", ["iceberg", "größe \U0001f9ca", "a" * 40], "UTF-8"),
        ("date", "date", ["1969-12-31", "2017-11-16"], "days as an int"),
        ("timestamp", "timestamp", ["1969-12-31T23:59:59.999999"], "microseconds as a long"),
        ("uuid", "uuid", ["f79c3e09-677c-4bbd-a479-3f349cb785e7"], "16 bytes: one block of the hash"),
        ("decimal", "decimal(9, 2)", ["14.20", "-0.01"], "the fewest bytes, big-endian"),
        ("binary", "binary", ["00", "00FF", "00" * 33], "bytes of every length of the hash's tail"),
        ("many", "long", [str(number) for number in range(100)], "a hundred values are kept exactly"),
    ]
    for group, from_ in (("awkward", awkward.ROWS), ("limits", awkward.LIMITS)):
        for type_ in dict.fromkeys(row[1] for row in from_ if row[1] != "boolean"):
            # DataSketches' sketch ignores a value of zero bytes; the text does not mention such values.
            values = [row[2] for row in from_ if row[1] == type_ and row[2] not in ("NaN", "")]
            slug = "-".join(re.findall("[a-z0-9]+", type_))
            rows.append((f"{group}-{slug}", type_, values, "each value of the type unchanged"))
    for name, type_, values, note in rows:
        data = sketch(_hashes(type_, values))
        args = {"type": type_, "values": values}
        yield Vector(f"theta-encode-{name}", CODES, args, ok(data.hex().upper()), ORIGIN, note)


def _form(hashes: list[int], theta: int = WHOLE) -> dict[str, Any]:
    return ok({"hashes": [str(one) for one in sorted(hashes)], "theta": str(theta)})


def _reads() -> Iterator[Vector]:
    def case(name: str, data: bytes, expect: dict[str, Any], note: str) -> Vector:
        return Vector(f"theta-decode-{name}", CODES, {"bytes": data.hex().upper()}, expect, ORIGIN, note)

    two = _hashes("int", [1, 2])
    yield case("empty", sketch([]), _form([]), "no values: 8 bytes")
    yield case("single", sketch(two[:1]), _form(two[:1]), "one hash after 8 bytes, marked as a single item")
    yield case("single-with-count", sketch(two[:1], words=2, flags=0x1A), _form(two[:1]), "one hash after 16 bytes")
    yield case("two", sketch(two), _form(two), "two hashes after 16 bytes")
    yield case(
        "unordered", sketch(two[::-1], flags=0x0A), _form(two), "the hashes need not be ordered where no flag says it"
    )
    yield case(
        "estimating",
        sketch(two, two[1] + 1),
        _form(two, two[1] + 1),
        "theta is stored in 24 bytes, and is above all hashes",
    )
    yield case("estimating-nothing", sketch([], 5), _form([], 5), "all hashes were above theta: not the same as empty")


def _refusals() -> Iterator[Vector]:
    two = _hashes("int", [1, 2])
    rows = [
        ("no-bytes", b"", "no bytes"),
        ("short", sketch([])[:7], "7 bytes"),
        ("version", sketch(two, version=2), "another serial version"),
        ("family", sketch(two, family=2), "a sketch that is not compact, of the family QuickSelect"),
        ("not-compact", sketch(two, flags=0x12), "not marked as compact"),
        ("big-endian", sketch(two, flags=0x1B), "marked as big-endian"),
        ("seed", sketch(two, seed=1), "the hash of another seed"),
        ("words-none", sketch(two, words=0), "no words of a header"),
        ("words-many", sketch(two, words=4), "four words of a header"),
        ("count-more", sketch(two, count=3), "3 hashes are declared, but 2 are present"),
        ("count-fewer", sketch(two, count=1), "1 hash is declared, but 2 are present"),
        ("count-absurd", sketch(two, count=(1 << 32) - 1), "2**32 - 1 hashes are declared"),
        ("cut", sketch(two)[:-1], "the last byte is missing"),
        ("byte-after", sketch(two) + b"\0", "a byte follows"),
        ("twice", sketch([two[0], two[0]]), "a hash is listed twice"),
        ("order", sketch(two[::-1]), "marked as ordered, and the hashes descend"),
        ("hash-zero", sketch([0, two[0]]), "the hash 0, which no sketch keeps"),
        ("hash-above-theta", sketch(two, two[1]), "a hash is not below theta"),
        ("theta-zero", sketch([], 0), "theta is 0"),
        ("empty-with-hashes", sketch(two, flags=0x1E), "marked as empty, with hashes"),
    ]
    for name, data, note in rows:
        args = {"bytes": data.hex().upper()}
        expect, why = (any_of(INVALID, _form(two)), ("E34",)) if name in READABLE else (INVALID, ())
        yield Vector(f"theta-decode-refuses-{name}", CODES, args, expect, ORIGIN, note, why)


READABLE = ("seed", "byte-after", "order")
"""Sketches whose hashes are readable although the sketch breaks a rule of the format."""


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield VectorFile("puffin/theta-encode.json", "theta.encode", SECTION, tuple(_writes()))
    yield VectorFile("puffin/theta-decode.json", "theta.decode", SECTION, (*_reads(), *_refusals()))
