"""Data files and delete files opened for checking: what the footer says, and the rows in Arrow batches (Appendix A)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from conformance.pipeline.file_access import open_input, read_bytes
from spec_ref.errors import SpecError, Violation, violation
from spec_ref.formats.avro_container import open_container
from spec_ref.formats.data_files import open_rows
from spec_ref.formats.orc_footer import read_stripes
from spec_ref.formats.parquet_schema import check_parquet_schema
from spec_ref.formats.parquet_thrift import ParquetNode, read_parquet_schema
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.name_mapping import MappedField
from spec_ref.schemas.types import StructType

AVRO = "AVR014"

Mapped = Sequence[MappedField] | None


@attrs.frozen
class Chunk:
    """What the footer says of one column, over all row groups."""

    values: int
    nulls: int | None
    """None where a row group does not say."""

    least: Any = None
    """Of integers and floating-point numbers only, whose statistics are never cut."""

    greatest: Any = None
    size: int = 0


@attrs.frozen(eq=False)
class Opened:
    """A file whose footer or header was read."""

    struct: StructType
    """The columns with their field ids."""

    record_count: int
    size: int
    batches: Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]
    """The rows of some top-level columns, by their names, in batches of at most so many."""

    by_name: bool = False
    """Whether the ids are of the table's name mapping, because the file has none."""

    created_by: str | None = None
    faults: tuple[Violation, ...] = ()
    """How the schema is stored otherwise than the appendix asks."""

    chunks: Mapping[int, Chunk] = attrs.field(factory=dict)
    """By field id, for Parquet."""

    offsets: tuple[int, ...] | None = None
    """Where row groups or stripes start."""


def open_file(location: str, file_format: FileFormat, mapping: Mapped) -> Opened:
    """Open a file of rows.

    Raises:
        FileAccessError: it cannot be read.
        SpecError: it is no file of the format, is damaged, or has columns that are none of Iceberg's.
    """
    if file_format not in _OPENERS:
        raise violation("DFL003", "the file format has no rows", found=file_format.value, expected="avro, orc, parquet")
    return _OPENERS[file_format](location, mapping)


def _parquet(location: str, mapping: Mapped) -> Opened:
    file = open_input(location)
    rows = open_rows(file, FileFormat.PARQUET, mapping)
    file.seek(0)
    root = read_parquet_schema(file)  # type: ignore[arg-type]
    file.seek(0)
    try:
        footer = pq.read_metadata(file)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable("PQT007", error) from error
    return Opened(
        struct=rows.written.struct, record_count=footer.num_rows, size=file.size(), batches=rows.batches,
        by_name=rows.written.mapped, created_by=footer.created_by,
        faults=() if rows.written.mapped else tuple(check_parquet_schema(root)), chunks=_chunks(footer, root),
        offsets=_group_offsets(footer),
    )  # fmt: skip


def _leaves(node: ParquetNode, repeated: bool = False) -> Iterator[tuple[ParquetNode, bool]]:
    """The physical columns in their order, and whether each is inside of a list or map."""
    for child in node.children:
        inside = repeated or child.repetition == "repeated" or child.logical == "VARIANT"
        if child.children:
            yield from _leaves(child, inside)
        else:
            yield child, inside


def _chunks(footer: pq.FileMetaData, root: ParquetNode) -> dict[int, Chunk]:
    made: dict[int, Chunk] = {}
    for place, (node, repeated) in enumerate(_leaves(root)):
        if node.field_id is None or repeated:
            continue
        values = size = 0
        nulls: int | None = 0
        ends: list[tuple[Any, Any]] | None = []
        for group in range(footer.num_row_groups):
            column = footer.row_group(group).column(place)
            values += column.num_values
            size += column.total_compressed_size
            statistics: Any = column.statistics
            has_nulls = statistics is not None and statistics.has_null_count
            nulls = nulls + statistics.null_count if has_nulls and nulls is not None else None
            if statistics is None or not statistics.has_min_max or node.physical not in _EXACT:
                ends = None if statistics is None or node.physical not in _EXACT or nulls != values else ends
            elif ends is not None:
                ends.append((statistics.min_raw, statistics.max_raw))
        least, greatest = (min(one for one, _ in ends), max(two for _, two in ends)) if ends else (None, None)
        if node.logical is not None and node.logical not in _COUNTS:
            least = greatest = None
        made[node.field_id] = Chunk(values, nulls, least, greatest, size)
    return made


_EXACT = frozenset({"int32", "int64"})
_COUNTS = frozenset({"INTEGER", "DATE", "TIME", "TIMESTAMP"})


def _group_offsets(footer: pq.FileMetaData) -> tuple[int, ...]:
    starts = []
    for group in range(footer.num_row_groups):
        if footer.row_group(group).num_columns:
            first = footer.row_group(group).column(0)
            pages = (first.data_page_offset, first.dictionary_page_offset)
            starts.append(min(page for page in pages if page))
    return tuple(sorted(starts))


def _orc(location: str, mapping: Mapped) -> Opened:
    data = read_bytes(location)
    stripes = read_stripes(data)
    rows = open_rows(io.BytesIO(data), FileFormat.ORC, mapping)
    try:
        count = orc.ORCFile(io.BytesIO(data)).nrows
    except (pa.ArrowException, OSError) as error:
        raise _unreadable("ORC008", error) from error
    return Opened(
        struct=rows.written.struct, record_count=count, size=len(data), batches=rows.batches,
        by_name=rows.written.mapped, offsets=tuple(sorted(one.offset for one in stripes)),
    )  # fmt: skip


def _avro(location: str, mapping: Mapped) -> Opened:
    data = read_bytes(location)
    rows = open_rows(io.BytesIO(data), FileFormat.AVRO, mapping)
    count = open_container(data, AVRO).count
    return Opened(
        struct=rows.written.struct, record_count=count, size=len(data), batches=rows.batches,
        by_name=rows.written.mapped,
    )  # fmt: skip


_OPENERS: dict[FileFormat, Callable[[str, Mapped], Opened]] = {
    FileFormat.PARQUET: _parquet,
    FileFormat.ORC: _orc,
    FileFormat.AVRO: _avro,
}


def _unreadable(code: str, error: Exception) -> SpecError:
    return violation(code, f"the file cannot be read: {' '.join(str(error).split())}")
