"""Damaged data files are either refused with a code or read according to their bytes."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec_ref.columnar.schemas.column_projection import compile_projection
from spec_ref.core.errors import SpecError
from spec_ref.data_files.reader import open_rows
from spec_ref.data_files.writer import open_writer
from spec_ref.data_types.types import (
    DATE,
    LONG,
    STRING,
    TIMESTAMPTZ,
    UNKNOWN,
    UUID,
    DecimalType,
    ListType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.name_mapping import read_name_mapping
from tools.table_kit import avro_bytes, orc_bytes, parquet_bytes


def field(field_id: int, name: str, type_: Any) -> NestedField:
    return NestedField(field_id, name, required=False, type=type_)


FIELDS = (
    field(1, "id", LONG),
    field(2, "s", STRING),
    field(3, "p", StructType((field(4, "d", DecimalType(38, 3)), field(5, "u", UUID)))),
    field(6, "l", ListType(7, TIMESTAMPTZ, False)),
)
MAP = field(8, "m", MapType(9, STRING, 10, DATE, False))
ROWS = [
    {1: n, 2: f"s{n}" if n % 3 else None, 3: {4: Decimal(n).scaleb(-3), 5: None}, 6: (n,) * (n % 3), 8: ((f"{n}", n),)}
    for n in range(60)
]
FILES: dict[FileFormat, tuple[bytes, tuple[NestedField, ...]]] = {
    FileFormat.PARQUET: (parquet_bytes((*FIELDS, MAP), ROWS), (*FIELDS, MAP)),
    FileFormat.ORC: (orc_bytes(FIELDS, ROWS), FIELDS),  # pyarrow writes no ids of maps
    FileFormat.AVRO: (avro_bytes((*FIELDS, MAP), ROWS), (*FIELDS, MAP)),
}


def read(data: bytes, file_format: FileFormat, rows: int = 25) -> pa.Table:
    opened = open_rows(pa.BufferReader(data), file_format)
    project = compile_projection(FILES[file_format][1], opened.columns, {})
    return pa.Table.from_batches(map(project, opened.batches(project.columns, rows)), project.schema)


@pytest.mark.parametrize("file_format", FILES)
def test_every_format_gives_the_same_rows(file_format: FileFormat) -> None:
    table = read(FILES[file_format][0], file_format)
    table.validate(full=True)
    parquet = read(*[(FILES[FileFormat.PARQUET][0]), FileFormat.PARQUET])
    assert table.to_pylist() == parquet.select(table.column_names).to_pylist()


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(FILES)), st.data())
def test_damage_is_reported_with_a_code(file_format: FileFormat, data: st.DataObject) -> None:
    damaged = bytearray(FILES[file_format][0])
    for _ in range(data.draw(st.integers(1, 3))):
        from_end = data.draw(st.booleans())  # the footer is where most can go wrong
        place = data.draw(st.integers(max(0, len(damaged) - 900) if from_end else 0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    if data.draw(st.integers(0, 9)) == 0:
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    try:
        read(bytes(damaged), file_format).validate()
    except SpecError as error:
        assert error.violation.requirement  # noqa: PT017


def test_orc_decimal_of_too_many_digits_does_not_reach_pyarrow() -> None:
    plain = orc_bytes((field(1, "d", DecimalType(38, 3)),), [{1: Decimal(1).scaleb(-3)}], compression="uncompressed")
    assert plain.count(b"\x28\x26\x30\x03") == 1  # precision 38 and scale 3 of the column's type
    broken = plain.replace(b"\x28\x26\x30\x03", b"\x28\x28\x30\x03")
    with pytest.raises(SpecError, match=r"ORC008: .*; found decimal\(40, 3\) in column 1"):
        open_rows(pa.BufferReader(broken), FileFormat.ORC)


def test_orc_names_that_are_no_text_are_refused() -> None:
    plain = orc_bytes((field(1, "name", LONG),), [{1: 1}], compression="uncompressed")
    with pytest.raises(SpecError, match=r"^ORC008: "):
        open_rows(pa.BufferReader(plain.replace(b"name", b"n\xffme")), FileFormat.ORC)


def test_orc_footer_that_is_longer_than_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spec_ref.data_files.orc_footer.TAIL_LENGTH", 64)
    assert read(FILES[FileFormat.ORC][0], FileFormat.ORC).num_rows == 60


def test_puffin_has_no_rows() -> None:
    with pytest.raises(SpecError, match=r"^DFL003: "):
        open_rows(pa.BufferReader(b""), FileFormat.PUFFIN)


@pytest.mark.parametrize("named", [("key", "value"), ("value",), ("key",)])
def test_a_map_without_ids_is_left_out_unless_a_name_mapping_has_its_key_and_its_value(named: tuple[str, ...]) -> None:
    out = io.BytesIO()
    map_field = {"name": "m", "type": {"type": "map", "values": "long"}}
    fastavro.writer(out, {"type": "record", "name": "r", "fields": [map_field]}, [{"m": {"a": 1}}])
    parts = [{"field-id": {"key": 9, "value": 10}[name], "names": [name]} for name in named]
    mapping = read_name_mapping([{"field-id": 8, "names": ["m"], "fields": parts}])
    opened = open_rows(pa.BufferReader(out.getvalue()), FileFormat.AVRO, mapping)
    known = [MapType(9, STRING, 10, LONG, True)] if len(named) == 2 else []
    assert [one.type for one in opened.columns.struct.fields] == known


@pytest.mark.parametrize(("file_format", "code"), [(FileFormat.PARQUET, "PQT006"), (FileFormat.ORC, "ORC005")])
def test_a_file_without_columns_is_not_written(file_format: FileFormat, code: str) -> None:
    for struct in (StructType(()), StructType((field(1, "nothing", UNKNOWN),))):
        with pytest.raises(SpecError) as caught:
            open_writer(io.BytesIO(), struct, file_format)
        assert caught.value.violation.requirement == code


@pytest.mark.parametrize(("file_format", "code"), [(FileFormat.PARQUET, "PQT007"), (FileFormat.ORC, "ORC008")])
def test_rows_that_a_library_cannot_write_are_refused(
    monkeypatch: pytest.MonkeyPatch, file_format: FileFormat, code: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise pa.ArrowInvalid("too much for one file")

    for writer, name in ((pq.ParquetWriter, "write_batch"), (orc.ORCWriter, "write")):
        monkeypatch.setattr(writer, name, fail)
    made = open_writer(io.BytesIO(), StructType((field(1, "id", LONG),)), file_format)
    with pytest.raises(SpecError, match="the rows cannot be written: too much for one file") as caught:
        made.write(pa.record_batch({"id": pa.array([1], pa.int64())}))
    assert caught.value.violation.requirement == code
