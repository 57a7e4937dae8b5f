"""Corruptions of single parts of files, and of entries, that the tables of other modules leave whole."""

from __future__ import annotations

import copy
import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc

from tests.validate.corruptions import corruption
from tests.validate.corruptions.data_files import rewritten
from tests.validate.corruptions.deletes import VECTORS, _deletes, _footer, _vector
from tests.validate.corruptions.statistics import PARTITIONED, _field, _struct, counted, place, stored
from tests.validate.corruptions.stored_types import rewrite_columns, without_metrics

V2, EQUALITY, TYPES = "position-deletes-parquet", "equality-deletes-parquet", "types-v2-parquet"

# Entries


@corruption("DEL018", "part-of-structs", EQUALITY)
def _of_structs(bench: Any) -> None:
    inner = {"type": "struct", "fields": [{"id": 902, "name": "a", "required": False, "type": "long"}]}
    bench.schema["fields"].append({"id": 901, "name": "added", "required": False, "type": inner})
    bench.metadata["last-column-id"] = 950
    bench.delete_file["equality_ids"] = [901]


@corruption("DFL001", "part-deletes-in-v1", "types-v1-parquet", also=("SNP013",))
def _deletes_in_v1(bench: Any) -> None:
    fields = bench.data.fields("data_file")
    fields.append({"name": "content", "type": "int", "field-id": 134})
    for file in bench.data.files:
        file["content"] = 0
    bench.file["content"] = 1


@corruption("MLS006", "part-deletes-in-v1", "types-v1-parquet")
def _delete_manifest_in_v1(bench: Any) -> None:
    fields = bench.manifest_list.fields()
    fields.append({"name": "content", "type": "int", "field-id": 517})
    for listed in bench.manifest_list.records:
        listed["content"] = 0
    bench.data.listed["content"] = 1


@corruption("MAN017", "part-deleted-by-no-snapshot", "position-deletes-partitioned", severity="warning")
def _deleted_by_none(bench: Any) -> None:
    record = next(one for manifest in bench.manifests for one in manifest.records if one["status"] == 2)
    record["snapshot_id"] = None


@corruption("DEL004", "part-position-deletes-left", "position-deletes-by-file", severity="info")
def _left(bench: Any) -> None:
    bench.delete_file["referenced_data_file"] = "file:/t/gone.parquet"


# Delete files


