"""Table metadata round-trips in every version, including unknown fields."""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import Mock, patch

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_ref.checks.findings import Severity
from spec_ref.core.records import evolve, field_rules
from spec_ref.core.versions import V1
from spec_ref.data_types.types import ListType, MapType, StructType
from spec_ref.json import writing
from spec_ref.json.wire_types import Converted, ListOf, MapOf, RecordOf
from spec_ref.table_metadata import check_metadata, dumps, read_metadata, write_metadata
from spec_ref.table_metadata.metadata import METADATA, TableMetadata
from spec_ref.table_metadata.writer import to_bytes
from tools.metadata_strategies import table_metadata

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
def test_sound_metadata_is_written_by_columns(metadata: TableMetadata) -> None:
    by_values = Mock(side_effect=AssertionError("the text was written value by value, as if the metadata were wrong"))
    with patch.object(writing, "record_writer", by_values):
        dumps(metadata)


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


NO_RECORDS = frozenset({"properties", "summary", "initial-default", "write-default"})
"""Members whose objects have names that are data."""


def with_more(value: Any, more: dict[str, Any]) -> Any:
    """The document with more members in every object that the spec has a table of fields for."""
    if isinstance(value, list):
        return [with_more(item, more) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {
        name: item
        if name in NO_RECORDS
        else {key: with_more(one, more) for key, one in item.items()}
        if name == "refs"
        else with_more(item, more)
        for name, item in value.items()
    }
    return {**inner, **more}


LONG = {"id": 1, "name": "id", "required": True, "type": "long"}
INNER = {"id": 7, "name": "x", "required": False, "type": "int", "initial-default": 5, "write-default": 6}
MAP = {
    "type": "map",
    "key-id": 5,
    "key": "string",
    "value-id": 6,
    "value-required": False,
    "value": {"type": "struct", "fields": [INNER]},
}
LIST = {"type": "list", "element-id": 4, "element-required": True, "element": MAP}
NESTED = {"type": "struct", "fields": [{"id": 3, "name": "l", "required": False, "type": LIST}]}
COLUMN = {
    "id": 2,
    "name": "s",
    "required": False,
    "type": NESTED,
    "doc": "d",
    "initial-default": {},
    "write-default": {},
}
SORT_FIELD = {"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}
BLOB = {"type": "t", "snapshot-id": 5, "sequence-number": 1, "fields": [1], "properties": {"a": "b"}}
EVERYTHING: dict[str, Any] = {
    "format-version": 3,
    "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
    "location": "s3://b/t",
    "last-sequence-number": 1,
    "last-updated-ms": 1515100955770,
    "last-column-id": 7,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [LONG, COLUMN]}],
    "current-schema-id": 0,
    "partition-specs": [
        {"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}]}
    ],
    "default-spec-id": 0,
    "last-partition-id": 1000,
    "properties": {"a": "b"},
    "current-snapshot-id": 5,
    "snapshots": [
        {
            "snapshot-id": 5,
            "sequence-number": 1,
            "timestamp-ms": 1515100955770,
            "manifest-list": "s3://b/l",
            "summary": {"operation": "append"},
            "first-row-id": 0,
            "added-rows": 1,
            "key-id": "k",
        }
    ],
    "snapshot-log": [{"timestamp-ms": 1515100955770, "snapshot-id": 5}],
    "metadata-log": [{"timestamp-ms": 1, "metadata-file": "s3://b/m"}],
    "sort-orders": [{"order-id": 1, "fields": [SORT_FIELD]}],
    "default-sort-order-id": 1,
    "refs": {"main": {"snapshot-id": 5, "type": "branch"}},
    "statistics": [
        {
            "snapshot-id": 5,
            "statistics-path": "s",
            "file-size-in-bytes": 3,
            "file-footer-size-in-bytes": 1,
            "blob-metadata": [BLOB],
        }
    ],
    "partition-statistics": [{"snapshot-id": 5, "statistics-path": "p", "file-size-in-bytes": 3}],
    "next-row-id": 1,
    "encryption-keys": [{"key-id": "k", "encrypted-key-metadata": "aWNl", "properties": {"a": "b"}}],
}
"""A document with an object of every kind."""

NEWER = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map("x-{}".format),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3),
        max_leaves=5,
    ),
    min_size=1,
    max_size=3,
)


@SOME
@given(st.just(EVERYTHING) | table_metadata().map(write_metadata), NEWER)
def test_what_newer_writers_add_is_kept_at_every_level(document: dict[str, Any], more: dict[str, Any]) -> None:
    added = with_more(document, more)
    metadata = read_metadata(added)
    assert write_metadata(metadata) == added
    assert json.loads(dumps(metadata)) == added


def test_an_object_of_every_kind_is_in_the_document_of_the_last_test() -> None:
    assert check_metadata(EVERYTHING) == []
    kinds = {kind.cls for kind in records_inside()}
    text = json.dumps(with_more(EVERYTHING, {"x-new": 1}))
    reached = set()

    def look(value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                look(item)
        elif isinstance(value, Mapping):
            look(tuple(value.values()))
        elif attrs.has(type(value)):
            if getattr(value, "extra", None):
                reached.add(type(value))
            look(tuple(getattr(value, field.name) for field in attrs.fields(type(value)) if field.name != "extra"))

    look(read_metadata(text))
    assert reached >= kinds | {StructType, ListType, MapType}


def records_inside(kind: Any = METADATA) -> Iterator[RecordOf]:
    """The kind and every kind of record inside it."""
    match kind:
        case RecordOf():
            yield kind
            for name, rule in field_rules(kind.cls).items():
                yield from records_inside(kind.kinds.get(name, rule.type))
        case Converted(inner) | ListOf(inner) | MapOf(inner):
            yield from records_inside(inner)


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
