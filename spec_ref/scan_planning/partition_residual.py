"""The residual of a filter for a partition, where the values in a manifest can be trusted (Scan Planning).

A manifest may store partition values of another type than the one that the filter is projected to: the type of the
source column may have changed since, or the transform is unknown. Such values decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spec_ref.core.records import evolve
from spec_ref.data_types.types import DecimalType, Type, kind
from spec_ref.expressions.bound import BoundPredicate, BoundTermComparison, Row
from spec_ref.expressions.predicates import And, Constant, Not, Or
from spec_ref.expressions.projection import Projection, project_leaf
from spec_ref.expressions.residual_evaluator import residual
from spec_ref.partitioning.spec import PartitionSpec


def partition_residual(
    predicate: BoundPredicate,
    spec: PartitionSpec,
    stored_types: Mapping[int, Type],
    partition: Row,
    *,
    tolerate_truncated_times: bool = False,
) -> BoundPredicate:
    """Compute the part of a filter that is left for the files of one partition.

    Args:
        predicate: a predicate bound to the schema of the rows.
        spec: the spec that the manifest of the files was written with.
        stored_types: the types of the partition values in the manifest, by partition field id.
        partition: the partition tuple, values by partition field id.
        tolerate_truncated_times: see `spec_ref.expressions.projection.Projection`.

    Returns:
        A predicate that is equivalent to the filter for each row of the partition; false if no row matches.

    Raises:
        SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
    """
    inclusive = Projection(spec, False, tolerate_truncated_times)  # noqa: FBT003
    wanted: dict[int, Type] = {}
    for leaf in _leaves(predicate):
        for projection in (inclusive, evolve(inclusive, strict=True)):
            wanted |= partition_types(project_leaf(leaf, projection))
    if not wanted or not all(can_read_as(stored_types[field_id], type_) for field_id, type_ in wanted.items()):
        return predicate
    return residual(predicate, spec, partition, tolerate_truncated_times=tolerate_truncated_times)


def _leaves(predicate: Any) -> Iterator[Any]:
    match predicate:
        case Constant() | BoundTermComparison():
            pass
        case Not(child):
            yield from _leaves(child)
        case And(left, right) | Or(left, right):
            yield from _leaves(left)
            yield from _leaves(right)
        case _:
            yield predicate


def partition_types(projected: Any) -> dict[int, Type]:
    """Find the partition fields that a partition predicate refers to.

    Args:
        projected: a predicate over partition values.

    Returns:
        The type that the predicate assumes, by partition field id.
    """
    match projected:
        case Constant():
            return {}
        case And(left, right) | Or(left, right):
            return partition_types(left) | partition_types(right)
        case Not(child):
            return partition_types(child)
    term = projected.term
    while hasattr(term, "child"):
        term = term.child
    return {term.id: term.type}


_SAME_ENCODING = (
    frozenset({"int", "long", "date"}),
    frozenset({"int", "long", "time"}),
    frozenset({"long", "timestamp", "timestamptz"}),
    frozenset({"long", "timestamp_ns", "timestamptz_ns"}),
    frozenset({"float", "double"}),
)
"""Types whose values represent the same numbers; a day is stored as a date or as an int."""

INTEGER_KINDS = frozenset().union(*_SAME_ENCODING[:4])
"""The types that are stored as integers."""


def can_read_as(stored_type: Type, type_: Type) -> bool:
    """Decide whether stored values can be interpreted as another type, as those before a promotion can.

    Args:
        stored_type: the type of the stored values.
        type_: the type that is expected.

    Returns:
        Whether they can.
    """
    if isinstance(stored_type, DecimalType) and isinstance(type_, DecimalType):
        return stored_type.scale == type_.scale
    return stored_type == type_ or any({kind(stored_type), kind(type_)} <= alike for alike in _SAME_ENCODING)
