"""AES GCM streams: files of encrypted blocks, each with a tag for its content and its place (AES GCM Stream).

Decided here, because the text leaves it open:

- An empty stream has no block, or one block without ciphertext, as Iceberg-Java writes it (contradiction B26). Both
  are read, and the one without a block is written.
- Another magic, an empty block after others, and a file that is longer than the trusted length are refused: such a file
  is not the one that was written. A reader that ignores these faults breaks no rule (contradiction E35).
- Any positive block length of up to 31 bits is read; Iceberg-Java reads only the one that it writes (1 MiB).
- If a tag does not match, the additional authenticated data that a faulty writer may have used is tried, and that of
  the other blocks, so that the error names the broken rule. A block that only such data authenticates is still refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NoReturn

import attrs

from spec_ref.core.errors import Description, SpecError, abbreviated_repr, spec_error
from spec_ref.encodings.random_access_bytes import ByteSource

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "cryptography is not installed, which encrypted files need: pip install 'iceberg-conformance[encryption]'",
        name=error.name,
    ) from error

MAGIC = b"AGS1"
HEADER_LENGTH = 8
NONCE_LENGTH = 12
TAG_LENGTH = 16
OVERHEAD = NONCE_LENGTH + TAG_LENGTH
"""The number of bytes of a cipher block that are not ciphertext."""

KEY_LENGTHS = (16, 24, 32)

BLOCK_LENGTH = 1 << 20
"""The block length of Iceberg-Java, which reads no other."""

MAX_BLOCK_LENGTH = (1 << 31) - 1
MAX_BLOCKS = 1 << 31
"""The maximum number of blocks, because their indexes, like block lengths, are signed integers of 4 bytes."""


def _check_key(key: bytes) -> None:
    if len(key) not in KEY_LENGTHS:
        message = "the AES key has a wrong length"
        raise spec_error(
            "GCM006", message, aspect="key", found=Description(f"{len(key)} bytes"), expected="16, 24 or 32 bytes"
        )


@attrs.frozen
class StreamKey:
    """What a file is encrypted with: an AES key and the prefix of its additional authenticated data.

    Raises:
        SpecError: GCM006 for a key that does not have 16, 24 or 32 bytes.
    """

    key: bytes = attrs.field(validator=lambda _key, _field, value: _check_key(value), repr=False)
    """A secret, which no message and no ``repr`` contains."""

    aad_prefix: bytes = b""
    """The first part of the additional authenticated data, which identifies the file."""


@attrs.frozen
class StreamLayout:
    """Where the blocks of a stream are, computed from its length and its block length alone."""

    length: int
    """The length of the encrypted file in bytes, from a trusted source."""

    block_length: int
    """The length of each plaintext block but the last."""

    @property
    def blocks(self) -> int:
        """The number of cipher blocks."""
        return -(-(self.length - HEADER_LENGTH) // (self.block_length + OVERHEAD))

    @property
    def plaintext_length(self) -> int:
        """The number of bytes before encryption."""
        return self.length - HEADER_LENGTH - self.blocks * OVERHEAD

    def block_range(self, index: int) -> tuple[int, int]:
        """Locate a cipher block.

        Args:
            index: the index of the block.

        Returns:
            The offsets of its first byte and of the byte after its last, in the file.
        """
        start = HEADER_LENGTH + index * (self.block_length + OVERHEAD)
        return start, min(start + self.block_length + OVERHEAD, self.length)


# File structure


def write_header(block_length: int) -> bytes:
    """Write the header, which precedes the first block.

    Args:
        block_length: the length of each plaintext block but the last.

    Returns:
        The magic and the block length.

    Raises:
        SpecError: GCM001 if the block length is not positive, or has more than 31 bits.
    """
    _check_block_length(block_length)
    return MAGIC + block_length.to_bytes(4, "little")


def read_block_length(data: ByteSource) -> int:
    """Read the block length from the header.

    Args:
        data: the file.

    Returns:
        The block length.

    Raises:
        SpecError: GCM001 if the file is too short, does not begin with the magic, or its block length is not positive.
    """
    header = data[:HEADER_LENGTH]
    if len(header) < HEADER_LENGTH:
        message = "the file is too short for a header"
        raise spec_error(
            "GCM001", message, aspect="length", found=Description(f"{len(header)} bytes"), expected="8 bytes or more"
        )
    if header[:4] != MAGIC:
        raise spec_error(
            "GCM001", "the magic is wrong", aspect="magic", found=header[:4], expected=abbreviated_repr(MAGIC)
        )
    block_length = int.from_bytes(header[4:], "little")
    _check_block_length(block_length)
    return block_length


def _check_block_length(block_length: int) -> None:
    if not 1 <= block_length <= MAX_BLOCK_LENGTH:
        message, expected = "the block length is out of range", f"1 to {MAX_BLOCK_LENGTH}"
        raise spec_error("GCM001", message, aspect="block-length", found=block_length, expected=expected)


# Cipher Block structure


def encrypt_block(plaintext: bytes, index: int, key: StreamKey, nonce: bytes) -> bytes:
    """Encrypt one block.

    Args:
        plaintext: the block.
        index: its index in the file.
        key: the key of the file.
        nonce: 12 bytes that are used with this key for no other block.

    Returns:
        The nonce, the ciphertext and the tag.

    Raises:
        SpecError: GCM002 if the nonce does not have 12 bytes.
    """
    if len(nonce) != NONCE_LENGTH:
        message, found = "the nonce has a wrong length", Description(f"{len(nonce)} bytes")
        raise spec_error("GCM002", message, aspect="nonce", found=found, expected="12 bytes", path=f"/blocks/{index}")
    return seal_block(plaintext, key.key, block_aad(key.aad_prefix, index), nonce)


def seal_block(plaintext: bytes, key: bytes, aad: bytes, nonce: bytes | None = None) -> bytes:
    """Encrypt a plaintext that `open_block` decrypts.

    Args:
        plaintext: the plaintext.
        key: the AES key.
        aad: the additional authenticated data.
        nonce: 12 bytes that are used with this key for no other block; random by default.

    Returns:
        The nonce, the ciphertext and the tag.

    Raises:
        SpecError: GCM006 if the key has a wrong length.
    """
    _check_key(key)
    nonce = random_nonce() if nonce is None else nonce
    return nonce + AESGCM(key).encrypt(nonce, plaintext, aad)


def decrypt_block(block: bytes, index: int, key: StreamKey, blocks: int = 1) -> bytes:
    """Verify and decrypt one block.

    Args:
        block: the nonce, the ciphertext and the tag.
        index: its index in the file.
        key: the key of the file.
        blocks: the number of blocks in the file, so that the error can name the block that was found instead.

    Returns:
        The plaintext.

    Raises:
        SpecError: GCM002 if the block is too short for a nonce and a tag; GCM004 if only additional authenticated data
            other than that of the file and the index matches its tag; GCM007 if its tag does not match.
    """
    path = f"/blocks/{index}"
    try:
        return open_block(block, key.key, block_aad(key.aad_prefix, index), path)
    except SpecError as error:
        if error.violation.requirement == "GCM007":
            for aad, found in _wrong_aads(key.aad_prefix, index, blocks):
                if _decrypt_if_authentic(block, key.key, aad) is not None:
                    message, expected = (
                        "the authenticated data is not that of its place",
                        f"the prefix and index {index}",
                    )
                    raise spec_error("GCM004", message, found=found, expected=expected, path=path) from None
        raise


def open_block(block: bytes, key: bytes, aad: bytes, path: str = "") -> bytes:
    """Verify and decrypt a nonce, a ciphertext and a tag.

    Args:
        block: the bytes.
        key: the AES key.
        aad: the additional authenticated data.
        path: the place of the block, for errors.

    Returns:
        The plaintext.

    Raises:
        SpecError: GCM002 if there are too few bytes for a nonce and a tag; GCM006 if the key has a wrong length; GCM007
            if the tag does not match.
    """
    _check_key(key)
    if len(block) < OVERHEAD:
        message, found = "the block is too short for a nonce and a tag", Description(f"{len(block)} bytes")
        raise spec_error("GCM002", message, aspect="length", found=found, expected="28 bytes or more", path=path)
    plaintext = _decrypt_if_authentic(block, key, aad)
    if plaintext is None:
        message = "the tag does not match: the block was changed, or the key or the AAD prefix is not that of the file"
        raise spec_error("GCM007", message, path=path)
    return plaintext


def _decrypt_if_authentic(block: bytes, key: bytes, aad: bytes) -> bytes | None:
    """Return the plaintext of a block; None if its tag does not match."""
    try:
        return AESGCM(key).decrypt(block[:NONCE_LENGTH], block[NONCE_LENGTH:], aad)
    except InvalidTag:
        return None


# Additional Authenticated Data


def block_aad(prefix: bytes, index: int) -> bytes:
    """Make the additional authenticated data of a block.

    Args:
        prefix: the AAD prefix of the file.
        index: the index of the block.

    Returns:
        The prefix and the index.
    """
    return prefix + index.to_bytes(4, "little")


def _wrong_aads(prefix: bytes, index: int, blocks: int) -> Iterator[tuple[bytes, str]]:
    """List additional authenticated data that breaks GCM004: that of faulty writers, and that of other blocks."""
    yield prefix, "the prefix alone"
    yield prefix + index.to_bytes(4, "big"), "the index in big-endian order"
    yield block_aad(b"", index), "no prefix"
    for other in range(blocks):
        yield block_aad(prefix, other), f"the prefix and index {other}"


# File length


def block_layout(length: int, block_length: int) -> StreamLayout:
    """Compute where the blocks are.

    Args:
        length: the length of the encrypted file in bytes, from a trusted source.
        block_length: the block length of its header.

    Returns:
        The layout.

    Raises:
        SpecError: GCM001 if the length is too small for a header; GCM002 if the last block is too short for a nonce and
            a tag; GCM003 if it is empty and other blocks precede it; GCM004 for more blocks than can be numbered.
    """
    if length < HEADER_LENGTH:
        message = "the length is too small for a header"
        raise spec_error("GCM001", message, aspect="length", found=length, expected="8 or more")
    found = StreamLayout(length, block_length)
    if found.blocks > MAX_BLOCKS:
        raise spec_error(
            "GCM004", "the file has more blocks than can be numbered", found=found.blocks, expected=f"{MAX_BLOCKS}"
        )
    if found.blocks:
        last = found.blocks - 1
        start, stop = found.block_range(last)
        size, path = stop - start, f"/blocks/{last}"
        if size < OVERHEAD:
            message, expected = "the last block is too short for a nonce and a tag", "28 bytes or more"
            raise spec_error(
                "GCM002", message, aspect="length", found=Description(f"{size} bytes"), expected=expected, path=path
            )
        if size == OVERHEAD and last:
            raise spec_error("GCM003", "the last block is empty", found="0 bytes", expected="1 byte or more", path=path)
    return found


# Whole files


@attrs.frozen
class StreamReader:
    """An encrypted file that is open for reading; bytes are returned only after their block was verified."""

    source: ByteSource = attrs.field(repr=False)
    key: StreamKey
    layout: StreamLayout

    def __len__(self) -> int:
        return self.layout.plaintext_length

    def block(self, index: int) -> bytes:
        """Verify and decrypt a block.

        Args:
            index: its index.

        Returns:
            Its plaintext.

        Raises:
            SpecError: GCM004 or GCM007 if it does not verify.
        """
        start, stop = self.layout.block_range(index)
        return decrypt_block(self.source[start:stop], index, self.key, self.layout.blocks)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Read a range of the plaintext; only the blocks that it touches are decrypted.

        Args:
            start: the offset of its first byte.
            stop: the offset of the byte after its last; by default the end.

        Returns:
            The bytes; fewer than requested where the file ends.

        Raises:
            SpecError: GCM004 or GCM007 if a block does not verify.
        """
        start, stop, _ = slice(start, stop).indices(len(self))
        size = self.layout.block_length
        if start >= stop:
            # The block of an empty stream is verified too.
            return self.block(0) if not len(self) and self.layout.blocks else b""
        first = start // size
        found = b"".join(self.block(index) for index in range(first, (stop - 1) // size + 1))
        return found[start - first * size : stop - first * size]


def open_stream(source: ByteSource, key: StreamKey, length: int) -> StreamReader:
    """Open an encrypted file for reading.

    Args:
        source: the file.
        key: its key.
        length: its length in bytes from a trusted source, such as the key metadata of a manifest entry.

    Returns:
        The reader.

    Raises:
        SpecError: GCM005 if the file does not have this length; GCM001 for its header; GCM002 or GCM003 for a length
            that no stream has.
    """
    if len(source) != length:
        message = "the file does not have the trusted length"
        raise spec_error("GCM005", message, found=Description(f"{len(source)} bytes"), expected=f"{length} bytes")
    return StreamReader(source, key, block_layout(length, read_block_length(source)))


def read_stream(source: ByteSource, key: StreamKey, length: int) -> bytes:
    """Verify and decrypt a file.

    Args:
        source: the file.
        key: its key.
        length: its length in bytes, from a trusted source.

    Returns:
        The plaintext.

    Raises:
        SpecError: GCM001 to GCM007, for the first rule that the file breaks.
    """
    return open_stream(source, key, length).read()


def check_nonces(source: ByteSource) -> None:
    """Check that no nonce of a file is used twice; this needs no key and no decryption.

    Args:
        source: the file.

    Raises:
        SpecError: GCM006 for a nonce that an earlier block has; GCM001 to GCM003 for a file without header, or of a
            length that no stream has.
    """
    places = block_layout(len(source), read_block_length(source))
    first: dict[bytes, int] = {}
    for index in range(places.blocks):
        start, _ = places.block_range(index)
        nonce = source[start : start + NONCE_LENGTH]
        if first.setdefault(nonce, index) != index:
            _refuse_nonce(nonce, index)


def _refuse_nonce(nonce: bytes, index: int) -> NoReturn:
    message = "the nonce was used for an earlier block"
    raise spec_error("GCM006", message, aspect="nonce", found=nonce.hex(), path=f"/blocks/{index}")


def random_nonce() -> bytes:
    """Draw a nonce from the random bit generator of the operating system.

    Returns:
        12 random bytes.
    """
    return os.urandom(NONCE_LENGTH)


def write_stream(
    plaintext: bytes,
    key: StreamKey,
    *,
    block_length: int = BLOCK_LENGTH,
    nonce: Callable[[], bytes] = random_nonce,
) -> bytes:
    """Encrypt a file.

    Args:
        plaintext: its content.
        key: its key.
        block_length: the length of each plaintext block but the last.
        nonce: returns a nonce for each block; only tests pass another one than the default.

    Returns:
        The encrypted file.

    Raises:
        SpecError: GCM001 for a block length that is out of range; GCM002 for a nonce of another length; GCM006 for a
            nonce that was used for an earlier block.
    """
    parts, used = [write_header(block_length)], set[bytes]()
    for index, start in enumerate(range(0, len(plaintext), block_length)):
        fresh = nonce()
        if fresh in used:
            _refuse_nonce(fresh, index)
        used.add(fresh)
        parts.append(encrypt_block(plaintext[start : start + block_length], index, key, fresh))
    return b"".join(parts)
