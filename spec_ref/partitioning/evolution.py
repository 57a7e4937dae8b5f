"""Partition evolution (Partition Evolution; Partitioning).

A field keeps its id in every spec, because manifests store partition tuples by these ids (PAR012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import evolve, field_rules, record
from spec_ref.core.versions import OMITTED, FormatVersion
from spec_ref.data_types.types import DATE, Type
from spec_ref.partitioning.spec import FIRST_FIELD_ID, PartitionField, PartitionSpec, source_type
from spec_ref.partitioning.transforms import Day, Month, Transform, UnknownTransform, Void, Year
from spec_ref.schemas.schema import Schema

_FIELD_ID = field_rules(PartitionField)["field_id"]


@record
class AddPartitionField:
    """Add a field at the end of the spec."""

    sources: tuple[int, ...]
    transform: Transform
    name: str


@record
class RemovePartitionField:
    """Remove a field from the spec; in v1, where ids are counted by position, replace it by void instead (PAR015)."""

    name: str


@record
class RenamePartitionField:
    """Rename a field; it keeps its id."""

    name: str
    new_name: str


@record
class MovePartitionField:
    """Move a field to another place; refused in v1, where this would change its id (PAR015)."""

    name: str
    index: int


PartitionChange: TypeAlias = AddPartitionField | RemovePartitionField | RenamePartitionField | MovePartitionField


@record
class SpecEvolutionContext:
    """The attributes of a table that a change of its partition spec depends on."""

    version: FormatVersion
    schema: Schema
    specs: tuple[PartitionSpec, ...]
    """Every spec of the table."""

    last_partition_id: int
    """The highest partition field id that was ever assigned."""

    @property
    def assigns_ids_by_position(self) -> bool:
        """Whether ids of partition fields are not stored but counted by position, as in v1 (PAR014)."""
        return _FIELD_ID.writer_presence(self.version) is OMITTED


def evolve_spec(
    spec: PartitionSpec, changes: Iterable[PartitionChange], table: SpecEvolutionContext
) -> tuple[PartitionSpec, int]:
    """Apply changes to a partition spec.

    Args:
        spec: the spec to change.
        changes: the changes, applied in order.
        table: the version, the schema and the specs of the table.

    Returns:
        The resulting spec and the highest partition field id that was ever assigned. The spec is an equivalent one of
        the table if there is one (PAR008), otherwise a new one with a new id.

    Raises:
        SpecError: PAR002 for a taken name; PAR010 for a name or a place that the spec does not have; PAR004, PAR007 or
            PAR022 for a field that cannot be added, or the code of its transform; PAR015 for a move in v1.
    """
    fields = spec.fields
    last = table.last_partition_id
    for change in changes:
        fields = _CHANGES[type(change)](fields, change, evolve(table, last_partition_id=last))
        last = max([last, *(field.field_id for field in fields)])
    made = PartitionSpec(1 + max(known.spec_id for known in (spec, *table.specs)), fields)
    same = next((known for known in table.specs if known.is_equivalent_to(made)), None)
    return (made, last) if same is None else (same, table.last_partition_id)


def _find(fields: Sequence[PartitionField], name: str) -> int:
    for place, field in enumerate(fields):
        if field.name == name:
            return place
    raise spec_error("PAR010", "the partition spec does not have a field with the name", found=name)


def _check_name(fields: Sequence[PartitionField], name: str) -> None:
    if not name or any(field.name == name for field in fields):
        raise spec_error("PAR002", "the name of the partition field is already used", found=name)


def new_field_id(field: PartitionField, fields: Sequence[PartitionField], table: SpecEvolutionContext) -> int:
    """Choose the id of a field that is added to others.

    It is the id of an equivalent field of any spec (PAR009), unless that field was renamed and is still among
    ``fields``; otherwise it is one above all ids that were ever assigned (PAR013). If ids are counted by position, it
    is the next place (PAR014), unless the fields have stored ids that differ from their places.

    Args:
        field: the field to add; its own id does not matter.
        fields: the fields that are already in the spec.
        table: the version and the specs of the table.

    Returns:
        The id.
    """
    taken = [one.field_id for one in fields]
    if table.assigns_ids_by_position and taken == list(range(FIRST_FIELD_ID, FIRST_FIELD_ID + len(fields))):
        return FIRST_FIELD_ID + len(fields)
    given = [old for spec in table.specs for old in spec.fields]
    known = (old.field_id for old in given if old.is_equivalent_to(field) and old.field_id not in taken)
    return next(known, 1 + max([table.last_partition_id, *taken, *(old.field_id for old in given)]))


def _add(
    fields: tuple[PartitionField, ...], change: AddPartitionField, table: SpecEvolutionContext
) -> tuple[PartitionField, ...]:
    _check_name(fields, change.name)
    if isinstance(change.transform, UnknownTransform):
        raise spec_error(
            "PAR007",
            "a partition field with an unknown transform cannot be added",
            found=Description(str(change.transform)),
        )
    if len(change.sources) != 1:
        raise spec_error("PAR022", f"{change.transform} takes one argument", found=list(change.sources))
    change.transform.result_type(source_type(change.sources[0], table.schema))
    field = PartitionField(source_id=change.sources[0], field_id=0, name=change.name, transform=change.transform)
    return (*fields, evolve(field, field_id=new_field_id(field, fields, table)))


def _remove(
    fields: tuple[PartitionField, ...], change: RemovePartitionField, table: SpecEvolutionContext
) -> tuple[PartitionField, ...]:
    place = _find(fields, change.name)
    kept = (evolve(fields[place], transform=Void()),) if table.assigns_ids_by_position else ()
    return (*fields[:place], *kept, *fields[place + 1 :])


def _rename(
    fields: tuple[PartitionField, ...], change: RenamePartitionField, _: SpecEvolutionContext
) -> tuple[PartitionField, ...]:
    place = _find(fields, change.name)
    _check_name((*fields[:place], *fields[place + 1 :]), change.new_name)
    return (*fields[:place], evolve(fields[place], name=change.new_name), *fields[place + 1 :])


def _move(
    fields: tuple[PartitionField, ...], change: MovePartitionField, table: SpecEvolutionContext
) -> tuple[PartitionField, ...]:
    place = _find(fields, change.name)
    if table.assigns_ids_by_position:
        raise spec_error(
            "PAR015",
            "partition fields cannot be reordered in v1, as their ids follow from their positions",
            found=change.name,
        )
    others = (*fields[:place], *fields[place + 1 :])
    if not 0 <= change.index <= len(others):
        raise spec_error("PAR010", "the position is out of range", found=change.index, expected=f"0 to {len(others)}")
    return (*others[: change.index], fields[place], *others[change.index :])


_CHANGES: dict[type, Callable[[tuple[PartitionField, ...], Any, SpecEvolutionContext], tuple[PartitionField, ...]]] = {
    AddPartitionField: _add,
    RemovePartitionField: _remove,
    RenamePartitionField: _rename,
    MovePartitionField: _move,
}


# How schema changes affect partition fields


def keeps_partition_values(transform: Transform, old: Type, new: Type) -> bool:
    """Decide whether a transform gives the same values before and after a promotion (EVO008).

    Widening a number changes neither its value nor, by Appendix B, its hash. A date is counted in days and a timestamp
    in micro- or nanoseconds, so a promotion to a timestamp keeps years, months and days, but changes the value and its
    hash.

    Args:
        transform: the transform of a partition field.
        old: the type of the source before the promotion.
        new: the type of the source after the promotion.

    Returns:
        Whether the values stay the same.
    """
    return old != DATE or new == DATE or isinstance(transform, (Year, Month, Day, Void))


def altered_partition_fields(
    fields: Iterable[PartitionField], before: Mapping[int, Type], after: Mapping[int, Type]
) -> Iterator[tuple[PartitionField, Type, Type]]:
    """Find the partition fields whose values a promotion changes (EVO008).

    Args:
        fields: the partition fields.
        before: the types of columns by id, with which partition values were computed.
        after: the types of columns by id, with which partition values are interpreted.

    Yields:
        Each such field, with the type of its source before and after.
    """
    for field in fields:
        for source in field.sources:
            old, new = before.get(source), after.get(source)
            if old is not None and new is not None and not keeps_partition_values(field.transform, old, new):
                yield field, old, new


def check_schema_change(
    before: Schema, after: Schema, fields: Sequence[PartitionField], old_fields: Sequence[PartitionField] = ()
) -> None:
    """Refuse a change of the schema that partition fields do not allow.

    Args:
        before: the schema before the change.
        after: the schema after the change.
        fields: the fields of the spec that writes new data.
        old_fields: the fields of the other specs that data files may have. Their sources may be dropped, but a
            promotion must not change their values, because filters on older files are projected by their own spec.

    Raises:
        SpecError: PAR004 if a source of the spec is dropped; EVO008 if a promotion changes partition values.
    """
    types = {column.id: column.type for column in before.columns()}
    types_after = {column.id: column.type for column in after.columns()}
    dropped = {column.id: column.name for column in before.columns() if column.id not in types_after}
    for field in fields:
        for source in field.sources:
            if source in dropped and not isinstance(field.transform, Void):
                message = "the dropped column is a source of the partition spec"
                raise spec_error(
                    "PAR004", message, found=Description(f"{dropped[source]}, source of partition field {field.name}")
                )
    for field, old, new in altered_partition_fields((*fields, *old_fields), types, types_after):
        message = "the promotion would change the values of a partition field"
        raise spec_error("EVO008", message, found=Description(f"{old} to {new}, for {field.transform} {field.name}"))
