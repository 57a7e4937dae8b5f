"""The footer of a Parquet file is decoded once for its schema, its counts and its rows."""

from __future__ import annotations

import io
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.validator import data_file_reader
from spec_ref.data_files.parquet_thrift import CompactReader
from spec_ref.manifests.data_file import FileFormat


def test_the_footer_of_a_file_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    field = pa.field("n", pa.int64(), metadata={"PARQUET:field_id": "1"})
    sink = io.BytesIO()
    pq.write_table(pa.table([[1, None, 3]], schema=pa.schema([field])), sink)
    decoded = Counter[bytes]()
    original = CompactReader.take

    def take(self: CompactReader, count: int) -> bytes:
        data = original(self, count)
        decoded[data] += 1
        return data

    monkeypatch.setattr(CompactReader, "take", take)
    file = pa.BufferReader(sink.getvalue())
    opened = data_file_reader.open_file("f.parquet", FileFormat.PARQUET, None, lambda: file)
    assert [field.id for field in opened.struct.fields] == [1]
    assert (opened.record_count, opened.chunks[1].nulls) == (3, 1)
    assert decoded[b"schema"] == 1  # the name of the root, which no other part of the footer repeats
