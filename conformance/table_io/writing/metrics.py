"""Computing the metrics of a file while it is written, as the table's properties configure (Data File Fields)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from spec_ref.columnar.manifests.computed_metrics import compute_array_metrics, leaf_array, leaf_names
from spec_ref.commits.retries import read_whole_number
from spec_ref.core.errors import spec_error
from spec_ref.data_types.types import StructType
from spec_ref.manifests.computed_metrics import (
    COUNTS,
    FULL,
    NO_METRICS,
    TRUNCATED,
    FieldMetrics,
    FileMetrics,
    MetricsMode,
    columns_with_metrics,
    compute_metrics,
    file_metrics,
)
from spec_ref.schemas.reserved_field_ids import MAX_TABLE_FIELD_ID
from spec_ref.schemas.schema import Schema

DEFAULT = "write.metadata.metrics.default"
COLUMN_PREFIX = "write.metadata.metrics.column."
MAX_INFERRED_COLUMNS = "write.metadata.metrics.max-inferred-column-defaults"
MAX_COLUMNS_WITH_METRICS = 100
"""The maximum number of columns with metrics by default; tables may have thousands of columns."""

MODES = {"none": NO_METRICS, "counts": COUNTS, "full": FULL}
"""The modes by name, except ``truncate(N)``."""

MetricsModes = tuple[tuple[int, MetricsMode], ...]
"""The mode of each column that has metrics, by id; as pairs, so that plans can be pickled."""


def parse_mode(text: str) -> MetricsMode:
    """Parse the name of a mode.

    Raises:
        SpecError: DFL012, for an unknown mode.
    """
    match = re.fullmatch(r"truncate\(([1-9][0-9]{0,8})\)", text.strip().lower())
    if match:
        return MetricsMode(width=int(match[1]))
    if text.strip().lower() not in MODES:
        expected = "none, counts, truncate(16) or full"
        raise spec_error("DFL012", "unknown metrics mode", found=text, expected=expected)
    return MODES[text.strip().lower()]


def metrics_modes(schema: Schema, properties: Mapping[str, str]) -> MetricsModes:
    """Return the metrics mode of every column according to the properties of a table."""
    default = parse_mode(properties[DEFAULT]) if DEFAULT in properties else TRUNCATED
    most = (
        read_whole_number(properties, MAX_INFERRED_COLUMNS, MAX_COLUMNS_WITH_METRICS)
        if DEFAULT not in properties
        else None
    )
    made = []
    for place, (_, field_id, _) in enumerate(columns_with_metrics(schema.as_struct())):
        column = schema.find(field_id)
        own = None if column is None else properties.get(COLUMN_PREFIX + column.name)
        if own is not None:
            made.append((field_id, parse_mode(own)))
        else:
            made.append((field_id, default if most is None or place < most else NO_METRICS))
    return tuple(made)


class MetricsCollector:
    """Collects the metrics of the rows of a file."""

    def __init__(self, fields: StructType, modes: MetricsModes) -> None:
        wanted = {field_id for field_id, mode in modes if mode.counts}
        kept = (one for one in fields.fields if one.id <= MAX_TABLE_FIELD_ID or one.id in wanted)
        self._struct = StructType(tuple(kept))
        self._modes = modes
        self._paths = [
            (field_id, leaf_names(self._struct, path))
            for path, field_id, _ in columns_with_metrics(self._struct)
            if field_id in wanted
        ]
        self._columns = {field_id: FieldMetrics(type_) for _, field_id, type_ in columns_with_metrics(self._struct)}
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add more rows."""
        self.rows += batch.num_rows
        for field_id, names in self._paths:
            before = self._columns[field_id]
            self._columns[field_id] = before.merge(compute_array_metrics(before.type, leaf_array(batch, names)))

    def metrics(self) -> FileMetrics:
        """Return the metrics of all rows."""
        return file_metrics(self.rows, self._columns, dict(self._modes))


class RowMetricsCollector:
    """Collects metrics like `MetricsCollector`, but of rows that are mappings of field ids to values."""

    def __init__(self, fields: StructType, modes: MetricsModes) -> None:
        self._struct = fields
        self._modes = modes
        self._rows: list[Mapping[int, Any]] = []

    def add(self, rows: Sequence[Mapping[int, Any]]) -> None:
        """Add more rows."""
        self._rows += rows

    def metrics(self) -> FileMetrics:
        """Return the metrics of all rows."""
        return compute_metrics(self._struct, self._rows, dict(self._modes))
