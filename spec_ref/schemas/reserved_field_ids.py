"""Field ids of metadata columns (Reserved Field IDs)."""

from __future__ import annotations

from spec_ref.core.records import record
from spec_ref.core.versions import DELETE_FILES, ROW_LINEAGE, V1, FormatVersion
from spec_ref.data_types.types import BOOLEAN, INT, LONG, STRING, PrimitiveType

MAX_TABLE_FIELD_ID = 2147483447
"""The highest field id of a table's own columns (RES001); metadata columns have higher ids."""


@record
class MetadataColumn:
    """A column that readers can produce although no table stores it, or that delete files store."""

    id: int
    name: str
    type: PrimitiveType | None
    """The type of the column; None for a struct whose fields the table determines."""

    requirement: str
    since: FormatVersion = V1


METADATA_COLUMNS: tuple[MetadataColumn, ...] = (
    MetadataColumn(2147483646, "_file", STRING, "RES002"),
    MetadataColumn(2147483645, "_pos", LONG, "RES002"),
    MetadataColumn(2147483644, "_deleted", BOOLEAN, "RES002"),
    MetadataColumn(2147483643, "_spec_id", INT, "RES002"),
    MetadataColumn(2147483642, "_partition", None, "RES002"),
    MetadataColumn(2147483546, "file_path", STRING, "RES003", since=DELETE_FILES.since),
    MetadataColumn(2147483545, "pos", LONG, "RES003", since=DELETE_FILES.since),
    MetadataColumn(2147483544, "row", None, "RES003", since=DELETE_FILES.since),
    MetadataColumn(2147483543, "_change_type", STRING, "RES004"),
    MetadataColumn(2147483542, "_change_ordinal", INT, "RES004"),
    MetadataColumn(2147483541, "_commit_snapshot_id", LONG, "RES004"),
    MetadataColumn(2147483540, "_row_id", LONG, "RES005", since=ROW_LINEAGE.since),
    MetadataColumn(2147483539, "_last_updated_sequence_number", LONG, "RES005", since=ROW_LINEAGE.since),
)
"""The table of metadata columns, in the order of the spec."""

BY_ID: dict[int, MetadataColumn] = {column.id: column for column in METADATA_COLUMNS}
BY_NAME: dict[str, MetadataColumn] = {column.name: column for column in METADATA_COLUMNS}

CHANGE_TYPES = ("INSERT", "DELETE", "UPDATE_BEFORE", "UPDATE_AFTER")
"""The values of ``_change_type`` (RES006)."""
