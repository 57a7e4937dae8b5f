"""Corruptions of how manifests, lists, data files and Puffin files store things, beside their values."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

from tests.validate.corruptions import corruption
from tests.validate.corruptions.data_files import rewritten
from tests.validate.corruptions.statistics import place as place_statistics

V2, V3, PARTITIONED, VECTORS = (
    "position-deletes-parquet",
    "row-lineage-parquet",
    "partition-identity-v2",
    "deletion-vectors-parquet",
)
TYPES, AVRO, ORC = "types-v2-parquet", "position-deletes-avro", "types-v2-orc"
UPGRADED, FLOATS = "deletion-vectors-after-upgrade", "partition-floats"


# Manifests and lists


@corruption("DFL026", "reserved-id-141", V2)
def _reserved(bench: Any) -> None:
    fields = bench.data.field("data_file")["type"]["fields"]
    fields.append({"name": "spec_id", "type": ["null", "int"], "default": None, "field-id": 141})
    for file in bench.data.files:
        file["spec_id"] = 0


@corruption("DFL022", "first-row-id-a-string", V3)
def _row_id_text(bench: Any) -> None:
    bench.data.field("data_file", "first_row_id")["type"] = ["null", "string"]
    for file in bench.data.files:
        file["first_row_id"] = None


@corruption("DFL022", "first-row-id-negative", "manifests-rewritten")
def _row_id_negative(bench: Any) -> None:
    bench.file["first_row_id"] = -(1 << 63)


@corruption("DFL018", "encrypted-file", V2, "files", severity="info")
def _encrypted_file(bench: Any) -> None:
    bench.file["key_metadata"] = b"key"


@corruption("MLS017", "encrypted-manifest", V2, severity="info")
def _encrypted_manifest(bench: Any) -> None:
    bench.data.listed["key_metadata"] = b"key"


@corruption("MAN006", "schema-id-missing", V2, severity="tolerated")
def _no_schema_id(bench: Any) -> None:
    bench.data.metadata.pop("schema-id", None)


@corruption("MAN013", "sequence-number-required", V2, severity="warning")
def _required_number(bench: Any) -> None:
    bench.data.field("sequence_number")["type"] = "long"
    del bench.data.field("sequence_number")["default"]
    for record in bench.data.records:
        record["sequence_number"] = record["sequence_number"] or bench.data.listed["sequence_number"]


@corruption("MLS023", "zero-of-the-other-sign", FLOATS, severity="error")
def _zero(bench: Any) -> None:
    changed = False
    for manifest in bench.manifests:
        fields = manifest.field("data_file", "partition")["type"]["fields"]
        for at, field in enumerate(fields):
            if "float" in field["type"] or "double" in field["type"]:
                code = 0.0
                for file in manifest.files:
                    file["partition"][field["name"]] = -0.0
                width = 4 if "float" in field["type"] else 8
                summary = manifest.listed["partitions"][at]
                summary.update(
                    lower_bound=bytes(width), upper_bound=bytes(width), contains_null=True, contains_nan=True
                )
                changed = changed or code == 0.0
    assert changed


@corruption("NOT007", "snapshot-id-negative", V2, "metadata", severity="warning")
def _negative_id(bench: Any) -> None:
    bench.metadata["snapshots"][0]["snapshot-id"] = -5
    for snapshot in bench.metadata["snapshots"]:
        snapshot.pop("parent-snapshot-id", None)
    bench.metadata["snapshot-log"] = bench.metadata["snapshot-log"][1:]


@corruption("TYP032", "reference-system-a-definition", V3, "metadata")
def _definition(bench: Any) -> None:
    _geometry(bench, 'geometry({"type": "GeographicCRS"})')


@corruption("TYP033", "reference-system-without-property", V3, "metadata", severity="warning")
def _no_definition(bench: Any) -> None:
    _geometry(bench, "geometry(projjson:mine)")


def _geometry(bench: Any, type_: str) -> None:
    bench.metadata["last-column-id"] = 900
    bench.schema["fields"].append({"id": 900, "name": "shape", "required": False, "type": type_})


# Data files


@corruption("TYP021", "string-no-utf-8", TYPES, "rows")
def _no_text(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = next(at for at, field in enumerate(table.schema) if pa.types.is_string(field.type))
        rows = len(table)
        broken = pa.array([b"\xff\xfe"] * rows, pa.binary())
        text = pa.Array.from_buffers(pa.string(), rows, broken.buffers())
        return table.set_column(place, table.schema.field(place), text)

    file = bench.file
    rewritten(bench, file["file_path"], change, file)
    field = next(one["id"] for one in bench.schema["fields"] if one["type"] == "string")
    for name in ("null_value_counts", "lower_bounds", "upper_bounds", "value_counts"):
        file[name] = [one for one in file[name] or [] if one["key"] != field]
    file["value_counts"] = [*file["value_counts"], {"key": field, "value": file["record_count"]}]


@corruption("RES005", "row-id-an-int", V3, "files")
def _narrow_row_id(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        if "_row_id" not in table.schema.names:
            return table
        place = table.schema.get_field_index("_row_id")
        field = table.schema.field(place).with_type(pa.int32())
        return table.set_column(place, field, table.column(place).cast(pa.int32()))

    rewritten(bench, bench.file["file_path"], change, bench.file)


@corruption("RES003", "file-path-as-binary", V2, "files")
def _binary_path(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("file_path")
        field = table.schema.field(place).with_type(pa.binary())
        return table.set_column(place, field, table.column(place).cast(pa.binary()))

    rewritten(bench, bench.delete_file["file_path"], change, bench.delete_file)


@corruption("AVR001", "union-of-three", AVRO, "files")
def _three(bench: Any) -> None:
    reader = fastavro.reader(io.BytesIO(bench.read(bench.file["file_path"])))
    schema = json.loads(reader.metadata["avro.schema"])
    rows = list(reader)
    schema["fields"][-1] |= {"type": ["null", "string", "long"], "default": None}
    out = io.BytesIO()
    fastavro.writer(out, schema, rows)
    bench.replace(bench.file["file_path"], out.getvalue())


@corruption("AVR002", "optional-without-default", AVRO, "files")
def _no_default(bench: Any) -> None:
    _avro(bench, lambda schema: next(one for one in schema["fields"] if "default" in one).pop("default"))


@corruption("AVR003", "another-avro-default", "defaults-avro", "files")
def _other_default(bench: Any) -> None:
    def change(schema: Any) -> None:
        field = next(one for one in schema["fields"] if one["name"] == "i")
        branch = next(one for one in field["type"] if one != "null")
        field |= {"type": [branch, "null"], "default": 4711}

    _avro(bench, change)


@corruption("AVR006", "decimal-as-bytes", "types-v2-avro", "files", severity="warning")
def _decimal_bytes(bench: Any) -> None:
    def change(schema: Any) -> None:
        field = next(one for one in schema["fields"] if "decimal" in json.dumps(one))
        branch = next(one for one in field["type"] if one != "null")
        field["type"] = [
            "null",
            {name: branch[name] for name in ("logicalType", "precision", "scale")} | {"type": "bytes"},
        ]

    _avro(bench, change)


def _avro(bench: Any, change: Any) -> None:
    reader = fastavro.reader(io.BytesIO(bench.read(bench.file["file_path"])))
    schema = json.loads(reader.metadata["avro.schema"])
    rows = list(reader)
    change(schema)
    out = io.BytesIO()
    fastavro.writer(out, schema, rows)
    bench.replace(bench.file["file_path"], out.getvalue())


# Deletes


@corruption("DEL011", "vector-without-what-was-deleted", UPGRADED, "rows")
def _left_out(bench: Any) -> None:
    deletes = [one for manifest in bench.manifests if manifest.listed["content"] == 1 for one in manifest.files]
    file = next(one for one in deletes if one["file_format"].lower() != "puffin")
    vector = next(one for one in deletes if one["file_format"].lower() == "puffin")
    blob = bench.read(vector["file_path"])[vector["content_offset"] :][: vector["content_size_in_bytes"]]
    table = pq.read_table(io.BytesIO(bench.read(file["file_path"])))
    positions = set(BitMap64.deserialize(blob[8:-4]))
    other = next(at for at in range(3) if at not in positions)
    paths = table.column("file_path").to_pylist()
    assert vector["referenced_data_file"] in paths

    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("pos")
        made = [
            other if path == vector["referenced_data_file"] else at
            for path, at in zip(paths, table.column("pos").to_pylist(), strict=True)
        ]
        return table.set_column(place, table.schema.field(place), pa.array(made, pa.int64()))

    rewritten(bench, file["file_path"], change, file)
    for name in ("lower_bounds", "upper_bounds"):
        file[name] = None


@corruption("DEL018", "equality-on-a-list", "equality-deletes-parquet", "manifests")
def _list_compared(bench: Any) -> None:
    bench.metadata["last-column-id"] = 901
    nested = {"type": "list", "element-id": 901, "element-required": False, "element": "long"}
    for schema in bench.metadata["schemas"]:
        schema["fields"].append({"id": 900, "name": "many", "required": False, "type": nested})
    bench.delete_file["equality_ids"] = [901]


# Puffin


def _footer(bench: Any, change: Any) -> None:
    """Change the footer of the vector's file."""
    file = bench.delete_file
    data = bench.read(file["file_path"])
    size = int.from_bytes(data[-12:-8], "little")
    start = len(data) - 12 - size
    payload = json.loads(data[start : start + size])
    changed = change(payload)
    text = json.dumps(payload if changed is None else changed).encode()
    bench.replace(file["file_path"], data[:start] + text + len(text).to_bytes(4, "little") + data[-8:])


