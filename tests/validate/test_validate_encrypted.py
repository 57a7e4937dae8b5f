"""Encrypted tables are checked like others with their keys; without keys, what was not read is named."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import conformance
from conformance.cli import main
from conformance.core.failures import UsageError
from conformance.table_io import file_access
from conformance.table_io.encryption import KeyFile, KeyService, parse_key_file
from conformance.table_io.file_access import read_bytes, write_bytes
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, TableReport, validate
from conformance.vectors import shipped
from spec_ref.checks.findings import Severity
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.encodings.aes_gcm_stream import StreamKey, block_aad, write_header, write_stream
from spec_ref.manifests.data_file import DataFile, FileFormat
from tests.encrypted_tables import KEY, MASTER, PREFIX, ROWS, SERVICE, STREAM, encrypted, encrypted_file, key_metadata
from tools.table_kit import TableKit

WRITTEN = shipped() / "golden" / "encrypted" / "iceberg-java-1.12.0"
WRITTEN_AT = "/iceberg-conformance/encrypted/iceberg-java-1.12.0/"
INDEX = json.loads((WRITTEN / "index.json").read_text(encoding="utf-8"))


def check(location: str, keys: KeyService | None, snapshots: str = "current") -> TableReport:
    return validate(location, Level.ROWS, LocalBackend(), SnapshotSelection(snapshots), key_service=keys)


def found(report: TableReport, *severities: Severity) -> set[str]:
    wanted = severities or (Severity.ERROR,)
    return {one.check for one in report.findings if one.severity in wanted}


# Tables that Iceberg-Java wrote


@pytest.fixture
def _as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are kept flat, and name each other by the places that they were written to."""
    original = file_access.split_location

    def split(location: str) -> file_access.StoreLocation:
        place = original(location)
        _, inside, below = place.path.partition(WRITTEN_AT)
        if not inside:
            return place
        file_format, *_, name = below.split("/")
        return file_access.StoreLocation("file", "", str(WRITTEN / file_format / name))

    monkeypatch.setattr(file_access, "split_location", split)


def metadata_file(file_format: str) -> str:
    (path,) = (WRITTEN / file_format).glob("*.metadata.json")
    return str(path)


