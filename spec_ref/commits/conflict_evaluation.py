"""Which files may have rows that match a predicate (Scan Planning).

What cannot be told counts as a match, so that a conflict may be found where there is none, and never the other way.
"""

from __future__ import annotations

from typing import Any

import attrs

from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundPredicate, evaluate
from spec_ref.expressions.metrics_evaluation import Metrics, metrics_outcome
from spec_ref.expressions.projection import inclusive_projection, strict_projection
from spec_ref.expressions.stats_evaluation import Outcome
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.table_metadata.metadata import TableMetadata

_METRICS = tuple(attribute.name for attribute in attrs.fields(Metrics))  # type: ignore[arg-type]


def bound_filter(predicate: Any, metadata: TableMetadata) -> BoundPredicate:
    """The predicate over the table's current schema.

    Raises:
        SpecError: it does not fit the schema.
    """
    return bind(predicate, metadata.current_schema)


def rows_outcome(predicate: BoundPredicate, data_file: DataFile, spec: PartitionSpec) -> Outcome:
    """What the partition and the metrics of a file tell of its rows."""
    metrics = Metrics(**{name: getattr(data_file, name) for name in _METRICS})
    by_metrics = metrics_outcome(predicate, metrics)
    return Outcome(
        might_match=by_metrics.might_match and evaluate(inclusive_projection(predicate, spec), data_file.partition),
        might_fail=by_metrics.might_fail and not evaluate(strict_projection(predicate, spec), data_file.partition),
    )


def may_match(predicate: BoundPredicate, data_file: DataFile, spec: PartitionSpec) -> bool:
    """Whether rows of a file may match; of delete files only the partition counts, as their metrics are not of rows."""
    if data_file.content is FileContent.DATA:
        return rows_outcome(predicate, data_file, spec).might_match
    if data_file.content is FileContent.EQUALITY_DELETES and spec.unpartitioned:
        return True
    return evaluate(inclusive_projection(predicate, spec), data_file.partition)
