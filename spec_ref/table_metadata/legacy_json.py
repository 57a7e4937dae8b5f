"""The JSON of content files and scan tasks that the spec had until 2024: a legacy import format, not part of the spec.

Upstream removed both sections (apache/iceberg#9771), and Iceberg-Java has written another form since (contradiction
A29). This module implements the removed text: upper-case names, partition values keyed by partition field id, maps as
keys and values. It is read, and not written.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from spec_ref.core.errors import Description, error_path, spec_error
from spec_ref.core.records import record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED, V3, FormatVersion
from spec_ref.data_types.types import BINARY, StructType
from spec_ref.json.documents import check_document
from spec_ref.json.reading import reader
from spec_ref.json.wire_types import ANY, INT, LONG, STRING, Converted, Kind, ListOf, RecordOf, enum_kind
from spec_ref.partitioning.spec import SPEC, PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema
from spec_ref.single_value.json_value import from_json

REQUIREMENT = "TMD029"
"""The code for a document that does not follow the removed format, which has no separate requirement."""


class LegacyContent(enum.Enum):
    """The content of a file: data or a kind of deletes."""

    DATA = "DATA"
    POSITION_DELETES = "POSITION_DELETES"
    EQUALITY_DELETES = "EQUALITY_DELETES"


class LegacyFormat(enum.Enum):
    """The file formats that the removed text names."""

    AVRO = "AVRO"
    ORC = "ORC"
    PARQUET = "PARQUET"


def _read_bytes(text: str, _: FormatVersion) -> bytes:
    value: bytes = from_json(BINARY, text)
    return value


def _not_written(value: Any, _: FormatVersion) -> Any:
    raise spec_error(REQUIREMENT, "the removed format can only be read, not written", found=value)


HEXADECIMAL = Converted(STRING, _read_bytes, _not_written)


@record(kw_only=True)
class _Pairs:
    """A map as JSON: a list of keys beside a list of values."""

    keys: tuple[Any, ...] = spec_field("keys", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement=REQUIREMENT)
    values: tuple[Any, ...] = spec_field("values", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement=REQUIREMENT)


def _id_map(value: Kind) -> Converted:
    """Make the wire type of a map from column ids to values."""

    def read(pairs: _Pairs, _: FormatVersion) -> dict[int, Any]:
        if len(pairs.keys) != len(pairs.values):
            found = Description(f"{len(pairs.keys)} keys, {len(pairs.values)} values")
            raise spec_error(REQUIREMENT, "the map has different numbers of keys and values", found=found)
        made = dict(zip(pairs.keys, pairs.values, strict=True))
        if len(made) != len(pairs.keys):
            raise spec_error(REQUIREMENT, "the map has a repeated key", found=pairs.keys)
        return made

    kinds: dict[str, Kind] = {"keys": ListOf(INT), "values": ListOf(value)}
    return Converted(RecordOf(_Pairs, "a map", requirement=REQUIREMENT, kinds=kinds), read, _not_written)


def _required(name: str, kind: Kind) -> Any:
    return spec_field(name, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement=REQUIREMENT, type=kind)


def _optional(name: str, kind: Kind) -> Any:
    return spec_field(name, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement=REQUIREMENT, type=kind, default=None)


@record(kw_only=True)
class LegacyContentFile:
    """A data or delete file in the form of the removed section Content File Serialization."""

    spec_id: int = _required("spec-id", INT)
    content: LegacyContent = _required("content", enum_kind(LegacyContent, REQUIREMENT))
    file_path: str = _required("file-path", STRING)
    file_format: LegacyFormat = _required("file-format", enum_kind(LegacyFormat, REQUIREMENT))
    partition: Any = _optional("partition", ANY)
    """The partition tuple in JSON, by partition field id; `read_partition_tuple` reads it by the spec's types."""

    record_count: int = _required("record-count", LONG)
    file_size_in_bytes: int = _required("file-size-in-bytes", LONG)
    column_sizes: Mapping[int, int] | None = _optional("column-sizes", _id_map(LONG))
    value_counts: Mapping[int, int] | None = _optional("value-counts", _id_map(LONG))
    null_value_counts: Mapping[int, int] | None = _optional("null-value-counts", _id_map(LONG))
    nan_value_counts: Mapping[int, int] | None = _optional("nan-value-counts", _id_map(LONG))
    lower_bounds: Mapping[int, bytes] | None = _optional("lower-bounds", _id_map(HEXADECIMAL))
    upper_bounds: Mapping[int, bytes] | None = _optional("upper-bounds", _id_map(HEXADECIMAL))
    key_metadata: bytes | None = _optional("key-metadata", HEXADECIMAL)
    split_offsets: tuple[int, ...] | None = _optional("split-offsets", ListOf(LONG))
    equality_ids: tuple[int, ...] | None = _optional("equality-ids", ListOf(INT))
    sort_order_id: int | None = _optional("sort-order-id", INT)


CONTENT_FILE = RecordOf(LegacyContentFile, "a content file", requirement=REQUIREMENT)


@record(kw_only=True)
class LegacyScanTask:
    """A scan task in the form of the removed section File Scan Task Serialization."""

    schema: Schema = _required("schema", SCHEMA)
    spec: PartitionSpec = _required("spec", SPEC)
    data_file: LegacyContentFile = _required("data-file", CONTENT_FILE)
    delete_files: tuple[LegacyContentFile, ...] | None = _optional("delete-files", ListOf(CONTENT_FILE))
    residual_filter: Any = _optional("residual-filter", ANY)
    """The residual as JSON; `spec_ref.expressions.expression_json` reads it."""


SCAN_TASK = RecordOf(LegacyScanTask, "a scan task", requirement=REQUIREMENT)


def read_content_file(document: dict[str, Any]) -> LegacyContentFile:
    """Read a content file of the removed format.

    Args:
        document: the JSON object.

    Returns:
        The content file.

    Raises:
        SpecError: TMD029 if it does not follow the format.
    """
    check_document(document)
    made: LegacyContentFile = reader(CONTENT_FILE, V3, REQUIREMENT)(document)
    return made


def read_scan_task(document: dict[str, Any]) -> LegacyScanTask:
    """Read a scan task of the removed format.

    Args:
        document: the JSON object.

    Returns:
        The scan task.

    Raises:
        SpecError: TMD029 if it does not follow the format, or the code of its schema or partition spec.
    """
    check_document(document)
    made: LegacyScanTask = reader(SCAN_TASK, V3, REQUIREMENT)(document)
    return made


def read_partition_tuple(file: LegacyContentFile, partition_type: StructType) -> dict[int, Any]:
    """Read the partition tuple of a content file.

    Args:
        file: the content file.
        partition_type: the type of the tuples of its partition spec.

    Returns:
        The values by partition field id; None for a field that is absent.

    Raises:
        SpecError: TMD029 if the tuple is not an object; the code of the type or of its JSON form if a value is not of
            its type.
    """
    given = file.partition or {}
    if type(given) is not dict:
        raise spec_error(REQUIREMENT, "the partition is not an object", found=given, path="/partition")
    values = {}
    for field in partition_type.fields:
        value = given.get(str(field.id))
        with error_path(f"/partition/{field.id}"):
            values[field.id] = None if value is None else from_json(field.type, value)
    return values
