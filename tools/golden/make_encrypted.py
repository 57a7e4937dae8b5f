"""Make the golden tables that Iceberg-Java encrypted: ``python -m tools.golden.make_encrypted``.

A Java program (``tests/engines/java/EncryptedTable.java``) writes a table for each format at `PLACE`: two appends, an
equality delete and a deletion vector, every file encrypted. The files are copied to
``vectors/golden/encrypted/iceberg-java-VERSION/FORMAT/``, without the file system's additional files. ``index.json``
there has the rows, which follow from the program, and the master keys. The rows are not read from any engine.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from conformance.engine_setup.catalog import find_engine
from conformance.engine_setup.java import class_path, classes_path
from tools.entry_point import run_without_parser

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "engines" / "java" / "EncryptedTable.java"
KEPT = ROOT / "vectors" / "golden" / "encrypted"
PLACE = Path("/tmp/iceberg-conformance/encrypted")
FORMATS = ("parquet", "avro")
"""The formats that Iceberg-Java encrypts: it refuses ORC."""

KEYS = {"keyA": b"0123456789012345".hex()}
ROWS = [[0, "name 0"], [2, "name 2"], [4, None], [5, "name 5"]]
"""The remaining rows: of the ids 0 to 5, 1 and 3 are deleted."""


def main() -> None:
    """Make the tables."""
    engine = find_engine("iceberg-java")
    name = f"iceberg-java-{engine.version}"
    shutil.rmtree(KEPT / name, ignore_errors=True)
    tables: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as classes:
        paths = os.pathsep.join([classes, str(classes_path(engine)), class_path(engine)])
        subprocess.run(["javac", "-nowarn", "-proc:none", "-d", classes, "-cp", paths, PROGRAM], check=True)
        for file_format in FORMATS:
            made = PLACE / name / file_format
            shutil.rmtree(made, ignore_errors=True)
            made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            program = ["java", "-cp", paths, "org.apache.iceberg.EncryptedTable"]
            subprocess.run([*program, made, file_format, "deletes"], check=True)
            tables[file_format] = _keep(made, KEPT / name / file_format)
    index = {"engine": "iceberg-java", "version": engine.version, "keys": KEYS, "rows": ROWS, "tables": tables}
    (KEPT / name / "index.json").write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def _keep(made: Path, kept: Path) -> dict[str, str]:
    """Copy the newest metadata file and all other files into one folder; return the SHA-256 of each."""
    files = [path for path in made.rglob("*") if path.is_file() and not path.name.endswith(".crc")]
    newest = max((path for path in files if path.name.endswith(".metadata.json")), key=lambda path: path.name)
    kept.mkdir(parents=True)
    digests = {}
    for path in sorted(files):
        if path == newest or not path.name.endswith(".json"):
            shutil.copyfile(path, kept / path.name)
            digests[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests


if __name__ == "__main__":
    run_without_parser(main)
