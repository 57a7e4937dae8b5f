"""Table metadata survives reading and writing, whatever its version and whoever added fields to it."""

import json
import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.strategies_metadata import table_metadata
from spec_ref.findings import Severity
from spec_ref.records import evolve
from spec_ref.table_metadata import check_metadata, dumps, read_metadata, write_metadata
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.writer import to_bytes
from spec_ref.versions import V1

SOME = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def undeprecated(metadata: TableMetadata) -> TableMetadata:
    """Without the copies of the current schema and spec that reading v1 keeps."""
    return evolve(metadata, schema=None, partition_spec=None)


@SOME
@given(table_metadata())
def test_what_is_written_is_read_back(metadata: TableMetadata) -> None:
    assert undeprecated(read_metadata(dumps(metadata))) == metadata


@SOME
@given(table_metadata())
def test_text_and_values_are_the_same_document(metadata: TableMetadata) -> None:
    assert json.loads(dumps(metadata)) == write_metadata(metadata)


@SOME
@given(table_metadata())
def test_writing_what_was_read_changes_nothing(metadata: TableMetadata) -> None:
    text = dumps(metadata)
    assert dumps(read_metadata(text)) == text


def shuffled(value: Any, numbers: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        numbers.shuffle(names)
        return {name: shuffled(value[name], numbers) for name in names}
    return [shuffled(item, numbers) for item in value] if isinstance(value, list) else value


@SOME
@given(table_metadata(), st.randoms(use_true_random=False))
def test_the_order_of_properties_has_no_meaning(metadata: TableMetadata, numbers: random.Random) -> None:
    document = write_metadata(metadata)
    assert read_metadata(shuffled(document, numbers)) == read_metadata(document)


@SOME
@given(table_metadata())
def test_sound_metadata_has_no_error(metadata: TableMetadata) -> None:
    found = check_metadata(dumps(metadata))
    assert [str(one) for one in found if one.severity is Severity.ERROR] == []


@SOME
@given(table_metadata(), st.booleans())
def test_files_are_read_with_and_without_gzip(metadata: TableMetadata, compressed: bool) -> None:
    data = to_bytes(metadata, compressed=compressed)
    assert undeprecated(read_metadata(data)) == metadata
    assert to_bytes(metadata, compressed=compressed) == data


def test_integers_of_64_bits_stay_exact() -> None:
    document = {
        "format-version": 1,
        "location": "s3://b/t",
        "last-updated-ms": (1 << 63) - 1,
        "last-column-id": 1,
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}]},
        "partition-spec": [],
        "snapshots": [{"snapshot-id": (1 << 63) - 1, "timestamp-ms": 2**53 + 1, "manifest-list": "s3://b/l"}],
        "current-snapshot-id": (1 << 63) - 1,
        "x-new": 10**30,
    }
    written = json.loads(dumps(read_metadata(json.dumps(document))))
    for name in ("last-updated-ms", "current-snapshot-id", "x-new"):
        assert written[name] == document[name]
    assert written["snapshots"][0] == document["snapshots"][0]  # type: ignore[index]
    assert read_metadata(document).format_version is V1
