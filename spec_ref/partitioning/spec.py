"""Partition specs (Partitioning; Appendix C, Partition Specs)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import EMPTY, evolve, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED, V1, FormatVersion
from spec_ref.data_types.types import UNKNOWN, ListType, MapType, NestedField, StructType, Type, is_primitive
from spec_ref.json.wire_types import INT, STRING, Converted, ListOf, RecordOf
from spec_ref.partitioning.transforms import Identity, Transform, UnknownTransform, Void, parse_transform
from spec_ref.schemas.latest_columns import latest_column
from spec_ref.schemas.schema import Schema

FIRST_FIELD_ID = 1000
"""The id of a partition spec's first field where ids are not stored (PAR014)."""

TRANSFORM = Converted(STRING, lambda text, _: parse_transform(text), lambda transform, _: str(transform))
"""A transform as its text. An unknown one is kept unchanged (PAR024)."""


def check_sources(requirement: str, source_id: int | None, source_ids: tuple[int, ...] | None) -> None:
    """Check that a field names its sources once: ``source-id`` for one (PAR022), ``source-ids`` for several (PAR027).

    The spec's table has ``source-id`` and ``source-ids`` as optional in v3, and its note asks for exactly one of them
    (contradiction B21). Files of 2024 that write ``source-id`` -1 beside ``source-ids`` are refused, because both are
    present.

    Args:
        requirement: the code of the rule for this kind of field.
        source_id: the field's ``source-id``; None if absent.
        source_ids: the field's ``source-ids``; None if absent.

    Raises:
        SpecError: ``requirement`` if both or neither are present, or ``source-ids`` is empty.
    """
    if (source_id is None) == (source_ids is None):
        found = {"source-id": source_id, "source-ids": source_ids}
        raise spec_error(
            requirement,
            "the field does not have exactly one of source-id and source-ids",
            found=found,
            expected="one of them",
            aspect="source-and-sources",
        )
    if source_ids is not None and not source_ids:
        raise spec_error(
            requirement, "the list of source ids is empty", found=source_ids, path="/source-ids", aspect="no-source"
        )


