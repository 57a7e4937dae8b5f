"""Format versions, and what a version says about a field (Format Versioning; Writer requirements; Appendix E).

The spec states its version rules as tables with a column for each version: a field is required, optional, or blank,
which means that a writer should omit it. `FieldRule` is one row of such a table.
"""

from __future__ import annotations

import enum
from typing import Any

import attrs


class FormatVersion(enum.IntEnum):
    """An adopted version of the table format. Version 4 is a draft and not among them."""

    V1 = 1
    V2 = 2
    V3 = 3


V1, V2, V3 = FormatVersion


class Rule(enum.Enum):
    """What a writer of one format version does with a field (VER005; UPG001, UPG002 and UPG004 follow from it)."""

    REQUIRED = "required"
    """The field has to be written."""

    OPTIONAL = "optional"
    """The field may be written or left out."""

    OMITTED = "omitted"
    """The field should not be written: the version does not have it, or has dropped it."""


REQUIRED, OPTIONAL, OMITTED = Rule


@attrs.frozen(kw_only=True)
class FieldRule:
    """One row of a field table: the name on the wire and the rule of each version."""

    name: str
    """The JSON property or Avro field name."""

    v1: Rule
    v2: Rule
    v3: Rule

    requirement: str
    """The code of this row in the register."""

    id: int | None = None
    """The Iceberg field id, for fields stored in Avro."""

    type: Any = None
    """The type on the wire."""

    missing: Any
    """What a reader takes where the field may be missing; ``attrs.NOTHING`` where it has to be there."""

    def write(self, version: FormatVersion) -> Rule:
        """What a writer of ``version`` does."""
        return (self.v1, self.v2, self.v3)[version - 1]

    def read(self, version: FormatVersion) -> Rule:
        """What a reader of a table of ``version`` does with files of that and any older version.

        A field is required of what is read only when every version up to this one requires it; a field that the
        version itself omits is ignored (VER006, VER007).
        """
        now = self.write(version)
        if now is not REQUIRED:
            return now
        older = (self.write(FormatVersion(number)) for number in range(1, version))
        return REQUIRED if all(rule is REQUIRED for rule in older) else OPTIONAL

    @property
    def since(self) -> FormatVersion:
        """The first version that has the field."""
        return next(version for version in FormatVersion if self.write(version) is not OMITTED)
