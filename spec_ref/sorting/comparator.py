"""How two rows compare by a sort order (Sorting; SRT003 to SRT005)."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Mapping
from typing import Any

from spec_ref.errors import SpecError
from spec_ref.partitioning.spec import source_type
from spec_ref.partitioning.transforms import Void
from spec_ref.schemas.schema import Schema
from spec_ref.schemas.types import UNKNOWN
from spec_ref.sorting.order import NullOrder, SortDirection, SortField, SortOrder


def sortable(order: SortOrder, schema: Schema) -> bool:
    """Whether rows can be sorted by an order: it has fields, each of which has a known transform of one source."""
    return bool(order.fields) and all(_is_sortable(field, schema) for field in order.fields)


def _is_sortable(field: SortField, schema: Schema) -> bool:
    try:
        return len(field.sources) == 1 and field.transform.result_type(source_type(field.sources[0], schema)) != UNKNOWN
    except SpecError:
        return False


def compare_rows(order: SortOrder, schema: Schema, left: Mapping[int, Any], right: Mapping[int, Any]) -> int:
    """Which of two rows is first in an order: the fields decide one after the other.

    Args:
        order: a `sortable` order.
        schema: the schema of the rows.
        left: a row, the values by field id.
        right: another.

    Returns:
        -1 where ``left`` is first, 1 where ``right`` is, 0 where they are equal: such rows may stand in any order.
    """
    for field in order.fields:
        result = compare_values(field, sort_value(field, schema, left), sort_value(field, schema, right))
        if result:
            return result
    return 0


def sort_value(field: SortField, schema: Schema, row: Mapping[int, Any]) -> Any:
    """What a row is sorted by in one field of an order: the transformed value of the source column, or null."""
    column = schema.find(field.sources[0])
    if column is None or isinstance(field.transform, Void):
        return None
    value: Any = row
    for one in (*column.parents, column):
        value = None if value is None else value.get(one.id)
    return field.transform.apply(column.type, value)


def compare_values(field: SortField, left: Any, right: Any) -> int:
    """Which of two values is first: nulls where the field has them (SRT004), whatever its direction, then values.

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
    """A value that Python compares as the spec sorts; strings are compared by code points, as their UTF-8 bytes are."""
    if isinstance(value, float):
        return float_sort_key(value)
    return value.bytes if isinstance(value, uuid.UUID) else value


def float_sort_key(value: float) -> int:
    """A key that sorts doubles as the spec asks (SRT003).

    ``-NaN < -Infinity < -value < -0 < 0 < value < Infinity < NaN``, which is the total order of IEEE 754. That it
    "aligns with Java", as the text goes on, does not hold for NaN with the sign bit set; the listed order is followed
    (contradiction B6). All NaNs of one sign have the same key.
    """
    if math.isnan(value):
        value = math.copysign(math.nan, value)
    bits: int = struct.unpack(">q", struct.pack(">d", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF) - 1