@record(kw_only=True)
class PartitionField:
    """One field of a partition spec: a transform of source columns, with an id and a name."""

    source_id: int | None = spec_field(
        "source-id", v1=REQUIRED, v2=REQUIRED, v3=OPTIONAL, requirement="PAR017", type=INT, default=None
    )
    """The id of the one source column; None where there are several."""

    source_ids: tuple[int, ...] | None = spec_field(
        "source-ids", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="PAR018", type=ListOf(INT), default=None
    )
    """The ids of several source columns, for a transform of more than one argument; None where there is one."""

    field_id: int = spec_field(
        "field-id",
        v1=OMITTED,
        v2=REQUIRED,
        v3=REQUIRED,
        read={V1: OPTIONAL},
        requirement="PAR019",
        type=INT,
        missing=None,
    )
    """The id of the partition value in the tuples of manifests.

    Version 1 should leave it out. It is written, as Iceberg-Java does, because PyIceberg and iceberg-rust refuse specs
    without ids and iceberg-go assigns other ids (contradiction E18).
    """

    name: str = spec_field("name", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PAR020", type=STRING)

    transform: Transform = spec_field(
        "transform", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PAR021", type=TRANSFORM
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""

    def __attrs_post_init__(self) -> None:
        check_sources("PAR022", self.source_id, self.source_ids)

    @property
    def sources(self) -> tuple[int, ...]:
        """The ids of the source columns, one or more."""
        return (self.source_id,) if self.source_ids is None else self.source_ids  # type: ignore[return-value]

    def is_equivalent_to(self, other: PartitionField) -> bool:
        """Decide whether two fields have the same sources, transform and name; ids do not count (PAR008; B20).

        Args:
            other: the field to compare with.

        Returns:
            Whether they are equivalent.
        """
        return (self.sources, self.transform, self.name) == (other.sources, other.transform, other.name)


FIELD = RecordOf(PartitionField, "a partition field", requirement="PAR016")


def _number(fields: tuple[PartitionField, ...], _: FormatVersion) -> tuple[PartitionField, ...]:
    """Assign ids to fields without one as Iceberg-Java does: 1000 and up by position."""
    return tuple(
        evolve(field, field_id=FIRST_FIELD_ID + place) if field.field_id is None else field
        for place, field in enumerate(fields)
    )


FIELDS = Converted(ListOf(FIELD), _number, lambda fields, _: fields)
"""The fields of a spec, which the deprecated ``partition-spec`` and the manifests store alone (PAR023)."""


@record
class PartitionSpec:
    """A partition spec: how the tuple of partition values derives from a row."""

    spec_id: int = spec_field("spec-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="PAR016", type=INT)

    fields: tuple[PartitionField, ...] = spec_field(
        "fields",
        v1=REQUIRED,
        v2=REQUIRED,
        v3=REQUIRED,
        requirement="PAR016",
        type=FIELDS,
        default=(),
        missing=None,
        converter=tuple,
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""

    @property
    def is_unpartitioned(self) -> bool:
        """Whether the spec makes no partitions: it has no fields, or only void ones (contradiction C14)."""
        return all(isinstance(field.transform, Void) for field in self.fields)

    @property
    def is_writable(self) -> bool:
        """Whether data may be committed with the spec: it has no unknown transform (PAR007, PAR026, FIO004)."""
        return not any(isinstance(field.transform, UnknownTransform) for field in self.fields)

    def is_equivalent_to(self, other: PartitionSpec) -> bool:
        """Decide whether two specs have pairwise equivalent fields (PAR008).

        Args:
            other: the spec to compare with.

        Returns:
            Whether they are equivalent.
        """
        return len(self.fields) == len(other.fields) and all(
            mine.is_equivalent_to(theirs) for mine, theirs in zip(self.fields, other.fields, strict=True)
        )

    def partition_type(self, *schemas: Schema) -> StructType:
        """Build the type of the spec's partition tuples: a struct of optional fields with the partition field ids.

        A field has type ``unknown`` if no schema has its source or its transform is unknown, because its values cannot
        be interpreted.

        Args:
            schemas: the schemas of the table. The first one decides the types of source columns, and for those that it
                does not have, the one with the latest type (`spec_ref.schemas.latest_columns`).

        Returns:
            The struct type.

        Raises:
            SpecError: the code of the transform (TRN002 to TRN015) if it does not accept the type of its source.
        """
        return StructType(
            tuple(
                NestedField(field.field_id, field.name, False, result_type(field, *schemas), None, None, None)  # noqa: FBT003
                for field in self.fields
            )
        )


SPEC = RecordOf(PartitionSpec, "a partition spec", requirement="PAR016")

UNPARTITIONED = PartitionSpec(0)


def source_type(source_id: int, schema: Schema) -> Type:
    """Find the type of a source column (PAR004).

    Args:
        source_id: the field id of the column.
        schema: the schema to look in.

    Returns:
        The type of the column.

    Raises:
        SpecError: PAR004 if the schema has no such column, the column is not primitive, or it is inside a list or map.
    """
    column = schema.find(source_id)
    if column is None:
        raise spec_error(
            "PAR004", "the schema does not have a column with the source id", found=source_id, aspect="unknown-source"
        )
    if not is_primitive(column.type):
        raise spec_error(
            "PAR004", "the source column is not primitive", found=Description(str(column.type)), aspect="not-primitive"
        )
    if any(isinstance(parent.type, (ListType, MapType)) for parent in column.parents):
        raise spec_error(
            "PAR004", "the source column is inside a list or map", found=column.name, aspect="in-list-or-map"
        )
    return column.type


def result_type(field: PartitionField, *schemas: Schema) -> Type:
    """Find the type of a partition field's values.

    Args:
        field: the partition field.
        schemas: the schemas where the source column is looked up, as by `spec_ref.schemas.latest_columns`.

    Returns:
        The type; ``unknown`` if the values cannot be interpreted.

    Raises:
        SpecError: the code of the transform (TRN002 to TRN015) if it does not accept the type of its source.
    """
    if len(field.sources) != 1 or isinstance(field.transform, UnknownTransform):
        return UNKNOWN
    column = latest_column(field.sources[0], schemas)
    return UNKNOWN if column is None else field.transform.result_type(column.type)


def identity_values(spec: PartitionSpec, partition: Mapping[int, Any]) -> dict[int, Any]:
    """Find the values that the partition tuple of a file assigns to source columns (PRJ002).

    Args:
        spec: the partition spec of the file.
        partition: the partition tuple, values by partition field id.

    Returns:
        The values by the field id of the source column.
    """
    return {
        field.sources[0]: partition[field.field_id]
        for field in spec.fields
        if isinstance(field.transform, Identity) and len(field.sources) == 1 and field.field_id in partition
    }
