"""Select manifests of a list in columns: the kernel for `spec_ref.scan_planning.manifest_selection.ManifestSelection`.

The summary of a partition field is converted to the counts and bounds of a column, so that
`spec_ref.columnar.expressions.metrics_evaluation` evaluates the summaries of all manifests of a spec at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.expressions.metrics_evaluation import check_bounds, matching_files
from spec_ref.columnar.manifest_lists.reader import ListColumns, SummaryColumn
from spec_ref.columnar.manifests.nullable_arrays import Bounds, Mask, Nullable
from spec_ref.core.errors import spec_error
from spec_ref.core.versions import DELETE_FILES, FormatVersion
from spec_ref.data_types.types import Type
from spec_ref.expressions.bound import BoundPredicate, has_nan
from spec_ref.expressions.projection import inclusive_projection
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile, find_spec
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.partition_residual import partition_types

Rows = npt.NDArray[np.intp]


def select_manifests(
    list_columns: ListColumns,
    content: ManifestContent,
    predicate: BoundPredicate,
    specs: Mapping[int, PartitionSpec],
    format_version: FormatVersion,
    *,
    tolerate_truncated_times: bool = False,
) -> list[ManifestFile]:
    """Select the manifests of one content that no count or summary rules out, as `ManifestSelection.select` does.

    Args:
        list_columns: the manifests of a snapshot, or a batch of them.
        content: the content to select: data or deletes.
        predicate: the filter, bound to the schema of the rows.
        specs: the partition specs of the table, by id.
        format_version: the version of the table.
        tolerate_truncated_times: see `spec_ref.expressions.projection.Projection`.

    Returns:
        The selected manifests, in order.

    Raises:
        SpecError: DEL001 for deletes in v1; the other codes of `ManifestSelection.select`, but without the number of
            the manifest.
    """
    rows = np.nonzero(list_columns.content == content)[0]
    spec_ids = list_columns.partition_spec_id[rows]
    if len(rows) and content is ManifestContent.DELETES and not DELETE_FILES.is_supported(format_version):
        raise spec_error("DEL001", "deletes are not allowed in v1", path="/content", format_version=format_version)
    live, counts = list_columns.may_have_live_files, list_columns.summary_count
    kept = live.copy()
    for spec_id in np.unique(spec_ids).tolist():
        spec = find_spec(specs, spec_id, "/partition_spec_id")
        mine = rows[(spec_ids == spec_id) & live[rows]]
        # Where the number of summaries differs, it is unknown which of them belongs to which field.
        judged = mine[counts.valid[mine] & (counts.values[mine] == len(spec.fields))]
        if len(judged):
            projected = inclusive_projection(predicate, spec, tolerate_truncated_times=tolerate_truncated_times)
            statistics = SummaryStatistics(list_columns, spec, partition_types(projected))
            check_bounds(statistics.types, statistics, judged)
            kept[judged] = False
            kept[matching_files(projected, statistics, judged)] = True
    return list_columns.manifests(rows[kept[rows]])


_VALUES = 3
"""The value count that represents any summary: one null, one NaN and one other value."""


class SummaryStatistics:
    """Field summaries as equivalent counts and bounds (see `FileStatistics`)."""

    def __init__(self, list_columns: ListColumns, spec: PartitionSpec, types: Mapping[int, Type]) -> None:
        """Read the summaries that a predicate refers to.

        Args:
            list_columns: the manifests.
            spec: the partition spec of those that are evaluated.
            types: the types of the partition fields in the predicate, by id.
        """
        self.types = types
        self.record_count = np.ones(len(list_columns), np.int64)
        places = {field.field_id: place for place, field in enumerate(spec.fields)}
        self._summaries: dict[int, SummaryColumn] = {one: list_columns.summaries(places[one]) for one in types}

    def counts(self, attribute: str, field_id: int, rows: Rows | None = None) -> Nullable:
        """Derive counts as `spec_ref.expressions.metrics_evaluation.column_stats` reads them.

        Args:
            attribute: ``value_counts``, ``null_value_counts`` or ``nan_value_counts``.
            field_id: the id of the partition field.
            rows: the numbers of the manifests; None for all.

        Returns:
            The counts, one per manifest.
        """
        summary = self._summaries[field_id]
        chosen = slice(None) if rows is None else rows
        null: Mask = summary.contains_null[chosen]
        nan = np.zeros(len(null), np.bool_)
        if has_nan(self.types[field_id]):
            nan = ~summary.contains_nan.valid[chosen] | summary.contains_nan.values[chosen]
        # Without bounds all values are null or NaN, unless neither is contained.
        ordinary = summary.lower_bound.valid[chosen] | summary.upper_bound.valid[chosen]
        every = {
            "value_counts": np.full(len(null), _VALUES),
            "null_value_counts": null * np.where(ordinary, 1, np.where(nan, _VALUES - 1, _VALUES)),
            "nan_value_counts": nan * np.where(ordinary, 1, np.where(null, _VALUES - 1, _VALUES)),
        }
        return Nullable(every[attribute], np.ones(len(null), np.bool_))

    def lower_bounds(self, field_id: int, rows: Rows | None = None) -> Bounds:
        """Read the lower bounds of a partition field.

        Args:
            field_id: the id of the partition field.
            rows: the numbers of the manifests; None for all.

        Returns:
            The bounds, one per manifest.
        """
        found = self._summaries[field_id].lower_bound
        return found if rows is None else found.take(rows)

    def upper_bounds(self, field_id: int, rows: Rows | None = None) -> Bounds:
        """Read the upper bounds of a partition field.

        Args:
            field_id: the id of the partition field.
            rows: the numbers of the manifests; None for all.

        Returns:
            The bounds, one per manifest.
        """
        found = self._summaries[field_id].upper_bound
        return found if rows is None else found.take(rows)
