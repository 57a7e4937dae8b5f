"""Run scripts with PyIceberg: Arrow tables, and an in-memory SQL catalog that is created for each request."""

from __future__ import annotations

import json
import os
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.exceptions import CommitFailedException, ValidationError
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import parse_transform

from conformance.adapter_sdk import arrow_literals, script_steps, table_requests
from conformance.adapter_sdk.file_locations import file_location
from conformance.adapter_sdk.script_steps import MAIN, same_columns
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from conformance.engines.pyiceberg.expressions import to_pyiceberg
from conformance.engines.pyiceberg.metadata import change_column
from spec_ref.core.json_types import Json

NAME = "PyIceberg"
REFUSALS = (ValueError, TypeError, ValidationError, CommitFailedException, pa.ArrowException, OSError, KeyError)
FIRST_PARTITION_ID = 1000
TABLE = "scripts.t"
NOT_THERE = re.compile(
    r"No writer registered for|Unsupported file format: |^Unsupported codec: |^FeatureUnsupported => "
    r"|does not yet support"
)
"""Parts of PyIceberg's messages that mean "not supported": file formats, codecs, equality deletes, and transforms that
its Rust library does not implement."""


class PyTable:
    """A table in PyIceberg's catalog, and a script's operations except on rows; see `script_steps.follow`.

    Args:
        location: the folder of the table that ``create`` makes; None to open a table.
        engine_type: makes PyIceberg's type of its JSON.
    """

    def __init__(self, location: str | None, engine_type: Callable[[Any], Any]) -> None:
        self._location, self._engine_type = location, engine_type
        # One database for all threads, as engines may commit in threads other than this one.
        database = f"sqlite:///file:{uuid.uuid4()}?mode=memory&cache=shared&check_same_thread=false&uri=true"
        # Nothing is created in the warehouse if a table is opened.
        self.catalog = InMemoryCatalog("scripts", warehouse=file_location(location or os.devnull), uri=database)
        self.catalog.create_namespace("scripts")
        self._loaded: Any = None

    @property
    def table(self) -> Any:
        """The table that ``create`` made or ``open`` loaded."""
        return self._loaded

    def open(self, location: str) -> None:
        # PyIceberg lacks the types of version 3, so it cannot even load such tables.
        self._check_version(table_requests.metadata(location).get("format-version", 1))
        self._loaded = self.catalog.register_table(TABLE, location)

    def _check_version(self, version: int) -> None:
        if version > 2:
            raise Unsupported("PyIceberg does not write tables of version 3")

    def _fields(self) -> dict[str, Json]:
        dumped = json.loads(self.table.schema().model_dump_json())
        return {field["name"]: field for field in dumped["fields"]}

    def snapshot(self, ref: str) -> int | None:
        found = self.table.snapshot_by_name(ref)
        return None if found is None else found.snapshot_id

    def metadata(self) -> str:
        location: str = self.table.metadata_location
        return location

    # The table

    def create(self, operation: Json) -> None:
        version = operation["format_version"]
        self._check_version(version)
        properties = operation.get("properties", {})
        if properties.get("write.format.default", "parquet") != "parquet":
            raise Unsupported("PyIceberg writes Parquet files only, whatever the property says")
        schema = Schema.model_validate({"schema-id": 0, **operation["schema"]})
        parts = [
            PartitionField(
                schema.find_field(part["source"]).field_id,
                FIRST_PARTITION_ID + index,
                parse_transform(part["transform"]),
                part["name"],
            )
            for index, part in enumerate(operation.get("partition", ()))
        ]
        orders = [
            SortField(
                schema.find_field(part["source"]).field_id,
                transform=parse_transform(part.get("transform", "identity")),
                direction=SortDirection(part.get("direction", "asc")),
                null_order=NullOrder(part.get("null_order", "nulls-first")),
            )
            for part in operation.get("sort", ())
        ]
        assert self._location is not None
        self._loaded = self.catalog.create_table(
            TABLE,
            schema,
            location=file_location(self._location),
            partition_spec=PartitionSpec(*parts),
            sort_order=SortOrder(*orders),
            properties={**properties, "format-version": str(version)},
        )

    # A transaction commits all changes at once, and each change sees the columns and fields of the earlier ones.

    def alter_schema(self, operation: Json) -> None:
        with self.table.transaction() as transaction:
            for change in operation["changes"]:
                with transaction.update_schema() as update:
                    if change["op"] == "optional":
                        update.update_column(tuple(change["name"].split(".")), required=False)
                    else:
                        change_column(update, transaction.table_metadata.schema(), change, self._engine_type)

    def alter_spec(self, operation: Json) -> None:
        with self.table.transaction() as transaction:
            for change in operation["changes"]:
                with transaction.update_spec() as update:
                    if change["op"] == "add":
                        update.add_field(change["source"], parse_transform(change["transform"]), change["name"])
                    elif change["op"] == "remove":
                        update.remove_field(change["name"])
                    else:
                        update.rename_field(change["name"], change["to"])

    def sort(self, operation: Json) -> None:
        with self.table.update_sort_order() as update:
            for part in operation["fields"]:
                add = update.asc if part.get("direction", "asc") == "asc" else update.desc
                nulls = NullOrder(part.get("null_order", "nulls-first"))
                add(part["source"], parse_transform(part.get("transform", "identity")), nulls)

    def upgrade(self, operation: Json) -> None:
        self._check_version(operation["format_version"])
        with self.table.transaction() as transaction:
            transaction.upgrade_table_version(operation["format_version"])

    def properties(self, operation: Json) -> None:
        with self.table.transaction() as transaction:
            if operation.get("set"):
                transaction.set_properties(operation["set"])
            if operation.get("remove"):
                transaction.remove_properties(*operation["remove"])

    def rows(self, rows: list[Json]) -> Any:
        """Convert rows to Arrow; columns without write default are given as null."""
        fields = self._fields()
        blank = {name: None for name, field in fields.items() if field.get("write-default") is None}
        rows = [{**blank, **row} for row in rows]
        names = same_columns(rows) if rows else list(fields)
        for name in names:
            if name not in fields:
                raise Invalid(f"no column {name}")
        schema = schema_to_pyarrow(self.table.schema(), include_field_ids=False)
        chosen = pa.schema([field for field in schema if field.name in names])
        return arrow_literals.table(chosen, {name: fields[name]["type"] for name in names}, rows)

    # References

    def _at(self, operation: Json) -> int | None:
        given: int | None = operation.get("snapshot")
        return self.snapshot(MAIN) if given is None else given

    def branch(self, operation: Json) -> None:
        with self.table.manage_snapshots() as manage:
            manage.create_branch(snapshot_id=self._at(operation), branch_name=operation["name"])

    def tag(self, operation: Json) -> None:
        with self.table.manage_snapshots() as manage:
            manage.create_tag(snapshot_id=self._at(operation), tag_name=operation["name"])

    def fast_forward(self, operation: Json) -> None:
        with self.table.manage_snapshots() as manage:
            manage.set_current_snapshot(ref_name=operation["to"])

    def rollback(self, operation: Json) -> None:
        with self.table.manage_snapshots() as manage:
            manage.set_current_snapshot(snapshot_id=operation["snapshot"])

    def expire(self, _: Json) -> None:
        time.sleep(0.002)  # snapshots must be older than now to expire
        self.table.maintenance.expire_snapshots().older_than(datetime.now() + timedelta(days=1)).commit()


