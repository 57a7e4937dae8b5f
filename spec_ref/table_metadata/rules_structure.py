"""Rules over schemas, partition specs and sort orders (Schemas; Partitioning; Sorting; Table Metadata Fields)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from spec_ref.core.errors import Description, SpecError, Violation
from spec_ref.core.locations import has_scheme
from spec_ref.core.versions import MULTI_ARGUMENT_TRANSFORMS, UNIQUE_PARTITION_FIELD_IDS
from spec_ref.data_types.types import UNKNOWN, GeographyType, GeometryType, StructType
from spec_ref.partitioning.spec import PartitionField, PartitionSpec, source_type
from spec_ref.partitioning.transforms import UnknownTransform, Void
from spec_ref.schemas.evolution import history_problems
from spec_ref.schemas.identifier_fields import identifier_problems
from spec_ref.schemas.name_mapping import NAME_MAPPING_PROPERTY, read_name_mapping
from spec_ref.schemas.reserved_field_ids import MAX_TABLE_FIELD_ID
from spec_ref.schemas.schema import Schema, field_ids
from spec_ref.sorting.order import UNSORTED_ID, SortField, SortOrder
from spec_ref.table_metadata.metadata import TableMetadata, last_partition_id
from spec_ref.table_metadata.rules import BrokenPlace, FoundPlaces, MetadataRule, find_repeated, with_path_prefix


def _uuid(metadata: TableMetadata) -> FoundPlaces:
    if metadata.table_uuid is None:
        return
    try:
        uuid.UUID(metadata.table_uuid)
    except ValueError:
        yield BrokenPlace("/table-uuid", metadata.table_uuid, "a UUID")


def _location(metadata: TableMetadata) -> FoundPlaces:
    if not has_scheme(metadata.location):
        yield BrokenPlace("/location", metadata.location, "a location with a URI scheme")


# Schemas


def _ambiguous(path: str, attribute: str, id_attribute: str) -> Callable[[TableMetadata], FoundPlaces]:
    """Find two different things with one id; the same thing twice is harmless."""

    def find(metadata: TableMetadata) -> FoundPlaces:
        items = getattr(metadata, attribute)
        for place, first in find_repeated([getattr(item, id_attribute) for item in items]):
            if items[place] != items[first]:
                found = getattr(items[place], id_attribute)
                yield BrokenPlace(f"{path}/{place}", found, f"an id other than that of {path}/{first}")

    return find


def _unresolved(path: str, attribute: str, items: str, id_attribute: str) -> Callable[[TableMetadata], FoundPlaces]:
    """Find an id of the table that no object in the list has."""

    def find(metadata: TableMetadata) -> FoundPlaces:
        found = getattr(metadata, attribute)
        if all(getattr(item, id_attribute) != found for item in getattr(metadata, items)):
            yield BrokenPlace(path, found, f"an id in /{items.replace('_', '-')}")

    return find


def _repeated_field_ids(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        ids = list(field_ids(schema.fields))
        for _, first in find_repeated(ids):
            yield BrokenPlace(f"/schemas/{place}", ids[first], "every id once")


def _repeated_names(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        structs = [
            ("", schema.as_struct()),
            *((c.name, c.type) for c in schema.columns() if isinstance(c.type, StructType)),
        ]
        for name, struct in structs:
            names = [field.name for field in struct.fields]
            for _, first in find_repeated(names):
                yield BrokenPlace(f"/schemas/{place}", ".".join(filter(None, (name, names[first]))), "every name once")


def _shared_full_names(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        for name in schema.shared_full_names():
            yield BrokenPlace(f"/schemas/{place}", name, "a full name for each column")


def _reserved_ids(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        for found in field_ids(schema.fields):
            if found > MAX_TABLE_FIELD_ID:
                yield BrokenPlace(f"/schemas/{place}", found, f"at most {MAX_TABLE_FIELD_ID}")


def _last_column_id(metadata: TableMetadata) -> FoundPlaces:
    highest = max((found for schema in metadata.schemas for found in field_ids(schema.fields)), default=0)
    if metadata.last_column_id < highest:
        yield BrokenPlace("/last-column-id", metadata.last_column_id, f"at least {highest}")


def _identifiers(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        for problem in identifier_problems(schema):
            yield with_path_prefix(f"/schemas/{place}", problem)


PROJJSON = "projjson:"


def _reference_systems(metadata: TableMetadata) -> Iterator[tuple[str, str]]:
    """Find the reference systems of geospatial columns, each with its place."""
    for place, schema in enumerate(metadata.schemas):
        for column in schema.columns():
            if isinstance(column.type, (GeometryType, GeographyType)):
                yield f"/schemas/{place}#{column.name}", column.type.crs


def _inline_definitions(metadata: TableMetadata) -> FoundPlaces:
    for path, system in _reference_systems(metadata):
        if system.lstrip().startswith("{"):
            yield BrokenPlace(
                path, system, "a reference system by its name, or by the property that holds its definition"
            )


def _missing_definitions(metadata: TableMetadata) -> FoundPlaces:
    for path, system in _reference_systems(metadata):
        if system.startswith(PROJJSON) and system.removeprefix(PROJJSON) not in metadata.properties:
            yield BrokenPlace(path, system, "a table property of this name")


def _new_types(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        for column in schema.columns():
            if not metadata.format_version.includes(column.type.since):
                expected = f"a table of version {column.type.since} or newer"
                yield BrokenPlace(f"/schemas/{place}", Description(f"{column.name}: {column.type}"), expected)


def _unknown_required(metadata: TableMetadata) -> FoundPlaces:
    for place, schema in enumerate(metadata.schemas):
        for column in schema.columns():
            if column.type == UNKNOWN and column.required:
                yield BrokenPlace(f"/schemas/{place}", column.name, "an optional field")


def _history(metadata: TableMetadata) -> FoundPlaces:
    for place, problem in history_problems(metadata.schemas, metadata.format_version):
        yield with_path_prefix(f"/schemas/{place}", problem)


def _deprecated_schema(*, earlier: bool) -> Callable[[TableMetadata], FoundPlaces]:
    """Find a deprecated ``schema`` that is not current: with ``earlier``, a copy of another schema, else of none."""

    def find(metadata: TableMetadata) -> FoundPlaces:
        for schema in metadata.schemas if metadata.schema is not None else ():
            if schema.schema_id == metadata.current_schema_id and schema.fields != metadata.schema.fields:  # type: ignore[union-attr]
                others = [one.fields for one in metadata.schemas]
                if (metadata.schema.fields in others) is earlier:  # type: ignore[union-attr]
                    yield BrokenPlace("/schema", expected=f"the fields of schema {schema.schema_id}")

    return find


def _deprecated_spec(*, earlier: bool) -> Callable[[TableMetadata], FoundPlaces]:
    """Find a deprecated ``partition-spec`` that is not the default: with ``earlier``, a copy of another, else none."""

    def find(metadata: TableMetadata) -> FoundPlaces:
        for spec in metadata.partition_specs if metadata.partition_spec is not None else ():
            if spec.spec_id == metadata.default_spec_id and spec.fields != metadata.partition_spec:
                others = [one.fields for one in metadata.partition_specs]
                if (metadata.partition_spec in others) is earlier:
                    yield BrokenPlace("/partition-spec", expected=f"the fields of partition spec {spec.spec_id}")

    return find


def _name_mapping(metadata: TableMetadata) -> FoundPlaces:
    text = metadata.properties.get(NAME_MAPPING_PROPERTY)
    if text is not None:
        try:
            read_name_mapping(text)
        except SpecError as problem:
            # The pointer of the mapping leads into the text of the property, not into the metadata.
            violation = problem.violation
            yield Violation(
                requirement=violation.requirement,
                message=f"in the mapping{' at ' + violation.path if violation.path else ''}: {violation.message}",
                aspect=violation.aspect,
                path=f"/properties/{NAME_MAPPING_PROPERTY}",
                found=violation.found,
                expected=violation.expected,
            )


# Partition specs


def _repeated_partition_ids(metadata: TableMetadata) -> FoundPlaces:
    for place, spec in enumerate(metadata.partition_specs):
        for second, first in find_repeated([field.field_id for field in spec.fields]):
            path = f"/partition-specs/{place}/fields/{second}/field-id"
            yield BrokenPlace(path, spec.fields[second].field_id, f"an id other than that of field {first}")


def _repeated_partition_names(metadata: TableMetadata) -> FoundPlaces:
    """Find names that a spec repeats: the text allows them, but the tuple would not be an Avro record (MAN002)."""
    for place, spec in enumerate(metadata.partition_specs):
        for second, first in find_repeated([field.name for field in spec.fields]):
            path = f"/partition-specs/{place}/fields/{second}/name"
            yield BrokenPlace(path, spec.fields[second].name, f"a name that field {first} does not have")


def _shared_partition_ids(metadata: TableMetadata) -> FoundPlaces:
    first: dict[int, PartitionField] = {}
    for place, spec in enumerate(metadata.partition_specs):
        ids = [field.field_id for field in spec.fields]
        for number, field in enumerate(spec.fields):
            if field.field_id in ids[:number]:
                continue  # another rule reports an id that one spec has twice
            other = first.setdefault(field.field_id, field)
            if isinstance(other.transform, Void):
                first[field.field_id] = field
            # A field stays the same one if it is renamed, or if its transform becomes void.
            same = other.sources == field.sources and (
                other.transform == field.transform
                or isinstance(other.transform, Void)
                or isinstance(field.transform, Void)
            )
            if not same:
                path = f"/partition-specs/{place}/fields/{number}/field-id"
                yield BrokenPlace(path, field.field_id, f"an id that only {other.name} has")


def _argument_forms(path: str, attribute: str) -> Callable[[TableMetadata], FoundPlaces]:
    """Find fields with one argument written as a list, and transforms of one argument with several sources."""

    def find(metadata: TableMetadata) -> FoundPlaces:
        for place, item in enumerate(getattr(metadata, attribute)):
            for number, field in enumerate(item.fields):
                if field.source_ids is not None and (
                    len(field.source_ids) == 1 or not isinstance(field.transform, UnknownTransform)
                ):
                    where = f"{path}/{place}/fields/{number}/source-ids"
                    yield BrokenPlace(where, list(field.source_ids), f"source-id, for {field.transform}")

    return find


def _last_partition_id(metadata: TableMetadata) -> FoundPlaces:
    highest = last_partition_id(metadata.partition_specs)
    if metadata.last_partition_id < highest:
        yield BrokenPlace("/last-partition-id", metadata.last_partition_id, f"at least {highest}")


def _equivalent_specs(metadata: TableMetadata) -> FoundPlaces:
    specs = metadata.partition_specs
    keys = [tuple((field.sources, str(field.transform), field.name) for field in spec.fields) for spec in specs]
    for second, first in find_repeated(keys):
        yield BrokenPlace(
            f"/partition-specs/{second}", specs[second].spec_id, f"a spec that differs from spec {specs[first].spec_id}"
        )


def _sources(
    path: str, fields: Sequence[PartitionField | SortField], metadata: TableMetadata, *, default: bool
) -> Iterator[Violation]:
    """Find sources that do not fit the current schema, and those of old specs and orders that fit no schema."""
    schemas = [one for one in metadata.schemas if not default or one.schema_id == metadata.current_schema_id]
    for place, field in enumerate(fields):
        if isinstance(field.transform, Void):
            continue  # a dropped field of a v1 spec, whose column may be dropped too
        for source in field.sources:
            known = schemas if default else [one for one in schemas if one.find(source) is not None]
            problems = [_source_error(field, source, schema) for schema in known]
            if problems and None not in problems:
                yield with_path_prefix(f"{path}/fields/{place}", next(one for one in problems if one is not None))


def _source_error(field: PartitionField | SortField, source: int, schema: Schema) -> SpecError | None:
    try:
        type_ = source_type(source, schema)
        if len(field.sources) == 1 and not isinstance(field.transform, UnknownTransform):
            field.transform.result_type(type_)
    except SpecError as problem:
        return problem
    return None


def _spec_sources(metadata: TableMetadata) -> FoundPlaces:
    for place, spec in enumerate(metadata.partition_specs):
        default = spec.spec_id == metadata.default_spec_id
        yield from _sources(f"/partition-specs/{place}", spec.fields, metadata, default=default)


def _order_sources(metadata: TableMetadata) -> FoundPlaces:
    for place, order in enumerate(metadata.sort_orders):
        default = order.order_id == metadata.default_sort_order_id
        yield from _sources(f"/sort-orders/{place}", order.fields, metadata, default=default)


def _old_sources(metadata: TableMetadata) -> FoundPlaces:
    known = {found for schema in metadata.schemas for found in field_ids(schema.fields)}
    fields: list[tuple[str, PartitionField | SortField]] = [
        (f"/{path}/{place}/fields/{number}", field)
        for path, items in (("partition-specs", metadata.partition_specs), ("sort-orders", metadata.sort_orders))
        for place, item in enumerate(cast("tuple[PartitionSpec | SortOrder, ...]", items))
        for number, field in enumerate(cast("tuple[PartitionField | SortField, ...]", item.fields))
    ]
    for path, field in fields:
        for source in field.sources:
            if source not in known and not isinstance(field.transform, Void):
                yield BrokenPlace(path, source, "the id of a field of some schema")


def _unknown_transforms(metadata: TableMetadata) -> FoundPlaces:
    for place, spec in enumerate(metadata.partition_specs):
        if spec.spec_id == metadata.default_spec_id and not spec.is_writable:
            yield BrokenPlace(f"/partition-specs/{place}", spec.spec_id, "transforms of the spec")


def _unsorted(metadata: TableMetadata) -> FoundPlaces:
    for place, order in enumerate(metadata.sort_orders):
        if order.order_id == UNSORTED_ID and order.fields:
            found = Description("1 field" if len(order.fields) == 1 else f"{len(order.fields)} fields")
            yield BrokenPlace(f"/sort-orders/{place}/fields", found, "no fields")


RULES: tuple[MetadataRule, ...] = (
    MetadataRule("TMD002", "table-uuid is not a UUID", ("table_uuid",), _uuid, aspect="not-a-uuid"),
    MetadataRule("LOC001", "the location has no URI scheme", ("location",), _location),
    MetadataRule(
        "TMD008",
        "two schemas have the same id",
        ("schemas",),
        _ambiguous("/schemas", "schemas", "schema_id"),
        refused=True,
        aspect="repeated-id",
    ),
    MetadataRule(
        "TMD009",
        "the table does not have the current schema",
        ("schemas", "current_schema_id"),
        _unresolved("/current-schema-id", "current_schema_id", "schemas", "schema_id"),
        refused=True,
        aspect="unknown",
    ),
    MetadataRule(
        "TYP002",
        "two fields of a schema have the same id",
        ("schemas",),
        _repeated_field_ids,
        refused=True,
        aspect="repeated-id",
    ),
    MetadataRule(
        "TYP002", "two fields of a struct have the same name", ("schemas",), _repeated_names, aspect="repeated-name"
    ),
    MetadataRule(
        "TYP002", "two columns have the same full name", ("schemas",), _shared_full_names, aspect="shared-full-name"
    ),
    MetadataRule("RES001", "a field has an id that is reserved for metadata columns", ("schemas",), _reserved_ids),
    MetadataRule(
        "TMD006",
        "a field id is greater than last-column-id",
        ("schemas", "last_column_id"),
        _last_column_id,
        aspect="exceeded-by-field",
    ),
    MetadataRule("IDF001", None, ("schemas",), _identifiers),
    MetadataRule("VER004", "a type is not allowed in this format version", ("schemas", "format_version"), _new_types),
    MetadataRule("TYP032", "a coordinate reference system is an inline definition", ("schemas",), _inline_definitions),
    MetadataRule(
        "TYP033",
        "the definition of a coordinate reference system is missing",
        ("schemas", "properties"),
        _missing_definitions,
    ),
    MetadataRule("TYP025", "a field of type unknown is required", ("schemas",), _unknown_required, aspect="required"),
    MetadataRule("EVO001", None, ("schemas", "format_version"), _history),
    MetadataRule(
        "TMD007",
        "the deprecated field schema differs from every schema of the table",
        ("schema", "schemas", "current_schema_id"),
        _deprecated_schema(earlier=False),
        aspect="mismatch",
    ),
    MetadataRule(
        "TMD007",
        "the deprecated field schema has a schema of the table that is not the current one",
        ("schema", "schemas", "current_schema_id"),
        _deprecated_schema(earlier=True),
        aspect="earlier",
    ),
    MetadataRule(
        "TMD010",
        "the deprecated field partition-spec differs from every partition spec of the table",
        ("partition_spec", "partition_specs", "default_spec_id"),
        _deprecated_spec(earlier=False),
        aspect="mismatch",
    ),
    MetadataRule(
        "TMD010",
        "the deprecated field partition-spec has a partition spec of the table that is not the default one",
        ("partition_spec", "partition_specs", "default_spec_id"),
        _deprecated_spec(earlier=True),
        aspect="earlier",
    ),
    MetadataRule("NAM009", "the name mapping cannot be read", ("properties",), _name_mapping),
    MetadataRule(
        "TMD011",
        "two partition specs have the same id",
        ("partition_specs",),
        _ambiguous("/partition-specs", "partition_specs", "spec_id"),
        refused=True,
        aspect="repeated-id",
    ),
    MetadataRule(
        "PAR025",
        "two fields of a partition spec have the same id",
        ("partition_specs",),
        _repeated_partition_ids,
        refused=True,
    ),
    MetadataRule(
        "PAR002",
        "two fields of a partition spec have the same name",
        ("partition_specs",),
        _repeated_partition_names,
        aspect="repeated",
    ),
    MetadataRule(
        "PAR003",
        "different partition fields have the same id",
        ("partition_specs",),
        _shared_partition_ids,
        since=UNIQUE_PARTITION_FIELD_IDS.since,
    ),
    MetadataRule(
        "PAR022",
        "source-ids is set for a transform of one argument",
        ("partition_specs",),
        _argument_forms("/partition-specs", "partition_specs"),
        since=MULTI_ARGUMENT_TRANSFORMS.since,
    ),
    MetadataRule("PAR008", "two partition specs are equivalent", ("partition_specs",), _equivalent_specs),
    MetadataRule(
        "TMD012",
        "the table does not have the default spec",
        ("partition_specs", "default_spec_id"),
        _unresolved("/default-spec-id", "default_spec_id", "partition_specs", "spec_id"),
        aspect="unknown",
    ),
    MetadataRule(
        "TMD013",
        "a partition field id is greater than last-partition-id",
        ("partition_specs", "last_partition_id"),
        _last_partition_id,
        aspect="exceeded",
    ),
    MetadataRule("PAR004", None, ("partition_specs", "default_spec_id", "schemas", "current_schema_id"), _spec_sources),
    MetadataRule(
        "PAR004",
        "no schema has the source column",
        ("partition_specs", "sort_orders", "schemas"),
        _old_sources,
        aspect="lost-source",
    ),
    MetadataRule(
        "PAR007",
        "the default spec has unknown transforms",
        ("partition_specs", "default_spec_id"),
        _unknown_transforms,
        aspect="default-spec",
    ),
    MetadataRule(
        "TMD019",
        "two sort orders have the same id",
        ("sort_orders",),
        _ambiguous("/sort-orders", "sort_orders", "order_id"),
        aspect="repeated-id",
    ),
    MetadataRule(
        "TMD020",
        "the table does not have the default sort order",
        ("sort_orders", "default_sort_order_id"),
        _unresolved("/default-sort-order-id", "default_sort_order_id", "sort_orders", "order_id"),
        aspect="unknown",
    ),
    MetadataRule(
        "SRT008",
        "source-ids is set for a transform of one argument",
        ("sort_orders",),
        _argument_forms("/sort-orders", "sort_orders"),
        since=MULTI_ARGUMENT_TRANSFORMS.since,
    ),
    MetadataRule("SRT002", "sort order 0 has fields", ("sort_orders",), _unsorted),
    MetadataRule(
        "SRT001", None, ("sort_orders", "default_sort_order_id", "schemas", "current_schema_id"), _order_sources
    ),
)
"""The rules over the table's structure."""