@corruption("PUF006", "payload-a-list", VECTORS, "files")
def _list_payload(bench: Any) -> None:
    _footer(bench, lambda payload: [payload])


@corruption("PUF026", "properties-no-strings", VECTORS, "files")
def _file_properties(bench: Any) -> None:
    _footer(bench, lambda payload: payload["properties"].update(a=1))


@corruption("PUF015", "blob-properties-no-strings", VECTORS, "files")
def _blob_properties(bench: Any) -> None:
    _footer(bench, lambda payload: payload["blobs"][0]["properties"].update(a=1))


@corruption("PUF014", "codec-a-number", VECTORS, "files")
def _codec(bench: Any) -> None:
    _footer(bench, lambda payload: payload["blobs"][0].update({"compression-codec": 1}))


@corruption("STA001", "file-of-no-statistics", V2, "metadata", severity="warning")
def _unknown_partition(bench: Any) -> None:
    place_statistics(bench, b"PAR1")["snapshot-id"] = 5


@corruption("PUF007", "blobs-no-list", VECTORS, "files")
def _no_blobs(bench: Any) -> None:
    _footer(bench, lambda payload: payload.update(blobs={}))


V1 = "types-v1-parquet"


@corruption("DFL008", "block-size-left-out", V1, "manifests")
def _no_block_size(bench: Any) -> None:
    bench.data.drop("data_file", "block_size_in_bytes")
