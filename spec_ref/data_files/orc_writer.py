"""Writing ORC files (Appendix A, ORC)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc

from spec_ref.columnar.schemas.column_projection import list_ranges
from spec_ref.core.errors import Description, spec_error
from spec_ref.data_files.deferred_sink import PartialFile, TailRecordingSink
from spec_ref.data_files.orc_footer import MAGIC
from spec_ref.data_files.orc_metrics import count_orc_columns, orc_layout
from spec_ref.data_files.orc_schema import arrow_schema
from spec_ref.data_files.row_writer import FileLayout, OutputFile, write_error
from spec_ref.data_files.storage_arrays import propagate_nulls, to_storage_batch
from spec_ref.data_types.types import StructType

STRIPE_BYTES = 64 << 20
ASSUMED_SIZE_RATIO = 0.2
"""The assumed size of rows in the file, as a share of their size in memory, until a stripe is written; Iceberg-Java
assumes the same."""

ROWS_PER_WRITE = 1024
"""The number of rows that are passed to pyarrow at once: it checks after each call whether the stripe is full, so that
a call ends at most one stripe."""

NANOSECOND_RANGE_MICROS = 9_223_372_036_000_000
"""Timestamps that are fewer microseconds from 1970 fit in 64 bits of nanoseconds, even rounded to seconds."""

FOOTER_BYTES, COLUMN_BYTES = 1 << 12, 1 << 8
"""The maximum number of bytes of a stripe's footer: in total, and in addition for each column, which has five streams
of 20 bytes."""


class OrcWriter:
    """Writes one ORC file."""

    def __init__(self, out: OutputFile, struct: StructType, codec: str, stripe_bytes: int = STRIPE_BYTES) -> None:
        self._struct = struct
        self._schema = arrow_schema(struct)
        if not self._schema:
            raise spec_error("ORC005", "the ORC file would have no columns; columns of type unknown are not stored")
        columns = 1 + sum(map(count_orc_columns, self._schema))
        self._out = TailRecordingSink(out, FOOTER_BYTES + COLUMN_BYTES * columns)
        self._written = self._pending = self._encoded = 0
        options: Any = {"compression": codec, "stripe_size": stripe_bytes, "batch_size": ROWS_PER_WRITE}
        written_to: Any = self._out
        self._writer = orc.ORCWriter(written_to, **options)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows.

        Args:
            batch: the rows, with the columns of the file.

        Raises:
            SpecError: ORC008 if they cannot be written, or a timestamp inside a list or map could not be read back.
        """
        columns = [propagate_nulls(column) for column in to_storage_batch(self._struct, batch, self._schema).columns]
        for field, column in zip(self._schema, columns, strict=True):
            _check_listed_timestamps(field.name, column)
        rows = pa.Table.from_arrays(columns, schema=self._schema)
        try:
            for start in range(0, rows.num_rows, ROWS_PER_WRITE):
                self._add(rows.slice(start, ROWS_PER_WRITE))
        except pa.ArrowException as error:
            raise write_error("ORC008", error) from error

    def _add(self, rows: pa.Table) -> None:
        self._writer.write(rows)
        self._pending += rows.nbytes
        if self._out.tell() != self._written:
            self._out.record_tail()
            if self._written:  # not the first bytes, which pyarrow writes before any stripe
                self._encoded, self._pending = self._encoded + self._pending, 0
            self._written = self._out.tell()

    def size(self) -> int:
        """Return the number of bytes of the stripes, plus an estimate for the rows that are in no stripe yet."""
        share = self._written / self._encoded if self._encoded else ASSUMED_SIZE_RATIO
        return self._written + int(self._pending * share)

    def close(self) -> FileLayout:
        """Write the last stripe and the footer."""
        if not self._out.tell():  # without rows, pyarrow writes no file at all
            self._writer.write(self._schema.empty_table())
        start = self._out.tell()
        self._out.hold_back()
        self._writer.close()
        tail = self._out.release()
        self._out.write(tail)
        known = PartialFile([(0, MAGIC), *self._out.parts, (start, tail)])
        sizes, offsets = orc_layout(known, self._schema, self._struct)
        return FileLayout(sizes, offsets)

    def abandon(self) -> None:
        """Stop writing; otherwise pyarrow would write the rest when its writer is garbage-collected."""
        self._out.hold_back()
        self._writer.is_open = False


def _check_listed_timestamps(name: str, array: Any) -> None:
    """Refuse timestamps inside lists and maps that could not be read back here (ORC008).

    pyarrow represents every ORC timestamp in nanoseconds, and `spec_ref.data_files.orc_timestamps` decodes those out of
    range at the top level and inside structs only.

    Raises:
        SpecError: ORC008 for a timestamp before 1677-09-21T00:12:44 or after 2262-04-11T23:47:15.
    """
    kernels: Any = pc
    for inner in _listed_arrays(array):
        if pa.types.is_timestamp(inner.type) and inner.type.unit == "us":
            ends = kernels.min_max(inner.cast(pa.int64()))
            for end in (ends["min"].as_py(), ends["max"].as_py()):
                if end is not None and abs(end) >= NANOSECOND_RANGE_MICROS:
                    raise spec_error(
                        "ORC008",
                        "a timestamp inside a list or map is too far from 1970 to be read back from ORC; "
                        "Parquet and Avro can store it",
                        found=Description(f"{end} microseconds"),
                        path=f"/{name}",
                    )


def _listed_arrays(array: Any, *, inside: bool = False) -> Iterator[Any]:
    """Find the arrays inside lists and maps, at any depth."""
    if inside:
        yield array
    if pa.types.is_struct(array.type):
        parts = array.flatten()
    elif pa.types.is_map(array.type):
        _, first, count = list_ranges(array)
        parts, inside = [array.keys.slice(first, count), array.items.slice(first, count)], True
    elif pa.types.is_list(array.type):
        parts, inside = [array.flatten()], True
    else:
        parts = []
    for part in parts:
        yield from _listed_arrays(part, inside=inside)
