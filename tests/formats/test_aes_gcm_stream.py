"""AES GCM streams: their layout byte by byte, and the refusal of every modified stream."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.encodings.aes_gcm_stream import (
    StreamKey,
    StreamLayout,
    block_layout,
    check_nonces,
    open_stream,
    read_stream,
    write_header,
    write_stream,
)

KEY = StreamKey(bytes(range(16)), b"file-1")
PLAINTEXT = bytes(range(10))
BLOCK = 4


def numbered() -> Callable[[], bytes]:
    """Nonces that differ and are known: for tests alone."""
    numbers = iter(range(1 << 20))
    return lambda: next(numbers).to_bytes(12, "big")


def parts(stream: bytes, block_length: int = BLOCK) -> list[bytes]:
    """The header and the cipher blocks, cut without the code under test."""
    size = block_length + 28
    return [stream[:8], *(stream[at : at + size] for at in range(8, len(stream), size))]


STREAM = write_stream(PLAINTEXT, KEY, block_length=BLOCK, nonce=numbered())


def refusal(stream: bytes, key: StreamKey = KEY, length: int | None = None) -> tuple[str, str, str]:
    with pytest.raises(SpecError) as caught:
        read_stream(stream, key, len(stream) if length is None else length)
    return caught.value.violation.requirement, caught.value.violation.aspect, caught.value.violation.path


def sealed(plaintext: bytes, aad: bytes, nonce: bytes = bytes(12), key: bytes = KEY.key) -> bytes:
    """A cipher block of AES-GCM by the streaming interface of the library, which the reference does not use."""
    encryptor = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
    encryptor.authenticate_additional_data(aad)
    ciphertext = encryptor.update(plaintext) + encryptor.finalize()
    return nonce + ciphertext + encryptor.tag


def test_a_stream_is_its_header_and_blocks_of_nonce_ciphertext_and_tag() -> None:
    """GCM001 to GCM004, from the text: each part is made here."""
    expected = [b"\x41\x47\x53\x31\x04\x00\x00\x00"]
    for index, block in enumerate((PLAINTEXT[:4], PLAINTEXT[4:8], PLAINTEXT[8:])):
        expected.append(sealed(block, b"file-1" + bytes([index, 0, 0, 0]), index.to_bytes(12, "big")))
    assert parts(STREAM) == expected
    assert [len(part) for part in expected] == [8, 32, 32, 30]


def test_a_known_answer_of_aes_gcm() -> None:
    """Test case 2 of the GCM specification of McGrew and Viega: key, nonce and plaintext of zeros, no AAD."""
    assert (
        sealed(bytes(16), b"", key=bytes(16))[12:].hex()
        == "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"
    )


@given(
    plaintext=st.binary(max_size=300),
    block_length=st.integers(1, 64),
    key=st.sampled_from((16, 24, 32)).flatmap(lambda size: st.binary(min_size=size, max_size=size)),
    prefix=st.binary(max_size=20),
    data=st.data(),
)
def test_what_is_written_is_read_whole_and_by_range(
    plaintext: bytes, block_length: int, key: bytes, prefix: bytes, data: st.DataObject
) -> None:
    own = StreamKey(key, prefix)
    stream = write_stream(plaintext, own, block_length=block_length)
    blocks = -(-len(plaintext) // block_length)
    assert len(stream) == 8 + len(plaintext) + 28 * blocks
    assert len({part[:12] for part in parts(stream, block_length)[1:]}) == blocks
    reader = open_stream(stream, own, len(stream))
    assert len(reader) == len(plaintext)
    assert reader.read() == plaintext
    start, stop = (data.draw(st.integers(0, 310)) for _ in range(2))
    assert reader.read(start, stop) == plaintext[start:stop]


@given(st.integers(0, 8 * len(STREAM) - 1))
def test_every_changed_bit_is_refused(bit: int) -> None:
    changed = bytearray(STREAM)
    changed[bit // 8] ^= 1 << bit % 8
    code = refusal(bytes(changed))[0]
    # A changed block length shifts the blocks, so that the last may become too short or empty.
    assert code in ({"GCM001", "GCM002", "GCM003", "GCM007"} if bit < 64 else {"GCM007"})


@given(st.permutations(range(6)))
def test_blocks_in_another_order_are_refused(order: list[int]) -> None:
    stream = write_stream(bytes(24), KEY, block_length=BLOCK)
    header, *blocks = parts(stream)
    moved = b"".join([header, *(blocks[at] for at in order)])
    if moved == stream:
        assert read_stream(moved, KEY, len(moved)) == bytes(24)
    else:
        assert refusal(moved)[0] == "GCM004"


@pytest.mark.parametrize("kept", range(len(STREAM)))
def test_a_stream_that_was_cut_is_refused(kept: int) -> None:
    assert refusal(STREAM[:kept], length=len(STREAM))[0] == "GCM005"


def test_a_cut_at_the_end_of_a_block_shows_by_the_trusted_length_alone() -> None:
    cut = STREAM[: 8 + 32 + 32]
    assert read_stream(cut, KEY, len(cut)) == PLAINTEXT[:8]
    assert refusal(cut, length=len(STREAM))[0] == "GCM005"
    assert refusal(STREAM, length=len(cut))[0] == "GCM005"


@pytest.mark.parametrize(
    ("stream", "refused"),
    [
        (b"AGS1\x04\x00\x00", ("GCM001", "length", "")),
        (b"AGS2" + STREAM[4:], ("GCM001", "magic", "")),
        (b"AGS1\x00\x00\x00\x00" + STREAM[8:], ("GCM001", "block-length", "")),
        (b"AGS1\x00\x00\x00\x80" + STREAM[8:], ("GCM001", "block-length", "")),
        (b"AGS1\x00\x00\x00\x04" + STREAM[8:], ("GCM007", "", "/blocks/0")),
        (STREAM[:-3], ("GCM002", "length", "/blocks/2")),
        (STREAM[:-2], ("GCM003", "", "/blocks/2")),
        (STREAM[:20] + STREAM[36:40] + STREAM[20:36] + STREAM[40:], ("GCM007", "", "/blocks/0")),
        (STREAM[:-1] + bytes([STREAM[-1] ^ 1]), ("GCM007", "", "/blocks/2")),
        (STREAM[:8] + sealed(b"abcd", b"file-1"), ("GCM004", "", "/blocks/0")),
        (STREAM[:8] + sealed(b"abcd", bytes(4)), ("GCM004", "", "/blocks/0")),
        (STREAM[:40] + sealed(b"abcd", b"file-1\x00\x00\x00\x01"), ("GCM004", "", "/blocks/1")),
        (STREAM[:40] + STREAM[8:40] + STREAM[72:], ("GCM004", "", "/blocks/1")),
        (STREAM[:8] + sealed(b"abcd", b"file-2\x00\x00\x00\x00"), ("GCM007", "", "/blocks/0")),
    ],
    ids=[
        "no header",
        "magic",
        "no block length",
        "block length of 32 bits",
        "block length in big-endian order",
        "last block too short",
        "last block empty",
        "tag before the ciphertext",
        "tag",
        "prefix alone",
        "no prefix",
        "index in big-endian order",
        "block twice",
        "block of another file",
    ],
)
def test_a_stream_that_breaks_a_rule_is_refused(stream: bytes, refused: tuple[str, str, str]) -> None:
    assert refusal(stream) == refused


def test_a_wrong_key_or_prefix_is_refused() -> None:
    assert refusal(STREAM, StreamKey(bytes(16), b"file-1"))[0] == "GCM007"
    assert refusal(STREAM, StreamKey(KEY.key, b"file-2"))[0] == "GCM007"


def test_a_block_is_verified_before_a_byte_of_it_is_read() -> None:
    """GCM007: each block for itself; one that a range does not touch is not needed."""
    changed = bytearray(STREAM)
    changed[8 + 32 + 12] ^= 1
    reader = open_stream(bytes(changed), KEY, len(changed))
    assert reader.read(0, 4) == PLAINTEXT[:4]
    assert reader.read(8) == PLAINTEXT[8:]
    for start, stop in ((0, 5), (4, 5), (7, 8), (7, 10)):
        with pytest.raises(SpecError, match="GCM007"):
            reader.read(start, stop)


def test_a_stream_of_nothing_has_no_block_or_an_empty_one() -> None:
    """Contradiction B26."""
    assert write_stream(b"", KEY) == b"AGS1\x00\x00\x10\x00"
    assert read_stream(b"AGS1\x00\x00\x10\x00", KEY, 8) == b""
    one = write_header(BLOCK) + sealed(b"", b"file-1" + bytes(4))
    assert read_stream(one, KEY, 36) == b""
    assert refusal(one[:-1] + bytes([one[-1] ^ 1])) == ("GCM007", "", "/blocks/0")


@pytest.mark.parametrize("size", [0, 1, 15, 17, 20, 31, 33])
def test_a_key_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(SpecError, match="GCM006"):
        StreamKey(bytes(size))


def test_a_nonce_is_used_once() -> None:
    with pytest.raises(SpecError, match="GCM006") as caught:
        write_stream(PLAINTEXT, KEY, block_length=BLOCK, nonce=lambda: bytes(12))
    assert caught.value.violation.path == "/blocks/1"


def test_nonces_of_a_file_are_compared_without_its_key() -> None:
    check_nonces(STREAM)
    check_nonces(write_header(BLOCK))
    twice = write_header(BLOCK) + sealed(b"abcd", b"") + sealed(b"efgh", b"", bytes([1] * 12)) + sealed(b"i", b"")
    with pytest.raises(SpecError, match="GCM006") as caught:
        check_nonces(twice)
    assert caught.value.violation.path == "/blocks/2"


@pytest.mark.parametrize("size", [0, 11, 16])
def test_a_nonce_has_12_bytes(size: int) -> None:
    with pytest.raises(SpecError, match="GCM002"):
        write_stream(PLAINTEXT, KEY, nonce=lambda: bytes(size))


@pytest.mark.parametrize("block_length", [-1, 0, 1 << 31])
def test_a_block_length_out_of_range_is_not_written(block_length: int) -> None:
    with pytest.raises(SpecError, match="GCM001"):
        write_stream(PLAINTEXT, KEY, block_length=block_length)


def test_a_block_has_an_index_of_31_bits() -> None:
    assert block_layout(8 + 29 * (1 << 31), 1) == StreamLayout(8 + 29 * (1 << 31), 1)
    with pytest.raises(SpecError, match="GCM004"):
        block_layout(8 + 29 * ((1 << 31) + 1), 1)


def test_a_length_without_room_for_a_header_is_refused() -> None:
    with pytest.raises(SpecError, match="GCM001"):
        block_layout(7, 1)


def test_a_secret_key_is_in_no_text() -> None:
    assert "key=" not in repr(KEY)
    assert "key=b" not in repr(open_stream(STREAM, KEY, len(STREAM)))


def test_without_the_library_the_error_says_how_to_get_it() -> None:
    program = "import sys; sys.modules['cryptography'] = None; import spec_ref.encodings.aes_gcm_stream"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'iceberg-conformance[encryption]'" in done.stderr
