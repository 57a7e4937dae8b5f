"""Which paths begin with a URI scheme."""

from __future__ import annotations

import pytest

from conformance.table_io.writing.plans import data_location
from spec_ref.commits.tables import metadata_directory
from spec_ref.core.locations import has_scheme
from spec_ref.table_metadata import read_metadata

WITH = "s3://b/t hdfs:/wh/t hdfs:///wh/t file:/wh/t file:///C:/t s3a:b/t abfss://c@a.net/t g+s-1.x:t"
WITHOUT = "/wh/t wh/t ://x :x /wh/t?u=http://x /wh/x=10:00.parquet x=10:00/a 3s:/t C:/t c:\\t é:/t"


@pytest.mark.parametrize("path", WITH.split())
def test_a_path_with_a_scheme(path: str) -> None:
    assert has_scheme(path)


@pytest.mark.parametrize("path", ["", *WITHOUT.split()])
def test_a_path_without_a_scheme(path: str) -> None:
    assert not has_scheme(path)


@pytest.mark.parametrize(
    ("value", "directory"),
    [("s3://b/m/", "s3://b/m"), ("file:/m", "file:/m"), ("/m", "/m"), ("m/x=1:2", "s3://b/t/m/x=1:2")],
)
def test_a_property_names_a_directory_by_a_uri_or_below_the_location(value: str, directory: str) -> None:
    document = {
        "format-version": 1,
        "location": "s3://b/t",
        "last-updated-ms": 1,
        "last-column-id": 0,
        "schema": {"type": "struct", "fields": []},
        "partition-spec": [],
        "properties": {"write.metadata.path": value, "write.data.path": value},
    }
    metadata = read_metadata(document)
    assert metadata_directory(metadata) == data_location(metadata) == directory
