"""Ways to break inputs. All randomness comes from one generator, so that a seed repeats a run."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

MAX_BYTES = 1 << 16
"""The maximum length of an input, however often its parts are repeated."""

NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)

Mutate = Callable[[random.Random, bytes, Sequence[bytes]], bytes]
"""A function that breaks an input, possibly with parts of the seeds."""


def mutate_bytes(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return an input with some changes of bytes, numbers and sections."""
    out = bytearray(data)
    for _ in range(1 + int(rng.expovariate(0.5))):
        _STEPS[int(rng.random() * len(_STEPS))](rng, out, seeds)
    return bytes(out[:MAX_BYTES])


def _flip(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    if out:
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)


def _set(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    if out:
        out[rng.randrange(len(out))] = rng.choice(
            (0, 1, 2, 0x0A, 0x22, 0x2D, 0x30, 0x7F, 0x80, 0xFF, rng.randrange(256))
        )


def _insert(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    place = rng.randrange(len(out) + 1)
    out[place:place] = rng.randbytes(1 + rng.randrange(8))


def _repeat(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    if out:
        start = rng.randrange(len(out))
        stretch = out[start : start + 1 + rng.randrange(64)]
        out[start:start] = stretch * rng.choice((1, 1, 2, 40))


def _delete(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    if out:
        start = rng.randrange(len(out))
        del out[start : start + 1 + rng.randrange(16)]


def _truncate(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    del out[rng.randrange(len(out) + 1) :]


def _number(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    size = rng.choice((1, 2, 4, 8))
    number = (rng.choice(NUMBERS) + rng.choice((-1, 0, 0, 1))) % (1 << 8 * size)
    if len(out) >= size:
        place = rng.randrange(len(out) - size + 1)
        out[place : place + size] = number.to_bytes(size, rng.choice(("little", "big")))


def _varint(rng: random.Random, out: bytearray, _: Sequence[bytes]) -> None:
    number, made = rng.choice(NUMBERS), bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    place = rng.randrange(len(out) + 1)
    out[place : place + rng.choice((0, 1, 1, 2))] = made


def _splice(rng: random.Random, out: bytearray, seeds: Sequence[bytes]) -> None:
    other = rng.choice(seeds)
    if other and out:
        start, place = rng.randrange(len(other)), rng.randrange(len(out))
        stretch = other[start : start + rng.choice((4, 16, 64, 1024))]
        out[place : place + rng.choice((0, len(stretch)))] = stretch


_STEPS = (_flip, _flip, _set, _set, _insert, _repeat, _delete, _truncate, _number, _varint, _splice)


# JSON

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    -0.0,
    1e308,
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**400,
    "",
    "a",
    "\ud7ff",
    "\x00",
    "unknown",
    "struct",
    "decimal(38,38)",
    "decimal(0, 99)",
    "fixed[0]",
    "fixed[99999999999]",
    "bucket[0]",
    "void",
    "9999-12-31",
    "-1",
    "1e999",
    "main",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"type": "struct"},
    {"type": "list", "element-id": 1, "element-required": True, "element": "int"},
    [{}],
    [1, 1],
)


def mutate_json(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return a document in which some values are changed, dropped, repeated or swapped; sometimes its bytes too."""
    try:
        document = [json.loads(data)]
    except (ValueError, RecursionError):
        return mutate_bytes(rng, data, seeds)
    for _ in range(1 + int(rng.expovariate(0.7))):
        _change(rng, document, seeds)
    try:
        made = json.dumps(document[0], ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return data
    if rng.random() < 0.1:
        made = mutate_bytes(rng, made, seeds)
    return made[:MAX_BYTES]


def _change(rng: random.Random, document: list[Any], seeds: Sequence[bytes]) -> None:
    holder: Any = document
    while True:  # a path into the document, which may end anywhere
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        if not keys:
            return
        key = keys[int(rng.random() * len(keys))]
        if isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.85:
            holder = holder[key]
        else:
            break
    match rng.randrange(8):
        case 0 if holder is not document:
            del holder[key]
        case 1:
            holder[key] = json.loads(json.dumps(_part(rng, seeds)))
        case 2 if isinstance(holder, list) and holder is not document:
            holder.insert(key, json.loads(json.dumps(holder[key])))
        case 3 if isinstance(holder, dict) and isinstance(key, str):
            holder[rng.choice((key + "x", key.upper(), "", key[:-1]))] = holder.pop(key)
        case 4 if isinstance(holder[key], int) and not isinstance(holder[key], bool):
            holder[key] += rng.choice((-1, 1, 2**31, -(2**63)))
        case 5 if isinstance(holder[key], str):
            text = holder[key]
            place = rng.randrange(len(text) + 1)
            holder[key] = (
                text[:place]
                + rng.choice(("", "\u0000", "[", "(", "9", "-", "é", "\U0001f600", " "))
                + text[place + 1 :]
            )
        case 6 if rng.random() < 0.05:
            for _ in range(rng.choice((3, 40, 300))):
                holder[key] = [holder[key]] if rng.random() < 0.5 else {"type": holder[key]}
        case _:
            holder[key] = json.loads(json.dumps(rng.choice(HOSTILE)))


def _part(rng: random.Random, seeds: Sequence[bytes]) -> Any:
    try:
        part = json.loads(rng.choice(seeds))
    except (ValueError, RecursionError):
        return None
    while isinstance(part, dict | list) and part and rng.random() < 0.8:
        part = rng.choice(list(part.values()) if isinstance(part, dict) else part)
    return part


# Containers whose parts are read only if lengths and checksums are right


def mutate_vector(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return a deletion vector with a broken bitmap, and the right length and checksum for it."""
    made = mutate_bytes(rng, data, seeds)
    if rng.random() < 0.2 or len(made) < 12:
        return made
    body = made[4:-4]
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def mutate_puffin(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return a Puffin file with a broken footer document, or broken bytes as blobs, and the right footer length."""
    if rng.random() < 0.3 or len(data) < 20:
        return mutate_bytes(rng, data, seeds)
    (size,) = struct.unpack_from("<i", data, len(data) - 12)
    start = len(data) - 12 - size
    if not 8 <= start <= len(data) - 12 or data[-8] & 1:
        return mutate_bytes(rng, data, seeds)
    blobs, payload = data[4 : start - 4], data[start:-12]
    if rng.random() < 0.7:
        payload = mutate_json(rng, payload, [payload])
    else:
        blobs = mutate_bytes(rng, blobs, seeds)
    return b"PFA1" + blobs + b"PFA1" + payload + struct.pack("<i", len(payload)) + data[-8:]


def mutate_avro(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return an Avro container with a broken schema, header or block, in valid framing without compression."""
    if rng.random() < 0.3:
        return mutate_bytes(rng, data, seeds)
    try:
        metadata, sync, blocks = _open_container(data)
    except (IndexError, KeyError, ValueError, zlib.error):
        return mutate_bytes(rng, data, seeds)
    choice = rng.random()
    if not metadata:
        return mutate_bytes(rng, data, seeds)
    if choice < 0.4 and b"avro.schema" in metadata:
        metadata[b"avro.schema"] = mutate_json(rng, metadata[b"avro.schema"], [metadata[b"avro.schema"]])
    elif choice < 0.55:
        key = rng.choice(list(metadata))
        metadata[key] = mutate_json(rng, metadata[key], [metadata[key]])
    elif blocks:
        place = rng.randrange(len(blocks))
        count, payload = blocks[place]
        if rng.random() < 0.15:
            count += rng.choice((-1, 1, 1000, 1 << 40))
        blocks[place] = count, mutate_bytes(rng, payload, [payload])
    out = bytearray(b"Obj\x01") + _long(len(metadata))
    for key, value in metadata.items():
        out += _long(len(key)) + key + _long(len(value)) + value
    out += _long(0) + sync
    for count, payload in blocks:
        out += _long(count) + _long(len(payload)) + payload + sync
    return bytes(out)


def mutate_footer(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return a Parquet file whose footer is broken inside, but has the right length and magic."""
    if rng.random() < 0.1 or len(data) < 12:
        return mutate_bytes(rng, data, seeds)
    footer = mutate_bytes(rng, data[4:-8], [seed[4:-8] for seed in rng.choices(seeds, k=3)])
    return data[:4] + footer + struct.pack("<I", len(footer)) + data[-4:]


def mutate_orc(rng: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return an ORC file with a broken footer or first stripe footer, stored without compression."""
    try:
        if rng.random() < 0.1 or data[-1] > 64:
            raise ValueError("bytes alone")
        postscript = data[-1 - data[-1] : -1]
        length, place = _varint_at(postscript, 1)  # the first field is the length of the footer
        compression = postscript[place + 1]
        end = len(data) - len(postscript) - 1
        footer = _decompress(data[end - length : end], compression)
    except (IndexError, ValueError, zlib.error):
        return mutate_bytes(rng, data, seeds)
    footer = mutate_bytes(rng, footer, [footer])
    stored = footer if not compression else (len(footer) << 1 | 1).to_bytes(3, "little") + footer
    if len(stored) > 0x3FFF:
        return data
    number = bytes((len(stored) & 0x7F | 0x80, len(stored) >> 7))
    postscript = postscript[:1] + number + postscript[place:]
    return data[: end - length] + stored + postscript + bytes((len(postscript),))


def _varint_at(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 64:
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, place
    raise ValueError("too long")


def _decompress(section: bytes, compression: int) -> bytes:
    """Return the decompressed content of a part of an ORC file, which is deflated or stored."""
    if compression not in (0, 1):
        raise ValueError("the codec is not null or deflate")
    if not compression:
        return section
    made, place = b"", 0
    while place < len(section):
        header = int.from_bytes(section[place : place + 3], "little")
        chunk = section[place + 3 : place + 3 + (header >> 1)]
        made += chunk if header & 1 else zlib.decompress(chunk, -15)
        place += 3 + (header >> 1)
    return made


def _open_container(data: bytes) -> tuple[dict[bytes, bytes], bytes, list[tuple[int, bytes]]]:
    """Return the metadata, sync marker and decompressed blocks of a valid container; the codec becomes ``null``."""
    position, metadata, blocks = 4, {}, []

    def long() -> int:
        nonlocal position
        number = shift = 0
        while shift < 70:
            byte = data[position]
            position += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
        raise ValueError("too long")

    def take(size: int) -> bytes:
        nonlocal position
        if not 0 <= size <= len(data) - position:
            raise ValueError("cut off")
        position += size
        return data[position - size : position]

    while count := long():
        if count < 0:
            count = -count
            long()
        for _ in range(min(count, 1000)):
            key = take(long())
            metadata[key] = take(long())
    sync = take(16)
    codec = metadata.get(b"avro.codec", b"null")
    if codec not in (b"null", b"deflate"):
        raise ValueError("the codec is not null or deflate")
    metadata[b"avro.codec"] = b"null"
    while position < len(data):
        count, packed = long(), take(long())
        blocks.append((count, zlib.decompress(packed, -15) if codec == b"deflate" else packed))
        take(16)
    return metadata, sync, blocks


def _long(value: int) -> bytes:
    number, out = ((value << 1) ^ (value >> 63)) & ((1 << 64) - 1), bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
