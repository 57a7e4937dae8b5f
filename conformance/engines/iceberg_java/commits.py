"""Races of commits on Iceberg-Java: handles on one table of its catalog in memory, which checks and swaps for all."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError

from conformance.adapter_sdk import race_logs
from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.race_logs import Arguments, Change, Conflict
from conformance.adapter_sdk.serve import Unsupported

LOST = (
    "org.apache.iceberg.exceptions.CommitFailedException",
    "org.apache.iceberg.exceptions.ValidationException",
    "java.lang.IllegalArgumentException",
)
"""What a commit throws where others have made it impossible."""


def each(iterable: Any) -> Iterator[Any]:
    """The items of a Java ``Iterable`` that is no collection."""
    iterator = iterable.iterator()
    while iterator.hasNext():
        yield iterator.next()


class Races:
    """The operation, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        root = jvm.root
        self.iceberg = root.org.apache.iceberg
        self.expressions = root.org.apache.iceberg.expressions.Expressions
        self.catalog = self.iceberg.inmemory.InMemoryCatalog()
        self.catalog.initialize("races", root.java.util.HashMap())
        self._namespace = self.iceberg.catalog.Namespace.of(jvm.array("java.lang.String", "races"))
        self.catalog.createNamespace(self._namespace)
        self._numbers = itertools.count()
        self._lost = [jvm.class_(name) for name in LOST]

    def schema(self, args: Arguments) -> Any:
        """The schema of the table that a request asks for."""
        return self.iceberg.SchemaParser.fromJson(
            json.dumps(
                {
                    "type": "struct",
                    "schema-id": 0,
                    "fields": [
                        {"name": name, "id": id_, "type": type_, "required": required}
                        for name, id_, type_, required in race_logs.columns(args)
                    ],
                }
            )
        )

    def spec(self, args: Arguments) -> Any:
        """The first partition spec of that table."""
        builder = self.iceberg.PartitionSpec.builderFor(self.schema(args))
        column = race_logs.partition_column(args)
        return (builder if column is None else builder.identity(column[0])).build()

    def is_lost(self, error: Py4JJavaError) -> bool:
        """Whether an exception says that others were in the way."""
        return any(class_.isInstance(error.java_exception) for class_ in self._lost)

    def ints(self, *numbers: int) -> Any:
        """An array of Java's ``int``."""
        made = self._jvm.gateway.new_array(self._jvm.root.int, len(numbers))
        for index, number in enumerate(numbers):
            made[index] = number
        return made

    def iterable(self, *items: Any) -> Any:
        """A Java list."""
        made = self._jvm.root.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made

    def replay(self, args: Arguments) -> object:
        """Follow a log."""
        if any("reply" in step for step in args["log"]):
            raise Unsupported("answers of the catalog cannot be lost here")
        name = self.iceberg.catalog.TableIdentifier.of(self._namespace, f"table{next(self._numbers)}")
        metadata = race_logs.given_metadata(args)
        if metadata is None:
            properties = self._jvm.root.java.util.HashMap()
            for key, value in {**race_logs.PROPERTIES, "format-version": str(args["format_version"])}.items():
                properties.put(key, value)
            self.catalog.createTable(name, self.schema(args), self.spec(args), properties)
        else:
            self._register(name, Path(args["table"]))
        snapshots = race_logs.snapshot_ids(metadata)
        try:
            return race_logs.replayed(
                args, lambda: JavaWriter(self, args, name, snapshots), lambda: self._told(name, snapshots)
            )
        finally:
            self.catalog.dropTable(name, False)  # noqa: FBT003

    def _register(self, name: Any, metadata_file: Path) -> None:
        """Make a table of a metadata file, with what lies beside it; the files of the catalog are in memory."""
        files = self.iceberg.inmemory.InMemoryFileIO()
        for path in metadata_file.parent.iterdir():
            files.addFile(str(path), path.read_bytes())
        self.catalog.registerTable(name, str(metadata_file))

    def _told(self, name: Any, snapshots: list[int]) -> dict[str, Any]:
        table = self.catalog.loadTable(name)
        metadata = table.operations().current()
        form = json.loads(self.iceberg.TableMetadataParser.toJson(metadata))
        io = table.io()
        refs: dict[str, Any] = {}
        data_files: list[tuple[str, int | None, int]] = []
        by_id = {one["snapshot-id"]: one for one in form["snapshots"]}
        for name, ref in metadata.refs().items():
            snapshot = metadata.snapshot(ref.snapshotId())
            files = {}
            for manifest in snapshot.dataManifests(io):
                for file in each(self.iceberg.ManifestFiles.read(manifest, io, metadata.specsById())):
                    path = str(file.location())
                    files[race_logs.file_name(path)] = str(file.dataSequenceNumber())
                    if by_id[ref.snapshotId()].get("first-row-id") is not None:
                        data_files.append((path, file.firstRowId(), file.recordCount()))
            for manifest in snapshot.deleteManifests(io):
                for file in each(self.iceberg.ManifestFiles.readDeleteManifest(manifest, io, metadata.specsById())):
                    files[race_logs.file_name(str(file.location()))] = str(file.dataSequenceNumber())
            line, at = [], by_id.get(ref.snapshotId())
            while at is not None:
                line.append(at["summary"]["operation"])
                at = by_id.get(at.get("parent-snapshot-id"))
            refs[str(name)] = {"type": "branch" if ref.isBranch() else "tag", "operations": line[::-1], "files": files}
        names = {field.fieldId(): str(field.name()) for field in metadata.schema().columns()}
        return {
            "format-version": form["format-version"],
            "last-sequence-number": str(metadata.lastSequenceNumber()),
            "columns": [str(field.name()) for field in metadata.schema().columns()],
            "spec": [str(field.name()) for field in metadata.spec().fields()],
            "sort": [names[field.sourceId()] for field in metadata.sortOrder().fields()],
            "properties": {
                name: value for name, value in form["properties"].items() if name.startswith(race_logs.PREFIX)
            },
            "refs": refs,
            "statistics": sorted(snapshots.index(one["snapshot-id"]) + 1 for one in form.get("statistics", ())),
            "snapshots": len(form["snapshots"]),
            "row-ids": race_logs.row_ids(data_files),
        }  # fmt: skip


