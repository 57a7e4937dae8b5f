"""Iceberg-Java's own streams read what the reference encrypts, and the reference reads what they encrypt."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from conformance.adapter_sdk.spark_settings import JAVA
from conformance.engine_setup.catalog import find_engine
from conformance.engine_setup.java import class_path
from spec_ref.encodings.aes_gcm_stream import BLOCK_LENGTH, StreamKey, open_stream, read_stream, write_stream

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).with_name("java") / "AesGcmStreams.java"
SIZES = [0, 1, 17, BLOCK_LENGTH - 1, BLOCK_LENGTH, BLOCK_LENGTH + 1, 2 * BLOCK_LENGTH + 5]
KEYS = [
    StreamKey(random.Random(size).randbytes(size), prefix) for size, prefix in ((16, b"a"), (24, b""), (32, b"\xff"))
]


def run(requests: list[tuple[object, ...]]) -> list[str]:
    """The answers of the program to requests; a key is two words of a request."""
    words = ((part for one in request for part in _words(one)) for request in requests)
    lines = "".join(" ".join(line) + "\n" for line in words)
    command = ["java", *JAVA.split(), "-cp", class_path(find_engine("iceberg-java")), str(PROGRAM)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _words(one: object) -> list[str]:
    return [one.key.hex(), one.aad_prefix.hex()] if isinstance(one, StreamKey) else [str(one)]


def test_the_reference_reads_what_iceberg_java_encrypts(tmp_path: Path) -> None:
    contents = {(key, size): random.Random(size).randbytes(size) for key in KEYS for size in SIZES}
    requests: list[tuple[object, ...]] = []
    for at, (key, size) in enumerate(contents):
        (tmp_path / f"{at}.plain").write_bytes(contents[key, size])
        requests.append(("write", key, tmp_path / f"{at}.plain", tmp_path / f"{at}.encrypted"))
    assert run(requests) == ["written"] * len(requests)
    for at, ((key, size), content) in enumerate(contents.items()):
        stream = (tmp_path / f"{at}.encrypted").read_bytes()
        # Contradiction B26: a stream of nothing has a block without ciphertext.
        assert len(stream) == 8 + size + 28 * max(1, -(-size // BLOCK_LENGTH))
        assert read_stream(stream, key, len(stream)) == content
        assert open_stream(stream, key, len(stream)).read(size // 2, size - 1) == content[size // 2 : max(0, size - 1)]


def test_iceberg_java_reads_what_the_reference_encrypts(tmp_path: Path) -> None:
    requests: list[tuple[object, ...]] = []
    expected, contents = [], []
    for at, (key, size) in enumerate((key, size) for key in KEYS for size in SIZES):
        content = random.Random(size).randbytes(size)
        stream = write_stream(content, key)
        (tmp_path / f"{at}.encrypted").write_bytes(stream)
        start = size // 3
        requests.append(("read", key, tmp_path / f"{at}.encrypted", tmp_path / f"{at}.plain", len(stream), start, size))
        # The stream of nothing that the text describes is shorter than the least that Iceberg-Java reads (B26).
        expected.append(f"read {size}" if size else "refused IllegalStateException")
        contents.append(content[start:] if size else None)
    assert run(requests) == expected
    for at, content in enumerate(contents):
        path = tmp_path / f"{at}.plain"
        assert (path.read_bytes() if path.exists() else None) == content


def test_both_refuse_what_is_not_what_was_written(tmp_path: Path) -> None:
    key = KEYS[0]
    content = bytes(2 * BLOCK_LENGTH + 5)
    stream = write_stream(content, key)
    size = BLOCK_LENGTH + 28
    blocks = [stream[8 : 8 + size], stream[8 + size : 8 + 2 * size], stream[8 + 2 * size :]]
    wrong = {
        "swapped": stream[:8] + blocks[1] + blocks[0] + blocks[2],
        "tag": stream[:-1] + bytes([stream[-1] ^ 1]),
        "magic": b"AGS2" + stream[4:],
        "cut": stream[: 8 + 2 * size],
    }
    requests: list[tuple[object, ...]] = []
    for name, changed in wrong.items():
        (tmp_path / name).write_bytes(changed)
        requests.append(("read", key, tmp_path / name, tmp_path / "plain", len(stream), 0, len(content)))
        with pytest.raises(ValueError, match=r"GCM00[1457]"):
            read_stream(changed, key, len(stream))
    (tmp_path / "whole").write_bytes(stream)
    for other in (StreamKey(key.key, b"b"), KEYS[2]):
        requests.append(("read", other, tmp_path / "whole", tmp_path / "plain", len(stream), 0, len(content)))
        with pytest.raises(ValueError, match="GCM007"):
            read_stream(stream, other, len(stream))
    assert [answer.split()[0] for answer in run(requests)] == ["refused"] * len(requests)
