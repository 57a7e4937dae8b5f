"""The ids of the columns of a data file: its own, or those of a name mapping (Column Projection; Appendix A).

A file that has field ids anywhere is read by them. A name mapping stands in where a file has none at all, and columns
that it does not name have no id and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from spec_ref.errors import violation
from spec_ref.records import record
from spec_ref.schemas.name_mapping import MappedField, find


@record
class Ids:
    """Where ids come from at one level of a file's schema."""

    requirement: str
    """The code of the rule that a file has ids."""

    mapping: tuple[MappedField, ...] | None
    """The mappings of this level; None where the file has its own ids."""

    def take(self, name: str, own: int | None) -> int | None:
        """The id of a field; None for one that the mapping leaves out.

        Raises:
            SpecError: the file has ids, but not here.
        """
        if self.mapping is None:
            if own is None:
                raise violation(self.requirement, "the column has no field id", found=name)
            return own
        mapped = find(self.mapping, (name,))
        return None if mapped is None else mapped.field_id

    def inside(self, name: str) -> Ids:
        """The ids of the level below a field."""
        if self.mapping is None:
            return self
        mapped = find(self.mapping, (name,))
        return Ids(self.requirement, mapped.fields if mapped is not None else ())


def ids_of(requirement: str, has_ids: bool, mapping: Sequence[MappedField] | None) -> Ids:
    """Where the ids of a file come from; ``mapping`` is the table's name mapping, None where it has none."""
    return Ids(requirement, None if has_ids or mapping is None else tuple(mapping))
