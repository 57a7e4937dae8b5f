"""Values of the spec in Arrow arrays, as files of Parquet and ORC are read (Appendix A).

The result is exact where Python's own conversion is not: times and timestamps are counts, even beyond the years and the
precision of ``datetime``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa

from spec_ref.columnar.manifests.computed_metrics import comparable_array, storage_array
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_types.types import UUID, ListType, MapType, StructType, Type, VariantType
from spec_ref.encodings.variant.physical_types import Variant


def to_python_values(type_: Type, array: pa.Array[Any]) -> list[Any]:
    """Convert the values of an array to values of the spec; struct fields are found by name.

    Args:
        type_: the type of the values.
        array: an Arrow array.

    Returns:
        The values, None for null.

    Raises:
        SpecError: DFL005 if the Arrow type has no values of the Iceberg type.
    """
    array = storage_array(array)
    try:
        return _values(type_, array)
    except (pa.ArrowException, AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"the column does not hold values of {type_}: {error}"
        raise spec_error("DFL005", message, found=Description(str(array.type))) from error


def _values(type_: Type, array: Any) -> list[Any]:
    match type_:
        case StructType(fields):
            columns = [to_python_values(field.type, _child(array, field.name)) for field in fields]
            ids = [field.id for field in fields]
            rows = [dict(zip(ids, row, strict=True)) for row in zip(*columns, strict=True)] or [{} for _ in array]
            return _restore_nulls(array, rows)
        case ListType(_, element):
            return _lists(array, to_python_values(element, array.values), tuple)
        case MapType(_, key, _, value):
            pairs = list(zip(to_python_values(key, array.keys), to_python_values(value, array.items), strict=True))
            return _lists(array, pairs, tuple)
        case VariantType():
            parts = zip(_child(array, "metadata").to_pylist(), _child(array, "value").to_pylist(), strict=True)
            return _restore_nulls(
                array, [None if metadata is None else Variant(metadata, value) for metadata, value in parts]
            )
        case _ if type_ == UUID:
            return [None if value is None else uuid.UUID(bytes=value) for value in array.to_pylist()]
        case _:
            return list(comparable_array(type_, array).to_pylist())


def _child(array: Any, name: str) -> Any:
    place = array.type.get_field_index(name)
    if place < 0:
        raise KeyError(name)
    return array.field(place)


def _restore_nulls(array: Any, rows: list[Any]) -> list[Any]:
    return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]


def _lists(array: Any, items: list[Any], make: Callable[[list[Any]], Any]) -> list[Any]:
    """Split ``items``, the values of an array from the start of the buffer on, into its lists."""
    ends = array.offsets.to_pylist() if len(array) else []  # without rows, the buffer of offsets may be empty
    return _restore_nulls(array, [make(items[start:end]) for start, end in pairwise(ends)])
