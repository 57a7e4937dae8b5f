"""Apply a filter to the partitions of one spec (Scan Planning).

`spec_ref.scan_planning.partition_residual` is the definition. Here each leaf is projected once for all partitions of a
spec, and each partition is evaluated once, however many files it has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve, record
from spec_ref.data_types.types import Type, kind
from spec_ref.expressions.bound import BoundPredicate, BoundTermComparison, evaluate
from spec_ref.expressions.predicates import FALSE, TRUE, And, Constant, Not, Or, and_, not_, or_
from spec_ref.expressions.projection import Projection, project_leaf
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.scan_planning.partition_residual import INTEGER_KINDS, can_read_as, partition_types

Rows = npt.NDArray[np.intp]


@record
class _Leaf:
    """A leaf with its projections to partition predicates."""

    leaf: Any
    inclusive: BoundPredicate
    strict: BoundPredicate


@record
class PartitionSelection:
    """The files of the partitions that have the same residual filter."""

    residual: BoundPredicate
    rows: Rows


class PartitionFilter:
    """A row filter over the partitions of one spec."""

    def __init__(
        self, predicate: BoundPredicate, spec: PartitionSpec, *, tolerate_truncated_times: bool = False
    ) -> None:
        """Project the filter.

        Args:
            predicate: a predicate bound to the schema of the rows.
            spec: the spec that manifests were written with.
            tolerate_truncated_times: see `spec_ref.expressions.projection.Projection`.

        Raises:
            SpecError: the code of a transform (TRN002 to TRN015) that does not accept the type of its source.
        """
        self._predicate = predicate
        self._types: dict[int, Type] = {}
        inclusive = Projection(spec, False, tolerate_truncated_times)  # noqa: FBT003
        self._tree = self._prepare(predicate, inclusive, evolve(inclusive, strict=True))
        self._residuals: dict[tuple[Any, ...], BoundPredicate] = {}

    def _prepare(self, predicate: Any, inclusive: Projection, strict: Projection) -> Any:
        match predicate:
            case Constant() | BoundTermComparison():
                return predicate
            case Not(child):
                return Not(self._prepare(child, inclusive, strict))
            case And(left, right) | Or(left, right):
                join = And if isinstance(predicate, And) else Or
                return join(self._prepare(left, inclusive, strict), self._prepare(right, inclusive, strict))
            case _:
                made = _Leaf(predicate, project_leaf(predicate, inclusive), project_leaf(predicate, strict))
                for projected in (made.inclusive, made.strict):
                    self._types.update(partition_types(projected))
                return made

    def selections(self, columns: ManifestColumns, rows: Rows) -> list[PartitionSelection]:
        """Select the files that their partitions do not rule out, grouped by residual filter.

        Args:
            columns: the entries of manifests of the spec.
            rows: the numbers of the entries to consider, ascending.

        Returns:
            The files of each residual.

        Raises:
            SpecError: DFL004 if the partition tuples lack a field of the spec.
        """
        ids = [
            field_id for field_id, type_ in self._types.items() if can_read_as(columns.partition_type(field_id), type_)
        ]
        if len(ids) < len(self._types) or not ids:  # some values cannot be read as the needed type, or none are needed
            return [PartitionSelection(self._predicate, rows)] if len(rows) and self._predicate != FALSE else []
        codes, tuples = _distinct_values(columns, ids, rows)
        places: dict[BoundPredicate, int] = {}
        group = np.full(len(tuples), -1, np.intp)
        for number, values in enumerate(tuples):
            left = self.residual(dict(zip(ids, values, strict=True)))
            if left != FALSE:
                group[number] = places.setdefault(left, len(places))
        groups = group[codes]
        return [PartitionSelection(left, rows[groups == place]) for left, place in places.items()]

    def residual(self, partition: dict[int, Any]) -> BoundPredicate:
        """Compute the residual of the filter for one partition.

        Args:
            partition: the partition tuple, values by partition field id.

        Returns:
            The residual.
        """
        key = tuple(partition.get(field_id) for field_id in self._types)
        if key not in self._residuals:
            self._residuals[key] = _residual(self._tree, partition)
        return self._residuals[key]


def _residual(node: Any, partition: dict[int, Any]) -> Any:
    match node:
        case Not(child):
            return not_(_residual(child, partition))
        case And(left, right):
            return and_(_residual(left, partition), _residual(right, partition))
        case Or(left, right):
            return or_(_residual(left, partition), _residual(right, partition))
        case _Leaf(leaf, inclusive, strict):
            try:
                if not evaluate(inclusive, partition):
                    return FALSE
                return TRUE if evaluate(strict, partition) else leaf
            except SpecError:  # a transform has no result for the partition value (contradiction C6)
                return leaf
        case _:
            return node


def _distinct_values(columns: ManifestColumns, ids: list[int], rows: Rows) -> tuple[Rows, list[tuple[Any, ...]]]:
    """Find the distinct partition values of some files, and which of them each file has."""
    if len(ids) == 1 and kind(columns.partition_type(ids[0])) in INTEGER_KINDS:
        numbers = columns.partition_numbers(ids[0])
        valid = numbers.valid[rows]
        distinct, codes = np.unique(numbers.values[rows], return_inverse=True)
        tuples: list[tuple[Any, ...]] = [(value,) for value in distinct.tolist()]
        if not valid.all():
            codes = np.where(valid, codes, len(tuples))
            tuples.append((None,))
        return codes.astype(np.intp, copy=False), tuples
    places: dict[tuple[Any, ...], int] = {}
    values = zip(*(columns.partition(field_id, rows) for field_id in ids), strict=True)
    codes = np.fromiter((places.setdefault(one, len(places)) for one in values), np.intp, len(rows))
    return codes, list(places)
