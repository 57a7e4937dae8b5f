"""Deletion vectors: every kind of container, and defective vectors, each of which breaks one rule.

Positions are written as ranges of the first and the last position, so that a vector of many rows stays short.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from tools.derive.puffin import DV_MAGIC, array, bitmap, bitset, deletion_vector, runs, vector
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "`deletion-vector-v1` blob type"
LAYOUT = "derivation: tools/derive/puffin.py lays out the bytes by the Puffin spec and the RoaringFormatSpec"
V3 = (3,)
Ranges = list[tuple[int, int]]


def _answer(ranges: Ranges) -> dict[str, Any]:
    cardinality = sum(last - first + 1 for first, last in ranges)
    return ok({"cardinality": str(cardinality), "ranges": [[str(first), str(last)] for first, last in ranges]})


def _singles(positions: Iterable[int]) -> Ranges:
    return [(position, position) for position in positions]


def _one(*containers: tuple[int, Any], **changes: Any) -> bytes:
    """Return a blob with one bitmap, with key 0."""
    return deletion_vector(vector([(0, bitmap(containers, **changes))]))


def _sound() -> Iterator[tuple[str, str, bytes, Ranges, str]]:
    small = array([1, 3, 5, 7, 9])
    yield "array", "PUF018", _one((0, small)), _singles([1, 3, 5, 7, 9]), "five positions in one array"
    yield "first-position", "PUF020", _one((0, array([0]))), [(0, 0)], "the first row is at position 0"
    yield (
        "container-border",
        "PUF019",
        _one((0, array([65535])), (1, array([0]))),
        [(65535, 65536)],
        ("the last value of one container and the first of the next"),
    )
    yield "array-largest", "PUF019", _one((0, array(range(4096)))), [(0, 4095)], "4096 values are an array still"
    yield "bitset-smallest", "PUF019", _one((0, bitset(range(4097)))), [(0, 4096)], "4097 values are bits"
    yield "bitset-full", "PUF019", _one((0, bitset(range(65536)))), [(0, 65535)], "every value of a container"
    yield (
        "bitset-high-bits",
        "PUF019",
        _one((3, bitset(range(61000, 65536)))),
        [(3 * 65536 + 61000, 4 * 65536 - 1)],
        ("the lowest bit of a byte is its first value"),
    )
    yield "run", "PUF019", _one((0, runs([(10, 19)]))), [(10, 19)], "a run is stored as first value and steps"
    yield "run-full", "PUF019", _one((0, runs([(0, 65535)]))), [(0, 65535)], "one run of all 65536 values"
    yield (
        "runs",
        "PUF019",
        _one((2, runs([(0, 0), (2, 5), (65535, 65535)]))),
        [(131072, 131072), (131074, 131077), (196607, 196607)],
        "several runs, of one value and of more",
    )
    three = ((0, runs([(0, 9)])), (1, small), (7, bitset(range(5000))))
    ranges = [(0, 9), *_singles(65536 + value for value in (1, 3, 5, 7, 9)), (7 * 65536, 7 * 65536 + 4999)]
    yield "three-kinds", "PUF019", _one(*three), ranges, "three containers of which one has runs: no offsets"
    yield (
        "four-kinds",
        "PUF019",
        _one(*three, (8, runs([(1, 2)]))),
        [*ranges, (8 * 65536 + 1, 8 * 65536 + 2)],
        ("bitmaps of four or more containers have offsets, also with runs"),
    )
    nine = [(key, runs([(key, key + 1)]) if key in (0, 8) else array([key])) for key in range(9)]
    yield (
        "two-bytes-of-flags",
        "PUF019",
        _one(*nine),
        [(key * 65536 + key, key * 65536 + key + (key in (0, 8))) for key in range(9)],
        "nine containers have two bytes of flags, lowest bit first",
    )
    yield (
        "sign-border",
        "PUF019",
        _one((32767, array([65535])), (32768, array([0]))),
        [((1 << 31) - 1, 1 << 31)],
        "positions of 32 bits have no sign",
    )
    yield "last-container", "PUF019", _one((65535, array([65535]))), [((1 << 32) - 1,) * 2], "the last 32-bit position"
    two = vector([(0, bitmap([(65535, array([65535]))])), (1, bitmap([(0, array([0]))]))])
    yield (
        "key-border",
        "PUF019 DEL009",
        deletion_vector(two),
        [((1 << 32) - 1, 1 << 32)],
        "positions on both sides of 2**32",
    )
    high = vector([(1 << 12, bitmap([(0, array([4]))]))])
    yield "high-key", "PUF019 DEL009", deletion_vector(high), [((1 << 44) + 4,) * 2], "the key is the upper 4 bytes"
    gaps = vector([(0, bitmap([(0, array([2]))])), (1, bitmap([])), (2, bitmap([(0, array([3]))]))])
    yield (
        "empty-bitmap",
        "PUF019",
        deletion_vector(gaps),
        [(2, 2), ((2 << 32) + 3,) * 2],
        ("a bitmap without positions, which Iceberg-Java writes for keys between others"),
    )


def _open() -> Iterator[Vector]:
    def case(name: str, code: str, data: bytes, ranges: Ranges, note: str, contradiction: str) -> Vector:
        expect = any_of(_answer(ranges), INVALID)
        return Vector(
            f"dv-decode-{name}", (code,), {"bytes": data.hex().upper()}, expect, LAYOUT, note, (contradiction,), V3
        )

    empty = deletion_vector(vector([]))
    yield case("nothing", "PUF019", empty, [], "a vector without positions is neither allowed nor forbidden", "B17")
    last = deletion_vector(vector([((1 << 31) - 1, bitmap([(65535, array([65535]))]))]))
    yield case(
        "last-position",
        "PUF020",
        last,
        [((1 << 63) - 1,) * 2],
        "the largest position, which Iceberg-Java cannot hold",
        "B16",
    )


def _frames() -> Iterator[tuple[str, str, bytes, str]]:
    data = vector([(0, bitmap([(0, array([1, 3, 5, 7, 9]))]))])
    whole = deletion_vector(data)
    body = whole[4:-4]
    yield "nothing", "PUF018", b"", "no bytes"
    yield "too-short", "PUF018", bytes.fromhex("00000004D1D33964"), "a length and a magic alone"
    yield "length-more", "PUF018", deletion_vector(data, length=len(body) + 1), "the length is one more"
    yield "length-less", "PUF018", deletion_vector(data, length=len(body) - 1), "the length is one less"
    yield "length-negative", "PUF018", deletion_vector(data, length=0xFFFFFFFF), "the length has all bits set"
    yield (
        "length-of-blob",
        "PUF018",
        deletion_vector(data, length=len(whole)),
        "the length counts itself and the checksum",
    )
    yield "length-little-endian", "PUF018", struct.pack("<I", len(body)) + whole[4:], "the length is big-endian"
    yield (
        "magic",
        "PUF018",
        deletion_vector(data, magic=bytes.fromhex("D1D33965")),
        "another magic, with the right checksum",
    )
    yield "magic-reversed", "PUF018", deletion_vector(data, magic=DV_MAGIC[::-1]), "the magic in reverse order"
    crc = zlib.crc32(body)
    yield "checksum", "PUF018", deletion_vector(data, checksum=crc ^ 1), "one bit of the checksum is wrong"
    reverse = struct.unpack("<I", struct.pack(">I", crc))[0]
    yield "checksum-little-endian", "PUF018", deletion_vector(data, checksum=reverse), "the checksum is big-endian"
    yield (
        "checksum-of-vector",
        "PUF018",
        deletion_vector(data, checksum=zlib.crc32(data)),
        "the checksum includes the magic",
    )
    yield (
        "checksum-of-length",
        "PUF018",
        deletion_vector(data, checksum=zlib.crc32(whole[:-4])),
        "the checksum does not include the length",
    )
    yield (
        "bit-flipped",
        "PUF018",
        whole[:40] + bytes([whole[40] ^ 2]) + whole[41:],
        "a flipped bit changed one position",
    )
    yield "cut", "PUF018", whole[:-1], "the last byte is missing"
    yield "byte-after", "PUF018", whole + b"\0", "a byte follows the checksum"
    yield "bare-vector", "PUF018", data, "the bitmap without length, magic and checksum"


def _vectors() -> Iterator[tuple[str, str, bytes, str]]:
    one, other = bitmap([(0, array([1]))]), bitmap([(0, array([2]))])
    yield "no-count", "PUF019", b"", "the number of bitmaps is missing"
    yield "count-more", "PUF019", vector([(0, one)], count=2), "the count of bitmaps is 2, and one follows"
    yield "count-less", "PUF019", vector([(0, one), (1, other)], count=1), "a bitmap follows the last that is counted"
    yield "count-absurd", "PUF019", vector([(0, one)], count=1 << 62), "more bitmaps than any file can hold"
    yield "count-negative", "PUF019", vector([(0, one)], count=(1 << 64) - 1), "the number has all bits set"
    yield "count-big-endian", "PUF019", struct.pack(">Q", 1) + vector([(0, one)])[8:], "the number is little-endian"
    yield "byte-after", "PUF019", vector([(0, one)]) + b"\0", "a byte follows the last bitmap"
    yield "keys-descend", "PUF019", vector([(1, one), (0, other)]), "the keys do not ascend"
    yield "key-twice", "PUF019", vector([(1, one), (1, other)]), "a key is listed twice"
    yield "sign-bit", "PUF020", vector([(1 << 31, one)]), "the most significant bit of the position is set"
    yield (
        "signed-order",
        "PUF020",
        vector([((1 << 32) - 1, one), (0, other)]),
        "keys in signed order, the first of them -1",
    )
    bitmaps: list[tuple[str, bytes, str]] = [
        ("cookie", bitmap([(0, array([1]))], cookie=12345), "the cookie is not known"),
        ("cut", one[:-1], "the last byte of the container is missing"),
        ("containers-more", bitmap([(0, array([1]))], count=2), "the count of containers is 2, and one follows"),
        ("containers-absurd", bitmap([(0, array([1]))], count=(1 << 32) - 1), "over 65536 containers"),
        ("containers-descend", bitmap([(1, array([1])), (0, array([2]))]), "the keys of containers do not ascend"),
        ("container-twice", bitmap([(1, array([1])), (1, array([2]))]), "the key of a container is listed twice"),
        ("array-descends", bitmap([(0, array([5, 3]))]), "the values of an array do not ascend"),
        ("array-twice", bitmap([(0, array([3, 3]))]), "a value is listed twice, so the cardinality is wrong"),
        ("array-short", bitmap([(0, array([1, 2], cardinality=3))]), "the cardinality is 3, and two values follow"),
        ("array-long", bitmap([(0, array([1, 2], cardinality=1))]), "the cardinality is 1, and two values follow"),
        ("bitset-cardinality", bitmap([(0, bitset(range(5000), cardinality=5001))]), "5001 are counted, 5000 are set"),
        ("bitset-small", bitmap([(0, bitset([1, 2]))]), "bits where up to 4096 values are an array"),
        ("run-cardinality", bitmap([(0, runs([(0, 9)], cardinality=11))]), "11 are counted, the run has 10"),
        ("run-over-end", bitmap([(0, runs([(65530, 65540)]))]), "the run leaves its container"),
        ("runs-overlap", bitmap([(0, runs([(0, 9), (5, 12)]))]), "the runs overlap"),
        ("runs-descend", bitmap([(0, runs([(20, 29), (0, 9)]))]), "the runs do not ascend"),
        ("runs-more", bitmap([(0, runs([(0, 9)], count=2))]), "the count of runs is 2, and one follows"),
        ("runs-none", bitmap([(0, runs([], cardinality=1))]), "a container without runs"),
    ]
    for name, data, note in bitmaps:
        yield name, "PUF019", vector([(0, data)]), note


def _encodings() -> Iterator[tuple[str, str, list[tuple[int, bytes]], Ranges, str]]:
    """Yield rows of positions to write, each with one of the blobs that encode them."""
    yield "few", "PUF018", [(0, bitmap([(0, array([1, 3, 5, 7, 9]))]))], _singles([1, 3, 5, 7, 9]), "five positions"
    yield "first-position", "PUF020", [(0, bitmap([(0, array([0]))]))], [(0, 0)], "the position of the first row"
    both = bitmap([(0, array([65535])), (1, array([0]))])
    yield "container-border", "PUF019", [(0, both)], [(65535, 65536)], "two containers"
    two = [(0, bitmap([(65535, array([65535]))])), (1, bitmap([(0, array([0]))]))]
    yield "key-border", "PUF019", two, [((1 << 32) - 1, 1 << 32)], "two bitmaps"
    signs = bitmap([(32767, array([65535])), (32768, array([0]))])
    yield "sign-border", "PUF019", [(0, signs)], [((1 << 31) - 1, 1 << 31)], "positions of 32 bits have no sign"
    full = [(0, runs([(0, 65535)])), (1, runs([(0, 34463)]))]
    yield "run", "PUF019", [(0, bitmap(full))], [(0, 99_999)], "many positions in a row"
    spans = [(first, first + 89) for first in range(0, 6000, 100)]
    yield "gaps", "PUF019", [(0, bitmap([(0, runs(spans))]))], spans, "5400 positions of 6000"
    sparse = [(key, array([key * 7])) for key in range(10)]
    yield "sparse", "PUF019", [(0, bitmap(sparse))], _singles(key * 65543 for key in range(10)), "ten containers of one"
    apart = [(0, bitmap([(0, array([7]))])), (5, bitmap([(0, array([9]))]))]
    yield (
        "high-key",
        "PUF019",
        apart,
        [(7, 7), ((5 << 32) + 9,) * 2],
        "two keys, with keys between them that have no positions",
    )


def _writes() -> Iterator[Vector]:
    for name, code, bitmaps, ranges, note in _encodings():
        args = {"ranges": _answer(ranges)["ok"]["ranges"]}
        expect = ok(deletion_vector(vector(bitmaps)).hex().upper())
        yield Vector(f"dv-encode-{name}", (code,), args, expect, LAYOUT, note, only=V3)


def _refusals(prefix: str, rows: Iterator[tuple[str, str, bytes, str]]) -> tuple[Vector, ...]:
    return tuple(
        Vector(
            f"dv-decode-refuses-{prefix}{name}",
            (code, "DEL008"),
            {"bytes": data.hex().upper()},
            INVALID,
            LAYOUT,
            note,
            only=V3,
        )
        for name, code, data, note in rows
    )


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""

    def of(topic: str, vectors: Iterable[Vector], operation: str = "dv.decode") -> VectorFile:
        return VectorFile(f"deletion-vectors/{topic}.json", operation, SECTION, tuple(vectors))

    yield of(
        "decode",
        (
            Vector(
                f"dv-decode-{name}",
                tuple(code.split()),
                {"bytes": data.hex().upper()},
                _answer(ranges),
                LAYOUT,
                note,
                only=V3,
            )
            for name, code, data, ranges, note in _sound()
        ),
    )
    yield of("decode-open", _open())
    yield of("encode", _writes(), "dv.encode")
    yield of("refusals-frame", _refusals("", _frames()))
    framed = ((name, code, deletion_vector(data), note) for name, code, data, note in _vectors())
    yield of("refusals-vector", _refusals("vector-", framed))
