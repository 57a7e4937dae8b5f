"""The golden tables: complete, small, and used by vectors, as their indexes state."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from conformance.operations.comparison import read_type
from conformance.operations.wire import from_exchange
from conformance.vectors import shipped, vector_files
from conformance.vectors.golden_places import FOLDER, PLACE
from conformance.vectors.golden_tables import INDEX, index, table_names
from spec_ref.core.errors import SpecError
from spec_ref.table_metadata import read_metadata

NAMES = table_names()
LINEAGE = {"_row_id": "long", "_last_updated_sequence_number": "long"}
WITH_STATES = [name for name in NAMES if "states" in index(name)]
LARGEST = 200_000
"""Bytes of a golden table."""


def _kept(name: str) -> Path:
    return shipped() / FOLDER / name


def test_there_are_tables_of_every_version_format_and_engine() -> None:
    indexes = [index(name) for name in WITH_STATES]
    assert {one["format_version"] for one in indexes} >= {1, 2, 3}
    assert {(one["engine"], one["version"]) for one in indexes} >= {
        ("iceberg-java", "1.12.0"),
        ("iceberg-java", "1.10.2"),
        ("pyiceberg", "0.12.0"),
    }
    suffixes = {Path(file).suffix for one in indexes for file in one["files"]}
    assert suffixes >= {".parquet", ".avro", ".orc", ".puffin", ".json"}


@pytest.mark.parametrize("name", NAMES)
def test_files_are_those_of_the_index_byte_by_byte(name: str) -> None:
    kept, known = _kept(name), index(name)["files"]
    found = {str(path.relative_to(kept)): path for path in kept.rglob("*") if path.is_file()}
    found.pop(INDEX)
    assert {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in found.items()} == known
    assert sum(file.stat().st_size for file in found.values()) < LARGEST


@pytest.mark.parametrize("name", WITH_STATES)
def test_states_have_rows_of_their_types(name: str) -> None:
    known = index(name)
    assert known["statements"]
    assert known["states"]
    for state in known["states"]:
        types = {column: read_type(json_type) for column, json_type in {**state["types"], **LINEAGE}.items()}
        for row in state["rows"]:
            assert row.keys() - LINEAGE.keys() == state["types"].keys()
            for column, value in row.items():
                from_exchange(types[column], value)


@pytest.mark.parametrize("name", WITH_STATES)
def test_the_metadata_lies_where_its_table_has_to_be(name: str) -> None:
    known = index(name)
    try:
        metadata = read_metadata((_kept(name) / known["metadata"]).read_bytes())
    except SpecError:
        assert known.get("broken") or known["metadata"].endswith(".gz.metadata.json")
        return
    assert metadata.location.removeprefix("file://").removeprefix("file:") == str(PLACE / name)
    assert int(metadata.format_version) == known["format_version"]
    snapshots = {str(snapshot.snapshot_id) for snapshot in metadata.snapshots}
    assert {state["snapshot"] for state in known["states"] if "snapshot" in state} <= snapshots


def test_every_table_is_asked_about() -> None:
    rows = [row for file in vector_files(shipped()) for row in json.loads(file.read_text())["vectors"]]
    tables = [Path(row["args"]["table"]) for row in rows if isinstance(row["args"].get("table"), str)]
    asked = {table.relative_to(PLACE).parts[0] for table in tables if table.is_relative_to(PLACE)}
    assert set(WITH_STATES) - asked == set()


def test_rows_that_a_broken_index_would_have_are_noticed() -> None:
    known: dict[str, Any] = json.loads((_kept("types-v2-parquet") / INDEX).read_text())
    state = known["states"][0]
    with pytest.raises(SpecError):
        from_exchange(read_type(state["types"]["day"]), "1969-13-31")
