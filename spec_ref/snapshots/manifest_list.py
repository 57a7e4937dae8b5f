"""Manifest lists (Manifest Lists; First Row ID Assignment)."""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable, Iterator, Mapping

import attrs

from spec_ref.avro_mapping.rows import Coded, RowReader, RowsOf, RowWriter, struct_of
from spec_ref.avro_mapping.schema import schema_json
from spec_ref.core.errors import SpecError, violation
from spec_ref.core.records import evolve, record, spec_field
from spec_ref.core.versions import DELETE_FILES, NEWEST, OMITTED, OPTIONAL, REQUIRED, FormatVersion
from spec_ref.data_types.types import BINARY, BOOLEAN, INT, LONG, STRING, StructType
from spec_ref.encodings.avro.container import Data, open_container, write_container
from spec_ref.encodings.avro.types import Record, from_json, parse_schema
from spec_ref.encodings.avro.values import BlockDecoder, encoder
from spec_ref.json import documents

REQUIREMENT = "MLS002"
"""The code of a file that is no manifest list at all."""

RECORD_NAME = "manifest_file"
BLOCK_OBJECTS = 500
LONGEST_REMEMBERED = 1 << 14
"""The longest Avro schema, in bytes, of which is remembered what was made; that of a writer has less than 4 KiB."""

NO_SYNC = bytes.fromhex("1ceb00da1ceb00da1ceb00da1ceb00da")
"""The sync marker of the files that are written here: the same input makes the same bytes."""


class ManifestContent(enum.IntEnum):
    """The kind of files that a manifest lists."""

    DATA = 0
    DELETES = 1


@record(kw_only=True)
class FieldSummary:
    """The partition values of a manifest in one partition field (``field_summary``)."""

    contains_null: bool = spec_field(
        "contains_null", id=509, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS019", type=BOOLEAN
    )

    contains_nan: bool | None = spec_field(
        "contains_nan", id=518, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS020", type=BOOLEAN, default=None
    )
    """None: not known."""

    lower_bound: bytes | None = spec_field(
        "lower_bound", id=510, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS021", type=BINARY, default=None
    )
    """A single value of the partition field's type; None where all values are null or NaN."""

    upper_bound: bytes | None = spec_field(
        "upper_bound", id=511, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS022", type=BINARY, default=None
    )


@record(kw_only=True)
class ManifestFile:
    """A manifest, as a manifest list tells of it.

    Upgraded tables have lists of every version. Nothing in a list has to say which one wrote it, so that readers of
    all versions take each column where it is, and nothing for granted that any version leaves out.
    """

    manifest_path: str = spec_field(
        "manifest_path", id=500, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS003", type=STRING
    )

    manifest_length: int = spec_field(
        "manifest_length", id=501, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS004", type=LONG
    )

    partition_spec_id: int = spec_field(
        "partition_spec_id", id=502, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS005", type=INT
    )

    content: ManifestContent = spec_field(
        "content", id=517, v1=OMITTED, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS006", type=Coded(ManifestContent), default=ManifestContent.DATA,
    )  # fmt: skip

    sequence_number: int = spec_field(
        "sequence_number", id=515, v1=OMITTED, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS007", type=LONG, default=0,
    )  # fmt: skip
    """When the manifest was added to the table; 0 in lists of v1."""

    min_sequence_number: int = spec_field(
        "min_sequence_number", id=516, v1=OMITTED, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS008", type=LONG, default=0,
    )  # fmt: skip
    """The least data sequence number of the live files; 0 in lists of v1, where 0 is a number and not unknown."""

    added_snapshot_id: int = spec_field(
        "added_snapshot_id", id=503, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="MLS009", type=LONG
    )

    added_files_count: int | None = spec_field(
        "added_files_count", id=504, v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS010", type=INT, default=None,
    )  # fmt: skip
    """None, here and in the other counts, is taken for a number above zero. Found by id: Java long wrote the name
    ``added_data_files_count`` (contradiction A18)."""

    existing_files_count: int | None = spec_field(
        "existing_files_count", id=505, v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS011", type=INT, default=None,
    )  # fmt: skip

    deleted_files_count: int | None = spec_field(
        "deleted_files_count", id=506, v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS012", type=INT, default=None,
    )  # fmt: skip

    added_rows_count: int | None = spec_field(
        "added_rows_count", id=512, v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS013", type=LONG, default=None,
    )  # fmt: skip

    existing_rows_count: int | None = spec_field(
        "existing_rows_count", id=513, v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS014", type=LONG, default=None,
    )  # fmt: skip

    deleted_rows_count: int | None = spec_field(
        "deleted_rows_count", id=514, v1=OPTIONAL, v2=REQUIRED, v3=REQUIRED, read=OPTIONAL,
        requirement="MLS015", type=LONG, default=None,
    )  # fmt: skip

    partitions: tuple[FieldSummary, ...] | None = spec_field(
        "partitions", id=507, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS016",
        type=RowsOf(FieldSummary, 508), default=None,
    )  # fmt: skip
    """A summary for each field of the manifest's partition spec, in its order."""

    key_metadata: bytes | None = spec_field(
        "key_metadata", id=519, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="MLS017", type=BINARY, default=None
    )

    first_row_id: int | None = spec_field(
        "first_row_id", id=520, v1=OMITTED, v2=OMITTED, v3=OPTIONAL, read=OPTIONAL,
        requirement="MLS018", type=LONG, default=None,
    )  # fmt: skip
    """Where the row ids of its data files start."""

    def may_have(self, count: int | None) -> bool:
        """Whether there may be files or rows of a kind, by its count: an unknown count says yes."""
        return count is None or count > 0

    @property
    def may_have_live_files(self) -> bool:
        """Whether the manifest may list files that scans read."""
        return self.may_have(self.added_files_count) or self.may_have(self.existing_files_count)


