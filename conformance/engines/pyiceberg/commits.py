"""Replay races of commits with PyIceberg: writers of one table in its SQL catalog with SQLite."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.expressions import AlwaysTrue, EqualTo, IsNaN, IsNull
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.statistics import StatisticsFile
from pyiceberg.table.update.snapshot import ExpireSnapshots, ManageSnapshots
from pyiceberg.transforms import IdentityTransform, VoidTransform, parse_transform
from pyiceberg.typedef import Record
from pyiceberg.types import DoubleType, IntegerType, LongType, NestedField, StringType

from conformance.adapter_sdk import race_logs
from conformance.adapter_sdk.file_locations import file_location
from conformance.adapter_sdk.race_logs import Change, Conflict
from conformance.adapter_sdk.serve import Arguments, Unsupported

TYPES = {"long": LongType(), "string": StringType(), "double": DoubleType()}
TABLE = "races.table"
LOST = (CommitFailedException, ValidationException, ValueError)
"""Exceptions of a commit that concurrent commits made impossible."""

WRITTEN_VERSIONS = (1, 2)


def _schema(args: Arguments) -> Schema:
    return Schema(
        *(
            NestedField(field_id=id_, name=name, field_type=TYPES[type_], required=required)
            for name, id_, type_, required in race_logs.columns(args)
        )
    )


def _partition_spec(args: Arguments) -> PartitionSpec:
    column = race_logs.partition_column(args)
    if column is None:
        return PartitionSpec(spec_id=0)
    name, source = column
    field = PartitionField(
        source_id=source, field_id=race_logs.PARTITION_FIELD, transform=IdentityTransform(), name=name
    )
    return PartitionSpec(field, spec_id=0)


def replay(args: Arguments) -> object:
    """Replay a log of commits."""
    version = args["format_version"]
    if version not in WRITTEN_VERSIONS:
        raise Unsupported(f"PyIceberg does not write tables of version {version}")
    if any("reply" in step for step in args["log"]):
        raise Unsupported("this adapter cannot lose an answer of the catalog")
    changes = [*args["base"], *(step["change"] for step in args["log"] if step["do"] == "stage")]
    serializable = any(change.get("isolation") == "serializable" for change in changes)
    level = "serializable" if serializable else "snapshot"
    properties = {
        **race_logs.PROPERTIES,
        "write.delete.isolation-level": level,
        "write.update.isolation-level": level,
    }
    with tempfile.TemporaryDirectory(prefix="iceberg-conformance-races-") as directory:
        catalogs: list[SqlCatalog] = []

        def catalog() -> SqlCatalog:
            location = {"uri": f"sqlite:///{directory}/catalog.db", "warehouse": file_location(directory)}
            catalogs.append(SqlCatalog("races", **location))
            return catalogs[-1]

        first = catalog()
        first.create_namespace("races")
        metadata = race_logs.initial_metadata(args)
        if metadata is None:
            properties["format-version"] = str(version)
            first.create_table(TABLE, _schema(args), partition_spec=_partition_spec(args), properties=properties)
        else:
            metadata |= {"location": file_location(f"{directory}/races/table"), "properties": properties}
            begun = Path(directory, "00000-begun.metadata.json")
            begun.write_text(json.dumps(metadata), encoding="utf-8")
            first.register_table(TABLE, file_location(begun))
        snapshots = race_logs.snapshot_ids(metadata)
        try:
            return race_logs.replay_commits(
                args,
                lambda: Writer(args, catalog(), snapshots),
                lambda: _to_form(first.load_table(TABLE), snapshots),
            )
        finally:
            for one in catalogs:
                one.engine.dispose()


class Writer:
    """A writer with a separate catalog."""

    def __init__(self, args: Arguments, catalog: SqlCatalog, snapshots: list[int]) -> None:
        self._args, self._catalog, self._snapshots = args, catalog, snapshots
        self._table: Any = None
        self._transaction: Any = None

    def load(self) -> None:
        """Load the table."""
        self._table = self._catalog.load_table(TABLE)

    def stage(self, change: Change) -> None:
        """Plan a change in a transaction.

        Raises:
            Conflict: PyIceberg refuses it at once, such as a snapshot on a tag.
            Unsupported: PyIceberg does not support the change.
        """
        name = "_" + change["op"].replace("-", "_")
        if not hasattr(self, name):
            raise Unsupported(f"PyIceberg has no {change['op']}")
        # A retry refreshes the table object of a transaction, so each transaction has a separate one.
        self._transaction = self._catalog.load_table(TABLE).transaction()
        self._transaction._table.metadata = self._table.metadata
        self._transaction._table.metadata_location = self._table.metadata_location
        try:
            getattr(self, name)(change)
        except LOST as error:
            raise Conflict(str(error)) from error

    def commit(self, *, reply: str | None = None) -> None:
        """Commit the transaction.

        Raises:
            Conflict: PyIceberg did not commit it.
        """
        del reply
        try:
            self._transaction.commit_transaction()
        except LOST as error:
            raise Conflict(str(error)) from error
        self.load()
        self._snapshots.extend(
            one.snapshot_id
            for one in sorted(self._table.metadata.snapshots, key=lambda one: one.timestamp_ms)
            if one.snapshot_id not in self._snapshots
        )

    # Files

    def _path(self, name: str) -> str:
        return f"{self._table.location()}/data/{name}"

    def _new(self, change: Change) -> list[DataFile]:
        return [self._data_file(file) for file in change.get("files", ())]

    def _data_file(self, file: Change) -> DataFile:
        rows, spec = file["rows"], self._table.metadata.specs()[file.get("spec", 0)]
        values = [
            None if isinstance(field.transform, VoidTransform) else race_logs.partition_value(field.name, file)
            for field in spec.fields
        ]
        made = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=self._path(file["name"]),
            file_format=FileFormat.PARQUET,
            partition=Record(*values),
            record_count=rows,
            file_size_in_bytes=100 * rows,
            **self._metrics(file),
        )
        made.spec_id = spec.spec_id
        return made

    def _metrics(self, file: Change) -> dict[str, Any]:
        """Return the metrics of the filter's column, without which PyIceberg deletes no file by a predicate."""
        name = race_logs.filter_column(self._args)
        field = self._table.schema().find_field(name)
        number, rows, value = field.field_id, file["rows"], race_logs.partition_value(name, file)
        made: dict[str, Any] = {
            "value_counts": {number: rows},
            "null_value_counts": {number: rows if value is None else 0},
            "nan_value_counts": {number: rows if value != value else 0} if name == "score" else {},
        }
        if value is None or value != value:
            return made
        bound = to_bytes(field.field_type, value)
        return {**made, "lower_bounds": {number: bound}, "upper_bounds": {number: bound}}

    def _known_files(self, change: Change) -> list[DataFile]:
        snapshot = self._table.metadata.snapshot_by_name(change.get("branch", "main"))
        return [
            entry.data_file
            for manifest in snapshot.manifests(self._table.io)
            for entry in manifest.fetch_manifest_entry(self._table.io)
            if race_logs.file_name(entry.data_file.file_path) in change.get("remove", ())
        ]

    def _filter(self, change: Change) -> Any:
        if "filter" not in change:
            return AlwaysTrue()
        name = race_logs.filter_column(self._args)
        value = race_logs.partition_value(name, change["filter"])
        if value is None:
            return IsNull(name)
        return IsNaN(name) if value != value else EqualTo(name, value)

    # Changes of files

    def _append(self, change: Change, *, fast: bool = False) -> None:
        update = self._transaction.update_snapshot(branch=change.get("branch", "main"))
        with update.fast_append() if fast else update.merge_append() as producer:
            for file in self._new(change):
                producer.append_data_file(file)

    def _fast_append(self, change: Change) -> None:
        self._append(change, fast=True)

    def _overwrite(self, change: Change) -> None:
        with self._transaction.update_snapshot(branch=change.get("branch", "main")).overwrite() as producer:
            if "filter" in change:
                producer._predicate = self._filter(change)
            for file in self._new(change):
                producer.append_data_file(file)
            for file in self._known_files(change):
                producer.delete_data_file(file)

    def _delete_where(self, change: Change) -> None:
        with self._transaction.update_snapshot(branch=change.get("branch", "main")).delete() as producer:
            producer.delete_by_predicate(self._filter(change))

    # Changes of metadata

    def _schema(self, change: Change) -> None:
        with self._transaction.update_schema() as update:
            update.add_column(change["add"], IntegerType())

    def _spec(self, change: Change) -> None:
        with self._transaction.update_spec() as update:
            for name in change.get("remove", ()):
                update.remove_field(name)
            if "remove" in change:
                return
            update.add_field(change["source"], parse_transform(change["transform"]), change["name"])

    def _sort_order(self, change: Change) -> None:
        with self._transaction.update_sort_order() as update:
            update.asc(change["by"], IdentityTransform())

    def _properties(self, change: Change) -> None:
        if change.get("remove"):
            self._transaction.remove_properties(*change["remove"])
        self._transaction.set_properties(change.get("set", {}))

    def _branch(self, change: Change) -> None:
        self._references().create_branch(self._snapshots[change["at"] - 1], change["name"]).commit()

    def _tag(self, change: Change) -> None:
        self._references().create_tag(self._snapshots[change["at"] - 1], change["name"]).commit()

    def _remove_ref(self, change: Change) -> None:
        update, ref = self._references(), self._table.metadata.refs.get(change["name"])
        is_tag = ref is not None and ref.snapshot_ref_type.value == "tag"
        (update.remove_tag if is_tag else update.remove_branch)(change["name"]).commit()

    def _rollback(self, change: Change) -> None:
        self._references().set_current_snapshot(snapshot_id=self._snapshots[change["to"] - 1]).commit()

    def _references(self) -> ManageSnapshots:
        return ManageSnapshots(self._transaction)

    def _statistics(self, change: Change) -> None:
        made = StatisticsFile(
            **{
                "snapshot-id": self._snapshots[change["at"] - 1],
                "statistics-path": self._path("statistics"),
                "file-size-in-bytes": 100,
                "file-footer-size-in-bytes": 50,
                "blob-metadata": [],
            }
        )
        with self._transaction.update_statistics() as update:
            update.set_statistics(made)

    def _expire(self, change: Change) -> None:
        del change
        with ExpireSnapshots(self._transaction) as update:
            update.older_than(datetime.now() + timedelta(days=1))

    def _upgrade(self, change: Change) -> None:
        if change["version"] not in WRITTEN_VERSIONS:
            raise Unsupported(f"PyIceberg does not write tables of version {change['version']}")
        self._transaction.upgrade_table_version(change["version"])


