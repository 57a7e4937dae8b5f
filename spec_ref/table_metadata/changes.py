"""Changing the schema, partition spec and sort order of a table (Schema Evolution; Partition Evolution; Sorting).

What is changed is added to the table's list under a new id, and becomes the current or default one; what is there
stays, for the snapshots and manifests that were written with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spec_ref.errors import SpecError, Violation
from spec_ref.findings import Severity
from spec_ref.partitioning.evolution import PartitionChange, SpecHistory, evolve_spec
from spec_ref.records import evolve
from spec_ref.schemas.evolution import Change, Evolution, evolve_schema
from spec_ref.sorting.order import UNSORTED, SortField, SortOrder
from spec_ref.table_metadata.checks import RULES
from spec_ref.table_metadata.metadata import TableMetadata


def change_schema(metadata: TableMetadata, changes: Sequence[Change]) -> TableMetadata:
    """The table with its current schema changed (EVO002); a schema that it has already becomes the current one again.

    A promotion must leave the partition values of all data files as they are (EVO008). Which specs data files have is
    known only to the manifests of every snapshot, so that a table with snapshots is taken to have files of all its
    specs: more promotions may be refused than have to be, and never one too few. A table without snapshots has no
    files, and only its default spec counts.

    Raises:
        SpecError: a change is not allowed.
    """
    others = (spec for spec in metadata.partition_specs if spec.spec_id != metadata.default_spec_id)
    highest = max(schema.highest_field_id() for schema in metadata.schemas)
    table = Evolution(
        metadata.format_version,
        max(metadata.last_column_id, highest),
        metadata.default_spec.fields,
        tuple(field for spec in others for field in spec.fields) if metadata.snapshots else (),
        metadata.default_sort_order.fields,
    )
    new_id = 1 + max(schema.schema_id for schema in metadata.schemas)
    made, last = evolve_schema(metadata.current_schema, changes, table, schema_id=new_id)
    for schema in metadata.schemas:
        if evolve(made, schema_id=schema.schema_id) == schema:
            return evolve(metadata, current_schema_id=schema.schema_id, last_column_id=last)
    changed = evolve(metadata, schemas=(*metadata.schemas, made), current_schema_id=new_id, last_column_id=last)
    return without_new_errors(metadata, changed)


def change_spec(metadata: TableMetadata, changes: Sequence[PartitionChange]) -> TableMetadata:
    """The table with its default spec changed (PAR011); an equivalent spec of the table is used again (PAR008).

    Raises:
        SpecError: a change is not allowed.
    """
    table = SpecHistory(
        metadata.format_version, metadata.current_schema, metadata.partition_specs, metadata.last_partition_id
    )
    made, last = evolve_spec(metadata.default_spec, changes, table)
    specs = metadata.partition_specs if made in metadata.partition_specs else (*metadata.partition_specs, made)
    changed = evolve(metadata, partition_specs=specs, default_spec_id=made.spec_id, last_partition_id=last)
    return without_new_errors(metadata, changed)


def change_sort_order(metadata: TableMetadata, fields: Sequence[SortField]) -> TableMetadata:
    """The table with another default sort order; no fields are the unsorted order, whose id is 0 (SRT002).

    Raises:
        SpecError: a field has no source that fits (PAR004, SRT001), or says its sources in another form (SRT008).
    """
    wanted = tuple(fields)
    known = next((order for order in metadata.sort_orders if order.fields == wanted), None)
    new_id = 1 + max((order.order_id for order in metadata.sort_orders), default=0)
    made = known or (SortOrder(new_id, wanted) if wanted else UNSORTED)
    orders = metadata.sort_orders if known else (*metadata.sort_orders, made)
    return without_new_errors(metadata, evolve(metadata, sort_orders=orders, default_sort_order_id=made.order_id))


def without_new_errors(before: TableMetadata, after: TableMetadata) -> TableMetadata:
    """The table after a change, if a complete check finds no error in it that was not there before.

    Raises:
        SpecError: the first such error.
    """
    known = {(one.requirement, one.aspect, one.path, one.found) for one in _errors(before)}
    for error in _errors(after):
        if (error.requirement, error.aspect, error.path, error.found) not in known:
            raise SpecError(error)
    return after


def _errors(metadata: TableMetadata) -> Iterator[Violation]:
    for rule in RULES:
        if rule.severity is Severity.ERROR:
            yield from rule.violations(metadata)