def read_manifest_list(
    data: Data, *, format_version: FormatVersion = NEWEST, file: str | None = None
) -> tuple[ManifestFile, ...]:
    """Read a manifest list of any format version.

    Args:
        data: the content of the file.
        format_version: that of the table, whose reader's rules hold; the newest where it is not known.
        file: the name to tell in errors.

    Raises:
        SpecError: the file is no manifest list, or a required value is missing; the path begins with the number of
            the manifest, ``/3/manifest_path``.
    """
    try:
        return tuple(_manifests(data, format_version))
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=file)) from error.__cause__


def _manifests(data: Data, version: FormatVersion) -> Iterator[ManifestFile]:
    container = open_container(data, REQUIREMENT)
    shape = _shape_of(container.metadata["avro.schema"], version)
    number = 0
    for count, payload in container.payloads():
        for row in shape.decoder.decode_all(count, payload, REQUIREMENT, number):
            try:
                yield shape.reader(row)
            except SpecError as error:
                problem = error.violation
                raise SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}")) from error.__cause__
            number += 1


@attrs.frozen
class _Shape:
    """What is made of an Avro schema once for all the lists that share it."""

    decoder: BlockDecoder
    reader: RowReader


def _shape_of(schema: bytes, version: FormatVersion) -> _Shape:
    return (_remembered if len(schema) <= LONGEST_REMEMBERED else _new_shape)(schema, version)


def _new_shape(schema: bytes, version: FormatVersion) -> _Shape:
    root = root_record(schema, REQUIREMENT)
    return _Shape(BlockDecoder(root), RowReader(ManifestFile, root, version, REQUIREMENT))


_remembered = functools.lru_cache(maxsize=32)(_new_shape)


def root_record(schema: bytes, requirement: str) -> Record:
    """The record that an Avro schema describes its objects as."""
    type_ = parse_schema(schema, requirement)
    if not isinstance(type_, Record):
        raise violation(requirement, "the objects of the file are no records")
    return type_


