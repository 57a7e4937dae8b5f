"""The operations of PyIceberg on manifests and manifest lists: ``pyiceberg.manifest``. Files are in memory."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import zstandard
from pyiceberg.exceptions import ResolveError, ValidationError
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    PartitionFieldSummary,
    read_manifest_list,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.serve import Arguments, Invalid, Unsupported
from spec_ref.core.json_types import JsonObject

REFUSALS = (ValueError, ResolveError, ValidationError, EOFError, zlib.error, zstandard.ZstdError, struct.error)
"""Exceptions with which PyIceberg refuses files; `UnicodeError` and pydantic's errors are ValueErrors."""

UNASSIGNED = -1
FILE = (
    "content",
    "file_path",
    "file_format",
    "partition",
    "record_count",
    "file_size_in_bytes",
    "column_sizes",
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
    "key_metadata",
    "split_offsets",
    "equality_ids",
    "sort_order_id",
)
"""The fields of a data file that PyIceberg supports."""

ROW_IDS = frozenset({"first_row_id", "referenced_data_file", "content_offset", "content_size_in_bytes"})
LISTED = (
    "manifest_path",
    "manifest_length",
    "partition_spec_id",
    "content",
    "sequence_number",
    "min_sequence_number",
    "added_snapshot_id",
    "added_files_count",
    "existing_files_count",
    "deleted_files_count",
    "added_rows_count",
    "existing_rows_count",
    "deleted_rows_count",
    "partitions",
    "key_metadata",
)
SUMMARY = ("contains_null", "contains_nan", "lower_bound", "upper_bound")
INTS = frozenset(
    {
        "content",
        "sort_order_id",
        "equality_ids",
        "partition_spec_id",
        "added_files_count",
        "existing_files_count",
        "deleted_files_count",
        "status",
    }
)
BYTES = frozenset({"lower_bounds", "upper_bounds", "key_metadata", "lower_bound", "upper_bound"})


@contextmanager
def _convert_errors() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise Unsupported(str(error)) from None
    except REFUSALS as error:
        if "timestamp-nanos" in str(error):
            raise Unsupported(str(error)) from None
        raise Invalid(f"{type(error).__name__}: {error}") from None
    except SystemError as error:
        if "Negative size" not in str(error):  # PyIceberg's decoder reports a negative length this way
            raise
        raise Invalid(f"SystemError: {error}") from None


class Memory(FileIO):  # type: ignore[misc]
    """One file in memory."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__()
        self.data = data

    def new_input(self, location: str) -> InputFile:
        return MemoryInput(location, self.data)

    def new_output(self, location: str) -> OutputFile:
        return MemoryOutput(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        self.data = b""


class MemoryInput(InputFile):  # type: ignore[misc]
    """An input file with given bytes."""

    def __init__(self, location: str, data: bytes) -> None:
        super().__init__(location)
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def exists(self) -> bool:
        return True

    def open(self, seekable: bool = True) -> Any:
        return io.BytesIO(self.data)


class RetainedBytesIO(io.BytesIO):
    """A stream whose bytes remain available after it is closed."""

    content = b""

    def close(self) -> None:
        if not self.closed:
            self.content = self.getvalue()
        super().close()


class MemoryOutput(OutputFile):  # type: ignore[misc]
    """An output file that collects bytes."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.stream = RetainedBytesIO()

    def __len__(self) -> int:
        return len(self.stream.content)

    def exists(self) -> bool:
        return False

    def to_input_file(self) -> InputFile:
        return MemoryInput(self.location, self.stream.content)

    def create(self, overwrite: bool = False) -> Any:
        return self.stream


def engine_table(args: Arguments) -> tuple[Schema, dict[int, PartitionSpec]]:
    """Return the schema, and the specs by id, of a request."""
    specs = args["specs"] if "specs" in args else [args["spec"]]
    schema = Schema.model_validate_json(json.dumps({"schema-id": 0, "type": "struct", **args["schema"]}))
    read = (PartitionSpec.model_validate_json(json.dumps(spec)) for spec in specs)
    return schema, {spec.spec_id: spec for spec in read}