@pytest.mark.parametrize("file_format", sorted(INDEX["tables"]))
def test_the_golden_files_are_those_that_were_written(file_format: str) -> None:
    for name, sha256 in INDEX["tables"][file_format].items():
        data = (WRITTEN / file_format / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256
        assert name.endswith(".json") or b"name 2" not in data
        assert name.endswith(".json") or data[:4] in (b"AGS1", b"PARE")


@pytest.mark.usefixtures("_as_written")
@pytest.mark.parametrize("file_format", sorted(INDEX["tables"]))
def test_a_table_that_iceberg_java_encrypted_is_checked_whole(file_format: str) -> None:
    location, keys = metadata_file(file_format), parse_key_file(INDEX["keys"])
    report = check(location, keys, "all")
    assert found(report, Severity.ERROR, Severity.WARNING, Severity.INFO) == set()
    assert (report.manifests, report.entries) == (4, 4)
    rows = conformance.read_table(conformance.load_table(location, keys=keys)).to_pylist()
    assert sorted([row["id"], row["name"]] for row in rows) == INDEX["rows"]


@pytest.mark.usefixtures("_as_written")
def test_without_keys_the_lists_that_were_not_read_are_named() -> None:
    report = check(metadata_file("parquet"), None, "all")
    (finding,) = (one for one in report.findings if one.severity is not Severity.TOLERATED)
    assert (finding.check, finding.severity, finding.count) == ("snapshot-key-id-encrypted", Severity.INFO, 4)
    assert (report.manifests, report.entries) == (0, 0)


# Tables with faults, each of which only somebody with the keys can see


@pytest.fixture
def kit(tmp_path: Path) -> TableKit:
    fields = (NestedField(1, "id", False, LONG), NestedField(2, "s", False, STRING))
    return TableKit(f"file:{tmp_path}/t", fields, version=V3)


@pytest.mark.parametrize("file_format", [FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO])
def test_files_and_rows_are_checked_with_keys(kit: TableKit, file_format: FileFormat) -> None:
    data = encrypted_file(kit.file(ROWS, file_format=file_format))
    kit.commit(data, kit.file([{1: 11, 2: "plain"}]))
    kit.commit(encrypted_file(kit.deletion_vector(data, [0, 5])))
    fields = (kit.fields[0],)
    kit.commit(encrypted_file(kit.equality_deletes([{1: 7}], [1], fields=fields, file_format=file_format)))
    table = encrypted(kit)
    assert found(check(table.metadata_location, SERVICE), Severity.ERROR, Severity.INFO) == set()
    assert found(check(table.metadata_location, None), Severity.INFO) >= {"snapshot-key-id-encrypted"}


@pytest.mark.parametrize("file_format", [FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO])
def test_what_an_entry_states_falsely_about_an_encrypted_file_is_found(kit: TableKit, file_format: FileFormat) -> None:
    data = encrypted_file(kit.file(ROWS, file_format=file_format))
    false = {"record_count": 9, "file_size_in_bytes": data.file_size_in_bytes + 1, "null_value_counts": {1: 3}}
    kit.commit(attrs.evolve(data, **false))
    report = check(encrypted(kit).metadata_location, SERVICE)
    wrong = {one.requirement for one in report.findings if one.severity is Severity.ERROR}
    assert wrong >= {"DFL005", "DFL006", "DFL013"}


def test_a_vector_of_another_cardinality_is_found(kit: TableKit) -> None:
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(attrs.evolve(encrypted_file(kit.deletion_vector(data, [0, 5])), record_count=3))
    assert found(check(encrypted(kit).metadata_location, SERVICE))


def block(index: int, plain: bytes, nonce: bytes, aad: bytes | None = None) -> bytes:
    return nonce + AESGCM(KEY).encrypt(nonce, plain, block_aad(PREFIX, index) if aad is None else aad)


def nonces(*numbers: int) -> Callable[[], bytes]:
    made = iter(numbers)
    return lambda: next(made).to_bytes(12, "big")


def one_nonce(plain: bytes) -> bytes:
    """A stream of two blocks with one nonce."""
    half = len(plain) // 2 + 1
    return write_header(half) + block(0, plain[:half], b"n" * 12) + block(1, plain[half:], b"n" * 12)


def unauthenticated(plain: bytes) -> bytes:
    """A stream whose block has the prefix alone as its authenticated data."""
    return write_header(1 << 20) + block(0, plain, b"n" * 12, PREFIX)


STREAMS: dict[str, Callable[[bytes], bytes]] = {
    "gcm-aad": unauthenticated,
    "gcm-block-length": lambda plain: write_header(len(plain)) + block(0, plain, b"n" * 12) + block(1, b"", b"m" * 12),
    "gcm-block-structure-length": lambda plain: write_header(len(plain)) + block(0, plain, b"n" * 12) + b"short",
    "gcm-file-structure-block-length": lambda plain: b"AGS1" + bytes(4) + block(0, plain, b"n" * 12),
    "gcm-file-structure-length": lambda _: b"AGS1",
    "gcm-file-structure-magic": lambda plain: b"AGS2" + write_stream(plain, STREAM)[4:],
    "gcm-keys-and-nonces-nonce": one_nonce,
    "gcm-reader-verifies": lambda plain: write_stream(plain, StreamKey(b"o" * 16, PREFIX)),
}
"""Streams of a content that each break one rule, which are as long as their key metadata says."""


@pytest.mark.parametrize("check_id", [*STREAMS, "gcm-trusted-length", "gcm-keys-and-nonces-key"])
def test_a_stream_that_breaks_a_rule_is_found(kit: TableKit, check_id: str) -> None:
    file = kit.file(ROWS, file_format=FileFormat.AVRO)
    stream = STREAMS.get(check_id, lambda plain: write_stream(plain, STREAM))(read_bytes(file.file_path))
    write_bytes(file.file_path, stream)
    key = key_metadata(len(stream) + (check_id == "gcm-trusted-length"))
    if check_id == "gcm-keys-and-nonces-key":
        key = key.replace(b"\x20" + KEY, b"\x1e" + KEY[:-1])
    kit.commit(attrs.evolve(file, key_metadata=key, file_size_in_bytes=len(stream)))
    report = check(encrypted(kit).metadata_location, SERVICE)
    assert found(report) == {check_id}
    (finding,) = (one for one in report.findings if one.check == check_id)
    assert finding.violation.file == file.file_path


@pytest.mark.parametrize("pattern", ["metadata/snap-*.avro", "metadata/manifest-*.avro"])
def test_a_changed_list_or_manifest_is_found(kit: TableKit, tmp_path: Path, pattern: str) -> None:
    kit.commit(encrypted_file(kit.file(ROWS)))
    table = encrypted(kit)
    (path,) = (tmp_path / "t").glob(pattern)
    path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1]))
    assert found(check(table.metadata_location, SERVICE)) == {"gcm-reader-verifies"}


