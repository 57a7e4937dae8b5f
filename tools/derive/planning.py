"""Small tables for planning and races, made from field tables and hand-written entries; their data files do not exist.

`PlanTable` collects manifests and snapshots and returns the files of a table. `tools.derive.cases.planning` has the
tables and their expected plans, `tools.derive.cases.commit_tables` those that races begin with.
``python -m tools.derive.planning [--check]`` writes them to the folder of golden tables.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.derive import manifests as avro_files
from tools.derive.encoding import single_value
from tools.derive.json_types import JsonObject
from tools.derive.vector import INVALID, Vector
from tools.entry_point import run_without_parser

PLACE = "/tmp/iceberg-conformance/tables"
KEPT = Path(__file__).resolve().parents[2] / "vectors" / "golden" / "tables"
UUID = "6f2d4c1e-3b5a-4c7d-8e9f-0a1b2c3d4e5f"
SECOND = 1700000000000
"""The time of the first snapshot; each following one is a second later."""

AVRO_TYPES: dict[str, Any] = {
    "date": {"type": "int", "logicalType": "date"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
}


def single(type_: str, value: Any) -> bytes:
    """Return the binary single value (Appendix D) of a value; dates and timestamps are numbers here."""
    return single_value({"date": "int", "timestamp": "long"}.get(type_, type_), value)


def stored_gzip(data: bytes) -> bytes:
    """Return a GZIP member (RFC 1952) with one stored block (RFC 1951), whose bytes are the same on every machine."""
    size = len(data).to_bytes(2, "little")
    block = b"\x01" + size + bytes(255 - byte for byte in size) + data
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + block + struct.pack("<II", zlib.crc32(data), len(data))


# Entries


def entry(name: str, partition: Sequence[Any] = (), number: int | None = None, **members: Any) -> JsonObject:
    """Return a live data file of ten rows: existing if it has a data sequence number, otherwise added by the snapshot.

    ``stats`` maps column ids to (type, lower, upper) and, optionally, counts of values, nulls and NaNs; None is absent.
    """
    row: JsonObject = {
        "status": members.pop("status", 1 if number is None else 0),
        "sequence_number": number,
        "file_sequence_number": members.pop("file_number", number),
    }
    file: JsonObject = {
        "content": 0,
        "name": name,
        "tuple": tuple(partition),
        "file_format": "PARQUET",
        "record_count": 10,
        "file_size_in_bytes": 1000,
    }
    for column, (type_, lower, upper, *counts) in members.pop("stats", {}).items():
        statistics = dict(zip(("value_counts", "null_value_counts", "nan_value_counts"), counts, strict=False))
        statistics |= {"lower_bounds": _bytes(type_, lower), "upper_bounds": _bytes(type_, upper)}
        for key, value in statistics.items():
            if value is not None:
                file.setdefault(key, {})[column] = value
    return {**row, "data_file": {**file, **members}}


def _bytes(type_: str, bound: Any) -> Any:
    return bound if bound is None or isinstance(bound, bytes) else single(type_, bound)


def position_deletes(name: str, partition: Sequence[Any] = (), number: int | None = None, **members: Any) -> JsonObject:
    """Return a position delete file; ``of`` names the data file if it refers to only one."""
    return entry(name, partition, number, content=1, **members)


def equality_deletes(
    name: str, ids: Sequence[int], partition: Sequence[Any] = (), number: int | None = None, **members: Any
) -> JsonObject:
    """Return an equality delete file."""
    return entry(name, partition, number, content=2, equality_ids=list(ids), **members)


def deletion_vector(
    name: str, of: str, partition: Sequence[Any] = (), number: int | None = None, **members: Any
) -> JsonObject:
    """Return a deletion vector of a data file."""
    fields = {"content_offset": 4, "content_size_in_bytes": 40, "file_format": "PUFFIN", **members}
    return entry(name, partition, number, content=1, of=of, **fields)


# Tables


@dataclass(frozen=True)
class Spec:
    """A partition spec: for each field the source id, the field id, the name, the transform and the result type."""

    id: int
    fields: tuple[tuple[int, int, str, str, str], ...] = ()

    def to_json(self) -> JsonObject:
        """Return the spec in the form of table metadata."""
        names = ("source-id", "field-id", "name", "transform")
        return {"spec-id": self.id, "fields": [dict(zip(names, one, strict=False)) for one in self.fields]}

    def avro(self) -> list[JsonObject]:
        """Return the Avro fields of the partition tuple."""
        return [
            avro_files.field(one[1], one[2], avro_files.optional(AVRO_TYPES.get(one[4], one[4]))) for one in self.fields
        ]

    def summaries(self, tuples: Iterable[Sequence[Any]]) -> list[JsonObject]:
        """Return the field summaries of partition tuples in a manifest list."""
        made = []
        rows = list(tuples)
        for place, (*_, type_) in enumerate(self.fields):
            values = [row[place] for row in rows]
            known = [value for value in values if value is not None]
            ordered = sorted(
                (value for value in known if not (isinstance(value, float) and math.isnan(value))),
                key=lambda value: (value, math.copysign(1, value)) if isinstance(value, float) else value,
            )
            made.append(
                {
                    "contains_null": len(known) < len(values),
                    "contains_nan": len(ordered) < len(known),
                    "lower_bound": single(type_, ordered[0]) if ordered else None,
                    "upper_bound": single(type_, ordered[-1]) if ordered else None,
                }
            )
        return made


UNPARTITIONED = Spec(0)
ID = {"id": 1, "name": "id", "required": False, "type": "long"}
DATA = {"id": 2, "name": "data", "required": False, "type": "string"}


@dataclass
class PlanTable:
    """A table whose files are generated in memory."""

    name: str
    about: str
    version: int = 2
    columns: Sequence[JsonObject] = (ID, DATA)
    specs: Sequence[Spec] = (UNPARTITIONED,)
    files: dict[str, bytes] = field(default_factory=dict)
    manifests: list[JsonObject] = field(default_factory=list)
    """The entry in the manifest list of the next snapshot."""

    snapshots: list[JsonObject] = field(default_factory=list)
    number: int = 5
    """The sequence number of the first snapshot; each following one is one higher."""

    first: int = 1000
    """The id of the first snapshot; each following one is one higher."""

    schemas: list[JsonObject] = field(default_factory=list)
    changes: JsonObject = field(default_factory=dict)
    """Members that replace those of the metadata."""

    metadata_file: str = "v1.metadata.json"
    """The name of the metadata file."""

    gzip: bool = False
    """Whether the metadata file is compressed."""

    used_for: str = "plan"
    """The prefix of the name of the metadata file."""

    def __post_init__(self) -> None:
        self.name = f"{self.used_for}-{self.name}"
        self.schemas.append({"type": "struct", "schema-id": 0, "fields": list(self.columns)})

    @property
    def place(self) -> str:
        """The directory where the table has to be."""
        return f"{PLACE}/{self.name}"

    @property
    def location(self) -> str:
        """The location of the table's metadata."""
        return f"{self.place}/metadata/{self.metadata_file}"

    def path(self, name: str) -> str:
        """Return the location of a data or delete file."""
        return f"{self.place}/data/{name}"

    @property
    def snapshot_id(self) -> int:
        """The id of the snapshot under construction."""
        return self.first + len(self.snapshots)

    def manifest(
        self,
        *rows: JsonObject,
        spec: int = 0,
        content: str = "data",
        version: int | None = None,
        summaries: Any = "computed",
        **listed: Any,
    ) -> PlanTable:
        """Add a manifest; ``listed`` replaces fields of its entry in the list."""
        of = next(one for one in self.specs if one.id == spec)
        version = version or self.version
        entries = [self._entry(row, of, version) for row in rows]
        used = {key for row in entries for key, value in row["data_file"].items() if value is not None}
        data = avro_files.manifest(
            version,
            entries,
            columns=sorted(used),
            partition=of.avro(),
            spec=of.to_json(),
            table=self.schemas[-1],
            content=content,
            codec="deflate",
        )
        path = f"metadata/m{len([name for name in self.files if '/m' in name])}.avro"
        self.files[path] = data
        counts = [sum(row["status"] == status for row in rows) for status in (1, 0, 2)]
        number = self.number + len(self.snapshots)
        numbers = [row["sequence_number"] for row in rows if row["status"] < 2]
        live = [number if one is None else one for one in numbers]
        listed_entry = avro_files.listed(
            manifest_path=f"{self.place}/{path}",
            manifest_length=len(data),
            partition_spec_id=spec,
            content=int(content == "deletes"),
            sequence_number=number,
            min_sequence_number=min(live, default=number),
            added_snapshot_id=self.snapshot_id,
            added_files_count=counts[0],
            existing_files_count=counts[1],
            deleted_files_count=counts[2],
            added_rows_count=10 * counts[0],
            existing_rows_count=10 * counts[1],
            deleted_rows_count=10 * counts[2],
        )
        if version == 3 and content == "data":
            listed_entry["first_row_id"] = 100 * len(self.manifests)
        if summaries == "computed":
            summaries = of.summaries(row["data_file"]["tuple"] for row in rows)
        self.manifests.append({**listed_entry, "partitions": summaries, **listed})
        return self

    def deletes(self, *rows: JsonObject, **more: Any) -> PlanTable:
        """Add a manifest of delete files."""
        return self.manifest(*rows, content="deletes", **more)

    def _entry(self, row: JsonObject, spec: Spec, version: int) -> JsonObject:
        file = dict(row["data_file"])
        name, values, of = file.pop("name"), file.pop("tuple"), file.pop("of", None)
        maps = {key: avro_files.counts(value) for key, value in file.items() if isinstance(value, dict)}
        fields = {
            "file_path": self.path(name),
            "block_size_in_bytes": 67108864,
            "partition": {one[2]: value for one, value in zip(spec.fields, values, strict=True)},
            **({"referenced_data_file": self.path(of)} if of else {}),
        }
        return {**row, "snapshot_id": self.snapshot_id, "data_file": {**file, **maps, **fields}}

    def commit(self, *, old: bool = False, **members: Any) -> PlanTable:
        """Make a snapshot of the manifests so far; with ``old``, it lists them itself, as v1 allows."""
        number = self.snapshot_id
        has_deletes = any(one.get("content") for one in self.manifests)
        fields: JsonObject = {
            "snapshot-id": number,
            "timestamp-ms": SECOND + 1000 * len(self.snapshots),
            "summary": {"operation": "overwrite" if has_deletes else "append"},
            "schema-id": self.schemas[-1]["schema-id"],
        }
        if self.version > 1:
            fields["sequence-number"] = self.number + len(self.snapshots)
        if self.version > 2:
            fields |= {"first-row-id": 0, "added-rows": 1000}
        if old:
            fields["manifests"] = [one["manifest_path"] for one in self.manifests]
        else:
            path = f"metadata/snap-{number}.avro"
            self.files[path] = avro_files.manifest_list(
                self.version,
                self.manifests,
                codec="deflate",
                metadata={"format-version": str(self.version)},
                columns=sorted({key for one in self.manifests for key, value in one.items() if value is not None}),
            )
            fields["manifest-list"] = f"{self.place}/{path}"
        self.snapshots.append({**fields, **members})
        return self

    def metadata(self) -> JsonObject:
        """Return the table metadata."""
        ids = [column["id"] for schema in self.schemas for column in schema["fields"]]
        partitions = [one[1] for spec in self.specs for one in spec.fields]
        made: JsonObject = {
            "format-version": self.version,
            "table-uuid": UUID,
            "location": self.place,
            "last-updated-ms": SECOND + 1000 * len(self.snapshots),
            "last-column-id": max(ids),
            "schemas": self.schemas,
            "current-schema-id": self.schemas[-1]["schema-id"],
            "partition-specs": [spec.to_json() for spec in self.specs],
            "default-spec-id": self.specs[-1].id,
            "last-partition-id": max(partitions, default=999),
            "sort-orders": [{"order-id": 0, "fields": []}],
            "default-sort-order-id": 0,
            "properties": {},
            "snapshots": self.snapshots,
        }
        if self.snapshots:
            last = self.snapshots[-1]["snapshot-id"]
            made["current-snapshot-id"] = last
            made["refs"] = {"main": {"snapshot-id": last, "type": "branch"}}
            made["snapshot-log"] = [
                {"snapshot-id": one["snapshot-id"], "timestamp-ms": one["timestamp-ms"]} for one in self.snapshots
            ]
        if self.version == 1:
            made |= {"schema": self.schemas[-1], "partition-spec": self.specs[-1].to_json()["fields"]}
            made.pop("refs", None)
        else:
            made["last-sequence-number"] = self.number + len(self.snapshots)
        if self.version == 3:
            made["next-row-id"] = 1000
        return {**made, **self.changes}

    def contents(self) -> dict[str, bytes]:
        """Return all files of the table, and their index."""
        metadata = json.dumps(self.metadata(), indent=1).encode()
        name = f"metadata/{self.metadata_file}"
        files = {**self.files, name: stored_gzip(metadata) if self.gzip else metadata}
        index = {
            "table": self.name,
            "about": self.about,
            "made_by": "tools/derive/planning.py",
            "format_version": self.version,
            "metadata": name,
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())},
        }
        return {**files, "index.json": (json.dumps(index, indent=1) + "\n").encode()}

    # Expected plans

    def case(
        self,
        id_: str,
        codes: str,
        planned: Mapping[str, Sequence[str]] | Sequence[str],
        note: str,
        *,
        filter: Any = None,
        optional: Sequence[str] = (),
        optional_deletes: Mapping[str, Sequence[str]] | None = None,
        contradiction: str = "",
        **args: Any,
    ) -> Vector:
        """Return a case with the expected plan: data files with the deletes that apply to them, by name.

        Args:
            id_: the name of the case, which follows that of the table in its id.
            codes: the requirements, separated by spaces.
            planned: the data files, with their deletes if there are any; a deletion vector is ``name@offset``.
            note: what the case shows.
            filter: the filter.
            optional: data files that may be planned or left out.
            optional_deletes: deletes by data file that may be applied or left out.
            contradiction: the contradictions that it depends on, separated by spaces.
            args: further arguments of the request.
        """
        by_file = planned if isinstance(planned, Mapping) else dict.fromkeys(planned, ())
        files = []
        for name in [*by_file, *(name for name in optional if name not in by_file)]:
            fields: JsonObject = {
                "data_file": self.path(name),
                "delete_files": [self._delete(one) for one in by_file.get(name, ())],
            }
            if name in optional:
                fields["optional"] = True
            if name in (optional_deletes or {}):
                fields["optional_delete_files"] = [self._delete(one) for one in (optional_deletes or {})[name]]
            files.append(fields)
        return self._vector(id_, codes, {"ok": {"files": files}}, note, filter, contradiction, args)

    def refusal(self, id_: str, codes: str, note: str, *, filter: Any = None, **args: Any) -> Vector:
        """Return a case that a planner has to reject."""
        return self._vector(id_, codes, INVALID, note, filter, "", args)

    def _delete(self, name: str) -> JsonObject:
        path, at, offset = name.partition("@")
        return {"path": self.path(path), **({"content_offset": offset} if at else {})}

    def _vector(
        self,
        id_: str,
        codes: str,
        expect: JsonObject,
        note: str,
        filter_: Any,
        contradiction: str,
        args: Mapping[str, Any],
    ) -> Vector:
        given: JsonObject = {"table": self.location, **args}
        if filter_ is not None:
            given["filter"] = filter_
        return Vector(
            f"{self.name}-{id_}",
            tuple(codes.split()),
            given,
            expect,
            "derivation: tools/derive/planning.py",
            note,
            tuple(sorted(contradiction.split())),
            only=(self.version,),
        )


def either(first: Vector, *others: Vector | JsonObject) -> Vector:
    """Combine cases into one that permits the outcomes of all; all else is from the first."""
    outcomes = [one.expect if isinstance(one, Vector) else one for one in (first, *others)]
    return Vector(
        first.id,
        first.requirements,
        first.args,
        {"any_of": outcomes},
        first.origin,
        first.note,
        first.contradiction,
        only=first.only,
    )


def main(argv: Sequence[str]) -> int:
    """Write the tables, or with ``--check`` compare them; return 1 if a file differs."""
    from tools.derive.cases import commit_tables, planning

    stale: list[str] = []
    for table in (*planning.tables(), *commit_tables.tables()):
        folder, files = KEPT / table.name, table.contents()
        there = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        names = there.keys() | files.keys()
        same = {name for name in there.keys() & files.keys() if there[name].read_bytes() == files[name]}
        stale += [f"{table.name}/{name}" for name in names - same]
        if "--check" not in argv:
            for name in there.keys() - files.keys():
                there[name].unlink()
            for name, data in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
    if "--check" not in argv:
        return 0
    for name in sorted(stale):
        print(f"{name}: differs from the derived file", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    run_without_parser(main, sys.argv[1:])
