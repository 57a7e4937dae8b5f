"""Records of the spec as rows of Avro files: how each field is stored, and the struct of a record.

A manifest and a manifest list are Iceberg data files whose schema is a field table of the spec. From the field table of
a record `record_struct` derives that schema for a format version. `spec_ref.avro_mapping.row_writer` writes the rows,
and `spec_ref.avro_mapping.row_reader` reads those of any writer.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import TypeAlias

import attrs

from spec_ref.core.records import field_rules
from spec_ref.core.versions import OMITTED, REQUIRED, FieldRule, FormatVersion
from spec_ref.data_types.types import INT, STRING, ListType, NestedField, StructType, Type


@attrs.frozen
class EnumAsInt:
    """An int that represents a member of an enumeration."""

    choices: type[enum.IntEnum]


@attrs.frozen
class EnumAsString:
    """A string that represents a member of an enumeration; read in either case (contradiction C4)."""

    choices: type[enum.Enum]
    written_fields: Callable[[enum.Enum], str]


@attrs.frozen
class RecordStruct:
    """A struct that is a record of the spec; with an element id, a list of them."""

    cls: type
    element_id: int | None = None


class PartitionTuple:
    """The struct of partition values, whose type is that of the manifest's partition spec."""


PARTITION = PartitionTuple()

Wire: TypeAlias = Type | EnumAsInt | EnumAsString | RecordStruct | PartitionTuple
"""How a field is stored in Avro: the ``type`` of its rule."""


@attrs.frozen
class NeverWritten:
    """A deprecated field that a version allows and this writer never writes."""

    wire: Wire


def wire_type(wire: Wire | NeverWritten, version: FormatVersion, partition: StructType) -> Type:
    """Find the Iceberg type in which a field is stored.

    Args:
        wire: the ``type`` of the field's rule.
        version: the format version.
        partition: the type of the partition tuple.

    Returns:
        The Iceberg type.
    """
    match wire:
        case EnumAsInt():
            return INT
        case EnumAsString():
            return STRING
        case RecordStruct(cls, element_id):
            struct = record_struct(cls, version, partition)
            return struct if element_id is None else ListType(element_id, struct)
        case PartitionTuple():
            return partition
        case NeverWritten(inner):
            return wire_type(inner, version, partition)
        case _:
            return wire


def written_fields(cls: type, version: FormatVersion) -> Iterator[tuple[str, FieldRule]]:
    """List the fields that a writer of a version writes.

    Args:
        cls: the record class.
        version: the format version.

    Yields:
        The attribute and the rule of each field.
    """
    for attribute, rule in field_rules(cls).items():
        if rule.writer_presence(version) is not OMITTED and not isinstance(rule.type, NeverWritten):
            yield attribute, rule


def record_struct(cls: type, version: FormatVersion, partition: StructType) -> StructType:
    """Build the struct that writers of a version write for a record, in the order of the spec's table.

    Args:
        cls: the record class.
        version: the format version.
        partition: the type of the partition tuple.

    Returns:
        The struct type.
    """
    fields = []
    for _, rule in written_fields(cls, version):
        assert rule.id is not None
        type_ = wire_type(rule.type, version, partition)
        fields.append(NestedField(rule.id, rule.name, rule.writer_presence(version) is REQUIRED, type_))
    return StructType(tuple(fields))
