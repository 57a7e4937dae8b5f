"""Format versions, and the rule of each version for a field (Format Versioning; Writer requirements; Appendix E).

The spec states its version rules as tables with a column for each version: a field is required, optional, or blank,
which means that a writer should omit it. `FieldRule` is one row of such a table. What a version adds that is not a
field is a row of `FEATURES`. Both are the only places that compare versions.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs


class FormatVersion(enum.IntEnum):
    """An adopted version of the table format. Version 4 is a draft and is not included."""

    V1 = 1
    V2 = 2
    V3 = 3

    def includes(self, since: FormatVersion) -> bool:
        """Decide whether this version has what another version added.

        Args:
            since: the version that added it.

        Returns:
            Whether this version is that one or a later one.
        """
        return self >= since

    @property
    def next(self) -> FormatVersion | None:
        """The version that a table of this one is upgraded to; None for the last."""
        return None if self is NEWEST else FormatVersion(self + 1)


V1, V2, V3 = FormatVersion

NEWEST = V3
"""The highest format version that is supported (VER001)."""


@attrs.frozen
class Feature:
    """Something that a format version added or removed, other than a field of one of the spec's tables."""

    name: str
    since: FormatVersion
    """The first version whose tables may use it, and whose readers expect it."""

    requirements: tuple[str, ...]
    """The codes of the requirements that state the version, and of those on tables that have the feature."""

    until: FormatVersion = NEWEST
    """The last version whose writers may add it; tables that have it keep it."""

    def is_supported(self, version: FormatVersion) -> bool:
        """Decide whether tables of a version may have the feature, as written with the version or before an upgrade.

        Args:
            version: the format version of the table.

        Returns:
            Whether they may.
        """
        return version.includes(self.since)

    def may_be_added(self, version: FormatVersion) -> bool:
        """Decide whether a writer may add the feature to a table.

        Args:
            version: the format version of the table.

        Returns:
            Whether it may.
        """
        return version.includes(self.since) and self.until.includes(version)


SEQUENCE_NUMBERS = Feature("sequence numbers of commits, snapshots and files", V2, ("SEQ001", "SEQ005", "MAN022"))
DELETE_FILES = Feature("row-level deletes, in delete files and delete manifests", V2, ("DEL001", "MAN002", "DFL020"))
POSITION_DELETE_FILES = Feature("position delete files", V2, ("DEL002",), until=V2)
SNAPSHOT_ID_INHERITANCE = Feature("inheritance of snapshot ids by manifest entries", V2, ("MAN012", "MAN017"))
UNIQUE_PARTITION_FIELD_IDS = Feature("partition field ids that are unique in the table", V2, ("PAR003",))
DELETION_VECTORS = Feature("deletion vectors, in Puffin files", V3, ("DEL003", "DFL024", "DFL025"))
ROW_LINEAGE = Feature("row ids, and the sequence number of each row's last change", V3, ("LIN001", "LIN018"))
DEFAULT_VALUES = Feature("default values of columns", V3, ("DEF001", "DEF002"))
NANOSECOND_TIMESTAMPS = Feature("types `timestamp_ns` and `timestamptz_ns`", V3, ("VER004", "TYP019", "TYP020"))
UNKNOWN_TYPE = Feature("type `unknown`", V3, ("VER004", "TYP025", "TYP026"))
VARIANT_TYPE = Feature("type `variant`", V3, ("VER004", "TYP006", "TYP007"))
GEO_TYPES = Feature("types `geometry` and `geography`", V3, ("VER004", "TYP027", "TYP028"))
TABLE_ENCRYPTION = Feature("encryption keys of tables", V3, ("ENC001", "SNP012", "TMD025"))
PROMOTION_OF_UNKNOWN = Feature("promotion of `unknown` to any type", V3, ("EVO004",))
PROMOTION_OF_DATE = Feature("promotion of `date` to `timestamp` and `timestamp_ns`", V3, ("EVO005",))
MULTI_ARGUMENT_TRANSFORMS = Feature("transforms of several arguments", V3, ("PAR018", "PAR022", "SRT008", "SRT012"))
NULL_CURRENT_SNAPSHOT = Feature(
    "null, not -1, as `current-snapshot-id` of a table without a current snapshot", V3, ("NOT008",)
)

