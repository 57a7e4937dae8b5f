"""Corruptions of delete files and deletion vectors (Delete Formats; Puffin)."""

from __future__ import annotations

import copy
import io
import json
import struct
import zlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.validate.corruptions import corruption
from tests.validate.corruptions.data_files import rewritten

V2, EQUALITY, VECTORS = "position-deletes-parquet", "equality-deletes-parquet", "deletion-vectors-parquet"
BY_FILE = "position-deletes-by-file"


def _vector(bench: Any) -> Any:
    return bench.delete_file


def _blob(bench: Any, change: Any) -> None:
    """Change the bytes of the first vector, in their place."""
    file = _vector(bench)
    content = bytearray(bench.read(file["file_path"]))
    start, size = file["content_offset"], file["content_size_in_bytes"]
    blob = bytearray(content[start : start + size])
    change(blob)
    content[start : start + size] = blob
    bench.replace(file["file_path"], bytes(content))


def _checked(blob: bytearray) -> None:
    blob[-4:] = struct.pack(">I", zlib.crc32(bytes(blob[4:-4])))


@corruption("PUF018", "checksum", VECTORS, "files")
def _checksum(bench: Any) -> None:
    _blob(bench, lambda blob: blob.__setitem__(-1, blob[-1] ^ 1))


@corruption("PUF018", "magic", VECTORS, "files")
def _magic(bench: Any) -> None:
    def change(blob: bytearray) -> None:
        blob[4] ^= 1
        _checked(blob)

    _blob(bench, change)


@corruption("PUF018", "length", VECTORS, "files")
def _length(bench: Any) -> None:
    _blob(bench, lambda blob: blob.__setitem__(3, blob[3] + 1))


@corruption("PUF019", "no-bitmap", VECTORS, "files")
def _bitmap(bench: Any) -> None:
    def change(blob: bytearray) -> None:
        blob[20] ^= 0x55
        _checked(blob)

    _blob(bench, change)


@corruption("PUF020", "position-of-64-bits", VECTORS, "files")
def _high_position(bench: Any) -> None:
    """After length, magic and the number of bitmaps comes the key of the first one."""

    def change(blob: bytearray) -> None:
        blob[19] |= 0x80
        _checked(blob)

    _blob(bench, change)


@corruption("PUF019", "bit-flipped-in-body", VECTORS, "files")
def _count(bench: Any) -> None:
    def change(blob: bytearray) -> None:
        blob[8] = 9
        _checked(blob)

    _blob(bench, change)


@corruption("DFL005", "cardinality", VECTORS, "files")
def _cardinality(bench: Any) -> None:
    _vector(bench)["record_count"] += 1


@corruption("DFL024", "offset-elsewhere", VECTORS, "files")
def _offset(bench: Any) -> None:
    _vector(bench)["content_offset"] += 1


@corruption("DFL025", "size-another", VECTORS, "files")
def _size(bench: Any) -> None:
    _vector(bench)["content_size_in_bytes"] += 1


@corruption("DFL024", "offset-missing", VECTORS)
def _no_offset(bench: Any) -> None:
    _vector(bench)["content_offset"] = None


@corruption("DFL025", "size-missing", VECTORS)
def _no_size(bench: Any) -> None:
    _vector(bench)["content_size_in_bytes"] = None


@corruption("DFL023", "reference-missing", VECTORS)
def _no_reference(bench: Any) -> None:
    _vector(bench)["referenced_data_file"] = None


@corruption("PUF021", "reference-another", VECTORS, "files")
def _reference(bench: Any) -> None:
    files = [one for one in bench.deletes.records if one["status"] != 2]
    first, second = files[0]["data_file"], files[1]["data_file"]
    first["referenced_data_file"], second["referenced_data_file"] = (
        second["referenced_data_file"],
        first["referenced_data_file"],
    )


@corruption("DEL003", "two-vectors-one-file", VECTORS)
def _two(bench: Any) -> None:
    files = [one for one in bench.deletes.records if one["status"] != 2]
    files[1]["data_file"]["referenced_data_file"] = files[0]["data_file"]["referenced_data_file"]


@corruption("DEL004", "reference-dangling", VECTORS)
def _dangling(bench: Any) -> None:
    _vector(bench)["referenced_data_file"] = "file:/nowhere.parquet"


@corruption("LIN026", "of-a-delete-manifest", VECTORS)
def _row_ids_of_deletes(bench: Any) -> None:
    bench.deletes.listed["first_row_id"] = 0


@corruption("SCN008", "older-than-data", VECTORS, severity="warning")
def _older(bench: Any) -> None:
    record = next(one for one in bench.deletes.records if one["status"] != 2)
    record["sequence_number"] = bench.deletes.listed["min_sequence_number"] = 0


