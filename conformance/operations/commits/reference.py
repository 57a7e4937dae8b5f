"""Replay races of commits on the reference: its commit protocol on a store in memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from conformance.adapter_sdk import race_logs
from conformance.adapter_sdk.race_logs import Change, Conflict
from conformance.adapter_sdk.serve import Arguments
from conformance.operations.commits.fixtures import (
    LOCATION,
    SCHEMA,
    data_file,
    data_path,
    deletion_vector,
    empty_table,
    equality_deletes,
    position_deletes,
)
from conformance.operations.forms import Functions
from conformance.table_io.stores.runner import Runner
from spec_ref.commits import Base, CommitConflict, CommitFailed, MetastoreTable, changes, load
from spec_ref.commits.effects import Steps, SwapResult
from spec_ref.commits.payloads import FileKind, Payload, decode, encode
from spec_ref.commits.reading import MetadataFileCache
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import DOUBLE, INT, NestedField
from spec_ref.expressions.predicates import TRUE, Comparison, Literal, NamedReference, Operation, Test
from spec_ref.manifests.data_file import FileContent
from spec_ref.partitioning.evolution import AddPartitionField, RemovePartitionField
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Identity, Void, parse_transform
from spec_ref.schemas.evolution import AddColumn
from spec_ref.snapshots.references import MAIN, RefType, SnapshotRef
from spec_ref.snapshots.retention import ancestors
from spec_ref.sorting.order import SortField
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.reader import read_metadata
from spec_ref.table_metadata.statistics import StatisticsFile


class MemoryStore:
    """A metastore table in memory, whose files are kept as decoded payloads."""

    table = MetastoreTable()

    def __init__(self) -> None:
        self.files: dict[str, Payload] = {}
        self.pointer: str | None = None
        self.mute = False
        """Whether the next swap succeeds but its outcome stays unknown to the writer."""

    def read_pointer(self) -> str | None:
        """Return the location of the current metadata file."""
        return self.pointer

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        """Set the pointer."""
        if self.pointer != expected:
            return SwapResult.REFUSED
        self.pointer = new
        answer = SwapResult.UNKNOWN if self.mute else SwapResult.DONE
        self.mute = False
        return answer

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file; None if it does not exist."""
        content = self.files.get(path)
        return None if content is None else encode(content, path)

    def write(self, path: str, data: bytes) -> None:
        """Do nothing: `MemoryRunner` stores payloads directly."""
        raise NotImplementedError

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.files.pop(path, None)

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def commit_lock(self) -> AbstractContextManager[object]:
        """Return a context that does not wait, as only one thread uses the store."""
        return nullcontext()


class MemoryRunner(Runner):
    """Stores payloads without encoding them, because other operations test the encodings.

    Args:
        store: the store.
        given: a folder with manifests and manifest lists of the table that a race begins with.
    """

    def __init__(self, store: MemoryStore, folder: Path | None = None) -> None:
        super().__init__(store)
        self._files, self._folder = store.files, folder

    def write(self, path: str, content: Payload) -> int:
        """Store a payload in memory; the reported size is always 1."""
        self._files[path] = content
        return 1

    def read(self, path: str, kind: FileKind) -> Payload | None:
        """Return a payload that was stored, or decode a file of the given folder."""
        if path not in self._files and self._folder is not None and Path(path).parent == self._folder:
            self._files[path] = decode(Path(path).read_bytes(), kind, path)
        return self._files.get(path)


class ReferenceCommitter:
    """A writer of the reference, with a separate view of the table."""

    def __init__(self, args: Arguments, runner: Runner, store: MemoryStore, snapshots: list[int]) -> None:
        self._args, self._runner, self._store, self._snapshots = args, runner, store, snapshots
        self._base: Base | None = None
        self._staged: tuple[changes.Change, Base | None] | None = None

    def load(self) -> None:
        """Load the current state of the table."""
        self._base = self._runner.run(load())

    def stage(self, change: Change) -> None:
        """Plan a change."""
        assert self._base is not None
        self._staged = to_change(change, self._snapshots, self._base.metadata, self._args), self._base

    def commit(self, *, reply: str | None = None) -> None:
        """Commit the change.

        Raises:
            Conflict: it was not committed.
        """
        assert self._staged is not None
        change, base = self._staged
        self._store.mute = reply == "lost"
        try:
            done = self._runner.commit(change, base=base)
        except (CommitConflict, CommitFailed) as error:
            raise Conflict(str(error)) from error
        if done.snapshot is not None:
            self._snapshots.append(done.snapshot.snapshot_id)
        self._base = Base(done.written_location, done.metadata)