def _wire_value(name: str, value: Any) -> Any:
    """Return the wire form of a value of a record."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {str(key): _wire_value(name, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_wire_value(name, item) for item in value]
    if name in BYTES:
        return bytes(value).hex().upper()
    if isinstance(value, bool) or name in INTS:
        return int(value) if name in INTS else value
    return str(value) if isinstance(value, int) else value


def _read(args: Arguments) -> object:
    names = args.get("select")
    if names is not None and "header" in names:
        raise Unsupported("PyIceberg does not report the header of a manifest")
    manifest = args["manifest_file"]
    if manifest.get("first_row_id") is not None or not ROW_IDS.isdisjoint(names or ()):
        raise Unsupported("PyIceberg's manifests have no row ids or deletion vectors")
    data = bytes.fromhex(args["bytes"])
    listed = _to_manifest_file({**manifest, "manifest_path": "memory:/m.avro", "manifest_length": str(len(data))})
    schema, specs = engine_table(args)
    with _convert_errors():
        entries = listed.fetch_manifest_entry(Memory(data), discard_deleted=False)
    spec = specs.get(listed.partition_spec_id)
    if spec is None:
        raise Unsupported("manifests are read without the specs of the table")
    return {"entries": [_entry_form(entry, spec, schema) for entry in entries]}


def _entry_form(entry: ManifestEntry, spec: PartitionSpec, schema: Schema) -> JsonObject:
    names = ("status", "snapshot_id", "sequence_number", "file_sequence_number")
    form = {name: _wire_value(name, getattr(entry, name)) for name in names}
    file = entry.data_file
    data_file = {
        name: _wire_value(name, getattr(file, name)) for name in FILE if name not in ("partition", "file_format")
    }
    data_file["file_format"] = str(file.file_format.value).lower()
    data_file["partition"] = {}
    for place, field in enumerate(spec.partition_type(schema).fields):
        value = file.partition[place]
        if value is not None:
            data_file["partition"][str(field.field_id)] = native.write(str(field.field_type), value)
    return {**form, "data_file": data_file}


def _list_read(args: Arguments) -> object:
    if "first_row_id" in args.get("select", ()):
        raise Unsupported("PyIceberg has no row ids")
    file = MemoryInput("memory:/l.avro", bytes.fromhex(args["bytes"]))
    with _convert_errors():
        manifests = list(read_manifest_list(file))
    return {"manifests": [_listed_form(one) for one in manifests]}


def _listed_form(manifest: ManifestFile) -> JsonObject:
    form = {name: _wire_value(name, getattr(manifest, name)) for name in LISTED if name != "partitions"}
    if manifest.partitions is not None:
        form["partitions"] = [
            {name: _wire_value(name, getattr(one, name)) for name in SUMMARY} for one in manifest.partitions
        ]
    return form


# Writing


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return {int(key): _value(name, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_value(name, item) for item in value]
    if name in BYTES:
        return bytes.fromhex(value)
    return int(value) if isinstance(value, str) and name not in ("file_path", "manifest_path") else value


def _to_manifest_file(form: JsonObject) -> ManifestFile:
    values = {name: _value(name, form.get(name)) for name in LISTED if name != "partitions"}
    values["content"] = ManifestContent(form.get("content", 0))
    for name in ("sequence_number", "min_sequence_number"):
        if values[name] is None:
            values[name] = UNASSIGNED
    summaries = form.get("partitions")
    values["partitions"] = (
        None
        if summaries is None
        else [
            PartitionFieldSummary.from_args(**{name: _value(name, one.get(name)) for name in SUMMARY})
            for one in summaries
        ]
    )
    return ManifestFile.from_args(**values)


def _write(args: Arguments) -> object:
    if args["content"]:
        raise Unsupported("PyIceberg does not write delete manifests")
    if args["format_version"] == 3:
        raise Unsupported("PyIceberg does not write manifests of v3")
    schema, specs = engine_table(args)
    (spec,) = specs.values()
    output = MemoryOutput("memory:/w.avro")
    with _convert_errors():
        writer = write_manifest(args["format_version"], spec, schema, output, int(args["snapshot_id"]), "deflate")
        with writer:
            for form in args["entries"]:
                _add(writer, form, _entry(form, spec, schema))
    return output.stream.content.hex().upper()


def _add(writer: Any, form: JsonObject, entry: ManifestEntry) -> None:
    {0: writer.existing, 1: writer.add, 2: writer.delete}[form["status"]](entry)


def _entry(form: JsonObject, spec: PartitionSpec, schema: Schema) -> ManifestEntry:
    data_file = form["data_file"]
    if any(data_file.get(name) is not None for name in ROW_IDS):
        raise Unsupported("PyIceberg does not write deletion vectors or row ids")
    values = {name: _value(name, data_file.get(name)) for name in FILE if name not in ("partition", "file_format")}
    values["content"] = DataFileContent(data_file.get("content", 0))
    values["file_format"] = FileFormat(data_file["file_format"].upper())
    partition = data_file.get("partition", {})
    fields = spec.partition_type(schema).fields
    values["partition"] = Record(
        *(native.read(str(one.field_type), partition.get(str(one.field_id))) for one in fields)
    )
    names = ("snapshot_id", "sequence_number", "file_sequence_number")
    return ManifestEntry.from_args(
        status=ManifestEntryStatus(form["status"]),
        data_file=DataFile.from_args(**values),
        **{name: _value(name, form.get(name)) for name in names},
    )


def _list_write(args: Arguments) -> object:
    if args["format_version"] == 3:
        raise Unsupported("PyIceberg does not write manifest lists of v3")
    output = MemoryOutput("memory:/l.avro")
    parent = args.get("parent_snapshot_id")
    with _convert_errors():
        writer = write_manifest_list(
            args["format_version"],
            output,
            int(args["snapshot_id"]),
            None if parent is None else int(parent),
            int(args["sequence_number"]),
            "deflate",
        )
        with writer:
            writer.add_manifests([_to_manifest_file(form) for form in args["manifests"]])
    return output.stream.content.hex().upper()


def operations() -> dict[str, Callable[[Arguments], object]]:
    """Return the operations by name."""
    return {
        "manifest.read": _read,
        "manifest.write": _write,
        "manifest-list.read": _list_read,
        "manifest-list.write": _list_write,
    }
