"""Metrics of files: counts and bounds by column (Field-level Metrics and Statistics; Appendix D, Bound Serialization).

A bound is stored in the type that the column had when the file was written. Reading it with the column's current type
promotes it: the bytes of an int for a long, of a float for a double, of a date for a timestamp.
"""

from __future__ import annotations

from typing import Any

import attrs

from spec_ref.core.errors import SpecError, error_path
from spec_ref.data_types.types import Type
from spec_ref.manifests.data_file import DataFile
from spec_ref.single_value.bounds import decode_bound


@attrs.frozen
class ColumnMetrics:
    """The metrics of one column in a file. None means unknown."""

    size_in_bytes: int | None
    value_count: int | None
    null_value_count: int | None
    nan_value_count: int | None
    lower_bound: Any
    """A value of the column's type, or the form of a bound of a geometry, geography or variant."""

    upper_bound: Any


def column_metrics(data_file: DataFile, field_id: int, type_: Type) -> ColumnMetrics:
    """Read the metrics of a column.

    Args:
        data_file: the file.
        field_id: the id of the column.
        type_: the current type of the column.

    Returns:
        The metrics.

    Raises:
        SpecError: the codes of `spec_ref.single_value.bounds.decode_bound`; the path is ``/lower_bounds/3``.
    """
    return ColumnMetrics(
        size_in_bytes=(data_file.column_sizes or {}).get(field_id),
        value_count=(data_file.value_counts or {}).get(field_id),
        null_value_count=(data_file.null_value_counts or {}).get(field_id),
        nan_value_count=(data_file.nan_value_counts or {}).get(field_id),
        lower_bound=column_bound(data_file, "lower_bounds", field_id, type_),
        upper_bound=column_bound(data_file, "upper_bounds", field_id, type_),
    )


def column_bound(data_file: DataFile, bounds: str, field_id: int, type_: Type) -> Any:
    """Read a bound of a column.

    Args:
        data_file: the file.
        bounds: ``lower_bounds`` or ``upper_bounds``.
        field_id: the id of the column.
        type_: the current type of the column.

    Returns:
        The bound as a value of the type; None if there is none.

    Raises:
        SpecError: as `column_metrics`.
    """
    data = (getattr(data_file, bounds) or {}).get(field_id)
    if data is None:
        return None
    try:
        return decode_bound(type_, data)
    except SpecError:
        with error_path(f"/{bounds}/{field_id}"):
            raise
