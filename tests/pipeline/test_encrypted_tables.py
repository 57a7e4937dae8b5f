"""Tables that are encrypted as Iceberg-Java encrypts them are read, and changed files and missing keys are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

import conformance
from conformance.core.failures import UsageError
from conformance.table_io.encryption import KeyFile, load_key_file
from conformance.table_io.file_access import FileAccessError
from conformance.table_io.local import read_table
from conformance.table_io.records import read_rows
from conformance.table_io.tables import Table
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.manifests.data_file import FileFormat
from tests.encrypted_tables import (
    KEY,
    MASTER,
    ROWS,
    SERVICE,
    WRAPPING,
    encrypted,
    encrypted_file,
    key_metadata,
    sealed,
)
from tools.table_kit import TableKit


@pytest.fixture
def kit(tmp_path: Path) -> TableKit:
    return TableKit(
        f"file:{tmp_path}/t", (NestedField(1, "id", False, LONG), NestedField(2, "s", False, STRING)), version=V3
    )


def ids(table: Table) -> list[int]:
    found = sorted(read_table(table).read_all().column("id").to_pylist())
    assert found == sorted(row["id"] for row in read_rows(table))
    return found


@pytest.mark.parametrize("file_format", [FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO])
def test_rows_and_deletes_of_an_encrypted_table_are_read(kit: TableKit, file_format: FileFormat) -> None:
    data = encrypted_file(kit.file(ROWS, file_format=file_format))
    kit.commit(data, encrypted_file(kit.file([{1: 10, 2: None}])), kit.file([{1: 11, 2: "plain"}]))
    kit.commit(encrypted_file(kit.deletion_vector(data, [0, 5])))
    fields = (kit.fields[0],)
    kit.commit(encrypted_file(kit.equality_deletes([{1: 7}], [1], fields=fields, file_format=file_format)))
    assert ids(encrypted(kit)) == [1, 2, 3, 4, 6, 8, 9, 10, 11]


@pytest.fixture
def table(kit: TableKit) -> Table:
    kit.commit(encrypted_file(kit.file(ROWS, file_format=FileFormat.AVRO)))
    return encrypted(kit)


def test_a_table_is_opened_with_a_file_of_keys(table: Table, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"master": MASTER.hex()}), encoding="utf-8")
    assert conformance.read_table(conformance.load_table(table.metadata_location, keys=keys)).num_rows == 10
    assert conformance.read_table(conformance.load_table(table.metadata_location, keys=SERVICE)).num_rows == 10


def test_without_a_key_service_the_manifest_list_is_named(table: Table) -> None:
    with pytest.raises(FileAccessError, match=r"snap-1000\.avro: the manifest list is encrypted, and no key service"):
        read_table(attrs.evolve(table, key_service=None))


@pytest.mark.parametrize(
    ("keys", "reason"),
    [({}, "no key 'master'"), ({"master": bytes(16)}, "'master' of the key file does not unwrap")],
    ids=["missing", "another"],
)
def test_a_key_that_the_service_does_not_have_is_named(table: Table, keys: dict[str, bytes], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        read_table(attrs.evolve(table, key_service=KeyFile(keys)))


def changed(table: Table, at: int, **members: Any) -> Table:
    """The table with other members of a key."""
    keys = list(table.metadata.encryption_keys or ())
    keys[at] = attrs.evolve(keys[at], **members)
    return attrs.evolve(table, metadata=attrs.evolve(table.metadata, encryption_keys=tuple(keys)))


def test_keys_that_are_not_of_the_form_are_not_used(table: Table) -> None:
    with pytest.raises(SpecError, match="SNP012"):
        read_table(changed(table, 1, key_id="other"))
    with pytest.raises(SpecError, match="ENC002"):
        read_table(changed(table, 1, encrypted_key_metadata="AAAA!"))
    for at, members in (
        (1, {"encrypted_by_id": None}),
        (1, {"encrypted_by_id": "nowhere"}),
        (0, {"encrypted_by_id": None}),
        (0, {"properties": None}),
    ):
        with pytest.raises(FileAccessError, match="its keys are not supported"):
            read_table(changed(table, at, **members))
    for at, members in (
        (0, {"properties": {"KEY_TIMESTAMP": "1700000000001"}}),
        (1, {"encrypted_key_metadata": sealed(WRAPPING, key_metadata(9))}),
        (1, {"encrypted_key_metadata": "AAAA"}),
        (0, {"encrypted_key_metadata": sealed(MASTER, b"short")}),
    ):
        with pytest.raises(FileAccessError, match="cannot be decrypted"):
            read_table(changed(table, at, **members))


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (key_metadata(9, b"\x02"), "the form of its key metadata is not supported"),
        (b"", "the form of its key metadata is not supported"),
        (key_metadata(9)[:-1], "its key metadata is truncated"),
        (key_metadata(9)[:6], "its key metadata is truncated"),
        (key_metadata(9) + b"\0", "bytes follow its key metadata"),
        (key_metadata(None), "has no trusted length"),
    ],
    ids=["version", "empty", "no length", "cut", "longer", "null length"],
)
def test_key_metadata_of_another_form_is_refused(kit: TableKit, metadata: bytes, reason: str) -> None:
    kit.commit(kit.file(ROWS, file_format=FileFormat.AVRO, key_metadata=metadata))
    with pytest.raises(FileAccessError, match=reason):
        read_table(kit.table()).read_all()


@pytest.mark.parametrize("pattern", ["metadata/snap-*.avro", "metadata/manifest-*.avro", "data/*.avro"])
def test_a_changed_file_is_refused_by_its_name(table: Table, tmp_path: Path, pattern: str) -> None:
    (path,) = (tmp_path / "t").glob(pattern)
    path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1]))
    with pytest.raises(SpecError, match=rf"{path.name}.*GCM007"):
        read_table(table).read_all()
    path.write_bytes(path.read_bytes()[: 8 + 128])  # the first block
    with pytest.raises(SpecError, match=rf"{path.name}.*GCM005"):
        read_table(table).read_all()


def test_a_parquet_file_with_another_key_is_refused(kit: TableKit) -> None:
    file = encrypted_file(kit.file(ROWS))
    other = key_metadata(None).replace(KEY, b"o" * 16)
    kit.commit(attrs.evolve(file, key_metadata=other))
    with pytest.raises(SpecError, match="PQT007"):
        read_table(kit.table()).read_all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", "expected a JSON object of AES keys in hexadecimal by their ids"),
        ('{"a": 1}', "/a: expected 16, 24 or 32 bytes in hexadecimal"),
        ('{"a": "xy"}', "/a: expected 16, 24 or 32 bytes in hexadecimal"),
        ('{"a/b": "00"}', "/a~1b: expected 16, 24 or 32 bytes in hexadecimal"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_of_keys_of_another_form_is_refused_with_the_reason(
    tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "keys.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        load_key_file(path)
    assert str(refused.value) == f"{path}: {message}"
