"""Evaluating the metrics of many files at once equals evaluating each file."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from expression_cases import POOLS, draw_metrics, predicates, rows, schemas
from hypothesis import event, given, settings
from hypothesis import strategies as st
from test_projection import leaves

from spec_ref.columnar.expressions.metrics_evaluation import matching_files, referenced_ids
from spec_ref.columnar.manifests.nullable_arrays import Bounds, Nullable
from spec_ref.core.errors import SpecError
from spec_ref.data_types.types import BINARY, DATE, INT, LONG, STRING, TIMESTAMP, UUID, FixedType, Type
from spec_ref.expressions.binding import bind
from spec_ref.expressions.bound import BoundComparison, BoundReference, BoundSetTest, BoundTest
from spec_ref.expressions.metrics_evaluation import Metrics, might_match
from spec_ref.expressions.predicates import Operation
from spec_ref.single_value.bounds import decode_bound, encode_bound


class Listed:
    """The metrics of some files in columns, with the bounds in several buffers."""

    def __init__(self, files: Sequence[Metrics]) -> None:
        self.files = files

    @property
    def record_count(self) -> Any:
        return np.array([file.record_count for file in self.files], np.int64)

    def _found(self, attribute: str, field_id: int, rows: Any) -> list[Any]:
        chosen = self.files if rows is None else [self.files[row] for row in rows]
        return [(getattr(file, attribute) or {}).get(field_id) for file in chosen]

    def counts(self, attribute: str, field_id: int, rows: Any = None) -> Nullable:
        found = self._found(attribute, field_id, rows)
        values = np.array([0 if one is None else one for one in found], np.int64)
        return Nullable(values, np.array([one is not None for one in found], np.bool_))

    def _bounds(self, attribute: str, field_id: int, rows: Any) -> Bounds:
        found = self._found(attribute, field_id, rows)
        data, part, offsets, lengths = [b"", b""], [], [], []
        for number, bound in enumerate(found):
            place = number % 2
            part.append(place)
            offsets.append(len(data[place]))
            lengths.append(len(bound or b""))
            data[place] += bound or b""
        arrays = (np.array(values, np.int64) for values in (part, offsets, lengths))
        return Bounds(tuple(data), *arrays, np.array([bound is not None for bound in found], np.bool_))

    def lower_bounds(self, field_id: int, rows: Any = None) -> Bounds:
        return self._bounds("lower_bounds", field_id, rows)

    def upper_bounds(self, field_id: int, rows: Any = None) -> Bounds:
        return self._bounds("upper_bounds", field_id, rows)


def found(predicate: Any, files: Sequence[Metrics], chosen: Sequence[int] | None = None) -> list[int]:
    looked_at = range(len(files)) if chosen is None else chosen
    matching: list[int] = matching_files(predicate, Listed(files), np.array(looked_at, np.intp)).tolist()
    return matching


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_many_files_are_judged_as_each_of_them(data: Any) -> None:
    schema = data.draw(schemas())
    predicate = bind(data.draw(predicates(schema)), schema)
    tables = data.draw(st.lists(st.lists(rows(schema), max_size=3), min_size=1, max_size=6))
    files = [data.draw(draw_metrics(schema, table)) for table in tables]
    expected = [place for place, metrics in enumerate(files) if might_match(predicate, metrics)]
    event(f"{len(expected)} of {len(files)} files")
    assert found(predicate, files) == expected
    some = list(range(0, len(files), 2))
    assert found(predicate, files, some) == [place for place in expected if place in some]


@pytest.mark.parametrize("type_", POOLS, ids=str)
def test_every_leaf_over_all_pairs_of_bounds(type_: Type) -> None:
    """Bounds in any order, with each count known or not: inverted ones and those of NaN among them."""
    bounds = [None, *(encode_bound(type_, value) for value in POOLS[type_] if value == value)]
    if str(type_) in ("float", "double"):
        bounds.append(bytes.fromhex("0000C07F" if str(type_) == "float" else "000000000000F87F"))
    files = []
    for number, lower in enumerate(bounds):
        for upper in bounds[number % 3 :: 3]:
            counts: dict[str, Any] = {
                name: {1: count}
                for name, count in zip(
                    ("value_counts", "null_value_counts", "nan_value_counts"),
                    [(2, 0, 0), (2, 2, 0), (2, 1, 1), (2, 0, 2), (0, 0, 0), (-1, -1, -1), (2, 1, None)][number % 7],
                    strict=True,
                )
                if count is not None
            }
            files.append(
                Metrics(
                    record_count=2,
                    lower_bounds=None if lower is None else {1: lower},
                    upper_bounds=None if upper is None else {1: upper},
                    **counts,
                )
            )
    for leaf in leaves(type_):
        assert found(leaf, files) == [place for place, file in enumerate(files) if might_match(leaf, file)], leaf


TEXTS = st.text("ab\0z", max_size=20) | st.text(max_size=9)
COMPARED = [Operation.LT, Operation.LT_EQ, Operation.GT, Operation.GT_EQ, Operation.EQ, Operation.NOT_EQ]


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from([STRING, BINARY]), st.sampled_from([*COMPARED, Operation.IN, Operation.NOT_IN]))
def test_texts_of_any_length_are_compared_as_each_of_them(data: Any, type_: Type, operation: Operation) -> None:
    texts = TEXTS if type_ == STRING else TEXTS.map(str.encode) | st.binary(max_size=20)
    files = []
    for lower, upper in data.draw(st.lists(st.tuples(st.none() | texts, st.none() | texts), min_size=1, max_size=8)):
        bounds = [None if bound is None else {1: encode_bound(type_, bound)} for bound in (lower, upper)]
        files.append(Metrics(record_count=1, lower_bounds=bounds[0], upper_bounds=bounds[1]))
    known = [
        decode_bound(type_, bound[1]) for file in files for bound in (file.lower_bounds, file.upper_bounds) if bound
    ]
    constants = st.sampled_from(known) | texts if known else texts
    leaf: Any
    if operation in (Operation.IN, Operation.NOT_IN):
        leaf = BoundSetTest(operation, _column(type_), (data.draw(constants), data.draw(constants)))
    else:
        leaf = BoundComparison(operation, _column(type_), data.draw(constants))
    assert found(leaf, files) == [place for place, file in enumerate(files) if might_match(leaf, file)]


def test_a_fixed_or_uuid_bound_of_another_length_is_refused() -> None:
    for type_, value in ((FixedType(2), b"ab"), (UUID, uuid.UUID(int=5))):
        leaf = BoundComparison(Operation.EQ, _column(type_), value)
        right = {1: encode_bound(type_, value)}
        assert found(leaf, [Metrics(record_count=1, lower_bounds=right, upper_bounds=right)]) == [0]
        with pytest.raises(SpecError):
            found(leaf, [Metrics(record_count=1, lower_bounds={1: b"abc"})])


def _column(type_: Type) -> BoundReference:
    return BoundReference((1,), ("x",), type_)


def test_bounds_of_before_a_promotion_are_promoted() -> None:
    day = 86_400_000_000
    for narrow, wide, value in ((INT, LONG, 5), (DATE, TIMESTAMP, 5 * day)):
        bound = {1: encode_bound(narrow, 5)}
        files = [Metrics(record_count=1, lower_bounds=bound, upper_bounds=bound)]
        for constant, matches in ((value, [0]), (value + 1, []), (5 * day + 5, [])):
            leaf = BoundComparison(Operation.EQ, _column(wide), constant)
            assert found(leaf, files) == matches == [0] * might_match(leaf, files[0])


def test_a_bound_of_another_type_is_refused() -> None:
    files = [Metrics(record_count=1), Metrics(record_count=1, lower_bounds={1: b"abc"})]
    leaf = BoundComparison(Operation.EQ, _column(LONG), 5)
    assert found(leaf, files, [0]) == [0]
    with pytest.raises(SpecError) as caught:
        found(leaf, files)
    assert caught.value.violation.path == "/lower_bounds/1"


def test_a_file_without_rows_never_matches() -> None:
    files = [Metrics(record_count=0), Metrics(record_count=-1), Metrics(record_count=1)]
    assert found(BoundTest(Operation.IS_NULL, _column(STRING)), files) == [1, 2]


def test_the_fields_of_a_predicate_are_found_everywhere() -> None:
    leaf = BoundTest(Operation.IS_NULL, BoundReference((7, 9), ("a", "b"), INT))
    assert referenced_ids(leaf) == {9}
