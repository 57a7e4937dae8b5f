"""Reading tables: projection, deletes, lineage and filters together, in every format."""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.orc as orc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.table_io import local
from conformance.table_io.delete_files import DeleteFiles
from conformance.table_io.file_access import FileAccessError, FileMissing
from conformance.table_io.local import plan_read, read_table
from conformance.table_io.read_tasks import read_task
from conformance.table_io.records import read_rows
from conformance.table_io.tables import Table
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V2, V3
from spec_ref.data_files import orc_reader, reader
from spec_ref.data_files.orc_reader import BEYOND_NANOSECONDS
from spec_ref.data_types.types import (
    INT,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
    UUID,
    DecimalType,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
)
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Identity
from spec_ref.row_lineage.reading import LAST_UPDATED, ROW_ID
from spec_ref.schemas.name_mapping import MappedField, write_name_mapping
from tools.table_kit import TableKit, avro_bytes, orc_bytes, parquet_bytes

FORMATS = (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)
every_format = pytest.mark.parametrize("file_format", FORMATS)


def mapping_text(*fields: MappedField) -> str:
    """A name mapping as the text of the table property."""
    return json.dumps(write_name_mapping(fields))


def field(field_id: int, name: str, type_: Type, *, required: bool = False, default: Any = None) -> NestedField:
    return NestedField(field_id, name, required, type_, initial_default=default)


ID = field(1, "id", LONG)
TEXT = field(2, "s", STRING)
ROWS = [{1: n, 2: None if n == 4 else f"s{n}"} for n in range(10)]


@pytest.fixture
def kit(tmp_path: Path) -> TableKit:
    return TableKit(f"file:{tmp_path}/t", (ID, TEXT))


def ids(table: Table, **asked: Any) -> list[int]:
    return sorted(read_table(table, select=["id"], **asked).read_all().column("id").to_pylist())


def without(*gone: int) -> list[int]:
    return [n for n in range(10) if n not in gone]


def where(name: str, operation: Operation, value: Any) -> Comparison:
    return Comparison(operation, NamedReference(name), Literal(value))


# Deletes


@every_format
@pytest.mark.parametrize("deletes_format", FORMATS)
def test_position_deletes_in_every_format(kit: TableKit, file_format: FileFormat, deletes_format: FileFormat) -> None:
    # NOT011, RES003
    data, other = kit.file(ROWS, file_format=file_format), kit.file(ROWS, file_format=file_format)
    kit.commit(data, other)
    path = data.file_path
    kit.commit(kit.position_deletes([(path, 9), (path, 0), (path, 9), ("elsewhere", 5)], file_format=deletes_format))
    kit.commit(kit.position_deletes([(other.file_path, 1)], referenced_data_file=other.file_path))
    assert ids(kit.table()) == sorted(without(0, 9) + without(1))


@every_format
def test_deletion_vectors_in_every_format(tmp_path: Path, file_format: FileFormat) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID, TEXT), version=V3)
    data, other = kit.file(ROWS, file_format=file_format), kit.file(ROWS)
    kit.commit(data, other)
    kit.commit(kit.deletion_vector(data, [0, 5]), kit.deletion_vector(other, [9]))
    assert ids(kit.table()) == sorted(without(0, 5) + without(9))


@every_format
@pytest.mark.parametrize("batch_rows", [1, 3, 4, 1000])
def test_positions_count_from_the_start_of_the_file(
    kit: TableKit, file_format: FileFormat, batch_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = kit.file(
        ROWS,
        data=avro_bytes(kit.fields, ROWS, block_rows=4) if file_format is FileFormat.AVRO else None,
        file_format=file_format,
    )
    kit.commit(data)
    kit.commit(kit.position_deletes([(data.file_path, 3), (data.file_path, 4), (data.file_path, 8)]))
    read = read_table(kit.table(), select=["id", "_pos"], batch_rows=batch_rows, threads=1).read_all()
    assert read.column("id").to_pylist() == read.column("_pos").to_pylist() == without(3, 4, 8)


@every_format
def test_equality_deletes_in_every_format(kit: TableKit, file_format: FileFormat) -> None:  # DEL005
    kit.commit(kit.file(ROWS))
    deletes = kit.equality_deletes(
        [{2: "s1", 1: 77}, {2: None, 1: 0}], [2], fields=(TEXT, ID), file_format=file_format
    )  # the column that is not compared takes no part
    kit.commit(deletes)
    kit.commit(kit.file([{1: 4, 2: None}]))  # is later than the delete
    assert ids(kit.table()) == sorted([*without(1, 4), 4])


def test_several_sets_of_columns_delete_each_for_itself(kit: TableKit) -> None:
    kit.commit(kit.file(ROWS))
    kit.commit(
        kit.equality_deletes([{1: 1}], [1], fields=(ID,)),
        kit.equality_deletes([{1: 2}], [1], fields=(ID,)),
        kit.equality_deletes([{2: "s3"}], [2], fields=(TEXT,)),
        kit.equality_deletes([{1: 5, 2: "s5"}, {1: 6, 2: "s5"}], [2, 1], fields=(ID, TEXT)),
    )
    assert ids(kit.table()) == without(1, 2, 3, 5)


def test_deletes_by_position_and_equality_add_up(kit: TableKit) -> None:
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(kit.equality_deletes([{1: 1}], [1], fields=(ID,)), kit.position_deletes([(data.file_path, 2)]))
    assert ids(kit.table()) == without(1, 2)


def test_column_that_was_dropped_still_deletes(kit: TableKit) -> None:
    kit.commit(kit.file(ROWS))
    kit.commit(kit.equality_deletes([{2: "s1"}], [2], fields=(TEXT,)))
    kit.evolve((ID,))
    kit.commit(kit.file([{1: 20}]))
    assert ids(kit.table()) == [*without(1), 20]


@pytest.mark.parametrize(("default", "value"), [(7, 7), (None, None)])
def test_column_that_was_added_has_its_default_in_older_files(tmp_path: Path, default: Any, value: Any) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID,), version=V3)
    kit.commit(kit.file([{1: 1}]))
    kit.evolve((ID, field(3, "new", INT, default=default)))
    kit.commit(kit.file([{1: 2, 3: value}, {1: 3, 3: 8}]))
    kit.commit(kit.equality_deletes([{3: value}], [3], fields=(field(3, "new", INT),)))
    assert ids(kit.table()) == [3]


