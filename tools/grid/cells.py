"""The cells: each field of the field tables of the spec, with each change."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence

import attrs

from spec_ref.core.json_types import Json
from spec_ref.core.records import field_rules
from spec_ref.data_types.types import NestedField
from spec_ref.encodings.puffin import file
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestFile
from spec_ref.manifests.data_file import DataFile
from spec_ref.manifests.entry import ManifestEntry
from spec_ref.manifests.manifest import HEADER as KEYS
from spec_ref.partitioning.spec import PartitionField, PartitionSpec
from spec_ref.schemas.schema import Schema
from spec_ref.snapshots.references import SnapshotRef
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.sorting.order import SortField, SortOrder
from spec_ref.statistics.partition import PartitionStatistics
from spec_ref.table_metadata.encryption import EncryptionKey
from spec_ref.table_metadata.logs import MetadataLogEntry, SnapshotLogEntry
from spec_ref.table_metadata.metadata import TableMetadata
from spec_ref.table_metadata.statistics import BlobMetadata, PartitionStatisticsFile, StatisticsFile
from tools.grid.statistics_files import (
    INTS,
    add_partition_statistics,
    change_statistics,
    change_vector,
    place_partition_statistics,
)
from tools.grid.workbench import AvroFile, Manifest, Workbench

CHANGES = ("absent", "null", "wrong type", "another value", "lowest", "highest")
"""The changes. ``another value`` is valid for the type, but contradicts every other place that states the same fact."""


class NoCell(Exception):
    """The table does not have the field, or the change has no effect."""


@attrs.frozen
class Cell:
    """A field and a change of it."""

    structure: str
    field: str
    change: str

    def __str__(self) -> str:
        return f"{self.structure} / {self.field} / {self.change}"


def _one(items: Sequence[Json] | None) -> Json:
    if not items:
        raise NoCell
    return items[0]


def _default(bench: Workbench, items: str, key: str, default: str) -> Json:
    return _one([one for one in bench.metadata.get(items, ()) if one.get(key, 0) == bench.metadata[default]])


def _partition_spec(bench: Workbench) -> Json:
    return _default(bench, "partition-specs", "spec-id", "default-spec-id")


def _sort_order(bench: Workbench) -> Json:
    return _default(bench, "sort-orders", "order-id", "default-sort-order-id")


def _statistics(bench: Workbench) -> Json:
    return _one(bench.metadata.get("statistics"))


def _partition_statistics(bench: Workbench) -> Json:
    if not add_partition_statistics(bench):
        raise NoCell
    return bench.metadata["partition-statistics"][0]


JSON: dict[str, tuple[type, Callable[[Workbench], Json]]] = {
    "table metadata": (TableMetadata, lambda bench: bench.metadata),
    "schema": (Schema, lambda bench: bench.schema),
    "schema field": (NestedField, lambda bench: bench.schema["fields"][0]),
    "partition spec": (PartitionSpec, _partition_spec),
    "partition field": (PartitionField, lambda bench: _one(_partition_spec(bench)["fields"])),
    "sort order": (SortOrder, _sort_order),
    "sort field": (SortField, lambda bench: _one(_sort_order(bench)["fields"])),
    "snapshot": (Snapshot, lambda bench: bench.snapshot),
    "snapshot reference": (SnapshotRef, lambda bench: _one(list(bench.metadata.get("refs", {}).values()))),
    "snapshot log": (SnapshotLogEntry, lambda bench: _one(bench.metadata.get("snapshot-log"))),
    "metadata log": (MetadataLogEntry, lambda bench: _one(bench.metadata.get("metadata-log"))),
    "statistics": (StatisticsFile, _statistics),
    "statistics blob": (BlobMetadata, lambda bench: _one(_statistics(bench)["blob-metadata"])),
    "partition statistics": (PartitionStatisticsFile, _partition_statistics),
    "encryption key": (EncryptionKey, lambda bench: _one(bench.metadata.get("encryption-keys"))),
}
"""The structures of metadata files: the class with the field table, and the object that is changed."""

HEADER = "manifest header"
AVRO: dict[str, type] = {
    "manifest list": ManifestFile,
    "field summary": FieldSummary,
    "manifest entry": ManifestEntry,
    "data file": DataFile,
    "delete file": DataFile,
}
"""The structures of Avro files."""

PUFFIN: dict[str, type] = {
    "Puffin footer": file.FileMetadata,
    "Puffin blob": file.BlobMetadata,
    "blob of a deletion vector": file.BlobMetadata,
}
"""The structures of Puffin files."""

ROW = "row of partition statistics"


def cells() -> Iterator[Cell]:
    """Yield all cells."""
    for structure, (record, _) in JSON.items():
        yield from (Cell(structure, rule.name, change) for rule in field_rules(record).values() for change in CHANGES)
    for structure, record in AVRO.items():
        yield from (Cell(structure, rule.name, change) for rule in field_rules(record).values() for change in CHANGES)
    yield from (Cell(HEADER, name, change) for name in KEYS for change in CHANGES)
    for structure, record in (*PUFFIN.items(), (ROW, PartitionStatistics)):
        yield from (Cell(structure, rule.name, change) for rule in field_rules(record).values() for change in CHANGES)


def mutate(cell: Cell, bench: Workbench) -> None:
    """Make the change of a cell in a table.

    Raises:
        NoCell: the table does not have the field, or the change has no effect.
    """
    if cell.structure in JSON:
        _in_json(cell, JSON[cell.structure][1](bench))
    elif "manifest-list" not in bench.snapshot:
        raise NoCell
    elif cell.structure == HEADER:
        _in_header(cell, bench.data)
    elif cell.structure in PUFFIN:
        _in_puffin(cell, bench)
    elif cell.structure == ROW:
        _in_row(cell, bench)
    else:
        _in_avro(cell, bench)


# Values

OTHER_TEXTS = {
    "branch": "tag",
    "tag": "branch",
    "asc": "desc",
    "nulls-first": "nulls-last",
    "identity": "void",
    "PARQUET": "ORC",
    "long": "string",
    "data": "deletes",
    "parquet": "orc",
}
"""Texts of which only some are legal."""


def different_value(value: Json) -> Json:
    """Return a different value of the type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() if value in OTHER_TEXTS:
            return OTHER_TEXTS[value]
        case str() if value.isdigit():
            return str(int(value) + 1)
        case str():
            try:
                return str(uuid.UUID(int=uuid.UUID(value).int ^ 1))
            except ValueError:
                return value + "x"
        case bytes():
            return bytes([value[0] ^ 0x7F]) + value[1:] if value else b"\0"
        case [{"key": _, "value": _} as first, *others]:  # a map, which Avro stores as an array
            return [{**first, "value": different_value(first["value"])}, *others]
        case list() if value:
            return value[:-1]
        case dict() if value:
            kept = dict(value)
            kept.popitem()
            return kept
        case _:
            raise NoCell


