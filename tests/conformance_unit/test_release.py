"""The archive of vectors: reproducible, and sufficient for a tool that does not have this project."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from conformance.vectors import load, shipped
from tools.release import ARCHIVE, ROOT, archive, release

TIME = 1_700_000_000

READER = """
import binascii, json, struct, sys, tarfile

def mix(h, k):  # MurmurHash3, x86, 32 bits, seed 0
    k = k * 0xCC9E2D51 & 0xFFFFFFFF
    k = (k << 15 | k >> 17) & 0xFFFFFFFF
    return h ^ k * 0x1B873593 & 0xFFFFFFFF

def murmur3(data):
    h = 0
    for at in range(0, len(data) // 4 * 4, 4):
        h = mix(h, int.from_bytes(data[at:at + 4], "little"))
        h = (h << 13 | h >> 19) & 0xFFFFFFFF
        h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF
    if len(data) % 4:
        h = mix(h, int.from_bytes(data[len(data) // 4 * 4:], "little"))
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> shift) * factor & 0xFFFFFFFF
    return h - (1 << 32) if h >> 31 else h

passed = failed = 0
with tarfile.open(sys.argv[1]) as tar:
    for member in tar:
        if "/hashing/" not in member.name:
            continue
        for vector in json.load(tar.extractfile(member))["vectors"]:
            kind, value = vector["args"]["type"], vector["args"]["value"]
            if kind not in ("int", "long", "string", "binary") or value is None or "ok" not in vector["expect"]:
                continue
            forms = {"string": str.encode, "binary": binascii.unhexlify}
            data = forms.get(kind, lambda number: struct.pack("<q", int(number)))(value)
            right = murmur3(data) == vector["expect"]["ok"]
            passed, failed = passed + right, failed + (not right)
print(passed, failed)
"""


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("release") / "vectors.tar.gz"
    path.write_bytes(archive(ROOT / "vectors", "iceberg-vectors-0", TIME))
    return path


def test_a_program_without_this_project_runs_vectors_of_the_archive(archived: Path, tmp_path: Path) -> None:
    program = tmp_path / "reader.py"
    program.write_text(READER)
    asked = [sys.executable, "-I", "-S", str(program), str(archived)]
    found = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=tmp_path)
    passed, failed = map(int, found.stdout.split())
    assert failed == 0
    types = ("int", "long", "string", "binary")
    hashed = [
        one for one in load(shipped()) if one.suite == "hashing" and "ok" in one.expect and one.args["type"] in types
    ]
    assert passed == sum(one.args["value"] is not None for one in hashed)


def test_the_archive_has_what_its_readme_names(archived: Path) -> None:
    with tarfile.open(archived) as tar:
        found = {member.name: member for member in tar}
    for name in (
        "README.md",
        "vectors.schema.json",
        "hashing/integers.json",
        "golden/tables/position-deletes-orc/index.json",
    ):
        assert f"iceberg-vectors-0/vectors/{name}" in found
    assert "iceberg-vectors-0/docs/protocol.md" in found
    assert "iceberg-vectors-0/LICENSE" in found
    assert list(found) == sorted(found)
    assert {(one.mtime, one.mode, one.uid, one.gid, one.uname) for one in found.values()} == {(TIME, 0o644, 0, 0, "")}


def test_the_archive_is_the_same_each_time(archived: Path) -> None:
    assert archive(ROOT / "vectors", "iceberg-vectors-0", TIME) == archived.read_bytes()
    assert archive(ROOT / "vectors", "iceberg-vectors-0", TIME + 1) != archived.read_bytes()


def test_a_release_is_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(TIME))
    before, after = release(tmp_path / "one"), release(tmp_path / "two")
    assert [path.name for path in before] == [path.name for path in after]
    assert [path.suffix for path in before] == [".gz", ".whl", ".gz", ""]
    assert [path.read_bytes() for path in before] == [path.read_bytes() for path in after]
    assert any(path.name.startswith(ARCHIVE) for path in before)
    for line in before[-1].read_text().splitlines():
        sum_, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "one" / name).read_bytes()).hexdigest() == sum_