FEATURES: tuple[Feature, ...] = (
    SEQUENCE_NUMBERS,
    DELETE_FILES,
    POSITION_DELETE_FILES,
    SNAPSHOT_ID_INHERITANCE,
    UNIQUE_PARTITION_FIELD_IDS,
    DELETION_VECTORS,
    ROW_LINEAGE,
    DEFAULT_VALUES,
    NANOSECOND_TIMESTAMPS,
    UNKNOWN_TYPE,
    VARIANT_TYPE,
    GEO_TYPES,
    TABLE_ENCRYPTION,
    PROMOTION_OF_UNKNOWN,
    PROMOTION_OF_DATE,
    MULTI_ARGUMENT_TRANSFORMS,
    NULL_CURRENT_SNAPSHOT,
)
"""Everything that versions added except fields, in the order of the versions."""


class Presence(enum.Enum):
    """What a writer or a reader of one format version does with a field (VER005; UPG001, UPG002, UPG004)."""

    REQUIRED = "required"
    """A writer writes the field; a reader refuses an object without it."""

    OPTIONAL = "optional"
    """A writer may leave the field out; a reader assigns `FieldRule.missing` if it is absent."""

    OMITTED = "omitted"
    """A writer should not write the field, because the version does not have it, or has dropped it; a reader ignores
    it."""


REQUIRED, OPTIONAL, OMITTED = Presence


ReaderRules: TypeAlias = Presence | Mapping[FormatVersion, Presence] | None
"""What readers do if it differs from what writers do: one rule for every version, or the rules of some."""


def _reader_columns(read: ReaderRules) -> tuple[Presence | None, ...]:
    if isinstance(read, Mapping):
        return tuple(read.get(version) for version in FormatVersion)
    return tuple(read for _ in FormatVersion)


@attrs.frozen(kw_only=True)
class FieldRule:
    """One row of a field table: the name on the wire and the rule of each version.

    Where a table of the spec ends with v2, the rule of v3 is that of v2 (VER009).
    """

    name: str
    """The JSON property or Avro field name."""

    v1: Presence
    v2: Presence
    v3: Presence

    reader_presences: tuple[Presence | None, ...] = attrs.field(converter=_reader_columns, default=None)
    """What readers of each version do, if it differs from what its writers do: they accept what older versions wrote
    and upgraded tables still have (VER006, VER007, VER008, UPG005). None if it does not differ."""

    requirement: str
    """The code of this row in the register."""

    id: int | None = None
    """The Iceberg field id, for fields stored in Avro."""

    type: Any = None
    """The type on the wire."""

    missing: Any
    """The value that a reader assigns if the field may be absent; ``attrs.NOTHING`` if it is required."""

    def writer_presence(self, version: FormatVersion) -> Presence:
        """Find what a writer of a version does with the field.

        Args:
            version: the format version.

        Returns:
            Whether it is required, optional or omitted.
        """
        return (self.v1, self.v2, self.v3)[version - 1]

    def reader_presence(self, version: FormatVersion) -> Presence:
        """Find what a reader of a version does with the field.

        Args:
            version: the format version of the JSON document or file.

        Returns:
            Whether it is required, optional or omitted.
        """
        return self.reader_presences[version - 1] or self.writer_presence(version)

    @property
    def since(self) -> FormatVersion:
        """The first version that has the field."""
        return next(version for version in FormatVersion if self.writer_presence(version) is not OMITTED)

    @property
    def required_since(self) -> FormatVersion:
        """The first version whose writers have to write the field."""
        return next(version for version in FormatVersion if self.writer_presence(version) is REQUIRED)
