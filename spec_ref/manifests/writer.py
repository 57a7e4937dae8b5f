"""Writing manifests (Manifests; Sequence Number Inheritance)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from spec_ref.avro_mapping.row_writer import RowWriter
from spec_ref.avro_mapping.rows import record_struct
from spec_ref.avro_mapping.schema import schema_json
from spec_ref.core.errors import SpecError, error_path, spec_error
from spec_ref.core.versions import OMITTED, FormatVersion
from spec_ref.data_types.types import StructType
from spec_ref.data_types.values import check_value
from spec_ref.encodings.avro.container import write_container
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.avro.values_writer import encoder
from spec_ref.json import documents
from spec_ref.json.writing import writer
from spec_ref.manifest_lists.manifest_file import FieldSummary, ManifestContent, ManifestFile
from spec_ref.manifest_lists.writer import FIXED_SYNC_MARKER
from spec_ref.manifests.computed_metrics import compute_value_metrics
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.manifest import CONTENTS, HEADER, REQUIREMENT
from spec_ref.manifests.rules import EntryContext, broken_rules
from spec_ref.partitioning import spec as partition_specs
from spec_ref.partitioning.spec import PartitionSpec
from spec_ref.schemas.schema import SCHEMA, Schema
from spec_ref.single_value.bounds import encode_bound

RECORD_NAME = "manifest_entry"
RECORD_NAMES = {2: "r2", 102: "r102"}
"""The names that Iceberg-Java gives the inner records; the spec has none, and some readers depend on these."""

BLOCK_BYTES = 64_000
"""About how many bytes of entries a block has before compression."""

_CONTENT_NAMES = {content: name for name, content in CONTENTS.items()}


def write_manifest(
    entries: Iterable[ManifestEntry],
    spec: PartitionSpec,
    schema: Schema,
    format_version: FormatVersion,
    content: ManifestContent = ManifestContent.DATA,
    *,
    partition: StructType | None = None,
    codec: str = "deflate",
    block_bytes: int = BLOCK_BYTES,
) -> bytes:
    """Write a manifest.

    Args:
        entries: the entries, with None for values that new files inherit.
        spec: the partition spec of all the files.
        schema: the table's schema.
        format_version: the version to write.
        content: the kind of the files.
        partition: the type of the partition tuples; that of the spec and the schema by default.
        codec: one of `spec_ref.encodings.avro.container.CODECS`.
        block_bytes: about how many bytes of entries a block has before compression.

    Returns:
        The bytes of the file.

    Raises:
        SpecError: the code of a rule for writers that an entry breaks, of a value that the version requires and an
            entry lacks, or DFL004 for a partition value that is missing or not of its field's type; the path begins
            with the number of the entry, ``/17/data_file``.
    """
    partition = spec.partition_type(schema) if partition is None else partition
    json = schema_json(record_struct(ManifestEntry, format_version, partition), RECORD_NAME, RECORD_NAMES)
    metadata = build_header(spec, schema, format_version, content)
    metadata["avro.schema"] = documents.dumps(json)
    row, encode = RowWriter(ManifestEntry, format_version, partition), encoder(from_json(json, REQUIREMENT))
    blocks: list[tuple[int, bytes]] = []
    payload, count = bytearray(), 0
    context = EntryContext(format_version, content)
    for number, entry in enumerate(entries):
        try:
            _check(entry, context, partition)
            encode(row(entry), payload)
        except SpecError as error:
            problem = error.violation
            raise SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}")) from error.__cause__
        count += 1
        if len(payload) >= block_bytes:
            blocks.append((count, bytes(payload)))
            payload, count = bytearray(), 0
    if count:
        blocks.append((count, bytes(payload)))
    return write_container(metadata, blocks, codec=codec, sync=FIXED_SYNC_MARKER)


def build_header(
    spec: PartitionSpec, schema: Schema, version: FormatVersion, content: ManifestContent
) -> dict[str, bytes | str]:
    """Build the key-value metadata of a manifest (MAN005 to MAN010).

    Args:
        spec: the partition spec.
        schema: the current schema of the table.
        version: the format version.
        content: the kind of the files.

    Returns:
        The keys and values.
    """
    made: dict[str, bytes | str] = {
        "schema": documents.dumps(writer(SCHEMA, version)(schema)),
        "schema-id": str(schema.schema_id),
        "partition-spec": documents.dumps(writer(partition_specs.FIELDS, version)(spec.fields)),
        "partition-spec-id": str(spec.spec_id),
        "format-version": str(int(version)),
        "content": _CONTENT_NAMES[content],
    }
    return {key: value for key, value in made.items() if HEADER[key].writer_presence(version) is not OMITTED}


def _check(entry: ManifestEntry, context: EntryContext, partition: StructType) -> None:
    for rule, problem in broken_rules(entry, context):
        if rule.refused:
            raise SpecError(problem)
    values = entry.data_file.partition
    missing = {field.id for field in partition.fields} - values.keys()
    with error_path("/data_file/partition"):
        if missing:
            raise spec_error("DFL004", "a partition value is missing", found=sorted(values), expected=f"{min(missing)}")
        try:
            check_value(partition, dict(values))
        except SpecError as error:
            raise SpecError(attrs.evolve(error.violation, requirement="DFL004")) from error.__cause__


# The manifest's entry in the list


def build_manifest_file(
    entries: Sequence[ManifestEntry],
    spec: PartitionSpec,
    schema: Schema,
    *,
    path: str,
    length: int,
    snapshot_id: int,
    sequence_number: int = 0,
    content: ManifestContent = ManifestContent.DATA,
    partition: StructType | None = None,
    key_metadata: bytes | None = None,
    first_row_id: int | None = None,
) -> ManifestFile:
    """Build the entry of a manifest in a manifest list: counts, the least sequence number and the partition summaries.

    Args:
        entries: the manifest's entries, as written.
        spec: its partition spec.
        schema: the schema that determines the types of the partition values.
        path: its location.
        length: its length in bytes.
        snapshot_id: the snapshot that adds it.
        sequence_number: the sequence number of that snapshot, which new files inherit; 0 in v1.
        content: the kind of its files.
        partition: the type of the partition tuples; that of the spec and the schema by default.
        key_metadata: the key metadata for encryption; None if it is not encrypted.
        first_row_id: the first row id of its files; None if they have none.

    Returns:
        The entry.
    """
    partition = spec.partition_type(schema) if partition is None else partition
    least = None
    for entry in entries:
        number = sequence_number if entry.sequence_number is None else entry.sequence_number
        if entry.live:
            least = number if least is None else min(least, number)
    return ManifestFile(
        manifest_path=path,
        manifest_length=length,
        partition_spec_id=spec.spec_id,
        content=content,
        sequence_number=sequence_number,
        min_sequence_number=sequence_number if least is None else least,
        added_snapshot_id=snapshot_id,
        **count_entries(entries),
        partitions=tuple(summarize_partitions(entries, partition)),
        key_metadata=key_metadata,
        first_row_id=first_row_id,
    )


def count_entries(entries: Iterable[ManifestEntry]) -> dict[str, int]:
    """Compute the counts of a manifest for its list (MLS010 to MLS015).

    Args:
        entries: the manifest's entries.

    Returns:
        The counts by attribute of `ManifestFile`.
    """
    files = dict.fromkeys(EntryStatus, 0)
    rows = dict.fromkeys(EntryStatus, 0)
    for entry in entries:
        files[entry.status] += 1
        rows[entry.status] += entry.data_file.record_count
    return {
        f"{status.name.lower()}_{kind}_count": counts[status]
        for kind, counts in (("files", files), ("rows", rows))
        for status in EntryStatus
    }


def summarize_partitions(entries: Iterable[ManifestEntry], partition: StructType) -> Iterator[FieldSummary]:
    """Compute the summary of each partition field over all entries, including deleted ones (contradiction B32).

    Values are in the order of bounds (MLS023).

    Args:
        entries: the manifest's entries.
        partition: the type of the partition tuples.

    Yields:
        The summary of each field, in order.
    """
    tuples = [entry.data_file.partition for entry in entries]
    for field in partition.fields:
        found = compute_value_metrics(field.type, (values.get(field.id) for values in tuples))
        yield FieldSummary(
            contains_null=found.nulls > 0,
            contains_nan=found.nans > 0,
            lower_bound=None if found.lower is None else encode_bound(field.type, found.lower),
            upper_bound=None if found.upper is None else encode_bound(field.type, found.upper),
        )