def test_promoted_columns_are_compared_as_the_wider_type(kit: TableKit) -> None:  # DEL005
    narrow = field(1, "id", INT)
    kit.schemas.clear()
    kit.evolve((narrow, TEXT))
    kit.commit(kit.file(ROWS))
    kit.evolve((ID, TEXT))
    kit.commit(kit.equality_deletes([{1: 1}], [1], fields=(narrow,)), kit.equality_deletes([{1: 2}], [1], fields=(ID,)))
    kit.commit(kit.file([{1: 1 << 40, 2: ""}]))
    kit.commit(kit.equality_deletes([{1: 3}], [1], fields=(narrow,)))
    assert ids(kit.table()) == [*without(1, 2, 3), 1 << 40]


def test_nested_delete_columns_are_null_where_the_struct_is(kit: TableKit) -> None:
    point = field(3, "p", StructType((field(4, "x", INT), field(5, "y", INT))))
    kit.evolve((ID, point))
    kit.commit(
        kit.file([{1: 0, 3: None}, {1: 1, 3: {4: None, 5: 1}}, {1: 2, 3: {4: 6, 5: None}}, {1: 3, 3: {4: 5, 5: 5}}])
    )
    only_x = (field(3, "p", StructType((field(4, "x", INT),))),)
    kit.commit(kit.equality_deletes([{3: None}, {3: {4: 5}}], [4], fields=only_x))
    assert ids(kit.table()) == [2]


