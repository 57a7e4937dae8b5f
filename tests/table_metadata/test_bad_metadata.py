"""Untrusted metadata: a clear error with code and place, in bounded time and memory, never a traceback of ours."""

import copy
import gzip
import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.table_metadata import TableMetadata, check_metadata, dumps, read_metadata
from spec_ref.table_metadata.files import decompress

Document = dict[str, Any]


def v2(**changes: Any) -> Document:
    """Valid v2 metadata with one snapshot; a change of None takes a property out."""
    document = {
        "format-version": 2,
        "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": "s3://b/wh/data.db/table",
        "last-sequence-number": 1,
        "last-updated-ms": 1515100955770,
        "last-column-id": 1,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": True, "type": "long"}]}
        ],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "current-snapshot-id": 5,
        "snapshots": [
            {
                "snapshot-id": 5,
                "sequence-number": 1,
                "timestamp-ms": 1515100955770,
                "manifest-list": "s3://b/l.avro",
                "summary": {"operation": "append"},
            }
        ],
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in document.items() if value is not None}


def refused(data: Any) -> tuple[str, str]:
    """The code and the JSON pointer that reading refuses with."""
    with pytest.raises(SpecError) as error:
        read_metadata(data)
    assert str(error.value)
    return error.value.violation.requirement, error.value.violation.path


def snapshot(**changes: Any) -> list[Document]:
    made = {**v2()["snapshots"][0], **{name.replace("_", "-"): value for name, value in changes.items()}}
    return [{name: value for name, value in made.items() if value is not None}]


def test_the_base_of_these_tests_is_sound() -> None:
    assert check_metadata(v2()) == []
    assert json.loads(dumps(read_metadata(v2()))) == v2()


TEXT = json.dumps(v2())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'"metadata"',
        TEXT.encode()[:-5],
        TEXT.encode() + b"x",
        b"\xef\xbb\xbf" + TEXT.encode(),
        b'{"format-version": 2, "location": "\xff"}',
        b'{"format-version": 2, "location": "\\ud800"}',
        b'{"format-version": 2, "format-version": 2}',
        b'{"format-version": 2, "x": {"a": 1, "\\u0061": 2}}',
        b'{"format-version": NaN}',
        b'{"format-version": 2, "x": Infinity}',
        b'{"format-version": 2, "x": ' + b"[" * 1000 + b"]" * 1000 + b"}",
        b'{"format-version": 2, "x": ' + b'{"a":' * 100_000,
        b'{"format-version": 2, "x": ' + b"1" * 100_000 + b"}",
        "\ud800",
    ],
)
def test_what_is_no_json_document_is_refused(data: bytes | str) -> None:
    assert refused(data)[0] == "TMD029"
    assert [found.requirement for found in check_metadata(data)] == ["TMD029"]


@pytest.mark.parametrize("wrong", [1.0, 1e3, True, "1", [1], {"a": 1}, 2**63, -(2**63) - 1, 10**400])
@pytest.mark.parametrize("name", ["last-updated-ms", "last-sequence-number", "current-snapshot-id"])
def test_a_long_is_an_integer_of_64_bits_and_nothing_else(name: str, wrong: Any) -> None:
    code, path = refused({**v2(), name: wrong})
    assert code in {"TMD004", "TMD005", "TMD015"}
    assert path == f"/{name}"


def test_an_int_has_32_bits() -> None:
    assert refused(v2(last_column_id=2**31)) == ("TMD006", "/last-column-id")
    assert refused(v2(last_column_id=1.0)) == ("TMD006", "/last-column-id")


@pytest.mark.parametrize("version", [0, 4, -1, 10**400, 2.0, "2", True, [2], None])
def test_versions_that_are_not_known_are_refused(version: Any) -> None:
    assert refused({**v2(), "format-version": version}) == ("TMD001", "/format-version")


@pytest.mark.parametrize(
    "name",
    [
        "table-uuid",
        "location",
        "last-sequence-number",
        "last-updated-ms",
        "last-column-id",
        "schemas",
        "current-schema-id",
        "partition-specs",
        "default-spec-id",
        "last-partition-id",
        "sort-orders",
        "default-sort-order-id",
    ],
)
def test_what_v2_requires_has_to_be_there(name: str) -> None:
    document = v2()
    del document[name]
    code, path = refused(document)
    assert code.startswith("TMD")
    assert path == f"/{name}"
    assert refused({**v2(), name: None})[1] == f"/{name}"


