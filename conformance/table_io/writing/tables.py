"""Creating and opening tables for writing, and committing changes (Optimistic Concurrency)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import attrs

from conformance.table_io import encryption
from conformance.table_io.stores import Store, load, open_store
from conformance.table_io.stores.encrypting_runner import EncryptingRunner, check_keys
from conformance.table_io.stores.runner import Runner
from conformance.table_io.tables import NoTable, Table
from spec_ref.checks.findings import Severity
from spec_ref.commits import Base, CommitConflict, CommitFailed, CommitResult, CommitStateUnknown
from spec_ref.commits.changes import Change, CreateTable
from spec_ref.commits.effects import SwapResult
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.records import field_rules
from spec_ref.core.versions import OMITTED, V2, FormatVersion
from spec_ref.data_types.types import NestedField
from spec_ref.partitioning.spec import FIRST_FIELD_ID, UNPARTITIONED, PartitionSpec
from spec_ref.schemas.schema import Schema
from spec_ref.sorting.order import UNSORTED, SortOrder
from spec_ref.table_metadata import TableMetadata, check_metadata
from spec_ref.table_metadata.writer import to_bytes

_NEXT_ROW_ID = field_rules(TableMetadata)["next_row_id"]


@attrs.define
class WritableTable:
    """A table in a store, with its metadata as it was last read, on which changes are planned."""

    store: Store
    base: Base
    keys: encryption.WritingKeyService | None = None
    """Wraps and unwraps the keys of an encrypted table."""

    @property
    def metadata(self) -> TableMetadata:
        """The metadata as it was last read."""
        return self.base.metadata

    @property
    def table(self) -> Table:
        """The table for `conformance.table_io.local.read_table`."""
        return Table(self.base.location, self.base.metadata, self.keys)

    def refresh(self) -> WritableTable:
        """Read the metadata of the table again.

        Raises:
            NoTable: the store no longer has the table.
            SpecError: TMD002, if a different table has replaced it; or the metadata cannot be read.
        """
        self.base = _load(self.store, self.metadata)
        return self

    def commit(self, change: Change) -> CommitResult:
        """Commit a change that was planned on the table as it was last read; retry after losing the commit race.

        If the commit fails, the files that it wrote are deleted, as far as possible.

        Raises:
            CommitConflict: the assumptions of the change no longer hold. Nothing was changed.
            CommitFailed: every attempt lost the commit race. Nothing was changed.
            CommitStateUnknown: it is not known whether the commit succeeded.
            SpecError: the change breaks a rule, or the table cannot be read. Nothing was changed.
            OSError: a file could not be written. Nothing was changed.
        """
        done = _commit(self.store, change, self.base, self.keys)
        try:
            self.refresh()
        except BaseException as error:
            # After any other error, callers would delete the files of the change, which the table now has.
            message = "the change was committed, but the table could not be read again"
            raise CommitStateUnknown(message) from error
        return done

    def close(self) -> None:
        """Close connections."""
        self.store.close()


def open_table(url: str, *, keys: encryption.WritingKeyService | None = None) -> WritableTable:
    """Open a table by the URL of its store (`conformance.table_io.stores.open_store`).

    Args:
        url: the URL.
        keys: the key service of an encrypted table, such as `conformance.table_io.encryption.load_key_file`.

    Raises:
        UsageError: the kind of store is unknown.
        NoTable: the store has no table.
        SpecError: the metadata cannot be read.
    """
    return open_stored(open_store(url), keys=keys)


def open_stored(store: Store, *, keys: encryption.WritingKeyService | None = None) -> WritableTable:
    """Open the table of a store; errors as in `open_table`."""
    return WritableTable(store, _load(store), keys)


def _load(store: Store, expected: TableMetadata | None = None) -> Base:
    base = load(store, expected)
    if base is None:
        raise NoTable("there is no table in the store")
    return base


def create_table(
    place: str | Store,
    schema: Schema | Iterable[NestedField],
    *,
    location: str | None = None,
    spec: PartitionSpec = UNPARTITIONED,
    order: SortOrder = UNSORTED,
    version: FormatVersion = V2,
    properties: Mapping[str, str] | None = None,
    keys: encryption.WritingKeyService | None = None,
) -> WritableTable:
    """Create a table; the ids of its schema, spec and order are kept.

    Args:
        place: a store, or its URL.
        schema: the schema, or its columns.
        location: the directory of the table; by default that of the store, if the store has one.
        spec: the partition spec.
        order: the sort order.
        version: the format version.
        properties: the table properties; with ``encryption.key-id``, the table is encrypted as Iceberg-Java does.
        keys: the key service of an encrypted table.

    Raises:
        CommitConflict: the table exists.
        UsageError: the table would be encrypted, and there are no keys, or its version has no encryption.
        SpecError: the metadata would break a rule, such as a type that the version does not have.
    """
    store = open_store(place) if isinstance(place, str) else place
    directory = location or getattr(store, "location", None)
    if directory is None:
        raise spec_error("TMD003", "a table of a catalog needs a location")
    made = new_metadata(
        directory,
        schema,
        spec=spec,
        order=order,
        version=version,
        properties=properties,
        now_ms=int(time.time() * 1000),
    )
    check_keys(made, keys)
    _commit(store, CreateTable(made), None, keys)
    return open_stored(store, keys=keys)


def new_metadata(
    location: str,
    schema: Schema | Iterable[NestedField],
    *,
    spec: PartitionSpec,
    order: SortOrder,
    version: FormatVersion,
    properties: Mapping[str, str] | None,
    now_ms: int,
) -> TableMetadata:
    """Make the metadata of a new table; arguments and errors as in `create_table`."""
    first = schema if isinstance(schema, Schema) else Schema(tuple(schema), schema_id=0)
    made = TableMetadata(
        format_version=version,
        table_uuid=str(uuid.uuid4()),
        location=location,
        last_updated_ms=now_ms,
        last_column_id=first.highest_field_id(),
        schemas=(first,),
        current_schema_id=first.schema_id,
        partition_specs=(spec,),
        default_spec_id=spec.spec_id,
        last_partition_id=max((field.field_id for field in spec.fields), default=FIRST_FIELD_ID - 1),
        properties=dict(properties or {}),
        sort_orders=(UNSORTED,) if order == UNSORTED else (UNSORTED, order),
        default_sort_order_id=order.order_id,
        next_row_id=None if _NEXT_ROW_ID.writer_presence(version) is OMITTED else 0,
    )
    for finding in check_metadata(to_bytes(made)):
        if finding.severity is Severity.ERROR:
            raise SpecError(finding.violation)
    return made


class _RecordingStore:
    """A store that records the files that are written, and whether the pointer may have moved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.written: list[str] = []
        self.swapping = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, path: str, data: bytes) -> None:
        self.written.append(path)
        self._store.write(path, data)

    def swap_pointer(self, expected: str | None, new: str) -> SwapResult:
        self.swapping = True
        answer = self._store.swap_pointer(expected, new)
        # A refused swap was not done, unless a request was sent twice, which the commit detects.
        self.swapping = answer is not SwapResult.REFUSED
        return answer


def _commit(store: Store, change: Change, base: Base | None, keys: encryption.WritingKeyService | None) -> CommitResult:
    if base is not None:
        check_keys(base.metadata, keys)
    watched: Any = _RecordingStore(store)
    runner = (
        Runner(watched) if keys is None else EncryptingRunner(watched, keys, None if base is None else base.metadata)
    )
    try:
        return runner.commit(change, base=base)
    except (CommitConflict, CommitFailed, CommitStateUnknown):
        raise
    except BaseException as error:
        if watched.swapping:
            message = "the commit was interrupted when it moved the pointer, so that it may be done"
            raise CommitStateUnknown(message) from error
        for path in watched.written:
            with suppress(Exception):  # an unreferenced file is harmless
                store.delete(path)
        raise
