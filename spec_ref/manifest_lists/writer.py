"""Writing manifest lists (Manifest Lists)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from spec_ref.avro_mapping.row_writer import RowWriter
from spec_ref.avro_mapping.rows import record_struct
from spec_ref.avro_mapping.schema import schema_json
from spec_ref.core.errors import SpecError
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import StructType
from spec_ref.encodings.avro.container import write_container
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.avro.values_writer import encoder
from spec_ref.json import documents
from spec_ref.manifest_lists.manifest_file import ManifestFile
from spec_ref.manifest_lists.reader import REQUIREMENT
from spec_ref.manifest_lists.rules import list_rules

RECORD_NAME = "manifest_file"
BLOCK_OBJECTS = 500

FIXED_SYNC_MARKER = bytes.fromhex("1ceb00da1ceb00da1ceb00da1ceb00da")
"""The sync marker of the files that are written here: the same input gives the same bytes."""


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

    The spec requires no key-value metadata. Like Iceberg-Java, this writes the ids of the snapshot and
    ``format-version``, because some readers depend on them (contradiction C1).

    Args:
        files: the entries of the list, in order.
        format_version: the format version of the table.
        snapshot_id: the id of the snapshot, for the file's metadata; None to omit it.
        parent_snapshot_id: the id of its parent, likewise.
        sequence_number: the sequence number of the snapshot, likewise.
        first_row_id: the first row id of the snapshot, likewise.
        codec: one of `spec_ref.encodings.avro.container.CODECS`.

    Returns:
        The bytes of the file.

    Raises:
        SpecError: the code of a value that the version requires and a manifest lacks, or of a broken rule of
            `list_rules`.
    """
    struct = record_struct(ManifestFile, format_version, StructType(()))
    json = schema_json(struct, RECORD_NAME, {508: "r508"})
    properties: Mapping[str, int | None] = {
        "snapshot-id": snapshot_id,
        "parent-snapshot-id": parent_snapshot_id,
        "sequence-number": sequence_number,
        "first-row-id": first_row_id,
    }
    metadata = {"avro.schema": documents.dumps(json), "format-version": str(int(format_version))}
    metadata.update({key: str(value) for key, value in properties.items() if value is not None})
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
    return write_container(metadata, blocks, codec=codec, sync=FIXED_SYNC_MARKER)
