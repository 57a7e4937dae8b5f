"""Corruptions of data files in Parquet, ORC and Avro, and of entries' facts about them (Appendix A)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
from pyroaring import BitMap64

from tests.validate.corruptions import corruption

V2, V3 = "position-deletes-parquet", "row-lineage-parquet"
TABLES = {"parquet": "types-v2-parquet", "orc": "types-v2-avro", "avro": "types-v2-avro"}
TYPES, PARTITIONED = "types-v2-parquet", "partition-identity-v2"
NESTED_ORC, TYPES_AVRO = "schema-evolution-orc", "types-v2-avro"

Change = Callable[[pa.Table], pa.Table]


def rewritten(bench: Any, location: str, change: Change, file: dict[str, Any]) -> None:
    """Rewrite a Parquet file, with its field ids; what entries say of its layout is dropped."""
    table = change(pq.read_table(io.BytesIO(bench.read(location))))
    out = io.BytesIO()
    pq.write_table(table, out, store_schema=False, version="2.6", store_decimal_as_integer=True)
    bench.replace(location, out.getvalue())
    file["column_sizes"] = file["split_offsets"] = None


def _data(bench: Any, change: Change) -> None:
    rewritten(bench, bench.file["file_path"], change, bench.file)


def _set(table: pa.Table, name: str, values: Any, field: Any = None) -> pa.Table:
    place = table.schema.get_field_index(name)
    return table.set_column(place, field or table.schema.field(name), values)


# What entries say


for _format, _table in (("parquet", TYPES), ("orc", NESTED_ORC), ("avro", TYPES_AVRO)):

    @corruption("DFL005", f"count-of-{_format}", _table, "files")
    def _count(bench: Any) -> None:
        bench.file["record_count"] += 1

    @corruption("DFL006", f"size-of-{_format}", _table, "files")
    def _size(bench: Any) -> None:
        bench.file["file_size_in_bytes"] += 1

    @corruption("DFL002", f"{_format}-missing", _table, "files")
    def _missing(bench: Any) -> None:
        from tools.grid.workbench import local

        bench.replaced[local(bench.file["file_path"])] = None


for _format, _table, _code in (
    ("parquet", TYPES, "PQT001"),
    ("orc", NESTED_ORC, "ORC008"),
    ("avro", TYPES_AVRO, "AVR014"),
):

    @corruption(_code, f"{_format}-cut", _table, "files")
    def _cut(bench: Any) -> None:
        bench.replace(bench.file["file_path"], bench.read(bench.file["file_path"])[:-30])

    @corruption(_code, f"{_format}-of-text", _table, "files")
    def _text(bench: Any) -> None:
        bench.replace(bench.file["file_path"], b"id,name\n1,one\n" * 20)

    @corruption(_code, f"{_format}-empty", _table, "files")
    def _empty(bench: Any) -> None:
        bench.replace(bench.file["file_path"], b"")


@corruption("PQT001", "avro-called-parquet", TYPES_AVRO, "files")
def _called_parquet(bench: Any) -> None:
    bench.file["file_format"] = "PARQUET"


@corruption("PQT007", "pages-damaged", V2, "rows")
def _pages(bench: Any) -> None:
    content = bytearray(bench.read(bench.file["file_path"]))
    for place in range(4, 60):
        content[place] ^= 0xA5
    bench.replace(bench.file["file_path"], bytes(content))


@corruption("DFL019", "offsets-elsewhere", V2, "files")
def _offsets(bench: Any) -> None:
    bench.file["split_offsets"] = [5]


@corruption("DFL019", "offsets-elsewhere-in-orc", NESTED_ORC, "files")
def _orc_offsets(bench: Any) -> None:
    bench.file["split_offsets"] = [77]


@corruption("DFL012", "value-count-of-footer", TYPES, "files")
def _values(bench: Any) -> None:
    bench.file["value_counts"][0]["value"] += 1


@corruption("DFL013", "null-count-of-footer", TYPES, "files")
def _nulls(bench: Any) -> None:
    bench.file["null_value_counts"][0]["value"] += 1


@corruption("DFL011", "size-of-column", TYPES, "files", severity="warning")
def _column_size(bench: Any) -> None:
    bench.file["column_sizes"][0]["value"] += 1


for _format, _table in (("orc", NESTED_ORC),):

    @corruption("DFL012", f"value-count-in-{_format}", _table, "rows")
    def _values_there(bench: Any) -> None:
        bench.file["value_counts"][0]["value"] += 1

    @corruption("DFL013", f"null-count-in-{_format}", _table, "rows")
    def _nulls_there(bench: Any) -> None:
        bench.file["null_value_counts"][0]["value"] += 1


@corruption("DFL014", "nan-count", "float-metrics", "rows")
def _nans(bench: Any) -> None:
    bench.file["nan_value_counts"][0]["value"] += 1


def _bounds(bench: Any, bounds: str, types: tuple[str, ...], change: Callable[[bytes], bytes]) -> None:
    wanted = {field["id"] for field in bench.schema["fields"] if field["type"] in types}
    for manifest in bench.manifests:
        for file in manifest.files:
            for row in file[bounds] or []:
                if row["key"] in wanted and not bench.metadata.get("changed"):
                    row["value"] = change(row["value"])
                    bench.metadata["changed"] = "yes"
    del bench.metadata["changed"]


def _raised(data: bytes) -> bytes:
    return (int.from_bytes(data, "little", signed=True) + 1).to_bytes(len(data), "little", signed=True)


def _lowered(data: bytes) -> bytes:
    return (int.from_bytes(data, "little", signed=True) - 1).to_bytes(len(data), "little", signed=True)


@corruption("DFL016", "lower-bound-high", "upgraded-v1-v2-v3", "rows")
def _lower(bench: Any) -> None:
    _bounds(bench, "lower_bounds", ("long",), _raised)
    _bounds_kept(bench)


def _bounds_kept(bench: Any) -> None:
    """Keep bounds from crossing, which would be reported separately."""
    for manifest in bench.manifests:
        for file in manifest.files:
            file["upper_bounds"] = None


@corruption("DFL017", "upper-bound-low", "upgraded-v1-v2-v3", "rows")
def _upper(bench: Any) -> None:
    _bounds(bench, "upper_bounds", ("long",), _lowered)
    for manifest in bench.manifests:
        for file in manifest.files:
            file["lower_bounds"] = None


@corruption("DFL016", "lower-bound-high-in-orc", NESTED_ORC, "rows")
def _orc_lower(bench: Any) -> None:
    for file in bench.data.files:
        file["upper_bounds"] = None
    _bounds(bench, "lower_bounds", ("long", "int"), _raised)


@corruption("DFL017", "upper-bound-of-string-low", V2, "rows")
def _upper_text(bench: Any) -> None:
    for file in bench.data.files:
        file["lower_bounds"] = None
    column = next(field["id"] for field in bench.schema["fields"] if field["type"] == "string")
    bench.file["upper_bounds"] = [{"key": column, "value": b"\x01"}]


# Schemas of files


@corruption("PQT001", "column-without-id", V2, "files")
def _without_id(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        last = table.schema.field(table.num_columns - 1)
        return table.set_column(table.num_columns - 1, last.remove_metadata(), table.column(table.num_columns - 1))

    _data(bench, change)


@corruption("PQT001", "no-ids-at-all", V2, "files")
def _no_ids(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        return table.cast(pa.schema([field.remove_metadata() for field in table.schema]))

    _data(bench, change)


def _typed(type_: pa.DataType) -> Change:
    def change(table: pa.Table) -> pa.Table:
        name = table.schema.names[0]
        field = table.schema.field(0).with_type(type_)
        return _set(table, name, table[name].cast(type_), field)

    return change


@corruption("EVO001", "column-of-another-type", V2, "files")
def _another_type(bench: Any) -> None:
    _data(bench, _typed(pa.string()))


@corruption("EVO001", "column-narrowed-to-float", V2, "files")
def _float_type(bench: Any) -> None:
    _data(bench, _typed(pa.float64()))


@corruption("TMD006", "column-never-given", V2, "files")
def _never_given(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        field = pa.field("extra", pa.int64(), metadata={b"PARQUET:field_id": b"70"})
        return table.append_column(field, pa.array([1] * table.num_rows, pa.int64()))

    _data(bench, change)


@corruption("TYP002", "two-columns-of-a-file-one-id", V2, "files")
def _two_ids(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        field = pa.field("twin", table.schema.field(0).type, metadata=table.schema.field(0).metadata)
        return table.append_column(field, table.column(0))

    _data(bench, change)


@corruption("PQT003", "timestamp-in-milliseconds", V2, "files", severity="warning")
def _small_ints(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        field = pa.field("small", pa.int8(), metadata={b"PARQUET:field_id": b"3"})
        return table.append_column(field, pa.array([1] * table.num_rows, pa.int8()))

    bench.metadata["last-column-id"] = 3
    _data(bench, change)


@corruption("TYP002", "required-column-missing", V2, "files")
def _required_missing(bench: Any) -> None:
    bench.schema["fields"].append({"id": 9, "name": "must", "required": True, "type": "long"})
    bench.metadata["last-column-id"] = 9


@corruption("TYP002", "required-column-with-null", V2, "rows")
def _required_null(bench: Any) -> None:
    for schema in bench.metadata["schemas"]:
        schema["fields"][0]["required"] = True

    def change(table: pa.Table) -> pa.Table:
        name = table.schema.names[0]
        values = table[name].to_pylist()
        field = table.schema.field(0).with_nullable(True)
        return _set(table, name, pa.array([None, *values[1:]], field.type), field)

    for bounds in ("null_value_counts", "lower_bounds", "upper_bounds"):
        bench.file[bounds] = None
    _data(bench, change)


NESTED_NULLS = (
    ("TYP002", "struct", "id", 2, "required"),
    ("TYP002", "field-of-struct", "id", 5, "required"),
    ("TYP002", "list-in-list", "id", 17, "required"),
    ("TYP003", "element", "element-id", 9, "element-required"),
    ("TYP003", "element-in-element", "element-id", 18, "element-required"),
    ("TYP004", "value", "value-id", 13, "value-required"),
    ("TYP004", "value-in-value", "value-id", 15, "value-required"),
)
"""What the golden table has as null: the code, a name, and the member of the schema that requires it."""

for _format in ("parquet", "orc", "avro"):
    for _code, _what, _member, _id, _required in NESTED_NULLS:

        @corruption(_code, f"required-{_what}-null-in-{_format}", f"awkward-deep-nulls-{_format}", "rows")
        def _nested_null(bench: Any, member: str = _member, id_: int = _id, required: str = _required) -> None:
            for schema in bench.metadata["schemas"]:
                for part in _parts(schema):
                    if part.get(member) == id_:
                        part[required] = True


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _parts(value)


for _format in ("parquet", "orc", "avro"):

    @corruption("TYP002", f"required-field-of-structs-missing-in-{_format}", f"awkward-deep-nulls-{_format}", "files")
    def _nested_missing(bench: Any) -> None:
        structs = [part for part in _parts(bench.schema) if part.get("type") == "struct"]
        structs[-1]["fields"].append({"id": 90, "name": "must", "required": True, "type": "long"})
        bench.metadata["last-column-id"] = 90


# Rows


@corruption("PAR001", "row-of-another-partition", "position-deletes-partitioned", "rows")
def _another_partition(bench: Any) -> None:
    spec = bench.metadata["partition-specs"][-1]
    source = spec["fields"][0]["source-id"]
    name = next(field["name"] for field in bench.schema["fields"] if field["id"] == source)

    def change(table: pa.Table) -> pa.Table:
        values = table[name].to_pylist()
        other = [value + 1 if isinstance(value, int) else f"{value or ''}x" for value in values]
        return _set(table, name, pa.array(other, table.schema.field(name).type))

    for bounds in ("lower_bounds", "upper_bounds", "null_value_counts"):
        bench.file[bounds] = None
    _data(bench, change)


@corruption("PAR001", "entry-of-another-partition", "partition-bucket", "rows")
def _another_bucket(bench: Any) -> None:
    bench.data.listed["partitions"] = None
    for file in bench.data.files:
        name = next(name for name in file["partition"])
        if file["partition"][name] is not None:
            file["partition"][name] = (file["partition"][name] + 1) % 16
            return


@corruption("PAR001", "void-with-a-value", "partition-evolution-v1", "rows")
def _void_with_a_value(bench: Any) -> None:
    bench.data.listed["partitions"] = None
    void = {
        field["name"]
        for spec in bench.metadata["partition-specs"]
        for field in spec["fields"]
        if field["transform"] == "void" and spec["spec-id"] == bench.data.listed["partition_spec_id"]
    }
    for file in bench.data.files:
        for name in void & file["partition"].keys():
            file["partition"][name] = "b" if name == "data" else 3
            return
    raise AssertionError(void)


@corruption("DFL021", "not-in-order", V2, "rows")
def _not_in_order(bench: Any) -> None:
    fields = [{"transform": "identity", "source-id": 1, "direction": "desc", "null-order": "nulls-last"}]
    bench.metadata["sort-orders"].append({"order-id": 1, "fields": fields})
    bench.file["sort_order_id"] = 1

    def change(table: pa.Table) -> pa.Table:
        three = pa.concat_tables([table.slice(0, 1)] * 3)
        name = table.schema.names[0]
        return _set(three, name, pa.array([1, 3, 2], table.schema.field(name).type))

    for name in ("value_counts", "null_value_counts", "lower_bounds", "upper_bounds"):
        bench.file[name] = None
    bench.file["record_count"] = 3
    _data(bench, change)


@corruption("LIN002", "row-id-of-another-file", V3, "rows")
def _row_id_of_another(bench: Any) -> None:
    _lineage(bench, lambda table: _with_ids(table, [10, *range(1, table.num_rows)], None))


@corruption("LIN003", "changed-before-all", V3, "rows")
def _changed_before_all(bench: Any) -> None:
    _lineage(bench, lambda table: _with_ids(table, None, [-1] * table.num_rows))


UPGRADED_V3 = "deletion-vectors-after-upgrade"


@corruption("LIN002", "row-id-of-a-row-that-is-not-deleted", UPGRADED_V3, "rows")
def _row_id_of_live(bench: Any) -> None:
    _lineage(bench, lambda table: _with_ids(table, [live_and_deleted(bench)[0]], None))


def live_and_deleted(bench: Any) -> tuple[int, int]:
    """A row id that is left, and one that a deletion vector deleted, of the file that the vector is for."""
    positions: list[int] = []
    for file in bench.deletes.files:
        if file["file_format"].lower() == "puffin":
            blob = bench.read(file["file_path"])[file["content_offset"] :][: file["content_size_in_bytes"]]
            positions = list(BitMap64.deserialize(blob[8:-4]))
            path = file["referenced_data_file"]
    first = {m.files[0]["file_path"]: m.listed["first_row_id"] for m in bench.manifests if not m.listed["content"]}
    count = next(file["record_count"] for m in bench.manifests for file in m.files if file["file_path"] == path)
    left = next(position for position in range(count) if position not in positions)
    return first[path] + left, first[path] + positions[0]


@corruption("LIN002", "row-id-twice", V3, "rows")
def _row_id_twice(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        return _with_ids(table, [0] * table.num_rows, None)

    _lineage(bench, change)


@corruption("TMD024", "row-id-not-given", V3, "rows")
def _row_id_not_given(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        return _with_ids(table, list(range(10**6, 10**6 + table.num_rows)), None)

    _lineage(bench, change)


@corruption("LIN003", "changed-later", V3, "rows")
def _changed_later(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        return _with_ids(table, None, [10**6] * table.num_rows)

    _lineage(bench, change)


def _lineage(bench: Any, change: Change) -> None:
    for name in ("value_counts", "null_value_counts", "lower_bounds", "upper_bounds", "nan_value_counts"):
        bench.file[name] = None
    _data(bench, change)


def _with_ids(table: pa.Table, ids: list[int] | None, numbers: list[int] | None) -> pa.Table:
    for name, number, values in (
        ("_row_id", b"2147483540", ids),
        ("_last_updated_sequence_number", b"2147483539", numbers),
    ):
        if name in table.schema.names:
            table = table.drop_columns([name])
        made = pa.array(values if values is not None else [None] * table.num_rows, pa.int64())
        table = table.append_column(pa.field(name, pa.int64(), metadata={b"PARQUET:field_id": number}), made)
    return table


# ORC and Avro


def _orc_data(bench: Any, change: Change) -> None:
    location = bench.file["file_path"]
    table = change(orc.ORCFile(io.BytesIO(bench.read(location))).read())
    out = io.BytesIO()
    orc.write_table(table, out)
    bench.replace(location, out.getvalue())
    bench.file["column_sizes"] = bench.file["split_offsets"] = None


@corruption("ORC001", "no-ids-at-all", "position-deletes-orc", "files")
def _orc_no_ids(bench: Any) -> None:
    _orc_data(bench, lambda table: table.cast(pa.schema([field.remove_metadata() for field in table.schema])))


@corruption("ORC001", "column-without-id", "position-deletes-orc", "files")
def _orc_without_id(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        last = table.schema.field(table.num_columns - 1)
        return table.set_column(table.num_columns - 1, last.remove_metadata(), table.column(table.num_columns - 1))

    _orc_data(bench, change)


@corruption("ORC001", "id-no-number", "position-deletes-orc", "files")
def _orc_bad_id(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        field = table.schema.field(0).with_metadata({"iceberg.id": "one"})
        return table.set_column(0, field, table.column(0))

    _orc_data(bench, change)


@corruption("EVO001", "orc-column-of-another-type", "position-deletes-orc", "files")
def _orc_type(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        field = table.schema.field(0).with_type(pa.string())
        return table.set_column(0, field, table.column(0).cast(pa.string()))

    _orc_data(bench, change)


@corruption("DFL005", "orc-row-lost", "position-deletes-orc", "files")
def _orc_row_lost(bench: Any) -> None:
    _orc_data(bench, lambda table: table.slice(1))


def _avro_data(bench: Any, change: Callable[[dict[str, Any], list[Any]], object]) -> None:
    location = bench.file["file_path"]
    reader = fastavro.reader(io.BytesIO(bench.read(location)))
    schema = json.loads(reader.metadata["avro.schema"])
    records = list(reader)
    change(schema, records)
    out = io.BytesIO()
    fastavro.writer(out, schema, records)
    bench.replace(location, out.getvalue())


AVRO = "position-deletes-avro"


@corruption("AVR013", "column-without-id", AVRO, "files")
def _avro_without_id(bench: Any) -> None:
    _avro_data(bench, lambda schema, records: schema["fields"][-1].pop("field-id"))


@corruption("AVR013", "no-ids-at-all", AVRO, "files")
def _avro_no_ids(bench: Any) -> None:
    _avro_data(bench, lambda schema, records: [field.pop("field-id") for field in schema["fields"]])


@corruption("DFL005", "avro-row-lost", AVRO, "files")
def _avro_row_lost(bench: Any) -> None:
    _avro_data(bench, lambda schema, records: records.pop() and None)


@corruption("EVO001", "avro-column-of-another-type", AVRO, "files")
def _avro_type(bench: Any) -> None:
    def change(schema: dict[str, Any], records: list[Any]) -> None:
        name = schema["fields"][0]["name"]
        schema["fields"][0]["type"] = ["null", "string"]
        for record in records:
            record[name] = str(record[name])

    _avro_data(bench, change)


@corruption("AVR014", "block-damaged", AVRO, "rows")
def _avro_damaged(bench: Any) -> None:
    content = bytearray(bench.read(bench.file["file_path"]))
    content[-25] ^= 0xFF
    content[-26] ^= 0xFF
    bench.replace(bench.file["file_path"], bytes(content))
