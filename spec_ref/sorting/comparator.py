"""How two rows compare by a sort order (Sorting; SRT003 to SRT005)."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Iterable, Mapping
from functools import cmp_to_key
from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import UNKNOWN
from spec_ref.partitioning.spec import source_type
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema, value_in_row
from spec_ref.sorting.order import NullOrder, SortDirection, SortField, SortOrder


def is_sortable(order: SortOrder, schema: Schema) -> bool:
    """Decide whether rows can be sorted by an order.

    Args:
        order: the sort order.
        schema: the schema of the rows.

    Returns:
        True if the order has fields, and each has one source column and a known transform that accepts its type.
    """
    return bool(order.fields) and all(_is_sortable(field, schema) for field in order.fields)


def _is_sortable(field: SortField, schema: Schema) -> bool:
    try:
        return len(field.sources) == 1 and field.transform.result_type(source_type(field.sources[0], schema)) != UNKNOWN
    except SpecError:
        return False


def compare_rows(order: SortOrder, schema: Schema, left: Mapping[int, Any], right: Mapping[int, Any]) -> int:
    """Compare two rows by a sort order: the first field in which they differ decides.

    Args:
        order: an order for which `is_sortable` is true.
        schema: the schema of the rows.
        left: a row, values by field id.
        right: another row.

    Returns:
        -1 if ``left`` sorts first, 1 if ``right`` does, 0 if they are equal and may be in any order.
    """
    for field in order.fields:
        result = compare_values(field, sort_value(field, schema, left), sort_value(field, schema, right))
        if result:
            return result
    return 0


def sort_rows(order: SortOrder, schema: Schema, rows: Iterable[Mapping[int, Any]]) -> list[Mapping[int, Any]]:
    """Sort rows by a sort order; equal rows keep their order.

    Args:
        order: an order for which `is_sortable` is true.
        schema: the schema of the rows.
        rows: the rows, values by field id.

    Returns:
        The sorted rows.
    """

    def compare(left: Mapping[int, Any], right: Mapping[int, Any]) -> int:
        return compare_rows(order, schema, left, right)

    return sorted(rows, key=cmp_to_key(compare))


def sort_value(field: SortField, schema: Schema, row: Mapping[int, Any]) -> Any:
    """Find the value by which one field of an order sorts a row: the transformed value of the source column.

    Args:
        field: a field of a sort order.
        schema: the schema of the row.
        row: the row, values by field id.

    Returns:
        The transformed value; None for null.
    """
    column = schema.find(field.sources[0])
    if column is None or isinstance(field.transform, Void):
        return None
    return field.transform.apply(column.type, value_in_row(column, row))


def compare_values(field: SortField, left: Any, right: Any) -> int:
    """Compare two sort values: nulls are placed as the field states (SRT004), whatever its direction.

    Args:
        field: a field of a sort order.
        left: a sort value, or None.
        right: another one.

    Returns:
        -1, 0 or 1, as `compare_rows`.
    """
    if left is None or right is None:
        null_is_first = 1 if field.null_order is NullOrder.NULLS_FIRST else -1
        return null_is_first * ((right is None) - (left is None))
    left, right = _comparable(left), _comparable(right)
    result = int(left > right) - int(left < right)
    return result if field.direction is SortDirection.ASC else -result


def _comparable(value: Any) -> Any:
    """Make a value that Python compares as the spec sorts; strings compare by code points, as their UTF-8 bytes do."""
    if isinstance(value, float):
        return float_sort_key(value)
    return value.bytes if isinstance(value, uuid.UUID) else value


def float_sort_key(value: float) -> int:
    """Make a key that sorts floats and doubles as the spec requires (SRT003).

    ``-NaN < -Infinity < -value < -0 < 0 < value < Infinity < NaN``, which is the total order of IEEE 754. The text adds
    that this "aligns with Java", which is wrong for NaN with the sign bit set; this function follows the listed order
    (contradiction B6). All NaNs of one sign have the same key.

    Args:
        value: the number.

    Returns:
        The key, an integer.
    """
    if math.isnan(value):
        value = math.copysign(math.nan, value)
    bits: int = struct.unpack(">q", struct.pack(">d", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF) - 1
