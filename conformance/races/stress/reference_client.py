"""The reference client: this project's commit protocol on any store of `conformance.table_io.stores`."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import cached_property
from typing import Any

import pyarrow as pa

from conformance.races.stress.journal import MAYBE, REFUSED, Entry
from conformance.races.stress.writers import BRANCH, ROWS, Work, column_name, writer_property
from conformance.table_io.stores import load, open_store
from conformance.table_io.stores.rest import RestStore
from conformance.table_io.writing import create_table, open_stored, operations
from conformance.version import tool_version
from spec_ref.commits import CommitStateUnknown
from spec_ref.commits.changes import ChangeSchema, ExpireSnapshots, SetProperties, SetReference
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import INT, LONG, NestedField
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation, Predicate
from spec_ref.schemas.evolution import AddColumn
from spec_ref.snapshots.references import RefType, SnapshotRef

PROPERTIES = {
    "commit.retry.num-retries": "10",
    "commit.retry.min-wait-ms": "10",
    "commit.retry.max-wait-ms": "500",
    "commit.manifest.min-count-to-merge": "10",
    "write.metadata.previous-versions-max": "100000",
}


class ReferenceClient:
    """Commits through a store."""

    def __init__(self, plan: Work) -> None:
        self.plan = plan
        self.store = open_store(plan.catalog)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of operations; those on branches only if the catalog kept the branch that was created."""
        base = load(self.store)
        assert base is not None
        return ("branch", "expire") if BRANCH in base.metadata.references else ("expire",)

    def create(self) -> Entry:
        """Create the table and a branch."""
        fields = [
            NestedField(1, "op", False, LONG, None, None, None),  # noqa: FBT003
            NestedField(2, "n", False, INT, None, None, None),  # noqa: FBT003
        ]
        made = create_table(
            self.store,
            fields,
            location=self.plan.location,
            version=FormatVersion(self.plan.version),
            properties=PROPERTIES,
        )
        operations.append(made, rows(0))
        snapshot = made.metadata.current_snapshot_id
        assert snapshot is not None
        with suppress(CommitStateUnknown):  # some catalogs only have main
            made.commit(SetReference(BRANCH, SnapshotRef(snapshot_id=snapshot, type=RefType.BRANCH)))
        return {"client": f"iceberg-conformance {tool_version()} (its own commit protocol)", "commits": 3}

    def locate(self) -> str | None:
        """Return the location of the current metadata file."""
        return self.store.read_pointer()

    def drop(self) -> None:
        """Do nothing, as tables in stores are not removed."""

    def commit(self, entry: Entry) -> None:
        """Run an operation."""
        table = open_stored(self.store)
        match entry["kind"]:
            case "append":
                operations.append(table, rows(entry["op"]), branch=entry.get("ref", "main"))
            case "delete":
                operations.delete(table, operation_filter(entry["old"]))
            case "overwrite":
                operations.overwrite(table, rows(entry["op"]), operation_filter(entry["old"]))
            case "property":
                table.commit(SetProperties({writer_property(entry["writer"]): str(entry["number"])}))
            case "column":
                name = column_name(entry["writer"], entry["number"])
                table.commit(ChangeSchema((AddColumn(name, INT),)))
            case "expire":
                table.commit(ExpireSnapshots(time.time_ns() // 1_000_000 - 1000, clean_files=True))

    def outcome(self, error: Exception) -> str:
        """Return the outcome that an error means."""
        return MAYBE if isinstance(error, CommitStateUnknown) else REFUSED

    def observe(self) -> Entry:
        """Observe the table."""
        base = load(self.store)
        assert base is not None
        return {
            "sequence": base.metadata.last_sequence_number,
            "properties": {k: v for k, v in base.metadata.properties.items() if k.startswith("stress.")},
            "columns": [field.name for field in base.metadata.current_schema.fields],
        }

    def contradictions(self) -> list[str]:
        """Return the contradictions that the store noticed."""
        if not isinstance(self.store, RestStore):
            return []
        found, self.store.contradictions = self.store.contradictions, []
        return found


def rows(op: int) -> Any:
    """Return the rows of an operation."""
    return pa.table({"op": pa.array([op] * ROWS, pa.int64()), "n": pa.array(range(ROWS), pa.int32())})


def operation_filter(op: int) -> Predicate:
    """Return a filter for the rows of an operation."""
    return Comparison(Operation.EQ, NamedReference("op"), Literal(op))
