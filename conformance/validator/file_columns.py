"""Checking the columns of a data file or delete file against the schemas of the table (Schemas; Delete Formats)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from conformance.validator.context import Context
from conformance.validator.data_file_reader import OpenedFile
from conformance.validator.entry_causes import OTHER_CONTENT
from conformance.validator.file_places import EntryPlace
from conformance.validator.finding import finding, from_violation
from conformance.validator.values import is_readable_as, storage_mismatches
from spec_ref.avro_mapping.schema import avro_default
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import Description, SpecError, abbreviated_repr
from spec_ref.core.records import evolve
from spec_ref.data_types.promotion import is_promotable
from spec_ref.data_types.types import LONG, STRING, ListType, MapType, NestedField, StructType, Type, is_primitive, kind
from spec_ref.encodings.avro.types import FIELD_ID
from spec_ref.manifests.data_file import DataFile, FileContent
from spec_ref.partitioning.spec import identity_values
from spec_ref.schemas.column_projection import Constants, missing_value
from spec_ref.schemas.reserved_field_ids import BY_ID, MAX_TABLE_FIELD_ID

FILE_PATH, POS, ROW = 2147483546, 2147483545, 2147483544


def column_findings(context: Context, place: EntryPlace, opened: OpenedFile) -> Iterator[Finding]:
    """Check that the columns of a file are columns of the table, and that a delete file has its required columns."""
    location = place.data_file.file_path
    seen: set[int] = set()
    for field_id, name, type_ in _flat(opened.struct, ""):
        if field_id in seen:
            yield finding(
                "TYP002",
                "two columns have the same field id",
                file=location,
                path=name,
                found=field_id,
                aspect="repeated-column-id",
            )
        seen.add(field_id)
        yield from _column(context, place.data_file, opened, field_id, name, type_)
    types = {field_id: type_ for field_id, _, type_ in _flat(opened.struct, "")}
    for path, stored in _avro_fields(opened.avro_schema, ""):
        yield from _avro_default(context, location, path, stored, types.get(stored[FIELD_ID]))
    follows = (OTHER_CONTENT,) if place.contradicts_manifest else ()
    for one in _missing_columns(context, place, opened, seen):
        yield evolve(one, follows=follows)


def _missing_columns(context: Context, place: EntryPlace, opened: OpenedFile, seen: set[int]) -> Iterator[Finding]:
    """Find missing columns that a file with this content must have."""
    location, content = place.data_file.file_path, place.data_file.content
    if content is FileContent.POSITION_DELETES:
        fields = {field.id: field for field in opened.struct.fields}
        if place.data_file.equality_ids and not fields.keys() & {FILE_PATH, POS}:
            yield finding(
                "DEL013",
                "a file with equality_ids, and without the columns of position deletes, is listed as position deletes",
                file=place.manifest,
                path=place.entry_field_path("content"),
                found=content,
                expected=abbreviated_repr(FileContent.EQUALITY_DELETES),
                aspect="missing-column",
            )
            return
        for field_id, wanted in ((FILE_PATH, STRING), (POS, LONG)):
            if field_id not in fields:  # a wrong type is reported with the columns
                yield finding(
                    "DEL013",
                    "a required column is missing from a position delete file",
                    file=location,
                    expected=f"{BY_ID[field_id].name}, a {wanted} with field id {field_id}",
                    aspect="missing-column",
                )
    if content is FileContent.EQUALITY_DELETES:
        for field_id in place.data_file.equality_ids or ():
            if field_id not in seen:
                yield finding(
                    "DEL017",
                    "a column of equality_ids is missing from an equality delete file",
                    file=location,
                    found=field_id,
                    expected="a column with this field id",
                    aspect="missing-column",
                )
    if content is FileContent.DATA:
        constants = {} if place.spec is None else identity_values(place.spec, place.data_file.partition)
        for path, field in _without_value(StructType(context.schema.fields), opened.struct, constants, ""):
            yield finding(
                "TYP002",
                "a required column without a default is missing from a data file",
                file=location,
                path=path,
                expected=f"a column with the field id {field.id}",
                aspect="missing-column",
            )


def _without_value(type_: Type, stored: Type, constants: Constants, path: str) -> Iterator[tuple[str, NestedField]]:
    """Yield the required fields, with their paths, that a file does not have and that nothing gives a value."""
    match type_, stored:
        case StructType(fields), StructType(columns):
            found = {column.id: column.type for column in columns}
            for field in fields:
                here = f"{path}/{field.name}" if path else field.name
                if field.id in found:
                    yield from _without_value(field.type, found[field.id], constants, here)
                    continue
                try:
                    missing_value(field, constants)
                except SpecError:
                    yield here, field
        case ListType(_, element), ListType(_, stored_element):
            yield from _without_value(element, stored_element, constants, f"{path}/element")
        case MapType(_, key, _, value), MapType(_, stored_key, _, stored_value):
            yield from _without_value(key, stored_key, constants, f"{path}/key")
            yield from _without_value(value, stored_value, constants, f"{path}/value")


def _flat(struct: StructType, path: str) -> Iterator[tuple[int, str, Type]]:
    for field in struct.fields:
        yield from _flat_type(field.id, f"{path}/{field.name}", field.type)


def _flat_type(field_id: int, path: str, type_: Type) -> Iterator[tuple[int, str, Type]]:
    yield field_id, path, type_
    if isinstance(type_, StructType) and field_id != ROW:
        yield from _flat(type_, path)
    elif isinstance(type_, ListType):
        yield from _flat_type(type_.element_id, f"{path}/element", type_.element)
    elif isinstance(type_, MapType):
        yield from _flat_type(type_.key_id, f"{path}/key", type_.key)
        yield from _flat_type(type_.value_id, f"{path}/value", type_.value)


def _avro_fields(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields with ids of the records of an Avro schema, with their paths."""
    match schema:
        case list():
            for branch in schema:
                yield from _avro_fields(branch, path)
        case {"type": "record", "fields": fields}:
            for field in fields:
                here = f"{path}/{field['name']}"
                if FIELD_ID in field:
                    yield here, field
                yield from _avro_fields(field["type"], here)
        case {"type": "array", "items": inner} | {"type": "map", "values": inner} | {"type": {"type": _} as inner}:
            yield from _avro_fields(inner, path)


