"""Encrypted tables are written as Iceberg-Java encrypts them: no file but the metadata is in plain text."""

from __future__ import annotations

from pathlib import Path

import attrs
import pyarrow as pa
import pytest

from conformance.core.failures import UsageError
from conformance.table_io.encryption import (
    KEY_ID,
    KEY_LENGTH,
    KEY_TIMESTAMP,
    KeyFile,
    find_wrapping_key,
    read_key_metadata,
)
from conformance.table_io.local import read_table
from conformance.table_io.tables import load_table
from conformance.table_io.writing import (
    Mode,
    WritableTable,
    append,
    compact,
    create_table,
    delete,
    delete_keys,
    merge,
    open_table,
    overwrite,
    records,
    rewrite_manifests,
    update,
)
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.checks.findings import Severity
from spec_ref.commits.changes import ExpireSnapshots
from spec_ref.core.versions import V2, V3
from spec_ref.data_types.types import LONG, STRING, NestedField, VariantType
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.table_metadata.encryption import EncryptionKey

MASTER = b"0123456789012345"
KEYS = KeyFile({"master": MASTER})
FIELDS = (NestedField(1, "id", required=True, type=LONG), NestedField(2, "s", required=False, type=STRING))
PROPERTIES = {KEY_ID: "master"}


def equal(number: int) -> Comparison:
    return Comparison(Operation.EQ, NamedReference("id"), Literal(number))


def rows(*numbers: int) -> pa.Table:
    return pa.table({"id": list(numbers), "s": [f"secret {number}" for number in numbers]})


def make(tmp_path: Path, **properties: str) -> WritableTable:
    return create_table(f"{tmp_path}/t", FIELDS, version=V3, properties=PROPERTIES | properties, keys=KEYS)


def found_rows(table: WritableTable) -> dict[int, str]:
    read = read_table(load_table(table.base.location, key_service=KEYS)).read_all().to_pylist()
    return {row["id"]: row["s"] for row in read}


def errors(table: WritableTable) -> set[str]:
    report = validate(table.base.location, Level.ROWS, LocalBackend(), SnapshotSelection("all"), key_service=KEYS)
    assert report.entries
    return {one.check for one in report.findings if one.severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)}


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_a_table_that_is_changed_in_every_way_stays_encrypted(tmp_path: Path, file_format: str) -> None:
    table = make(tmp_path, **{"write.format.default": file_format})
    append(table, rows(*range(10)))
    delete(table, equal(1), mode=Mode.MERGE_ON_READ)
    delete(table, equal(2), mode=Mode.COPY_ON_WRITE)
    delete_keys(table, pa.table({"id": [3]}))
    update(table, {"s": "secret new"}, equal(4), mode=Mode.MERGE_ON_READ)
    merge(table, rows(5, 20), on=["id"])
    overwrite(table, rows(6), equal(6))
    records.append(table, [{"id": 30, "s": "secret 30"}])
    records.delete_keys(table, [{"id": 8}])
    records.delete(table, equal(0))
    expected = {number: f"secret {number}" for number in (5, 6, 7, 9, 20, 30)} | {4: "secret new"}
    assert found_rows(table) == expected
    again = open_table(f"{tmp_path}/t", keys=KEYS)
    rewrite_manifests(again)
    compact(again)
    assert found_rows(again) == expected
    assert errors(again) == set()
    files = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and path.suffix in (".avro", ".parquet", ".orc", ".puffin")
    ]
    assert {path.suffix for path in files} == {".avro", ".puffin", f".{file_format}"}
    for path in files:
        data = path.read_bytes()
        assert b"secret" not in data
        assert data[:4] == (b"PARE" if path.suffix == ".parquet" else b"AGS1"), path