def test_next_row_id_is_required_from_v3_on() -> None:  # LIN001
    assert refused(v2(format_version=3)) == ("TMD024", "/next-row-id")
    assert read_metadata(v2(format_version=3, next_row_id=0)).next_row_id == 0


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"current_schema_id": 7}, "TMD009", "/current-schema-id"),
        ({"current_snapshot_id": 6}, "TMD015", "/current-snapshot-id"),
        ({"refs": {"main": {"snapshot-id": 6, "type": "branch"}}}, "TMD015", "/refs/main/snapshot-id"),
        (
            {"refs": {"main": {"snapshot-id": 5, "type": "branch"}}, "current_snapshot_id": None},
            "TMD015",
            "/refs/main/snapshot-id",
        ),
        ({"snapshots": snapshot() + snapshot()}, "SNP001", "/snapshots/1/snapshot-id"),
        ({"snapshots": snapshot(manifest_list=None)}, "SNP005", "/snapshots/0/manifest-list"),
        ({"snapshots": snapshot(timestamp_ms="5")}, "SNP004", "/snapshots/0/timestamp-ms"),
        ({"snapshots": snapshot(summary={"operation": 5})}, "SNP007", "/snapshots/0/summary"),
        ({"refs": {"a/b": {"snapshot-id": 5, "type": "twig"}}}, "REF002", "/refs/a~1b/type"),
        ({"statistics": [{"snapshot-id": "5"}]}, "STA001", "/statistics/0/snapshot-id"),
        ({"properties": {"a": 1}}, "TMD014", "/properties"),
        (
            {
                "schemas": [
                    {
                        "type": "struct",
                        "schema-id": 0,
                        "fields": [
                            {"id": 1, "name": "a", "required": True, "type": "long"},
                            {"id": 1, "name": "b", "required": True, "type": "long"},
                        ],
                    }
                ]
            },
            "TYP002",
            "/schemas/0",
        ),
        (
            {
                "schemas": [
                    {
                        "type": "struct",
                        "schema-id": 0,
                        "fields": [{"id": 1, "name": "a", "required": True, "type": "decimal(39, 2)"}],
                    }
                ]
            },
            "TYP013",
            "/schemas/0/fields/0/type",
        ),
        ({"schemas": [{"schema-id": 0, "fields": []}]}, "JSC006", "/schemas/0/type"),
        (
            {"partition_specs": [{"spec-id": 0, "fields": [{"source-id": 1, "name": "p", "transform": "identity"}]}]},
            "PAR019",
            "/partition-specs/0/fields/0/field-id",
        ),
        (
            {
                "sort_orders": [
                    {
                        "order-id": 1,
                        "fields": [
                            {"transform": "identity", "source-id": 1, "direction": "up", "null-order": "nulls-first"}
                        ],
                    }
                ]
            },
            "SRT007",
            "/sort-orders/0/fields/0/direction",
        ),
    ],
)
def test_what_leaves_the_table_open_is_refused_where_it_stands(changes: Document, code: str, path: str) -> None:
    assert refused(v2(**changes)) == (code, path)
    assert (code, path) in {(found.requirement, found.path) for found in check_metadata(v2(**changes))}


@pytest.mark.parametrize(
    "sources",
    [{}, {"source-id": 1, "source-ids": [1, 1]}, {"source-id": -1, "source-ids": [1, 1]}, {"source-ids": []}],
)
def test_a_partition_field_has_one_kind_of_sources(sources: Document) -> None:
    field = {"field-id": 1000, "name": "p", "transform": "zorder", **sources}
    document = v2(format_version=3, next_row_id=0, partition_specs=[{"spec-id": 0, "fields": [field]}])
    assert refused(document)[0] == "PAR022"


def test_the_example_of_an_encryption_key_is_no_key() -> None:
    keys = [{"key-id": "5f819b", "key-metadata": "aWNlYmVyZwo="}]
    document = v2(format_version=3, next_row_id=0, encryption_keys=keys)
    assert refused(document) == ("ENC002", "/encryption-keys/0/encrypted-key-metadata")


def test_the_error_names_the_file() -> None:
    with pytest.raises(SpecError, match=r"a\.metadata\.json:/current-schema-id"):
        read_metadata(v2(current_schema_id=7), file="a.metadata.json")


def test_a_gzip_bomb_costs_no_more_than_the_limit() -> None:
    bomb = gzip.compress(b"\0" * (1 << 26)) * 16  # 1 GiB in about 1 MB, as sixteen members
    start = time.process_time()
    tracemalloc.start()
    with pytest.raises(SpecError, match=f"TMD030: .*; expected at most {1 << 24} bytes"):
        decompress(bomb, limit=1 << 24)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 26
    assert time.process_time() - start < 50


@pytest.mark.parametrize("cut", [3, 12, -4, -1])
def test_broken_gzip_is_refused(cut: int) -> None:
    assert refused(gzip.compress(TEXT.encode())[:cut])[0] == "TMD030"