class PyWriter(PyTable):
    """A table whose rows PyIceberg writes."""

    def _filter(self, operation: Json) -> Any:
        return to_pyiceberg(operation["filter"], self.table.schema())

    def append(self, operation: Json) -> None:
        self.table.append(self.rows(operation["rows"]), branch=operation.get("branch", MAIN))

    def overwrite(self, operation: Json) -> None:
        rows, where = self.rows(operation["rows"]), self._filter(operation)
        self.table.overwrite(rows, overwrite_filter=where, branch=operation.get("branch", MAIN))

    def delete(self, operation: Json) -> None:
        if operation.get("mode", "copy-on-write") != "copy-on-write":
            raise Unsupported("PyIceberg deletes by copy-on-write, whatever the mode")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyIceberg warns if nothing is deleted
            self.table.delete(self._filter(operation), branch=operation.get("branch", MAIN))

    def merge(self, operation: Json) -> None:
        if operation.get("mode", "copy-on-write") != "copy-on-write":
            raise Unsupported("PyIceberg updates by copy-on-write, whatever the mode")
        if set(same_columns(operation["rows"])) != self._fields().keys():
            raise Unsupported("upsert takes rows with all columns")
        if any(row[name] is None for row in operation["rows"] for name in operation["on"]):
            raise Unsupported("PyIceberg does not say what a null key of an upsert matches")
        rows = self.rows(operation["rows"])
        self.table.upsert(rows, join_cols=operation["on"], branch=operation.get("branch", MAIN))


def operations(
    engine_type: Callable[[Any], Any], make: type[PyTable] = PyWriter, name: str = NAME
) -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name.

    Args:
        engine_type: makes PyIceberg's type of its JSON.
        make: returns the writer; by default PyIceberg's, else one whose files PyIceberg commits.
        name: the name of the engine.
    """

    @contextmanager
    def writing(location: str | None, _: Any) -> Iterator[PyTable]:
        writer = make(location, engine_type)
        try:
            yield writer
        except (NotImplementedError, ImportError) as error:  # an optional library, such as a codec, is absent
            raise Unsupported(str(error)) from None
        except REFUSALS as error:
            if NOT_THERE.search(str(error)):
                raise Unsupported(str(error)) from None
            raise Invalid(f"{type(error).__name__}: {error}") from None
        finally:
            writer.catalog.engine.dispose()

    return script_steps.operations(writing, name)
