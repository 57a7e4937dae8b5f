"""Partition statistics files (Partition Statistics File; STA017 to STA033, STA038, STA039).

A file has a row for each partition tuple, in any data file format; `PartitionStatistics` is a row and its field table
the schema of the file. `conformance.validator.partition_statistics` compares the rows with the manifests.

Decided here, because the text leaves it open:

- The unified partition type holds every field that was ever in a spec, even if its source column was dropped from the
  schema; Iceberg-Java leaves such a field out (contradiction C21).
- The total of a partition is known from the manifests if it has no deletes, or only deletion vectors. Other deletes
  would have to be read, so a writer may leave the total null.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spec_ref.avro_mapping.rows import PARTITION, record_struct, wire_type
from spec_ref.core.errors import SpecError, Violation, error_path, spec_error
from spec_ref.core.records import evolve, field_rules, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED, V3, FormatVersion
from spec_ref.data_types.types import INT, LONG, UNKNOWN, NestedField, StructType
from spec_ref.data_types.values import check_value
from spec_ref.manifests.computed_metrics import bound_order


@record(kw_only=True)
class PartitionStatistics:
    """The statistics of one partition."""

    partition: Mapping[int, Any] = spec_field(
        "partition", id=1, type=PARTITION, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA017"
    )
    """The partition tuple in the unified partition type, by partition field id."""

    spec_id: int = spec_field("spec_id", id=2, type=INT, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA018")

    data_record_count: int = spec_field(
        "data_record_count", id=3, type=LONG, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA019"
    )

    data_file_count: int = spec_field(
        "data_file_count", id=4, type=INT, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA020"
    )

    total_data_file_size_in_bytes: int = spec_field(
        "total_data_file_size_in_bytes", id=5, type=LONG, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA021"
    )

    position_delete_record_count: int | None = spec_field(
        "position_delete_record_count",
        id=6,
        type=LONG,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="STA022",
        missing=None,
    )
    """The number of deleted positions, in position delete files and deletion vectors together (STA032)."""

    position_delete_file_count: int | None = spec_field(
        "position_delete_file_count",
        id=7,
        type=INT,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="STA023",
        missing=None,
    )
    """The number of position delete files, without deletion vectors."""

    dv_count: int | None = spec_field(
        "dv_count",
        id=13,
        type=INT,
        v1=OMITTED,
        v2=OMITTED,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="STA024",
        missing=None,
    )

    equality_delete_record_count: int | None = spec_field(
        "equality_delete_record_count",
        id=8,
        type=LONG,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="STA025",
        missing=None,
    )

    equality_delete_file_count: int | None = spec_field(
        "equality_delete_file_count",
        id=9,
        type=INT,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=REQUIRED,
        read={V3: OPTIONAL},
        requirement="STA026",
        missing=None,
    )

    total_record_count: int | None = spec_field(
        "total_record_count",
        id=10,
        type=LONG,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="STA027",
        missing=None,
    )
    """The exact number of records after all deletes; None where it is not known (STA033)."""

    last_updated_at: int | None = spec_field(
        "last_updated_at", id=11, type=LONG, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="STA028", missing=None
    )
    """The time of the last update, in milliseconds from the Unix epoch."""

    last_updated_snapshot_id: int | None = spec_field(
        "last_updated_snapshot_id",
        id=12,
        type=LONG,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="STA029",
        missing=None,
    )


def unified_partition_type(types: Iterable[StructType]) -> StructType:
    """Build the unified partition type: a struct of all partition fields of a table's specs, ascending by id (STA031).

    The first of several fields with one id is kept; pass the newest spec first, so that its names are used. The type is
    that of the first one whose type is known: a newer spec may have void for a dropped column. If fields of several ids
    share a name, such as a removed field and another that has its name now, the id is appended to the later names.

    Args:
        types: the types of the partition tuples of the specs.

    Returns:
        The struct type.
    """
    fields: dict[int, NestedField] = {}
    for type_ in types:
        for field in type_.fields:
            names = {one.name for one in fields.values()}
            first = fields.get(field.id)
            if first is None:
                fields[field.id] = evolve(field, name=f"{field.name}_{field.id}") if field.name in names else field
            elif first.type == UNKNOWN:
                fields[field.id] = evolve(first, type=field.type)
    return StructType(tuple(fields[field_id] for field_id in sorted(fields)))


def partition_statistics_type(partition: StructType, version: FormatVersion) -> StructType:
    """Build the schema of a partition statistics file, in the order of the spec's table.

    Args:
        partition: the unified partition type.
        version: the format version of the table.

    Returns:
        The struct type of a row.
    """
    return record_struct(PartitionStatistics, version, partition)


def read_row(row: Mapping[int, Any], partition: StructType, version: FormatVersion) -> PartitionStatistics:
    """Read a row of a partition statistics file; unknown ids are ignored.

    Args:
        row: the values by field id.
        partition: the unified partition type.
        version: the format version of the table.

    Returns:
        The statistics of the partition.

    Raises:
        SpecError: STA017 to STA029 if a required field is missing or null, a value is not of its type, or a count is
            negative.
    """
    members: dict[str, Any] = {}
    for attribute, rule in field_rules(PartitionStatistics).items():
        value = None if rule.reader_presence(version) is OMITTED else row.get(rule.id or 0)
        with error_path(f"/{rule.name}"):
            if value is None:
                if rule.reader_presence(version) is REQUIRED:
                    raise spec_error(
                        rule.requirement, f"{rule.name} is missing", format_version=version, aspect="missing"
                    )
                continue
            _check_member(rule.name, rule.requirement, wire_type(rule.type, version, partition), value)
        members[attribute] = value
    return PartitionStatistics(**members)


def _check_member(name: str, requirement: str, type_: Any, value: Any) -> None:
    try:
        check_value(type_, value)
    except SpecError as error:
        raise spec_error(
            requirement, error.violation.message, found=value, expected=str(type_), aspect="wrong-type"
        ) from error
    if requirement in _COUNTS and value < 0:
        raise spec_error(requirement, f"{name} is negative", found=value, expected="0 or more", aspect="negative")


_COUNTS = frozenset(f"STA{number:03}" for number in range(19, 28))
"""The requirements of the fields that count or measure."""


def check_order(
    first: PartitionStatistics, second: PartitionStatistics, partition: StructType, path: str
) -> Iterator[Violation]:
    """Check the order of two neighbouring rows (STA030); rows of one partition are in order.

    Args:
        first: the earlier row.
        second: the later row.
        partition: the unified partition type.
        path: the path of the later row, for the violation.

    Yields:
        The violation of STA030, if the later row sorts first.
    """
    if _tuple_key(partition, second.partition) < _tuple_key(partition, first.partition):
        message, place = "the rows are not sorted by partition", f"{path}/partition"
        yield spec_error("STA030", message, found=dict(second.partition), path=place).violation


def check_row(row: PartitionStatistics, path: str, version: FormatVersion) -> Iterator[Violation]:
    """Find the fields that the version requires and a row does not have.

    Args:
        row: a row.
        path: the path of the row, for violations.
        version: the format version of the table.

    Yields:
        A violation of STA017 to STA029 for each field.
    """
    for attribute, rule in field_rules(PartitionStatistics).items():
        if rule.writer_presence(version) is REQUIRED and getattr(row, attribute) is None:
            message, place = f"{rule.name} is missing", f"{path}/{rule.name}"
            yield spec_error(rule.requirement, message, path=place, format_version=version, aspect="missing").violation


def _tuple_key(partition: StructType, row: Mapping[int, Any]) -> tuple[Any, ...]:
    """Make the key that sorts partition tuples: field after field, nulls first."""
    return tuple(_field_key(field, row.get(field.id)) for field in partition.fields)


def _field_key(field: NestedField, value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)  # NaN sorts after every number
    return (1, bound_order(field.type)(value))
