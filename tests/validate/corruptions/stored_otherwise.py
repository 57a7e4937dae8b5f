"""Corruptions of how a column is stored: as another type than Avro and ORC ask for (Appendix A), or without what rows
that were only moved had (Row Lineage)."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.compute as pc

from spec_ref.encodings.avro.container import write_container
from tests.validate.corruptions import corruption
from tests.validate.corruptions.data_files import rewritten
from tests.validate.corruptions.stored_forms import _avro
from tests.validate.corruptions.stored_types import ORC, cast, declared, rewrite_columns, without_metrics

AVRO, LINEAGE, V1, V2 = "types-v3-avro", "row-lineage-parquet", "types-v1-parquet", "types-v2-parquet"


def relabelled(bench: Any, name: str, change: Any) -> None:
    """Give a column of an Avro file another annotation; its bytes stay."""
    data = io.BytesIO(bench.read(bench.file["file_path"]))
    blocks: Any = fastavro.block_reader(data)
    schema = json.loads(blocks.metadata["avro.schema"])
    field = next(one for one in schema["fields"] if one["name"] == name)
    change(next(one for one in field["type"] if one != "null"))
    kept = [(block.num_records, block.bytes_.getvalue()) for block in blocks]
    stored = {"avro.schema": json.dumps(schema)}
    bench.replace(bench.file["file_path"], write_container(stored, kept, codec="null", sync=b"sixteen bytes ok"))


for _name in ("day", "tod", "ts", "tz"):

    @corruption("AVR007", f"{_name}-as-a-number", AVRO, "files")
    def _number(bench: Any, name: str = _name) -> None:
        relabelled(bench, name, lambda branch: (branch.pop("logicalType"), branch.pop("adjust-to-utc", None)))


for _name, _code in (("ts", "AVR007"), ("tz", "AVR007"), ("tsn", "AVR008"), ("tzn", "AVR008")):

    @corruption(_code, f"{_name}-of-the-other-kind", AVRO, "files")
    def _zone(bench: Any, name: str = _name) -> None:
        relabelled(bench, name, lambda branch: branch.update({"adjust-to-utc": not branch["adjust-to-utc"]}))


for _name, _code, _unit in (("ts", "AVR007", "nanos"), ("tz", "AVR007", "nanos"), ("tsn", "AVR008", "micros")):

    @corruption(_code, f"{_name}-in-{_unit}", AVRO, "files")
    def _other_unit(bench: Any, name: str = _name, unit: str = _unit) -> None:
        relabelled(bench, name, lambda branch: branch.update({"logicalType": f"timestamp-{unit}"}))


@corruption("AVR010", "column-of-type-unknown-in-avro", AVRO, "files", severity="warning")
def _unknown(bench: Any) -> None:
    declared(bench, "n", "unknown")


@corruption("AVR012", "shapes-as-text", AVRO, "files")
def _text(bench: Any) -> None:
    declared(bench, "s", "geometry")


def added(bench: Any, type_: Any, stored: Any, last: int) -> None:
    """A column that is null in all rows, of a type of the table and one of the file."""
    for schema in bench.metadata["schemas"]:
        schema["fields"].append({"id": 900, "name": "more", "required": False, "type": type_})
    bench.metadata["last-column-id"] = last
    field = {"name": "more", "type": ["null", stored], "default": None, "field-id": 900}
    _avro(bench, lambda schema: schema["fields"].append(field))


@corruption("AVR004", "map-as-a-list", AVRO, "files")
def _plain_map(bench: Any) -> None:
    parts = [{"name": name, "type": "int", "field-id": id_} for name, id_ in (("key", 901), ("value", 902))]
    record = {"type": "record", "name": "k901_v902", "fields": parts}
    map_ = {"type": "map", "key-id": 901, "key": "int", "value-id": 902, "value": "int", "value-required": True}
    added(bench, map_, {"type": "array", "items": record, "element-id": 903}, 903)


@corruption("AVR011", "variant-with-field-ids", AVRO, "files")
def _variant(bench: Any) -> None:
    parts = [{"name": name, "type": "bytes", "field-id": id_} for name, id_ in (("metadata", 901), ("value", 902))]
    added(bench, "variant", {"type": "record", "name": "r900", "fields": parts}, 902)


for _name, _type in (("ts", pa.timestamp("ns", "UTC")), ("tz", pa.timestamp("ns"))):

    @corruption("ORC003", f"{_name}-of-the-other-kind", ORC, "files")
    def _instant(bench: Any, name: str = _name, type_: pa.DataType = _type) -> None:
        rewrite_columns(bench, cast(name, type_), is_orc=True)


@corruption("ORC003", "microseconds-as-nanoseconds", ORC, "files")
def _nanos(bench: Any) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("ts")
        field = table.schema.field(place)
        unit: Any = dict(field.metadata or {}) | {b"iceberg.timestamp-unit": b"NANOS"}
        return table.set_column(place, field.with_metadata(unit), table.column(place))

    rewrite_columns(bench, change, is_orc=True)


for _name, _type in (("ts", pa.timestamp("ns")), ("tz", pa.timestamp("ns", "UTC"))):

    @corruption("ORC004", f"nanosecond-in-{_name}", ORC, "rows")
    def _left_nanoseconds(bench: Any, name: str = _name, type_: pa.DataType = _type) -> None:
        """One nanosecond is added to each value, so that the microseconds stay."""

        def change(table: pa.Table) -> pa.Table:
            place = table.schema.get_field_index(name)
            column = pc.add(table.column(place).combine_chunks().cast(pa.int64()), 1).cast(type_)
            return table.set_column(place, table.schema.field(place).with_type(type_), column)

        rewrite_columns(bench, change, is_orc=True)


ROW_ID, LAST_UPDATED = 2147483540, 2147483539


for _field_id, _name, _code in (
    (ROW_ID, "_row_id", "LIN009"),
    (LAST_UPDATED, "_last_updated_sequence_number", "LIN011"),
):

    @corruption(_code, "compaction-without-it", LINEAGE, "rows")
    def _moved(bench: Any, field_id: int = _field_id, name: str = _name) -> None:
        """The table goes back to its compaction, whose file does not say what its rows had."""
        moved = next(one for one in bench.metadata["snapshots"] if one["summary"]["operation"] == "replace")
        bench.metadata["current-snapshot-id"] = bench.metadata["refs"]["main"]["snapshot-id"] = moved["snapshot-id"]
        back = {"timestamp-ms": bench.metadata["last-updated-ms"], "snapshot-id": moved["snapshot-id"]}
        bench.metadata["snapshot-log"].append(back)
        without_metrics(bench, field_id)
        bench.entry["sequence_number"], bench.data.listed["min_sequence_number"] = None, moved["sequence-number"]

        def change(table: pa.Table) -> pa.Table:
            place = table.schema.get_field_index(name)
            field = table.schema.field(place)
            return table.set_column(place, field, pa.nulls(len(table), field.type))

        rewritten(bench, bench.file["file_path"], change, bench.file)


COUNTS = {
    "type": "record",
    "name": "k123_v124",
    "fields": [{"name": "key", "type": "int", "field-id": 123}, {"name": "value", "type": "long", "field-id": 124}],
}
DEPRECATED: tuple[Any, ...] = (
    ("DFL009", V1, "file_ordinal", 106, "int", 3),
    ("DFL010", V1, "sort_columns", 107, {"type": "array", "items": "int", "element-id": 112}, [1]),
    (
        "DFL015",
        V1,
        "distinct_counts",
        111,
        {"type": "array", "logicalType": "map", "items": COUNTS},
        [{"key": 1, "value": 9}],
    ),
    (
        "DFL015",
        V2,
        "distinct_counts",
        111,
        {"type": "array", "logicalType": "map", "items": COUNTS},
        [{"key": 1, "value": 9}],
    ),
)

for _code, _table, _name, _field_id, _type, _value in DEPRECATED:

    @corruption(_code, f"{_name}-written-in-{_table[6:8]}", _table, severity="warning")
    def _deprecated(
        bench: Any, name: str = _name, id_: int = _field_id, type_: Any = _type, value: Any = _value
    ) -> None:
        """The field is of the schema of all entries, and null but for one."""
        field = {"name": name, "type": ["null", type_], "default": None, "field-id": id_}
        bench.data.field("data_file")["type"]["fields"].append(field)
        for file in bench.data.files:
            file[name] = None
        bench.file[name] = value
        bench.data.listed["manifest_length"] = len(bench.data.content())
