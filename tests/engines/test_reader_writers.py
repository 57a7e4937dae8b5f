"""What engines wrote: our readers read it as the statements say, our checks find what is wrong with it, and the marks
of each writer are known.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest

from conformance.engine_setup.catalog import catalog
from conformance.validator.writers import identify_writers, known_marks, manifest_marks, program_name
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests import read_manifest
from spec_ref.single_value.binary import from_binary
from tools.writer_report import COMMITTED_BY, NAMES, Table, files, header, indexes

TABLES = [
    pytest.param(folder.name, Table(folder, name, index), id=f"{folder.name}-{name}")
    for folder, index in indexes()
    for name in index["tables"]
]


WITHOUT_TABLES = {("trino", "476")}
"""Releases whose tables are not kept: 476 writes what 483 writes by the same statements, in v2 only."""


def test_every_engine_that_writes_is_there() -> None:
    writers = [engine for engine in catalog().engines if (engine.folder / "golden_writer.py").is_file()]
    assert {(index["engine"], index["version"]) for _, index in indexes()} == {
        (engine.name, engine.version) for engine in writers
    } - WITHOUT_TABLES


def test_what_is_generated_is_what_the_tables_give() -> None:
    assert [path for path, text in files().items() if path.read_text(encoding="utf-8") != text] == []


def _lists(table: Table) -> list[bytes]:
    """The manifest lists that have manifests: Trino makes an empty snapshot with the table."""
    return [data for data in table.lists() if read_manifest_list(data)]


@pytest.mark.parametrize(("writer", "table"), TABLES)
def test_entries_are_those_of_the_statements(writer: str, table: Table) -> None:
    lists = _lists(table)
    # Iceberg-Java and Sail make one snapshot of a delete, PyIceberg may make more; the last one is what is asked for.
    for data, expected in ((lists[0], table.index["entries"][0]), (lists[-1], table.index["entries"][-1])):
        found = []
        for listed in read_manifest_list(data):
            manifest = table.file(listed.manifest_path)
            assert listed.manifest_length == len(manifest)
            for entry in read_manifest(manifest, manifest_file=listed).entries():
                file = entry.data_file
                assert list(file.partition.values()) == ([] if (writer, table.version) == SAIL_V2 else ["a"])
                assert file.file_path.startswith(("file:///tmp/", "file:/tmp/", "/tmp/"))
                found.append((int(file.content), int(entry.status), file.record_count))
        # What the first statement added stays an added entry where its manifest is kept, else it is an existing one.
        either = [(one["content"], one["status"] or 1, one["record_count"]) for one in expected]
        assert sorted((content, status or 1, rows) for content, status, rows in found) == sorted(either)


SAIL_V2 = ("sail-0.7.2", 2)


@pytest.mark.parametrize(("writer", "table"), TABLES)
def test_metrics_of_the_first_file_are_those_of_its_rows(writer: str, table: Table) -> None:
    (listed,) = read_manifest_list(_lists(table)[0])
    (entry,) = read_manifest(table.file(listed.manifest_path), manifest_file=listed).entries()
    schema = next(one for one in table.metadata.schemas if one.schema_id == table.metadata.current_schema_id)
    types = {column.id: column.type for column in schema.columns()}
    file = entry.data_file
    # Optional, all of them; who has them has them right: the rows are (1, 'a', 1.50, ...) and (2, 'a', null, null).
    if file.null_value_counts is not None:
        assert dict(file.null_value_counts) == {1: 0, 2: 0, 3: 1, 4: 1}
    if file.value_counts is not None:
        assert dict(file.value_counts) == dict.fromkeys((1, 2, 3, 4), 2)
    at = 1510871468000000  # 2017-11-16T22:31:08Z
    for bounds, id_ in ((file.lower_bounds, 1), (file.upper_bounds, 2)):
        if bounds is not None:
            found = [str(from_binary(types[column], bound)) for column, bound in sorted(bounds.items())]
            assert found == [str(id_), "a", "1.50", str(at)], writer


JAVA = {
    # Neither version writes the key, and readers are not to need it (contradiction C1).
    ("v2", "manifest", "MAN006"),
    ("v3", "manifest", "MAN006"),
    # One writer's schema of manifests is used for all versions: it is optional from v2.
    ("v1", "manifest", "MAN012"),
    # Members that came with v2 are written for v1 too.
    ("v1", "metadata", "VER005"),
}
PYICEBERG = {
    ("v2", "manifest", "MAN006"),
    # The elements of equality_ids are longs in the Avro schema.
    ("v2", "manifest", "DFL020"),
    ("v1", "metadata", "VER005"),
}
ARROW_DECIMALS = {
    # decimal(9,2) has to be an int32 in Parquet: it is a fixed_len_byte_array of 4 bytes.
    ("v1", "data-file", "PQT003"),
    ("v2", "data-file", "PQT003"),
}

FINDINGS: dict[str, set[tuple[str, str, str]]] = {
    "iceberg-java-1.12.0": JAVA,
    "iceberg-java-1.10.2": JAVA,
    "pyiceberg-0.12.0": PYICEBERG,
    "polars-2.1.0": PYICEBERG,
    "daft-0.7.26": PYICEBERG | ARROW_DECIMALS,
    "chdb-4.4.0": ARROW_DECIMALS
    | {("v3", "data-file", "PQT003")}
    # The key is partition_spec_id; content is not written, so that a manifest of deletes says that it is one of data.
    | {(version, "manifest", code) for version in ("v2", "v3") for code in ("MAN006", "MAN008", "MAN010", "SEQ005")}
    # Locations are plain paths.
    | {(version, "manifest", "DFL002") for version in ("v1", "v2", "v3")}
    | {(version, "metadata", "LOC001") for version in ("v1", "v2", "v3")}
    # A snapshot without a parent has -1 for one.
    | {(version, "metadata", "SNP002") for version in ("v1", "v2", "v3")}
    | {
        # The list of the first manifest counts an existing file, and the manifest has none.
        ("v1", "manifest", "MLS011"),
        # Only the lists of schemas and specs are written, which readers of v1 do not know.
        ("v1", "metadata", "TMD007"),
        ("v1", "metadata", "TMD010"),
        ("v1", "metadata", "VER005"),
    },
    "duckdb-1.5.5": {
        # Tables of v1 get manifests and lists of v2: the required block size and snapshot id are left out, all counts
        # are required in the Avro schema, and the columns and members of v2 are there.
        ("v1", "manifest", "DFL008"),
        ("v1", "manifest", "MAN012"),
        ("v1", "manifest", "VER005"),
        *(("v1", "manifest-list", f"MLS0{number}") for number in range(10, 16)),
        ("v1", "manifest-list", "VER005"),
        # Of the metadata, DuckDB sent the sequence number of a snapshot; the rest is of the catalog in tools/golden.
        ("v1", "metadata", "VER005"),
        # The list has a first row id for the manifest of deletes too.
        ("v3", "manifest-list", "LIN026"),
        ("v3", "puffin", "PUF025"),
    },
    "sail-0.7.2": {
        # The partition is optional in the Avro schema, from v2.
        ("v2", "manifest", "DFL004"),
        ("v3", "manifest", "DFL004"),
        ("v1", "manifest", "MAN012"),
        ("v1", "metadata", "VER005"),
        # Manifests of v2 have the columns of v3.
        ("v2", "manifest", "VER005"),
        # The footer does not name its writer, which the specification of Puffin recommends.
        ("v3", "puffin", "PUF025"),
    },
}
"""What is wrong with the files of each writer, as (table, kind of file, requirement)."""


@pytest.mark.parametrize("writer", FINDINGS)
def test_checks_find_what_is_known_to_be_wrong_and_no_more(writer: str) -> None:
    found = set()
    for name, table in (
        (param.values[1].folder.name, param.values[1]) for param in TABLES if param.values[0] == writer
    ):
        every = (*table.findings(), *table.data_findings())
        found |= {(name, kind, finding.requirement) for kind, finding in every}
    assert found == FINDINGS[writer]


@pytest.mark.parametrize(("writer", "table"), TABLES)
def test_a_writer_is_recognised_by_each_of_its_manifests(writer: str, table: Table) -> None:
    name = NAMES[writer.rpartition("-")[0]]
    headers = [header(table.file(path)) for path in table.manifests()] + [header(data) for data in table.lists()]
    for one in headers:
        assert identify_writers(header=one) == (COMMITTED_BY.get(name, name),)


@pytest.mark.parametrize(
    ("marks", "name"),
    [
        ({"created_by": "ClickHouse version 26.9.2 (build bb16200a)"}, "ClickHouse"),
        ({"created_by": "ClickHouse version 99.1 (build 0)"}, "ClickHouse"),
        ({"created_by": "Polars (python) version 2.1.0 (build 7f902bd3)"}, "Polars"),
        ({"created_by": "parquet-mr version 1.17.1 (build 78a8d323)"}, "Iceberg-Java"),
        ({"created_by": "parquet-cpp-arrow version 26.0.1"}, "Arrow C++"),
        ({"created_by": "parquet-rs version 59.2.0"}, "parquet-rs"),
        ({"created_by": "DuckDB version v1.5.5 (build abc)"}, "DuckDB"),
        ({"created_by": "github.com/apache/arrow-go version 18.0.0"}, None),
        ({"created_by": ""}, None),
        ({}, None),
        ({"header": {"format-version": "2"}}, None),
        ({"header": {"avro.schema": '{"type": "record", "name": "x", "fields": []}'}}, None),
        ({"header": {"avro.schema": "7"}}, None),
        ({"header": {"avro.schema": '{"type": "record", "fields": 7}'}}, None),
        ({"header": {"avro.schema": "{"}}, None),
    ],
    ids=str,
)
def test_writers_are_suspected_by_what_is_certain_and_nothing_else(marks: dict[str, Any], name: str | None) -> None:
    assert identify_writers(**marks) == (() if name is None else (name,))


def test_marks_that_differ_in_one_key_are_of_nobody() -> None:
    folder = Path(__file__).parents[2] / "vectors/golden/writers/chdb-4.4.0/v2"
    found = header(next(path for path in folder.glob("*.avro") if path.name.startswith("snap-")).read_bytes())
    assert identify_writers(header=found) == ("ClickHouse",)
    assert identify_writers(header={**found, "another": "key"}) == ()
    assert identify_writers(header={**found, "avro.codec": "deflate"}) == ()


def test_marks_report_the_records_of_a_schema_by_where_they_are() -> None:
    schema: dict[str, Any] = {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            {"name": "status", "type": "int", "field-id": 0},
            {
                "name": "data_file",
                "field-id": 2,
                "type": {
                    "type": "record",
                    "name": "r2",
                    "fields": [
                        {
                            "name": "column_sizes",
                            "field-id": 108,
                            "default": None,
                            "type": [
                                "null",
                                {
                                    "type": "array",
                                    "items": {
                                        "type": "record",
                                        "name": "k117_v118",
                                        "fields": [
                                            {"name": "key", "type": "int", "field-id": 117},
                                            {"name": "value", "type": "long", "field-id": 118},
                                        ],
                                    },
                                },
                            ],
                        },
                    ],
                },
            },
        ],
    }
    out = io.BytesIO()
    fastavro.writer(out, schema, [], metadata={"schema": "{}", "content": "data"}, codec="deflate")
    assert manifest_marks(header(out.getvalue())) == {
        "keys": "schema",
        "codec": "deflate",
        "records": "manifest_entry r2 k117_v118",
        "defaults": "null",
    }


def test_known_marks_are_each_reported_once() -> None:
    for kind in ("manifest", "manifest-list"):
        marks = [json.dumps(one["marks"], sort_keys=True) for one in known_marks()[kind]]
        assert len(marks) == len(set(marks)) > 0
    assert program_name("parquet-mr version 1.16.0 (build 402c38)") == "parquet-mr"
    assert program_name("Polars (python) version 2.1.0 (build 7f)") == "Polars"
