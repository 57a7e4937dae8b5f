"""Random questions about manifests and manifest lists: engines write some, and read those of the reference.

The questions are valid: every entry and every manifest has the fields that its format version requires. The reference
writes the manifests to read, and the engine's answer is compared with that of the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from conformance.engines.reference.adapter import operations
from conformance.operations.wire import to_exchange
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import JsonObject
from spec_ref.data_types.types import Type, kind
from spec_ref.partitioning.transforms import Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year
from spec_ref.schemas.type_json import type_to_json
from tools.value_strategies import primitive_types, values

Asked = tuple[str, JsonObject]

COMMITTED = 7
"""The snapshot that is being committed."""

NUMBER = 9
"""Its sequence number."""

OFFSETS = 1000
"""The minimum length of a file; splits begin before it."""

LONGS = st.one_of(st.integers(0, 9), st.integers(0, (1 << 63) - 1)).map(str)
NUMBERS = st.integers(0, NUMBER).map(str)
COUNTS = st.one_of(st.integers(0, 3), st.integers(0, 1 << 40)).map(str)
PATHS = st.text(max_size=6).map(lambda text: f"s3://b/t/{text}.x")
BYTES = st.binary(max_size=20).map(lambda data: data.hex().upper())
TRANSFORMS: st.SearchStrategy[Transform] = st.one_of(
    st.sampled_from([Identity(), Void(), Year(), Month(), Day(), Hour()]),
    st.builds(Bucket, st.integers(1, 100)),
    st.builds(Truncate, st.integers(1, 100)),
)
NAMES = st.one_of(
    st.sampled_from(["p", "a b", "1", "é", "_", "a.b", "a-b", "\U0001f600", "x" * 40]), st.text(min_size=1, max_size=3)
)
PLAIN = primitive_types().filter(lambda type_: kind(type_) not in ("unknown", "geometry", "geography"))
OF_ENGINES = [
    "status",
    "snapshot_id",
    "sequence_number",
    "file_sequence_number",
    "content",
    "file_path",
    "file_format",
    "partition",
    "record_count",
    "file_size_in_bytes",
    "column_sizes",
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
    "key_metadata",
    "split_offsets",
    "equality_ids",
]
"""The fields that every engine reads: no row ids, no deletion vectors, and not the order 0, which some leave out."""


@st.composite
def _tables(draw: st.DrawFn, version: int) -> tuple[list[JsonObject], JsonObject, dict[str, Type]]:
    """Return the columns and the spec of a table, and the types of partition values by field id."""
    columns: list[JsonObject] = [{"id": 1, "name": "id", "required": True, "type": "long"}]
    fields: list[JsonObject] = []
    types: dict[str, Type] = {}
    used = {"id"}
    for place in range(draw(st.integers(0, 3))):
        type_ = draw(PLAIN.filter(lambda one: one.since <= version))
        transform = draw(TRANSFORMS)
        try:
            made = transform.result_type(type_)
        except SpecError:
            transform, made = Identity(), type_
        name = draw(NAMES.filter(lambda one: one not in used))
        used.add(name)
        columns.append({"id": 2 + place, "name": f"c{place}", "required": False, "type": type_to_json(type_)})
        fields.append({"source-id": 2 + place, "field-id": 1000 + place, "name": name, "transform": str(transform)})
        if not isinstance(transform, Void):  # void: all values are null
            types[str(1000 + place)] = made
    return columns, {"spec-id": draw(st.integers(0, 3)), "fields": fields}, types


def _maps(items: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.integers(1, 5).map(str), items, max_size=3)


def _bounds(least: int, most: int) -> st.SearchStrategy[dict[str, str]]:
    """Draw bounds of the long column, and of columns that the schema no longer has."""
    longs = st.integers(least, most).map(lambda value: value.to_bytes(8, "little", signed=True).hex().upper())
    return st.tuples(st.none() | longs, st.dictionaries(st.sampled_from(["90", "91"]), BYTES)).map(
        lambda pair: pair[1] if pair[0] is None else {"1": pair[0], **pair[1]}
    )


def _maybe(draw: st.DrawFn, record: JsonObject, **members: st.SearchStrategy[Any]) -> None:
    """Add some of the optional members to a record."""
    for name, strategy in members.items():
        if draw(st.booleans()):
            record[name] = draw(strategy)


@st.composite
def _files(draw: st.DrawFn, version: int, content: int, types: dict[str, Type]) -> JsonObject:
    kind_ = draw(st.sampled_from([1, 2])) if content else 0
    file: JsonObject = {
        "content": kind_,
        "file_path": draw(PATHS),
        "file_format": draw(st.sampled_from(["parquet", "avro", "orc"])),
        "record_count": draw(COUNTS),
        "file_size_in_bytes": draw(st.integers(OFFSETS, (1 << 63) - 1).map(str)),
        "partition": {},
    }
    for field_id, type_ in types.items():
        value = draw(st.none() | values(type_))
        if value is not None:
            file["partition"][field_id] = to_exchange(type_, value)
    some, many = st.integers(0, 3).map(str), st.integers(6, 1 << 62).map(str)
    offsets = st.sets(st.integers(0, OFFSETS - 1), min_size=1, max_size=3).map(lambda one: [*map(str, sorted(one))])
    _maybe(
        draw,
        file,
        column_sizes=_maps(LONGS),
        value_counts=_maps(many),
        null_value_counts=_maps(some),
        nan_value_counts=_maps(some),
        lower_bounds=_bounds(-9, 0),
        upper_bounds=_bounds(0, 9),
        key_metadata=BYTES,
        split_offsets=offsets,
    )
    if kind_ == 2:
        file["equality_ids"] = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True))
    if kind_ == 1 and version >= 2:
        _maybe(draw, file, referenced_data_file=PATHS)
        if version >= 3 and draw(st.booleans()):
            file |= {"file_format": "puffin", "content_offset": draw(LONGS), "content_size_in_bytes": draw(COUNTS)}
            file.setdefault("referenced_data_file", "s3://b/t/a.x")
    return file


@st.composite
def _entries(draw: st.DrawFn, version: int, content: int, types: dict[str, Type]) -> JsonObject:
    status = draw(st.sampled_from([1, 0, 2]))
    entry: JsonObject = {"status": status, "data_file": draw(_files(version, content, types))}
    if version == 1 or status == 2:
        entry["snapshot_id"] = str(COMMITTED) if status else draw(LONGS)
    elif status == 0:
        entry["snapshot_id"] = draw(LONGS)
    if version > 1 and status != 1:
        entry |= {"sequence_number": draw(NUMBERS), "file_sequence_number": draw(NUMBERS)}
    return entry


def _path(record: JsonObject) -> str:
    """Draw a path that no two entries, and no two manifests, share."""
    return str(record["data_file"]["file_path"] if "data_file" in record else record["manifest_path"])


@st.composite
def _writing(draw: st.DrawFn, versions: tuple[int, ...] = (1, 2, 3)) -> JsonObject:
    version = draw(st.sampled_from(versions))
    content = draw(st.sampled_from([0, 0, 1])) if version > 1 else 0
    columns, spec, types = draw(_tables(version))
    return {
        "format_version": version,
        "content": content,
        "schema": {"type": "struct", "schema-id": 0, "fields": columns},
        "spec": spec,
        "snapshot_id": str(COMMITTED),
        "sequence_number": str(NUMBER if version > 1 else 0),
        "entries": draw(st.lists(_entries(version, content, types), min_size=1, max_size=3, unique_by=_path)),
    }


@st.composite
def _reading(draw: st.DrawFn) -> JsonObject:
    written = draw(_writing())
    listed: JsonObject = {
        "partition_spec_id": written["spec"]["spec-id"],
        "content": written["content"],
        "sequence_number": written["sequence_number"],
        "added_snapshot_id": written["snapshot_id"],
    }
    asked: JsonObject = {
        "bytes": operations()["manifest.write"](written),
        "manifest_file": listed,
        "schema": written["schema"],
        "specs": [written["spec"]],
    }
    if written["format_version"] == 3 and not written["content"] and draw(st.booleans()):
        listed["first_row_id"] = draw(st.integers(0, 1 << 40).map(str))
    elif draw(st.booleans()):
        asked["select"] = OF_ENGINES
    return asked


def _summaries() -> st.SearchStrategy[list[JsonObject]]:
    def summary(pair: tuple[bool, bool, str | None]) -> JsonObject:
        summary: JsonObject = {"contains_null": pair[0], "contains_nan": pair[1]}
        return summary if pair[2] is None else {**summary, "lower_bound": pair[2], "upper_bound": pair[2]}

    return st.lists(st.tuples(st.booleans(), st.booleans(), st.none() | BYTES).map(summary), max_size=2)


@st.composite
def _list_entry(draw: st.DrawFn, version: int, *, rows: bool) -> JsonObject:
    new = draw(st.booleans())
    content = draw(st.sampled_from([0, 0, 1])) if version > 1 else 0
    manifest: JsonObject = {
        "manifest_path": draw(PATHS),
        "manifest_length": draw(LONGS),
        "partition_spec_id": draw(st.integers(0, 3)),
        "content": content,
        "added_snapshot_id": str(COMMITTED) if new else draw(LONGS),
    }
    for what in ("added", "existing", "deleted"):
        manifest[f"{what}_files_count"] = draw(st.integers(0, 5))
        manifest[f"{what}_rows_count"] = draw(st.integers(0, 1 << 20).map(str))
    if version > 1 and not new:
        low, high = sorted((draw(st.integers(0, NUMBER)), draw(st.integers(0, NUMBER))))
        manifest |= {"sequence_number": str(high), "min_sequence_number": str(low)}
    _maybe(draw, manifest, partitions=_summaries(), key_metadata=BYTES)
    if rows and not content and not new:
        manifest["first_row_id"] = draw(st.integers(0, 99).map(str))
    return manifest


@st.composite
def _list_writing(draw: st.DrawFn) -> JsonObject:
    version = draw(st.sampled_from([1, 2, 3]))
    asked: JsonObject = {
        "format_version": version,
        "snapshot_id": str(COMMITTED),
        "sequence_number": str(NUMBER if version > 1 else 0),
        "manifests": draw(st.lists(_list_entry(version, rows=version == 3), max_size=3, unique_by=_path)),
    }
    _maybe(draw, asked, parent_snapshot_id=LONGS)
    if version == 3:
        asked["first_row_id"] = str(draw(st.integers(100, 1 << 40)))
    return asked


@st.composite
def _list_reading(draw: st.DrawFn) -> JsonObject:
    written = draw(_list_writing())
    asked: JsonObject = {"bytes": operations()["manifest-list.write"](written)}
    if draw(st.booleans()):
        asked["select"] = [
            "manifest_path",
            "manifest_length",
            "partition_spec_id",
            "content",
            "sequence_number",
            "min_sequence_number",
            "added_snapshot_id",
            "added_files_count",
            "existing_files_count",
            "deleted_files_count",
            "added_rows_count",
            "existing_rows_count",
            "deleted_rows_count",
            "partitions",
            "key_metadata",
        ]
    return asked


def _about(op: str, strategy: Callable[[], st.SearchStrategy[JsonObject]]) -> Callable[[], st.SearchStrategy[Asked]]:
    return lambda: strategy().map(lambda args: (op, args))


QUESTIONS: dict[str, Callable[[], st.SearchStrategy[Asked]]] = {
    "manifest.write": _about("manifest.write", _writing),
    "manifest.read": _about("manifest.read", _reading),
    "manifest-list.write": _about("manifest-list.write", _list_writing),
    "manifest-list.read": _about("manifest-list.read", _list_reading),
}
"""The questions, by operation."""
