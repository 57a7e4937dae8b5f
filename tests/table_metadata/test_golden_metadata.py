"""Metadata of engines: it conforms to the JSON Schemas, can be read without error, and round-trips."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from spec_ref.checks.findings import Severity
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.table_metadata import TableMetadata, check_metadata, dumps, read_metadata, write_metadata
from spec_ref.table_metadata.files import decompress, is_compressed
from spec_ref.table_metadata.json_schemas import schema_text

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "vectors" / "golden"
INDEX: list[dict[str, Any]] = json.loads((GOLDEN / "metadata" / "index.json").read_text())
WRITTEN_TABLES = [
    index.parent for index in (GOLDEN / "tables").glob("*/index.json") if "engine" in json.loads(index.read_text())
]
OF_TABLES = sorted(file for table in WRITTEN_TABLES for file in table.glob("metadata/*.metadata.json"))
FILES = [*(GOLDEN / "metadata" / entry["file"] for entry in INDEX), *OF_TABLES]
SCHEMAS = {version: jsonschema_rs.validator_for(json.loads(schema_text(version))) for version in FormatVersion}

BORNE: dict[str, str] = {
    "LOC001": "Spark's Hadoop catalog writes the plain path that it was given",
    "VER005": "Iceberg-Java and PyIceberg write ids of partition fields and references to v1 tables (C17)",
    "SNP003": "Iceberg-Java leaves out the sequence number 0 in upgraded tables (C2)",
    "SNP010": "snapshots of before the upgrade have no row ids (LIN014)",
    "SNP011": "snapshots of before the upgrade have no row ids (LIN014)",
    "TMD007": "PyIceberg keeps the schema that a v1 table had first in the deprecated copy",
    "TMD010": "PyIceberg keeps the partition spec that a v1 table had first in the deprecated copy",
}
"""The warnings that may be reported for files of engines, and why."""


def read_text(file: Path) -> bytes:
    data = file.read_bytes()
    return decompress(data) if is_compressed(data) else data


def test_every_engine_and_version_is_there() -> None:
    written = {
        (one["engine"], one["version"], json.loads(read_text(GOLDEN / "metadata" / one["file"]))["format-version"])
        for one in INDEX
    }
    java = {("iceberg-java", engine, version) for engine in ("1.12.0", "1.10.2") for version in (1, 2, 3)}
    assert written == java | {("pyiceberg", "0.12.0", 1), ("pyiceberg", "0.12.0", 2)}
    assert {one["file"] for one in INDEX} == {file.name for file in (GOLDEN / "metadata").glob("*.metadata.json")}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(GOLDEN).as_posix())
def test_what_an_engine_wrote_is_sound(file: Path) -> None:
    text = read_text(file)
    document = json.loads(text)
    assert [error.message for error in SCHEMAS[document["format-version"]].iter_errors(document)] == []
    found = check_metadata(file.read_bytes())
    assert [str(one) for one in found if one.severity is Severity.ERROR] == []
    assert {one.requirement for one in found} <= set(BORNE)


def plain(metadata: TableMetadata) -> TableMetadata:
    """Without the deprecated copies, which v1 writes again."""
    return evolve(metadata, schema=None, partition_spec=None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(GOLDEN).as_posix())
def test_what_an_engine_wrote_comes_back_as_it_was(file: Path) -> None:
    metadata = read_metadata(file.read_bytes())
    assert plain(read_metadata(dumps(metadata))) == plain(metadata)
    document, written = json.loads(read_text(file)), write_metadata(metadata)
    copies = {"schema", "partition-spec"}
    lost = [path for path in differences(document, written) if path[0] not in copies]
    assert lost == []


MEANING_NOTHING: tuple[Any, ...] = (None, [], {}, -1)
"""What says the same as an absent member, where the member is optional."""
FILLED_IN = {"schema-id": 0, "sequence-number": 0}


def differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Where two documents say different things."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for name in before.keys() | after.keys():
            one, other = before.get(name), after.get(name)
            same = (one in MEANING_NOTHING and other in MEANING_NOTHING) or (
                None in (one, other) and (one or other or 0) == FILLED_IN.get(name, "")
            )
            # v1 counts the ids of partition fields, so that they need not be written.
            if not same and not (name == "field-id" and other is None):
                found += differences(one, other, (*path, name))
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [one for place, both in pairs for one in differences(*both, (*path, str(place)))]
    if path[-1:] in (("initial-default",), ("write-default",)) and isinstance(before, str):
        return [] if before.lower() == str(after).lower() else [path]  # digits of bytes may be of either case
    return [] if before == after and type(before) is type(after) else [path]


def test_a_difference_would_be_seen() -> None:
    document = json.loads(read_text(GOLDEN / "metadata" / "iceberg-java-1.12.0-v3.metadata.json"))
    changed = json.loads(json.dumps(document))
    changed["snapshots"][0]["timestamp-ms"] += 1
    del changed["refs"]["first"]["max-ref-age-ms"]
    changed["schemas"][0]["fields"][0]["doc"] = "new"
    assert set(differences(document, changed)) == {
        ("snapshots", "0", "timestamp-ms"),
        ("refs", "first", "max-ref-age-ms"),
        ("schemas", "0", "fields", "0", "doc"),
    }