def _filter(change: Change, args: Arguments) -> Any:
    if "filter" not in change:
        return TRUE
    name = race_logs.filter_column(args)
    value = race_logs.partition_value(name, change["filter"])
    if value is None:
        return Test(Operation.IS_NULL, NamedReference(name))
    if value != value:
        return Test(Operation.IS_NAN, NamedReference(name))
    return Comparison(Operation.EQ, NamedReference(name), Literal(value))


def _new(file: Change, table: TableMetadata, sequence_number: int | None = None) -> changes.NewFile:
    name, rows = file["name"], file["rows"]
    spec = table.spec_by_id(file.get("spec", 0))
    place: dict[str, Any] = {
        "location": table.location,
        "spec_id": spec.spec_id,
        "partition": {
            field.field_id: None if isinstance(field.transform, Void) else race_logs.partition_value(field.name, file)
            for field in spec.fields
        },
    }
    match file.get("kind", "data"):
        case "data":
            return data_file(name, rows=rows, sequence_number=sequence_number, **place)
        case "equality":
            return equality_deletes(name, rows=rows, **place)
        case "position":
            return position_deletes(name, file.get("of"), rows=rows, **place)
        case _:
            return deletion_vector(name, file["of"], rows=rows, **place)


def _validation(change: Change, table: TableMetadata, args: Arguments) -> changes.Validation:
    referenced = [data_path(name, table.location) for name in change.get("referenced", ())]
    isolation = change.get("isolation")
    if isolation is None:
        return changes.Validation(files_exist=tuple(referenced))
    return changes.validation_for(changes.Isolation(isolation), _filter(change, args), referenced)


def _rows_change(change: Change, table: TableMetadata, args: Arguments) -> changes.Change:
    added = [_new(file, table, change.get("data_sequence_number")) for file in change.get("files", ())]
    removed = [data_path(name, table.location) for name in change.get("remove", ())]
    validation, branch = _validation(change, table, args), change.get("branch", MAIN)
    match change["op"]:
        case "append":
            return changes.append(added, branch=branch)
        case "fast-append":
            return changes.fast_append(added, branch=branch)
        case "overwrite":
            return changes.overwrite(added, removed, validation=validation, branch=branch)
        case "delete":
            return changes.delete_files(removed, validation=validation, branch=branch)
        case "delete-where":
            return changes.delete_where(_filter(change, args), validation=validation, branch=branch)
        case "rewrite":
            return changes.rewrite_files(added, removed, branch=branch)
        case _:
            deletes = [_new(file, table) for file in change.get("deletes", ())]
            return changes.row_delta([*added, *deletes], validation=validation, branch=branch)


def to_change(change: Change, snapshots: list[int], table: TableMetadata, args: Arguments) -> changes.Change:
    """Convert a change of a request to a change of the commit protocol.

    Args:
        change: the change in JSON.
        snapshots: the ids of the snapshots, which a request names by their number in the order of commits.
        table: the table on which the change is planned.
        args: the arguments of the request.
    """
    match change["op"]:
        case "schema":
            return changes.ChangeSchema((AddColumn(change["add"], INT),))
        case "spec" if "remove" in change:
            return changes.ChangeSpec(tuple(RemovePartitionField(name) for name in change["remove"]))
        case "spec":
            source = {"id": 1, "part": 2}[change["source"]]
            return changes.ChangeSpec(
                (AddPartitionField((source,), parse_transform(change["transform"]), change["name"]),)
            )
        case "sort-order":
            return changes.ChangeSortOrder(
                (SortField(transform=Identity(), source_id={"id": 1, "part": 2}[change["by"]]),)
            )
        case "properties":
            return changes.SetProperties(change.get("set", {}), frozenset(change.get("remove", ())))
        case "branch" | "tag":
            ref = SnapshotRef(snapshot_id=snapshots[change["at"] - 1], type=RefType(change["op"]))
            return changes.SetReference(change["name"], ref)
        case "remove-ref":
            return changes.SetReference(change["name"], None)
        case "rollback":
            ref = SnapshotRef(snapshot_id=snapshots[change["to"] - 1], type=RefType.BRANCH)
            return changes.SetReference(MAIN, ref)
        case "statistics":
            made = StatisticsFile(
                snapshot_id=snapshots[change["at"] - 1],
                statistics_path=data_path("statistics", table.location),
                file_size_in_bytes=100,
                file_footer_size_in_bytes=50,
                blob_metadata=(),
            )
            return changes.SetStatistics(made)
        case "expire":
            return changes.ExpireSnapshots(1 << 60)
        case "upgrade":
            return changes.UpgradeFormatVersion(FormatVersion(change["version"]))
        case _:
            return _rows_change(change, table, args)


