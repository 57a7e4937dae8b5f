"""Changing the schema, partition spec and sort order of a table (Schema Evolution; Partition Evolution; Sorting).

The changed schema, spec or order is added to the table's list under a new id, and becomes the current or default one.
Existing ones stay, for the snapshots and manifests that were written with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.partitioning import evolution as partitioning
from spec_ref.partitioning.evolution import PartitionChange, SpecEvolutionContext, evolve_spec
from spec_ref.schemas.evolution import Change, SchemaEvolutionContext, evolve_schema
from spec_ref.sorting import order as sorting
from spec_ref.sorting.order import UNSORTED, SortField, SortOrder
from spec_ref.table_metadata.checks import error_violations
from spec_ref.table_metadata.metadata import TableMetadata


def change_schema(metadata: TableMetadata, changes: Sequence[Change]) -> TableMetadata:
    """Change the current schema of a table (EVO002); a result that the table already has becomes current again.

    A promotion must not change the partition values of any data file (EVO008). Which specs data files have is known
    only to the manifests of every snapshot, so a table with snapshots is assumed to have files of all its specs: more
    promotions may be refused than necessary, but never too few. A table without snapshots has no files, and only its
    default spec counts.

    Args:
        metadata: the table.
        changes: the changes, applied in order.

    Returns:
        The metadata with the changed schema as the current one.

    Raises:
        SpecError: as `spec_ref.schemas.evolution.evolve_schema` and `check_no_new_errors`; PAR004 if a source of the
            default spec or sort order is dropped; EVO008 if partition values change.
    """
    others = (spec for spec in metadata.partition_specs if spec.spec_id != metadata.default_spec_id)
    highest = max(schema.highest_field_id() for schema in metadata.schemas)
    table = SchemaEvolutionContext(metadata.format_version, max(metadata.last_column_id, highest))
    new_id = 1 + max(schema.schema_id for schema in metadata.schemas)
    made, last = evolve_schema(metadata.current_schema, changes, table, schema_id=new_id)
    old_fields = tuple(field for spec in others for field in spec.fields) if metadata.snapshots else ()
    partitioning.check_schema_change(metadata.current_schema, made, metadata.default_spec.fields, old_fields)
    sorting.check_schema_change(metadata.current_schema, made, metadata.default_sort_order.fields)
    for schema in metadata.schemas:
        if evolve(made, schema_id=schema.schema_id) == schema:
            return evolve(metadata, current_schema_id=schema.schema_id, last_column_id=last)
    changed = evolve(metadata, schemas=(*metadata.schemas, made), current_schema_id=new_id, last_column_id=last)
    return check_no_new_errors(metadata, changed)


def change_spec(metadata: TableMetadata, changes: Sequence[PartitionChange]) -> TableMetadata:
    """Change the default partition spec of a table (PAR011); an equivalent spec of the table is used again (PAR008).

    Args:
        metadata: the table.
        changes: the changes, applied in order.

    Returns:
        The metadata with the changed spec as the default one.

    Raises:
        SpecError: as `spec_ref.partitioning.evolution.evolve_spec` and `check_no_new_errors`.
    """
    table = SpecEvolutionContext(
        metadata.format_version, metadata.current_schema, metadata.partition_specs, metadata.last_partition_id
    )
    made, last = evolve_spec(metadata.default_spec, changes, table)
    specs = metadata.partition_specs if made in metadata.partition_specs else (*metadata.partition_specs, made)
    changed = evolve(metadata, partition_specs=specs, default_spec_id=made.spec_id, last_partition_id=last)
    return check_no_new_errors(metadata, changed)


def change_sort_order(metadata: TableMetadata, fields: Sequence[SortField]) -> TableMetadata:
    """Change the default sort order of a table; no fields give the unsorted order, whose id is 0 (SRT002).

    Args:
        metadata: the table.
        fields: the fields of the order.

    Returns:
        The metadata with the order as the default one.

    Raises:
        SpecError: PAR004 or SRT001 if a field has no suitable source; SRT008 if its sources have the wrong form; or as
            `check_no_new_errors`.
    """
    wanted = tuple(fields)
    known = next((order for order in metadata.sort_orders if order.fields == wanted), None)
    new_id = 1 + max((order.order_id for order in metadata.sort_orders), default=0)
    made = known or (SortOrder(new_id, wanted) if wanted else UNSORTED)
    orders = metadata.sort_orders if known else (*metadata.sort_orders, made)
    return check_no_new_errors(metadata, evolve(metadata, sort_orders=orders, default_sort_order_id=made.order_id))


def check_no_new_errors(before: TableMetadata, after: TableMetadata) -> TableMetadata:
    """Check that a change introduced no error.

    Args:
        before: the metadata before the change.
        after: the metadata after the change.

    Returns:
        The metadata after the change.

    Raises:
        SpecError: the code of the first broken rule with severity error that was not broken before, at the same place
            and with the same value.
    """
    known = {(one.requirement, one.aspect, one.path, one.found) for one in error_violations(before)}
    for error in error_violations(after):
        if (error.requirement, error.aspect, error.path, error.found) not in known:
            raise SpecError(error)
    return after
