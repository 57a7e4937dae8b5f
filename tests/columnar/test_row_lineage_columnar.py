"""The columns of row lineage have the values of `spec_ref.row_lineage.reading` for every row."""

from __future__ import annotations

import pyarrow as pa
from arrow_layouts import layouts
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.columnar.row_lineage.reading import last_updates, row_ids
from spec_ref.row_lineage.reading import last_updated, row_id

longs = st.integers(0, (1 << 62) - 1)
rows = st.lists(st.tuples(st.none() | longs, longs), max_size=9)


@given(rows, st.none() | longs, st.booleans(), st.data())
def test_row_ids_are_those_of_each_row(
    rows: list[tuple[int | None, int]], first: int | None, with_column: bool, data: st.DataObject
) -> None:
    positions = data.draw(layouts(pa.array([position for _, position in rows], pa.int64())))
    stored = data.draw(layouts(pa.array([value for value, _ in rows], pa.int64()))) if with_column else None
    expected = [row_id(value if with_column else None, first, position) for value, position in rows]
    assert row_ids(stored, first, positions).to_pylist() == expected


@given(rows, st.none() | longs, longs, st.booleans(), st.data())
def test_last_updates_are_those_of_each_row(
    rows: list[tuple[int | None, int]], first: int | None, sequence_number: int, with_column: bool, data: st.DataObject
) -> None:
    stored = data.draw(layouts(pa.array([value for value, _ in rows], pa.int64()))) if with_column else None
    expected = [last_updated(value if with_column else None, first, sequence_number) for value, _ in rows]
    assert last_updates(stored, first, sequence_number, len(rows)).to_pylist() == expected
