"""AES in Galois/Counter Mode, from FIPS 197 and NIST SP 800-38D, and AES GCM streams: slow, and only for vectors.

The names of the functions are those of the standards. Blocks are integers of 128 bits; the first byte is the highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

MAGIC = bytes([0x41, 0x47, 0x53, 0x31])
MIB = 1 << 20


# FIPS 197


def _times(left: int, right: int) -> int:
    """Return the product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1."""
    product = 0
    for bit in range(8):
        if right >> bit & 1:
            product ^= left << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= 0x11B << (bit - 8)
    return product


@cache
def s_box() -> bytes:
    """Apply SubBytes to a byte: the inverse, and an affine transformation of its bits."""
    table = []
    for value in range(256):
        inverse = next((other for other in range(256) if _times(value, other) == 1), 0)
        turned = 0
        for turn in range(5):
            turned ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
        table.append(turned ^ 0x63)
    return bytes(table)


def key_expansion(key: bytes) -> list[bytes]:
    """Return the words of the key schedule, of 4 bytes each."""
    size = len(key) // 4
    words = [key[4 * at : 4 * at + 4] for at in range(size)]
    constant = 1
    for at in range(size, 4 * (size + 7)):
        word = words[-1]
        if at % size == 0:
            word = bytes(s_box()[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _times(constant, 2)
        elif size > 6 and at % size == 4:
            word = bytes(s_box()[byte] for byte in word)
        words.append(bytes(a ^ b for a, b in zip(words[at - size], word, strict=True)))
    return words


def cipher(key: bytes, block: int) -> int:
    """Encrypt one block with AES."""
    words = key_expansion(key)
    rounds = len(words) // 4 - 1
    keys = [b"".join(words[4 * at : 4 * at + 4]) for at in range(rounds + 1)]
    state = [a ^ b for a, b in zip(block.to_bytes(16, "big"), keys[0], strict=True)]
    for at in range(1, rounds + 1):
        state = [s_box()[byte] for byte in state]
        state = [state[(place + 4 * (place % 4)) % 16] for place in range(16)]  # ShiftRows, column by column
        if at < rounds:
            state = [_mix_columns(state[4 * (place // 4) :][:4], place % 4) for place in range(16)]
        state = [a ^ b for a, b in zip(state, keys[at], strict=True)]
    return int.from_bytes(bytes(state), "big")


def _mix_columns(column: Sequence[int], row: int) -> int:
    """Return one byte of the result of MixColumns."""
    a, b, c, d = (column[(row + step) % 4] for step in range(4))
    return _times(a, 2) ^ _times(b, 3) ^ c ^ d


# NIST SP 800-38D


def multiply(left: int, right: int) -> int:
    """Return the product of two blocks in GF(2^128), whose bits are reversed (6.3)."""
    product = 0
    for bit in range(127, -1, -1):
        if left >> bit & 1:
            product ^= right
        right = right >> 1 ^ (0xE1 << 120 if right & 1 else 0)
    return product


def ghash(subkey: int, data: bytes) -> int:
    """Apply GHASH to whole blocks (6.4)."""
    value = 0
    for at in range(0, len(data), 16):
        value = multiply(value ^ int.from_bytes(data[at : at + 16], "big"), subkey)
    return value


def gctr(key: bytes, counter: int, data: bytes) -> bytes:
    """Apply GCTR: combine the data with the encrypted counters (6.5), whose lowest 32 bits are incremented."""
    out = b""
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        stream = cipher(key, counter).to_bytes(16, "big")
        out += bytes(a ^ b for a, b in zip(part, stream, strict=False))
        counter = counter >> 32 << 32 | (counter + 1) & 0xFFFFFFFF
    return out


def encrypt(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> tuple[bytes, bytes]:
    """Return the ciphertext and the tag of 16 bytes (7.1); the nonce has 12 bytes."""
    first = int.from_bytes(nonce + b"\x00\x00\x00\x01", "big")
    ciphertext = gctr(key, first + 1, plaintext)
    lengths = (8 * len(aad)).to_bytes(8, "big") + (8 * len(ciphertext)).to_bytes(8, "big")
    value = ghash(cipher(key, 0), _pad(aad) + _pad(ciphertext) + lengths)
    return ciphertext, gctr(key, first, value.to_bytes(16, "big"))


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


# AES GCM Stream


def header(block_length: int = MIB) -> bytes:
    """Return the magic and the block length."""
    return MAGIC + block_length.to_bytes(4, "little")


def block(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """Return a cipher block: the nonce, the ciphertext and the tag."""
    ciphertext, tag = encrypt(key, nonce, plaintext, aad)
    return nonce + ciphertext + tag


def aad(prefix: bytes, index: int) -> bytes:
    """Return the additional authenticated data of a block."""
    return prefix + index.to_bytes(4, "little")


def stream(key: bytes, prefix: bytes, plaintexts: Sequence[bytes], nonces: Sequence[bytes], block_length: int) -> bytes:
    """Return a file of the given plaintext blocks."""
    blocks = (
        block(key, nonce, plaintext, aad(prefix, index))
        for index, (plaintext, nonce) in enumerate(zip(plaintexts, nonces, strict=True))
    )
    return header(block_length) + b"".join(blocks)