def extreme_value(value: Json, *, low: bool, bits: int = 63) -> Json:
    """Return the smallest or the largest value of the type."""
    match value:
        case bool():
            raise NoCell
        case int():
            return -(1 << bits) if low else (1 << bits) - 1
        case str():
            return "" if low else value * 200
        case bytes():
            return b"" if low else value * 200
        case list() | dict() if low:
            return type(value)()
        case [{"key": _, "value": int() as number} as first, *others]:
            return [{**first, "value": extreme_value(number, low=False)}, *others]
        case _:
            raise NoCell


def value_of_other_type(value: Json) -> Json:
    """Return a value of another JSON type."""
    return 7 if isinstance(value, (str, dict, list)) else "seven"


def _change_value(change: str, value: Json) -> Json:
    if change == "another value":
        return different_value(value)
    return extreme_value(value, low=change == "lowest")


# JSON


def _in_json(cell: Cell, place: dict[str, Json]) -> None:
    name = cell.field
    match cell.change:
        case "wrong type":
            place[name] = value_of_other_type(place[name]) if place.get(name) is not None else 7.5
        case _ if place.get(name) is None:
            raise NoCell
        case "absent":
            del place[name]
        case "null":
            place[name] = None
        case change:
            before, place[name] = place[name], _change_value(change, place[name])
            if place[name] == before:
                raise NoCell


# Files of statistics


def _in_puffin(cell: Cell, bench: Workbench) -> None:
    match cell.structure:
        case "Puffin footer":
            changed = change_statistics(bench, lambda document: _in_json(cell, document))
        case "Puffin blob":
            changed = change_statistics(bench, lambda document: _in_json(cell, document["blobs"][0]))
        case _:
            changed = change_vector(bench, lambda blob: _in_json(cell, blob))
    if not changed:
        raise NoCell


