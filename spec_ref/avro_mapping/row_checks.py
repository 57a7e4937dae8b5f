"""Check the Avro schema of a file of records against that of a writer of its version (AVR001 to AVR014)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from spec_ref.avro_mapping.rows import PartitionTuple, RecordStruct, wire_type, written_fields
from spec_ref.avro_mapping.schema import sanitize_name
from spec_ref.avro_mapping.stored_types import split_optional, type_from_avro
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.records import field_rules
from spec_ref.core.versions import OMITTED, REQUIRED, FieldRule, FormatVersion
from spec_ref.data_types.types import ListType, MapType, StructType, Type
from spec_ref.encodings.avro.types import Array, AvroType, Record

MISSING_COLUMN = "column-left-out"
"""The aspect of an absent optional column, which no requirement asks for."""

RESERVED = {141: "DFL026"}
"""Ids that no field has, and the requirement that reserves each."""


def schema_problems(
    cls: type, record: Record, version: FormatVersion, partition: StructType | None, path: str = ""
) -> Iterator[Violation]:
    """Find where the Avro schema of a file differs from that of the version, including absent optional columns.

    Args:
        cls: the record class whose field table is the schema.
        record: the Avro record of the file.
        version: the format version.
        partition: the type of the partition tuple; None if it is not known.
        path: the path of the record, for violations.

    Yields:
        A violation for each difference, with the aspect `MISSING_COLUMN` for an absent optional column.
    """
    places = record.by_id()
    known = {rule.id: rule for rule in field_rules(cls).values()}
    for field in record.fields:
        here = f"{path}/{field.name}"
        if field.id is None:
            yield _fault("AVR013", "", f"{field.name} has no field-id", here, version)
        elif field.id in RESERVED:
            yield _fault(RESERVED[field.id], "", "the field id is reserved", here, version)
        elif field.id in known and known[field.id].writer_presence(version) is OMITTED:
            yield _fault("VER005", "", f"{known[field.id].name} is not a field in this format version", here, version)
    for _, rule in written_fields(cls, version):
        place = places.get(rule.id or 0) if rule.id is not None else None
        here = f"{path}/{rule.name}"
        if place is None:
            aspect = "column-missing" if rule.writer_presence(version) is REQUIRED else MISSING_COLUMN
            yield _fault(rule.requirement, aspect, f"the column {rule.name} is missing", here, version)
            continue
        field = record.fields[place]
        inner, required = split_optional(field.type)
        if required != (rule.writer_presence(version) is REQUIRED):
            message = f"{rule.name} is {'required' if required else 'optional'} in the Avro schema"
            yield _fault(rule.requirement, "nullability", message, here, version)
        yield from _type_faults(rule, inner, version, partition, here)


def _fault(requirement: str, aspect: str, message: str, path: str, version: FormatVersion, **details: Any) -> Violation:
    return Violation(
        requirement=requirement, aspect=aspect, message=message, path=path, format_version=version, **details
    )


def _type_faults(
    rule: FieldRule, type_: AvroType, version: FormatVersion, partition: StructType | None, path: str
) -> Iterator[Violation]:
    match rule.type:
        case RecordStruct(cls, element_id):
            record = split_optional(type_.items)[0] if isinstance(type_, Array) else type_
            if isinstance(type_, Array) and type_.element_id != element_id:
                expected = str(element_id)
                yield _fault(
                    "AVR013", "element-id", "element-id differs from the spec", path, version, expected=expected
                )
            if isinstance(record, Record):
                yield from schema_problems(cls, record, version, partition, path)
        case PartitionTuple():
            if isinstance(type_, Record) and partition is not None:
                yield from _partition_faults(type_, partition, version, path)
        case _:
            wanted = wire_type(rule.type, version, StructType(()))
            if isinstance(type_, Array) and isinstance(wanted, MapType) and not type_.logical_map:
                message = "an array of map entries does not have the logical type map"
                yield _fault("AVR004", "logical-type", message, path, version)
                return
            try:
                found = type_from_avro(type_)
            except SpecError as error:
                problem = error.violation
                place = path + problem.path
                yield attrs.evolve(problem, aspect="unusual-type", path=place, format_version=version)
                return
            if found != wanted:
                details = {"found": _shape(found), "expected": _shape(wanted)}
                yield _fault(
                    rule.requirement, "wrong-type", "the Avro type differs from the spec", path, version, **details
                )


def _shape(type_: Type) -> str:
    match type_:
        case ListType(element_id, element):
            return f"list<{element_id}: {'' if type_.element_required else 'optional '}{element}>"
        case MapType(key_id, key, value_id, value):
            return f"map<{key_id}: {key}, {value_id}: {'' if type_.value_required else 'optional '}{value}>"
        case _:
            return str(type_)


def _partition_faults(record: Record, partition: StructType, version: FormatVersion, path: str) -> Iterator[Violation]:
    places = record.by_id()
    for field in partition.fields:
        place = places.get(field.id)
        here = f"{path}/{field.name}"
        if place is None:
            yield _fault("DFL004", "missing-field", f"the partition field {field.id} is missing", here, version)
            continue
        name = record.fields[place].name
        if sanitize_name(field.name) != name:
            message = "the name of the partition field differs from the partition spec"
            yield _fault("DFL004", "field-name", message, here, version, found=name)
        if str(field.type) == "unknown":
            continue
        inner, required = split_optional(record.fields[place].type)
        if required:
            yield _fault("DFL004", "field-required", "a partition field is required in the Avro schema", here, version)
        found = type_from_avro(inner)
        if found != field.type:
            details = {"found": str(found), "expected": str(field.type)}
            message = "the type of the partition field differs from the partition spec"
            yield _fault("DFL004", "field-type", message, here, version, **details)
    extra = places.keys() - {field.id for field in partition.fields}
    if extra:
        details = {"found": ", ".join(map(str, sorted(extra)))}
        yield _fault(
            "DFL004",
            "unknown-field",
            "the partition tuple has fields that the partition spec does not have",
            path,
            version,
            **details,
        )
