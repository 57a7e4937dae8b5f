"""Writing Avro files (Appendix A, Avro)."""

from __future__ import annotations

import hashlib

import pyarrow as pa

from spec_ref.avro_mapping.schema import schema_json, value_writer
from spec_ref.columnar.arrow_values import to_python_values
from spec_ref.core.errors import spec_error
from spec_ref.data_files.row_writer import FileLayout, OutputFile
from spec_ref.data_types.types import StructType
from spec_ref.encodings.avro.container import CODECS, SYNC_LENGTH, block_bytes, header_bytes
from spec_ref.encodings.avro.types import from_json
from spec_ref.encodings.avro.values_writer import encoder
from spec_ref.json.documents import dumps

REQUIREMENT = "AVR014"
BLOCK_BYTES = 1 << 18
"""The size of a block before compression, in bytes."""


class AvroWriter:
    """Writes one Avro file, row by row."""

    def __init__(self, out: OutputFile, struct: StructType, codec: str, name: str) -> None:
        if codec not in CODECS:
            raise spec_error(
                REQUIREMENT, "Avro files cannot be written with the codec", found=codec, expected=", ".join(CODECS)
            )
        self._out = out
        self._struct = struct
        json = schema_json(struct, name)
        text = dumps(json)
        self._encode, self._value = encoder(from_json(json, REQUIREMENT)), value_writer(struct)
        # The marker need not be random: blocks of other files are never read with this header.
        self._codec, self._sync = codec, hashlib.sha256(text.encode()).digest()[:SYNC_LENGTH]
        self._payload = bytearray()
        self._rows = 0
        out.write(header_bytes({"avro.schema": text}, codec=codec, sync=self._sync))

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows.

        Args:
            batch: the rows, with the columns of the file.

        Raises:
            SpecError: the code of the type of a value that Avro cannot represent.
        """
        ids = [field.id for field in self._struct.fields]
        columns = [
            to_python_values(field.type, array) for field, array in zip(self._struct.fields, batch.columns, strict=True)
        ]
        rows = zip(*columns, strict=True) if columns else ((),) * batch.num_rows
        for row in rows:
            self._encode(self._value(dict(zip(ids, row, strict=True))), self._payload)
            self._rows += 1
            if len(self._payload) >= BLOCK_BYTES:
                self._end_block()

    def _end_block(self) -> None:
        if self._rows:
            self._out.write(block_bytes(self._rows, bytes(self._payload), codec=self._codec, sync=self._sync))
        self._payload, self._rows = bytearray(), 0

    def size(self) -> int:
        """Return the number of bytes of the blocks, and of the rows that are in no block yet."""
        return int(self._out.tell()) + len(self._payload)

    def close(self) -> FileLayout:
        """Write the last block."""
        self._end_block()
        return FileLayout()

    def abandon(self) -> None:
        """Stop writing: the last block is only in memory."""
