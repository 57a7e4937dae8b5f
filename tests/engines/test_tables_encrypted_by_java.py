"""The reference and Iceberg-Java read what the other encrypts: Parquet's modular encryption, and AES GCM streams."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

import conformance
from conformance.adapter_sdk.spark_settings import JAVA
from conformance.engine_setup.catalog import find_engine
from conformance.engine_setup.java import class_path, classes_path
from conformance.table_io.encryption import KEY_ID, KEY_LENGTH, KeyFile
from conformance.table_io.records import read_rows
from conformance.table_io.stores import RegisteredTable
from conformance.table_io.writing import Mode, append, compact, create_table, delete, open_stored, update
from spec_ref.core.versions import V3
from spec_ref.data_types.types import LONG, STRING, NestedField
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).with_name("java") / "EncryptedTable.java"
ROWS = [{"id": number, "name": None if number == 4 else f"name {number}"} for number in range(6)]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of the compiled program."""
    engine, made = find_engine("iceberg-java"), str(tmp_path_factory.mktemp("classes"))
    paths = os.pathsep.join([made, str(classes_path(engine)), class_path(engine)])
    subprocess.run(["javac", "-nowarn", "-proc:none", "-d", made, "-cp", paths, PROGRAM], check=True, timeout=300)
    return paths


@pytest.mark.parametrize("file_format", ["parquet", "avro"])
def test_an_encrypted_table_of_iceberg_java_is_read(paths: str, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "table"
    command = ["java", *JAVA.split(), "-cp", paths, "org.apache.iceberg.EncryptedTable", folder, file_format]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
    assert done.stdout == "6\n"  # what Iceberg-Java itself reads
    assert not any(b"name" in path.read_bytes() for path in folder.rglob("*") if path.suffix in (".avro", ".parquet"))
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keyA": b"0123456789012345".hex()}), encoding="utf-8")
    table = conformance.load_table(str(folder), keys=keys)
    read = conformance.read_table(table).to_pylist()
    assert sorted(read, key=lambda row: row["id"]) == ROWS
    assert sorted(read_rows(table), key=lambda row: row["id"]) == ROWS
    assert len(conformance.plan(table)) == 2


@pytest.mark.parametrize(("file_format", "key_length"), [("parquet", "16"), ("parquet", "32"), ("avro", "24")])
def test_iceberg_java_reads_and_continues_a_table_that_the_reference_encrypts(
    paths: str, tmp_path: Path, file_format: str, key_length: str
) -> None:
    keys = KeyFile({"keyA": b"0123456789012345"})
    table = create_table(
        f"{tmp_path}/table",
        (NestedField(1, "id", required=True, type=LONG), NestedField(2, "name", required=False, type=STRING)),
        version=V3,
        properties={KEY_ID: "keyA", KEY_LENGTH: key_length, "write.format.default": file_format},
        keys=keys,
    )
    second = Comparison(Operation.EQ, NamedReference("id"), Literal(2))
    third = Comparison(Operation.EQ, NamedReference("id"), Literal(3))
    append(table, pa.table({"id": [1, 2], "name": ["a", None]}))
    append(table, pa.table({"id": [3], "name": ["c"]}))
    update(table, {"name": "b"}, second, mode=Mode.COPY_ON_WRITE)
    delete(table, third, mode=Mode.COPY_ON_WRITE)
    compact(table)
    command = ["java", *JAVA.split(), "-cp", paths, "org.apache.iceberg.EncryptedTable", "read", table.base.location]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
    *read, continued = done.stdout.splitlines()
    # What Iceberg-Java reads of each snapshot.
    assert read[:4] == ["{1=a, 2=null}", "{1=a, 2=null, 3=c}", "{1=a, 2=b, 3=c}", "{1=a, 2=b}"]
    assert set(read[4:]) <= {"{1=a, 2=b}"}
    found = open_stored(RegisteredTable(continued), keys=keys)
    assert sorted(row["id"] for row in read_rows(found.table)) == [-1, 1, 2]
    append(found, pa.table({"id": [4], "name": ["d"]}))
    assert sorted(row["id"] for row in read_rows(found.table)) == [-1, 1, 2, 4]
