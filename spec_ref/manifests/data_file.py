"""Data files and delete files, as manifests list them (Data File Fields)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from spec_ref.avro_mapping.rows import PARTITION, EnumAsInt, EnumAsString, NeverWritten
from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED, V1
from spec_ref.data_types.types import BINARY, INT, LONG, STRING, ListType, MapType

DEFAULT_BLOCK_SIZE = 64 << 20
"""The value that v1 writes as ``block_size_in_bytes``; the number does not matter, because it is never read
(contradiction A19)."""


class FileContent(enum.IntEnum):
    """The content of a file: data or a kind of deletes."""

    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2


class FileFormat(enum.Enum):
    """The format of a file."""

    AVRO = "avro"
    ORC = "orc"
    PARQUET = "parquet"
    PUFFIN = "puffin"


def _map(key_id: int, value_id: int, value: Any) -> MapType:
    return MapType(key_id, INT, value_id, value)


_FORMAT = EnumAsString(FileFormat, lambda format_: format_.name)
"""Written in upper case, which every released reader accepts (contradiction C4)."""


@record(kw_only=True)
class DataFile:
    """A file of rows or of deletes: its location, its partition and its metrics."""

    content: FileContent = spec_field(
        "content",
        id=134,
        v1=OMITTED,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="DFL001",
        type=EnumAsInt(FileContent),
        default=FileContent.DATA,
    )
    """Whether the file has data or a kind of deletes; all files of v1 have data."""

    file_path: str = spec_field(
        "file_path", id=100, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="DFL002", type=STRING
    )
    """The full URI of the file."""

    file_format: FileFormat = spec_field(
        "file_format", id=101, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="DFL003", type=_FORMAT
    )

    partition: Mapping[int, Any] = spec_field(
        "partition",
        id=102,
        v1=REQUIRED,
        v2=REQUIRED,
        v3=REQUIRED,
        read=OPTIONAL,
        requirement="DFL004",
        type=PARTITION,
        default=EMPTY,
    )
    """The partition values by partition field id; empty in an unpartitioned table (contradiction B31)."""

    record_count: int = spec_field(
        "record_count", id=103, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="DFL005", type=LONG
    )
    """The number of rows, or the cardinality of a deletion vector."""

    file_size_in_bytes: int = spec_field(
        "file_size_in_bytes", id=104, v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="DFL006", type=LONG
    )

    block_size_in_bytes: int = spec_field(
        "block_size_in_bytes",
        id=105,
        v1=REQUIRED,
        v2=OMITTED,
        v3=OMITTED,
        read={V1: OPTIONAL},
        requirement="DFL008",
        type=LONG,
        default=DEFAULT_BLOCK_SIZE,
    )
    """Deprecated: v1 writes a default that nothing reads."""

    file_ordinal: int | None = spec_field(
        "file_ordinal",
        id=106,
        v1=OPTIONAL,
        v2=OMITTED,
        v3=OMITTED,
        requirement="DFL009",
        type=NeverWritten(INT),
        default=None,
    )
    """Deprecated and not written."""

    sort_columns: tuple[int, ...] | None = spec_field(
        "sort_columns",
        id=107,
        v1=OPTIONAL,
        v2=OMITTED,
        v3=OMITTED,
        requirement="DFL010",
        type=NeverWritten(ListType(112, INT)),
        default=None,
    )
    """Deprecated and not written."""

    column_sizes: Mapping[int, int] | None = spec_field(
        "column_sizes",
        id=108,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL011",
        type=_map(117, 118, LONG),
        default=None,
    )
    """The number of bytes on disk by column id."""

    value_counts: Mapping[int, int] | None = spec_field(
        "value_counts",
        id=109,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL012",
        type=_map(119, 120, LONG),
        default=None,
    )
    """The number of values by column id, including null and NaN."""

    null_value_counts: Mapping[int, int] | None = spec_field(
        "null_value_counts",
        id=110,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL013",
        type=_map(121, 122, LONG),
        default=None,
    )

    nan_value_counts: Mapping[int, int] | None = spec_field(
        "nan_value_counts",
        id=137,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL014",
        type=_map(138, 139, LONG),
        default=None,
    )

    distinct_counts: Mapping[int, int] | None = spec_field(
        "distinct_counts",
        id=111,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OMITTED,
        requirement="DFL015",
        type=NeverWritten(_map(123, 124, LONG)),
        default=None,
    )
    """Deprecated and not written."""

    lower_bounds: Mapping[int, bytes] | None = spec_field(
        "lower_bounds",
        id=125,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL016",
        type=_map(126, 127, BINARY),
        default=None,
    )
    """Lower bounds by column id, as stored; `spec_ref.manifests.metrics` decodes them."""

    upper_bounds: Mapping[int, bytes] | None = spec_field(
        "upper_bounds",
        id=128,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL017",
        type=_map(129, 130, BINARY),
        default=None,
    )

    key_metadata: bytes | None = spec_field(
        "key_metadata", id=131, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="DFL018", type=BINARY, default=None
    )

    split_offsets: tuple[int, ...] | None = spec_field(
        "split_offsets",
        id=132,
        v1=OPTIONAL,
        v2=OPTIONAL,
        v3=OPTIONAL,
        requirement="DFL019",
        type=ListType(133, LONG),
        default=None,
    )
    """The offsets where the file can be split, ascending."""

    equality_ids: tuple[int, ...] | None = spec_field(
        "equality_ids",
        id=135,
        v1=OMITTED,
        v2=OPTIONAL,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="DFL020",
        type=ListType(136, INT),
        default=None,
    )
    """The ids of the fields that an equality delete file compares."""

    sort_order_id: int | None = spec_field(
        "sort_order_id", id=140, v1=OPTIONAL, v2=OPTIONAL, v3=OPTIONAL, requirement="DFL021", type=INT, default=None
    )
    """The sort order of the rows; None, like an id that the table does not have, means unsorted."""

    first_row_id: int | None = spec_field(
        "first_row_id",
        id=142,
        v1=OMITTED,
        v2=OMITTED,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="DFL022",
        type=LONG,
        default=None,
    )
    """The ``_row_id`` of the first row."""

    referenced_data_file: str | None = spec_field(
        "referenced_data_file",
        id=143,
        v1=OMITTED,
        v2=OPTIONAL,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="DFL023",
        type=STRING,
        default=None,
    )
    """The data file that all deletes of a delete file apply to, if there is only one."""

    content_offset: int | None = spec_field(
        "content_offset",
        id=144,
        v1=OMITTED,
        v2=OMITTED,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="DFL024",
        type=LONG,
        default=None,
    )
    """The offset of a deletion vector in its Puffin file, in bytes, as the footer of that file has it. Every deletion
    vector has one."""

    content_size_in_bytes: int | None = spec_field(
        "content_size_in_bytes",
        id=145,
        v1=OMITTED,
        v2=OMITTED,
        v3=OPTIONAL,
        read=OPTIONAL,
        requirement="DFL025",
        type=LONG,
        default=None,
    )
    """The length of the deletion vector, in bytes."""

    @property
    def is_deletion_vector(self) -> bool:
        """Whether the file is a deletion vector: position deletes in Puffin (contradiction B15)."""
        return self.content is FileContent.POSITION_DELETES and self.file_format is FileFormat.PUFFIN

    @property
    def effective_sort_order_id(self) -> int | None:
        """The sort order id that readers use: None for position deletes, whose id is ignored (DFL029)."""
        return None if self.content is FileContent.POSITION_DELETES else self.sort_order_id
