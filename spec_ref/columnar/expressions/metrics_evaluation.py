"""Evaluate a predicate inclusively on the metrics of many files at once (Scan Planning).

`spec_ref.expressions.metrics_evaluation.might_match` is the definition. Here the counts and bounds of a column are
arrays with an item per file, and the result is the files for which the definition returns true. Numbers and short texts
are compared as arrays. For other types, and for terms that are not plain columns, the definition itself is called file
by file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from spec_ref.columnar.expressions.short_bytes_array import WIDTH, ShortBytesArray, short_bytes, short_bytes_array
from spec_ref.columnar.manifests.nullable_arrays import Bounds, Mask, Nullable
from spec_ref.data_types.types import FixedType, Type, kind
from spec_ref.expressions.bound import (
    BoundChoice,
    BoundComparison,
    BoundConstant,
    BoundPredicate,
    BoundPromotion,
    BoundReference,
    BoundSetTest,
    BoundTerm,
    BoundTermComparison,
    BoundTest,
    BoundTransform,
    Leaf,
    evaluate_leaf,
    has_nan,
)
from spec_ref.expressions.metrics_evaluation import NO_BOUNDS, Metrics, might_match
from spec_ref.expressions.predicates import PREFIX, And, Constant, Not, Operation, Or
from spec_ref.expressions.rewrite_not import rewrite_not
from spec_ref.single_value.bounds import decode_bound

Rows = npt.NDArray[np.intp]


class FileStatistics(Protocol):
    """The counts and bounds of many files, as in `spec_ref.columnar.manifests.entry_columns.ManifestColumns`."""

    @property
    def record_count(self) -> npt.NDArray[np.int64]:
        """The number of rows of each file."""

    def counts(self, attribute: str, field_id: int, rows: Rows | None = None) -> Nullable:
        """Read one column's counts.

        Args:
            attribute: the name of the map of counts.
            field_id: the id of the column.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The counts, one per file.
        """

    def lower_bounds(self, field_id: int, rows: Rows | None = None) -> Bounds:
        """Read one column's lower bounds.

        Args:
            field_id: the id of the column.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The bounds, one per file.
        """

    def upper_bounds(self, field_id: int, rows: Rows | None = None) -> Bounds:
        """Read one column's upper bounds.

        Args:
            field_id: the id of the column.
            rows: the numbers of the files, ascending; None for all.

        Returns:
            The bounds, one per file.
        """


def matching_files(predicate: BoundPredicate, files: FileStatistics, rows: Rows) -> Rows:
    """Find the files that may have matching rows.

    Args:
        predicate: a predicate bound to the schema of the rows.
        files: the counts and bounds.
        rows: the numbers of the files to consider, ascending.

    Returns:
        The ``rows`` for whose metrics `spec_ref.expressions.metrics_evaluation.might_match` is true.

    Raises:
        SpecError: SVB001 to SVB008 or EVO006 if a bound of a field in the predicate is not a value of its type.
    """
    rows = rows[files.record_count[rows] != 0]
    return _select_matching(rewrite_not(predicate), files, rows)


def _select_matching(predicate: BoundPredicate, files: FileStatistics, rows: Rows) -> Rows:
    if not len(rows):
        return rows
    match predicate:
        case Constant(value):
            return rows if value else rows[:0]
        case And(left, right):
            return _select_matching(right, files, _select_matching(left, files, rows))
        case Or(left, right):
            first = _select_matching(left, files, rows)
            others = np.setdiff1d(rows, first, assume_unique=True)
            return np.union1d(first, _select_matching(right, files, others)).astype(np.intp, copy=False)
        case BoundTest() | BoundComparison() | BoundSetTest():
            return rows[_leaf_mask(predicate, files, rows)]
        case _:
            return rows[_evaluate_each_file(predicate, files, rows)]


def check_bounds(types: Mapping[int, Type], files: FileStatistics, rows: Rows) -> None:
    """Refuse bounds that are not values of their types, whether or not a predicate has to compare them.

    Args:
        types: the types of some columns by id.
        files: the counts and bounds.
        rows: the numbers of the files to check, ascending.

    Raises:
        SpecError: SVB001 to SVB008 or EVO006, as `spec_ref.single_value.bounds.decode_bound`.
    """
    for field_id, type_ in types.items():
        for bounds in (files.lower_bounds(field_id, rows), files.upper_bounds(field_id, rows)):
            doubtful = bounds.valid & ~_are_values(type_, bounds)
            for data in set(bounds.take(np.nonzero(doubtful)[0]).to_bytes()):
                assert data is not None
                decode_bound(type_, data)


def _are_values(type_: Type, bounds: Bounds) -> Mask:
    """Find bounds that are values of a type, by their lengths or because they are ASCII; others have to be decoded."""
    name = kind(type_)
    if name in NO_BOUNDS:
        return np.ones(len(bounds.valid), np.bool_)
    if name in _LENGTHS and name != "time":  # not every 64-bit integer is a time
        return np.isin(bounds.lengths, list(_LENGTHS[name]))
    if name in _BYTES:
        return _find_short_bounds(bounds, short_bytes_array(bounds), type_)
    return np.zeros(len(bounds.valid), np.bool_)


# A leaf


def _leaf_mask(leaf: Leaf, files: FileStatistics, rows: Rows) -> Mask:
    """Decide whether each file may have a row for which the leaf is true."""
    term = leaf.term
    if not isinstance(term, BoundReference) or kind(term.type) in _NO_COUNTS:
        return _evaluate_each_file(leaf, files, rows)
    bounded = _bounds_mask(leaf, term, files, rows)
    if bounded is None:
        return _evaluate_each_file(leaf, files, rows)
    if isinstance(bounded, _PartialMask):
        matching = np.zeros(len(rows), np.bool_)
        fast, slow = np.nonzero(bounded.known)[0], np.nonzero(~bounded.known)[0]
        matching[fast] = _combine_with_counts(leaf, term, bounded.mask[fast], files, rows[fast])
        matching[slow] = _evaluate_each_file(leaf, files, rows[slow])
        return matching
    return _combine_with_counts(leaf, term, bounded, files, rows)


def _combine_with_counts(leaf: Leaf, term: BoundReference, bounded: Mask, files: FileStatistics, rows: Rows) -> Mask:
    """Evaluate a leaf by the bounds and the counts of its column."""
    null, nan = evaluate_leaf(leaf, None), has_nan(term.type) and evaluate_leaf(leaf, float("nan"))
    if null or nan:
        return _counts_mask(bounded, term, files, rows, null=null, nan=nan)
    # If neither null nor NaN matches, counts are only needed for the files that the bounds do not rule out.
    through = np.nonzero(bounded)[0]
    matching = np.zeros(len(rows), np.bool_)
    matching[through] = _counts_mask(bounded[through], term, files, rows[through], null=null, nan=nan)
    return matching


def _counts_mask(
    bounded: Mask, term: BoundReference, files: FileStatistics, rows: Rows, *, null: bool, nan: bool
) -> Mask:
    """Derive from the counts whether nulls and NaNs match, and whether there is any other value."""
    everything = np.ones(len(rows), np.bool_)
    if not len(rows):
        return everything
    values = _drop_negative_counts(files.counts("value_counts", term.id, rows))
    nulls = _drop_negative_counts(files.counts("null_value_counts", term.id, rows))
    counted = values.valid & (values.values > 0)
    all_null = counted & nulls.valid & (nulls.values >= values.values)
    if has_nan(term.type):
        nans = _drop_negative_counts(files.counts("nan_value_counts", term.id, rows))
        all_nan = counted & nans.valid & (nans.values >= values.values)
        some_nan = ~(nans.valid & (nans.values == 0)) & ~all_null
        filled = counted & nulls.valid & nans.valid & (nulls.values + nans.values >= values.values)
    else:
        all_nan = some_nan = ~everything
        filled = all_null
    some_null = ~(nulls.valid & (nulls.values == 0)) & ~all_nan
    matching: Mask = ~(all_null | all_nan | filled) & bounded
    if null:
        matching |= some_null
    if nan:
        matching |= some_nan
    return matching


def _drop_negative_counts(counts: Nullable) -> Nullable:
    """Replace negative counts, which mean unknown."""
    return Nullable(counts.values, counts.valid & (counts.values >= 0))


# Bounds as arrays

_LENGTHS: dict[str, dict[int, str]] = {
    "int": {4: "<i4"},
    "long": {4: "<i4", 8: "<i8"},
    "date": {4: "<i4"},
    "time": {8: "<i8"},
    "timestamp": {8: "<i8"},
    "timestamptz": {8: "<i8"},
    "timestamp_ns": {8: "<i8"},
    "timestamptz_ns": {8: "<i8"},
    "float": {4: "<f4"},
    "double": {4: "<f4", 8: "<f8"},
}
"""The numpy types in which bounds are compared as numbers, by type and length in bytes. The definition promotes or
refuses a bound of another length."""

_NO_COUNTS = frozenset({"struct", "list", "map", "variant"})
"""The types whose null counts do not include the nulls of the column."""


@attrs.frozen(eq=False)
class _PartialMask:
    """A result for some of the files."""

    mask: Mask
    known: Mask


def _bounds_mask(leaf: Leaf, term: BoundReference, files: FileStatistics, rows: Rows) -> Mask | _PartialMask | None:
    """Decide whether a value except null and NaN may match; None if the bounds cannot be compared as arrays."""
    if isinstance(leaf, BoundTest):
        return np.full(len(rows), leaf.operation in (Operation.NOT_NULL, Operation.NOT_NAN))
    if kind(term.type) in _LENGTHS:
        lower = _numeric_bounds(files.lower_bounds(term.id, rows), term.type)
        upper = _numeric_bounds(files.upper_bounds(term.id, rows), term.type)
        return (
            None
            if lower is None or upper is None
            else _compare_with_bounds(leaf, term, lower, upper, lambda value: value)
        )
    if kind(term.type) in _BYTES and leaf.operation not in PREFIX:
        low, high = files.lower_bounds(term.id, rows), files.upper_bounds(term.id, rows)
        texts = short_bytes_array(low), short_bytes_array(high)
        known = _find_short_bounds(low, texts[0], term.type) & _find_short_bounds(high, texts[1], term.type)
        bytes_of = _BYTES[kind(term.type)]
        pair = Nullable(texts[0], low.valid), Nullable(texts[1], high.valid)  # type: ignore[arg-type]
        return _PartialMask(_compare_with_bounds(leaf, term, *pair, lambda value: short_bytes(bytes_of(value))), known)
    return None


_BYTES: dict[str, Callable[[Any], bytes]] = {
    "string": lambda value: value.encode(),
    "binary": lambda value: value,
    "fixed": lambda value: value,
    "uuid": lambda value: value.bytes,
}
"""The types whose values have the order of their bytes, with the function that returns the bytes of a value."""


def _find_short_bounds(bounds: Bounds, texts: ShortBytesArray, type_: Type) -> Mask:
    """Find the short bounds that are known to be values of the type: any bytes for binary, ASCII for strings."""
    fits = bounds.lengths <= WIDTH
    if isinstance(type_, FixedType) or kind(type_) == "uuid":
        fits = fits & (bounds.lengths == (type_.length if isinstance(type_, FixedType) else 16))
    if kind(type_) == "string":
        fits = fits & texts.ascii
    mask: Mask = ~bounds.valid | fits
    return mask


def _compare_with_bounds(
    leaf: Any, term: BoundReference, lower: Nullable, upper: Nullable, convert: Callable[[Any], Any]
) -> Mask:
    """Compare a leaf with bounds as arrays; ``convert`` makes a constant comparable with them."""
    if has_nan(term.type):  # if one bound is NaN, neither is used
        spoiled = (lower.valid & np.isnan(lower.values)) | (upper.valid & np.isnan(upper.values))
        lower, upper = _drop_bounds(lower, spoiled), _drop_bounds(upper, spoiled)
    inverted = lower.valid & upper.valid & (lower.values > upper.values)
    lower, upper = _drop_bounds(lower, inverted), _drop_bounds(upper, inverted)
    if isinstance(leaf, BoundSetTest):
        return _IN[leaf.operation](lower, upper, tuple(map(convert, leaf.values)))
    return _COMPARISONS[leaf.operation](lower, upper, convert(leaf.value))


def _drop_bounds(bounds: Nullable, wrong: Mask) -> Nullable:
    return Nullable(bounds.values, bounds.valid & ~wrong) if wrong.any() else bounds


def _numeric_bounds(bounds: Bounds, type_: Type) -> Nullable | None:
    """Read bounds as numbers; None if a bound has a length that `_LENGTHS` does not list for the type."""
    stored = _LENGTHS[kind(type_)]
    dtype = np.float64 if has_nan(type_) else np.int64
    values = np.zeros(len(bounds.valid), dtype)
    left = bounds.valid
    for size, form in stored.items():
        rows = np.nonzero(bounds.valid & (bounds.lengths == size))[0]
        if len(rows):
            values[rows] = bounds.fixed(rows, size, form)
            left = left & (bounds.lengths != size)
    return None if left.any() else Nullable(values, bounds.valid)


def _at_least(bound: Nullable, value: Any) -> Mask:
    """Find where an upper bound is at least a value, or unknown."""
    mask: Mask = ~bound.valid | (bound.values >= value)
    return mask


def _at_most(bound: Nullable, value: Any) -> Mask:
    """Find where a lower bound is at most a value, or unknown."""
    mask: Mask = ~bound.valid | (bound.values <= value)
    return mask


def _among(lower: Nullable, upper: Nullable, values: tuple[Any, ...]) -> Mask:
    inside = np.zeros(len(lower.valid), np.bool_)
    for value in values:
        inside |= _at_most(lower, value) & _at_least(upper, value)
    return inside


def _not_among(lower: Nullable, upper: Nullable, values: tuple[Any, ...]) -> Mask:
    """Decide whether a file may have a value other than some constants; it cannot if both bounds equal one of them."""
    one = lower.valid & upper.valid & (lower.values == upper.values)
    equal = np.zeros(len(one), np.bool_)
    for value in values:
        equal |= lower.values == value
    mask: Mask = ~(one & equal)
    return mask


_O = Operation

_IN: dict[Operation, Callable[[Nullable, Nullable, tuple[Any, ...]], Mask]] = {_O.IN: _among, _O.NOT_IN: _not_among}

_COMPARISONS: dict[Operation, Callable[[Nullable, Nullable, Any], Mask]] = {
    _O.LT: lambda lower, _, value: np.asarray(~lower.valid | (lower.values < value)),
    _O.LT_EQ: lambda lower, _, value: _at_most(lower, value),
    _O.GT: lambda _, upper, value: np.asarray(~upper.valid | (upper.values > value)),
    _O.GT_EQ: lambda _, upper, value: _at_least(upper, value),
    _O.EQ: lambda lower, upper, value: _among(lower, upper, (value,)),
    _O.NOT_EQ: lambda lower, upper, value: _not_among(lower, upper, (value,)),
}


# File by file


def _evaluate_each_file(predicate: BoundPredicate, files: FileStatistics, rows: Rows) -> Mask:
    """Apply the definition to the metrics of each file; files with the same metrics are evaluated once."""
    ids = sorted(referenced_ids(predicate))
    parts: list[list[Any]] = []
    for field_id in ids:
        for attribute in ("value_counts", "null_value_counts", "nan_value_counts"):
            parts.append(files.counts(attribute, field_id, rows).to_list())  # noqa: PERF401
        parts.append(files.lower_bounds(field_id, rows).to_bytes())
        parts.append(files.upper_bounds(field_id, rows).to_bytes())
    known: dict[tuple[Any, ...], bool] = {}
    made = np.ones(len(rows), np.bool_)
    for place, found in enumerate(zip(*parts, strict=True)):
        if found not in known:
            known[found] = might_match(predicate, _build_metrics(ids, found))
        made[place] = known[found]
    return made if parts else np.full(len(rows), might_match(predicate, Metrics(record_count=1)))


def _build_metrics(ids: list[int], found: tuple[Any, ...]) -> Metrics:
    maps: list[dict[int, Any]] = [
        {field_id: found[5 * place + part] for place, field_id in enumerate(ids) if found[5 * place + part] is not None}
        for part in range(5)
    ]
    return Metrics(
        record_count=1,
        value_counts=maps[0],
        null_value_counts=maps[1],
        nan_value_counts=maps[2],
        lower_bounds=maps[3],
        upper_bounds=maps[4],
    )


def referenced_ids(predicate: BoundPredicate | BoundTerm) -> frozenset[int]:
    """Collect the ids of the fields that a predicate refers to.

    Args:
        predicate: a bound predicate or term.

    Returns:
        The ids.
    """
    match predicate:
        case BoundReference():
            return frozenset((predicate.id,))
        case Constant() | BoundConstant():
            return frozenset()
        case Not(child) | BoundTransform(_, child) | BoundPromotion(child):
            return referenced_ids(child)
        case And(left, right) | Or(left, right) | BoundTermComparison(_, left, right):
            return referenced_ids(left) | referenced_ids(right)
        case BoundChoice(condition, when_true, when_false):
            return referenced_ids(condition) | referenced_ids(when_true) | referenced_ids(when_false)
        case _:
            return referenced_ids(predicate.term)
