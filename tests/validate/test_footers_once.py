"""The footer of a Parquet file is decoded once for its schema, its counts and its rows, and a schema once for files."""

from __future__ import annotations

import io
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.validator import data_file_reader
from conformance.validator.data_file_reader import OpenedFile
from spec_ref.data_files.parquet_thrift import CompactReader
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.name_mapping import MappedField

Mapping = tuple[MappedField, ...] | None


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often the bytes of texts were decoded in footers."""
    data_file_reader._RECENT.clear()
    decoded = Counter[bytes]()
    original = CompactReader.take

    def take(self: CompactReader, count: int) -> bytes:
        data = original(self, count)
        decoded[data] += 1
        return data

    monkeypatch.setattr(CompactReader, "take", take)
    return decoded


def written(values: list[object], type_: pa.DataType, field_id: int | None = 1) -> bytes:
    """Return a Parquet file of one column."""
    metadata = {} if field_id is None else {"PARQUET:field_id": str(field_id)}
    sink = io.BytesIO()
    pq.write_table(pa.table([values], schema=pa.schema([pa.field("n", type_, metadata=metadata)])), sink)
    return sink.getvalue()


def opened(file: bytes, mapping: Mapping = None) -> OpenedFile:
    return data_file_reader.open_file("f.parquet", FileFormat.PARQUET, mapping, lambda: pa.BufferReader(file))


def test_the_footer_of_a_file_is_decoded_once(decoded: Counter[bytes]) -> None:
    read = opened(written([1, None, 3], pa.int64()))
    assert [field.id for field in read.struct.fields] == [1]
    assert (read.record_count, read.chunks[1].nulls) == (3, 1)
    assert decoded[b"schema"] == 1  # the name of the root, which no other part of the footer repeats


def test_the_schema_of_files_with_the_same_bytes_is_decoded_once(decoded: Counter[bytes]) -> None:
    files = [written(list(range(count)), pa.int64()) for count in (1, 2, 3)]
    assert [opened(file).record_count for file in files] == [1, 2, 3]
    assert decoded[b"schema"] == 1
    opened(written([1], pa.int32()))
    assert decoded[b"schema"] == 2


FILES = (
    written([1, None], pa.int64()),
    written([1, 2, 3], pa.int64()),
    written([1, 2, 3], pa.int64(), 2),
    written([1, None], pa.int64(), None),
    written(["a"], pa.string(), None),
    written([1], pa.uint32()),  # no type of Iceberg
    written([1], pa.duration("us")),  # stored otherwise than Appendix A says
)
MAPPINGS: tuple[Mapping, ...] = (
    (MappedField(names=("n",), field_id=7),),
    (MappedField(names=("n",), field_id=8),),
)


def content(read: OpenedFile) -> tuple[object, ...]:
    return read.struct, read.record_count, read.by_name, read.unreadable, read.faults, read.chunks, read.offsets


@given(st.lists(st.tuples(st.sampled_from(FILES), st.sampled_from(MAPPINGS)), min_size=2, max_size=12))
def test_what_was_read_before_changes_nothing(opening: list[tuple[bytes, Mapping]]) -> None:
    alone = []
    for file, mapping in opening:
        data_file_reader._RECENT.clear()
        alone.append(content(opened(file, mapping)))
    data_file_reader._RECENT.clear()
    assert [content(opened(file, mapping)) for file, mapping in opening] == alone
