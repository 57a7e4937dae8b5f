"""The cipher behind the vectors of encryption is the one of the standards and of another implementation."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.derive.aes_gcm import cipher, encrypt


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ],
)
def test_a_block_is_that_of_the_standard(size: int, expected: str) -> None:
    """FIPS 197, Appendix C."""
    assert f"{cipher(bytes(range(size)), 0x00112233445566778899AABBCCDDEEFF):032x}" == expected


def test_a_text_is_that_of_the_specification_of_gcm() -> None:
    """Test cases 1 and 2 of McGrew and Viega, whose mode SP 800-38D adopted."""
    assert encrypt(bytes(16), bytes(12), b"", b"")[1].hex() == "58e2fccefa7e3061367f1d57a4e7455a"
    ciphertext, tag = encrypt(bytes(16), bytes(12), bytes(16), b"")
    assert (ciphertext.hex(), tag.hex()) == ("0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf")


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from((16, 24, 32)).flatmap(lambda size: st.binary(min_size=size, max_size=size)),
    st.binary(min_size=12, max_size=12),
    st.binary(max_size=50),
    st.binary(max_size=40),
)
def test_a_text_is_that_of_a_library(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> None:
    assert b"".join(encrypt(key, nonce, plaintext, aad)) == AESGCM(key).encrypt(nonce, plaintext, aad)