def test_gzip_that_is_not_deflate_is_refused() -> None:
    assert refused(b"\x1f\x8b" + b"\xff" * 50)[0] == "TMD030"


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for name, item in items for deeper in paths(item, (*path, name)))]


RICH = v2(
    format_version=3,
    next_row_id=10,
    schemas=[
        {
            "type": "struct",
            "schema-id": 0,
            "identifier-field-ids": [1],
            "fields": [
                {
                    "id": 1,
                    "name": "a",
                    "required": True,
                    "type": "long",
                    "initial-default": 5,
                    "write-default": 6,
                    "doc": "d",
                },
                {
                    "id": 2,
                    "name": "s",
                    "required": False,
                    "type": {
                        "type": "struct",
                        "fields": [
                            {
                                "id": 3,
                                "name": "m",
                                "required": False,
                                "type": {
                                    "type": "map",
                                    "key-id": 4,
                                    "key": "string",
                                    "value-id": 5,
                                    "value-required": True,
                                    "value": {
                                        "type": "list",
                                        "element-id": 6,
                                        "element-required": True,
                                        "element": "decimal(9, 2)",
                                    },
                                },
                            }
                        ],
                    },
                },
            ],
        }
    ],
    partition_specs=[
        {
            "spec-id": 0,
            "fields": [
                {"source-id": 1, "field-id": 1000, "name": "p", "transform": "bucket[16]"},
                {"source-ids": [1, 1], "field-id": 1001, "name": "q", "transform": "zorder"},
            ],
        }
    ],
    last_partition_id=1001,
    last_column_id=6,
    refs={"main": {"snapshot-id": 5, "type": "branch", "min-snapshots-to-keep": 3, "max-ref-age-ms": 3}},
    properties={"schema.name-mapping.default": '[{"field-id": 1, "names": ["a"]}]'},
    snapshot_log=[{"timestamp-ms": 1, "snapshot-id": 5}],
    metadata_log=[{"timestamp-ms": 1, "metadata-file": "s3://b/m"}],
    statistics=[
        {
            "snapshot-id": 5,
            "statistics-path": "s",
            "file-size-in-bytes": 3,
            "file-footer-size-in-bytes": 1,
            "blob-metadata": [{"type": "t", "snapshot-id": 5, "sequence-number": 1, "fields": [1]}],
        }
    ],
    partition_statistics=[{"snapshot-id": 5, "statistics-path": "s", "file-size-in-bytes": 3}],
    encryption_keys=[{"key-id": "k", "encrypted-key-metadata": "aWNl", "properties": {"a": "b"}}],
)
PATHS = paths(RICH)[1:]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.sampled_from(["struct", "list", "bucket[0]", "decimal(1,", "main", "fixed[99999999999]"]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PATHS), JUNK), min_size=1, max_size=3), st.sampled_from([1, 2, 3]))
def test_any_value_at_any_place_is_read_or_refused_with_a_code(changes: list[Any], version: int) -> None:
    document = json.loads(json.dumps({**RICH, "format-version": version}))
    for path, junk in changes:
        at: Any = document
        try:
            for name in path[:-1]:
                at = at[name]
            at[path[-1]] = copy.deepcopy(junk)  # else it may be put inside of itself
        except (KeyError, IndexError, TypeError):
            continue
    found = {(one.requirement, one.path) for one in check_metadata(document)}
    reason, metadata = outcome(json.dumps(document))
    assert reason is None or reason in found
    if metadata is not None:
        written = dumps(metadata)
        assert read_metadata(written) == read_metadata(dumps(read_metadata(written)))


def outcome(data: str) -> tuple[tuple[str, str] | None, TableMetadata | None]:
    try:
        return None, read_metadata(data)
    except SpecError as error:
        return (error.violation.requirement, error.violation.path), None


def test_a_bomb_of_values_costs_no_more_than_its_text() -> None:
    bomb = gzip.compress(b"[" + b"[]," * (1 << 23) + b"[]]")  # 24 MiB of text, gigabytes of lists
    tracemalloc.start()
    code, path = refused(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (code, path) == ("TMD029", "")
    assert peak < 1 << 27


def test_a_list_of_nothing_but_faults_is_reported_in_part() -> None:
    document = v2(snapshots=[{}] * 20_000, snapshot_log=[5] * 20_000, current_snapshot_id=None)
    found = check_metadata(document)
    assert {one.path for one in found} > {"/snapshots/0/snapshot-id", "/snapshot-log/0"}
    assert len(found) < 10_000


def test_a_large_value_in_the_wrong_place_is_not_written_out() -> None:
    document = v2(location=[[5] * 1000] * 1000)
    with pytest.raises(SpecError, match="found a list of 1000 items") as error:
        read_metadata(document)
    assert len(str(error.value)) < 300
