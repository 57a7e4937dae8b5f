"""Rows of ORC files as Arrow batches (Appendix A, ORC; ORC001 to ORC008).

A stripe is decoded as a whole and given out in batches. pyarrow carries all types; only timestamps outside of 1677 to
2262 are beyond it, and a file that has them is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc

from spec_ref.errors import violation
from spec_ref.formats.data_files import counted, sliced
from spec_ref.formats.orc_schema import has_ids, struct_from_orc
from spec_ref.schemas.name_mapping import MappedField
from spec_ref.schemas.projection import WrittenColumns


def open_orc(file: Any, mapping: Sequence[MappedField] | None) -> tuple[WrittenColumns, Any]:
    """The columns of a file and what reads its batches; see `spec_ref.formats.data_files.open_rows`."""
    try:
        opened = orc.ORCFile(file)
        schema = opened.schema
    except (pa.ArrowException, OSError) as error:
        raise violation("ORC008", f"the file cannot be read: {error}") from error
    written = WrittenColumns(struct_from_orc(schema, mapping), mapped=mapping is not None and not has_ids(schema))

    def batches(columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            if not columns:
                yield from counted(opened.nrows, rows)
                return
            places: Any = [schema.get_field_index(name) for name in columns]
            if min(places) < 0:
                raise violation("PRJ001", "the file has several columns of one name", found=", ".join(columns))
            for stripe in range(opened.nstripes):
                yield from sliced(opened.read_stripe(stripe, columns=places), rows)
        except (pa.ArrowException, OSError) as error:
            raise violation("ORC008", f"the file cannot be read: {error}") from error

    return written, batches
