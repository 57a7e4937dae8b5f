"""Limits on untrusted files: sizes, depths and numbers; no file is executed as code (SECURITY.md)."""

from __future__ import annotations

import ast
import bz2
import gzip
import json
import lzma
import resource
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.core.failures import UsageError
from conformance.operations.protocol import MAX_LINE, Breach, read_answer
from conformance.reports import pages
from conformance.table_io.file_access import FileAccessError, read_bytes
from conformance.vectors import load
from spec_ref.core.errors import SpecError
from spec_ref.data_files.parquet_thrift import read_parquet_schema
from spec_ref.encodings.avro.container import ContainerLimits, open_container
from spec_ref.encodings.puffin.compression import MAX_CONTENT, compress, decompress
from spec_ref.encodings.puffin.file import read_puffin
from spec_ref.json import documents
from spec_ref.json.documents import loads
from spec_ref.manifests import read_manifest
from spec_ref.table_metadata import read_metadata

ROOT = Path(__file__).parent.parent.parent
SECONDS = 50
"""Processor time within which each is refused: most take a hundredth of it, on a slow machine a tenth."""


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """No more than 2 GiB beyond what is in use, and little time."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.process_time() - began < SECONDS


def _long(value: int) -> bytes:
    number, out = value << 1, bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def _avro(payload: bytes, codec: str, count: int = 1) -> bytes:
    schema = b'{"type":"record","name":"r","fields":[{"name":"a","type":"bytes","field-id":1}]}'
    header = b"".join(_long(len(part)) + part for part in (b"avro.codec", codec.encode(), b"avro.schema", schema))
    return (
        b"Obj\x01" + _long(2) + header + _long(0) + bytes(16) + _long(count) + _long(len(payload)) + payload + bytes(16)
    )


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 250 + "]" * 250])
def test_json_that_nests_too_deep_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="TMD029"):
        loads(text)
    with pytest.raises(SpecError):
        read_metadata(text.encode())
    with pytest.raises(Breach):
        read_answer(text.encode())


def test_json_of_too_many_values_is_refused() -> None:
    with pytest.raises(SpecError, match=r"^TMD029: .*; expected at most \d+"):
        loads(b"[" + b"0," * (1 << 23) + b"0]")


def test_json_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert documents.MAX_BYTES == 1 << 30
    monkeypatch.setattr(documents, "MAX_BYTES", 1000)
    assert loads(b"[" + b" " * 900 + b"]") == []
    with pytest.raises(SpecError, match="; expected at most 1000 bytes"):
        loads(b"[" + b" " * 1000 + b"]")


def test_metadata_that_unpacks_to_too_much_is_refused() -> None:
    bomb = gzip.compress(bytes(1 << 20), 9) * 1100
    with pytest.raises(SpecError, match="TMD"):
        read_metadata(bomb)


@pytest.mark.parametrize("name", ["lz4", "zstd"])
def test_a_frame_that_unpacks_to_too_much_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match=f"; expected at most {1 << 28} bytes"):
        decompress(name, compress(name, bytes(MAX_CONTENT + 1)))
    with pytest.raises(SpecError, match="; expected at most 1000 bytes"):
        decompress(name, compress(name, bytes(1001)), limit=1000)


def _fed(stream: Any, size: int) -> bytes:
    piece = bytes(1 << 20)
    return b"".join(stream.compress(piece) for _ in range(size >> 20)) + bytes(stream.flush())


@pytest.mark.parametrize(
    ("codec", "compressor"),
    [
        ("deflate", lambda: zlib.compressobj(9, zlib.DEFLATED, -15)),
        ("bzip2", lambda: bz2.BZ2Compressor(1)),
        ("xz", lambda: lzma.LZMACompressor(preset=0)),
    ],
)
def test_an_avro_block_that_unpacks_to_too_much_is_refused(codec: str, compressor: Callable[[], Any]) -> None:
    data = _avro(_fed(compressor(), 130 << 20), codec)
    assert len(data) < 1 << 20
    with pytest.raises(SpecError, match=f"; expected at most {1 << 27} bytes"):
        open_container(data, "MAN001").payload(0)
    with pytest.raises(SpecError, match=f"; expected at most {1 << 20} bytes"):
        list(
            open_container(
                _avro(_fed(compressor(), 4 << 20), codec), "MAN001", ContainerLimits(total_bytes=1 << 20)
            ).payloads()
        )


@pytest.mark.parametrize("count", [1 << 40, (1 << 62) - 1])
def test_an_avro_block_does_not_have_more_objects_than_bytes(count: int) -> None:
    with pytest.raises(SpecError):
        list(read_manifest(_avro(b"\0", "null", count)).entries())


@pytest.mark.parametrize("place", [b"Obj\x01", b"Obj\x01\x02"])
def test_a_number_of_a_million_bytes_is_refused_at_once(place: bytes) -> None:
    with pytest.raises(SpecError, match="; expected at most 64 bits"):
        open_container(place + b"\xff" * (8 << 20), "MAN001")


def test_a_parquet_footer_that_nests_too_deep_is_refused() -> None:
    footer = b"\x15\x02\x19\x1c" + b"\x1c" * 200_000 + b"\0" * 10
    data = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(SpecError, match="PQT001"):
        read_parquet_schema(data)


def test_a_puffin_footer_says_no_more_than_there_is() -> None:
    with pytest.raises(SpecError, match="PUF003"):
        read_puffin(b"PFA1PFA1{}" + (1 << 30).to_bytes(4, "little") + bytes(4) + b"PFA1")


def test_a_file_that_is_too_large_is_not_held(tmp_path: Path) -> None:
    with open(tmp_path / "a", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileAccessError, match="at most"):
        read_bytes(str(tmp_path / "a"))


def test_an_answer_is_no_longer_than_the_protocol_says() -> None:
    assert MAX_LINE == 16 << 20  # what is longer is a breach: tests/conformance_unit/test_process_adapter.py


@pytest.mark.parametrize("text", ["", "[", "null", '{"suite": "../../x"}', "[" * 100_000])
def test_a_broken_file_of_vectors_is_reported(text: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.json").write_text(text)
    with pytest.raises(UsageError, match="broken vector file"):
        load(tmp_path)


# No file is code

OURS = {
    "conformance/engines/spark_reference/kernels.py",
    "conformance/table_io/writing/spark.py",
    "conformance/table_io/planning.py",
    "conformance/validator/remote.py",
    "conformance/validator/process_isolation.py",
    "conformance/validator/local.py",
}
"""Modules that unpickle what their own processes wrote, in files and pipes that nobody else can write to."""

LOADING = {
    "conformance/core/failures.py",
    "conformance/core/lazy_imports.py",
    "conformance/core/moved_modules.py",
    "conformance/engines/duckdb/adapter.py",
    "conformance/engines/duckdb/golden_writer.py",
    "conformance/operations/families.py",
    "conformance/operations/forms.py",
    "conformance/cli/matrix.py",
    "conformance/runner/targets.py",
    "conformance/reports/__init__.py",
    "conformance/races/stress/pyiceberg_client.py",
    "conformance/validator/catalog_process.py",
    "conformance/validator/fingerprints.py",
}
"""Modules that import others by names, which stand in tables of their own."""

STARTING = {
    "conformance/engines/flink/flink_sql.py",
    "conformance/engines/iceberg_java/adapter.py",
    "conformance/engines/trino/server.py",
    "conformance/runner/pipes.py",
    "conformance/table_io/catalogs/guardian.py",
    "conformance/table_io/catalogs/servers.py",
    "conformance/engine_setup/__main__.py",
    "conformance/engine_setup/built.py",
    "conformance/engine_setup/environments.py",
    "conformance/engine_setup/java.py",
    "conformance/races/stress/run.py",
    "conformance/validator/catalogs.py",
    "conformance/validator/remote.py",
}
"""Modules that start programs: adapters, servers, what installs engines, and Python with our own modules."""

UNPACKING = {"conformance/engines/trino/server.py", "conformance/engine_setup/archives.py"}
"""Modules that use archives: one writes a jar, one unpacks and checks every name (tests/engines/test_archives.py)."""

RUNNING = {"eval", "exec", "compile", "__import__", "marshal.loads", "yaml.load", "os.system"}


def _calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("package", ["spec_ref", "conformance"])
def test_nothing_that_is_read_is_run(package: str) -> None:
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    for path in paths:
        calls = set(_calls(path))
        name = path.relative_to(ROOT).as_posix()
        assert not calls & RUNNING, path
        if name not in OURS:
            assert not calls & {"pickle.loads", "pickle.load", "pickle.Unpickler"}, path
        if name not in LOADING:
            assert not calls & {"import_module", "importlib.import_module"}, path
        if name not in STARTING:
            assert not any(
                call.startswith(("subprocess.", "os.exec", "os.spawn", "os.posix_spawn")) for call in calls
            ), path
        if name not in UNPACKING:
            assert not calls & {"zipfile.ZipFile", "ZipFile", "tarfile.open", "shutil.unpack_archive"}, path
        for shell in ("shell=True", "shell = True"):
            assert shell not in path.read_text(encoding="utf-8"), path


def test_templates_escape_what_they_are_given() -> None:
    assert pages._environment().autoescape is True


def test_json_of_others_is_data(tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        read_metadata(json.dumps({"__class__": "os.system", "format-version": 2}).encode())