def _in_row(cell: Cell, bench: Workbench) -> None:
    _partition_statistics(bench)
    if cell.field == "dv_count" and bench.metadata["format-version"] < 3:
        raise NoCell
    row, name = bench.partition_statistics[0], cell.field
    match cell.change:
        case "absent" | "wrong type":
            place_partition_statistics(bench, name, cell.change)
            return
        case "null":
            row[name] = None
        case change if name == "partition":
            (value,) = row[name].values()
            row[name] = {
                "p": different_value(value)
                if change == "another value"
                else extreme_value(value, low=change == "lowest", bits=31)
            }
        case "another value":
            row[name] = different_value(row[name])
        case change:
            row[name] = extreme_value(row[name], low=change == "lowest", bits=31 if name in INTS else 63)
    place_partition_statistics(bench)


# The header


def _in_header(cell: Cell, manifest: Manifest) -> None:
    header, name = manifest.metadata, cell.field
    if name not in header or cell.change == "null":  # a string is never null
        raise NoCell
    match cell.change:
        case "absent":
            del header[name]
        case "wrong type":
            header[name] = "{"
        case "another value" if name in ("schema", "partition-spec"):
            header[name] = _other_document(header[name])
        case "lowest" | "highest" if name.endswith("-id") or name == "format-version":
            header[name] = str(extreme_value(0, low=cell.change == "lowest", bits=31))
        case change:
            header[name] = _change_value(change, header[name])


def _other_document(text: str) -> str:
    before, found, after = text.rpartition('"name":"') if '"name":"' in text else text.rpartition('"name": "')
    if not found:
        raise NoCell
    return f"{before}{found}x{after}"


# Avro


def _in_avro(cell: Cell, bench: Workbench) -> None:
    manifest = bench.data
    if cell.structure in ("manifest list", "field summary"):
        for one in bench.manifests:
            one.pinned = True
            one.listed["manifest_length"] = len(one.content())
        if cell.structure == "manifest list":
            _in_records(cell, bench.manifest_list, (), manifest.listed, bench.manifest_list.records)
            return
        every = [one for record in bench.manifest_list.records for one in record.get("partitions") or ()]
        _in_records(cell, bench.manifest_list, ("partitions",), _one(manifest.listed.get("partitions")), every)
        return
    if cell.structure == "delete file":
        try:
            manifest = bench.deletes
        except StopIteration:
            raise NoCell from None
    entry = next(record for record in manifest.records if record["status"] != 2)
    if cell.structure == "manifest entry":
        _in_records(cell, manifest, (), entry, manifest.records)
    else:
        _in_records(cell, manifest, ("data_file",), entry["data_file"], manifest.files)
    if cell.change in ("absent", "null", "wrong type", "highest"):
        # For other changes, the counts in the list follow the changed manifest.
        manifest.pinned = True
        manifest.listed["manifest_length"] = len(manifest.content())


def _in_records(
    cell: Cell, file: AvroFile, path: tuple[str, ...], place: dict[str, Json], every: Sequence[dict[str, Json]]
) -> None:
    name = cell.field
    if name not in place:
        raise NoCell
    fields = file.fields(*path)
    field = next(one for one in fields if one["name"] == name)
    match cell.change:
        case "absent":
            fields.remove(field)
            for record in every:
                record.pop(name, None)
        case "wrong type":
            is_text = "string" in (field["type"] if isinstance(field["type"], list) else [field["type"]])
            field["type"] = ["null", "long" if is_text else "string"]
            field.pop("default", None)
            for record in every:
                value = record[name]
                record[name] = None if value is None else 7 if is_text else "seven"
        case _ if place[name] is None:
            raise NoCell
        case "null":
            if not isinstance(field["type"], list):
                field["type"] = ["null", field["type"]]
                field.pop("default", None)
            place[name] = None
        case change:
            is_int = "int" in (field["type"] if isinstance(field["type"], list) else [field["type"]])
            value = place[name]
            if change != "another value" and isinstance(value, int):
                place[name] = extreme_value(value, low=change == "lowest", bits=31 if is_int else 63)
            elif isinstance(value, dict) and (change != "another value" or name != "partition"):
                raise NoCell  # its fields have separate cells
            elif name == "partition":
                first = next(iter(value), None)
                if first is None:
                    raise NoCell
                place[name] = {**value, first: 1 if value[first] is None else different_value(value[first])}
            elif name == "file_format" and change != "another value":
                raise NoCell  # a name out of a fixed set has no limits
            else:
                place[name] = _change_value(change, value)
            if place[name] == value:
                raise NoCell
