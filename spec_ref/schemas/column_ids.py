"""The ids of the columns of a data file: its own, or those of a name mapping (Column Projection; Appendix A).

Decided here, because the text leaves it open (contradictions B22 and E31):

- A file that has field ids anywhere is read by them. A name mapping stands in where a file has none at all.
- A column without an id, of a file that has ids, is no field of the table: it is left out, as one that the name mapping
  does not name. So is a column of a type that Iceberg does not have, or a list or map whose parts have no ids. A field
  that has the id of such a column cannot be read; no other field of the file is concerned.
- A file without any ids, of a table without a name mapping, is refused, instead of giving nulls for all of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from spec_ref.errors import SpecError, at, violation
from spec_ref.records import evolve, record
from spec_ref.schemas.name_mapping import MappedField, find
from spec_ref.schemas.projection import UnreadableColumn
from spec_ref.schemas.types import Type


@record
class Ids:
    """Where ids come from at one level of a file's schema."""

    requirement: str
    """The code of the rule that a file has ids."""

    mapping: tuple[MappedField, ...] | None
    """The mappings of this level; None where the file has its own ids."""

    has_any: bool = True
    """Whether a column without an id is left out, as there are ids or a mapping."""

    path: str = ""
    """The names of what is around this level."""

    left_out: list[UnreadableColumn] = attrs.field(factory=list, eq=False)
    """The columns of all levels that cannot be read, as far as they were looked at."""

    def column(
        self, name: str, own: Callable[[], int | None], type_of: Callable[[Ids], Type]
    ) -> tuple[int, Type] | None:
        """The id and the type of a column or of a field of a struct; None for one that is left out.

        Args:
            name: the name in the file.
            own: gives the column's id in the file; None where it has none.
            type_of: gives the column's type, by the ids of the level below.

        Raises:
            SpecError: the file has no ids anywhere, and there is no name mapping.
        """
        field_id = None
        try:
            with at(f"/{name}"):
                field_id = self.take(name, own())
                return None if field_id is None else (field_id, type_of(self.inside(name)))
        except SpecError as error:
            if not self.has_any:
                raise
            problem = attrs.evolve(error.violation, path=self.path + error.violation.path)
            self.left_out.append(UnreadableColumn(field_id, problem))
            return None

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
        path = f"{self.path}/{name}"
        if self.mapping is None:
            return evolve(self, path=path)
        mapped = find(self.mapping, (name,))
        return evolve(self, path=path, mapping=mapped.fields if mapped is not None else ())


def ids_of(requirement: str, has_ids: bool, mapping: Sequence[MappedField] | None) -> Ids:
    """Where the ids of a file come from; ``mapping`` is the table's name mapping, None where it has none."""
    return Ids(
        requirement, None if has_ids or mapping is None else tuple(mapping), has_any=has_ids or mapping is not None
    )
