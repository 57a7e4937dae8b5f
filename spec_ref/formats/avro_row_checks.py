"""Where the Avro schema of a file of records is not the one that a writer of its version makes (AVR001 to AVR014)."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import attrs

from spec_ref.errors import SpecError, Violation
from spec_ref.formats.avro_rows import PartitionTuple, RowsOf, wire_type, written
from spec_ref.formats.avro_schema import from_avro, legal_name, present
from spec_ref.formats.avro_types import Array, AvroType, Record
from spec_ref.records import field_rules
from spec_ref.schemas.types import ListType, MapType, StructType, Type
from spec_ref.versions import REQUIRED, FieldRule, FormatVersion, Rule


class Fault(enum.Enum):
    """How much a difference between Avro schemas matters."""

    BROKEN = "broken"
    """Readers depend on what is different."""

    UNUSUAL = "unusual"
    """The spec asks for something else, and readers by field id do not notice."""

    LEFT_OUT = "left out"
    """An optional column is not there."""


RESERVED = {141: "DFL026"}
"""Ids that no field has, and the requirements that say so."""


def schema_faults(
    cls: type, record: Record, version: FormatVersion, partition: StructType | None, path: str = ""
) -> Iterator[tuple[Violation, Fault]]:
    """Where the Avro schema of a file is not the one of a writer of the version."""
    places = record.by_id()
    known = {rule.id: rule for rule in field_rules(cls).values()}
    for field in record.fields:
        if field.id is None:
            yield _fault("AVR013", f"{field.name} has no field-id", f"{path}/{field.name}", version), Fault.BROKEN
        elif field.id in RESERVED:
            yield _fault(RESERVED[field.id], "the field id is reserved", f"{path}/{field.name}", version), Fault.BROKEN
        elif field.id in known and known[field.id].write(version) is Rule.OMITTED:
            rule = known[field.id]
            yield _fault("VER005", f"the version has no {rule.name}", f"{path}/{field.name}", version), Fault.UNUSUAL
    for _, rule in written(cls, version):
        place = places.get(rule.id or 0) if rule.id is not None else None
        here = f"{path}/{rule.name}"
        if place is None:
            fault = Fault.BROKEN if rule.write(version) is REQUIRED else Fault.LEFT_OUT
            aspect = "column-missing" if fault is Fault.BROKEN else "column-left-out"
            yield _fault(rule.requirement, f"the column {rule.name} is missing", here, version, aspect=aspect), fault
            continue
        field = record.fields[place]
        inner, required = present(field.type)
        if required != (rule.write(version) is REQUIRED):
            message = f"{rule.name} is {'required' if required else 'optional'} in the Avro schema"
            yield _fault(rule.requirement, message, here, version, aspect="nullability"), Fault.UNUSUAL
        yield from _type_faults(rule, inner, version, partition, here)


def _fault(requirement: str, message: str, path: str, version: FormatVersion, **told: Any) -> Violation:
    return Violation(requirement=requirement, message=message, path=path, format_version=version, **told)


def _type_faults(
    rule: FieldRule, type_: AvroType, version: FormatVersion, partition: StructType | None, path: str
) -> Iterator[tuple[Violation, Fault]]:
    match rule.type:
        case RowsOf(cls, element_id):
            record = present(type_.items)[0] if isinstance(type_, Array) else type_
            if isinstance(type_, Array) and type_.element_id != element_id:
                yield (
                    _fault(
                        "AVR013",
                        "the element-id is wrong",
                        path,
                        version,
                        expected=f"{element_id}",
                        aspect="element-id",
                    ),
                    Fault.UNUSUAL,
                )
            if isinstance(record, Record):
                yield from schema_faults(cls, record, version, partition, path)
        case PartitionTuple():
            if isinstance(type_, Record) and partition is not None:
                yield from _partition_faults(type_, partition, version, path)
        case _:
            expected = wire_type(rule.type, version, StructType(()))
            if isinstance(type_, Array) and isinstance(expected, MapType) and not type_.logical_map:
                yield (
                    _fault(
                        "AVR004", "the array of a map has the logical type map", path, version, aspect="logical-type"
                    ),
                    Fault.UNUSUAL,
                )
                return
            try:
                found = from_avro(type_)
            except SpecError as error:
                problem = error.violation
                yield attrs.evolve(problem, path=path + problem.path, format_version=version), Fault.UNUSUAL
                return
            if found != expected:
                told = {"found": _shape(found), "expected": _shape(expected)}
                yield (
                    _fault(rule.requirement, "the Avro type is another", path, version, **told, aspect="wrong-type"),
                    Fault.BROKEN,
                )


def _shape(type_: Type) -> str:
    match type_:
        case ListType(element_id, element):
            return f"list<{element_id}: {element}>"
        case MapType(key_id, key, value_id, value):
            return f"map<{key_id}: {key}, {value_id}: {value}>"
        case _:
            return str(type_)


def _partition_faults(
    record: Record, partition: StructType, version: FormatVersion, path: str
) -> Iterator[tuple[Violation, Fault]]:
    places = record.by_id()
    for field in partition.fields:
        place = places.get(field.id)
        here = f"{path}/{field.name}"
        if place is None:
            yield (
                _fault("DFL004", f"the partition field {field.id} is missing", here, version, aspect="missing-field"),
                Fault.BROKEN,
            )
            continue
        if legal_name(field.name) != record.fields[place].name:
            name = record.fields[place].name
            yield (
                _fault(
                    "DFL004",
                    "the name of the partition field is another",
                    here,
                    version,
                    found=name,
                    aspect="field-name",
                ),
                Fault.UNUSUAL,
            )
        if str(field.type) == "unknown":
            continue
        inner, required = present(record.fields[place].type)
        if required:
            yield (
                _fault("DFL004", "a partition field is optional", here, version, aspect="field-required"),
                Fault.UNUSUAL,
            )
        found = from_avro(inner)
        if found != field.type:
            told = {"found": str(found), "expected": str(field.type)}
            yield (
                _fault(
                    "DFL004", "the type of the partition field is another", here, version, **told, aspect="field-type"
                ),
                Fault.BROKEN,
            )
    extra = places.keys() - {field.id for field in partition.fields}
    if extra:
        told = {"found": ", ".join(map(str, sorted(extra)))}
        yield (
            _fault("DFL004", "the partition spec has no such fields", path, version, **told, aspect="unknown-field"),
            Fault.BROKEN,
        )
