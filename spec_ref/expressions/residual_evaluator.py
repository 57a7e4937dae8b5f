"""The residual of a predicate: the part that a partition does not decide for its rows (Scan Planning, note 1).

A leaf that is true for all rows of the partition, or false for all, is decided; the others are evaluated on the rows.
For every row of the partition, the residual and the predicate have the same result.
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.expressions.bound import BoundPredicate, BoundTermComparison, Row, evaluate
from spec_ref.expressions.predicates import FALSE, TRUE, And, Constant, Not, Or, and_, not_, or_
from spec_ref.expressions.projection import Projection, project_leaf
from spec_ref.partitioning.spec import PartitionSpec


def residual(
    predicate: BoundPredicate, spec: PartitionSpec, partition: Row, *, tolerate_truncated_times: bool = False
) -> BoundPredicate:
    """Compute the part of a predicate that a partition does not decide.

    Args:
        predicate: a predicate bound to the schema of the rows.
        spec: the spec of the partition.
        partition: the partition tuple, values by partition field id.
        tolerate_truncated_times: whether partition values of times before 1970 may be one too high, see
            `spec_ref.expressions.projection.Projection`.

    Returns:
        A predicate that is equivalent to ``predicate`` for every row of the partition.

    Raises:
        SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
    """
    inclusive = Projection(spec, False, tolerate_truncated_times)  # noqa: FBT003
    return _residual(predicate, inclusive, partition)  # type: ignore[no-any-return]


def _residual(predicate: BoundPredicate, inclusive: Projection, partition: Row) -> Any:
    match predicate:
        case Constant() | BoundTermComparison():
            return predicate
        case Not(child):
            return not_(_residual(child, inclusive, partition))
        case And(left, right):
            return and_(_residual(left, inclusive, partition), _residual(right, inclusive, partition))
        case Or(left, right):
            return or_(_residual(left, inclusive, partition), _residual(right, inclusive, partition))
        case _:
            strict = evolve(inclusive, strict=True)
            try:
                if not evaluate(project_leaf(predicate, inclusive), partition):
                    return FALSE
                return TRUE if evaluate(project_leaf(predicate, strict), partition) else predicate
            except SpecError:  # a transform has no result for the partition value (contradiction C6)
                return predicate
