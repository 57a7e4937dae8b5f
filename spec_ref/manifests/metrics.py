"""Metrics of files: counts and bounds by column (Field-level Metrics and Statistics; Appendix D, Bound Serialization).

A bound is stored in the type that the column had when the file was written. Reading it with the column's current type
promotes it: the bytes of an int for a long, of a float for a double, of a date for a timestamp.
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import SpecError, error_path
from spec_ref.data_types.types import Type
from spec_ref.expressions.metrics_evaluation import Metrics
from spec_ref.manifests.data_file import DataFile
from spec_ref.single_value.bounds import decode_bound


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
        SpecError: the codes of `spec_ref.single_value.bounds.decode_bound`; the path is ``/lower_bounds/3``.
    """
    data = (getattr(data_file, bounds) or {}).get(field_id)
    if data is None:
        return None
    try:
        return decode_bound(type_, data)
    except SpecError:
        with error_path(f"/{bounds}/{field_id}"):
            raise


def column_metrics(data_file: DataFile) -> Metrics:
    """Collect the counts and bounds of a file, to evaluate predicates on them.

    Args:
        data_file: a data or delete file.

    Returns:
        The metrics.
    """
    return Metrics(
        record_count=data_file.record_count,
        value_counts=data_file.value_counts,
        null_value_counts=data_file.null_value_counts,
        nan_value_counts=data_file.nan_value_counts,
        lower_bounds=data_file.lower_bounds,
        upper_bounds=data_file.upper_bounds,
    )
