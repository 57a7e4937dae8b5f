"""Faults of AES GCM streams, as implementations could easily have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from conformance.adapter_sdk.serve import Arguments
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.encodings.aes_gcm_stream import BLOCK_LENGTH, OVERHEAD, block_aad, read_block_length
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]
Aad = Callable[[bytes, int], bytes]


def _hexadecimal(args: Arguments, name: str) -> bytes:
    return bytes.fromhex(args[name])


def _blocks(data: bytes, block_length: int) -> list[bytes]:
    size = block_length + OVERHEAD
    return [data[at : at + size] for at in range(8, len(data), size)]


def _reads_with(aads: Callable[[bytes, int, int], Iterator[bytes]]) -> Wrong:
    """A fault that accepts a block if any of some authenticated data matches its tag."""

    def wrong(args: Arguments, right: Operation) -> Any:
        try:
            return right(args)
        except SpecError as refusal:
            data, aes = _hexadecimal(args, "bytes"), AESGCM(_hexadecimal(args, "key"))
            prefix, found = _hexadecimal(args, "aad-prefix"), b""
            if len(data) != int(args["length"]):
                raise
            blocks = _blocks(data, read_block_length(data))
            for index, block in enumerate(blocks):
                for aad in aads(prefix, index, len(blocks)):
                    try:
                        found += aes.decrypt(block[:12], block[12:], aad)
                        break
                    except InvalidTag:
                        continue
                else:
                    raise refusal
            return {"bytes": found.hex()}

    return wrong


def _other_indexes(prefix: bytes, _index: int, count: int) -> Iterator[bytes]:
    yield from (block_aad(prefix, other) for other in range(count + 1))


def _other_prefixes(_prefix: bytes, index: int, _count: int) -> Iterator[bytes]:
    yield from (block_aad(other, index) for other in (b"", b"file-1"))


def _prefix_alone(prefix: bytes, _index: int, _count: int) -> Iterator[bytes]:
    yield prefix


def _either_order(prefix: bytes, index: int, _count: int) -> Iterator[bytes]:
    yield block_aad(prefix, index)
    yield prefix + index.to_bytes(4, "big")


def _tag_not_verified(args: Arguments, right: Operation) -> Any:
    """The text of a block whose tag does not match, as a stream cipher gives it."""
    try:
        return right(args)
    except SpecError as refusal:
        if refusal.violation.requirement != "GCM007":
            raise
        data, found = _hexadecimal(args, "bytes"), b""
        for block in _blocks(data, read_block_length(data)):
            counter = modes.CTR(block[:12] + b"\x00\x00\x00\x02")
            found += Cipher(algorithms.AES(_hexadecimal(args, "key")), counter).decryptor().update(block[12:-16])
        return {"bytes": found.hex()}


def _length_of_the_file(args: Arguments, right: Operation) -> Any:
    return right({**args, "length": str(len(args["bytes"]) // 2)})


def _one_block_length(args: Arguments, right: Operation) -> Any:
    data = _hexadecimal(args, "bytes")
    return right({**args, "bytes": (data[:4] + BLOCK_LENGTH.to_bytes(4, "little") + data[8:]).hex()})


def _writes(
    *,
    header: bytes = b"AGS1\x00\x00\x10\x00",
    aad: Aad = block_aad,
    size: int = BLOCK_LENGTH,
    nonce: Callable[[int], bytes] = lambda index: index.to_bytes(12, "big"),
    order: Callable[[bytes, bytes, bytes], bytes] = lambda nonce, text, tag: nonce + text + tag,
) -> Wrong:
    """A fault that writes one thing differently."""

    def wrong(args: Arguments, right: Operation) -> Any:
        right(args)  # what is refused is refused
        text, aes = _hexadecimal(args, "bytes"), AESGCM(_hexadecimal(args, "key"))
        out = header
        for index, start in enumerate(range(0, len(text), size)):
            sealed = aes.encrypt(nonce(index), text[start : start + size], aad(_hexadecimal(args, "aad-prefix"), index))
            out += order(nonce(index), sealed[:-16], sealed[-16:])
        return out.hex()

    return wrong


def _any_key(args: Arguments, right: Operation) -> Any:
    """A key of a wrong length is filled up."""
    return right({**args, "key": (_hexadecimal(args, "key") + bytes(32))[:32].hex()})


def _refuses_long_keys(args: Arguments, right: Operation) -> Any:
    if len(args["key"]) > 32:
        raise spec_error("GCM006", "the key is too long")
    return right(args)


FAULTS = (
    Fault("gcm-index-not-verified", "gcm.decrypt", _reads_with(_other_indexes)),
    Fault("gcm-prefix-not-verified", "gcm.decrypt", _reads_with(_other_prefixes)),
    Fault("gcm-prefix-alone-accepted", "gcm.decrypt", _reads_with(_prefix_alone)),
    Fault("gcm-index-in-either-order", "gcm.decrypt", _reads_with(_either_order)),
    Fault("gcm-tag-not-verified", "gcm.decrypt", _tag_not_verified),
    Fault("gcm-length-of-the-file", "gcm.decrypt", _length_of_the_file),
    Fault("gcm-block-length-not-read", "gcm.decrypt", _one_block_length),
    Fault("gcm-keys-of-128-bits-only", "gcm.decrypt", _refuses_long_keys),
    Fault("gcm-magic-of-another-version", "gcm.encrypt", _writes(header=b"AGS2\x00\x00\x10\x00")),
    Fault("gcm-block-length-big-endian", "gcm.encrypt", _writes(header=b"AGS1\x00\x00\x01\x00", size=256)),
    Fault("gcm-tag-before-the-ciphertext", "gcm.encrypt", _writes(order=lambda nonce, text, tag: nonce + tag + text)),
    Fault("gcm-nonce-at-the-end", "gcm.encrypt", _writes(order=lambda nonce, text, tag: text + tag + nonce)),
    Fault("gcm-blocks-shorter-than-said", "gcm.encrypt", _writes(size=100)),
    Fault("gcm-prefix-without-index", "gcm.encrypt", _writes(aad=lambda prefix, _: prefix)),
    Fault("gcm-index-from-1", "gcm.encrypt", _writes(aad=lambda prefix, index: block_aad(prefix, index + 1))),
    Fault(
        "gcm-index-before-the-prefix", "gcm.encrypt", _writes(aad=lambda prefix, index: block_aad(b"", index) + prefix)
    ),
    Fault(
        "gcm-one-nonce-for-all-blocks",
        "gcm.encrypt",
        _writes(header=b"AGS1\x64\x00\x00\x00", size=100, nonce=lambda _: bytes(12)),
    ),
    Fault("gcm-keys-filled-up", "gcm.encrypt", _any_key),
)