@corruption("SCN008", "another-partition", "position-deletes-partitioned")
def _partition(bench: Any) -> None:
    for record in (one for one in bench.deletes.records if one["status"] != 2):
        file = record["data_file"]
        file["partition"] = {name: f"{value or ''}x" for name, value in file["partition"].items()}
    for record in bench.deletes.records:
        record["data_file"]["referenced_data_file"] = bench.file["file_path"]
    bench.deletes.listed["partitions"] = None


@corruption("DFL005", "more-deletes-than-rows", VECTORS)
def _more(bench: Any) -> None:
    _vector(bench)["record_count"] = 10**6


@corruption("DFL002", "vector-file-missing", VECTORS, "files")
def _missing(bench: Any) -> None:
    bench.replaced[_place(_vector(bench)["file_path"])] = None


def _place(location: str) -> str:
    from tools.grid.workbench import local

    return local(location)


@corruption("DFL006", "vector-file-grown", VECTORS, "files")
def _grown(bench: Any) -> None:
    _vector(bench)["file_size_in_bytes"] += 5


# The Puffin file


def _footer(bench: Any, change: Any) -> None:
    """Rewrite the footer of the vectors' file."""
    location = _vector(bench)["file_path"]
    content = bench.read(location)
    (size,) = struct.unpack("<i", content[-12:-8])
    payload = json.loads(content[-12 - size : -12])
    start = len(content) - 12 - size - 4
    change(payload)
    made = json.dumps(payload).encode()
    bench.replace(location, content[:start] + b"PFA1" + made + struct.pack("<i", len(made)) + bytes(4) + b"PFA1")


@corruption("PUF002", "footer-cut", VECTORS, "files")
def _cut(bench: Any) -> None:
    location = _vector(bench)["file_path"]
    bench.replace(location, bench.read(location)[:-3])


@corruption("PUF001", "first-magic", VECTORS, "files")
def _first_magic(bench: Any) -> None:
    location = _vector(bench)["file_path"]
    bench.replace(location, b"PFA2" + bench.read(location)[4:])


@corruption("PUF003", "payload-size", VECTORS, "files")
def _payload_size(bench: Any) -> None:
    location = _vector(bench)["file_path"]
    content = bytearray(bench.read(location))
    content[-12:-8] = struct.pack("<i", 2**30)
    bench.replace(location, bytes(content))


@corruption("PUF005", "flag-reserved", VECTORS, "files", severity="warning")
def _flag(bench: Any) -> None:
    location = _vector(bench)["file_path"]
    content = bytearray(bench.read(location))
    content[-7] = 2
    bench.replace(location, bytes(content))


@corruption("PUF025", "created-by-missing", VECTORS, "files", severity="warning")
def _created_by(bench: Any) -> None:
    _footer(bench, lambda payload: payload.pop("properties"))


for _name, _code in {
    "type": "PUF008",
    "fields": "PUF009",
    "snapshot-id": "PUF010",
    "sequence-number": "PUF011",
    "offset": "PUF012",
    "length": "PUF013",
}.items():

    @corruption(_code, f"blob-without-{_name}", VECTORS, "files")
    def _blob_without(bench: Any, name: str = _name) -> None:
        _footer(bench, lambda payload: payload["blobs"][0].pop(name))

    @corruption(_code, f"blob-{_name}-of-another-type", VECTORS, "files")
    def _blob_of_another_type(bench: Any, name: str = _name) -> None:
        _footer(bench, lambda payload: payload["blobs"][0].update({name: 7 if name in ("type", "fields") else "seven"}))


for _misplacement, _code, _changed in (
    ("before-the-file", "PUF012", {"offset": -1}),
    ("behind-the-file", "PUF012", {"offset": 1 << 40}),
    ("into-the-footer", "PUF013", {"length": 1000}),
    ("of-less-than-nothing", "PUF013", {"length": -1}),
):

    @corruption(_code, f"blob-{_misplacement}", VECTORS, "files")
    def _misplaced(bench: Any, changed: dict[str, int] = _changed) -> None:
        _footer(bench, lambda payload: payload["blobs"][0].update(changed))


@corruption("PUF022", "cardinality-property", VECTORS, "files")
def _cardinality_property(bench: Any) -> None:
    def change(payload: Any) -> None:
        for blob in payload["blobs"]:
            blob["properties"]["cardinality"] = "77"

    _footer(bench, change)


@corruption("PUF024", "snapshot-of-vector", VECTORS, "files")
def _snapshot_of_vector(bench: Any) -> None:
    def change(payload: Any) -> None:
        for blob in payload["blobs"]:
            blob["snapshot-id"] = 4

    _footer(bench, change)


