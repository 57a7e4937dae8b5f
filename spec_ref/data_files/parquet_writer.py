"""Writing Parquet files (Appendix A, Parquet)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spec_ref.columnar.manifests.computed_metrics import storage_array
from spec_ref.core.errors import spec_error
from spec_ref.data_files.deferred_sink import DeferredSink
from spec_ref.data_files.parquet_arrow_types import WRITER_OPTIONS, arrow_schema
from spec_ref.data_files.parquet_footer import logical_types, with_logical_types
from spec_ref.data_files.parquet_metrics import group_offsets
from spec_ref.data_files.row_writer import FileLayout, OutputFile, write_error
from spec_ref.data_files.storage_arrays import to_storage_batch
from spec_ref.data_types.types import UNKNOWN, ListType, MapType, StructType, Type, VariantType

SAMPLE_ROWS = 2048
"""The number of rows that are examined to find out whether the values of a column repeat."""


class ParquetWriter:
    """Writes one Parquet file."""

    def __init__(self, out: OutputFile, struct: StructType, codec: str, encryption_properties: Any = None) -> None:
        self._struct = struct
        self._encryption = encryption_properties
        self._schema = arrow_schema(struct)
        self._is_completed = any(logical is not None for logical in logical_types(struct))
        self._out: Any = DeferredSink(out) if self._is_completed else out
        self._codec = codec
        self._made: pq.ParquetWriter | None = None
        if not self._schema:
            raise spec_error("PQT006", "the Parquet file would have no columns; columns of type unknown are not stored")
        assert not (self._is_completed and encryption_properties), "the footer of an encrypted file cannot be completed"

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a row group.

        Args:
            batch: the rows, with the columns of the file.

        Raises:
            SpecError: PQT007 if they cannot be written.
        """
        if not batch.num_rows:
            return  # pyarrow refuses a row group without rows
        try:
            made = to_storage_batch(self._struct, batch, self._schema)
            self._writer(made).write_batch(made, row_group_size=batch.num_rows)
        except pa.ArrowException as error:
            raise write_error("PQT007", error) from error

    def _writer(self, first: pa.RecordBatch) -> pq.ParquetWriter:
        """Open the file, with dictionaries only for columns whose values repeat: they double the cost of the others."""
        if self._made is None:
            names = [field.name for field in self._schema]
            with_dictionary: Any = [name for name, array in zip(names, first.columns, strict=True) if _repeats(array)]
            options: dict[str, Any] = {"use_dictionary": with_dictionary, "compression": self._codec, **WRITER_OPTIONS}
            self._made = pq.ParquetWriter(self._out, self._schema, encryption_properties=self._encryption, **options)
        return self._made

    def size(self) -> int:
        """Return the number of bytes of the row groups."""
        return int(self._out.tell())

    def close(self) -> FileLayout:
        """Write the footer."""
        nothing = [pa.nulls(0, field.type) for field in self._schema]
        writer = self._writer(pa.RecordBatch.from_arrays(nothing, schema=self._schema))
        if self._is_completed:
            self._out.hold_back()
        writer.close()
        if self._is_completed:
            self._out.write(with_logical_types(self._out.release(), self._struct))
        footer = writer.writer.metadata
        ids = [field_id for field in self._struct.fields for field_id in _column_ids(field.type, field.id)]
        sizes = dict.fromkeys(ids, 0)
        for group in range(footer.num_row_groups):
            row_group = footer.row_group(group)
            for place, field_id in enumerate(ids):
                sizes[field_id] += row_group.column(place).total_compressed_size
        return FileLayout(sizes, tuple(sorted(group_offsets(footer))))

    def abandon(self) -> None:
        """Write no footer; otherwise pyarrow would write it when its writer is garbage-collected."""
        if self._is_completed:
            self._out.hold_back()
        if self._made is not None:
            self._made.is_open = False


def _repeats(array: Any) -> bool:
    """Decide whether values of a column repeat, judging by some of its rows."""
    if pa.types.is_nested(array.type) or pa.types.is_boolean(array.type):
        return False
    sample = storage_array(array).take(
        np.linspace(0, max(len(array) - 1, 0), min(SAMPLE_ROWS, len(array)), dtype=np.int64)
    )
    values = sample.drop_null()
    return len(values) == 0 or len(values.unique()) < 0.99 * len(values)


def _column_ids(type_: Type, field_id: int) -> Iterator[int]:
    """Find the field ids of the physical columns of a column, in order."""
    match type_:
        case StructType(fields):
            for field in fields:
                yield from _column_ids(field.type, field.id)
        case ListType(element_id, element):
            yield from _column_ids(element, element_id)
        case MapType(key_id, key, value_id, value):
            yield from _column_ids(key, key_id)
            yield from _column_ids(value, value_id)
        case VariantType():
            yield from (field_id, field_id)  # metadata and value
        case _ if type_ != UNKNOWN:
            yield field_id