@corruption("DEL013", "part-negative-position", V2, "rows", also=("DFL016",))
def _negative(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("pos")
        return table.set_column(place, table.schema.field(place), pa.array([-1] * table.num_rows, pa.int64()))

    _deletes(bench, change)


for _column in ("file_path", "pos"):

    @corruption("DEL013", f"part-null-{_column.replace('_', '-')}", V2, "rows")
    def _null(bench: Any, column: str = _column) -> None:
        def change(table: pa.Table) -> pa.Table:
            place = table.schema.get_field_index(column)
            field = table.schema.field(place).with_nullable(True)
            return table.set_column(place, field, pa.array([*table[column].to_pylist()[:-1], None], field.type))

        _deletes(bench, change)


@corruption("PUF006", "part-payload-no-json", VECTORS, "files")
def _payload(bench: Any) -> None:
    location = _vector(bench)["file_path"]
    content = bytearray(bench.read(location))
    (size,) = struct.unpack("<i", content[-12:-8])
    content[-12 - size : -12] = b"[" * size
    bench.replace(location, bytes(content))


@corruption("PUF021", "part-no-data-file", VECTORS, "files")
def _no_data_file(bench: Any) -> None:
    _footer(bench, lambda payload: [blob["properties"].pop("referenced-data-file") for blob in payload["blobs"]])


# Data files


@corruption("RES002", "part-pos-a-string", V2, "files")
def _pos(bench: Any) -> None:
    field = pa.field("_pos", pa.string(), metadata={"PARQUET:field_id": "2147483645"})
    rewritten(
        bench,
        bench.file["file_path"],
        lambda table: table.append_column(field, pa.array(["a"] * table.num_rows)),
        bench.file,
    )


@corruption("RES004", "part-change-type-a-long", V2, "files")
def _change_type(bench: Any) -> None:
    field = pa.field("_change_type", pa.int64(), metadata={"PARQUET:field_id": "2147483543"})
    rewritten(
        bench,
        bench.file["file_path"],
        lambda table: table.append_column(field, pa.array([1] * table.num_rows)),
        bench.file,
    )


@corruption("PQT001", "part-first-magic", V2, "files")
def _magic(bench: Any) -> None:
    location = bench.file["file_path"]
    bench.replace(location, b"PAR2" + bench.read(location)[4:])


@corruption("DFL003", "part-data-in-puffin", "row-lineage-parquet", "files")
def _puffin(bench: Any) -> None:
    bench.file["file_format"] = "puffin"


@corruption("DFL017", "part-second-before-1970-in-orc", "types-v2-orc", "rows", severity="tolerated")
def _early(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("ts")
        field = table.schema.field(place)
        return table.set_column(place, field, pa.array([500_000_000] * table.num_rows, field.type))

    rewrite_columns(bench, change, is_orc=True)
    column = next(field["id"] for field in bench.schema["fields"] if field["name"] == "ts")
    without_metrics(bench, column)
    for manifest in bench.manifests:
        for file in manifest.files:
            bound = {"key": column, "value": struct.pack("<q", -500_000)}
            file["upper_bounds"] = [*(file["upper_bounds"] or []), bound]


@corruption("PAR001", "part-second-before-1970-in-orc", "partition-time-orc", "rows", severity="tolerated")
def _early_partition(bench: Any) -> None:
    """A file of the hour before 1970 has the instant half a second before 1970 as Iceberg-Java's ORC writes it."""
    file = next(
        one
        for manifest in bench.manifests
        for one in manifest.files
        if one["partition"]["y_year"] == -1 and one["partition"]["h_hour"] == -1
    )
    table = orc.ORCFile(io.BytesIO(bench.read(file["file_path"]))).read()
    for name in ("m", "d", "h"):
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        table = table.set_column(place, field, pa.array([500_000_000] * table.num_rows, field.type))
        without_metrics(bench, next(one["id"] for one in bench.schema["fields"] if one["name"] == name))
    out = io.BytesIO()
    orc.write_table(table, out)
    bench.replace(file["file_path"], out.getvalue())
    file["column_sizes"] = None


# Partition statistics


@corruption("STA031", "part-fields-of-dropped-columns", "partition-time-parquet", "files", severity="tolerated")
def _dropped_column(bench: Any) -> None:
    """The column that the field of years is made of is dropped, and the file is written without the field."""
    newest = copy.deepcopy(bench.schema)
    newest["fields"] = [field for field in newest["fields"] if field["name"] != "y"]
    newest["schema-id"] = 50
    (spec,) = bench.metadata["partition-specs"]
    fields = [field for field in spec["fields"] if field["name"] != "y_year"]
    bench.metadata["schemas"].append(newest)
    bench.metadata["partition-specs"].append({"spec-id": 50, "fields": fields})
    rows = counted(bench)
    for row in rows:
        row["partition"] = {key: value for key, value in row["partition"].items() if key != "y_year"}
    types = {"d_day": pa.date32()}
    left = pa.struct([_field(one["name"], types.get(one["name"], pa.int32()), one["field-id"]) for one in fields])
    bench.metadata.update({"current-schema-id": 50, "default-spec-id": 50})
    place(bench, stored(rows, left))


@corruption("STA017", "part-field-of-another-type", PARTITIONED, "files")
def _field_type(bench: Any) -> None:
    rows, wanted = counted(bench), _struct(bench)
    texts = pa.struct([_field(one.name, pa.string(), int((one.metadata or {})[b"PARQUET:field_id"])) for one in wanted])
    for row in rows:
        row["partition"] = {key: None if value is None else str(value) for key, value in row["partition"].items()}
    place(bench, stored(rows, texts))


# Bounds of UUIDs in the order of Iceberg-Java, which compares them as two signed numbers


def _uuid_bounds(bench: Any, **bounds: bytes) -> None:
    column = next(field["id"] for field in bench.schema["fields"] if field["type"] == "uuid")
    for name in ("lower_bounds", "upper_bounds"):
        pairs = [] if name not in bounds else [{"key": column, "value": bounds[name]}]
        bench.file[name] = [*(one for one in bench.file[name] or [] if one["key"] != column), *pairs]


@corruption("DFL016", "part-signed-lower-uuid", TYPES, "rows", severity="tolerated")
def _signed_lower(bench: Any) -> None:
    _uuid_bounds(bench, lower_bounds=b"\xff" * 16)


@corruption("DFL017", "part-signed-upper-uuid", TYPES, "rows", severity="tolerated")
def _signed_upper(bench: Any) -> None:
    _uuid_bounds(bench, upper_bounds=b"\x7f" + b"\xff" * 15)


@corruption("DFL016", "part-signed-uuids-crossed", TYPES, severity="tolerated")
def _crossed(bench: Any) -> None:
    _uuid_bounds(bench, lower_bounds=b"\xff" * 16, upper_bounds=b"\x7f" + b"\xff" * 15)


@corruption("DFL014", "part-nan-count-nested-in-orc", "nested-orc", "rows", severity="tolerated")
def _nan_count(bench: Any) -> None:
    bench.file["nan_value_counts"] = [{"key": 6, "value": 2}]


for _id, _name, _code in (
    (106, "file_ordinal", "DFL009"),
    (107, "sort_columns", "DFL010"),
    (111, "distinct_counts", "DFL015"),
):

    @corruption(_code, f"part-{_name}-a-string", "types-v1-parquet")
    def _a_string(bench: Any, id_: int = _id, name: str = _name) -> None:
        bench.data.fields("data_file").append(
            {"name": name, "type": ["null", "string"], "default": None, "field-id": id_}
        )
        for file in bench.data.files:
            file[name] = "a"
