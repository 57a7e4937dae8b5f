"""Readers of data and delete files for the checks: footers, and rows in Arrow batches (Appendix A)."""

from __future__ import annotations

import functools
import io
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.orc as orc

from conformance.table_io.encryption import decrypt_and_check_nonces, parquet_decryption, read_key_metadata
from conformance.table_io.reading import name_file_in_errors
from conformance.table_io.store_file import StoreFile, open_rows_file
from conformance.validator.parquet_footer import Chunk, check_start, parse_footer
from spec_ref.core.errors import SpecError, Violation, spec_error
from spec_ref.data_files.orc_footer import check_start as check_orc_start
from spec_ref.data_files.orc_footer import read_stripe_offsets, read_stripes
from spec_ref.data_files.parquet_reader import decrypted_footer
from spec_ref.data_files.parquet_schema import check_parquet_schema, columns_from_parquet
from spec_ref.data_files.parquet_thrift import CompactReader, ParquetNode, parse_schema, read_footer
from spec_ref.data_files.reader import DataFileReader, open_rows
from spec_ref.data_types.types import StructType
from spec_ref.encodings.avro.container import SCHEMA_KEY, open_container
from spec_ref.encodings.random_access_bytes import RandomAccessBytes, open_source
from spec_ref.json import documents
from spec_ref.manifests.data_file import FileFormat
from spec_ref.schemas.column_projection import FileColumns
from spec_ref.schemas.name_mapping import MappedField

AVRO = "AVR014"

Mapped = Sequence[MappedField] | None


@attrs.frozen(eq=False)
class OpenedFile:
    """A file whose footer or header was read."""

    struct: StructType
    """The columns with their field ids."""

    record_count: int
    size: int
    batches: Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]
    """Yields the rows of some top-level columns, by name, in batches of at most a given size."""

    by_name: bool = False
    """Whether the field ids come from the table's name mapping, because the file has none."""

    created_by: str | None = None
    unreadable: tuple[Violation, ...] = ()
    """The violations of columns that readers cannot select or cannot read."""

    faults: tuple[Violation, ...] = ()
    """Other deviations of the stored schema from Appendix A."""

    chunks: Mapping[int, Chunk] = attrs.field(factory=dict)
    """The column chunks by field id, for Parquet."""

    offsets: tuple[int, ...] | None = None
    """The offsets of row groups or stripes."""

    avro_schema: Any = None
    """The JSON of the Avro schema; None for other formats."""


def open_file(
    location: str,
    file_format: FileFormat,
    mapping: Mapped,
    open_: Callable[[], Any] | None = None,
    key_metadata: bytes | None = None,
) -> OpenedFile:
    """Open a file of rows.

    Args:
        location: the file.
        file_format: its format.
        mapping: the table's name mapping.
        open_: opens the file for random access; `open_rows_file` by default.
        key_metadata: the key metadata of an encrypted file.

    Raises:
        UnsupportedEncryption: the file is encrypted in a form that is not supported here.
        FileAccessError: the file cannot be read; reading batches may raise it too.
        SpecError: the file is not of the format, is damaged, or has columns of types that Iceberg does not have.
    """
    if file_format not in _OPENERS:
        raise spec_error(
            "DFL003", "the file format does not store rows", found=file_format.value, expected="avro, orc, parquet"
        )
    with name_file_in_errors(location):
        file = open_rows_file(location, file_format) if open_ is None else open_()
        size = file.size()
        opener = _OPENERS[file_format]
        if key_metadata is not None:
            key = read_key_metadata(key_metadata, location)
            if file_format is FileFormat.PARQUET:
                opener = functools.partial(_parquet, decryption=parquet_decryption(key, location))
            else:  # a stream, whose blocks are all verified
                file = pa.BufferReader(decrypt_and_check_nonces(file.read(), key, location))
        opened = opener(file, mapping)

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        with name_file_in_errors(location):
            yield from opened.batches(columns, rows)

    return attrs.evolve(opened, size=size, batches=batches)


def _parquet(file: Any, mapping: Mapped, decryption: Any = None) -> OpenedFile:
    plain = file if decryption is None else decrypted_footer(file, decryption)
    reader = CompactReader(read_footer(plain))
    schema = _read_parquet_schema(reader, mapping)
    start_is_late = isinstance(plain, StoreFile) and not plain.start_is_known
    if not start_is_late:
        check_start(plain)
    footer = parse_footer(reader, schema.root)
    options = {"decryption_properties": decryption, "parquet_columns": schema.columns}
    rows = open_rows(file, FileFormat.PARQUET, mapping, **options)
    unreadable = _unreadable_columns(rows)
    seen = set(map(_key, unreadable))

    def batches(columns: Sequence[str], most_rows: int) -> Iterator[pa.RecordBatch]:
        yield from rows.batches(columns, most_rows)
        if start_is_late:  # the first bytes came with the rows
            check_start(file)

    return OpenedFile(
        struct=rows.columns.struct,
        record_count=footer.rows,
        size=file.size(),
        batches=batches,
        by_name=rows.columns.mapped,
        created_by=footer.created_by,
        unreadable=unreadable,
        faults=tuple(one for one in schema.faults if _key(one) not in seen),
        chunks=footer.chunks,
        offsets=footer.offsets,
    )


