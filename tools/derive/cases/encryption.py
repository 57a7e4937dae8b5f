"""AES GCM streams: every size of key, ends of blocks, and files that were changed, cut, or assembled from others.

Keys and nonces are made from counters, which is acceptable only for vectors. Iceberg-Java has a single block length,
1 MiB; vectors with one block use it, and vectors that need several blocks use blocks of 16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.derive.aes_gcm import MIB, aad, block, header, stream
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

ORIGIN = "derivation: tools/derive/aes_gcm.py has AES by FIPS 197, GCM by NIST SP 800-38D, and the blocks by the text"
BLOCKS = "Cipher Block structure"
SECTIONS = {
    "GCM001": "File structure",
    "GCM002": BLOCKS,
    "GCM003": BLOCKS,
    "GCM004": "Additional Authenticated Data",
    "GCM005": "File length",
    "GCM006": "Encryption algorithm",
    "GCM007": "Overview",
}
SMALL = 16

KEY = bytes(range(16))
PREFIX = b"file-1"
TEXT = b"Some metadata."
LONG = bytes(range(40))
"""Three blocks of 16, 16 and 8 bytes."""


def _vector(
    id_: str,
    codes: tuple[str, ...],
    args: Mapping[str, Any],
    expect: Mapping[str, Any],
    note: str,
    contradiction: tuple[str, ...] = (),
) -> Vector:
    section = "" if SECTIONS[codes[0]] == BLOCKS else SECTIONS[codes[0]]
    return Vector(id_, codes, args, expect, ORIGIN, note, contradiction, (3,), section)


def _nonce(number: int) -> bytes:
    return bytes([0xA0 + number]) * 12


def _stream(key: bytes, prefix: bytes, text: bytes, size: int = MIB) -> bytes:
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return stream(key, prefix, parts, [_nonce(at) for at in range(len(parts))], size)


ONE = _stream(KEY, PREFIX, TEXT)
THREE = _stream(KEY, PREFIX, LONG, SMALL)
ENDS = (8, 8 + 44, 8 + 88, 8 + 124)
"""The offsets at which the header and the blocks of THREE end."""


def _args(data: bytes, key: bytes = KEY, prefix: bytes = PREFIX, length: int | None = None) -> dict[str, Any]:
    return {
        "bytes": data.hex().upper(),
        "key": key.hex().upper(),
        "aad-prefix": prefix.hex().upper(),
        "length": str(len(data) if length is None else length),
    }


def _text(data: bytes) -> Mapping[str, Any]:
    return ok({"bytes": data.hex().upper()})


def _sound() -> Iterator[tuple[str, tuple[str, ...], dict[str, Any], bytes, str]]:
    for size in (16, 24, 32):
        key = bytes(range(size))
        note = f"a key of {8 * size} bits"
        yield f"key-{8 * size}", ("GCM001", "GCM006"), _args(_stream(key, PREFIX, TEXT), key), TEXT, note
    yield "no-prefix", ("GCM004",), _args(_stream(KEY, b"", TEXT), prefix=b""), TEXT, "the prefix is empty"
    binary = bytes([0xFF, 0x00, 0x80])
    yield (
        "prefix-bytes",
        ("GCM004",),
        _args(_stream(KEY, binary, TEXT), prefix=binary),
        TEXT,
        "a prefix of bytes that are not text",
    )
    yield "one-byte", ("GCM002", "GCM003"), _args(_stream(KEY, PREFIX, b"x")), b"x", "the shortest last block"
    sixteen = bytes(range(16))
    yield "aes-block", ("GCM002",), _args(_stream(KEY, PREFIX, sixteen)), sixteen, "no padding follows 16 bytes"
    yield "blocks", ("GCM003", "GCM004"), _args(THREE), LONG, "blocks of 16, 16 and 8 bytes, with indexes 0 to 2"
    full = LONG[:32]
    yield "full-blocks", ("GCM003",), _args(_stream(KEY, PREFIX, full, SMALL)), full, "the last block is full"
    parts = [b"\0"] * 258
    nonces = [at.to_bytes(12, "big") for at in range(258)]
    note = "258 blocks of one byte: the index needs a second byte"
    yield "indexes", ("GCM004",), _args(stream(KEY, PREFIX, parts, nonces, 1)), bytes(258), note


def _refusals() -> Iterator[tuple[str, tuple[str, ...], dict[str, Any], str]]:
    for name, at in (("nonce", 8), ("ciphertext", 20), ("tag", -1)):
        changed = bytearray(ONE)
        changed[at] ^= 1
        yield f"changed-{name}", ("GCM007",), _args(bytes(changed)), f"one bit of the {name} was changed"
    yield "key", ("GCM007",), _args(ONE, bytes(16)), "the key of another file"
    yield "prefix", ("GCM004", "GCM007"), _args(ONE, prefix=b"file-2"), "the prefix of another file"
    alone = header() + block(KEY, _nonce(0), TEXT, PREFIX)
    yield "prefix-alone", ("GCM004", "GCM007"), _args(alone), "the authenticated data lacks the index"
    index = header() + block(KEY, _nonce(0), TEXT, aad(b"", 0))
    yield "index-alone", ("GCM004", "GCM007"), _args(index), "the authenticated data lacks the prefix"
    first = header() + block(KEY, _nonce(0), TEXT, aad(PREFIX, 1))
    yield "index-from-1", ("GCM004", "GCM007"), _args(first), "the first block has index 1"
    before = header() + block(KEY, _nonce(0), TEXT, (0).to_bytes(4, "little") + PREFIX)
    yield "index-before-prefix", ("GCM004", "GCM007"), _args(before), "the index precedes the prefix"
    big = THREE[: ENDS[1]] + block(KEY, _nonce(1), LONG[16:32], PREFIX + (1).to_bytes(4, "big")) + THREE[ENDS[2] :]
    yield "index-big-endian", ("GCM004", "GCM007"), _args(big), "the index of the second block is in big-endian order"
    tag_first = ONE[:20] + ONE[-16:] + ONE[20:-16]
    yield "tag-first", ("GCM002", "GCM007"), _args(tag_first), "the tag precedes the ciphertext"
    swapped = THREE[: ENDS[0]] + THREE[ENDS[1] : ENDS[2]] + THREE[ENDS[0] : ENDS[1]] + THREE[ENDS[2] :]
    yield "swapped", ("GCM004", "GCM007"), _args(swapped), "the first two blocks are swapped"
    twice = THREE[: ENDS[1]] + THREE[ENDS[0] : ENDS[1]] + THREE[ENDS[2] :]
    yield "twice", ("GCM004", "GCM007"), _args(twice), "the second block repeats the first"
    without = THREE[: ENDS[1]] + THREE[ENDS[2] :]
    yield "left-out", ("GCM004", "GCM007"), _args(without), "the second block was removed"
    yield "cut", ("GCM005",), _args(THREE[: ENDS[2]], length=ENDS[3]), "the last block was removed"
    yield "cut-to-header", ("GCM005",), _args(ONE[:8], length=len(ONE)), "every block was removed"
    yield "cut-tag", ("GCM002", "GCM007"), _args(ONE[:-1]), "the last byte of the tag is missing"
    yield "short-block", ("GCM002", "GCM007"), _args(ONE[: 8 + 27]), "27 bytes are too few for a nonce and a tag"


def _open() -> Iterator[Vector]:
    one = header() + block(KEY, _nonce(0), b"", aad(PREFIX, 0))
    for name, data, note in (
        ("empty", header(), "an empty stream has no block; Iceberg-Java expects an empty one"),
        ("empty-block", one, "an empty stream has one block without ciphertext, as Iceberg-Java writes it"),
    ):
        expect = any_of(_text(b""), INVALID)
        yield _vector(f"gcm-decrypt-{name}", ("GCM003",), _args(data), expect, note, ("B26",))
    empty = _stream(KEY, PREFIX, LONG[:16], SMALL) + block(KEY, _nonce(1), b"", aad(PREFIX, 1))
    note = "an empty block follows a full one: the rule binds writers, and a reader may refuse or read the block"
    expect = any_of(INVALID, _text(LONG[:16]))
    yield _vector("gcm-decrypt-empty-last-block", ("GCM003",), _args(empty), expect, note, ("E35",))
    note = "a block follows the trusted length: it is not read, or the file is refused"
    longer = _args(ONE + block(KEY, _nonce(1), TEXT, aad(PREFIX, 1)), length=len(ONE))
    expect = any_of(INVALID, _text(TEXT))
    yield _vector("gcm-decrypt-longer", ("GCM005",), longer, expect, note, ("E35",))
    note = "another magic: the layout binds writers, and a reader may not look at it"
    magic = b"AGS2" + ONE[4:]
    expect = any_of(INVALID, _text(TEXT))
    yield _vector("gcm-decrypt-magic", ("GCM001",), _args(magic), expect, note, ("E35",))
    note = "7 bytes are too few for a header: no block is there to be verified"
    expect = any_of(INVALID, _text(b""))
    yield _vector("gcm-decrypt-short-header", ("GCM001",), _args(ONE[:7]), expect, note, ("E35",))


def _decrypt() -> VectorFile:
    vectors = [
        _vector(f"gcm-decrypt-{name}", codes, args, _text(text), note) for name, codes, args, text, note in _sound()
    ]
    vectors += [
        _vector(f"gcm-decrypt-refuses-{name}", codes, args, INVALID, note) for name, codes, args, note in _refusals()
    ]
    return VectorFile("encryption/decrypt.json", "gcm.decrypt", BLOCKS, (*vectors, *_open()))


def _encrypt() -> VectorFile:
    rows = [
        ("key-128", ("GCM001", "GCM006"), KEY, PREFIX, TEXT, "a key of 128 bits"),
        ("key-192", ("GCM006",), bytes(range(24)), PREFIX, TEXT, "a key of 192 bits"),
        ("key-256", ("GCM006",), bytes(range(32)), PREFIX, TEXT, "a key of 256 bits"),
        ("no-prefix", ("GCM004",), KEY, b"", TEXT, "the prefix is empty"),
        ("prefix-bytes", ("GCM004",), KEY, bytes([0xFF, 0x00, 0x80]), TEXT, "a prefix of bytes that are not text"),
        ("one-byte", ("GCM002", "GCM003"), KEY, PREFIX, b"x", "the shortest last block"),
        ("empty", ("GCM001",), KEY, PREFIX, b"", "nothing: no block, or an empty one (B26)"),
        (
            "long",
            ("GCM002", "GCM003", "GCM006"),
            KEY,
            PREFIX,
            bytes(range(256)) * 2,
            "512 bytes in as many blocks as the writer chooses",
        ),
    ]
    vectors = []
    for name, codes, key, prefix, text, note in rows:
        args = {"bytes": text.hex().upper(), "key": key.hex().upper(), "aad-prefix": prefix.hex().upper()}
        expect = ok(_stream(key, prefix, text).hex().upper())
        open_ = ("B26",) if not text else ()
        vectors.append(_vector(f"gcm-encrypt-{name}", codes, args, expect, note, open_))
    for size in (0, 15, 17, 33):
        args = {"bytes": TEXT.hex().upper(), "key": bytes(size).hex().upper(), "aad-prefix": ""}
        note = f"{size} bytes are not an AES key"
        vectors.append(_vector(f"gcm-encrypt-refuses-key-{8 * size}", ("GCM006",), args, INVALID, note))
    return VectorFile("encryption/encrypt.json", "gcm.encrypt", BLOCKS, tuple(vectors))


def files() -> Iterator[VectorFile]:
    """Yield the vector files."""
    yield _decrypt()
    yield _encrypt()
