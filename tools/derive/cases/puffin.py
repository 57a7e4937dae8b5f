"""Puffin files: the content of valid ones, and defective ones, each of which breaks one rule."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from tools.derive import awkward
from tools.derive.puffin import (
    MAGIC,
    array,
    bitmap,
    blob_metadata,
    deletion_vector,
    file,
    lz4_frame,
    lz4_repeat,
    vector,
    zstd_frame,
)
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

LAYOUT = "derivation: tools/derive/puffin.py lays out the bytes by the Puffin spec"
A, B = b"first blob", b"second"
DV = deletion_vector(vector([(0, bitmap([(0, array([1, 3, 5, 7, 9]))]))]))
DV_PROPERTIES = {"referenced-data-file": "s3://bucket/table/data/a.parquet", "cardinality": "5"}


def _args(data: bytes) -> dict[str, Any]:
    return {"bytes": data.hex().upper()}


def _only(code: str) -> tuple[int, ...]:
    """Return the versions of a vector; deletion vectors are only in v3, which follows from their requirements."""
    return (3,) if code in ("PUF021", "PUF022", "PUF023", "PUF024") else ()


def _blob(metadata: dict[str, Any], payload: bytes) -> dict[str, Any]:
    """Return the form of a blob in answers: 64-bit numbers as strings, defaults filled in, content decompressed."""
    longs = {name: str(metadata[name]) for name in ("snapshot-id", "sequence-number", "offset", "length")}
    return {
        "type": metadata["type"],
        "fields": metadata["fields"],
        **longs,
        "compression-codec": metadata.get("compression-codec"),
        "properties": metadata.get("properties", {}),
        "payload": payload.hex().upper(),
    }


def _answer(blobs: list[tuple[dict[str, Any], bytes]], properties: dict[str, str] | None = None) -> dict[str, Any]:
    return ok({"blobs": [_blob(*blob) for blob in blobs], "properties": properties or {}})


def _one(stored: bytes = A, **changes: Any) -> dict[str, Any]:
    return blob_metadata("some-blob", 4, len(stored), **changes)


def _blob_file(stored: bytes, metadata: dict[str, Any]) -> bytes:
    return file(stored, {"blobs": [metadata]})


ONE = {"blobs": [_one()]}
ONE_JSON = json.dumps(ONE, separators=(",", ":")).encode()


def _sound() -> Iterator[Vector]:
    def case(name: str, code: str, data: bytes, expect: dict[str, Any], note: str, origin: str = LAYOUT) -> Vector:
        return Vector(f"puffin-read-{name}", (code,), _args(data), expect, origin, note, only=_only(code))

    yield case("no-blobs", "PUF001", file(b"", {"blobs": []}), _answer([]), "32 bytes, the smallest file")
    yield case("one-blob", "PUF001", _blob_file(A, _one()), _answer([(_one(), A)]), "one blob, not compressed")
    second = blob_metadata("other-blob", 4 + len(A), len(B), fields=[2])
    two = [(_one(), A), (second, B)]
    yield case(
        "two-blobs",
        "PUF012",
        file(A + B, {"blobs": [_one(), second]}),
        _answer(two),
        "offsets count from the start of the file",
    )
    yield case(
        "footer-order",
        "PUF012",
        file(A + B, {"blobs": [second, _one()]}),
        _answer(two[::-1]),
        "the footer may name blobs in another order than the file has them",
    )
    empty = blob_metadata("some-blob", 4, 0)
    yield case("empty-blob", "PUF013", _blob_file(b"", empty), _answer([(empty, b"")]), "a blob of no bytes")
    for codec, frame in (("lz4", lz4_frame), ("zstd", zstd_frame)):
        for name, content in (("", A), ("-empty", b""), ("-long", A * 100)):
            stored = frame(content)
            metadata = _one(stored, compression_codec=codec)
            note = "a single frame that states the content size" + (" of 0" if not content else "")
            yield case(f"{codec}{name}", "PUF027", _blob_file(stored, metadata), _answer([(metadata, content)]), note)
    yield case(
        "compressed-footer",
        "PUF006",
        file(A, lz4_frame(ONE_JSON), flags=1),
        _answer([(_one(), A)]),
        "the payload is an LZ4 frame and the lowest flag is set",
    )
    properties = {"created-by": "Trino version 381", "größe": "\U0001f9ca", "": ""}
    described = _one(properties={"ndv": "17", "a": " b "})
    yield case(
        "properties",
        "PUF015",
        file(A, {"blobs": [described], "properties": properties}),
        _answer([(described, A)], properties),
        "properties of the file and of the blob",
    )
    raw = json.dumps({"blobs": [], "properties": properties}, ensure_ascii=False).encode()
    yield case(
        "utf-8", "PUF006", file(b"", raw), _answer([], properties), "characters beyond ASCII are stored as UTF-8"
    )
    ordered = _one(fields=[3, 1, 2])
    yield case("fields-in-order", "PUF009", _blob_file(A, ordered), _answer([(ordered, A)]), "the order is kept")
    none = _one(fields=[])
    yield case("no-fields", "PUF009", _blob_file(A, none), _answer([(none, A)]), "a blob of no field in particular")
    large = _one(snapshot_id=(1 << 63) - 1, sequence_number=(1 << 53) + 1)
    yield case("longs", "PUF010", _blob_file(A, large), _answer([(large, A)]), "a JSON number of 64 bits stays exact")
    negative = _one(snapshot_id=-(1 << 63), sequence_number=-1)
    yield case("negative-longs", "PUF011", _blob_file(A, negative), _answer([(negative, A)]), "longs are signed")
    spaced = json.dumps(ONE, indent=2).encode() + b"\n"
    yield case(
        "white-space", "PUF006", file(A, spaced), _answer([(_one(), A)]), "any JSON text of the object is accepted"
    )
    escaped = ONE_JSON.replace(b"some-blob", b"\\u0073ome\\u002dblob")
    yield case("escapes", "PUF006", file(A, escaped), _answer([(_one(), A)]), "escapes of JSON in a string")
    turned = json.dumps({"blobs": [dict(reversed(_one().items()))]}).encode()
    yield case("member-order", "PUF006", file(A, turned), _answer([(_one(), A)]), "members may be in any order")
    dv = blob_metadata(
        "deletion-vector-v1",
        4,
        len(DV),
        fields=[2147483645],
        snapshot_id=-1,
        sequence_number=-1,
        properties=DV_PROPERTIES,
    )
    yield case(
        "deletion-vector",
        "PUF024",
        _blob_file(DV, dv),
        _answer([(dv, DV)]),
        "the payload is the blob with its length, magic and checksum",
    )
    behind = {**dv, "offset": 4 + len(A)}
    yield case(
        "deletion-vector-second",
        "PUF012",
        file(A + DV, {"blobs": [_one(), behind]}),
        _answer([(_one(), A), (behind, DV)]),
        "the blob after another one",
    )


def _awkward() -> Iterator[Vector]:
    names = {name: name for name in awkward.NAMES}
    metadata = _one(properties=names)
    yield Vector(
        "puffin-read-awkward-properties",
        ("PUF015",),
        _args(file(A, {"blobs": [metadata], "properties": names})),
        _answer([(metadata, A)], names),
        LAYOUT,
        "names and values are kept as they are",
    )
    metadata = _one(properties=awkward.TEXTS)
    yield Vector(
        "puffin-read-awkward-texts",
        ("PUF015",),
        _args(file(A, {"blobs": [metadata], "properties": awkward.TEXTS})),
        _answer([(metadata, A)], awkward.TEXTS),
        LAYOUT,
        "values that are easily changed are kept as they are",
    )


def _permitted_files() -> Iterator[Vector]:
    reserved = _answer([(_one(), A)])
    for name, flags in (("second-bit", 2), ("second-byte", 1 << 8), ("highest-bit", 1 << 31)):
        yield Vector(
            f"puffin-read-reserved-flag-{name}",
            ("PUF005",),
            _args(file(A, ONE, flags=flags)),
            any_of(INVALID, reserved),
            LAYOUT,
            "reserved bits should be 0; a reader may refuse or ignore them",
            ("C19",),
        )


def _structure() -> Iterator[tuple[str, str, bytes, str]]:
    whole = file(A, ONE)
    yield "empty-file", "PUF001", b"", "no bytes at all"
    yield "magic-alone", "PUF002", MAGIC, "a file without footer"
    yield "two-magics", "PUF002", MAGIC * 2, "a footer that is its magic alone"
    yield "cut-at-the-end", "PUF002", whole[:-1], "the last byte is missing"
    yield "byte-at-the-end", "PUF002", whole + b"\0", "a byte follows the last magic"
    yield "first-magic", "PUF001", file(A, ONE, first=b"PFA2"), "the file starts with another magic"
    yield "footer-magic", "PUF002", file(A, ONE, footer=b"PFA0"), "the footer starts with another magic"
    yield "last-magic", "PUF002", file(A, ONE, last=b"pfa1"), "the footer ends with another magic"
    yield "bare-deletion-vector", "PUF001", DV, "a blob without a Puffin file around it, as DuckDB 1.5.0 wrote"
    length = len(ONE_JSON)
    for name, size in (
        ("negative", -1),
        ("smallest", -(1 << 31)),
        ("largest", (1 << 31) - 1),
        ("zero", 0),
        ("one-less", length - 1),
        ("one-more", length + 1),
        ("whole-file", len(whole)),
        ("big-endian", struct.unpack(">i", struct.pack("<i", length))[0]),
    ):
        yield f"payload-size-{name}", "PUF003", file(A, ONE, size=size), f"the payload's size is {size}, not {length}"


def _payload() -> Iterator[tuple[str, str, bytes, str]]:
    texts = [
        ("nothing", b"", "an empty text"),
        ("no-json", b"{blobs: []}", "names are not quoted"),
        ("cut", b'{"blobs":[]', "the object does not end"),
        ("text-after", b'{"blobs":[]}{}', "two values"),
        ("latin-1", b'{"blobs":[],"properties":{"a":"\xe4"}}', "not UTF-8"),
        ("utf-16", '{"blobs":[]}'.encode("utf-16-le"), "not UTF-8"),
        ("list", b"[]", "a list instead of an object"),
        ("null", b"null", "not an object"),
        ("nan", b'{"blobs":[],"properties":NaN}', "NaN is not JSON"),
    ]
    for name, text, note in texts:
        yield f"payload-{name}", "PUF006", file(b"", text), note
    yield "flagged-not-compressed", "PUF006", file(A, ONE, flags=1), "the flag says compressed, the payload is plain"
    yield "compressed-not-flagged", "PUF006", file(A, lz4_frame(ONE_JSON)), "compressed without the flag"
    for name, frame, note in _bad_frames("lz4", ONE_JSON):
        yield f"footer-lz4-{name}", "PUF006", file(A, frame, flags=1), note
    yield "footer-zstd", "PUF006", file(A, zstd_frame(ONE_JSON), flags=1), "a footer is compressed with LZ4 alone"


FRAMES: dict[str, Callable[..., bytes]] = {"lz4": lz4_frame, "zstd": zstd_frame}


def _bad_frames(codec: str, content: bytes) -> Iterator[tuple[str, bytes, str]]:
    frame = FRAMES[codec]
    whole = frame(content)
    yield "no-content-size", frame(content, size=None), "the frame does not state the content size"
    yield "size-too-small", frame(content, size=len(content) - 1), "the stated content size is one less"
    yield "size-too-large", frame(content, size=len(content) + 1), "the stated content size is one more"
    yield "size-absurd", frame(content, size=1 << 60), "the stated content size is 2**60"
    yield "cut", whole[:-1], "the frame is incomplete"
    yield "byte-after", whole + b"\0", "a byte follows the frame"
    yield "two-frames", frame(content) + frame(content), "two frames; many libraries read the first alone"
    yield "magic", b"\0" + whole[1:], "not a frame"


def _codecs() -> Iterator[tuple[str, str, bytes, str]]:
    for codec in ("lz4", "zstd"):
        for name, frame, note in _bad_frames(codec, A):
            yield f"{codec}-{name}", "PUF027", _blob_file(frame, _one(frame, compression_codec=codec)), note
    bombs = {
        "lz4": lz4_frame(b"", size=16, block=lz4_repeat(b"\0", 1 << 16)),
        "zstd": zstd_frame(b"\0", size=16, repeat=1 << 17),
    }
    for codec, frame in bombs.items():
        yield (
            f"{codec}-bomb",
            "PUF027",
            _blob_file(frame, _one(frame, compression_codec=codec)),
            "16 bytes are stated, but many thousands are decompressed",
        )
    for name in ("gzip", "snappy", "LZ4", "ZSTD", "none", ""):
        yield (
            f"codec-{name.lower() or 'no-name'}{'-upper' * name.isupper()}",
            "PUF027",
            _blob_file(A, _one(compression_codec=name)),
            f"{name!r} is not a codec of Puffin",
        )
    lz4 = lz4_frame(A)
    yield (
        "zstd-is-lz4",
        "PUF027",
        _blob_file(lz4, _one(lz4, compression_codec="zstd")),
        "the frame is of another codec",
    )


_FIELD_CODES = {
    "type": "PUF008",
    "fields": "PUF009",
    "snapshot-id": "PUF010",
    "sequence-number": "PUF011",
    "offset": "PUF012",
    "length": "PUF013",
    "compression-codec": "PUF014",
    "properties": "PUF015",
}


def _metadata() -> Iterator[tuple[str, str, bytes, str]]:
    def of(document: Any) -> bytes:
        return file(A, json.dumps(document).encode())

    yield "blobs-missing", "PUF007", of({"properties": {}}), "blobs is required"
    yield "blobs-object", "PUF007", of({"blobs": {"0": _one()}}), "blobs must be a list"
    yield "blob-string", "PUF007", of({"blobs": ["some-blob"]}), "a blob must be described by an object"
    for name in ("type", "fields", "snapshot-id", "sequence-number", "offset", "length"):
        blob = {member: value for member, value in _one().items() if member != name}
        yield f"{name}-missing", _FIELD_CODES[name], of({"blobs": [blob]}), f"{name} is required"
    wrong: list[tuple[str, str, Any, str]] = [
        ("type-number", "type", 1, "a string"),
        ("fields-string", "fields", "1", "a list"),
        ("fields-of-strings", "fields", ["1"], "a list of ints"),
        ("fields-of-longs", "fields", [1 << 31], "a list of ints of 32 bits"),
        ("fields-of-objects", "fields", [{"id": 2147483646}], "a list of ints, not of objects as Velox wrote"),
        ("fields-of-floats", "fields", [1.5], "a list of ints"),
        ("snapshot-id-string", "snapshot-id", "2", "a number"),
        ("snapshot-id-65-bits", "snapshot-id", 1 << 63, "a number of 64 bits"),
        ("snapshot-id-float", "snapshot-id", 2.5, "an integer"),
        ("sequence-number-string", "sequence-number", "1", "a number"),
        ("sequence-number-boolean", "sequence-number", True, "a number"),
        ("offset-string", "offset", "4", "a number"),
        ("offset-negative", "offset", -1, "the place of a blob in the file"),
        ("offset-behind", "offset", 1 << 40, "the place of a blob in the file"),
        ("length-string", "length", "10", "a number"),
        ("length-negative", "length", -1, "0 or more"),
        ("length-behind", "length", 1 << 40, "the length of a blob in the file"),
        (
            "length-largest",
            "length",
            (1 << 63) - 1,
            "the length of a blob in the file; offset + length overflows 64 bits",
        ),
        ("compression-codec-number", "compression-codec", 1, "a string"),
        ("properties-list", "properties", ["ndv"], "an object"),
        ("properties-number", "properties", {"ndv": 17}, "an object of strings"),
    ]
    for name, member, value, note in wrong:
        yield name, _FIELD_CODES[member], of({"blobs": [{**_one(), member: value}]}), f"{member} must be {note}"
    yield (
        "file-properties-number",
        "PUF026",
        of({**ONE, "properties": {"a": 1}}),
        "properties must be an object of strings",
    )
    yield (
        "length-into-footer",
        "PUF013",
        of({"blobs": [{**_one(), "length": len(A) + 1}]}),
        "the blob ends in the footer",
    )
    yield (
        "offset-in-magic",
        "PUF012",
        of({"blobs": [{**_one(), "offset": 3, "length": 1}]}),
        "the blob starts in the magic",
    )


def _refusals(rows: Iterator[tuple[str, str, bytes, str]]) -> Iterator[Vector]:
    for name, code, data, note in rows:
        if name in ONE_WRONG_MAGIC:
            expect: Any = any_of(INVALID, _answer([(_one(), A)]))
            yield Vector(f"puffin-read-refuses-{name}", (code,), _args(data), expect, LAYOUT, note, ("E34",))
        else:
            yield Vector(f"puffin-read-refuses-{name}", (code,), _args(data), INVALID, LAYOUT, note)


ONE_WRONG_MAGIC = ("first-magic", "footer-magic", "last-magic")
"""Files that a reader may read nevertheless, because it can find the footer and the blobs without this magic."""


def _write(name: str, code: str, blobs: list[tuple[dict[str, Any], bytes]], note: str, **properties: str) -> Vector:
    """Return a vector of a file to write, with one of the equivalent files."""
    given, stored, described = [], b"", []
    for metadata, payload in blobs:
        frame = FRAMES.get(metadata.get("compression-codec", ""), bytes)(payload)
        described.append({**metadata, "offset": 4 + len(stored), "length": len(frame)})
        stored += frame
        form = _blob(described[-1], payload)
        given.append({member: value for member, value in form.items() if member not in ("offset", "length")})
    args = {"blobs": given, "properties": properties}
    expect = ok(file(stored, {"blobs": described, "properties": properties}).hex().upper())
    return Vector(f"puffin-write-{name}", (code,), args, expect, LAYOUT, note, only=_only(code))


def _writes() -> Iterator[Vector]:
    dv = blob_metadata(
        "deletion-vector-v1", 0, 0, fields=[2147483645], snapshot_id=-1, sequence_number=-1, properties=DV_PROPERTIES
    )
    yield _write("no-blobs", "PUF001", [], "the smallest file")
    yield _write("two-blobs", "PUF012", [(_one(), A), (_one(fields=[3, 1]), B)], "one blob after another")
    yield _write("empty-blob", "PUF013", [(_one(), b"")], "a blob of no bytes")
    for codec in ("lz4", "zstd"):
        yield _write(codec, "PUF027", [(_one(compression_codec=codec), A * 50)], "a single frame that states its size")
    properties = {"application": "größe \U0001f9ca"}
    yield _write(
        "properties",
        "PUF015",
        [(_one(properties={"a": " b "}), A)],
        "properties of the file and of a blob",
        **properties,
    )
    names = {name: name for name in awkward.NAMES}
    yield _write(
        "awkward-properties", "PUF015", [(_one(properties=names), A)], "names and values are kept as they are", **names
    )
    texts = awkward.TEXTS
    yield _write("awkward-texts", "PUF015", [(_one(properties=texts), A)], "values that are easily changed", **texts)
    large = _one(snapshot_id=(1 << 63) - 1, sequence_number=(1 << 53) + 1)
    yield _write("longs", "PUF010", [(large, A)], "numbers of 64 bits stay exact")
    yield _write("deletion-vector", "PUF024", [(dv, DV), (_one(), A)], "a deletion vector beside another blob")


def _refused_to_write() -> Iterator[Vector]:
    dv = blob_metadata(
        "deletion-vector-v1", 0, 0, fields=[1], snapshot_id=-1, sequence_number=-1, properties=DV_PROPERTIES
    )
    rows: list[tuple[str, str, dict[str, Any], str]] = [
        ("codec", "PUF027", _one(compression_codec="gzip"), "gzip is not a codec of Puffin"),
        ("vector-compressed", "PUF023", {**dv, "compression-codec": "zstd"}, "a deletion vector is not compressed"),
        ("vector-snapshot-id", "PUF024", {**dv, "snapshot-id": 3}, "the snapshot id of a deletion vector is -1"),
        ("vector-sequence-number", "PUF024", {**dv, "sequence-number": 3}, "the sequence number is -1"),
        ("vector-without-file", "PUF021", {**dv, "properties": {"cardinality": "5"}}, "the data file is missing"),
        ("vector-without-cardinality", "PUF022", {**dv, "properties": {"referenced-data-file": "a"}}, "no cardinality"),
    ]
    for name, code, metadata, note in rows:
        form = _blob(metadata, DV if metadata["type"] == "deletion-vector-v1" else A)
        given = {member: value for member, value in form.items() if member not in ("offset", "length")}
        args = {"blobs": [given], "properties": {}}
        yield Vector(f"puffin-write-refuses-{name}", (code,), args, INVALID, LAYOUT, note, only=_only(code))


_SECTIONS = {
    "File structure": ("PUF001",),
    "Footer structure": ("PUF002", "PUF003", "PUF004", "PUF005"),
    "Footer Payload": ("PUF006",),
    "FileMetadata": ("PUF007", "PUF026"),
    "BlobMetadata": ("PUF008", "PUF009", "PUF010", "PUF011", "PUF012", "PUF013", "PUF014", "PUF015"),
    "`deletion-vector-v1` blob type": ("PUF021", "PUF022", "PUF023", "PUF024"),
    "Compression codecs": ("PUF027",),
}
"""The requirements of each section of the Puffin spec."""


def _by_section(topic: str, operation: str, vectors: Iterable[Vector]) -> Iterator[VectorFile]:
    """Yield the vectors of a topic by section."""
    listed = list(vectors)
    for section, codes in _SECTIONS.items():
        own = tuple(vector for vector in listed if vector.requirements[0] in codes)
        if own:
            yield VectorFile(f"puffin/{topic}.json", operation, section, own)


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield from _by_section("read", "puffin.read", chain(_sound(), _awkward()))
    yield from _by_section("read-reserved", "puffin.read", _permitted_files())
    yield from _by_section(
        "refusals", "puffin.read", _refusals(chain(_structure(), _payload(), _metadata(), _codecs()))
    )
    yield from _by_section("write", "puffin.write", _writes())
    yield from _by_section("write-refusals", "puffin.write", _refused_to_write())
