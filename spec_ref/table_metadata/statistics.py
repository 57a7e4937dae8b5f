"""Table statistics and partition statistics (Table Statistics; Partition Statistics).

Both are informational: a reader may ignore them (STA007, STA036). A table may have many statistics files, of several
snapshots (STA035). A file of partition statistics is valid only while table metadata lists it (STA037); a writer may
write one with each commit, or later (STA040).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OPTIONAL, REQUIRED
from spec_ref.json.wire_types import INT, LONG, STRING, STRING_MAP, ListOf, RecordOf


@record(kw_only=True)
class BlobMetadata:
    """The entry of table metadata for one blob of a statistics file."""

    type: str = spec_field("type", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA008", type=STRING)
    """The blob type of the Puffin file."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA009", type=LONG)
    """The snapshot that the blob was computed from."""

    sequence_number: int = spec_field(
        "sequence-number", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA010", type=LONG
    )
    """The sequence number of that snapshot."""

    fields: tuple[int, ...] = spec_field(
        "fields", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA011", type=ListOf(INT)
    )
    """The field ids that the blob was computed for, in the order that the computation used."""

    properties: Mapping[str, str] | None = spec_field(
        "properties", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="STA012", type=STRING_MAP, default=None
    )
    """Some or all of the properties that the blob has in the Puffin file."""

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


BLOB = RecordOf(BlobMetadata, "the metadata of a blob", requirement="STA006")


@record(kw_only=True)
class StatisticsFile:
    """A Puffin file with statistics of one snapshot."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA001", type=LONG)
    """The snapshot. A long, although older editions of the spec had it as a string (contradiction A15)."""

    statistics_path: str = spec_field(
        "statistics-path", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA002", type=STRING
    )

    file_size_in_bytes: int = spec_field(
        "file-size-in-bytes", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA003", type=LONG
    )

    file_footer_size_in_bytes: int = spec_field(
        "file-footer-size-in-bytes", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA004", type=LONG
    )
    """The size of the whole footer, not of its payload alone."""

    key_metadata: str | None = spec_field(
        "key-metadata", v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="STA005", type=STRING, default=None
    )
    """Base64 of implementation-specific key metadata."""

    blob_metadata: tuple[BlobMetadata, ...] = spec_field(
        "blob-metadata", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA006", type=ListOf(BLOB)
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


STATISTICS_FILE = RecordOf(StatisticsFile, "a statistics file", requirement="TMD022")


@record(kw_only=True)
class PartitionStatisticsFile:
    """A file with statistics of the partitions of one snapshot, at most one per snapshot (STA016)."""

    snapshot_id: int = spec_field("snapshot-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA013", type=LONG)

    statistics_path: str = spec_field(
        "statistics-path", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA014", type=STRING
    )

    file_size_in_bytes: int = spec_field(
        "file-size-in-bytes", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="STA015", type=LONG
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


PARTITION_STATISTICS_FILE = RecordOf(PartitionStatisticsFile, "a partition statistics file", requirement="TMD023")