def test_a_parquet_file_with_another_key_is_found(kit: TableKit) -> None:
    kit.commit(attrs.evolve(encrypted_file(kit.file(ROWS)), key_metadata=key_metadata(None).replace(KEY, b"o" * 16)))
    report = check(encrypted(kit).metadata_location, SERVICE)
    assert {one.requirement for one in report.findings if one.severity is Severity.ERROR} == {"PQT007"}


# Keys of another form, and keys that are not there


def other_key(file: DataFile) -> DataFile:
    return attrs.evolve(file, key_metadata=b"\x02")


def test_key_metadata_of_another_form_is_named_and_is_no_error(kit: TableKit) -> None:
    kit.commit(other_key(kit.file(ROWS)), other_key(kit.file(ROWS, file_format=FileFormat.AVRO)))
    data = kit.file([{1: 20, 2: None}])
    kit.commit(data)
    kit.commit(other_key(kit.deletion_vector(data, [0])))
    report = check(encrypted(kit).metadata_location, SERVICE)
    assert found(report) == set()
    of_check = [one for one in report.findings if one.check == "data-file-key-metadata-encrypted"]
    assert sum(one.count for one in of_check) == 3
    assert {one.severity for one in of_check} == {Severity.INFO}


def test_a_key_that_the_file_of_keys_lacks_is_a_wrong_use(kit: TableKit) -> None:
    kit.commit(encrypted_file(kit.file(ROWS)))
    table = encrypted(kit)
    with pytest.raises(UsageError, match="no key 'master'"):
        check(table.metadata_location, KeyFile({}))


def test_the_command_and_the_library_take_a_file_of_keys(
    kit: TableKit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit.commit(attrs.evolve(encrypted_file(kit.file(ROWS)), record_count=9))
    location = encrypted(kit).metadata_location
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"master": MASTER.hex()}), encoding="utf-8")
    assert main(["validate", location, "--level", "rows", "--keys", str(keys), "--format", "json"]) == 1
    assert "DFL005" in capsys.readouterr().out
    assert "DFL005" in {one.requirement for one in conformance.validate(location, level="rows", keys=keys)}
    assert "DFL005" not in {one.requirement for one in conformance.validate(location, level="rows")}
    keys.write_text("{}", encoding="utf-8")
    assert main(["validate", location, "--keys", str(keys)]) == 2
    assert "no key 'master'" in capsys.readouterr().err


def test_a_missing_library_for_aes_is_a_wrong_use_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    monkeypatch.delitem(sys.modules, "spec_ref.encodings.aes_gcm_stream")
    with pytest.raises(UsageError, match=r"\[encryption\]"):
        parse_key_file({})
