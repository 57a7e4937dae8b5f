"""Row predicates projected to partition predicates (Scan Planning).

The *inclusive* projection matches the partition of every row that matches the predicate (SCN003). The *strict*
projection matches a partition only if all its rows match. Neither has to be as precise as possible: constant true and
constant false are always sound, and are the projections through unknown transforms, void, and transforms of several
columns (SCN004).
"""

from __future__ import annotations

from typing import Any

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve, record
from spec_ref.data_types.types import DATE, Type
from spec_ref.expressions.bound import (
    BoundPredicate,
    BoundReference,
    BoundTermComparison,
    BoundTest,
    BoundTransform,
    Leaf,
)
from spec_ref.expressions.predicates import FALSE, TRUE, And, Constant, Not, Or, and_, or_
from spec_ref.expressions.rewrite_not import rewrite_not
from spec_ref.expressions.transform_projection import project_comparison
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Day, Hour, Identity, Month, Transform, UnknownTransform, Void, Year


@record
class Projection:
    """The options of a projection."""

    spec: PartitionSpec
    """The spec that the manifest or file was written with, even if the table's default spec is a different one."""

    strict: bool = False

    tolerate_truncated_times: bool = False
    """Whether partition values may come from writers that rounded years, months, days and hours toward 1970 instead of
    down, so that values before 1970 may be one too high (contradiction C5)."""


def inclusive_projection(
    predicate: BoundPredicate, spec: PartitionSpec, *, tolerate_truncated_times: bool = False
) -> BoundPredicate:
    """Project a row predicate to a predicate that matches the partition of every matching row (SCN003).

    Args:
        predicate: a predicate bound to the schema of the rows.
        spec: the partition spec that the manifest or file was written with.
        tolerate_truncated_times: see `Projection`.

    Returns:
        A predicate over partition tuples, whose references are ids of partition fields.

    Raises:
        SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
    """
    return project(predicate, Projection(spec, False, tolerate_truncated_times))  # noqa: FBT003


def strict_projection(
    predicate: BoundPredicate, spec: PartitionSpec, *, tolerate_truncated_times: bool = False
) -> BoundPredicate:
    """Project a row predicate to a predicate that matches a partition only if all its rows match.

    Args:
        predicate: a predicate bound to the schema of the rows.
        spec: the partition spec that the manifest or file was written with.
        tolerate_truncated_times: see `Projection`.

    Returns:
        A predicate over partition tuples, whose references are ids of partition fields.

    Raises:
        SpecError: as `inclusive_projection`.
    """
    return project(predicate, Projection(spec, True, tolerate_truncated_times))  # noqa: FBT003


def project(predicate: BoundPredicate, projection: Projection) -> BoundPredicate:
    """Project a row predicate to a partition predicate.

    Args:
        predicate: a predicate bound to the schema of the rows.
        projection: the spec and the kind of projection.

    Returns:
        A predicate over partition tuples, whose references are ids of partition fields.

    Raises:
        SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
    """
    return _project(rewrite_not(predicate), projection)  # type: ignore[no-any-return]


def _project(predicate: BoundPredicate, projection: Projection) -> Any:
    match predicate:
        case Constant():
            return predicate
        case And(left, right):
            return and_(_project(left, projection), _project(right, projection))
        case Or(left, right):
            return or_(_project(left, projection), _project(right, projection))
        case Not() | BoundTermComparison():
            return FALSE if projection.strict else TRUE
        case _:
            return project_leaf(predicate, projection)


def project_leaf(leaf: Leaf, projection: Projection) -> BoundPredicate:
    """Project one leaf through every field of the spec: all fields (inclusive) or any field (strict) have to match.

    Args:
        leaf: a test, comparison or set test of one term.
        projection: the spec and the kind of projection.

    Returns:
        The partition predicate; constant true (inclusive) or false (strict) if no field decides anything.

    Raises:
        SpecError: as `project`.
    """
    join, result = (or_, FALSE) if projection.strict else (and_, TRUE)
    for field in projection.spec.fields:
        projected = _project_through_field(leaf, field, projection)
        if projected is not None:
            result = join(result, projected)
    return result


def _project_through_field(leaf: Leaf, field: PartitionField, projection: Projection) -> BoundPredicate | None:
    """Project a leaf through one partition field; None if the field decides nothing about it."""
    transform = field.transform
    source = _find_source(leaf.term)
    if isinstance(transform, (Void, UnknownTransform)) or source is None or field.sources != (source.id,):
        return None
    target = BoundReference((field.field_id,), (field.name,), transform.result_type(source.type))
    if isinstance(transform, Identity):
        return evolve(leaf, term=_substitute(leaf.term, target))
    tolerate = projection.tolerate_truncated_times and _was_truncated(transform, source.type)
    if isinstance(leaf.term, BoundTransform):
        same = leaf.term.transform == transform and leaf.term.child == source
        return evolve(leaf, term=target) if same and not tolerate else None
    if isinstance(leaf, BoundTest):
        return evolve(leaf, term=target)  # a transform returns null for null alone
    try:
        return project_comparison(leaf, transform, target, strict=projection.strict, tolerate=tolerate)
    except SpecError:  # the transform has no result for the constant or its neighbour (contradiction C6)
        return None


def _was_truncated(transform: Transform, source: Type) -> bool:
    """Decide whether old writers may have rounded partition values toward 1970; the day of a date is not rounded."""
    return isinstance(transform, (Year, Month, Day, Hour)) and not (isinstance(transform, Day) and source == DATE)


def _find_source(term: Any) -> BoundReference | None:
    """Find the field at the beginning of a chain of transforms."""
    while isinstance(term, BoundTransform):
        term = term.child
    return term if isinstance(term, BoundReference) else None


def _substitute(term: Any, target: BoundReference) -> Any:
    return evolve(term, child=_substitute(term.child, target)) if isinstance(term, BoundTransform) else target
