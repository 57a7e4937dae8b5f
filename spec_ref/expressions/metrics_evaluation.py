"""Evaluate predicates on the metrics of a file and the summaries of a manifest (Scan Planning; Data File Fields).

Counts and bounds are optional, and so is each field in them: a missing one is unknown, never zero (SCN005). Bounds need
not be values of the column, since long ones are truncated; floating-point bounds are compared as in IEEE 754, so that
-0.0 equals 0.0 (contradiction B7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from spec_ref.core.errors import error_path
from spec_ref.core.records import record
from spec_ref.data_types.types import Type, is_primitive, kind
from spec_ref.expressions.bound import BoundPredicate, BoundReference, has_nan
from spec_ref.expressions.stats_evaluation import UNKNOWN_STATS, StatsOutcome, TermStats, evaluate_stats
from spec_ref.single_value.bounds import decode_bound

NO_BOUNDS = frozenset({"unknown", "geometry", "geography"})
"""The primitive types whose bounds do not decide comparisons."""


@record(kw_only=True)
class Metrics:
    """The counts and bounds of a data or delete file, by field id; None for a map that is absent."""

    record_count: int
    """The number of rows in the file; a negative number, as some writers wrote, means unknown."""

    value_counts: Mapping[int, int] | None = None
    """The number of values of each field, including null and NaN."""

    null_value_counts: Mapping[int, int] | None = None
    nan_value_counts: Mapping[int, int] | None = None
    lower_bounds: Mapping[int, bytes] | None = None
    upper_bounds: Mapping[int, bytes] | None = None


def evaluate_metrics(predicate: BoundPredicate, metrics: Metrics) -> StatsOutcome:
    """Evaluate a predicate on the metrics of a file.

    Args:
        predicate: a predicate bound to the schema that the file is read with.
        metrics: the counts and bounds of the file.

    Returns:
        Whether some row of the file might match and whether some might fail.

    Raises:
        SpecError: SVB001 to SVB008 or EVO006 if a bound of a field in the predicate is not a value of its type, nor of
            one that can be promoted to it.
    """
    if metrics.record_count == 0:
        return StatsOutcome(might_match=False, might_fail=False)
    return evaluate_stats(predicate, lambda reference: column_stats(reference, metrics))


def might_match(predicate: BoundPredicate, metrics: Metrics) -> bool:
    """Evaluate a predicate inclusively on the metrics of a file (SCN005).

    Args:
        predicate: a predicate bound to the schema that the file is read with.
        metrics: the counts and bounds of the file.

    Returns:
        False only if no row of the file matches.

    Raises:
        SpecError: as `evaluate_metrics`.
    """
    return evaluate_metrics(predicate, metrics).might_match


def must_match(predicate: BoundPredicate, metrics: Metrics) -> bool:
    """Evaluate a predicate strictly on the metrics of a file.

    Args:
        predicate: a predicate bound to the schema that the file is read with.
        metrics: the counts and bounds of the file.

    Returns:
        True only if every row of the file matches.

    Raises:
        SpecError: as `evaluate_metrics`.
    """
    return not evaluate_metrics(predicate, metrics).might_fail


def column_stats(reference: BoundReference, metrics: Metrics) -> TermStats:
    """Derive what is known about one column from the metrics of a file.

    Args:
        reference: the bound reference to the column.
        metrics: the counts and bounds of the file.

    Returns:
        The facts; nothing is known about a column of a nested type or variant.

    Raises:
        SpecError: SVB001 to SVB008 or EVO006 if a bound is not a value of the type, nor of one that can be promoted to
            it.
    """
    type_, field_id = reference.type, reference.id
    if not is_primitive(type_):
        return UNKNOWN_STATS  # the counts of nested types and variants do not include their nulls
    values = _count(metrics.value_counts, field_id)
    nulls = _count(metrics.null_value_counts, field_id)
    nans = _count(metrics.nan_value_counts, field_id) if has_nan(type_) else 0
    # A column that has no values although there are rows was not counted.
    counted = values is not None and values > 0
    all_null = counted and nulls is not None and nulls >= values  # type: ignore[operator]
    all_nan = counted and nans is not None and nans >= values  # type: ignore[operator]
    none_ordinary = counted and nulls is not None and nans is not None and nulls + nans >= values  # type: ignore[operator]
    return TermStats(
        null=nulls != 0 and not all_nan,
        nan=nans != 0 and not all_null,
        ordinary=not (all_null or all_nan or none_ordinary),
        lower=_bound(type_, metrics.lower_bounds, field_id, "/lower_bounds"),
        upper=_bound(type_, metrics.upper_bounds, field_id, "/upper_bounds"),
    )


def _count(counts: Mapping[int, int] | None, field_id: int) -> int | None:
    count = None if counts is None else counts.get(field_id)
    return None if count is None or count < 0 else count


def _bound(type_: Type, bounds: Mapping[int, bytes] | None, field_id: int, path: str) -> Any:
    data = None if bounds is None else bounds.get(field_id)
    if data is None or kind(type_) in NO_BOUNDS:
        return None
    with error_path(f"{path}/{field_id}"):
        return decode_bound(type_, data)


class PartitionSummary(Protocol):
    """The summary of a partition field, such as a `spec_ref.manifest_lists.manifest_file.FieldSummary`."""

    @property
    def contains_null(self) -> bool:
        """Whether some partition value is null."""

    @property
    def contains_nan(self) -> bool | None:
        """Whether some partition value is NaN; None if it is not known."""

    @property
    def lower_bound(self) -> bytes | None:
        """A value that no partition value is below; None if it is not known."""

    @property
    def upper_bound(self) -> bytes | None:
        """A value that no partition value is above; None if it is not known."""


def evaluate_summaries(
    projected: BoundPredicate, summaries: Sequence[PartitionSummary] | None, field_ids: Sequence[int]
) -> StatsOutcome:
    """Evaluate a partition predicate on the field summaries of a manifest.

    A manifest may be skipped if the inclusive projection of the filter cannot match any of its partitions (SCN002).

    Args:
        projected: a predicate over partition values (see `spec_ref.expressions.projection`).
        summaries: the summaries, in the order of the fields of the partition spec; None if the manifest list has none.
        field_ids: the ids of the fields of the manifest's partition spec, in the same order.

    Returns:
        Whether some partition of the manifest might match and whether some might fail.

    Raises:
        SpecError: SVB001 to SVB008 or EVO006 if a bound of a field in the predicate is not a value of its type.
    """
    by_id = dict(zip(field_ids, summaries or (), strict=False))
    return evaluate_stats(projected, lambda reference: _summary_stats(reference.type, by_id.get(reference.id)))


def _summary_stats(type_: Type, summary: PartitionSummary | None) -> TermStats:
    if summary is None:
        return UNKNOWN_STATS
    null = summary.contains_null
    nan = has_nan(type_) and summary.contains_nan is not False
    without_bounds = summary.lower_bound is None and summary.upper_bound is None
    return TermStats(
        null=null,
        nan=nan,
        # Without bounds, all values are null or NaN. A summary that contains neither contradicts itself, as in a table
        # that ClickHouse wrote, and skipping the manifest would lose rows.
        ordinary=not without_bounds or not (null or nan),
        lower=_partition_bound(type_, summary.lower_bound),
        upper=_partition_bound(type_, summary.upper_bound),
    )


def _partition_bound(type_: Type, data: bytes | None) -> Any:
    return None if data is None or kind(type_) in NO_BOUNDS else decode_bound(type_, data)