def _to_form(table: Any, snapshots: list[int]) -> dict[str, Any]:
    metadata = table.metadata
    refs: dict[str, Any] = {}
    for name, ref in metadata.refs.items():
        snapshot = metadata.snapshot_by_id(ref.snapshot_id)
        files = {
            race_logs.file_name(entry.data_file.file_path): str(entry.sequence_number)
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io)
        }
        line, at = [], snapshot
        while at is not None:
            line.append(None if at.summary is None else at.summary.operation.value)
            at = None if at.parent_snapshot_id is None else metadata.snapshot_by_id(at.parent_snapshot_id)
        refs[name] = {"type": ref.snapshot_ref_type.value, "operations": line[::-1], "files": files}
    schema = metadata.schema()
    return {
        "format-version": metadata.format_version,
        "last-sequence-number": str(getattr(metadata, "last_sequence_number", 0)),
        "columns": [field.name for field in schema.fields],
        "spec": [field.name for field in metadata.spec().fields],
        "sort": [schema.find_field(field.source_id).name for field in table.sort_order().fields],
        "properties": {name: value for name, value in metadata.properties.items() if name.startswith(race_logs.PREFIX)},
        "refs": refs,
        "statistics": sorted(snapshots.index(one.snapshot_id) + 1 for one in metadata.statistics),
        "snapshots": len(metadata.snapshots),
        "row-ids": "none",
    }


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {"commit.replay": replay}
