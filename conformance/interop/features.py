"""Detect the features of the spec that a table uses from its metadata and manifests: the rows of summaries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from conformance.table_io.file_access import read_bytes
from conformance.table_io.tables import Table
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.data_types.types import is_primitive, kind
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata import TableMetadata

PLAIN = frozenset({"boolean", "int", "long", "float", "double", "string", "date", "timestamp", "timestamptz"})
"""Types that all engines support, which do not count as features."""

OPERATIONS = {"overwrite": "overwrites", "delete": "deletes of files", "replace": "rewritten files"}


def table_features(table: Table) -> frozenset[str]:
    """Return the features of a table: from the metadata for all snapshots, from files only for current ones."""
    metadata = table.metadata
    return frozenset(
        (
            *_schema_features(metadata),
            *_layout_features(metadata),
            *_history_features(metadata),
            *_file_features(metadata),
        )
    )


def data_file_formats(table: Table) -> tuple[str, ...]:
    """Return the formats of the data files of the current snapshot."""
    if table.metadata.current_snapshot_id is None:
        return ()
    tasks = plan(table.metadata, table.metadata.current_snapshot, TRUE, read_bytes)
    return tuple(sorted({task.data_file.file_format.value for task in tasks}))


def _schema_features(metadata: TableMetadata) -> Iterator[str]:
    for schema in metadata.schemas:
        for column in schema.columns():
            name = kind(column.type)
            if not is_primitive(column.type) and name != "variant":
                yield "nested types"
            elif name not in PLAIN:
                yield f"type {name}"
            if column.field is not None and column.field.initial_default is not None:
                yield "initial defaults"
    for old, new in pairwise(metadata.schemas):
        yield from _changes(old, new)


def _changes(old: Schema, new: Schema) -> Iterator[str]:
    before = {column.id: column for column in old.columns()}
    after = {column.id: column for column in new.columns()}
    if after.keys() - before.keys():
        yield "added columns"
    if before.keys() - after.keys():
        yield "dropped columns"
    shared = [id_ for id_ in before if id_ in after]
    if any(before[id_].name != after[id_].name for id_ in shared):
        yield "renamed columns"
    if any(before[id_].type != after[id_].type and is_primitive(before[id_].type) for id_ in shared):
        yield "promoted types"
    if [id_ for id_ in after if id_ in before] != shared:
        yield "moved columns"


def _layout_features(metadata: TableMetadata) -> Iterator[str]:
    transforms = {str(field.transform).partition("[")[0] for spec in metadata.partition_specs for field in spec.fields}
    yield from (f"partition {name}" for name in transforms)
    if len(metadata.partition_specs) > 1:
        yield "partition evolution"
    if any(order.fields for order in metadata.sort_orders):
        yield "sort order"
    if NAME_MAPPING_PROPERTY in metadata.properties:
        yield "name mapping"


def _history_features(metadata: TableMetadata) -> Iterator[str]:
    for snapshot in metadata.snapshots:
        operation = (snapshot.summary or {}).get("operation", "")
        if operation in OPERATIONS:
            yield OPERATIONS[operation]
    for name, reference in metadata.refs.items():
        if name != "main":
            yield "tags" if reference.type.value == "tag" else "branches"
    if metadata.current_snapshot_id is None:
        yield "no snapshot"
    if any(snapshot.first_row_id is not None for snapshot in metadata.snapshots):
        yield "row lineage"


def _file_features(metadata: TableMetadata) -> Iterator[str]:
    heads = {reference.snapshot_id for reference in metadata.refs.values()} | {metadata.current_snapshot_id}
    for snapshot in metadata.snapshots:
        if snapshot.snapshot_id in heads:
            yield from _snapshot_features(metadata, snapshot)


def _snapshot_features(metadata: TableMetadata, snapshot: Snapshot) -> Iterator[str]:
    for task in plan(metadata, snapshot, TRUE, read_bytes):
        for delete in task.deletes:
            yield _delete_kind(delete.data_file)


def _delete_kind(file: DataFile) -> str:
    if file.content is FileContent.EQUALITY_DELETES:
        return "equality deletes"
    return "deletion vectors" if file.is_deletion_vector else "position deletes"
