"""Metrics of data files, computed from their values (Data File Fields; Field-level Metrics and Statistics).

This is the definition, on one value after another; `spec_ref.columnar.manifests.computed_metrics` computes them for
Arrow arrays, and `parquet_metrics`, `orc_metrics` and `avro_metrics` of `spec_ref.data_files` for files.

Columns that hold values have metrics: primitives and variants, also inside structs. The metrics of a delete file are
those of the values that it stores, which are the values that it deletes (DEL024); they cover all of its rows, or are
left out (DFL030). Decided here, because the text leaves it open:

- A field of a struct has a value for every row: if the struct is null, so is the field. Parquet footers count in the
  same way.
- Fields inside lists and maps have no metrics. Writers count elements in different ways, and bounds of elements
  would not be bounds of the rows that filters select.
- A variant has counts and no bounds, because a writer may choose the paths that have bounds, or none (BND011).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.core.records import EMPTY, record
from spec_ref.data_types.types import (
    BINARY,
    STRING,
    UUID,
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    StructType,
    Type,
    VariantType,
    kind,
)
from spec_ref.single_value.bounds import encode_bound, truncate_lower, truncate_upper
from spec_ref.single_value.geo_bounds import bounding_box


@record
class MetricsMode:
    """The metrics to keep for a column."""

    counts: bool = True
    bounds: bool = True
    width: int | None = None
    """The maximum length of a bound of a string (code points) or binary (bytes); None for whole values."""


NO_METRICS = MetricsMode(counts=False, bounds=False)
COUNTS = MetricsMode(bounds=False)
FULL = MetricsMode()
TRUNCATED = MetricsMode(width=16)
"""The mode that engines use by default."""


@record(kw_only=True)
class FileMetrics:
    """The metrics of one data file, for its manifest entry; maps are by field id."""

    record_count: int
    file_size_in_bytes: int | None = None
    column_sizes: Mapping[int, int] | None = None
    """The number of bytes of all regions that store the column; None for a row-oriented file (DFL011)."""

    value_counts: Mapping[int, int] = EMPTY
    """The number of values, including null and NaN (DFL012)."""

    null_value_counts: Mapping[int, int] = EMPTY
    nan_value_counts: Mapping[int, int] = EMPTY
    """The number of NaN values, for float and double columns only (DFL014)."""

    lower_bounds: Mapping[int, bytes] = EMPTY
    upper_bounds: Mapping[int, bytes] = EMPTY
    split_offsets: tuple[int, ...] | None = None
    """The offsets where the file can be split, ascending; None if the format has no such places (DFL019)."""


@record
class FieldMetrics:
    """The metrics of the values of one column so far."""

    type: Type
    values: int = 0
    nulls: int = 0
    nans: int = 0
    lower: Any = None
    """The least value that is neither null nor NaN; for geospatial types, the set of all WKB values."""

    upper: Any = None

    def merge(self, other: FieldMetrics) -> FieldMetrics:
        """Merge with the metrics of other values of the column.

        Args:
            other: the metrics of the other values.

        Returns:
            The metrics of all values.
        """
        key = bound_order(self.type)
        return FieldMetrics(
            self.type,
            self.values + other.values,
            self.nulls + other.nulls,
            self.nans + other.nans,
            _extreme(min, key, self.lower, other.lower),
            _extreme(max, key, self.upper, other.upper),
        )


def _extreme(choose: Callable[..., Any], key: Callable[[Any], Any], one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, frozenset):
        return one | other
    return choose(one, other, key=key)


def bound_order(type_: Type) -> Callable[[Any], Any]:
    """Make the key that orders values of a type for bounds: -0.0 before 0.0 (DFL027), a UUID by its bytes.

    Args:
        type_: the type of the column.

    Returns:
        The key function.
    """
    if kind(type_) in ("float", "double"):
        return lambda value: (value, math.copysign(1.0, value))
    return (lambda value: value.bytes) if type_ == UUID else (lambda value: value)


def is_geospatial(type_: Type) -> bool:
    """Decide whether bounds of a type are corners of a box.

    Args:
        type_: the type of the column.

    Returns:
        Whether it is geometry or geography.
    """
    return isinstance(type_, (GeometryType, GeographyType))


def columns_with_metrics(struct: StructType, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], int, Type]]:
    """List the columns that have metrics.

    Args:
        struct: the columns of the file, or of a struct in it.
        path: the indexes from the root to the struct.

    Yields:
        The indexes from the root, the id and the type of each column.
    """
    for place, field in enumerate(struct.fields):
        here = (*path, place)
        if isinstance(field.type, StructType):
            yield from columns_with_metrics(field.type, here)
        elif not isinstance(field.type, (ListType, MapType)):
            yield here, field.id, field.type


def compute_value_metrics(type_: Type, values: Iterable[Any]) -> FieldMetrics:
    """Compute the metrics of values.

    Args:
        type_: the type of the column.
        values: values of the type, None for null.

    Returns:
        The metrics.
    """
    rows = nulls = nans = 0
    kept = []
    for value in values:
        rows += 1
        if value is None:
            nulls += 1
        elif isinstance(value, float) and math.isnan(value):
            nans += 1
        else:
            kept.append(value)
    if is_geospatial(type_):
        objects = frozenset(kept) or None
        return FieldMetrics(type_, rows, nulls, nans, objects, objects)
    if not kept or isinstance(type_, VariantType):
        return FieldMetrics(type_, rows, nulls, nans)
    key = bound_order(type_)
    return FieldMetrics(type_, rows, nulls, nans, min(kept, key=key), max(kept, key=key))


def compute_metrics(
    struct: StructType, rows: Iterable[Mapping[int, Any]], mode: MetricsMode | Mapping[int, MetricsMode] = TRUNCATED
) -> FileMetrics:
    """Compute the metrics of rows.

    Args:
        struct: the columns of the file.
        rows: the rows, each with values by field id.
        mode: the metrics to keep for every column, or for each by its field id.

    Returns:
        The metrics.
    """
    listed = list(rows)
    ids = {path: tuple(_ids(struct, path)) for path, _, _ in columns_with_metrics(struct)}
    columns = {
        field_id: compute_value_metrics(type_, (_value_at_path(row, ids[path]) for row in listed))
        for path, field_id, type_ in columns_with_metrics(struct)
    }
    return file_metrics(len(listed), columns, mode)


def _ids(struct: StructType, path: tuple[int, ...]) -> Iterator[int]:
    for place in path:
        field = struct.fields[place]
        yield field.id
        if isinstance(field.type, StructType):
            struct = field.type


def _value_at_path(row: Any, ids: tuple[int, ...]) -> Any:
    for field_id in ids:
        if row is None:
            return None
        row = row.get(field_id)
    return row


def file_metrics(
    record_count: int, columns: Mapping[int, FieldMetrics], mode: MetricsMode | Mapping[int, MetricsMode]
) -> FileMetrics:
    """Collect the metrics of a file from those of its columns.

    Args:
        record_count: the number of rows.
        columns: the metrics by field id.
        mode: the metrics to keep for every column, or for each by its field id; a column without a mode has none.

    Returns:
        The metrics.
    """
    modes = dict.fromkeys(columns, mode) if isinstance(mode, MetricsMode) else mode
    columns = {id_: column for id_, column in columns.items() if modes.get(id_, NO_METRICS).counts}
    lowers, uppers = {}, {}
    for field_id, column in columns.items():
        if modes[field_id].bounds:
            lower, upper = encode_bounds(column, modes[field_id].width)
            if lower is not None:
                lowers[field_id] = lower
            if upper is not None:
                uppers[field_id] = upper
    return FileMetrics(
        record_count=record_count,
        value_counts={field_id: column.values for field_id, column in columns.items()},
        null_value_counts={field_id: column.nulls for field_id, column in columns.items()},
        nan_value_counts={
            field_id: column.nans for field_id, column in columns.items() if kind(column.type) in ("float", "double")
        },
        lower_bounds=lowers,
        upper_bounds=uppers,
    )


def _corners(type_: GeometryType | GeographyType, objects: Iterable[bytes]) -> tuple[Any, Any]:
    try:
        box = bounding_box(type_, objects)
    except SpecError as error:
        if error.violation.requirement != "BND003":
            raise
        return None, None  # invalid coordinates may be stored, but not in bounds
    return (None, None) if box is None else (box.lower, box.upper)


def encode_bounds(column: FieldMetrics, width: int | None) -> tuple[bytes | None, bytes | None]:
    """Serialize the bounds of a column.

    A truncated upper bound is above every value; if no shorter value is, it is omitted.

    Args:
        column: the metrics of the column.
        width: the maximum length of a bound of a string (code points) or binary (bytes); None for whole values.

    Returns:
        The lower and the upper bound in bytes; None if there is none.
    """
    type_, lower, upper = column.type, column.lower, column.upper
    if lower is None:
        return None, None
    if isinstance(type_, (GeometryType, GeographyType)):
        lower, upper = _corners(type_, lower)
    elif width is not None and type_ in (STRING, BINARY):
        lower, upper = truncate_lower(type_, lower, width), truncate_upper(type_, upper, width)
    return tuple(None if bound is None else encode_bound(type_, bound) for bound in (lower, upper))  # type: ignore[return-value]
