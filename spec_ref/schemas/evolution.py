"""Schema evolution (Schema Evolution).

A schema evolves by adding, dropping, renaming and reordering fields of structs and by promoting types. Fields keep
their ids, so that older files are still read correctly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from spec_ref.core.errors import Description, SpecError, spec_error
from spec_ref.core.records import evolve, record
from spec_ref.core.versions import DEFAULT_VALUES, FormatVersion
from spec_ref.data_types.promotion import is_promotable, may_have_been_promoted, promote_value, refusal_requirement
from spec_ref.data_types.types import (
    UNKNOWN,
    ListType,
    MapType,
    NestedField,
    StructType,
    Type,
    is_primitive,
    kind,
    signed_zero_key,
)
from spec_ref.schemas.default_values import check_default
from spec_ref.schemas.identifier_fields import identifier_problems
from spec_ref.schemas.reserved_field_ids import MAX_TABLE_FIELD_ID
from spec_ref.schemas.schema import Column, Schema

# Changes


@record
class AddColumn:
    """Add a field at the end of a struct; it and everything inside it get new ids (EVO009)."""

    name: str
    type: Type
    """The type of the field; new ids replace those inside it."""

    parent: str | None = None
    """The full name of the struct; None for the schema itself."""

    required: bool = False
    doc: str | None = None
    default: Any = None
    """Becomes both the initial and the write default (EVO014). For an optional field it may be null (EVO016)."""


@record
class DropColumn:
    """Remove a field from the schema (EVO011).

    A new field of the same name gets another id. A table may return to an earlier schema that has the field only if the
    field was optional there or the current snapshot is still the same (EVO019).
    """

    name: str


@record
class RenameColumn:
    """Rename a field; it keeps its id (EVO010)."""

    name: str
    new_name: str
    """The new name without those of its parents: a field stays in its struct (EVO012)."""


@record
class MoveColumn:
    """Move a field to another place in its struct."""

    name: str
    index: int
    """The index among the fields of the struct, counted without the field itself."""


@record
class PromoteColumn:
    """Widen the type of a field, element, key or value.

    The promotion is refused if it would change values of a partition field (EVO008), of any spec that data files may
    have and not only of the default spec: the files of an older spec stay in the table, and filters are projected by
    that spec.
    """

    name: str
    type: Type


@record
class SetWriteDefault:
    """Change the value that is written for a field if the writer supplies none; the initial default stays (DEF003)."""

    name: str
    default: Any


@record
class MakeOptional:
    """Make a required field optional.

    The spec neither names this change nor rules it out; older files are read as before, because none of their values is
    null.
    """

    name: str


Change: TypeAlias = AddColumn | DropColumn | RenameColumn | MoveColumn | PromoteColumn | SetWriteDefault | MakeOptional


@record
class SchemaEvolutionContext:
    """The attributes of a table that a change of its schema depends on."""

    version: FormatVersion
    last_column_id: int
    """The highest id that was ever assigned."""


def evolve_schema(
    schema: Schema, changes: Iterable[Change], table: SchemaEvolutionContext, *, schema_id: int
) -> tuple[Schema, int]:
    """Apply changes to a schema.

    The constraints of partition specs and sort orders are checked by
    `spec_ref.partitioning.evolution.check_schema_change` and `spec_ref.sorting.order.check_schema_change`.

    Args:
        schema: the schema to change.
        changes: the changes, applied in order.
        table: the version of the table, and the column ids that it has used.
        schema_id: the id of the resulting schema.

    Returns:
        The schema, and the highest column id that was ever assigned.

    Raises:
        SpecError: EVO001 for a field or place that does not exist; EVO003 to EVO006 for an invalid promotion;
            EVO013 for a change between a primitive and a nested type; EVO015, DEF008 or DEF009 for an invalid or
            missing default; VER004 for a type or default that the version does not have; TYP002 for an empty or taken
            name, or a full name that several columns have or would have; TYP025 for a required field of type unknown;
            IDF001 to IDF003 for identifier fields; RES001 if the ids are exhausted.
    """
    last = table.last_column_id
    already_shared = set(schema.shared_full_names())
    for change in changes:
        schema, last = _CHANGES[type(change)](schema, change, evolve(table, last_column_id=last))
    for name in schema.shared_full_names():
        if name not in already_shared:
            raise spec_error("TYP002", "two columns would have the same full name", found=name)
    if last > MAX_TABLE_FIELD_ID:
        message = "no field id is left for a column: higher ids are reserved for metadata columns"
        raise spec_error("RES001", message, found=last, expected=f"at most {MAX_TABLE_FIELD_ID}")
    for problem in identifier_problems(schema):
        raise SpecError(problem)
    return evolve(schema, schema_id=schema_id), last


def _column(schema: Schema, name: str) -> Column:
    column = schema.find_name(name)
    if column is None:
        raise spec_error("EVO001", "the schema does not have a field with the name", found=name)
    return column


def _struct_field(schema: Schema, name: str) -> tuple[Column, NestedField]:
    column = _column(schema, name)
    if column.field is None:
        raise spec_error("EVO001", "the column is not a field of a struct", found=name)
    return column, column.field


def _edit(type_: Type, target: int | None, edit: Callable[[Type], Type], own_id: int | None) -> Type:
    """Edit the type with the target id, inside ``type_``, whose own id is ``own_id``."""
    if own_id == target:
        return edit(type_)
    match type_:
        case StructType(fields):
            edited = (evolve(field, type=_edit(field.type, target, edit, field.id)) for field in fields)
            return evolve(type_, fields=tuple(edited))
        case ListType(element_id, element):
            return evolve(type_, element=_edit(element, target, edit, element_id))
        case MapType(key_id, key, value_id, value):
            return evolve(type_, key=_edit(key, target, edit, key_id), value=_edit(value, target, edit, value_id))
        case _:
            return type_


ROOT = None
"""Represents the schema itself, where the id of a struct is expected."""


def _edit_fields(
    schema: Schema, struct_id: int | None, edit: Callable[[tuple[NestedField, ...]], tuple[NestedField, ...]]
) -> Schema:
    def edit_struct(type_: Type) -> Type:
        if not isinstance(type_, StructType):
            requirement = "EVO013" if is_primitive(type_) else "EVO001"
            raise spec_error(requirement, "the parent is not a struct", found=Description(str(type_)))
        return evolve(type_, fields=edit(type_.fields))

    made = _edit(schema.as_struct(), struct_id, edit_struct, ROOT)
    assert isinstance(made, StructType)
    return evolve(schema, fields=made.fields)


def _parent(column: Column) -> int | None:
    return column.parents[-1].id if column.parents else ROOT


def _check_name(fields: Sequence[NestedField], name: str) -> None:
    if not name:
        raise spec_error("TYP002", "the name of the field is empty", found=name)
    if any(field.name == name for field in fields):
        raise spec_error("TYP002", "the struct already has a field with the name", found=name)


def assign_fresh_ids(type_: Type, last_column_id: int) -> tuple[Type, int]:
    """Assign new ids to everything inside a type.

    Args:
        type_: the type; its ids are replaced.
        last_column_id: the highest id that was assigned before.

    Returns:
        The type and the highest id that is assigned afterwards.
    """

    def take() -> int:
        nonlocal last_column_id
        last_column_id += 1
        return last_column_id

    def renew(type_: Type) -> Type:
        match type_:
            case StructType(fields):
                numbered = [evolve(field, id=take()) for field in fields]
                return StructType(tuple(evolve(field, type=renew(field.type)) for field in numbered))
            case ListType(_, element):
                return evolve(type_, element_id=take(), element=renew(element))
            case MapType(_, key, _, value):
                key_id, value_id = take(), take()
                return evolve(type_, key_id=key_id, value_id=value_id, key=renew(key), value=renew(value))
            case _:
                return type_

    made = renew(type_)
    return made, last_column_id


def _check_version(type_: Type, default: Any, version: FormatVersion) -> None:
    if not version.includes(type_.since):
        raise spec_error(
            "VER004",
            "the type is not allowed in this format version",
            found=Description(str(type_)),
            format_version=version,
        )
    if default is not None and not DEFAULT_VALUES.is_supported(version):
        raise spec_error(
            "VER004", "default values are not allowed in this format version", found=default, format_version=version
        )


def _add(schema: Schema, change: AddColumn, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    field_id = table.last_column_id + 1
    type_, last = assign_fresh_ids(change.type, field_id)
    column = NestedField(field_id, change.name, change.required, type_, change.doc, change.default, change.default)
    for part in Schema((column,)).columns():
        for default in (part.field.initial_default, part.field.write_default) if part.field else (None,):
            _check_version(part.type, default, table.version)
            check_default(part.type, default)
        if part.type == UNKNOWN and part.required:
            raise spec_error("TYP025", "a field of type unknown must be optional", found=part.name, aspect="required")
    if change.required and change.default is None:
        raise spec_error("EVO015", "the default of an added required field is null", found=change.name)
    for name in required_fields_without_default(column, change.name, "initial_default"):
        message = "the default of a required field is null, in a struct whose default is not null"
        raise spec_error("EVO015", message, found=name)

    def append(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
        _check_name(fields, change.name)
        return (*fields, column)

    parent = ROOT if change.parent is None else _column(schema, change.parent).id
    return _edit_fields(schema, parent, append), last


def required_fields_without_default(field: NestedField, name: str, attribute: str) -> Iterator[str]:
    """Find the required fields in a struct that its default leaves without a value (EVO015, PRJ005, DEF007).

    Args:
        field: an added field; only a struct whose default is not null has such fields.
        name: its full name.
        attribute: the default, ``initial_default`` or ``write_default``.

    Yields:
        The full name of each required field whose default is null.
    """
    if getattr(field, attribute) is None or not isinstance(field.type, StructType):
        return
    for child in field.type.fields:
        full = f"{name}.{child.name}"
        if child.required and getattr(child, attribute) is None:
            yield full
        yield from required_fields_without_default(child, full, attribute)


def _drop(schema: Schema, change: DropColumn, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    column, field = _struct_field(schema, change.name)
    without = _edit_fields(schema, _parent(column), lambda fields: tuple(one for one in fields if one.id != field.id))
    return without, table.last_column_id


def _rename(schema: Schema, change: RenameColumn, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    column, field = _struct_field(schema, change.name)

    def rename(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
        _check_name([one for one in fields if one.id != field.id], change.new_name)
        return tuple(evolve(one, name=change.new_name) if one.id == field.id else one for one in fields)

    return _edit_fields(schema, _parent(column), rename), table.last_column_id


def _move(schema: Schema, change: MoveColumn, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    column, field = _struct_field(schema, change.name)

    def move(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
        others = [one for one in fields if one.id != field.id]
        if not 0 <= change.index <= len(others):
            raise spec_error(
                "EVO001", "the position is out of range", found=change.index, expected=f"0 to {len(others)}"
            )
        return (*others[: change.index], field, *others[change.index :])

    return _edit_fields(schema, _parent(column), move), table.last_column_id


def _promote(schema: Schema, change: PromoteColumn, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    column = _column(schema, change.name)
    old, new = column.type, change.type
    if not is_promotable(old, new, table.version):
        message = "the type cannot be promoted to the new type"
        raise spec_error(
            refusal_requirement(old, new), message, found=Description(f"{old} to {new}"), format_version=table.version
        )
    if column.field is None:
        return _edit_root(schema, column.id, lambda _: new), table.last_column_id
    promoted = evolve(
        column.field,
        type=new,
        initial_default=promote_value(old, new, column.field.initial_default),
        write_default=promote_value(old, new, column.field.write_default),
    )

    def replace(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
        return tuple(promoted if one.id == column.id else one for one in fields)

    return _edit_fields(schema, _parent(column), replace), table.last_column_id


def _edit_root(schema: Schema, target: int, edit: Callable[[Type], Type]) -> Schema:
    made = _edit(schema.as_struct(), target, edit, ROOT)
    assert isinstance(made, StructType)
    return evolve(schema, fields=made.fields)


def _set_default(schema: Schema, change: SetWriteDefault, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    column, field = _struct_field(schema, change.name)
    _check_version(field.type, change.default, table.version)
    check_default(field.type, change.default)
    if field.required and field.initial_default is not None and change.default is None:
        raise spec_error("EVO015", "the write default of an added required field cannot be removed", found=change.name)

    def replace(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
        return tuple(evolve(one, write_default=change.default) if one.id == field.id else one for one in fields)

    return _edit_fields(schema, _parent(column), replace), table.last_column_id


def _make_optional(schema: Schema, change: MakeOptional, table: SchemaEvolutionContext) -> tuple[Schema, int]:
    column, field = _struct_field(schema, change.name)

    def replace(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
        return tuple(evolve(one, required=False) if one.id == field.id else one for one in fields)

    return _edit_fields(schema, _parent(column), replace), table.last_column_id


_CHANGES: dict[type, Callable[[Schema, Any, SchemaEvolutionContext], tuple[Schema, int]]] = {
    AddColumn: _add,
    DropColumn: _drop,
    RenameColumn: _rename,
    MoveColumn: _move,
    PromoteColumn: _promote,
    SetWriteDefault: _set_default,
    MakeOptional: _make_optional,
}


# Histories


def history_problems(schemas: Sequence[Schema], version: FormatVersion) -> Iterator[tuple[int, SpecError]]:
    """Find changes from schema to schema that no evolution allows.

    A table may go back to an older schema, so a promotion is accepted in either direction.

    Args:
        schemas: the schemas of a table, oldest first.
        version: the format version of the table.

    Yields:
        The index of the later schema and the error: EVO003, EVO012, EVO013 or DEF003.
    """
    before: dict[int, Column] = {}
    for place, schema in enumerate(schemas):
        columns = list(schema.columns())
        for column in columns:
            old = before.get(column.id)
            problem = None if old is None else _change_problem(old, column, version)
            if problem is not None:
                yield place, problem
        # Recorded after the comparison, so that an id that one schema has twice counts as no change.
        before.update((column.id, column) for column in columns)


def _change_problem(old: Column, new: Column, version: FormatVersion) -> SpecError | None:
    changed = Description(f"{new.name}: {old.type} became {new.type}")
    if not may_have_been_promoted(old.type, new.type, version) and not may_have_been_promoted(
        new.type, old.type, version
    ):
        if is_primitive(old.type) != is_primitive(new.type):
            return spec_error("EVO013", "a field changed between a primitive and a nested type", found=changed)
        if old.type != new.type if is_primitive(old.type) else kind(old.type) != kind(new.type):
            message = "the type of a field changed to one that it cannot be promoted to"
            return spec_error("EVO003", message, found=changed)
    if [parent.id for parent in old.parents] != [parent.id for parent in new.parents]:
        return spec_error(
            "EVO012", "a field moved to another struct", found=Description(f"{old.name} became {new.name}")
        )
    if old.field and new.field and not keeps_initial_default(old, new):
        return spec_error("DEF003", "the initial default of a field changed", found=new.name)
    return None


def keeps_initial_default(one: Column, other: Column) -> bool:
    """Decide whether two columns with one id have the same initial default, allowing for promotion in either direction.

    Args:
        one: a column that is a field of a struct.
        other: the column with the same id in another schema.

    Returns:
        Whether the defaults are the same.
    """
    assert one.field is not None
    assert other.field is not None
    first, second = one.field.initial_default, other.field.initial_default
    for old, new, before, after in ((one, other, first, second), (other, one, second, first)):
        try:
            if is_primitive(old.type):
                promoted = promote_value(old.type, new.type, before)
                if signed_zero_key(promoted) == signed_zero_key(after):
                    return True
        except (KeyError, SpecError):  # the type cannot be promoted, or the value is out of range
            continue
    return signed_zero_key(first) == signed_zero_key(second) and not (is_primitive(one.type) and one.type != other.type)