def write_manifest_list(
    files: Iterable[ManifestFile],
    format_version: FormatVersion,
    *,
    snapshot_id: int | None = None,
    parent_snapshot_id: int | None = None,
    sequence_number: int | None = None,
    first_row_id: int | None = None,
    codec: str = "deflate",
) -> bytes:
    """Write a manifest list.

    The spec asks for no key-value metadata. The ids of the snapshot are written as Iceberg-Java does, and
    ``format-version``, which some readers depend on (contradiction C1).

    Raises:
        SpecError: a manifest lacks what the version requires, or is a delete manifest with a first row id.
    """
    struct = struct_of(ManifestFile, format_version, StructType(()))
    json = schema_json(struct, RECORD_NAME, {508: "r508"})
    told: Mapping[str, int | None] = {
        "snapshot-id": snapshot_id,
        "parent-snapshot-id": parent_snapshot_id,
        "sequence-number": sequence_number,
        "first-row-id": first_row_id,
    }
    metadata = {"avro.schema": documents.dumps(json), "format-version": str(int(format_version))}
    metadata.update({key: str(value) for key, value in told.items() if value is not None})
    row, encode = RowWriter(ManifestFile, format_version, StructType(())), encoder(from_json(json, REQUIREMENT))
    blocks: list[tuple[int, bytes]] = []
    payload, count = bytearray(), 0
    for number, manifest in enumerate(files):
        try:
            for broken in list_rules(manifest, format_version):
                raise broken
            encode(row(manifest), payload)
        except SpecError as error:
            problem = error.violation
            raise SpecError(attrs.evolve(problem, path=f"/{number}{problem.path}")) from error.__cause__
        count += 1
        if count == BLOCK_OBJECTS:
            blocks.append((count, bytes(payload)))
            payload, count = bytearray(), 0
    if count:
        blocks.append((count, bytes(payload)))
    return write_container(metadata, blocks, codec=codec, sync=NO_SYNC)


_COUNTS = (
    ("manifest_length", "MLS004"), ("sequence_number", "MLS007"), ("min_sequence_number", "MLS008"),
    ("added_files_count", "MLS010"), ("existing_files_count", "MLS011"), ("deleted_files_count", "MLS012"),
    ("added_rows_count", "MLS013"), ("existing_rows_count", "MLS014"), ("deleted_rows_count", "MLS015"),
    ("first_row_id", "MLS018"),
)  # fmt: skip
"""The numbers that are not negative."""


def list_rules(manifest: ManifestFile, version: FormatVersion) -> Iterator[SpecError]:
    """What one manifest of a list breaks in itself."""
    for attribute, requirement in _COUNTS:
        value = getattr(manifest, attribute)
        if value is not None and value < 0:
            yield violation(requirement, "the number is negative", found=value, path=f"/{attribute}", aspect="negative")
    if manifest.content is ManifestContent.DELETES:
        if not DELETE_FILES.is_supported(version):
            yield violation(
                "MLS006", "v1 has no delete manifests", path="/content", format_version=version, aspect="deletes-in-v1"
            )
        if manifest.first_row_id is not None:
            found = manifest.first_row_id
            yield violation(
                "LIN026",
                "a delete manifest has no first row id",
                found=found,
                path="/first_row_id",
                aspect="of-deletes",
            )
    if manifest.min_sequence_number > manifest.sequence_number:
        yield violation(
            "MLS008", "a file has a later sequence number than the manifest", found=manifest.min_sequence_number,
            expected=f"at most {manifest.sequence_number}", path="/min_sequence_number", aspect="too-high",
        )  # fmt: skip


def assign_first_row_ids(files: Iterable[ManifestFile], first_row_id: int) -> tuple[tuple[ManifestFile, ...], int]:
    """Give the data manifests that have none a first row id, as a snapshot of v3 does (LIN026 to LIN029).

    Args:
        files: the manifests of the new list.
        first_row_id: the snapshot's ``first-row-id``, which is the table's ``next-row-id`` at the attempt.

    Returns:
        The manifests, and the table's next row id after the commit.

    Raises:
        SpecError: a manifest that needs row ids has unknown counts, so that the next free id is not known.
    """
    made = []
    for place, manifest in enumerate(files):
        if manifest.content is ManifestContent.DELETES or manifest.first_row_id is not None:
            made.append(manifest)
            continue
        if manifest.added_rows_count is None or manifest.existing_rows_count is None:
            raise violation("LIN029", "the rows of a manifest are not known", path=f"/{place}/added_rows_count")
        made.append(evolve(manifest, first_row_id=first_row_id))
        first_row_id += manifest.added_rows_count + manifest.existing_rows_count
    return tuple(made), first_row_id
