"""What several checks ask of values and types."""

from __future__ import annotations

from typing import Any

from spec_ref.errors import SpecError, Violation
from spec_ref.manifests.columns import ManifestColumns
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.evolution import promotable
from spec_ref.schemas.types import BINARY, UNKNOWN, UUID, FixedType, Type, is_primitive, kind
from spec_ref.versions import FormatVersion

GEOSPATIAL = ("geometry", "geography")


def exact(value: Any) -> Any:
    """What values are told apart by: floating-point values by their bits, all NaNs being one (SCN013)."""
    return ("float", value.hex()) if isinstance(value, float) else value


def partition_values(columns: ManifestColumns, field_id: int) -> list[Any]:
    """The values of a partition field; all None where the tuples do not have it, which the schema's check tells."""
    try:
        return columns.partition(field_id)
    except SpecError:
        return [None] * len(columns)


def same_type(found: Type, wanted: Type, version: FormatVersion) -> bool:
    """Whether a column of a type can be read as one of another; what is inside of nested types is compared by id."""
    if not is_primitive(found) or not is_primitive(wanted):
        return kind(found) == kind(wanted)
    if kind(wanted) in GEOSPATIAL and kind(found) == kind(wanted):
        return True  # ORC does not store the parameters
    return found == wanted or promotable(found, wanted, version)


def stored_otherwise(found: Type, wanted: Type, file_format: FileFormat) -> tuple[Violation, ...] | None:
    """Whether a column of a type is one of another whose annotation is not there, or that is not to be there: what that
    breaks, which in Avro may be nothing. None where it is another column.
    """
    if kind(wanted) in GEOSPATIAL and found == BINARY:  # Avro has no annotation for them (AVR012)
        expected = f"the annotation {kind(wanted).upper()}"
        codes, message = _SHAPES, "a column of shapes is stored as plain bytes"
    elif wanted == UUID and found == FixedType(16):
        codes, message, expected = _UUIDS, "a column of UUIDs is stored as plain bytes", "the annotation UUID"
    elif wanted == UNKNOWN:
        codes, message, expected = _UNKNOWN, "a column of type unknown is stored", "no such column"
    else:
        return None
    if file_format not in codes:
        return None
    code = codes[file_format]
    return () if code is None else (Violation(requirement=code, message=message, path="", expected=expected),)


_SHAPES = {FileFormat.PARQUET: "PQT005", FileFormat.ORC: "ORC005", FileFormat.AVRO: None}
_UUIDS: dict[FileFormat, str | None] = {FileFormat.PARQUET: "PQT004"}
_UNKNOWN: dict[FileFormat, str | None] = {FileFormat.PARQUET: "PQT006", FileFormat.ORC: "ORC005"}
