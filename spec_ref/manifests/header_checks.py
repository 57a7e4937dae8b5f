"""Check that the header of a manifest agrees with the table (Manifests).

The header repeats a schema and a partition spec of the table. The meaning of an id never changes, so the header has the
same schema as the table under the id; if the table no longer has the schema, its columns still have types that the
table's columns had or were promoted from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spec_ref.core.errors import SpecError, Violation, abbreviated_repr
from spec_ref.core.numbers import parse_whole_number
from spec_ref.core.records import evolve
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.promotion import may_have_been_promoted
from spec_ref.data_types.types import NestedField, Type, is_primitive, kind
from spec_ref.manifests.manifest import ManifestHeader
from spec_ref.manifests.manifest_file_checks import violation_at
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.schema import Schema


def header_problems(
    header: ManifestHeader, schemas: Sequence[Schema], specs: Mapping[int, PartitionSpec], version: FormatVersion
) -> Iterator[Violation]:
    """Find where a header contradicts the table; `check_manifest` reports what cannot be read in it.

    Args:
        header: the header.
        schemas: all schemas of the table.
        specs: its partition specs by id.
        version: its format version.

    Yields:
        Each violation (MAN005 to MAN009), with a path that begins in the header.
    """
    if "format-version" in header.properties and not version.includes(header.format_version):
        yield violation_at(
            "MAN009",
            "the format version of the manifest is newer than that of the table",
            "/format-version",
            str(int(header.format_version)),
            f"at most {int(version)}",
            aspect="newer-than-table",
        )
    yield from _schema(header, schemas, version)
    known = None if header.spec_id is None else specs.get(header.spec_id)
    try:
        spec = header.spec()
    except SpecError:
        return
    if known is not None and spec.fields != known.fields:
        yield violation_at(
            "MAN007",
            f"the fields differ from the table's partition spec {header.spec_id}",
            "/partition-spec",
            abbreviated_repr(header.properties["partition-spec"]),
            aspect="mismatch",
        )


def _schema(header: ManifestHeader, schemas: Sequence[Schema], version: FormatVersion) -> Iterator[Violation]:
    try:
        schema, holds = header.schema(), header.schema_id()
    except SpecError:
        return
    key = header.properties.get("schema-id")
    number = None if key is None else parse_whole_number(key)
    if key is not None and number is None:
        message = "schema-id is not a number"
        yield violation_at("MAN006", message, "/schema-id", abbreviated_repr(key), aspect="wrong-type")
    elif holds is None:
        holds = number  # schemas of v1 need not have an id
    if key is not None and holds is not None and key != str(holds):
        yield violation_at(
            "MAN006",
            "schema-id differs from the id in the schema",
            "/schema-id",
            abbreviated_repr(key),
            str(holds),
            aspect="mismatch",
        )
    same = next((one for one in schemas if one.schema_id == holds), None)
    if same is not None and _without_changeable_members(same.fields) != _without_changeable_members(schema.fields):
        yield violation_at(
            "MAN005",
            f"the columns differ from the table's schema {holds}",
            "/schema",
            abbreviated_repr(header.properties["schema"]),
            aspect="mismatch",
        )
    elif same is None:
        yield from _types(schema, schemas, version)


def _without_changeable_members(fields: Sequence[NestedField]) -> tuple[NestedField, ...]:
    """Return the fields without the members that may change while the schema keeps its id."""
    return tuple(evolve(field, doc=None, write_default=None) for field in fields)


def _types(schema: Schema, schemas: Sequence[Schema], version: FormatVersion) -> Iterator[Violation]:
    """Find columns whose types the table's columns cannot have had, in a schema that the table no longer has."""
    known: dict[int, list[Type]] = {}
    for one in schemas:
        for column in one.columns():
            known.setdefault(column.id, []).append(column.type)
    for column in schema.columns():
        types = known.get(column.id, [])
        if types and not any(_may_be_versions_of_one_type(column.type, one, version) for one in types):
            yield violation_at(
                "MAN005",
                "the type of a column was never the type of the table's column",
                "/schema",
                f"{column.name}: {column.type}",
                str(types[-1]),
                aspect="foreign-type",
            )


def _may_be_versions_of_one_type(one: Type, two: Type, version: FormatVersion) -> bool:
    both_primitive = is_primitive(one) and is_primitive(two)
    is_same = one == two if both_primitive else kind(one) == kind(two)
    return is_same or may_have_been_promoted(one, two, version) or may_have_been_promoted(two, one, version)
