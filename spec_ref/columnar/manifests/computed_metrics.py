"""Metrics of data files over Arrow arrays; the definition is in `spec_ref.manifests.computed_metrics`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.core.calendar import UNITS, UNITS_PER_SECOND
from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import UNKNOWN, UUID, StructType, Type, VariantType, kind
from spec_ref.manifests.computed_metrics import (
    TRUNCATED,
    FieldMetrics,
    FileMetrics,
    MetricsMode,
    columns_with_metrics,
    file_metrics,
    is_geospatial,
)


def compute_array_metrics(type_: Type, array: pa.Array[Any]) -> FieldMetrics:
    """Compute the metrics of one array.

    Args:
        type_: the type of the column.
        array: an array in an Arrow type that Parquet or ORC files of the type are read as.

    Returns:
        The metrics of its values.
    """
    array = storage_array(array)
    if type_ == UNKNOWN:
        return FieldMetrics(type_, len(array), len(array))
    nulls, nans = array.null_count, 0
    lower: Any = None
    upper: Any = None
    if nulls == len(array) or isinstance(type_, VariantType):
        pass
    elif is_geospatial(type_):
        lower = upper = frozenset(array.drop_null().to_pylist())
    elif kind(type_) in ("float", "double"):
        nans, lower, upper = _floats(array)
    else:
        ends: Any = pc.min_max(comparable_array(type_, array)).as_py()
        lower, upper = (uuid.UUID(bytes=ends[end]) if type_ == UUID else ends[end] for end in ("min", "max"))
    return FieldMetrics(type_, len(array), nulls, nans, lower, upper)


def compute_batch_metrics(
    struct: StructType, batches: Iterable[pa.RecordBatch], mode: MetricsMode = TRUNCATED
) -> FileMetrics:
    """Compute the metrics of batches.

    Args:
        struct: the columns; they are found by name, in any order, and other columns are ignored.
        batches: the rows.
        mode: the metrics to keep for every column.

    Returns:
        The metrics of all rows.

    Raises:
        SpecError: DFL012 if a column of the struct is missing or there are several of its name.
    """
    columns = {field_id: FieldMetrics(type_) for _, field_id, type_ in columns_with_metrics(struct)}
    paths = [(field_id, leaf_names(struct, path)) for path, field_id, _ in columns_with_metrics(struct)]
    count = 0
    for batch in batches:
        count += len(batch)
        for field_id, names in paths:
            found = compute_array_metrics(columns[field_id].type, leaf_array(batch, names))
            columns[field_id] = columns[field_id].merge(found)
    return file_metrics(count, columns, mode)


def leaf_names(struct: StructType, path: tuple[int, ...]) -> tuple[str, ...]:
    """Find the names on the path to a column.

    Args:
        struct: the columns.
        path: the indexes of the fields from the root.

    Returns:
        The names.
    """
    names = []
    for place in path:
        field = struct.fields[place]
        names.append(field.name)
        if isinstance(field.type, StructType):
            struct = field.type
    return tuple(names)


def leaf_array(batch: pa.RecordBatch, names: tuple[str, ...]) -> pa.Array[Any]:
    """Find the values of a column.

    Args:
        batch: the rows.
        names: the names on the path to the column.

    Returns:
        The array; null where a struct that contains it is null.

    Raises:
        SpecError: DFL012 if the column is missing or there are several of its name.
    """
    place = batch.schema.get_field_index(names[0])
    array = batch.column(place) if place >= 0 else None
    for name in names[1:]:
        if array is None:
            break
        place = array.type.get_field_index(name)
        # The field of a null struct is null, whatever its child array has there.
        array = pc.struct_field(array, [place]) if place >= 0 else None
    if array is None:
        raise spec_error("DFL012", "the column is missing or repeated", found=".".join(names))
    return array


def storage_array(array: Any) -> Any:
    """Remove the extension type and the dictionary of an array.

    Args:
        array: an Arrow array.

    Returns:
        The array of its storage type.
    """
    if isinstance(array.type, pa.DictionaryType):
        views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
        plain = views.get(array.type.value_type)  # Arrow does not decode dictionaries of views
        array = array.dictionary_decode() if plain is None else array.dictionary.cast(plain).take(array.indices)
    if isinstance(array, pa.ExtensionArray):
        return storage_array(array.storage)
    return array


def _floats(array: Any) -> tuple[int, float | None, float | None]:
    values = array.drop_null().to_numpy(zero_copy_only=False)
    kept = values[~np.isnan(values)]
    nans = len(values) - len(kept)
    if not len(kept):
        return nans, None, None
    lower, upper = float(kept.min()), float(kept.max())
    # -0.0 and 0.0 are equal to numpy, so the signs of the zeros decide (DFL027).
    if lower == 0:
        lower = -0.0 if np.signbit(kept[kept == 0]).any() else 0.0
    if upper == 0:
        upper = -0.0 if np.signbit(kept[kept == 0]).all() else 0.0
    return nans, lower, upper


def comparable_array(type_: Type, array: Any) -> Any:
    """Convert an array to the Arrow type whose scalars are values of the spec.

    Args:
        type_: the type of the values.
        array: an Arrow array.

    Returns:
        The array.
    """
    name = kind(type_)
    if name == "date":
        return array.cast(pa.int32())
    if name not in UNITS or not pa.types.is_temporal(array.type):
        return array
    integers = array.cast(pa.int32()).cast(pa.int64()) if pa.types.is_time32(array.type) else array.cast(pa.int64())
    arrow: Any = array.type
    stored, wanted = UNITS_PER_SECOND[arrow.unit], UNITS_PER_SECOND[UNITS[name]]
    if stored <= wanted:
        return integers if stored == wanted else pc.multiply_checked(integers, wanted // stored)
    # Rounded down, before 1970 too (ORC004).
    factor = pa.scalar(stored // wanted, pa.int64())
    whole = pc.divide(integers, factor)
    below = pc.less(integers, pc.multiply(whole, factor))
    return pc.subtract(whole, below.cast(pa.int64()))