def _field_when_written(context: Context, field_id: int, stored: Type | None) -> NestedField | None:
    """Return a field of a struct as it was when a file stored it, before its type, and so its default, was promoted."""
    column = context.columns.get(field_id)
    if column is None or stored is None or not is_promotable(stored, column.type, context.metadata.format_version):
        return None if column is None else column.field
    older = (schema.find(field_id) for schema in context.metadata.schemas)
    return next((one.field for one in older if one is not None and one.type == stored), None)


def _avro_default(
    context: Context, location: str, path: str, field: dict[str, Any], stored: Type | None
) -> Iterator[Finding]:
    """Compare the default of an Avro field, of a type in the file, with that of the table's column (AVR003)."""
    column_field = _field_when_written(context, field[FIELD_ID], stored)
    expected = None if column_field is None else avro_default(column_field)
    found = field.get("default")
    if expected is None:
        return
    if found is None:
        yield finding(
            "AVR003",
            "a field with a default has no Avro default",
            file=location,
            path=path,
            expected=f"the Avro default {abbreviated_repr(expected)}",
            aspect="no-default",
        )
    elif found != expected and not isinstance(expected, dict):  # the fields of a struct have defaults themselves
        yield finding(
            "AVR003",
            "the Avro default of a field differs from its initial-default",
            file=location,
            path=path,
            found=abbreviated_repr(found),
            expected=abbreviated_repr(expected),
            aspect="mismatch",
        )


def _column(
    context: Context, data_file: DataFile, opened: OpenedFile, field_id: int, name: str, type_: Type
) -> Iterator[Finding]:
    location = data_file.file_path
    if field_id > MAX_TABLE_FIELD_ID:
        column = BY_ID.get(field_id)
        if column is not None and column.type is not None and column.type != type_:
            yield finding(
                column.requirement,
                f"the metadata column {column.name} has the wrong type",
                file=location,
                path=name,
                found=Description(str(type_)),
                expected=str(column.type),
                aspect="wrong-type",
            )
        return
    if field_id > context.metadata.last_column_id:
        yield finding(
            "TMD006",
            "a data file has a column id that the table has not assigned",
            file=location,
            path=name,
            found=field_id,
            expected=f"at most last-column-id {context.metadata.last_column_id}",
            aspect="exceeded-by-file",
        )
        return
    known = context.types.get(field_id)
    if known is None:  # a dropped column, whose schemas were all removed
        return
    version = context.metadata.format_version
    older = context.older_types.get(field_id, ())
    if is_readable_as(type_, known, version):
        return
    if any(is_readable_as(type_, one, version) for one in older):
        yield finding(
            "EVO001",
            "the type of a column is that of an older schema, which cannot be read as the current type",
            file=location,
            path=name,
            found=_brief(type_),
            expected=_brief(known),
            aspect="older-type",
        )
        return
    stored = storage_mismatches(type_, known, data_file.file_format)
    if stored is None:
        yield finding(
            "EVO001",
            "the type of a column in a data file differs from all types of the table's column",
            file=location,
            path=name,
            found=_brief(type_),
            expected=_brief(known),
            aspect="foreign-type",
        )
    elif not opened.by_name:  # an imported file follows the conventions of its writer
        for one in stored:
            yield from_violation(attrs.evolve(one, path=name, found=abbreviated_repr(_brief(type_))), file=location)


def _brief(type_: Type) -> Description:
    return Description(str(type_) if is_primitive(type_) else kind(type_))