def test_every_file_has_a_key_and_lists_share_the_key_that_encrypts_theirs(tmp_path: Path) -> None:
    table = make(tmp_path, **{KEY_LENGTH: "32"})
    for number in range(3):
        append(table, rows(number))
    metadata = table.metadata
    keys = {key.key_id: key for key in metadata.encryption_keys or ()}
    assert sorted(key.encrypted_by_id == "master" for key in keys.values()) == [False] * 3 + [True]
    assert len({one.key_id for one in metadata.snapshots}) == 3
    assert {keys[one.key_id or ""].encrypted_by_id for one in metadata.snapshots} <= keys.keys()
    tasks = list(records.TargetRecords(table, "main").tasks())
    read = [read_key_metadata(task.data_file.key_metadata or b"", "") for task in tasks]
    assert len({one.key for one in read}) == len({one.aad_prefix for one in read}) == 3
    assert {len(one.key) for one in read} == {32}


def test_a_commit_that_loses_the_race_keeps_the_keys_of_both(tmp_path: Path) -> None:
    table = make(tmp_path)
    other = open_table(f"{tmp_path}/t", keys=KEYS)
    append(other, rows(1))
    append(other, rows(2))
    append(table, rows(3))
    assert found_rows(table) == {number: f"secret {number}" for number in (1, 2, 3)}
    delete(other, equal(1), mode=Mode.MERGE_ON_READ)
    assert sorted(found_rows(other)) == [2, 3]
    assert errors(table) == set()


def test_snapshots_of_an_encrypted_table_expire(tmp_path: Path) -> None:
    table = make(tmp_path)
    append(table, rows(1))
    overwrite(table, rows(2))
    table.commit(ExpireSnapshots(now_ms=table.metadata.last_updated_ms + 400 * 86_400_000, clean_files=True))
    assert len(table.metadata.snapshots) == 1
    assert sorted(found_rows(table)) == [2]
    assert errors(table) == set()


def test_without_keys_an_encrypted_table_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the table is encrypted, and cannot be written without a key service"):
        create_table(f"{tmp_path}/t", FIELDS, version=V3, properties=PROPERTIES)
    append(make(tmp_path), rows(1))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="cannot be written without a key service"):
        append(open_table(f"{tmp_path}/t"), rows(2))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_table_that_says_no_longer_which_key_it_has_is_not_written(tmp_path: Path) -> None:
    table = make(tmp_path)
    append(table, rows(1))
    table.base = attrs.evolve(table.base, metadata=attrs.evolve(table.metadata, properties={}))
    with pytest.raises(UsageError, match=f"cannot be written without the property {KEY_ID}"):
        append(table, rows(2))


@pytest.mark.parametrize(
    ("version", "properties", "reason"),
    [
        (V2, {}, "only tables of version 3 are encrypted, found version 2"),
        (V3, {KEY_LENGTH: "15"}, f"{KEY_LENGTH}: expected 16, 24 or 32, found '15'"),
    ],
)
def test_what_cannot_be_encrypted_is_refused(tmp_path: Path, version: object, properties: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        create_table(f"{tmp_path}/t", FIELDS, version=version, properties=PROPERTIES | properties, keys=KEYS)


def test_a_key_that_the_service_lacks_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    table = make(tmp_path, **{KEY_ID: "other"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="no key 'other'"):
        append(table, rows(1))
    assert [path for path in sorted(tmp_path.rglob("*")) if path.is_file()] == [
        path for path in before if path.is_file()
    ]


def test_a_variant_is_not_written_to_an_encrypted_parquet_file(tmp_path: Path) -> None:
    fields = (FIELDS[0], NestedField(2, "v", required=False, type=VariantType()))
    table = create_table(f"{tmp_path}/t", fields, version=V3, properties=PROPERTIES, keys=KEYS)
    with pytest.raises(UsageError, match="cannot be written to encrypted Parquet files"):
        records.append(table, [{"id": 1, "v": None}])


@pytest.mark.parametrize("created", ["", "-1", "1.5", "\u0661", "9" * 5000])
def test_a_key_whose_time_is_not_a_number_does_not_wrap_new_keys(created: str) -> None:
    old, new = (
        EncryptionKey(
            key_id=str(time), encrypted_key_metadata="", encrypted_by_id="m", properties={KEY_TIMESTAMP: time}
        )
        for time in ("1", created)
    )
    assert find_wrapping_key([old, new], "m", 2) is old
