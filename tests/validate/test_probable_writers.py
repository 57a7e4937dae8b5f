"""The probable writer of a finding: the writer of the file with the wrong statement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.runner.adapter_interface import Ok, Request
from conformance.runner.targets import make_limits, target
from conformance.validator.context import Level
from conformance.validator.fingerprints import WriterMarks, find_probable_writer
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.checks.findings import Severity

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}


def write(folder: Path, *operations: dict[str, Any]) -> Path:
    """Let the reference write a table, and return its metadata file."""
    script = {"operations": [{"op": "create", "format_version": 2, "schema": SCHEMA}, *operations]}
    adapter = target("reference", make_limits(60, 60)).open()
    (answer,) = adapter.ask([Request("table.write", {"table": str(folder / "table"), "script": script})])
    assert isinstance(answer, Ok), answer
    return Path(answer.value["metadata"])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The metadata file of a table that the reference wrote."""
    return write(tmp_path, {"op": "append", "rows": [{"id": "7"}]})


def data_file(metadata: Path) -> Path:
    (path,) = metadata.parents[1].rglob("*.parquet")
    return path


def replace(path: Path, ids: list[int | None]) -> None:
    """Write a data file that the manifest does not describe."""
    field = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
    pq.write_table(pa.table([pa.array(ids, pa.int64())], schema=pa.schema([field])), path)


def test_our_own_tables_are_ours_and_their_data_files_those_of_arrow(written: Path) -> None:
    report = validate(str(written), Level.FILES, LocalBackend())
    assert report.writers == ("Arrow C++", "iceberg-conformance")


def test_what_the_manifest_says_is_by_the_writer_of_the_manifest(written: Path) -> None:
    replace(data_file(written), [7, 8])
    found = {one.requirement: one.writer for one in validate(str(written), Level.FILES, LocalBackend()).findings}
    assert (found["DFL005"], found["DFL006"]) == ("iceberg-conformance", "iceberg-conformance")


def test_no_writer_is_named_where_a_data_file_is_missing_or_damaged(written: Path) -> None:
    data_file(written).write_bytes(b"PAR1 and nothing else")
    damaged = [
        one for one in validate(str(written), Level.FILES, LocalBackend()).findings if one.severity is Severity.ERROR
    ]
    assert {one.requirement for one in damaged} == {"DFL006", "PQT001"}
    assert {one.writer for one in damaged} == {None}
    data_file(written).unlink()
    (missing,) = [
        one for one in validate(str(written), Level.FILES, LocalBackend()).findings if one.severity is Severity.ERROR
    ]
    assert (missing.requirement, missing.writer) == ("DFL002", None)


def test_a_page_that_cannot_be_decoded_is_one_finding_without_a_writer(written: Path) -> None:
    path = data_file(written)
    column = pq.read_metadata(path).row_group(0).column(0)
    first = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[first : first + column.total_compressed_size] = bytes(255 for _ in range(column.total_compressed_size))
    path.write_bytes(data)
    assert [
        one for one in validate(str(written), Level.FILES, LocalBackend()).findings if one.writer == "Arrow C++"
    ] == []
    findings = validate(str(written), Level.ROWS, LocalBackend()).findings
    assert [(one.requirement, one.count, one.writer) for one in findings if one.severity is Severity.ERROR] == [
        ("PQT007", 1, None)
    ]


def test_what_the_footer_and_the_rows_show_of_one_place_is_one_finding(written: Path) -> None:
    replace(data_file(written), [7, None])
    findings = validate(str(written), Level.ROWS, LocalBackend()).findings
    counts = {one.requirement: one.count for one in findings if one.severity is Severity.ERROR}
    assert {code: counts.get(code) for code in ("DFL005", "DFL012", "DFL013")} == {
        "DFL005": 1,
        "DFL012": 1,
        "DFL013": 1,
    }
    assert len(findings) == len({(one.violation.file, one.path, one.requirement) for one in findings})


def test_a_manifest_whose_entries_cannot_be_read_is_one_finding(written: Path) -> None:
    (manifest,) = (path for path in written.parent.glob("*.avro") if not path.name.startswith("snap-"))
    data = bytearray(manifest.read_bytes())
    place = data.index(data[-16:]) + 16  # the block of entries, after the sync marker of the header
    for _ in ("count", "size"):
        while data[place] & 0x80:
            place += 1
        place += 1
    data[place] = 0xFF  # no block of deflate begins so, whatever the ids in it
    manifest.write_bytes(data)
    findings = validate(str(written), Level.MANIFESTS, LocalBackend()).findings
    worse = [one for one in findings if one.severity in (Severity.ERROR, Severity.WARNING)]
    assert [(one.violation.file, one.count) for one in worse] == [(str(manifest), 1)], worse


@pytest.mark.parametrize("of_parent", [False, True])
def test_files_of_a_manifest_that_cannot_be_read_are_not_missing(tmp_path: Path, of_parent: bool) -> None:
    appends = [{"op": "append", "rows": [{"id": number}]} for number in "78"]
    metadata = write(tmp_path, *appends, {"op": "rewrite-manifests"})
    manifests = {path for path in metadata.parent.glob("*.avro") if not path.name.startswith("snap-")}
    assert len(manifests) == 3
    rewritten = max(manifests, key=lambda path: path.stat().st_mtime_ns)
    lost = min(manifests, key=lambda path: path.stat().st_mtime_ns) if of_parent else rewritten
    lost.unlink()
    findings = validate(str(metadata), Level.MANIFESTS, LocalBackend()).findings
    errors = [one.requirement for one in findings if one.severity is Severity.ERROR]
    assert errors == ([] if of_parent else ["MLS003"])


def test_the_format_version_of_cut_metadata_is_the_one_that_it_says(tmp_path: Path) -> None:
    cut = tmp_path / "v1.metadata.json"
    cut.write_text('{"location": "file:///t", "format-version": 1, "table-uuid": "9c')
    assert validate(str(cut), Level.METADATA, LocalBackend()).format_version == 1
    cut.write_text('{"location": "file:///t", "table-uuid": "9c')
    assert validate(str(cut), Level.METADATA, LocalBackend()).format_version is None


@pytest.mark.parametrize(
    ("codec", "default", "name"),
    [
        ("null", True, "iceberg-rust"),
        ("deflate", False, "iceberg-go"),
        ("deflate", True, "iceberg-conformance"),
        ("null", False, None),
    ],
)
def test_libraries_are_recognised_by_their_manifests(codec: str, default: bool, name: str | None) -> None:
    sizes = {"type": "record", "name": "k117_v118", "fields": []}
    optional = {
        "name": "column_sizes",
        "field-id": 108,
        "type": ["null", {"type": "array", "items": sizes}],
        **({"default": None} if default else {}),
    }
    data_file = {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [optional]}}
    header = {
        "avro.schema": json.dumps({"type": "record", "name": "manifest_entry", "fields": [data_file]}),
        "avro.codec": codec,
        **dict.fromkeys(("format-version", "partition-spec", "partition-spec-id", "schema", "schema-id"), ""),
    }
    assert find_probable_writer(WriterMarks(manifest_header=header)) == name