# The bytes stay as they are, which are not a frame of the codec either.
@corruption("PUF023", "vector-compressed", VECTORS, "files", also=("PUF027",))
def _compressed(bench: Any) -> None:
    def change(payload: Any) -> None:
        for blob in payload["blobs"]:
            blob["compression-codec"] = "zstd"

    _footer(bench, change)


# Position and equality delete files


def _deletes(bench: Any, change: Any) -> None:
    location = bench.delete_file["file_path"]
    rewritten(bench, location, change, bench.delete_file)


@corruption("DEL015", "not-sorted", BY_FILE, "rows")
def _not_sorted(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        return pa.concat_tables([table, table.slice(0, 1)])

    bench.delete_file["record_count"] += 1
    _deletes(bench, change)


@corruption("DEL013", "without-pos", V2, "files")
def _without_pos(bench: Any) -> None:
    _deletes(bench, lambda table: table.drop_columns(["pos"]))


@corruption("RES003", "pos-an-int", V2, "files")
def _pos_int(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("pos")
        field = table.schema.field("pos").with_type(pa.int32())
        return table.set_column(place, field, table["pos"].cast(pa.int32()))

    _deletes(bench, change)


@corruption("DFL023", "of-another-file", BY_FILE, "rows")
def _another(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("file_path")
        paths = pa.array(["zzz"] * table.num_rows)
        return table.set_column(place, table.schema.field("file_path"), paths)

    table = pq.read_table(io.BytesIO(bench.read(bench.delete_file["file_path"])))
    bench.delete_file["referenced_data_file"] = table["file_path"][0].as_py()
    bench.delete_file["lower_bounds"] = bench.delete_file["upper_bounds"] = None
    _deletes(bench, change)


@corruption("DEL017", "column-missing", "equality-deletes-scopes", "files")
def _column_missing(bench: Any) -> None:
    known = {field["id"] for field in bench.schema["fields"]} - set(bench.delete_file["equality_ids"])
    bench.delete_file["equality_ids"] = [*bench.delete_file["equality_ids"], min(known)]


def _said_to_be_sorted(bench: Any, source: int, direction: str = "asc") -> None:
    fields = [{"transform": "identity", "source-id": source, "direction": direction, "null-order": "nulls-first"}]
    bench.metadata["sort-orders"].append({"order-id": 1, "fields": fields})
    bench.delete_file["sort_order_id"] = 1


@corruption("DFL021", "equality-deletes-not-in-order", EQUALITY, "rows")
def _deletes_not_in_order(bench: Any) -> None:
    _said_to_be_sorted(bench, bench.delete_file["equality_ids"][0])

    def change(table: pa.Table) -> pa.Table:
        two = pa.concat_tables([table.slice(0, 1)] * 2)
        return two.set_column(0, table.schema.field(0), pa.array([2, 1], table.schema.field(0).type))

    for name in ("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        bench.delete_file[name] = None
    bench.delete_file["record_count"] = 2
    _deletes(bench, change)


@corruption("DFL021", "equality-deletes-without-the-column-of-the-order", EQUALITY, "rows")
def _deletes_without_column(bench: Any) -> None:
    known = {field["id"] for field in bench.schema["fields"]} - set(bench.delete_file["equality_ids"])
    _said_to_be_sorted(bench, min(known))


@corruption("DFL020", "equality-ids-missing", EQUALITY)
def _no_ids(bench: Any) -> None:
    bench.delete_file["equality_ids"] = None


@corruption("DFL020", "equality-ids-unknown", EQUALITY)
def _unknown_ids(bench: Any) -> None:
    bench.delete_file["equality_ids"] = [99]


@corruption("DFL005", "delete-count", EQUALITY, "files")
def _delete_count(bench: Any) -> None:
    bench.delete_file["record_count"] += 2


@corruption("DFL002", "delete-file-missing", EQUALITY, "files")
def _delete_missing(bench: Any) -> None:
    bench.replaced[_place(bench.delete_file["file_path"])] = None


@corruption("DEL002", "added-to-v3", VECTORS)
def _added_to_v3(bench: Any) -> None:
    manifest = bench.deletes
    vector = next(one for one in manifest.records if one["status"] != 2)
    record = copy.deepcopy(vector)
    assert any(one["snapshot-id"] == manifest.listed["added_snapshot_id"] for one in bench.metadata["snapshots"])
    record |= {
        "status": 1,
        "snapshot_id": manifest.listed["added_snapshot_id"],
        "sequence_number": None,
        "file_sequence_number": None,
    }
    record["data_file"] |= {
        "file_path": "file:/deletes.parquet",
        "file_format": "PARQUET",
        "content_offset": None,
        "content_size_in_bytes": None,
        "referenced_data_file": None,
    }
    manifest.records.append(record)
