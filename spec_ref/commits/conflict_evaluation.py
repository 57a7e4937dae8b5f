"""Decide which files may have rows that match a predicate (Scan Planning).

A file for which this cannot be decided counts as a match, so that a conflict may be reported although there is none,
but no conflict is missed.
"""

from __future__ import annotations

from typing import Any

from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundPredicate, evaluate
from spec_ref.expressions.metrics_evaluation import evaluate_metrics
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.expressions.stats_evaluation import StatsOutcome
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.manifests.metrics import column_metrics
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.table_metadata.metadata import TableMetadata


def bound_filter(predicate: Any, metadata: TableMetadata) -> BoundPredicate:
    """Bind a predicate to the table's current schema.

    Args:
        predicate: an unbound predicate.
        metadata: the table.

    Returns:
        The bound predicate.

    Raises:
        SpecError: the codes of `spec_ref.expressions.binding.bind`.
    """
    return bind(predicate, metadata.current_schema)


def evaluate_file(predicate: BoundPredicate, data_file: DataFile, spec: PartitionSpec) -> StatsOutcome:
    """Evaluate a predicate on the partition and the metrics of a file.

    Args:
        predicate: a bound predicate.
        data_file: a data file.
        spec: its partition spec.

    Returns:
        Whether some row of the file might match and whether some might fail.

    Raises:
        SpecError: the codes of `spec_ref.expressions.metrics_evaluation.evaluate_metrics` and
            `spec_ref.expressions.projection.project`.
    """
    by_metrics = evaluate_metrics(predicate, column_metrics(data_file))
    return StatsOutcome(
        might_match=by_metrics.might_match and evaluate(inclusive_projection(predicate, spec), data_file.partition),
        might_fail=by_metrics.might_fail and not evaluate(strict_projection(predicate, spec), data_file.partition),
    )


def may_match(predicate: BoundPredicate, data_file: DataFile, spec: PartitionSpec) -> bool:
    """Decide whether rows of a file may match.

    For delete files the partition alone decides, because their metrics are those of the deletes.

    Args:
        predicate: a bound predicate.
        data_file: a data or delete file.
        spec: its partition spec.

    Returns:
        Whether they may.
    """
    if data_file.content is FileContent.DATA:
        return evaluate_file(predicate, data_file, spec).might_match
    if data_file.content is FileContent.EQUALITY_DELETES and spec.is_unpartitioned:
        return True
    return evaluate(inclusive_projection(predicate, spec), data_file.partition)