def describe_table(metadata: TableMetadata, runner: Runner, snapshots: list[int]) -> dict[str, Any]:
    """Describe a table as in the answer of ``commit.replay``."""
    refs: dict[str, Any] = {}
    data_files: list[tuple[str, int | None, int]] = []
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    names = {field.id: field.name for field in metadata.current_schema.fields}
    for name, ref in metadata.references.items():
        files = MetadataFileCache()

        def live(snapshot: Any = by_id[ref.snapshot_id], files: MetadataFileCache = files) -> Steps[Any]:
            return (yield from files.live((yield from files.manifests(snapshot))))

        entries = [entry for _, entry in runner.run(live())]
        line = [one.operation for one in ancestors(by_id, ref.snapshot_id)]
        refs[name] = {
            "type": ref.type.value,
            "operations": [None if one is None else one.value for one in line[::-1]],
            "files": {race_logs.file_name(one.data_file.file_path): str(one.sequence_number) for one in entries},
        }
        data_files += [
            (one.data_file.file_path, one.data_file.first_row_id, one.data_file.record_count)
            for one in entries
            if one.data_file.content is FileContent.DATA and by_id[ref.snapshot_id].first_row_id is not None
        ]
    return {
        "format-version": int(metadata.format_version),
        "last-sequence-number": str(metadata.last_sequence_number),
        "columns": [field.name for field in metadata.current_schema.fields],
        "spec": [field.name for field in metadata.default_spec.fields],
        "sort": [names[field.sources[0]] for field in metadata.default_sort_order.fields],
        "properties": {name: value for name, value in metadata.properties.items() if name.startswith(race_logs.PREFIX)},
        "refs": refs,
        "statistics": sorted(snapshots.index(one.snapshot_id) + 1 for one in metadata.statistics),
        "snapshots": len(metadata.snapshots),
        "row-ids": race_logs.row_ids(data_files),
    }


def _table(args: Arguments) -> TableMetadata:
    """Return the empty table that a request describes."""
    table = empty_table(args["format_version"], LOCATION, dict(race_logs.PROPERTIES))
    added = tuple(
        NestedField(id_, name, required, DOUBLE, None, None, None)
        for name, id_, _, required in race_logs.columns(args)[len(SCHEMA.fields) :]
    )
    schema = evolve(SCHEMA, fields=(*SCHEMA.fields, *added))
    column = race_logs.partition_column(args)
    fields = (
        ()
        if column is None
        else (
            PartitionField(
                source_id=column[1], field_id=race_logs.PARTITION_FIELD, name=column[0], transform=Identity()
            ),
        )
    )
    return evolve(
        table,
        schemas=(schema,),
        last_column_id=len(schema.fields),
        partition_specs=(PartitionSpec(0, fields),),
        last_partition_id=race_logs.PARTITION_FIELD - (column is None),
    )


def replay_log(args: Arguments) -> object:
    """Replay a log of commits with the reference."""
    given = race_logs.initial_metadata(args)
    store = MemoryStore()
    runner = MemoryRunner(store, Path(args["table"]).parent if given else None)
    snapshots = race_logs.snapshot_ids(given)
    runner.commit(changes.CreateTable(_table(args) if given is None else read_metadata(given)))

    def now() -> dict[str, Any]:
        base = runner.run(load())
        assert base is not None
        return describe_table(base.metadata, runner, snapshots)

    return race_logs.replay_commits(args, lambda: ReferenceCommitter(args, runner, store, snapshots), now)


def operations(_: Functions) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"commit.replay": replay_log}