def test_equality_deletes_of_many_ages_read_each_file_once(kit: TableKit, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(6):
        kit.commit(kit.file([{1: 1, 2: f"{n}"}, {1: n + 10, 2: f"{n}"}]))
        kit.commit(kit.equality_deletes([{1: 1}, {1: n + 10}], [1], fields=(ID,)))
    kit.commit(kit.file([{1: 1, 2: "left"}]))
    opened: list[str] = []
    read = DeleteFiles._equality_batches

    def counted(self: DeleteFiles, columns: Any, delete: Any) -> Any:
        opened.append(delete.data_file.file_path)
        return read(self, columns, delete)

    monkeypatch.setattr(DeleteFiles, "_equality_batches", counted)
    assert ids(kit.table()) == [1]
    assert len(opened) == len(set(opened)) == 6


def test_deleted_rows_are_given_when_the_flag_is_asked_for(kit: TableKit) -> None:
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(kit.position_deletes([(data.file_path, 2)]), kit.equality_deletes([{1: 3}], [1], fields=(ID,)))
    read = read_table(kit.table(), select=["id", "_deleted"], filter=where("id", Operation.LT, 5)).read_all()
    assert dict(zip(*read.to_pydict().values(), strict=True)) == {0: False, 1: False, 2: True, 3: True, 4: False}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_deletes_of_all_kinds_leave_the_difference(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A model of commits in which rows are (id, s) and what is deleted is known by rows."""
    kit = TableKit(f"{tmp_path_factory.mktemp('model')}", (ID, TEXT))
    live: dict[tuple[str, int], tuple[int, str]] = {}
    files: list[DataFile] = []
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.sampled_from(["append", "append", "position", "equality"])) if files else "append"
        if kind == "append":
            rows = data.draw(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ab")), min_size=1, max_size=8))
            format_ = data.draw(st.sampled_from(FORMATS))
            files.append(kit.file([{1: n, 2: s} for n, s in rows], file_format=format_))
            kit.commit(files[-1])
            live |= {(files[-1].file_path, at): row for at, row in enumerate(rows)}
        elif kind == "position":
            chosen = data.draw(st.lists(st.tuples(st.sampled_from(files), st.integers(0, 7)), min_size=1, max_size=5))
            pairs = [(file.file_path, at) for file, at in chosen]
            kit.commit(kit.position_deletes(pairs))
            live = {place: row for place, row in live.items() if place not in pairs}
        else:
            keys = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
            kit.commit(kit.equality_deletes([{1: key} for key in keys], [1], fields=(ID,)))
            live = {place: row for place, row in live.items() if row[0] not in keys}
    table = kit.table()
    read = read_table(table, batch_rows=data.draw(st.sampled_from([1, 3, 100]))).read_all().to_pylist()
    assert sorted((row["id"], row["s"]) for row in read) == sorted(live.values())
    places = read_table(table, select=["_file", "_pos"]).read_all().to_pylist()
    assert {(row["_file"], row["_pos"]) for row in places} == live.keys()


# Projection


@every_format
def test_columns_that_the_file_lacks(tmp_path: Path, file_format: FileFormat) -> None:
    spec = PartitionSpec(0, (PartitionField(source_id=5, field_id=1000, name="p", transform=Identity()),))
    kit = TableKit(f"{tmp_path}/t", (ID, field(5, "p", STRING)), version=V3, spec=spec)
    kit.commit(kit.file([{1: 1}], fields=(ID,), partition={1000: "x"}, file_format=file_format))
    kit.evolve((field(9, "d", UUID), field(5, "p", STRING), field(8, "c", INT, default=3), field(1, "renamed", LONG)))
    read = read_table(kit.table()).read_all()
    assert read.to_pylist() == [{"d": None, "p": "x", "c": 3, "renamed": 1}]
    assert read.schema.types == [pa.uuid(), pa.string(), pa.int32(), pa.int64()]


NESTED = field(3, "n", StructType((field(4, "l", ListType(5, INT, False)), field(6, "old", INT))))
MAP = field(7, "m", MapType(8, STRING, 9, StructType((field(10, "x", INT),)), False))


@pytest.mark.parametrize("file_format", [FileFormat.PARQUET, FileFormat.AVRO])
def test_nested_columns_are_projected(tmp_path: Path, file_format: FileFormat) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID, NESTED, MAP), version=V3)
    rows: list[dict[int, Any]] = [
        {1: 1, 3: {4: (1, None), 6: 1}, 7: (("k", {10: 1}), ("", None))},
        {1: 2},
        {1: 3, 3: {4: (), 6: None}, 7: ()},
    ]
    kit.commit(kit.file(rows, file_format=file_format))
    wide = StructType((field(11, "new", INT, default=5), field(4, "l", ListType(5, LONG, False))))
    value = StructType((field(12, "y", STRING), field(10, "x", LONG)))
    kit.evolve((field(3, "n", wide), field(7, "m", MapType(8, STRING, 9, value, False))))
    assert read_table(kit.table()).read_all().to_pylist() == [
        {"n": {"new": 5, "l": [1, None]}, "m": [("k", {"y": None, "x": 1}), ("", None)]},
        {"n": None, "m": None},
        {"n": {"new": 5, "l": []}, "m": []},
    ]
    assert read_table(kit.table(), select=["n.new"]).read_all().to_pylist() == [
        {"n": {"new": 5}},
        {"n": None},
        {"n": {"new": 5}},
    ]


def mapped_bytes(file_format: FileFormat) -> bytes:
    """A file without ids, of the columns ``old`` and ``point`` with ``x``."""
    table = pa.table({"old": [1, 2], "point": [{"x": 3}, None], "other": ["a", "b"]})
    sink = pa.BufferOutputStream()
    if file_format is FileFormat.PARQUET:
        pa.parquet.write_table(table, sink)  # type: ignore[attr-defined]
    elif file_format is FileFormat.ORC:
        pa.orc.write_table(table, sink)  # type: ignore[attr-defined]
    else:
        import io

        import fastavro

        point = {"type": "record", "name": "p", "fields": [{"name": "x", "type": "long"}]}
        fields = [
            {"name": "old", "type": "long"},
            {"name": "point", "type": ["null", point]},
            {"name": "other", "type": "string"},
        ]
        out = io.BytesIO()
        fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, table.to_pylist())
        return out.getvalue()
    return sink.getvalue().to_pybytes()


@every_format
def test_name_mapping_finds_columns_of_files_without_ids(tmp_path: Path, file_format: FileFormat) -> None:
    fields = (ID, field(3, "point", StructType((field(4, "y", LONG),))), field(5, "absent", INT, default=9))
    mapping = (
        MappedField(names=("id", "old"), field_id=1),
        MappedField(names=("point",), field_id=3, fields=(MappedField(names=("x",), field_id=4),)),
    )
    kit = TableKit(
        f"{tmp_path}/t", fields, version=V3, properties={"schema.name-mapping.default": mapping_text(*mapping)}
    )
    kit.commit(kit.file([{}, {}], data=mapped_bytes(file_format), file_format=file_format))
    assert read_table(kit.table()).read_all().to_pylist() == [
        {"id": 1, "point": {"y": 3}, "absent": 9},
        {"id": 2, "point": None, "absent": 9},
    ]


@every_format
def test_files_without_ids_need_a_mapping(tmp_path: Path, file_format: FileFormat) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID,))
    kit.commit(kit.file([{}, {}], data=mapped_bytes(file_format), file_format=file_format))
    code = {"parquet": "PQT001", "orc": "ORC001", "avro": "AVR013"}[file_format.value]
    with pytest.raises(SpecError, match=f"00001.{file_format.value}:/old: {code}: "):
        read_table(kit.table()).read_all()


def partly_numbered(file_format: FileFormat, *, odd: bool = False) -> bytes:
    """A file whose columns have ids but for ``bare``, ``p.bare`` and the element of ``l``; with ``odd`` there is one of
    no Iceberg type, whose id is 9.
    """
    rows = [{"id": 1, "bare": 10, "p": {"x": 3, "bare": 4}, "l": [5], "odd": 6}]
    if file_format is FileFormat.AVRO:
        import io

        import fastavro

        def column(name: str, type_: Any, field_id: int | None = None) -> dict[str, Any]:
            return {"name": name, "type": type_} | ({} if field_id is None else {"field-id": field_id})

        point = {"type": "record", "name": "p", "fields": [column("x", "long", 4), column("bare", "long")]}
        odd_columns = [column("odd", ["long", "string"], 9)] if odd else []
        fields = [
            column("bare", "long"),
            column("id", "long", 1),
            column("p", point, 3),
            column("l", {"type": "array", "items": "long"}, 6),
            *odd_columns,
        ]
        out = io.BytesIO()
        fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, rows)
        return out.getvalue()
    key = "PARQUET:field_id" if file_format is FileFormat.PARQUET else "iceberg.id"

    def numbered(name: str, type_: Any, field_id: int) -> pa.Field[Any]:
        return pa.field(name, type_, metadata={key: str(field_id)})

    point = pa.struct([numbered("x", pa.int64(), 4), pa.field("bare", pa.int64())])
    odd_arrow = pa.uint64() if file_format is FileFormat.PARQUET else pa.timestamp("ns")
    columns = [
        pa.field("bare", pa.int64()),
        numbered("id", pa.int64(), 1),
        numbered("p", point, 3),
        numbered("l", pa.list_(pa.int64()), 6),
    ]
    if odd:
        unit = {} if file_format is FileFormat.PARQUET else {"iceberg.timestamp-unit": "HOURS"}
        columns.append(pa.field("odd", odd_arrow, metadata={key: "9", **unit}))
    table = pa.Table.from_pylist(rows, pa.schema(columns))
    sink = pa.BufferOutputStream()
    if file_format is FileFormat.PARQUET:
        pa.parquet.write_table(table, sink)  # type: ignore[attr-defined]
    else:
        pa.orc.write_table(table, sink)  # type: ignore[attr-defined]
    return sink.getvalue().to_pybytes()


CODE_OF_IDS = {FileFormat.PARQUET: "PQT001", FileFormat.ORC: "ORC001", FileFormat.AVRO: "AVR013"}


@every_format
def test_columns_without_ids_are_left_out_where_others_have_some(tmp_path: Path, file_format: FileFormat) -> None:
    point = StructType((field(4, "x", LONG), field(5, "bare", LONG)))
    fields = (ID, field(2, "bare", LONG), field(3, "p", point), field(6, "l", ListType(7, LONG)))
    kit = TableKit(f"{tmp_path}/t", fields)
    kit.commit(kit.file([{}], data=partly_numbered(file_format), file_format=file_format))
    assert read_table(kit.table(), select=["id", "bare", "p"]).read_all().to_pylist() == [
        {"id": 1, "bare": None, "p": {"x": 3, "bare": None}}
    ]
    assert read_table(kit.table(), select=["_pos"]).read_all().to_pylist() == [{"_pos": 0}]
    for select in (["l"], ["id", "l"], None):
        with pytest.raises(SpecError, match=rf"00001.*:/l.*: {CODE_OF_IDS[file_format]}: "):
            read_table(kit.table(), select=select).read_all()
    filtered = where("p.x", Operation.EQ, 3)
    assert read_table(kit.table(), select=["id"], filter=filtered).read_all().to_pylist() == [{"id": 1}]


@every_format
def test_a_name_mapping_does_not_find_columns_of_files_that_have_ids(tmp_path: Path, file_format: FileFormat) -> None:
    # B22
    mapping = mapping_text(MappedField(names=("bare",), field_id=2), MappedField(names=("id",), field_id=1))
    kit = TableKit(f"{tmp_path}/t", (ID, field(2, "bare", LONG)), properties={"schema.name-mapping.default": mapping})
    kit.commit(kit.file([{}], data=partly_numbered(file_format), file_format=file_format))
    assert read_table(kit.table()).read_all().to_pylist() == [{"id": 1, "bare": None}]


@every_format
def test_a_column_of_no_iceberg_type_matters_to_those_who_ask_for_it(tmp_path: Path, file_format: FileFormat) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID, field(9, "odd", LONG), field(6, "l", UNKNOWN)), version=V3)
    kit.commit(kit.file([{}], data=partly_numbered(file_format, odd=True), file_format=file_format))
    assert read_table(kit.table(), select=["id", "l"]).read_all().to_pylist() == [{"id": 1, "l": None}]
    with pytest.raises(SpecError, match=r"00001.*:/odd: (PQT007|ORC003|AVR001)"):
        read_table(kit.table(), select=["odd"]).read_all()
    kit.evolve((ID, field(9, "odd", UNKNOWN)))
    assert read_table(kit.table()).read_all().to_pylist() == [{"id": 1, "odd": None}]


def test_a_mapping_does_not_change_the_ids_of_files_that_have_them(tmp_path: Path) -> None:
    mapping = mapping_text(MappedField(names=("s",), field_id=1))
    kit = TableKit(f"{tmp_path}/t", (ID, TEXT), properties={"schema.name-mapping.default": mapping})
    kit.commit(kit.file(ROWS))
    assert ids(kit.table()) == without()


@every_format
def test_columns_that_files_have_for_type_unknown_are_null(tmp_path: Path, file_format: FileFormat) -> None:
    # PQT006, and ORC and Avro alike
    def columns(type_: Type) -> tuple[NestedField, ...]:
        point = StructType((field(4, "x", type_), field(5, "y", LONG)))
        return ID, field(2, "a", type_), field(3, "p", point), field(6, "l", ListType(7, type_, element_required=False))

    kit = TableKit(f"{tmp_path}/t", columns(UNKNOWN), version=V3)
    rows = [{1: 1, 2: 7, 3: {4: 8, 5: 9}, 6: (10, None)}, {1: 2, 2: None, 3: None, 6: None}]
    kit.commit(kit.file(rows, fields=columns(LONG), file_format=file_format))
    assert read_table(kit.table()).read_all().to_pylist() == [
        {"id": 1, "a": None, "p": {"x": None, "y": 9}, "l": [None, None]},
        {"id": 2, "a": None, "p": None, "l": None},
    ]


def test_timestamps_far_from_now_are_read_inside_of_structs_of_orc_files(tmp_path: Path) -> None:
    # ORC003: pyarrow has nanoseconds, from 1677 to 2262
    inner = StructType((field(6, "w", TIMESTAMP), field(7, "n", LONG), field(8, "v", TIMESTAMPTZ)))
    outer = StructType((field(3, "x", LONG), field(4, "y", TIMESTAMP), field(5, "z", inner), field(9, "s", STRING)))
    kit = TableKit(
        f"{tmp_path}/t", (ID, field(2, "p", outer), field(10, "only", StructType((field(11, "t", TIMESTAMP),))))
    )
    first, last = -62_135_596_800_000_000, 253_402_300_799_000_000
    rows: list[dict[int, Any]] = [
        {1: 1, 2: {3: 1, 4: first, 5: {6: last, 7: 2, 8: first}, 9: "a"}, 10: {11: first}},
        {1: 2, 2: None, 10: None},
        {1: 3, 2: {3: None, 4: None, 5: None, 9: None}, 10: {11: None}},
        {1: 4, 2: {3: 4, 4: last, 5: {6: None, 7: None, 8: 5}, 9: "d"}, 10: {11: last}},
        {1: 5, 2: {3: 5, 4: 0, 5: {6: first, 7: 6, 8: None}, 9: ""}, 10: None},
    ]
    kit.commit(kit.file(rows, file_format=FileFormat.ORC))
    for select in (None, ["p.z", "only"], ["p.y"], ["p.x", "id"]):
        read = read_table(kit.table(), select=select).read_all()
        for name in read.column_names:
            typed = next(column.type for column in kit.fields if column.name == name)
            assert [_plain(value) for value in read.column(name).to_pylist()] == [
                _chosen(typed, read.schema.field(name).type, row.get({"id": 1, "p": 2, "only": 10}[name]))
                for row in rows
            ]


@pytest.mark.parametrize(("micros", "aspect"), [(-62_135_596_800_000_000, BEYOND_NANOSECONDS), (7, "")])
@pytest.mark.parametrize("in_map", [False, True])
def test_the_limit_of_timestamps_in_lists_of_orc_files_is_found_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, micros: int, aspect: str, in_map: bool
) -> None:
    # ORC003: the library has one kind of error for this limit and for a damaged file
    class Refusing(orc.ORCFile):  # type: ignore[misc]
        def read_stripe(self, *args: Any, **options: Any) -> Any:
            raise pa.ArrowInvalid("in any words")

    times: Type = MapType(4, STRING, 5, TIMESTAMP) if in_map else ListType(4, TIMESTAMP)
    outer = StructType((field(3, "times", times), field(6, "x", LONG)))
    kit = TableKit(f"{tmp_path}/t", (ID, field(2, "p", outer)))
    value: Any = (("a", micros),) if in_map else (micros,)
    kit.commit(kit.file([{1: 1, 2: {3: value, 6: 2}}], file_format=FileFormat.ORC))
    monkeypatch.setattr(orc_reader.orc, "ORCFile", Refusing)
    with pytest.raises(SpecError) as refused:
        read_table(kit.table()).read_all()
    assert (refused.value.violation.requirement, refused.value.violation.aspect) == ("ORC008", aspect)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, datetime):
        whole = value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return whole // timedelta(microseconds=1)
    return value


def _chosen(type_: Type, arrow: Any, value: Any) -> Any:
    """A value by names, with the fields that were asked for."""
    if not isinstance(type_, StructType) or value is None:
        return value
    return {
        one.name: _chosen(one.type, arrow.field(one.name).type, value.get(one.id))
        for one in type_.fields
        if arrow.get_field_index(one.name) >= 0
    }


# Metadata columns and row lineage


@every_format
def test_row_ids_are_stored_or_inherited(tmp_path: Path, file_format: FileFormat) -> None:
    # UPG009, LIN006, LIN031, RES005
    kit = TableKit(f"{tmp_path}/t", (ID,), version=V3)
    rows = [{1: 0, ROW_ID.id: None, LAST_UPDATED.id: None}, {1: 1, ROW_ID.id: 3, LAST_UPDATED.id: 7}]
    first = kit.file(ROWS[:2], fields=(ID,), file_format=file_format)
    kit.commit(first, kit.file(rows, fields=(ID, ROW_ID, LAST_UPDATED), file_format=file_format))
    kit.commit(kit.deletion_vector(first, [0]))
    names = ["_row_id", "id", "_last_updated_sequence_number"]
    read = read_table(kit.table(), select=names, threads=1).read_all().to_pylist()
    assert [(row["_row_id"], row["_last_updated_sequence_number"]) for row in read] == [(1, 1), (2, 1), (3, 7)]


def test_rows_of_before_v3_have_no_lineage(kit: TableKit) -> None:  # UPG010
    kit.commit(kit.file([{1: 1, ROW_ID.id: 3}], fields=(ID, ROW_ID)))
    read = read_table(kit.table(), select=["_row_id", "_last_updated_sequence_number"]).read_all()
    assert read.to_pylist() == [{"_row_id": None, "_last_updated_sequence_number": None}]


def test_metadata_columns_of_every_row(tmp_path: Path) -> None:  # SNP017
    spec = PartitionSpec(3, (PartitionField(source_id=1, field_id=1001, name="b", transform=Bucket(4)),))
    kit = TableKit(f"{tmp_path}/t", (ID,))
    data = kit.file([{1: 5}], fields=(ID,))
    kit.commit(data)
    kit.repartition(spec)
    other = kit.file([{1: 6}, {1: 7}], fields=(ID,), partition={1001: 2})
    kit.commit(other)
    names = ["_pos", "_file", "_spec_id", "_partition", "id"]
    read = read_table(kit.table(), select=names, threads=1).read_all()
    assert read.schema.names == ["id", "_pos", "_file", "_spec_id", "_partition"]
    assert sorted(read.to_pylist(), key=lambda row: row["id"]) == [
        {"id": 5, "_pos": 0, "_file": data.file_path, "_spec_id": 0, "_partition": {"b": None}},
        {"id": 6, "_pos": 0, "_file": other.file_path, "_spec_id": 3, "_partition": {"b": 2}},
        {"id": 7, "_pos": 1, "_file": other.file_path, "_spec_id": 3, "_partition": {"b": 2}},
    ]


def test_rows_can_be_counted_without_columns(kit: TableKit) -> None:
    for file_format in FORMATS:
        kit.commit(kit.file(ROWS, file_format=file_format))
    read = read_table(kit.table(), select=[]).read_all()
    assert (read.num_columns, read.num_rows) == (0, 30)


@pytest.mark.parametrize("deleted", [3, 50, 97])
def test_few_or_most_rows_are_deleted(tmp_path: Path, deleted: int) -> None:
    """Batches are filtered in another way when few rows go; columns of every layout come through both."""
    nested = StructType((NestedField(6, "x", required=False, type=LONG),))
    kinds: tuple[Type, ...] = (
        STRING,
        UUID,
        DecimalType(9, 2),
        nested,
        ListType(7, INT, element_required=False),
        MapType(8, STRING, 9, LONG, value_required=False),
    )
    fields = (ID, *(field(number, f"c{number}", type_) for number, type_ in enumerate(kinds, 10)))
    rows = [
        {
            1: n,
            10: f"s{n}",
            11: uuid.UUID(int=n),
            12: Decimal(n) / 100,
            13: {6: n},
            14: [n] * (n % 3),
            15: [(f"k{n}", n)],
        }
        for n in range(100)
    ]
    kit = TableKit(f"file:{tmp_path}/t", fields)
    data = kit.file(rows)
    kit.commit(data)
    whole = read_table(kit.table()).read_all()
    kit.commit(kit.position_deletes([(data.file_path, n) for n in range(deleted)]))
    assert read_table(kit.table()).read_all().equals(whole.slice(deleted))
    assert read_table(kit.table(), select=[]).read_all().num_rows == 100 - deleted


def test_unknown_column_is_reported(kit: TableKit) -> None:
    with pytest.raises(SpecError, match=r"EXP003.*found 'x'.*id, s, _file"):
        read_table(kit.table(), select=["x"])
    assert read_table(kit.table(), select=["ID"], case_sensitive=False).schema.names == ["id"]


@every_format
def test_columns_with_one_full_name_are_read_and_cannot_be_selected_by_it(
    kit: TableKit, file_format: FileFormat
) -> None:
    kit.evolve((field(3, "s", StructType((field(4, "x", INT),))), field(5, "s.x", INT)))
    kit.commit(kit.file([{3: {4: 1}, 5: 2}], file_format=file_format))
    assert read_table(kit.table()).read_all().to_pylist() == [{"s": {"x": 1}, "s.x": 2}]
    assert list(read_rows(kit.table())) == [{"s": {4: 1}, "s.x": 2}]
    with pytest.raises(SpecError, match="TYP002"):
        read_table(kit.table(), select=["s.x"])


def test_table_without_snapshots_has_its_columns_and_no_rows(kit: TableKit) -> None:
    read = read_table(kit.table()).read_all()
    assert (read.schema.names, read.num_rows) == (["id", "s"], 0)


# Filters


@every_format
def test_filter_on_columns_that_are_not_selected(kit: TableKit, file_format: FileFormat) -> None:
    kit.commit(kit.file(ROWS, file_format=file_format))
    assert ids(kit.table(), filter=where("s", Operation.GT, "s6")) == [7, 8, 9]


def test_filter_on_a_field_of_a_struct_beside_another(kit: TableKit) -> None:
    kit.evolve((ID, field(3, "p", StructType((field(4, "x", INT), field(5, "y", INT))))))
    kit.commit(kit.file([{1: n, 3: {4: n, 5: -n}} for n in range(3)]))
    read = read_table(kit.table(), select=["p.y"], filter=where("p.x", Operation.GT_EQ, 1)).read_all()
    assert read.to_pylist() == [{"p": {"y": -1}}, {"p": {"y": -2}}]


def test_filter_sees_defaults_and_partition_values(tmp_path: Path) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID,), version=V3)
    kit.commit(kit.file([{1: 1}], fields=(ID,)))
    kit.evolve((ID, field(3, "d", INT, default=7)))
    kit.commit(kit.file([{1: 2, 3: 8}]))
    assert ids(kit.table(), filter=where("d", Operation.EQ, 7)) == [1]


# Broken files


@every_format
def test_damaged_files_are_reported(kit: TableKit, file_format: FileFormat) -> None:
    make = {"parquet": parquet_bytes, "orc": orc_bytes, "avro": avro_bytes}[file_format.value]
    whole = make((ID, TEXT), ROWS)  # type: ignore[operator]
    for broken in (b"", whole[:10], whole[:-9], whole[: len(whole) // 2], bytes(200)):
        kit.manifests.clear()
        kit.commit(kit.file(ROWS, data=broken, file_format=file_format))
        with pytest.raises(SpecError, match=rf"\.{file_format.value}:"):
            read_table(kit.table()).read_all()


def test_missing_files_are_reported(kit: TableKit) -> None:
    data = kit.file(ROWS)
    kit.commit(data, attrs.evolve(data, file_path=f"{kit.location}/data/none.parquet"))
    with pytest.raises(FileMissing, match=r"none\.parquet: there is no such file"):
        read_table(kit.table()).read_all()


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"referenced_data_file": "file:/other"}, None),
        ({"record_count": 3}, "DFL005"),
        ({"content_offset": 5}, "PUF018"),
        ({"content_size_in_bytes": 7}, "PUF018"),
        ({"content_size_in_bytes": 1 << 40}, "DFL025"),
    ],
)
def test_deletion_vector_that_is_not_what_its_entry_says(
    tmp_path: Path, said: dict[str, Any], code: str | None
) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID, TEXT), version=V3)
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(kit.deletion_vector(data, [1, 2], **said))
    if code is None:
        assert ids(kit.table()) == without()  # a vector for another file does not apply (SCN008)
        return
    with pytest.raises(SpecError, match=rf"\.puffin:?.*{code}"):
        read_table(kit.table()).read_all()


def test_vector_of_another_file_is_never_applied(tmp_path: Path) -> None:
    kit = TableKit(f"{tmp_path}/t", (ID, TEXT), version=V3)
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(kit.deletion_vector(data, [1]))
    reading, tasks = plan_read(kit.table())
    (task,) = tasks
    wrong = attrs.evolve(task.deletes[0].data_file, referenced_data_file="file:/other")
    broken = attrs.evolve(task, deletes=(attrs.evolve(task.deletes[0], data_file=wrong),))
    with pytest.raises(SpecError, match=r"DFL023: .*; found 'file:/other'"):
        list(read_task(broken, reading))


@pytest.mark.parametrize("missing", ["pos", "file_path"])
def test_position_delete_file_without_its_columns(kit: TableKit, missing: str) -> None:
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(kit.position_deletes([(data.file_path, 1)], fields=_without(missing)))
    with pytest.raises(SpecError, match=rf"00002\.parquet:/{missing}: PRJ005"):
        read_table(kit.table()).read_all()


def _without(name: str) -> tuple[NestedField, ...]:
    from spec_ref.deletes.position_deletes import POSITION_DELETE_FIELDS

    return tuple(one for one in POSITION_DELETE_FIELDS if one.name != name)


def test_equality_delete_file_without_its_columns(kit: TableKit) -> None:
    kit.commit(kit.file(ROWS))
    kit.commit(kit.equality_deletes([{1: 1}], [1, 2], fields=(ID,)))
    with pytest.raises(SpecError, match=r"00002\.parquet: DFL020: .*no field 2"):
        read_table(kit.table()).read_all()


def test_encrypted_files_are_not_misread(kit: TableKit) -> None:
    kit.commit(kit.file(ROWS, key_metadata=b"key"))
    with pytest.raises(FileAccessError, match="encrypted"):
        read_table(kit.table()).read_all()


def test_column_of_another_type_is_reported_with_its_file(kit: TableKit) -> None:
    kit.commit(kit.file([{1: "x"}], fields=(field(1, "id", STRING),)))
    with pytest.raises(SpecError, match=r"00001\.parquet:/id: EVO003: .*found string; expected long"):
        read_table(kit.table()).read_all()


def test_decimals_of_too_many_digits_are_refused(kit: TableKit) -> None:
    kit.evolve((field(1, "d", DecimalType(9, 0)),))
    data = parquet_bytes((field(1, "d", INT),), [{1: 1_000_000_000}])
    kit.commit(kit.file([{}], data=data))
    with pytest.raises(SpecError, match="EVO003"):
        read_table(kit.table()).read_all()


# Tasks and threads


def test_tasks_and_readings_are_small_values_that_can_be_sent(kit: TableKit) -> None:
    data = kit.file(ROWS)
    kit.commit(data)
    kit.commit(kit.position_deletes([(data.file_path, 1)]), kit.equality_deletes([{1: 2}], [1], fields=(ID,)))
    reading, tasks = plan_read(kit.table(), filter=where("id", Operation.LT, 8))
    sent = pickle.dumps((reading, list(tasks)))
    assert len(sent) < 6000
    reading, tasks = pickle.loads(sent)
    rows = [row for task in tasks for batch in read_task(task, reading) for row in batch.to_pylist()]
    assert [row["id"] for row in rows] == [0, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_threads_give_the_same_rows(kit: TableKit, threads: int | None) -> None:
    kit.commit(*(kit.file([{1: n, 2: None} for n in range(start, start + 50)]) for start in range(0, 500, 50)))
    read = read_table(kit.table(), threads=threads, batch_rows=7).read_all().column("id").to_pylist()
    assert sorted(read) == list(range(500))
    assert threads != 1 or read == list(range(500))


def test_reading_stops_when_nobody_reads_on(kit: TableKit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.commit(*(kit.file(ROWS) for _ in range(30)))
    started: list[Any] = []

    def counted(task: Any, *rest: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        started.append(task)
        yield from read_task(task, *rest, **options)

    monkeypatch.setattr(local, "read_task", counted)
    reader = read_table(kit.table(), threads=2)
    assert reader.read_next_batch().num_rows == 10
    del reader
    assert len(started) < 30


def test_timestamps_of_orc_are_micros(kit: TableKit) -> None:
    kit.evolve((field(1, "ts", TIMESTAMP),))
    kit.commit(kit.file([{1: -1}, {1: 1_000_001}], file_format=FileFormat.ORC))
    assert read_table(kit.table()).read_all().column("ts").cast(pa.int64()).to_pylist() == [-1, 1_000_001]


def test_batches_are_as_large_as_asked_for(kit: TableKit) -> None:
    for file_format in FORMATS:
        kit.commit(kit.file([{1: n, 2: "x"} for n in range(100)], file_format=file_format))
    sizes = [batch.num_rows for batch in read_table(kit.table(), batch_rows=30, threads=1)]
    assert max(sizes) == 30
    assert sum(sizes) == 300
    assert reader.BATCH_ROWS > 30
    assert kit.version is V2
