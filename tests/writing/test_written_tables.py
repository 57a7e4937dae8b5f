"""Rows of any schema, with any spec, order and format, are read back unchanged."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from written import count_rows, errors, from_arrow, read, to_arrow

from conformance.table_io.file_access import read_bytes
from conformance.table_io.writing import WritableTable, append, create_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import SnapshotSelection, validate
from spec_ref.columnar.scan_planning.planner import plan
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import V1, V2, V3
from spec_ref.data_files import orc_schema, parquet_writer
from spec_ref.data_types.types import (
    DOUBLE,
    LONG,
    STRING,
    UNKNOWN,
    VARIANT,
    ListType,
    MapType,
    NestedField,
    StructType,
    children,
)
from spec_ref.data_types.values import value_key
from spec_ref.expressions.predicates import TRUE
from spec_ref.manifests.computed_metrics import TRUNCATED, compute_metrics
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.split_by_partition import check_spec
from spec_ref.partitioning.transforms import Identity, UnknownTransform
from spec_ref.schemas.schema import Schema
from spec_ref.sorting.comparator import is_sortable
from spec_ref.sorting.order import UNSORTED, SortOrder
from tools.metadata_strategies import partition_specs, schemas, sort_orders
from tools.value_strategies import values

FORMATS = (FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO)


def inside(type_: Any) -> list[Any]:
    """A type and all types in it."""
    return [type_, *(found for _, child in children(type_) for found in inside(child))]


def writable(schema: Schema, format_: FileFormat) -> bool:
    """Whether a format has a place for the columns: not for what has nothing inside but what is unknown."""
    if format_ is FileFormat.AVRO:
        return True
    for field in schema.fields:
        for type_ in inside(field.type):
            if (
                format_ is FileFormat.PARQUET
                and isinstance(type_, StructType)
                and all(child.type == UNKNOWN for child in type_.fields)
            ):
                return False
            if isinstance(type_, (ListType, MapType)) and UNKNOWN in [child for _, child in children(type_)]:
                return False
    return True


def overflows(spec: PartitionSpec, order: SortOrder, schema: Schema, rows: list[dict[int, Any]]) -> bool:
    """Whether a transform has no result for some value."""
    for field in (*spec.fields, *order.fields):
        column = schema.find(field.sources[0])
        if column is None or isinstance(field.transform, UnknownTransform):
            continue
        for row in rows:
            try:
                field.transform.apply(column.type, row.get(column.id))
            except SpecError:
                return True
    return False


def takes(spec: PartitionSpec, schema: Schema) -> bool:
    """Whether rows of a schema can be written by a spec."""
    try:
        check_spec(spec, schema)
    except SpecError:
        return False
    return True


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    version = draw(st.sampled_from([V1, V2, V3]))
    schema = draw(schemas(version))
    spec = draw(partition_specs(schema, version).filter(lambda one: takes(one, schema)))
    order = draw(st.one_of(st.just(UNSORTED), sort_orders(schema, version)))
    rows = draw(st.lists(values(schema.as_struct()), max_size=12))
    format_ = draw(st.sampled_from(FORMATS))
    if format_ is FileFormat.ORC:
        rows = [row for row in rows if not any(map(is_far, row.values()))]
    return version, schema, spec, order, rows, format_


def is_far(value: Any) -> bool:
    """Whether a value may be a timestamp in the first second that its type has, which ORC readers round out of it."""
    if isinstance(value, (dict, tuple)):
        return any(map(is_far, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value < -(2**63) + 10**9


def data_files(table: WritableTable) -> list[DataFile]:
    """The data files of a table, with their metrics."""
    metadata = table.metadata
    return [t.data_file for t in plan(metadata, metadata.current_snapshot, TRUE, read_bytes, include_column_stats=True)]


def test_partitions_of_floats_that_are_no_numbers(tmp_path: Path) -> None:
    fields = (NestedField(1, "d", required=False, type=DOUBLE),)
    spec = PartitionSpec(0, (PartitionField(source_id=1, field_id=1000, name="d", transform=Identity()),))
    table = create_table(str(tmp_path / "t"), fields, spec=spec)
    found = [float("nan"), -float("nan"), float("inf"), -0.0, 0.0, None]
    append(table, pa.table({"d": pa.array(found, pa.float64(), from_pandas=False)}))
    partitions = {repr(file.partition[1000]) for file in data_files(table)}
    assert partitions == {"nan", "inf", "-0.0", "0.0", "None"}
    assert read(table).num_rows == 6
    assert errors(table) == []


# Cases are small, and making one smaller takes as long as all of them.
@settings(
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(cases())
def test_rows_are_read_as_they_were_written(case: tuple[Any, ...]) -> None:
    version, schema, spec, order, rows, format_ = case
    if overflows(spec, order, schema, rows):
        return
    with tempfile.TemporaryDirectory() as folder:
        properties = {"write.format.default": format_.value, "my-crs": "{}"}  # what a CRS of the strategies names
        table = create_table(folder, schema, spec=spec, order=order, version=version, properties=properties)
        before = {str(path) for path in Path(folder).rglob("*")}
        if not writable(schema, format_) and rows:
            with pytest.raises(SpecError):
                append(table, to_arrow(schema, rows), threads=1)
            assert {str(path) for path in Path(folder).rglob("*")} == before
            return
        append(table, to_arrow(schema, rows), threads=2)
        assert count_rows(schema, from_arrow(schema, read(table))) == count_rows(schema, rows)
        assert errors(table) == []
        names = [field.name for field in schema.fields]
        given = read(table, select=[*names, "_file"])
        for file in data_files(table):
            own = given.filter(pc.equal(given.column("_file"), file.file_path)).select(names)
            check_file(file, from_arrow(schema, own), schema, spec, order)


def check_file(
    file: DataFile, rows: list[dict[int, Any]], schema: Schema, spec: PartitionSpec, order: SortOrder
) -> None:
    """The rows of a file are all of its partition, and its metrics are those of the rows. (The validator has looked at
    the order of the rows and at the file's format.)
    """
    type_ = spec.partition_type(schema)
    for row in rows:
        values_of_row = {}
        for field in spec.fields:
            column = schema.find(field.sources[0])
            assert column is not None
            values_of_row[field.field_id] = field.transform.apply(column.type, row.get(column.id))
        assert value_key(type_, values_of_row) == value_key(type_, file.partition)
    known = compute_metrics(schema.as_struct(), rows, TRUNCATED)
    assert file.record_count == known.record_count
    for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        assert dict(getattr(file, name)) == dict(getattr(known, name)), name
    assert file.sort_order_id == (order.order_id if is_sortable(order, schema) else 0)


def test_avro_maps_of_other_keys_than_strings(tmp_path: Path) -> None:
    keys = MapType(2, ListType(4, LONG), 3, STRING, value_required=False)
    fields = (NestedField(1, "m", required=False, type=keys),)
    table = create_table(str(tmp_path / "t"), fields, properties={"write.format.default": "avro"})
    type_ = pa.map_(pa.list_(pa.int64()), pa.string())
    append(table, pa.table({"m": pa.array([[], None], type_)}))  # no entry anywhere
    assert sorted(read(table).column("m").to_pylist(), key=repr) == [None, []]
    append(table, pa.table({"m": pa.array([[([1], None)]], type_)}))
    assert [([1], None)] in read(table).column("m").to_pylist()
    assert errors(table) == []  # AVR002: what is optional has the default null, also in the records of a map


def test_avro_files_have_the_defaults_of_the_table(tmp_path: Path) -> None:  # AVR003
    inside = StructType((NestedField(4, "x", False, STRING, None, "d", "d"),))
    fields = (
        NestedField(1, "id", True, LONG, None, 5, 5),
        NestedField(2, "s", False, STRING, None, "é", "é"),
        NestedField(3, "p", False, inside, None, {}, {}),
    )
    table = create_table(str(tmp_path / "t"), fields, version=V3, properties={"write.format.default": "avro"})
    rows = [{"id": 1, "s": "a", "p": {"x": None}}, {"id": 2, "s": None, "p": None}]
    append(table, to_arrow(Schema(fields), [{1: 1, 2: "a", 3: {4: None}}, {1: 2}]))
    assert sorted(read(table).to_pylist(), key=lambda row: row["id"]) == rows
    found = validate(table.base.location, Level.ROWS, LocalBackend(1), SnapshotSelection("all")).findings
    assert "AVR003" not in {finding.requirement for finding in found}


NESTED = (
    NestedField(1, "id", required=True, type=LONG),
    NestedField(2, "m", required=False, type=MapType(3, STRING, 4, VARIANT, value_required=False)),
    NestedField(5, "v", required=False, type=VARIANT),
)
PARTS = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
NUMBER = {"metadata": b"\x01\x00\x00", "value": b"\x0c\x22"}


def nested_table(folder: Path, format_: str) -> WritableTable:
    """A table with a map and variants, of one file."""
    table = create_table(str(folder), NESTED, version=V3, properties={"write.format.default": format_})
    append(
        table,
        pa.table(
            {
                "id": [1, 2, 3],
                "v": pa.array([NUMBER, None, NUMBER], PARTS),
                "m": pa.array([[("a", NUMBER), ("b", None)], [], None], pa.map_(pa.string(), PARTS)),
            }
        ),
    )
    return table


def test_an_annotation_or_id_that_is_left_out_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for format_ in ("parquet", "orc"):
        table = nested_table(tmp_path / f"whole {format_}", format_)
        assert errors(table) == []
        assert read(table, select=["m"]).column(0).to_pylist()[:2] == [[("a", NUMBER), ("b", None)], []]
        (file,) = data_files(table)
        assert (file.value_counts[5], file.null_value_counts[5], 5 in file.lower_bounds) == (3, 1, False)
    monkeypatch.setattr(parquet_writer, "with_logical_types", lambda tail, _: tail)
    assert {one.requirement for one in errors(nested_table(tmp_path / "bare parquet", "parquet"))} >= {"PQT001"}
    as_asked = orc_schema._arrow_field

    def without_ids(name: str, *rest: Any, **more: Any) -> Any:
        made = as_asked(name, *rest, **more)
        return made.remove_metadata() if name == "value" else made

    monkeypatch.setattr(orc_schema, "_arrow_field", without_ids)
    assert {one.requirement for one in errors(nested_table(tmp_path / "bare orc", "orc"))} >= {"ORC001"}
