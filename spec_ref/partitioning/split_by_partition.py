"""The partition tuple of a row, and the rows of each partition (Partitioning).

All rows of a data file have the same tuple (PAR001), so a writer splits rows by tuple.
`spec_ref.columnar.partitioning.split_by_partition` does the same with the rows of an Arrow batch.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias

from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.values import value_key
from spec_ref.partitioning.spec import PartitionSpec, source_type
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema, value_in_row

Row: TypeAlias = Mapping[int, Any]
"""The values of a row by field id."""


def check_spec(spec: PartitionSpec, schema: Schema) -> None:
    """Check that rows of a schema can be written with a partition spec.

    Args:
        spec: the partition spec.
        schema: the schema of the rows.

    Raises:
        SpecError: PAR007 for an unknown transform or one of several sources; PAR004 for a source that the schema does
            not have or that is in a list or map; the code of the transform for a type that it does not accept.
    """
    for field in spec.fields:
        if not spec.is_writable or len(field.sources) != 1:
            raise spec_error(
                "PAR007",
                "the partition spec has an unknown transform, with which files cannot be written",
                found=Description(str(field.transform)),
            )
        if not isinstance(field.transform, Void):  # a field that was removed in v1, whose source may have been dropped
            field.transform.result_type(source_type(field.sources[0], schema))


def partition_tuple(spec: PartitionSpec, schema: Schema, row: Row) -> dict[int, Any]:
    """Compute the partition tuple of a row.

    Args:
        spec: a spec that `check_spec` accepts.
        schema: the schema of the row; it need not have the sources of void fields.
        row: the row.

    Returns:
        The transformed values of the source columns, by partition field id.

    Raises:
        SpecError: the code of a transform that has no result for a value (contradiction C6).
    """
    made: dict[int, Any] = {}
    for field in spec.fields:
        if isinstance(field.transform, Void):
            made[field.field_id] = None
            continue
        column = schema.find(field.sources[0])
        assert column is not None
        made[field.field_id] = field.transform.apply(column.type, value_in_row(column, row))
    return made


def split_by_partition(
    spec: PartitionSpec, schema: Schema, rows: Iterable[Row]
) -> list[tuple[dict[int, Any], list[Row]]]:
    """Split rows by partition, keeping their order.

    Floating-point values are distinguished by their bits, except that all NaNs are equal (SCN013).

    Args:
        spec: a spec that `check_spec` accepts.
        schema: the schema of the rows.
        rows: the rows.

    Returns:
        The partition tuple and the rows of each partition, in the order of the first row of each.

    Raises:
        SpecError: the code of a transform that has no result for a value (contradiction C6).
    """
    type_ = spec.partition_type(schema)
    found: dict[Hashable, tuple[dict[int, Any], list[Row]]] = {}
    for row in rows:
        partition = partition_tuple(spec, schema, row)
        found.setdefault(value_key(type_, partition), (partition, []))[1].append(row)
    return list(found.values())