@attrs.frozen(eq=False)
class _ParquetSchema:
    """The schema of a Parquet file, and what follows from it."""

    stored: bytes
    """The footer up to the end of the schema."""

    mapping: Mapped
    root: ParquetNode
    columns: FileColumns
    faults: tuple[Violation, ...]
    """The deviations from Appendix A of a schema that has field ids."""


_RECENT: deque[_ParquetSchema] = deque(maxlen=4)
"""The last schemas that were read. Most files of a table have the same bytes, and parsing them takes longer than all
other checks of a footer."""


def _read_parquet_schema(footer: CompactReader, mapping: Mapped) -> _ParquetSchema:
    for known in tuple(_RECENT):
        if known.mapping is mapping and footer.skip_schema(known.stored):
            return known
    root = parse_schema(footer)
    columns = columns_from_parquet(root, mapping)
    faults = () if columns.mapped else tuple(check_parquet_schema(root))
    made = _ParquetSchema(footer.data[: footer.at], mapping, root, columns, faults)
    _RECENT.append(made)
    return made


def _orc(file: Any, mapping: Mapped) -> OpenedFile:
    start_is_late = isinstance(file, StoreFile) and not file.start_is_known
    if start_is_late:  # neither the start nor the footers of stripes are worth a request each
        offsets = read_stripe_offsets(file)
    else:
        content = file if isinstance(file, RandomAccessBytes) else RandomAccessBytes(file)
        offsets = tuple(sorted(one.offset for one in read_stripes(content)))
    rows = open_rows(file, FileFormat.ORC, mapping)

    def batches(columns: Sequence[str], most_rows: int) -> Iterator[pa.RecordBatch]:
        yield from rows.batches(columns, most_rows)
        if start_is_late:  # the first bytes came with the rows
            check_orc_start(file)

    try:
        count = orc.ORCFile(file).nrows
    except (pa.ArrowException, OSError) as error:
        raise _unreadable("ORC008", error) from error
    return OpenedFile(
        struct=rows.columns.struct,
        record_count=count,
        size=file.size(),
        batches=batches,
        by_name=rows.columns.mapped,
        unreadable=_unreadable_columns(rows),
        offsets=offsets,
    )


def _avro(file: Any, mapping: Mapped) -> OpenedFile:
    source = open_source(file)
    rows = open_rows(io.BytesIO(source) if isinstance(source, bytes) else file, FileFormat.AVRO, mapping)
    container = open_container(source, AVRO)
    schema = documents.loads(container.metadata[SCHEMA_KEY])
    return OpenedFile(
        struct=rows.columns.struct,
        record_count=container.count,
        size=len(source),
        batches=rows.batches,
        by_name=rows.columns.mapped,
        unreadable=_unreadable_columns(rows),
        faults=() if rows.columns.mapped else tuple(_avro_faults(schema, "")),
        avro_schema=schema,
    )


def _unreadable_columns(rows: DataFileReader) -> tuple[Violation, ...]:
    return tuple(column.problem for column in rows.columns.unreadable)


def _key(problem: Violation) -> tuple[str, str]:
    return problem.requirement, problem.path


def _avro_faults(schema: Any, path: str) -> Iterator[Violation]:
    """Find deviations that readers accept in an Avro schema, but writers must not write (AVR002, AVR006)."""
    match schema:
        case list():
            for branch in schema:
                yield from _avro_faults(branch, path)
        case {"type": "record", "fields": fields}:
            for field in fields:
                here = f"{path}/{field['name']}"
                if isinstance(field["type"], list) and "null" in field["type"] and "default" not in field:
                    message = "an optional field has no default"
                    yield Violation(
                        requirement="AVR002",
                        message=message,
                        path=here,
                        expected="the default null",
                        aspect="no-default",
                    )
                yield from _avro_faults(field["type"], here)
        case {"type": "array", "items": inner} | {"type": "map", "values": inner}:
            yield from _avro_faults(inner, path)
        case {"type": "bytes", "logicalType": "decimal"}:
            yield Violation(
                requirement="AVR006",
                message="a decimal is stored as bytes",
                path=path,
                expected="a fixed",
                aspect="bytes",
            )
        case {"type": {"type": _} as inner}:
            yield from _avro_faults(inner, path)


_OPENERS: dict[FileFormat, Callable[[Any, Mapped], OpenedFile]] = {
    FileFormat.PARQUET: _parquet,
    FileFormat.ORC: _orc,
    FileFormat.AVRO: _avro,
}


def _unreadable(code: str, error: Exception) -> SpecError:
    return spec_error(code, f"the file cannot be read: {' '.join(str(error).split())}")
