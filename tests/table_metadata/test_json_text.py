"""JSON texts: repeated names are found at any place and size, and errors state the place."""

import json
from typing import Any

import pytest

from spec_ref.core.errors import SpecError
from spec_ref.json.documents import loads
from spec_ref.table_metadata import check_metadata, read_metadata

SNAPSHOT = {
    "snapshot-id": 5,
    "sequence-number": 1,
    "timestamp-ms": 1515100955770,
    "manifest-list": "s3://b/l.avro",
    "summary": {"operation": "append", "added-records": "1"},
}


def document(**changes: Any) -> dict[str, Any]:
    type_ = {"type": "list", "element-id": 2, "element": "long", "element-required": True}
    return {
        "format-version": 2,
        "table-uuid": "fb072c92-a02b-11e9-ae9c-1bb7bc9eca94",
        "location": "s3://b/t",
        "last-sequence-number": 1,
        "last-updated-ms": 1515100955770,
        "last-column-id": 2,
        "schemas": [
            {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": True, "type": type_}]}
        ],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "snapshots": [SNAPSHOT],
        "snapshot-log": [{"timestamp-ms": 1515100955770, "snapshot-id": 5}],
        "current-snapshot-id": 5,
        "properties": {"a": "b"},
        "refs": {"main": {"snapshot-id": 5, "type": "branch"}},
        "x-new": {"deep": [{"a": {"b": 1}}]},
    } | changes


def objects(value: Any, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every object inside a value, with its pointer."""
    if isinstance(value, dict):
        return [(path, value), *(found for name in value for found in objects(value[name], f"{path}/{name}"))]
    items = enumerate(value) if isinstance(value, list) else ()
    return [found for place, item in items for found in objects(item, f"{path}/{place}")]


REPEATED = "\u0000repeated"
POINTERS = [path for path, _ in objects(document())]


@pytest.mark.parametrize("pointer", POINTERS)
def test_a_name_that_stands_twice_is_refused_wherever_it_stands(pointer: str) -> None:
    changed = json.loads(json.dumps(document()))
    holder = next(value for path, value in objects(changed) if path == pointer)
    name = next(iter(holder))
    holder[REPEATED] = holder[name]
    text = json.dumps(changed).replace(json.dumps(REPEATED), json.dumps(name))
    with pytest.raises(SpecError) as error:
        read_metadata(text)
    assert (error.value.violation.requirement, error.value.violation.path) == ("TMD029", f"{pointer}/{name}")
    assert [(found.requirement, found.path) for found in check_metadata(text)] == [("TMD029", f"{pointer}/{name}")]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b'{"x": [1, 2', "/x/1"),
        (b'{"x": {"y": "abc', "/x/y"),
        (b'{"x": {"y": "a\\', "/x/y"),
        (b'{"x": {"y": tru', "/x/y"),
        (b'{"x": [{}, {"y": NaN}]}', "/x/1/y"),
        (b'{"a/b~c": [{"\\u0061": -Infinity}]}', "/a~1b~0c/0/a"),
        (b'{"a": {"b":[1,2,]}}', "/a/b/2"),
        (b'{"a": [[1], [2], ["\xff"]]}', "/a/2/0"),
        (b'{"a": 1,\r\n\n "b": ' + b"9" * 5000 + b"}", "/b"),
        (b'{"a": {"long na', "/a"),
        (b'{"a": ' + b"[" * 1000, "/a" + "/0" * 200),
        (b"{} {}", ""),
        (b"", ""),
        (b"}", ""),
    ],
)
def test_the_error_reports_where_a_text_breaks(text: bytes, place: str) -> None:
    with pytest.raises(SpecError) as error:
        loads(text)
    assert (error.value.violation.requirement, error.value.violation.path) == ("TMD029", place)
