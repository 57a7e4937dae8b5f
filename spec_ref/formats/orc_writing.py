"""Writing ORC files (Appendix A, ORC)."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc

from spec_ref.errors import violation
from spec_ref.formats.file_writing import FileLayout, Output, refused
from spec_ref.formats.metrics_orc import orc_layout
from spec_ref.formats.orc_schema import arrow_schema
from spec_ref.formats.stored_arrays import stored_batch
from spec_ref.schemas.types import StructType

STRIPE_BYTES = 64 << 20


class OrcRows:
    """Writes one ORC file."""

    def __init__(self, out: Output, struct: StructType, codec: str) -> None:
        self._out = out
        self._struct = struct
        self._schema = arrow_schema(struct)
        if not self._schema:
            raise violation("ORC005", "an ORC file has a column at least, and columns of type unknown are left out")
        self._whole = io.BytesIO()
        self._written = self._pending = 0
        options: Any = {"compression": codec, "stripe_size": STRIPE_BYTES}
        self._writer = orc.ORCWriter(self._whole, **options)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows."""
        rows = pa.Table.from_batches([stored_batch(self._struct, batch, self._schema)])
        try:
            self._writer.write(rows)
        except pa.ArrowException as error:
            raise refused("ORC008", error) from error
        self._pending += rows.nbytes
        if self._whole.tell() != self._written:
            self._written, self._pending = self._whole.tell(), 0

    def size(self) -> int:
        """The bytes of the stripes, and those of the rows that are in none yet."""
        return self._written + self._pending

    def close(self) -> FileLayout:
        """Write the last stripe and the footer."""
        self._writer.close()
        data = self._whole.getvalue()
        self._out.write(data)
        sizes, offsets = orc_layout(data, self._schema, self._struct)
        return FileLayout(sizes, offsets)

    def abandon(self) -> None:
        """Write nothing: all of it is in memory."""