class JavaWriter:
    """A handle on the table."""

    def __init__(self, races: Races, args: Arguments, name: Any, snapshots: list[int]) -> None:
        self._races, self._args, self._name, self._snapshots = races, args, name, snapshots
        self._table: Any = None
        self._update: Any = None

    def load(self) -> None:
        """Load the table anew: a handle of its own, which knows nothing of others."""
        self._table = self._races.catalog.loadTable(self._name)

    def stage(self, change: Change) -> None:
        """Plan a change with the API for it.

        Raises:
            Conflict: Iceberg-Java refuses it at once, as what the version of the table does not have.
        """
        with self._losing():
            name = {"spec": "change_spec"}.get(change["op"], change["op"].replace("-", "_"))
            self._update = getattr(self, f"_{name}")(change)

    @contextmanager
    def _losing(self) -> Iterator[None]:
        try:
            yield
        except Py4JJavaError as error:
            if not self._races.is_lost(error):
                raise RuntimeError(str(error.java_exception.toString())) from None
            raise Conflict(str(error.java_exception.toString())) from None

    def commit(self, *, reply: str | None = None) -> None:
        """Commit the change.

        Raises:
            Conflict: Iceberg-Java did not commit it.
        """
        del reply
        with self._losing():
            self._update.commit()
        self._table.refresh()
        known = {one.snapshotId() for one in each(self._table.snapshots())}
        self._snapshots.extend(sorted(known - set(self._snapshots), key=self._place))

    def _place(self, snapshot_id: int) -> int:
        return int(self._table.snapshot(snapshot_id).timestampMillis())

    # Files

    def _path(self, name: str) -> str:
        return f"{self._table.location()}/data/{name}"

    def _spec(self, file: Change) -> Any:
        return self._table.specs().get(file.get("spec", 0))

    def _placed(self, builder: Any, file: Change) -> Any:
        """A builder of a file with the partition that a request gives."""
        spec = self._spec(file)
        if not spec.fields().size():
            return builder
        values = self._races.iceberg.PartitionData(spec.partitionType())
        for place, field in enumerate(spec.fields()):
            value = None if field.transform().isVoid() else race_logs.partition_value(str(field.name()), file)
            values.set(place, value)
        return builder.withPartition(values)

    def _data_file(self, file: Change) -> Any:
        builder = self._races.iceberg.DataFiles.builder(self._spec(file)).withPath(self._path(file["name"]))
        builder = self._placed(builder.withFormat("parquet"), file).withRecordCount(file["rows"])
        return builder.withFileSizeInBytes(100 * file["rows"]).build()

    def _new(self, change: Change) -> list[Any]:
        return [self._data_file(file) for file in change.get("files", ())]

    def _known(self, change: Change) -> list[Any]:
        """The files to remove, as the loaded table has them."""
        names = {self._path(name) for name in change.get("remove", ())}
        io = self._table.io()
        snapshot = self._table.currentSnapshot()
        return [
            file.copy()
            for manifest in snapshot.dataManifests(io)
            for file in each(self._races.iceberg.ManifestFiles.read(manifest, io, self._table.specs()))
            if str(file.location()) in names
        ]

    def _delete_file(self, file: Change) -> Any:
        builder = self._races.iceberg.FileMetadata.deleteFileBuilder(self._spec(file))
        kind = file["kind"]
        builder = builder.ofEqualityDeletes(self._races.ints(1)) if kind == "equality" else builder.ofPositionDeletes()
        builder = builder.withPath(self._path(file["name"])).withFormat("puffin" if kind == "vector" else "parquet")
        builder = self._placed(builder, file).withRecordCount(file["rows"]).withFileSizeInBytes(50)
        if "of" in file:
            builder = builder.withReferencedDataFile(self._path(file["of"]))
        if kind == "vector":
            builder = builder.withContentOffset(4).withContentSizeInBytes(40)
        return builder.build()

    def _filter(self, change: Change) -> Any:
        expressions = self._races.expressions
        if "filter" not in change:
            return expressions.alwaysTrue()
        name = race_logs.filter_column(self._args)
        value = race_logs.partition_value(name, change["filter"])
        if value is None:
            return expressions.isNull(name)
        return expressions.isNaN(name) if value != value else expressions.equal(name, value)

    def _started(self, update: Any, change: Change) -> Any:
        ref = self._table.refs().get(change.get("branch", "main"))
        if ref is not None:
            update.validateFromSnapshot(ref.snapshotId())
        return update

    def _on_branch(self, update: Any, change: Change) -> Any:
        return update.toBranch(change["branch"]) if "branch" in change else update

    # Changes of files

    def _append(self, change: Change, fast: bool = False) -> Any:
        update = self._table.newFastAppend() if fast else self._table.newAppend()
        for file in self._new(change):
            update.appendFile(file)
        return self._on_branch(update, change)

    def _fast_append(self, change: Change) -> Any:
        return self._append(change, fast=True)

    def _overwrite(self, change: Change) -> Any:
        update = self._started(self._table.newOverwrite(), change)
        for file in self._new(change):
            update.addFile(file)
        for file in self._known(change):
            update.deleteFile(file)
        if "isolation" in change:
            update.conflictDetectionFilter(self._filter(change)).validateNoConflictingDeletes()
            if change["isolation"] == "serializable":
                update.validateNoConflictingData()
        return self._on_branch(update, change)

    def _delete(self, change: Change) -> Any:
        update = self._table.newDelete()
        for file in self._known(change):
            update.deleteFile(file)
        return self._on_branch(update.validateFilesExist(), change)

    def _delete_where(self, change: Change) -> Any:
        return self._on_branch(self._table.newDelete().deleteFromRowFilter(self._filter(change)), change)

    def _rewrite(self, change: Change) -> Any:
        update = self._started(self._table.newRewrite(), change)
        for file in self._known(change):
            update.deleteFile(file)
        for file in self._new(change):
            update.addFile(file)
        if "data_sequence_number" in change:
            update.dataSequenceNumber(change["data_sequence_number"])
        return update

    def _row_delta(self, change: Change) -> Any:
        update = self._started(self._table.newRowDelta(), change)
        for file in self._new(change):
            update.addRows(file)
        for file in change.get("deletes", ()):
            update.addDeletes(self._delete_file(file))
        if "referenced" in change:
            update.validateDataFilesExist(self._races.iterable(*(self._path(name) for name in change["referenced"])))
            update.validateDeletedFiles()
        if "isolation" in change:
            update.conflictDetectionFilter(self._filter(change)).validateNoConflictingDeleteFiles()
            if change["isolation"] == "serializable":
                update.validateNoConflictingDataFiles()
        return self._on_branch(update, change)

    # Changes of the metadata

    def _schema(self, change: Change) -> Any:
        return self._table.updateSchema().addColumn(change["add"], self._races.iceberg.types.Types.IntegerType.get())

    def _change_spec(self, change: Change) -> Any:
        update = self._table.updateSpec()
        if "remove" in change:
            for name in change["remove"]:
                update.removeField(name)
            return update
        buckets = int(change["transform"].removeprefix("bucket[").removesuffix("]"))
        term = self._races.expressions.bucket(change["source"], buckets)
        return update.addField(change["name"], term)

    def _sort_order(self, change: Change) -> Any:
        first = self._races.iceberg.NullOrder.NULLS_FIRST
        return self._table.replaceSortOrder().asc(self._races.expressions.ref(change["by"]), first)

    def _properties(self, change: Change) -> Any:
        update = self._table.updateProperties()
        for name, value in change.get("set", {}).items():
            update.set(name, value)
        for name in change.get("remove", ()):
            update.remove(name)
        return update

    def _branch(self, change: Change) -> Any:
        return self._table.manageSnapshots().createBranch(change["name"], self._snapshots[change["at"] - 1])

    def _tag(self, change: Change) -> Any:
        return self._table.manageSnapshots().createTag(change["name"], self._snapshots[change["at"] - 1])

    def _remove_ref(self, change: Change) -> Any:
        update, ref = self._table.manageSnapshots(), self._table.refs().get(change["name"])
        is_tag = ref is not None and ref.isTag()
        return update.removeTag(change["name"]) if is_tag else update.removeBranch(change["name"])

    def _rollback(self, change: Change) -> Any:
        return self._table.manageSnapshots().setCurrentSnapshot(self._snapshots[change["to"] - 1])

    def _statistics(self, change: Change) -> Any:
        made = self._races.iceberg.GenericStatisticsFile(
            self._snapshots[change["at"] - 1], self._path("statistics"), 100, 50, self._races.iterable()
        )
        return self._table.updateStatistics().setStatistics(made)

    def _expire(self, change: Change) -> Any:
        del change
        later = time.time_ns() // 1_000_000 + 86_400_000
        return self._table.expireSnapshots().expireOlderThan(later).retainLast(1).cleanExpiredFiles(False)  # noqa: FBT003

    def _upgrade(self, change: Change) -> Any:
        return self._table.updateProperties().set("format-version", str(change["version"]))


def operations(jvm: JVM) -> dict[str, Callable[[Arguments], object]]:
    """The operation, by name."""
    return {"commit.replay": Races(jvm).replay}
