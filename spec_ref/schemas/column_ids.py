"""The ids of the columns of a data file: its own, or those of a name mapping (Column Projection; Appendix A).

Decided here, because the text leaves it open (contradictions B22 and E31):

- A file that has field ids anywhere is read by them. A name mapping is used only if a file has none at all.
- A column without an id, in a file that has ids, is not a field of the table: it is left out, like one that the name
  mapping does not name. A column of a type that Iceberg does not have, and a list or map whose parts have no ids, are
  left out too. A field that has the id of such a column cannot be read; other fields of the file are not affected.
- A file without any ids, of a table without a name mapping, is refused, instead of giving nulls for all of its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from spec_ref.core.errors import SpecError, error_path, spec_error
from spec_ref.core.records import evolve, record
from spec_ref.data_types.types import Type
from spec_ref.schemas.column_projection import UnreadableColumn
from spec_ref.schemas.name_mapping import MappedField, find_mapped_field


@record
class ColumnIds:
    """The source of the ids at one level of a file's schema."""

    requirement: str
    """The code of the rule that a file has ids."""

    mapping: tuple[MappedField, ...] | None
    """The mappings of this level; None if the file has its own ids."""

    has_any: bool = True
    """Whether there are ids or a mapping, so that a column without an id is left out."""

    path: str = ""
    """The names of the columns that contain this level, each preceded by a slash."""

    left_out: list[UnreadableColumn] = attrs.field(factory=list, eq=False)
    """The columns of all levels that cannot be read, collected so far."""

    def column(
        self, name: str, read_id: Callable[[], int | None], read_type: Callable[[ColumnIds], Type]
    ) -> tuple[int, Type] | None:
        """Find the id and the type of a column or of a field of a struct.

        Args:
            name: the name in the file.
            read_id: returns the column's id in the file; None if it has none.
            read_type: returns the column's type, given the ids of the level below.

        Returns:
            The id and the type; None if the column is left out.

        Raises:
            SpecError: ``requirement`` if the file has no ids anywhere, and there is no name mapping.
        """
        field_id = None
        try:
            with error_path(f"/{name}"):
                field_id = self.find_id(name, read_id())
                return None if field_id is None else (field_id, read_type(self.child_ids(name)))
        except SpecError as error:
            if not self.has_any:
                raise
            problem = attrs.evolve(error.violation, path=self.path + error.violation.path)
            self.left_out.append(UnreadableColumn(field_id, problem))
            return None

    def find_id(self, name: str, stored_id: int | None) -> int | None:
        """Find the id of a field.

        Args:
            name: the name in the file.
            stored_id: the id in the file; None if it has none.

        Returns:
            The id; None if the mapping leaves the field out.

        Raises:
            SpecError: ``requirement`` if the file has ids, but this field has none.
        """
        if self.mapping is None:
            if stored_id is None:
                raise spec_error(self.requirement, "the column has no field id", found=name)
            return stored_id
        mapped = find_mapped_field(self.mapping, (name,))
        return None if mapped is None else mapped.field_id

    def child_ids(self, name: str) -> ColumnIds:
        """Find the source of the ids of the level below a field.

        Args:
            name: the name of the field in the file.

        Returns:
            The ids of its level.
        """
        path = f"{self.path}/{name}"
        if self.mapping is None:
            return evolve(self, path=path)
        mapped = find_mapped_field(self.mapping, (name,))
        return evolve(self, path=path, mapping=mapped.fields if mapped is not None else ())


def column_ids(requirement: str, has_ids: bool, mapping: Sequence[MappedField] | None) -> ColumnIds:
    """Decide where the ids of a file come from.

    Args:
        requirement: the code of the rule that a file has ids.
        has_ids: whether the file has an id anywhere.
        mapping: the table's name mapping; None if it has none.

    Returns:
        The ids of the top level.
    """
    return ColumnIds(
        requirement, None if has_ids or mapping is None else tuple(mapping), has_any=has_ids or mapping is not None
    )
