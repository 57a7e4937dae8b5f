"""What several checks ask of values and types."""

from __future__ import annotations

from typing import Any

from spec_ref.errors import SpecError
from spec_ref.manifests.columns import ManifestColumns
from spec_ref.schemas.evolution import promotable
from spec_ref.schemas.types import Type, is_primitive, kind
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
