"""Engines read the reference's tables: every type, partitions, and every kind of deletes."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_processes import Running

from conformance.engine_setup import list_engines
from conformance.operations.protocol import Ok
from conformance.operations.registry import OPERATIONS
from conformance.operations.wire import to_exchange
from conformance.runner.adapter_interface import Request
from conformance.runner.process import Process
from conformance.table_io.local import read_table
from conformance.table_io.writing import Mode, WritableTable, append, compact, create_table, delete, merge, update
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.core.versions import V2, V3, FormatVersion
from spec_ref.data_types.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    DecimalType,
    FixedType,
    ListType,
    MapType,
    NestedField,
    StructType,
)
from spec_ref.expressions.predicates import Comparison, Literal, NamedReference, Operation
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.partitioning.transforms import Bucket, Day, Identity, Truncate
from spec_ref.schemas.type_json import type_to_json
from spec_ref.sorting.order import NullOrder, SortDirection, SortField, SortOrder

pytestmark = pytest.mark.engine

ENGINES = [status for status in list_engines() if status.name in ("pyiceberg", "iceberg-java")]

INNER = StructType((NestedField(20, "x", required=False, type=INT), NestedField(21, "y", required=True, type=STRING)))
FIELDS = tuple(
    NestedField(number, name, required=number == 1, type=type_)
    for number, (name, type_) in enumerate(
        (
            ("id", LONG),
            ("part", STRING),
            ("at", TIMESTAMP),
            ("b", BOOLEAN),
            ("i", INT),
            ("f", FLOAT),
            ("d", DOUBLE),
            ("n", DecimalType(20, 3)),
            ("day", DATE),
            ("t", TIME),
            ("z", TIMESTAMPTZ),
            ("u", UUID),
            ("x", FixedType(3)),
            ("y", BINARY),
            ("s", INNER),
            ("l", ListType(22, INT)),
            ("m", MapType(23, STRING, 24, LONG)),
        ),
        1,
    )
)
SPEC = PartitionSpec(
    0,
    tuple(
        PartitionField(source_id=source, field_id=1000 + place, name=f"p{place}", transform=transform)
        for place, (source, transform) in enumerate(((2, Identity()), (3, Day()), (1, Bucket(2)), (8, Truncate(100))))
    ),
)
ORDER = SortOrder(
    1,
    (
        SortField(source_id=7, transform=Identity(), direction=SortDirection.DESC, null_order=NullOrder.NULLS_LAST),
        SortField(source_id=2, transform=Truncate(1)),
    ),
)


def rows(count: int = 12) -> pa.Table:
    """Rows with a value of every type, and nulls."""
    made = []
    for one in range(count):
        past = datetime.datetime(1969, 12, 30, 23, 59, 59, 999999) + datetime.timedelta(hours=9 * one)
        row = {
            "id": one,
            "part": ("a b", "ü/=", None)[one % 3],
            "at": past,
            "b": one % 2 == 0,
            "i": -one,
            "f": one / 2,
            "d": -0.0 if one == 3 else one * 1.5,
            "n": Decimal(one * 1001 - 5005).scaleb(-3),
            "day": past.date(),
            "t": datetime.time(one, 1, 2, 3),
            "z": past.replace(tzinfo=datetime.UTC),
            "u": uuid.UUID(int=one << 120).bytes,
            "x": bytes([one] * 3),
            "y": bytes(one),
            "s": {"x": None, "y": f"y{one}"},
            "l": [one, one + 1],
            "m": [("k", one)],
        }
        made.append(row if one % 5 else {"id": one, "part": row["part"], "at": past, "n": row["n"]})
    types = {
        "id": pa.int64(),
        "part": pa.string(),
        "at": pa.timestamp("us"),
        "b": pa.bool_(),
        "i": pa.int32(),
        "f": pa.float32(),
        "d": pa.float64(),
        "n": pa.decimal128(20, 3),
        "day": pa.date32(),
        "t": pa.time64("us"),
        "z": pa.timestamp("us", "UTC"),
        "u": pa.binary(16),
        "x": pa.binary(3),
        "y": pa.binary(),
        "s": pa.struct([("x", pa.int32()), ("y", pa.string())]),
        "l": pa.list_(pa.int32()),
        "m": pa.map_(pa.string(), pa.int64()),
    }
    return pa.Table.from_pylist(made, schema=pa.schema(types))


def where(name: str, value: Any, operation: Operation = Operation.EQ) -> Any:
    return Comparison(operation, NamedReference(name), Literal(value))


def made(place: Path, version: FormatVersion, format_: str, mode: Mode) -> WritableTable:
    """A table that was appended to, deleted from, updated, merged into and compacted."""
    fields = FIELDS[:-1] if format_ == "orc" else FIELDS  # pyarrow does not write the ids of maps in ORC
    properties = {"write.format.default": format_, "write.delete.format.default": "parquet"}
    table = create_table(str(place), fields, version=version, spec=SPEC, order=ORDER, properties=properties)
    given = rows().select([field.name for field in fields])
    append(table, given)
    append(table, given.set_column(0, "id", pa.array(range(100, 112))))
    delete(table, where("i", -4), mode=mode)
    by_position = Mode.MERGE_ON_READ if mode is Mode.EQUALITY else mode
    update(table, {"d": 77.0}, where("part", "a b"), mode=by_position)
    compact(table, where("part", "ü/="))
    merge(
        table, pa.table({"id": [7, 500], "f": pa.array([0.5, 0.25]), "part": ["ü/=", "new"]}), ["id"], mode=by_position
    )
    delete(table, where("id", 108, Operation.GT), mode=mode)
    return table


CASES = [
    ("pyiceberg", V2, "parquet", Mode.COPY_ON_WRITE),
    ("pyiceberg", V2, "parquet", Mode.MERGE_ON_READ),
    ("pyiceberg", V3, "parquet", Mode.MERGE_ON_READ),
    ("pyiceberg", V3, "parquet", Mode.COPY_ON_WRITE),
    ("iceberg-java", V2, "parquet", Mode.MERGE_ON_READ),
    ("iceberg-java", V2, "avro", Mode.EQUALITY),
    ("iceberg-java", V2, "orc", Mode.COPY_ON_WRITE),
    ("iceberg-java", V3, "parquet", Mode.MERGE_ON_READ),
    ("iceberg-java", V3, "avro", Mode.COPY_ON_WRITE),
]


@pytest.fixture(scope="module", params=ENGINES, ids=lambda status: status.label)
def engine(request: pytest.FixtureRequest, running: Running) -> tuple[str, Process]:
    return request.param.name, running(request.param.label)[0]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


def test_the_engine_reads_what_was_written(engine: tuple[str, Process], place: Path) -> None:
    name, process = engine
    wanted = [case[1:] for case in CASES if case[0] == name]
    assert wanted
    for version, format_, mode in wanted:
        folder = place / f"{process.name}-{version:d}-{format_}-{mode.value}".replace("@", "-")
        table = made(folder, version, format_, mode)
        expected = exchanged(table)
        types = {field.name: type_to_json(field.type) for field in table.metadata.current_schema.fields}
        (answer,) = process.ask([Request("table.read", {"table": table.base.location, "types": types})])
        assert isinstance(answer, Ok), (version, format_, mode, answer)
        differences = OPERATIONS["table.read"].compare({"types": types}, {"rows": expected}, answer.value)
        assert differences == (), (version, format_, mode)


def exchanged(table: WritableTable) -> list[dict[str, Any]]:
    """The rows of a table as engines return them."""
    fields = table.metadata.current_schema.fields
    rows_: list[dict[str, Any]] = []
    for batch in read_table(table.table).read_all().combine_chunks().to_batches():
        columns = [
            [None if value is None else to_exchange(field.type, value) for value in to_python_values(field.type, array)]
            for field, array in zip(fields, batch.columns, strict=True)
        ]
        rows_ += [dict(zip((field.name for field in fields), row, strict=True)) for row in zip(*columns, strict=True)]
    assert len(rows_) == 19
    return rows_
