"""Comparing two versions of one table: what must not disappear or change (Table Metadata; Schema Evolution).

Files and ids are immutable: an id means the same in both versions, and counters never decrease.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from conformance.core.time_budget import FILE_SECONDS
from conformance.validator.finding import finding
from conformance.validator.one_cause import without_consequences
from conformance.validator.run import SnapshotSelection, TableReport, read_root
from conformance.validator.table_root import UnreadableTable, normalize_location
from spec_ref.checks.findings import Finding, Tally
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.core.versions import SEQUENCE_NUMBERS, UNIQUE_PARTITION_FIELD_IDS
from spec_ref.data_types.promotion import may_have_been_promoted
from spec_ref.data_types.types import UNKNOWN, is_primitive, kind
from spec_ref.partitioning.evolution import altered_partition_fields
from spec_ref.schemas.evolution import keeps_initial_default, required_fields_without_default
from spec_ref.schemas.latest_columns import latest_columns
from spec_ref.schemas.schema import Column
from spec_ref.snapshots.retention import ancestors
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata import TableMetadata, read_metadata

_COUNTERS = (
    ("last-sequence-number", "TMD004", "last_sequence_number"),
    ("last-column-id", "TMD006", "last_column_id"),
    ("last-partition-id", "TMD013", "last_partition_id"),
    ("next-row-id", "TMD024", "next_row_id"),
    ("format-version", "TMD001", "format_version"),
)
"""The counters that never decrease, with their requirements."""


def compare_versions(
    old: str, new: str, check: Callable[[str, SnapshotSelection], TableReport], file_seconds: float = FILE_SECONDS
) -> TableReport:
    """Check the new version of a table, by itself and against the old one.

    The snapshots that the new version has after the current snapshot of the old version are checked, and the manifests
    and entries of each are compared with those of its parent.

    Args:
        old: the location of the old version, such as a metadata file.
        new: the location of the new version.
        check: checks some snapshots of a table.
        file_seconds: the time limit for a file without progress, in seconds.

    Raises:
        UnreadableTable: the metadata of a version cannot be read.
    """
    before, after = _read(old, file_seconds), _read(new, file_seconds)
    report = check(after[0], SnapshotSelection("since", before[1].current_snapshot_id))
    tally = Tally(report.all_findings)
    tally.add(forbidden_changes(before[1], after[1], before[0], after[0]))
    found = tally.findings()
    return attrs.evolve(report, findings=without_consequences(found), all_findings=found)


def _read(location: str, file_seconds: float) -> tuple[str, TableMetadata]:
    root, data = read_root(location, file_seconds)
    try:
        return root, read_metadata(data, file=root)
    except SpecError as error:
        raise UnreadableTable(str(error)) from error


def forbidden_changes(old: TableMetadata, new: TableMetadata, old_file: str, file: str) -> Iterator[Finding]:
    """Find changes that are not allowed, with paths in the new metadata."""

    def changed(code: str, message: str, path: str, found: Any, expected: Any, aspect: str = "") -> Finding:
        return finding(code, message, file=file, path=path, found=found, expected=str(expected), aspect=aspect)

    if old.table_uuid is not None and new.table_uuid != old.table_uuid:
        yield changed(
            "TMD002",
            "table-uuid differs from the old version's",
            "/table-uuid",
            new.table_uuid,
            old.table_uuid,
            aspect="changed",
        )
        return
    for name, code, attribute in _COUNTERS:
        before, after = getattr(old, attribute), getattr(new, attribute)
        if before is not None and (after is None or after < before):
            after = None if after is None else int(after)
            yield changed(code, f"{name} decreased", f"/{name}", after, f"at least {int(before)}", aspect="decreased")
    if new.last_updated_ms < old.last_updated_ms:
        path, expected = "/last-updated-ms", f"at least {old.last_updated_ms}"
        yield changed("TMD005", "last-updated-ms decreased", path, new.last_updated_ms, expected, aspect="decreased")
    kinds: tuple[tuple[str, str, Callable[[Any], int]], ...] = (
        ("schemas", "EVO002", lambda one: one.schema_id),
        ("partition_specs", "PAR011", lambda one: one.spec_id),
        ("sort_orders", "TMD019", lambda one: one.order_id),
        ("snapshots", "SNP001", lambda one: one.snapshot_id),
    )
    snapshots = frozenset(one.snapshot_id for one in new.snapshots)
    for attribute, code, key in kinds:
        known = {key(one): one for one in getattr(old, attribute)}
        for place, one in enumerate(getattr(new, attribute)):
            other = known.get(key(one))
            if other is not None and _essential(one, snapshots) != _essential(other, snapshots):
                name = attribute.replace("_", "-")
                yield changed(
                    code,
                    f"an element of {name} changed, but not its id",
                    f"/{name}/{place}",
                    key(one),
                    f"the same as in {old_file}",
                    aspect="changed",
                )
    yield from _columns(old, new, changed)
    yield from _partition_fields(old, new, changed)
    yield from _partition_values(old, new, changed)
    yield from _snapshots(old, new, changed)
    logged = [entry.metadata_file for entry in new.metadata_log]
    named = {normalize_location(one) for one in (*logged, file)}
    if logged and normalize_location(old_file) not in named and new.last_updated_ms > old.last_updated_ms:
        path, expected = "/metadata-log", old_file
        yield changed(
            "TMD018",
            "the old metadata file is missing from the metadata log",
            path,
            logged[-1],
            expected,
            aspect="old-file-missing",
        )


def _essential(one: Any, snapshots: frozenset[int]) -> Any:
    """Remove the fields that may change: write-default and doc of columns, and the id of a parent that has expired."""
    if isinstance(one, Snapshot) and one.parent_snapshot_id not in snapshots:
        return evolve(one, parent_snapshot_id=None)
    fields = getattr(one, "fields", None)
    if fields is None or not hasattr(one, "schema_id"):
        return one
    return evolve(one, fields=tuple(evolve(field, doc=None, write_default=None) for field in fields))


def _columns(old: TableMetadata, new: TableMetadata, changed: Callable[..., Finding]) -> Iterator[Finding]:
    known = latest_columns((old.current_schema, *reversed(old.schemas)))
    replaced = old.current_snapshot_id is not None and not _reaches(new, old.current_snapshot_id)
    for place, schema in enumerate(new.schemas):
        if schema in old.schemas:
            continue
        for column in schema.columns():
            before = known.get(column.id)
            path = f"/schemas/{place}"
            if before is None:
                if column.id <= old.last_column_id:
                    yield changed(
                        "EVO009",
                        "the id of a new column was assigned before",
                        path,
                        column.id,
                        f"more than {old.last_column_id}",
                        aspect="reused",
                    )
                    continue
                for name in () if replaced else _without_default(column, known):
                    yield changed(
                        "EVO015",
                        "a required column was added without defaults",
                        path,
                        name,
                        "an initial-default and a write-default that are not null",
                        aspect="no-default",
                    )
                continue
            same = (
                before.type == column.type
                if is_primitive(before.type) and is_primitive(column.type)
                else kind(before.type) == kind(column.type)
            ) or may_have_been_promoted(before.type, column.type, new.format_version)
            if not same:
                yield changed(
                    "EVO001",
                    "a column changed in a way that schema evolution does not allow",
                    path,
                    f"{column.name}: {column.type}",
                    f"{before.type}, or what it is promoted to",
                    aspect="type-changed",
                )
            if column.required and not before.required:
                yield changed(
                    "EVO001",
                    "an optional column became required, but files may have nulls in it",
                    path,
                    column.name,
                    "a column that stays optional",
                    aspect="became-required",
                )
            if before.field is not None and column.field is not None:
                first, then = before.field.initial_default, column.field.initial_default
                if same and not keeps_initial_default(before, column):
                    yield changed(
                        "EVO014", "the initial-default of a column changed", path, then, first, aspect="changed"
                    )
    yield from _brought_back(old, new, changed)


def _brought_back(old: TableMetadata, new: TableMetadata, changed: Callable[..., Finding]) -> Iterator[Finding]:
    """Find required columns that were dropped before and added again, so that rows may have no value (EVO019)."""
    schemas = {schema.schema_id: schema for schema in old.schemas}
    last = next((one for one in old.snapshots if one.snapshot_id == old.current_snapshot_id), None)
    written = schemas.get(last.schema_id) if last is not None and last.schema_id is not None else None
    if written is None:
        return
    dropped = {column.id for schema in old.schemas for column in schema.columns()}
    dropped -= {column.id for column in (*old.current_schema.columns(), *written.columns())}
    place = next((n for n, schema in enumerate(new.schemas) if schema.schema_id == new.current_schema_id), 0)
    for column in new.current_schema.columns():
        has_default = column.field is not None and column.field.initial_default is not None
        if column.id in dropped and column.required and not has_default:
            yield changed(
                "EVO019",
                "a required column was restored, but rows were written without it",
                f"/schemas/{place}",
                column.name,
                "an optional column, or no restored column",
                aspect="required-again",
            )


def _partition_fields(old: TableMetadata, new: TableMetadata, changed: Callable[..., Finding]) -> Iterator[Finding]:
    """Find new specs whose fields do not keep the ids of equivalent fields (PAR009), or that reuse ids (PAR013)."""
    if not UNIQUE_PARTITION_FIELD_IDS.is_supported(old.format_version):
        return  # in v1, ids follow from the positions of the fields
    ids: dict[Any, set[int | None]] = {}
    for spec in old.partition_specs:
        for field in spec.fields:
            ids.setdefault((field.sources, str(field.transform), field.name), set()).add(field.field_id)
    given = {field_id for of_field in ids.values() for field_id in of_field}
    known = {spec.spec_id for spec in old.partition_specs}
    for place, spec in enumerate(new.partition_specs):
        for number, field in enumerate(spec.fields if spec.spec_id not in known else ()):
            path = f"/partition-specs/{place}/fields/{number}/field-id"
            same = ids.get((field.sources, str(field.transform), field.name))
            # A renamed field of the same spec may keep the id of the equivalent field (PAR025).
            taken = {other.field_id for other in spec.fields if other is not field}
            if same is not None and field.field_id not in same and not same <= taken:
                yield changed(
                    "PAR009",
                    "the id of a partition field differs from that of an equivalent field in an older spec",
                    path,
                    field.field_id,
                    " or ".join(map(str, sorted(filter(None, same)))),
                )
            elif field.field_id not in given and (field.field_id or 0) <= old.last_partition_id:
                yield changed(
                    "PAR013",
                    "the id of a new partition field was assigned before",
                    path,
                    field.field_id,
                    f"more than {old.last_partition_id}",
                    aspect="reused",
                )


def _partition_values(old: TableMetadata, new: TableMetadata, changed: Callable[..., Finding]) -> Iterator[Finding]:
    """Find promotions that change partition values which files of the old version may have (EVO008).

    As in schema evolution, a table with snapshots is assumed to have files of all its specs.
    """
    specs = old.partition_specs if old.snapshots else (old.default_spec,)
    before, after = ({column.id: column.type for column in one.current_schema.columns()} for one in (old, new))
    fields = {(field.field_id, field.sources, str(field.transform)): field for spec in specs for field in spec.fields}
    for field, first, then in altered_partition_fields(fields.values(), before, after):
        place = [schema.schema_id for schema in new.schemas].index(new.current_schema_id)
        yield changed(
            "EVO008",
            "a type promotion changed the values of a partition field",
            f"/schemas/{place}",
            f"{first} to {then}, for {field.transform} {field.name}",
            "a type that keeps the partition values",
        )


def _without_default(column: Column, known: Mapping[int, Column]) -> Iterator[str]:
    """Find the columns that a new column adds as required, but without a default that fills them.

    A column inside a new column needs a default only where that of the new column is not null.
    """
    field = column.field
    around = known.get(column.parents[-1].id) if column.parents else None
    is_part = bool(column.parents) and (around is None or around.type == UNKNOWN)
    if field is None or is_part:
        return
    if field.required and (field.initial_default is None or field.write_default is None):
        yield column.name
    defaults = ("initial_default", "write_default")
    yield from dict.fromkeys(
        name for default in defaults for name in required_fields_without_default(field, column.name, default)
    )


def _snapshots(old: TableMetadata, new: TableMetadata, changed: Callable[..., Finding]) -> Iterator[Finding]:
    known = {snapshot.snapshot_id for snapshot in old.snapshots}
    for place, snapshot in enumerate(new.snapshots):
        if snapshot.snapshot_id in known:
            continue
        path = f"/snapshots/{place}"
        is_numbered = all(SEQUENCE_NUMBERS.is_supported(one.format_version) for one in (old, new))
        if is_numbered and snapshot.sequence_number <= old.last_sequence_number:
            yield changed(
                "SNP003",
                "the sequence number of a new snapshot was assigned before",
                f"{path}/sequence-number",
                snapshot.sequence_number,
                f"more than {old.last_sequence_number}",
                aspect="reused",
            )
        first = snapshot.first_row_id
        if first is not None and old.next_row_id is not None and first < old.next_row_id:
            yield changed(
                "LIN023",
                "a new snapshot assigns row ids that were assigned before",
                f"{path}/first-row-id",
                first,
                f"at least {old.next_row_id}",
                aspect="reused",
            )
    left = {snapshot.snapshot_id for snapshot in new.snapshots}
    for name, ref in old.refs.items():
        after = new.refs.get(name)
        if after is not None and after.snapshot_id == ref.snapshot_id and ref.snapshot_id not in left:
            path = f"/refs/{name}"
            yield changed(
                "REF001",
                "the snapshot of a branch or tag is missing",
                path,
                ref.snapshot_id,
                "the snapshot",
                aspect="snapshot-vanished",
            )
    current = old.current_snapshot_id
    if current is not None and new.snapshots and not _reaches(new, current) and current in left:
        message = "the current snapshot is not a descendant of the old one: the table was rolled back or replaced"
        yield changed("TMD015", message, "/current-snapshot-id", new.current_snapshot_id, current, aspect="rolled-back")


def _reaches(metadata: TableMetadata, ancestor: int) -> bool:
    current = metadata.current_snapshot_id
    if current is None or current == ancestor:
        return current is not None
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    return any(snapshot.parent_snapshot_id == ancestor for snapshot in ancestors(by_id, current))
