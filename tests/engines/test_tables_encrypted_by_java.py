"""The reference reads the tables that Iceberg-Java encrypts: Parquet's modular encryption, and AES GCM streams."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import conformance
from conformance.adapter_sdk.spark_settings import JAVA
from conformance.engine_setup.catalog import find_engine
from conformance.engine_setup.java import class_path, classes_path
from conformance.table_io.records import read_rows

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
