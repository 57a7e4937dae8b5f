"""Metadata files in gzip and their names; and the removed JSON of content files and scan tasks."""

import gzip
from typing import Any

import pytest

from spec_ref.core.errors import SpecError
from spec_ref.data_types import types as t
from spec_ref.table_metadata.files import (
    MetadataFileName,
    compress,
    decompress,
    file_system_name,
    is_compressed,
    is_compressed_name,
    metastore_name,
    parse_name,
)
from spec_ref.table_metadata.legacy_json import (
    LegacyContent,
    read_content_file,
    read_partition_tuple,
    read_scan_task,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s3://b/t/metadata/v3.metadata.json", MetadataFileName(3, None, False)),
        ("v3.gz.metadata.json", MetadataFileName(3, None, True)),
        ("v3.metadata.json.gz", MetadataFileName(3, None, True)),
        ("00003-a-b.metadata.json", MetadataFileName(3, "a-b", False)),
        ("00003-a-b.gz.metadata.json", MetadataFileName(3, "a-b", True)),
        ("00003-a-b.metadata.json.gz", MetadataFileName(3, "a-b", True)),
        ("a-b-c.metadata.json", MetadataFileName(None, None, False)),
    ],
)
def test_names_report_version_and_compression(name: str, expected: MetadataFileName) -> None:
    assert parse_name(name) == expected
    assert is_compressed_name(name) is expected.compressed


@pytest.mark.parametrize("name", ["", "v3.json", "v3.metadata.json.zst", "metadata.json/x"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(SpecError, match="NOT009"):
        parse_name(name)


@pytest.mark.parametrize("compressed", [False, True])
def test_names_that_are_given_are_understood(compressed: bool) -> None:
    assert parse_name(file_system_name(7, compressed=compressed)) == MetadataFileName(7, None, compressed)
    assert parse_name(metastore_name(7, "u", compressed=compressed)) == MetadataFileName(7, "u", compressed)
    assert file_system_name(7, compressed=True).endswith(".gz.metadata.json")


def test_gzip_of_one_or_several_members_is_unpacked() -> None:
    assert is_compressed(compress(b"{}"))
    assert decompress(compress(b"{}")) == gzip.decompress(compress(b"{}")) == b"{}"
    assert decompress(compress(b"{") + compress(b"}") + b"\0\0") == b"{}"
    assert compress(b"{}") == compress(b"{}")


# The examples of the removed section Content File Serialization.
CONTENT_FILE: dict[str, Any] = {
    "spec-id": 1,
    "content": "DATA",
    "file-path": "s3://b/wh/data.db/table",
    "file-format": "AVRO",
    "partition": {"1000": 1},
    "record-count": 1,
    "file-size-in-bytes": 1024,
    "column-sizes": {"keys": [3, 4], "values": [100, 200]},
    "value-counts": {"keys": [3, 4], "values": [90, 180]},
    "null-value-counts": {"keys": [3, 4], "values": [10, 20]},
    "nan-value-counts": {"keys": [3, 4], "values": [0, 0]},
    "lower-bounds": {"keys": [3, 4], "values": ["01000000", "02000000"]},
    "upper-bounds": {"keys": [3, 4], "values": ["05000000", "0A000000"]},
    "key-metadata": "00000000000000000000000000000000",
    "split-offsets": [128, 256],
    "equality-ids": [1],
    "sort-order-id": 1,
}
TASK = {
    "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": True, "type": "int"}]},
    "spec": {"spec-id": 1, "fields": [{"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}]},
    "data-file": CONTENT_FILE,
    "delete-files": [{**CONTENT_FILE, "content": "EQUALITY_DELETES"}],
    "residual-filter": {"type": "eq", "term": "id", "value": 1},
}


def test_the_examples_of_the_removed_sections_are_read() -> None:
    file = read_content_file(CONTENT_FILE)
    assert file.content is LegacyContent.DATA
    assert file.upper_bounds == {3: b"\x05\0\0\0", 4: b"\x0a\0\0\0"}
    task = read_scan_task(TASK)
    type_ = task.spec.partition_type(task.schema)
    assert read_partition_tuple(file, type_) == {1000: 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"content": "data"},
        {"file-format": "parquet"},
        {"record-count": "1"},
        {"column-sizes": {"keys": [1], "values": []}},
        {"column-sizes": {"keys": [1, 1], "values": [1, 2]}},
        {"lower-bounds": {"keys": [1], "values": ["0g"]}},
        {"spec-id": None},
    ],
)
def test_what_is_not_of_the_removed_format_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        read_content_file({**CONTENT_FILE, **changes})


def test_partition_values_are_of_the_types_of_the_spec() -> None:
    type_ = t.StructType((t.NestedField(1000, "p", False, t.INT, None, None, None),))
    for partition in ({"1000": "x"}, [1]):
        with pytest.raises(SpecError):
            read_partition_tuple(read_content_file({**CONTENT_FILE, "partition": partition}), type_)
