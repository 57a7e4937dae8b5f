"""Values and types, for several checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from spec_ref.columnar.manifests.entry_columns import ManifestColumns
from spec_ref.core.errors import SpecError, Violation, format_value
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.promotion import is_promotable
from spec_ref.data_types.types import Type, is_primitive, kind
from spec_ref.manifests.data_file import FileFormat


def partition_values(columns: ManifestColumns, field_id: int) -> list[Any]:
    """Return the values of a partition field; None for all if the tuples lack it, which the schema's check reports."""
    try:
        return columns.partition(field_id)
    except SpecError:
        return [None] * len(columns)


def encode_partition(values: Iterable[Any]) -> str:
    """Encode a partition tuple as text; the texts of two tuples are equal exactly if the tuples are."""
    return f"[{', '.join(map(format_value, values))}]"


def is_readable_as(found: Type, expected: Type, version: FormatVersion) -> bool:
    """Return whether a column of one type can be read as another; fields of nested types are compared separately."""
    if not is_primitive(found) or not is_primitive(expected):
        return kind(found) == kind(expected)
    if kind(expected) in GEOSPATIAL and kind(found) == kind(expected):
        return True  # ORC does not store the parameters
    return found == expected or is_promotable(found, expected, version)


@attrs.frozen
class StorageMismatch:
    """An encoding of a column which readers read as a different type."""

    wanted: Collection[str]
    """The kinds of types of the column in the table."""

    found: Collection[str] | None
    """The types of the column in the file, or their kinds; None for all."""

    codes: Mapping[FileFormat, str | None]
    """The requirement by format; None if the format cannot distinguish the types."""

    message: str
    expected: str
    """How the column must be stored; ``{}`` stands for the kind of the column in capitals, ``{type}`` for the kind, and
    ``{utc}`` for whether its values have a time zone."""


GEOSPATIAL = ("geometry", "geography")
MICROS, NANOS = ("timestamp", "timestamptz"), ("timestamp_ns", "timestamptz_ns")
PARQUET, ORC, AVRO = FileFormat.PARQUET, FileFormat.ORC, FileFormat.AVRO

STORAGE_MISMATCHES = (
    StorageMismatch(
        GEOSPATIAL,
        ("binary",),
        {PARQUET: "PQT005", ORC: "ORC005", AVRO: None},  # as AVR012
        "a geospatial column is stored as plain bytes",
        "the annotation {}",
    ),
    StorageMismatch(GEOSPATIAL, ("string",), {AVRO: "AVR012"}, "a geospatial column is stored as text", "bytes of WKB"),
    StorageMismatch(
        ("uuid",),
        ("fixed[16]",),
        {PARQUET: "PQT004"},
        "a column of UUIDs is stored as plain bytes",
        "the annotation {}",
    ),
    StorageMismatch(
        ("unknown",),
        None,
        {PARQUET: "PQT006", ORC: "ORC005", AVRO: "AVR010"},
        "a column of type unknown is stored",
        "no such column",
    ),
    StorageMismatch(
        ("date",), ("int",), {AVRO: "AVR007"}, "a date is stored as a plain number", "the logical type date"
    ),
    StorageMismatch(
        ("time",), ("long",), {AVRO: "AVR007"}, "a time is stored as a plain number", "the logical type time-micros"
    ),
    StorageMismatch(
        MICROS,
        ("long", *MICROS, *NANOS),
        {AVRO: "AVR007"},
        "a timestamp is stored as another type",
        "the logical type timestamp-micros with adjust-to-utc {utc}",
    ),
    StorageMismatch(
        NANOS,
        ("long", *MICROS, *NANOS),
        {AVRO: "AVR008"},
        "a timestamp is stored as another type",
        "the logical type timestamp-nanos with adjust-to-utc {utc}",
    ),
    StorageMismatch(
        (*MICROS, *NANOS),
        (*MICROS, *NANOS),
        {ORC: "ORC003"},
        "a timestamp is stored as another type",
        "the ORC type and attributes of {type}",
    ),
    StorageMismatch(("map",), ("list",), {AVRO: "AVR004"}, "a map is stored as a plain list", "the logical type map"),
    StorageMismatch(
        ("variant",),
        ("struct",),
        {AVRO: "AVR011"},
        "a variant is stored as a struct",
        "a record of metadata and value without field ids",
    ),
)
"""Wrong encodings other than a plainly different type, which is EVO001; the first matching row applies."""


def storage_mismatches(found: Type, wanted: Type, file_format: FileFormat) -> tuple[Violation, ...] | None:
    """Return the violations of a column that is stored like a different type; None if no row applies."""
    for row in STORAGE_MISMATCHES:
        fits = kind(wanted) in row.wanted and (row.found is None or not {kind(found), str(found)}.isdisjoint(row.found))
        if fits and file_format in row.codes:
            name = kind(wanted)
            expected = row.expected.format(name.upper(), type=name, utc="true" if "tz" in name else "false")
            code = row.codes[file_format]
            if code is None:
                return ()
            return (Violation(requirement=code, message=row.message, expected=expected, aspect="stored-otherwise"),)
    return None
