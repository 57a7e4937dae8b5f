"""Columns that are read as dictionary arrays have the same rows as plain ones."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.columnar.schemas.column_projection import compile_projection
from spec_ref.core.errors import SpecError
from spec_ref.data_files.parquet_arrow_types import arrow_schema
from spec_ref.data_files.reader import open_rows
from spec_ref.data_types.types import BINARY, LONG, STRING, NestedField, StructType
from spec_ref.manifests.data_file import FileFormat

FIELDS = (
    NestedField(1, "id", required=False, type=LONG),
    NestedField(2, "s", required=False, type=STRING),
    NestedField(3, "b", required=False, type=BINARY),
)
SCHEMA = arrow_schema(StructType(FIELDS))

texts = st.lists(st.none() | st.sampled_from(["", "a", "é", "long " * 9]), max_size=40)


def stored(strings: list[str | None], **options: Any) -> bytes:
    """A file with these texts, and their bytes."""
    as_bytes = [None if text is None else text.encode() for text in strings]
    out = io.BytesIO()
    pq.write_table(pa.table([range(len(strings)), strings, as_bytes], schema=SCHEMA), out, **options)
    return out.getvalue()


def batches(data: bytes, rows: int, *, dictionaries: bool) -> list[pa.RecordBatch]:
    opened = open_rows(pa.BufferReader(data), FileFormat.PARQUET, use_dictionaries=dictionaries)
    return list(opened.batches(["id", "s", "b"], rows))


def read(data: bytes, rows: int, *, dictionaries: bool, without: int | None = None) -> pa.Table:
    """The rows, but those whose id can be divided by a number."""
    opened = open_rows(pa.BufferReader(data), FileFormat.PARQUET, use_dictionaries=dictionaries)
    project = compile_projection(FIELDS, opened.columns, {})
    made = []
    for batch in opened.batches(project.columns, rows):
        ids = batch.column("id").to_pylist()
        made.append(project(batch.filter(pa.array([without is None or number % without != 0 for number in ids]))))
    return pa.Table.from_batches(made, project.schema)


@given(strings=texts, group=st.integers(1, 20), rows=st.integers(1, 50), without=st.none() | st.integers(1, 4))
def test_rows_are_the_same(strings: list[str | None], group: int, rows: int, without: int | None) -> None:
    data = stored(strings, row_group_size=group)
    coded = read(data, rows, dictionaries=True, without=without)
    coded.validate(full=True)
    assert coded == read(data, rows, dictionaries=False, without=without)


def kinds(data: bytes, *, dictionaries: bool) -> set[bool]:
    return {
        pa.types.is_dictionary(batch.column(name).type)
        for batch in batches(data, 1000, dictionaries=dictionaries)
        for name in ("s", "b")
    }


def test_columns_of_dictionaries_come_as_such_where_asked() -> None:
    data = stored(["a", None, "b"] * 100, row_group_size=50)
    assert kinds(data, dictionaries=True) == {True}
    assert kinds(data, dictionaries=False) == {False}


@pytest.mark.parametrize("strings", [["a", "b"] * 100, [f"text number {number}" for number in range(300_000)]])
def test_columns_with_pages_without_dictionary_come_plain(strings: list[str | None]) -> None:
    options: dict[str, Any] = (
        {"use_dictionary": False} if len(strings) < 1000 else {"dictionary_pagesize_limit": 10_000}
    )
    assert kinds(stored(strings, **options), dictionaries=True) == {False}


def test_a_column_with_a_dot_in_its_name_is_no_field_of_a_struct() -> None:
    fields = [pa.field("a.b", pa.string(), metadata={"PARQUET:field_id": "1"})]
    out = io.BytesIO()
    pq.write_table(pa.table([["x", "x"]], schema=pa.schema(fields)), out)
    opened = open_rows(pa.BufferReader(out.getvalue()), FileFormat.PARQUET, use_dictionaries=True)
    (batch,) = opened.batches(["a.b"], 10)
    assert batch.column(0).to_pylist() == ["x", "x"]


def test_a_value_that_is_no_text_is_refused_where_it_is_read_alone() -> None:
    wrong = pa.Array.from_buffers(pa.string(), 3, pa.array([b"a", b"\xff", b"c"], pa.binary()).buffers())
    out = io.BytesIO()
    pq.write_table(pa.table([[1, 2, 3], wrong, [b"", b"", b""]], schema=SCHEMA), out)
    for dictionaries in (True, False):
        assert read(out.getvalue(), 10, dictionaries=dictionaries, without=2)["s"].to_pylist() == ["a", "c"]
        with pytest.raises(SpecError, match="/s"):
            read(out.getvalue(), 10, dictionaries=dictionaries)
